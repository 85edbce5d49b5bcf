"""Whether a private MariaDB or MySQL can be had here; and what could be seen of somebody's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from redolab.engine.mariadb import private
from redolab.engine.offer import Wanted
from redolab.engine.private import checkup
from redolab.errors import RefusedError
from redolab.records.checkup import Check, Checkup, missing, of_observation


def check_private(flavour: private.Flavour, wanted: Mapping[str, Wanted]) -> Checkup:
    """The installed program, the disk, and the emulated log device."""
    look = partial(private.look, flavour)
    found = checkup.check_private(f"{private.TITLES[flavour]}, private", look, wanted)
    return Checkup((*found.checks, checkup.device_check()), found.refusals)


def check_url(target: str) -> Checkup:
    """What the observer of `redolab profile` can see there.

    Raises:
        UsageError: the URL cannot be read.
    """
    from redolab.engine.mariadb.observer.observer import MariadbObserver

    try:
        observer = MariadbObserver(target, 0)
    except RefusedError as error:
        return Checkup((missing("Server", str(error)),), {"profile": str(error)})
    try:
        seen = observer.read()
    except RefusedError as error:
        return Checkup((missing("Server", str(error)),), {"profile": str(error)})
    finally:
        observer.close()
    server = seen.server
    where = "on this machine" if server["local"] else "on another machine"
    first = Check("Server", "works", f"{server['name']} {server['version']} at {server['place']}, {where}")
    return Checkup((first, *of_observation(seen.not_available)))

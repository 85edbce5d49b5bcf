"""Whether a private MariaDB or MySQL can be had here; and what can be run on and seen of somebody's.

Everything is asked of what a run and a profile ask themselves before they change or watch anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from functools import partial

import pymysql

from redolab.engine.mariadb import private
from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connecting.plaintext import plaintext
from redolab.engine.mariadb.connection import Connection, error_text
from redolab.engine.mariadb.observer.observer import MariadbObserver
from redolab.engine.mariadb.own.schema import left_here
from redolab.engine.mariadb.preflight.conditions import server_conditions
from redolab.engine.mariadb.preflight.semi_sync import check_semi_sync
from redolab.engine.mariadb.preflight.server import check_server
from redolab.engine.offer import Wanted
from redolab.engine.private import checkup
from redolab.engine.server.checkup import look_at, refusals
from redolab.engine.server.recovery import LEFT
from redolab.errors import RefusedError
from redolab.records.checkup import Check, Checkup, not_there
from redolab.records.observation import Observation

_NAME = "redolab doctor"


def check_private(flavour: private.Flavour, wanted: Mapping[str, Wanted]) -> Checkup:
    """The installed program, the disk, and the emulated log device."""
    look = partial(private.look, flavour)
    private_checkup = checkup.check_private(f"{private.TITLES[flavour]}, private", look, wanted)
    return Checkup((*private_checkup.checks, checkup.device_check()), private_checkup.refusals)


def check_url(target: str, wanted: Mapping[str, Wanted]) -> Checkup:
    """Checks of the server's identity, of the runs possible on it, and of what a profile would see.

    Raises:
        UsageError: the URL cannot be read.
    """
    connector = Connector.to_url(target)
    try:
        with closing(connector.connect(_NAME, read_only=True)) as control:
            return look_at(
                lambda seen: _server(control, connector, seen),
                lambda: _conditions(control, connector),
                partial(MariadbObserver, target),
                _refusals(connector, wanted),
            )
    except (RefusedError, pymysql.Error) as error:
        reason = str(error) if isinstance(error, RefusedError) else f"{connector.place}: {error_text(error)}."
        return not_there("Server", reason, wanted)


def _server(control: Connection, connector: Connector, seen: Observation | None) -> Check:
    name, version, place = "a server", control.get_server_info(), connector.place  # type: ignore[no-untyped-call]
    where = ""
    if seen is not None:
        name, version = seen.server["name"], seen.server["version"]
        where = ", on this machine" if seen.server["local"] else ", its processes not visible from here"
    text = f"{name} {version} at {place}, as the user {connector.target.user}{where}"
    if control.is_encrypted:
        return Check("Server", "works", f"{text}, encrypted (TLS)")
    exposed = plaintext(control)
    if exposed is None:
        return Check("Server", "works", f"{text}, through a socket")
    return Check("Server", "limited" if exposed.leaves else "works", f"{text}, not encrypted", exposed.text)


def _conditions(control: Connection, connector: Connector) -> tuple[str, ...]:
    server = check_server(control, connector.place)
    check_semi_sync(control, server)
    left = (LEFT,) if left_here(control).here else ()
    return (*left, *server_conditions(control, server, None))


def _refusals(connector: Connector, wanted: Mapping[str, Wanted]) -> dict[str, str]:
    from redolab.engine.mariadb.engine import MariaDBEngine

    return refusals(lambda: MariaDBEngine(connector, None, 0), wanted)

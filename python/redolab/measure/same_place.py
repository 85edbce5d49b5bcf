"""Whether a stored run can go on here: the same machine, server, settings and order as before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.engine.base import Engine
from redolab.engine.offer import PRIVATE_PLACE
from redolab.errors import UsageError
from redolab.machine.machine import describe_machine
from redolab.records.plain import plain
from redolab.records.sample import Setting

_MACHINE = ("cpus", "cpu_model", "memory_bytes", "kernel", "os", "processors")
_NEW = frozenset({PRIVATE_PLACE, "private file"})
"""Places of servers that Redolab starts for a run."""


def is_private(server: Mapping[str, Any]) -> bool:
    """Whether a server's record is that of one that Redolab starts for a run."""
    return server.get("place") in _NEW


def check_same(manifest: Mapping[str, Any], engine: Engine, settings: Sequence[Setting]) -> None:
    """Make sure that further samples of a run are measured as those that it has.

    Args:
        manifest: of the run.
        engine: prepared for its settings.
        settings: as this server realises them.

    Raises:
        UsageError: something differs; the text names it.
    """
    here = {name: value for name, value in describe_machine().items() if name in _MACHINE}
    before = {name: value for name, value in manifest["machine"].items() if name in here}
    _check("The machine", before, here)
    _check("The server", manifest["engine"], engine.describe())
    for stored, found in zip(manifest["settings"], settings, strict=True):
        _check(f"The setting {stored['name']}", stored, plain(found))


def _check(what: str, before: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    now = plain(here)
    for name in sorted({*before, *now}):
        was, has = before.get(name), now.get(name)
        if was != has:
            raise UsageError(
                f"{what} is not what it was when the run was measured: {name.replace('_', ' ')} was "
                f"{_shown(was)} and is {_shown(has)}. Further samples could not be compared with the samples "
                "of the run; begin a new run."
            )


def _shown(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."

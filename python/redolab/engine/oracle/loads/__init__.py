"""How Oracle does each kind of load."""

from __future__ import annotations

from collections.abc import Callable

from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.loads.base import Block, ClientLoad, OracleLoad, Turn
from redolab.engine.oracle.loads.scans import OracleScans
from redolab.engine.oracle.loads.writes import OracleClientWrites, OracleWrites
from redolab.errors import UsageError
from redolab.records.load import Inserts, Load, OwnRows, Scans, Updates

__all__ = ["Block", "ClientLoad", "OracleLoad", "OracleScans", "Turn", "oracle_load"]


def oracle_load(load: Load, connect: Callable[[str], Statements]) -> OracleLoad:
    """How Oracle does `load`.

    Args:
        load: what is to be done.
        connect: opens a connection that the server shows under such a name.

    Raises:
        UsageError: it has no such load.
    """
    match load:
        case Inserts() | Updates():
            return OracleClientWrites(load)
        case OwnRows():
            return OracleWrites(load)
        case Scans():
            return OracleScans(load, connect)
    raise UsageError(f"Oracle cannot do the load {type(load).__name__.lower()}.")

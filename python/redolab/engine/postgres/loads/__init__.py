"""How PostgreSQL does each kind of load."""

from __future__ import annotations

import threading

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.loads.base import Call, PostgresLoad
from redolab.engine.postgres.loads.ledger import PostgresLedger
from redolab.engine.postgres.loads.scans import PostgresScans
from redolab.engine.postgres.loads.scripts import PostgresScript
from redolab.engine.postgres.loads.writes import PostgresWrites
from redolab.errors import UsageError
from redolab.records.load import Inserts, Ledger, Load, OwnRows, Scans, Script, Updates

__all__ = ["Call", "PostgresLoad", "postgres_load"]


def postgres_load(load: Load, connector: Connector, stop: threading.Event) -> PostgresLoad:
    """How PostgreSQL does `load`; what takes long in it ends early once `stop` is set.

    Raises:
        UsageError: it has no such load.
    """
    match load:
        case Inserts() | OwnRows() | Updates():
            return PostgresWrites(load)
        case Scans():
            return PostgresScans(load, connector, stop)
        case Script():
            return PostgresScript(load)
        case Ledger():
            return PostgresLedger(load)
    raise UsageError(f"PostgreSQL cannot do the load {type(load).__name__.lower()}.")

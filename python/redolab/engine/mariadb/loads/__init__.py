"""How MariaDB and MySQL do each kind of load: one file each."""

from __future__ import annotations

import threading
from collections.abc import Callable

from redolab.engine.mariadb.connection import Connection
from redolab.engine.mariadb.loads.base import ClientLoad, MariadbLoad
from redolab.engine.mariadb.loads.inserts import MariadbInserts
from redolab.engine.mariadb.loads.ledger import MariadbLedger
from redolab.engine.mariadb.loads.own_rows import MariadbOwnRows
from redolab.engine.mariadb.loads.scans import MariadbScans
from redolab.engine.mariadb.loads.updates import MariadbUpdates
from redolab.errors import UsageError
from redolab.records.load import Inserts, Ledger, Load, OwnRows, Scans, Updates

__all__ = ["ClientLoad", "MariadbLoad", "MariadbScans", "mariadb_load"]


def mariadb_load(load: Load, connect: Callable[[str], Connection], stop: threading.Event) -> MariadbLoad:
    """How MariaDB and MySQL do `load`; what takes long in it ends early once `stop` is set.

    Args:
        load: what is to be done.
        connect: opens a connection that the server shows under such a name.
        stop: set when the run is to stop.

    Raises:
        UsageError: they have no such load.
    """
    match load:
        case Updates():
            return MariadbUpdates(load)
        case OwnRows():
            return MariadbOwnRows(load)
        case Inserts():
            return MariadbInserts(load)
        case Scans():
            return MariadbScans(load, connect, stop)
        case Ledger():
            return MariadbLedger()
    raise UsageError(f"MariaDB and MySQL cannot do the load {type(load).__name__.lower()}.")

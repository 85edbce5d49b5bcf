"""How MariaDB and MySQL do each kind of load."""

from __future__ import annotations

import threading

from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.loads.scans import MariadbScans
from redolab.engine.mariadb.loads.scripts import MariadbScript
from redolab.engine.mariadb.loads.writes import MariadbLedger, MariadbWrites
from redolab.engine.mariadb.statements import Statements
from redolab.engine.server.load import ServerLoad
from redolab.errors import UsageError
from redolab.records.load import Inserts, Ledger, Load, OwnRows, Scans, Script, Updates

__all__ = ["MariadbScans", "mariadb_load"]


def mariadb_load(load: Load, connector: Connector, stop: threading.Event) -> ServerLoad[Statements]:
    """How MariaDB and MySQL do `load`; what takes long in it ends early once `stop` is set.

    Args:
        load: what is to be done.
        connector: to the server.
        stop: set when the run is to stop.

    Raises:
        UsageError: they have no such load.
    """
    match load:
        case Inserts() | OwnRows() | Updates():
            return MariadbWrites(load)
        case Scans():
            return MariadbScans(load, connector.connect, stop)
        case Script():
            return MariadbScript(load, lambda: connector.connect("redolab list", several=True), stop)
        case Ledger():
            return MariadbLedger()
    raise UsageError(f"MariaDB and MySQL cannot do the load {type(load).__name__.lower()}.")

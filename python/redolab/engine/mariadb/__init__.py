"""MariaDB, as a private server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redolab.engine.offer import Offer, Opening

if TYPE_CHECKING:
    from redolab.engine.base import Engine


def _open(opening: Opening) -> Engine:
    from redolab.engine.mariadb.engine import MariaDBEngine
    from redolab.engine.mariadb.private import PrivateMariaDB

    server = PrivateMariaDB(opening.disk_bytes, opening.load.cache_bytes())
    try:
        return MariaDBEngine(server, opening.seed)
    except BaseException:
        server.stop()
        raise


OFFERS = (Offer("mariadb", "private MariaDB", frozenset({"scans"}), _open),)

"""The options that the client library reads from a URL, the environment and a service file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from psycopg import conninfo, pq


def effective_options(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Every option of a connection by its name, as the client library would use it; empty where not set.

    The client library reports them only for a connection, so one is begun that leads nowhere.

    Args:
        parameters: of the connection, which go before the environment and a service file.
    """
    nowhere = {**parameters, "host": "/", "hostaddr": "", "port": ""}
    attempt = pq.PGconn.connect_start(conninfo.make_conninfo(**nowhere).encode())
    try:
        return options_of(attempt)
    finally:
        attempt.finish()


def options_of(connection: pq.abc.PGconn) -> dict[str, str]:
    """Every option that a connection was made with, by its name; empty where it was not set."""
    return {option.keyword.decode(): os.fsdecode(option.val or b"") for option in connection.info}

"""Connections to Oracle, by the thin driver. No other place opens any."""

from __future__ import annotations

import re
from typing import Any

import oracledb

from redolab.engine.oracle.connecting.driver_errors import TOO_OLD, refused
from redolab.engine.oracle.connecting.target import Target
from redolab.engine.oracle.statements import find

Connection = oracledb.Connection
OLDEST = 1201
"""The oldest release that is understood, as major * 100 + minor."""
PATIENCE_S = 10
"""How long connecting may take, and how long an answer when watching, seconds."""
_ROWS = 5000
"""Rows that come with one answer: a list of sessions is read in one round trip."""


def connect(target: Target, program: str, *, unlimited: bool = False) -> Connection:
    """Open a connection.

    Args:
        target: where to.
        program: what the server shows as the program at the other end.
        unlimited: whether an answer may take as long as it takes; else `PATIENCE_S`.

    Raises:
        RefusedError: the database cannot be reached, refuses, or is too old; the text says what to mend.
    """
    try:
        connection = oracledb.connect(
            user=target.user,
            password=target.password,
            host=target.host,
            port=target.port,
            service_name=target.service,
            protocol=target.protocol,
            server_type=target.server,
            wallet_location=target.wallet,
            tcp_connect_timeout=PATIENCE_S,
            # A server that vanishes from the network is noticed within minutes.
            expire_time=1,
            # The driver lets no blank stand in it.
            program=program.replace(" ", "-"),
        )
    except (oracledb.Error, OSError) as error:
        raise refused(target.place, error) from error
    if release(connection) < OLDEST:
        text = connection.version
        connection.close()
        raise refused(target.place, RuntimeError(f"{TOO_OLD}: the server is Oracle {text}"))
    if not unlimited:
        connection.call_timeout = 1000 * PATIENCE_S
    return connection


def release(connection: Connection) -> int:
    """The server's release as major * 100 + minor: 2301 of `23.1.0.24.5`."""
    major, minor = (int(part) for part in [*re.findall(r"\d+", connection.version), "0", "0"][:2])
    return major * 100 + min(minor, 99)


def fetch(connection: Connection, name: str) -> list[dict[str, Any]]:
    """Run a stored query in the variant for this server; its rows by column names in lower case.

    Args:
        connection: where to.
        name: of the statement, as its file begins.
    """
    return ask(connection, find(name, release(connection)).text)


def ask(connection: Connection, text: str, **values: Any) -> list[dict[str, Any]]:
    """Execute a query; its rows by column names in lower case."""
    with connection.cursor() as cursor:
        cursor.arraysize, cursor.prefetchrows = _ROWS, _ROWS + 1
        cursor.execute(text, values)
        names = [column[0].lower() for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor]

"""Connections to Oracle, by the thin driver. No other place opens any."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import oracledb

from redolab.bounds import MOST_ANSWER_BYTES, MOST_LOG_IN_BYTES, MOST_LOG_IN_S, OutOfBoundsError
from redolab.engine.connecting import NotDoneError, waited_for
from redolab.engine.oracle.connecting.driver_errors import TOO_OLD, as_driver_errors, refused
from redolab.engine.oracle.connecting.sockets import Sockets
from redolab.engine.oracle.connecting.target import Target
from redolab.engine.oracle.statements import find

OLDEST = 1201
"""The oldest release that is understood, as major * 100 + minor."""
PATIENCE_S = 10
"""How long TCP may take to connect, and how long a part of an answer when watching, seconds."""
_ANSWERS_S = 60.0
"""Limit for all answers of one reading together, seconds."""
_ROWS = 5000
"""Rows that come with one answer: a list of sessions is read in one round trip."""
_LIMITED = threading.local()
_Result = TypeVar("_Result")


class Connection(oracledb.Connection):
    """A connection, and the sockets that it goes over."""

    sockets: Sockets

    def close(self) -> None:
        """Log off.

        Raises:
            oracledb.Error: the other end is gone, or does not understand.
        """
        try:
            with as_driver_errors():
                super().close()
        finally:
            self.sockets.close()

    def ping(self) -> None:
        """Ask for a sign of life.

        Raises:
            oracledb.Error: there is none.
        """
        with as_driver_errors():
            super().ping()

    def cut(self) -> None:
        """End it without a word to the other end; what waits for an answer gets an error."""
        self.sockets.cut()


def connect(
    target: Target, program: str, *, unlimited: bool = False, stop: threading.Event | None = None
) -> Connection:
    """Open a connection.

    Args:
        target: where to.
        program: what the server shows as the program at the other end.
        unlimited: whether an answer may take as long as it takes; else `PATIENCE_S`.
        stop: once it is set, the log-in has a second left.

    Raises:
        RefusedError: the database cannot be reached, refuses, or is too old; the text says what to mend.
    """
    sockets = Sockets()
    secret = target.secret()

    def log_in() -> Connection:
        try:
            with sockets.noted(), as_driver_errors():
                connection = _log_in(target, secret, program)
        except BaseException:
            sockets.close()
            raise
        connection.sockets = sockets
        return connection

    def check() -> None:
        if sockets.received() > MOST_LOG_IN_BYTES:
            raise OutOfBoundsError(f"has more than {MOST_LOG_IN_BYTES:,} bytes")

    try:
        connection = waited_for(log_in, stop=stop, limit_s=MOST_LOG_IN_S, check=check, late=_close)
    except (NotDoneError, OutOfBoundsError) as error:
        sockets.cut()
        raise refused(target.place, type(error)(f"the log-in {error}")) from error
    except (oracledb.Error, OSError) as error:
        raise refused(target.place, error) from error
    if release(connection) < OLDEST:
        text = connection.version
        _close(connection)
        raise refused(target.place, RuntimeError(f"{TOO_OLD}: the server is Oracle {text}"))
    if not unlimited:
        connection.call_timeout = 1000 * PATIENCE_S
    return connection


def _log_in(target: Target, secret: str | None, program: str) -> Connection:
    made = oracledb.connect(
        conn_class=Connection,
        user=target.user,
        password=secret,
        host=target.host,
        port=target.port,
        service_name=target.service,
        protocol=target.protocol,
        server_type=target.server,
        wallet_location=target.wallet,
        tcp_connect_timeout=PATIENCE_S,
        # A server that vanishes from the network is noticed within minutes.
        expire_time=1,
        # The driver allows no blank in it.
        program=program.replace(" ", "-"),
    )
    assert isinstance(made, Connection)
    return made


def _close(connection: Connection) -> None:
    with suppress(oracledb.Error, OSError):
        connection.close()


def answered(connection: Connection, read: Callable[[], _Result]) -> _Result:
    """The result of `read`, which asks one or more queries of the connection; all of them have one limit.

    Raises:
        oracledb.Error: a query was refused, or the answers came too late or were too long; then the
            connection is cut.
    """
    if getattr(_LIMITED, "by", None) is connection:
        return read()
    most = connection.sockets.received() + MOST_ANSWER_BYTES

    def limited() -> _Result:
        _LIMITED.by = connection
        with as_driver_errors():
            return read()

    def check() -> None:
        if connection.sockets.received() > most:
            raise OutOfBoundsError(f"has more than {MOST_ANSWER_BYTES:,} bytes")

    try:
        return waited_for(limited, limit_s=_ANSWERS_S, check=check)
    except (NotDoneError, OutOfBoundsError) as error:
        connection.cut()
        text = f"DPY-4011: an answer {error}, so Redolab closed the connection"
        raise oracledb.OperationalError(text) from error


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
    """Execute a query; its rows by column names in lower case.

    Raises:
        oracledb.Error: it was refused, or the answer came too late or was too long.
    """

    def read() -> list[dict[str, Any]]:
        with connection.cursor() as cursor:
            cursor.arraysize, cursor.prefetchrows = _ROWS, _ROWS + 1
            cursor.execute(text, values)
            names = [column[0].lower() for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    return answered(connection, read)

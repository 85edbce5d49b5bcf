"""Connections to MariaDB and MySQL, and what a failed one means in plain words. No other place opens any."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymysql
from pymysql.constants import CLIENT
from pymysql.cursors import Cursor

from redolab.dialect.innodb import REDO_LOG
from redolab.engine.mariadb.answers import RowCursor, checked
from redolab.engine.mariadb.connecting.client import Client
from redolab.engine.mariadb.connecting.log_ins import LogIns
from redolab.engine.mariadb.connecting.session_settings import at_log_in
from redolab.engine.mariadb.connecting.target import Target
from redolab.engine.statements import has_statement, statement
from redolab.errors import RefusedError

Connection = Client

_NO_CONNECTION = 2003
_NO_TLS = 2026

# Error number -> what to do. 2003, 2013 and 2026 are the client's own; their reason is in the text.
_MENDS = {
    1040: "Raise max_connections, or try again when fewer sessions are connected.",
    1044: "Leave the database out of the URL, or grant the user access to that database.",
    1045: (
        "Check the user and the password: MYSQL_PWD or ~/.my.cnf keep the password out of the command line."
    ),
    1049: "Check the database name in the URL, or leave it out.",
    1130: "The server accepts no user from this host: CREATE USER with this host, or use an SSH tunnel.",
    1698: (
        "The server identifies this user only by the operating system's user: run Redolab as that user and "
        "name the server's socket with ?unix_socket=, or use a user with a password."
    ),
    _NO_CONNECTION: "Is the server running on that host, and does it listen on that address, port or socket?",
    2002: "Redolab sent nothing to that socket. Name the server's own socket with ?unix_socket=, or its host "
    "and port, with ?ssl-mode=VERIFY_IDENTITY where the server has TLS.",
    2006: "Is the server running?",
    2013: "The server closed the connection: check its error log.",
    _NO_TLS: "Give the server a certificate, or ask for less protection with ?ssl-mode=PREFERRED.",
}
_UNTRUSTED = (
    "Name the file of the authority that signed the server's certificate with ?ssl-ca=, or ask for less "
    "protection with ?ssl-mode=REQUIRED."
)
_STRIPPED = (
    "The first connection to this server was encrypted, so Redolab opens no later one without encryption. "
    "Find out why the server offers no TLS now: somebody may be intercepting the connection."
)
_MOST_LETTERS = 400
_MYSQLS_OWN = "mariadb/sql/mysql"
"""Statements that MySQL has in other words."""


def log_in(target: Target, program: str, *, several: bool = False, unlimited: bool = False) -> Connection:
    """Open a connection in autocommit mode.

    Args:
        target: where to.
        program: what the server shows as the program at the other end.
        several: whether a text may hold several statements.
        unlimited: whether an answer may take as long as it takes; else `PATIENCE_S`.

    Raises:
        RefusedError: the server cannot be reached or refuses; the text says what to mend.
    """
    return _opened(target, program, RowCursor, several=several, unlimited=unlimited)


def _opened(
    target: Target, program: str, rows: type[Cursor], *, several: bool, unlimited: bool
) -> Connection:
    secret = (target.secret() or "").encode(errors="surrogateescape")
    try:
        connection = Client(
            target.peer,
            several,
            host=target.host,
            port=target.port,
            user=target.user,
            password=secret,
            database=target.database,
            unix_socket=target.unix_socket,
            ssl_disabled=target.demanded == "disabled",
            ssl=_protection(target),
            auth_plugin_map=LogIns(),
            program_name=program,
            autocommit=True,
            charset="utf8mb4",
            init_command=at_log_in(),
            client_flag=CLIENT.MULTI_STATEMENTS if several else 0,
            cursorclass=rows,
        )
    except (pymysql.Error, OSError) as error:
        raise refused(target, error) from error
    if unlimited:
        connection.wait_without_end()
    return connection


def settled(target: Target, connection: Connection) -> Target:
    """The same server after a first connection to it: no later one is less protected than that."""
    return replace(target, encrypted=connection.is_encrypted, peer=connection.peer)


def connect(target: Target, program: str = "redolab profile") -> Connection:
    """Open a connection that cannot write.

    Args:
        target: where to.
        program: what the server shows as the program at the other end.

    Raises:
        RefusedError: the server cannot be reached or refuses; the text says what to mend.
    """
    connection = log_in(target, program)
    try:
        ask(connection, "SET SESSION TRANSACTION READ ONLY")
    except (pymysql.Error, OSError) as error:
        raise refused(target, error) from error
    return connection


def refused(target: Target, error: BaseException) -> RefusedError:
    """The error of a connection that failed."""
    number = error_number(error)
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        mend = _UNTRUSTED
    elif number == _NO_TLS and target.tls_mode == "preferred":
        mend = _STRIPPED
    else:
        mend = _MENDS.get(number, "")
    return RefusedError(
        f"No connection to MariaDB or MySQL at {target.place}: {error_text(error)}. {mend}".rstrip()
    )


def _protection(target: Target) -> ssl.SSLContext | None:
    """How the connection is encrypted; None where that is left to what the server has."""
    if target.demanded in ("disabled", "preferred"):
        return None
    context = ssl.create_default_context(cafile=target.ca_file)
    # A MySQL's own certificates do not pass it.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.check_hostname = target.tls_mode == "verify-identity"
    if target.demanded == "required":
        context.verify_mode = ssl.CERT_NONE
    return context


def private_target(unix_socket: Path) -> Target:
    """A server of Redolab's own."""
    return Target("localhost", 3306, "root", str(unix_socket), None, None)


def connect_private(unix_socket: Path) -> Connection:
    """Open a connection that may write, in autocommit mode, to a server of Redolab's own.

    Its rows are tuples.

    Raises:
        RefusedError: the server does not answer.
    """
    return _opened(private_target(unix_socket), "redolab run", Cursor, several=False, unlimited=True)


def fetch(
    connection: Connection,
    name: str,
    version: int,
    flavour: str = "mariadb",
    parameters: Sequence[Any] = (),
    further: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Run a stored statement in the variant for this server and return its rows.

    Args:
        connection: where to.
        name: of the statement, as its file begins.
        version: the server's, as major * 100 + minor.
        flavour: `mariadb` or `mysql`; only few statements differ.
        parameters: of the statement.
        further: columns that are read in the same statement, in addition; it is a SELECT then.

    Raises:
        pymysql.Error: the server refuses, or sends something that does not answer this statement.
    """
    own = flavour == "mysql" and has_statement(_MYSQLS_OWN, name)
    folder = _MYSQLS_OWN if own else "mariadb/sql"
    text = statement(folder, name, version)
    if further:
        text = f"SELECT it.*, {', '.join(further)} FROM (\n{text}\n) it"  # noqa: S608
    return ask(connection, text, *parameters)


def ask(connection: Connection, text: str, *values: Any) -> list[dict[str, Any]]:
    """Execute a statement; returns its rows.

    Raises:
        pymysql.Error: the server refuses, or sends something that does not answer this statement.
    """
    with connection.cursor() as cursor:
        cursor.execute(text, values or None)
        return checked(text, cursor.fetchall())


def redo_log_state(connection: Connection, flavour: str) -> dict[str, str]:
    """Whether the redo log is written, by `innodb.REDO_LOG`; nothing where the server has no such switch.

    Args:
        connection: where to.
        flavour: `mariadb` or `mysql`; only the second has one.
    """
    if flavour != "mysql":
        return {}
    rows = ask(
        connection,
        "select VARIABLE_VALUE as Value from performance_schema.global_status where VARIABLE_NAME = %s",
        REDO_LOG,
    )
    return {REDO_LOG: str(rows[0]["Value"])} if rows else {}


def socket_of(connection: Connection) -> socket.socket:
    """The socket that an open connection goes by; pymysql has no public name for it."""
    opened: socket.socket = connection._sock  # noqa: SLF001
    return opened


def address(connection: Connection) -> str:
    """Where the server was reached, by number: a name may lead elsewhere the next time."""
    peer = socket_of(connection).getpeername()
    return f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else str(peer)


def error_number(error: BaseException) -> int:
    """The server's or client's error number; 0 where there is none."""
    number = error.args[0] if error.args else 0
    return number if isinstance(number, int) else 0


def error_text(error: BaseException) -> str:
    """One line without numbers, and not too long a one."""
    text = str(error.args[-1] if error.args else error).strip() or type(error).__name__
    return text.splitlines()[0][:_MOST_LETTERS].rstrip(".")

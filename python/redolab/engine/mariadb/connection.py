"""Connections to MariaDB and MySQL, and what a failed one means in plain words. No other place opens any."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

import pymysql
from pymysql.cursors import Cursor, DictCursor

from redolab.engine.statements import statement
from redolab.errors import RefusedError, UsageError

if TYPE_CHECKING:
    Connection = pymysql.Connection[DictCursor]
else:
    Connection = pymysql.Connection

# # ? and : may stand in a password, so it is not read as a browser would.
_URL = re.compile(
    r"(?:mysql|mariadb)://(?:(?P<user>[^:@/]*)(?::(?P<password>[^@/]*))?@)?"
    r"(?P<host>\[[0-9a-fA-F:.]+\]|[^:/?\[\]@]*)(?::(?P<port>\d{1,5}))?(?:/(?P<database>[^?]*))?(?:\?(?P<query>.*))?",
    re.DOTALL,
)
_KNOWN = frozenset({"unix_socket", "socket", "password"})
_SOCKETS = ("/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock")  # noqa: S108
_PORT = 3306
_NO_CONNECTION = 2003

# Error number -> what to do. 2003 and 2013 are the client's own; their reason is in the text.
_MENDS = {
    1040: "Raise max_connections, or try again when fewer are connected.",
    1044: "Leave the database out of the URL, or grant the user access to it.",
    1045: "Check the user and the password: MYSQL_PWD or ~/.my.cnf keep it out of the command line.",
    1049: "Check the database name in the URL; none is needed.",
    1130: "The server allows no user from this host: CREATE USER with this host, or go by an SSH tunnel.",
    1698: "This user is known by the operating system's user alone: run Redolab as that user and name the "
    "server's socket with ?unix_socket=, or use a user with a password.",
    _NO_CONNECTION: "Is the server running there, and does it listen on that address, port or socket?",
    2006: "Is the server running?",
    2013: "The server closed the connection: check its error log.",
    2059: "Use a user with another authentication plugin, such as mysql_native_password.",
}
_PATIENCE_S = 10
_FLAVOURED = frozenset(
    {
        "select_active", "select_counters", "select_own_thread", "select_session_threads", "select_sessions",
        "select_transactions",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """Where a server is and who asks."""

    host: str
    port: int
    user: str | None
    unix_socket: str | None
    database: str | None
    password: str | None = field(repr=False)

    tls_mode: str = "disabled"
    ca_file: str | None = None

    @property
    def place(self) -> str:
        """The server's place in words, never a password."""
        return f"socket {self.unix_socket}" if self.unix_socket else f"{self.host}:{self.port}"


def read_target(url: str) -> Target:
    """Read a `mysql://` or `mariadb://` URL.

    Without a host, or with `localhost` and no port, the server's socket is used where it stands in one
    of its usual places, as the servers' own clients do.

    Raises:
        UsageError: it cannot be read as one.
    """
    found = _URL.fullmatch(url)
    query = parse_qs(found["query"] or "", keep_blank_values=True) if found else {}
    if found is None or not query.keys() <= _KNOWN or int(found["port"] or _PORT) > 65_535:
        raise UsageError(
            "This is no URL of a MariaDB or MySQL server. Write it as mysql://user@host:3306/ or "
            "mysql://user@/?unix_socket=/run/mysqld/mysqld.sock."
        )
    host = found["host"].strip("[]")
    path = next((query[name][0] for name in ("unix_socket", "socket") if name in query), None)
    if path is None and found["port"] is None and host in ("", "localhost"):
        path = next((usual for usual in _SOCKETS if Path(usual).is_socket()), None)
    given = found["password"] or query.get("password", [""])[0] or None
    return Target(
        host=host or "localhost",
        port=int(found["port"] or _PORT),
        user=unquote(found["user"] or "") or None,
        unix_socket=path,
        database=unquote(found["database"] or "") or None,
        password=unquote(given) if given else os.environ.get("MYSQL_PWD"),
    )


class _Client(Connection):
    """Closes the socket of an attempt that failed; the base class leaves that to the garbage collector."""

    def connect(self, sock: Any = None) -> None:
        if sock is None and self.unix_socket:
            sock = socket.socket(socket.AF_UNIX)
            try:
                sock.connect(self.unix_socket)
            except OSError as error:
                sock.close()
                raise pymysql.OperationalError(_NO_CONNECTION, error.strerror or str(error)) from error
            self._secure = True
        super().connect(sock)


def connect(target: Target, program: str = "redolab profile", customs: bool = True) -> Connection:
    """Open a connection that cannot write.

    Args:
        target: where to.
        program: what the server shows as the program at the other end.
        customs: whether the user's ~/.my.cnf counts; not for a server of Redolab's own.

    Raises:
        RefusedError: the server cannot be reached or refuses; the text says what to mend.
    """
    options = Path("~/.my.cnf").expanduser()
    try:
        connection = _Client(
            host=target.host,
            port=target.port,
            user=target.user,
            password=target.password or "",
            database=target.database,
            unix_socket=target.unix_socket,
            # Encryption would cost both ends CPU, and nobody can listen in between.
            ssl_disabled=target.unix_socket is not None,
            read_default_file=str(options) if customs and options.is_file() else None,
            connect_timeout=_PATIENCE_S,
            read_timeout=_PATIENCE_S,
            write_timeout=_PATIENCE_S,
            program_name=program,
            autocommit=True,
            charset="utf8mb4",
            cursorclass=DictCursor,
        )
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION READ ONLY")
    except (pymysql.Error, OSError, RuntimeError) as error:
        mend = _MENDS.get(error_number(error), "")
        raise RefusedError(
            f"No connection to MariaDB or MySQL at {target.place}: {error_text(error)}. {mend}".rstrip()
        ) from error
    return connection


def connect_private(unix_socket: Path) -> pymysql.Connection[Cursor]:
    """Open a connection that may write, in autocommit mode, to a server of Redolab's own.

    Raises:
        RefusedError: the server does not answer.
    """
    try:
        return pymysql.connect(
            unix_socket=str(unix_socket),
            ssl_disabled=True,
            user="root",
            connect_timeout=_PATIENCE_S,
            program_name="redolab run",
            charset="utf8mb4",
            autocommit=True,
        )
    except pymysql.Error as error:
        raise RefusedError(f"The private MariaDB does not answer: {error_text(error)}.") from error


def fetch(
    connection: Connection, name: str, version: int, flavour: str = "mariadb", parameters: Sequence[Any] = ()
) -> list[dict[str, Any]]:
    """Run a stored statement in the variant for this server and return its rows.

    Args:
        connection: where to.
        name: of the statement, as its file begins.
        version: the server's, as major * 100 + minor.
        flavour: `mariadb` or `mysql`; only few statements differ.
        parameters: of the statement.
    """
    folder = "mariadb/sql/mysql" if flavour == "mysql" and name in _FLAVOURED else "mariadb/sql"
    with connection.cursor() as cursor:
        cursor.execute(statement(folder, name, version), parameters or None)
        return list(cursor.fetchall())


def socket_of(connection: Connection) -> socket.socket:
    """The socket that an open connection goes by; pymysql has no public name for it."""
    opened: socket.socket = connection._sock  # type: ignore[attr-defined] # noqa: SLF001
    return opened


def error_number(error: BaseException) -> int:
    """The server's or client's error number; 0 where there is none."""
    number = error.args[0] if error.args else 0
    return number if isinstance(number, int) else 0


def error_text(error: BaseException) -> str:
    """One line without numbers."""
    text = str(error.args[-1] if error.args else error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")

"""Connections to PostgreSQL, and what a failed one means in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import conninfo
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from redolab.engine import cleartext
from redolab.engine.sql import statement
from redolab.engine.tls_mends import TLS_MENDS
from redolab.errors import RefusedError, UsageError

Connection = psycopg.Connection[dict[str, Any]]

# Text of the client library or server -> what to do. Connection failures carry no SQLSTATE.
_MENDS = (
    *TLS_MENDS,
    (
        "password authentication failed",
        "Check the user and the password: PGPASSWORD or ~/.pgpass keep it out of the command line.",
    ),
    ("no password supplied", "Give the password in PGPASSWORD or ~/.pgpass."),
    ("no pg_hba.conf entry", "The server's pg_hba.conf must allow this host, user and database."),
    ("does not exist", "Check the database and user names in the URL."),
    ("refused", "Is the server running there, and does it listen on that address and port?"),
    ("could not translate host name", "Check the host name in the URL."),
    ("resolve", "Check the host name in the URL."),
    ("timeout", "Nothing answered in time: check the host, the port, and any firewall between."),
    ("too many clients", "Ask for fewer with --sessions, or raise max_connections."),
    (
        "remaining connection slots",
        "Ask for fewer with --sessions, or raise max_connections.",
    ),
    ("No such file or directory", "Is the server running, and is this its socket directory?"),
)

# A server that vanishes from the network is noticed after half a minute, not after two hours.
_DEFAULTS: Mapping[str, str] = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
}
# Customs and limits meant for applications must not cut a sample short; and the server is to notice
# within half a minute that Redolab has vanished, and let go of its lock.
SESSION_SETTINGS: Mapping[str, str] = {
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_session_timeout": "0",
    "transaction_timeout": "0",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "4",
}


class Connector:
    """Opens connections to one server, from one connection string."""

    def __init__(self, target: str) -> None:
        """Take a `postgresql://` URL or a libpq connection string.

        Raises:
            UsageError: it cannot be read as one.
        """
        try:
            self.parameters: Mapping[str, Any] = conninfo.conninfo_to_dict(target)
        except psycopg.ProgrammingError as error:
            raise UsageError(
                "This is not a connection URL the client library can read "
                f"({_first_line(error)}). Write it as postgresql://user@host:5432/database."
            ) from error

    @property
    def place(self) -> str:
        """Host, port and database in words, never a password."""
        known = self.parameters
        host, port = known.get("host") or "the default host", known.get("port") or "5432"
        return f"{host}:{port}, database {known.get('dbname') or 'of the default name'}"

    def connect(self, name: str, read_only: bool = False) -> Connection:
        """Open a connection in autocommit mode, shown as `name` in the server's views.

        Args:
            name: how the session calls itself.
            read_only: let the server refuse every change.

        Raises:
            RefusedError: the server cannot be reached or refuses; the text says what to mend.
        """
        settings: dict[str, Any] = {**_DEFAULTS, **self.parameters, "application_name": name}
        try:
            connection = cleartext.connect(settings, dict_row)
            wanted = Jsonb(
                {**SESSION_SETTINGS, "default_transaction_read_only": "on" if read_only else "off"}
            )
            connection.execute(
                "select set_config(name, %s::jsonb ->> name, false) from pg_settings where %s::jsonb ? name",
                (wanted, wanted),
            )
        except psycopg.Error as error:
            raise self.refused(_first_line(error), str(error)) from error
        return connection

    def refused(self, text: str, whole: str | None = None) -> RefusedError:
        """The error of a connection that failed.

        Args:
            text: why, in one line without a full stop.
            whole: all that was said, where that is more.
        """
        mend = next((mend for part, mend in _MENDS if part in (whole or text)), "")
        return RefusedError(f"No connection to PostgreSQL at {self.place}: {text}. {mend}".rstrip())


def fetch(
    connection: Connection, name: str, parameters: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Run a stored statement in the variant for this server and return its rows."""
    text = statement("postgres", name, connection.info.server_version // 10_000)
    return connection.execute(text.encode(), parameters).fetchall()


def run_script(connection: Connection, name: str) -> None:
    """Run a stored script of several statements as one transaction."""
    text = statement("postgres", name, connection.info.server_version // 10_000)
    connection.execute(text.encode())


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text.split("FATAL:")[-1].strip().rstrip(".")

"""Connections to PostgreSQL, and what a failed one means in plain words."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import conninfo
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Conninfo, TransactionStatus
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from redolab.engine.postgres.connecting import cleartext
from redolab.engine.postgres.connecting.effective_options import effective_options
from redolab.engine.postgres.connecting.limited import LimitedConnection, opened
from redolab.engine.postgres.connecting.tls_mends import TLS_MENDS
from redolab.engine.statements import statement
from redolab.errors import RefusedError, UsageError
from redolab.password_command import password_command, password_of
from redolab.records.load import LIST_SCHEMAS
from redolab.url_secrets import handed_on

Connection = psycopg.Connection[dict[str, Any]]
OwnConnection = LimitedConnection[dict[str, Any]]

_TO_THE_SERVER = (
    "A pooler such as PgBouncer answers at that address, and shares a server session among many clients. "
    "Connect to the server itself: the pooler's configuration has its host and port. Nothing was changed."
)
# Text of the client library or server -> what to do. Connection failures carry no SQLSTATE.
_MENDS = (
    # PgBouncer's words, which a server never has: for an option sent at the log-in, and for a log-in that it
    # does not take or cannot hand on.
    *(
        (text, _TO_THE_SERVER)
        for text in (
            "unsupported startup parameter",
            "max_client_conn",
            "pgbouncer cannot",
            "bouncer config",
            "no such user",
            "no such database",
            "client_login_timeout",
            "query_wait_timeout",
            "server_login_retry",
            "server login has been failing",
            "admin console",
        )
    ),
    *TLS_MENDS,
    (
        "password authentication failed",
        "Check the user and the password: PGPASSWORD or ~/.pgpass keep the password out of the command line.",
    ),
    ("no password supplied", "Give the password in PGPASSWORD or ~/.pgpass."),
    ("no pg_hba.conf entry", "The server's pg_hba.conf must allow this host, user and database."),
    ("does not exist", "Check the database and user names in the URL."),
    ("refused", "Is the server running on that host, and does it listen on that address and port?"),
    ("could not translate host name", "Check the host name in the URL."),
    ("resolve", "Check the host name in the URL."),
    (
        "terminating connection due to",
        "A session limit of the server, the database or the role ended the connection: raise the limit for "
        "this role, or try again when the server is less busy.",
    ),
    (
        "timeout expired",
        "Nothing answered the log-in in time: check the host, the port and any firewall in between. If a "
        "pooler answers at that address, check whether the server behind the pooler answers.",
    ),
    ("too many clients", "Ask for fewer sessions with --sessions, or raise max_connections."),
    (
        "remaining connection slots",
        "Ask for fewer sessions with --sessions, or raise max_connections.",
    ),
    ("No such file or directory", "Is the server running, and is this its socket directory?"),
    (
        "no answer within",
        "The other end accepted the log-in and then did not answer: is it a pooler without free connections?",
    ),
)

# A server that vanishes from the network is noticed after half a minute, not after two hours.
_DEFAULTS: Mapping[str, str] = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "client_encoding": "UTF8",
}
# Functions and operators of others must not be called by Redolab's statements, nor their tables read. Where
# a session's temporary tables are not named, they come first.
_SEARCH_PATH = "pg_catalog,pg_temp"
# A limit of the role's would cut the first question off, before the session has its settings.
_AT_LOG_IN = f"-c search_path={_SEARCH_PATH} -c statement_timeout=0"
_ANSWER_LIMIT_S = 15.0
# By number 0 the driver knows every type that it has no loader for.
_TEXT_TYPES = (0, "bpchar", "name", "text", "varchar")
# Encodings of a server that Python has no codec for.
_NO_CODEC = ("EUC_TW", "MULE_INTERNAL")
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

# What the answers of Redolab's own statements depend on, and what a server, a database, a role or the
# environment may have set otherwise.
READING_SETTINGS: Mapping[str, str] = {
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "lc_monetary": "C",
    "lc_numeric": "C",
    "lc_time": "C",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "quote_all_identifiers": "off",
    "row_security": "on",
    "xmlbinary": "base64",
    "xmloption": "content",
}


class Connector:
    """Opens connections to one server, from one connection string. No other place opens any."""

    def __init__(self, target: str, stop: threading.Event | None = None) -> None:
        """Take a `postgresql://` URL or a libpq connection string.

        Args:
            target: where to.
            stop: once it is set, a read-only connection waits no longer than a second for an answer.

        Raises:
            UsageError: it cannot be read as one.
        """
        self._stop = stop
        self.password_command = password_command() if "://" in target else None
        """Prints the password of each connection (`redolab.password_command`); None where none does."""
        try:
            self._options: Mapping[str, Any] = conninfo.conninfo_to_dict(target) | handed_on()
        except (psycopg.ProgrammingError, UnicodeDecodeError) as error:
            raise UsageError(
                f"This is not a connection URL that the client library can read ({_first_line(error)}). "
                "Write it as postgresql://user@host:5432/database."
            ) from error

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Connector:
        """The connector to the server that another connector's `parameters` name."""
        connector = cls("")
        connector._options = parameters["options"]
        connector.password_command = parameters["password_command"]
        return connector

    @property
    def parameters(self) -> Mapping[str, Any]:
        """All that another process needs, a password too: for a pipe, and for no other place."""
        return {"options": dict(self._options), "password_command": self.password_command}

    @property
    def place(self) -> str:
        """Host, port and database in words as they are asked for, the environment's too; never a password."""
        usual = {
            it.keyword.decode(): (it.val or b"").decode(errors="replace") for it in Conninfo.get_defaults()
        }
        options = {**usual, **{name: value for name, value in self._options.items() if value}}
        host = options.get("host") or "the default host"
        # Several hosts without ports are a port of commas alone.
        port = (options.get("port") or "").strip(",") or "5432"
        return f"{host}:{port}, database {options.get('dbname') or 'of the default name'}"

    def to_database(self, name: str) -> Connector:
        """The same connector, to another database of the server."""
        return Connector.from_parameters({**self.parameters, "options": {**self._options, "dbname": name}})

    def connect(self, name: str, read_only: bool = False, limit_s: float | None = None) -> OwnConnection:
        """Open a connection in autocommit mode, shown as `name` in the server's views.

        Args:
            name: how the session calls itself.
            read_only: let the server refuse every change.
            limit_s: for connecting and for every answer; None for the usual ones.

        Raises:
            RefusedError: the server cannot be reached or refuses; the text says what to mend.
        """
        options = f"{effective_options(self._options)['options']} {_AT_LOG_IN}"
        if read_only:
            options += " -c default_transaction_read_only=on"
        settings: dict[str, Any] = {
            **_DEFAULTS, **self._options, "application_name": name, "options": options.lstrip(),
        }  # fmt: skip
        if self.password_command is not None:
            settings["password"] = password_of(self.password_command)
        if limit_s is not None:
            settings["connect_timeout"] = f"{limit_s:.0f}"
        try:
            connection = self._log_in(settings)
        except psycopg.Error as error:
            raise self.refused(_first_line(error), str(error)) from error
        try:
            self._greet(connection, read_only)
        except psycopg.Error as error:
            connection.close()
            raise self.refused(_first_line(error), str(error)) from error
        except BaseException:
            connection.close()
            raise
        if limit_s is not None:
            connection.limit_s = limit_s
        return connection

    def _log_in(self, settings: Mapping[str, Any]) -> OwnConnection:
        def connect() -> OwnConnection:
            return cleartext.connect(_open, settings)

        return connect() if self._stop is None else opened(connect, self._stop)

    def _greet(self, connection: OwnConnection, read_only: bool) -> None:
        """Make sure that the server itself is at the other end, and bring the session's customs."""
        connection.limit_s, connection.stop = _ANSWER_LIMIT_S, self._stop
        for text_type in _TEXT_TYPES:
            connection.adapters.register_loader(text_type, _ForeignText)
        # Names in full and no operator: whether the search path is in force is what is asked.
        row = connection.execute(
            "select pg_catalog.pg_backend_pid() as pid, pg_catalog.current_setting('search_path') as path"
        ).fetchone()
        assert row is not None
        if row["pid"] != connection.info.backend_pid:
            raise self._pooled(
                f"the log-in was answered for the server process {connection.info.backend_pid}, "
                f"and the first question by the process {row['pid']}"
            )
        if row["path"] != _SEARCH_PATH:
            raise self._pooled(
                f"the option search_path={_SEARCH_PATH} of the log-in did not reach the server's session"
            )
        wanted = {
            **SESSION_SETTINGS,
            **READING_SETTINGS,
            "default_transaction_read_only": "on" if read_only else "off",
        }
        encoding = connection.info.parameter_status("server_encoding")
        if read_only and encoding is not None:
            # Then the server neither converts nor checks, and no name of others can make it refuse.
            wanted["client_encoding"] = "SQL_ASCII" if encoding in _NO_CODEC else encoding
        connection.execute(
            "select set_config(name, %s::jsonb ->> name, false) from pg_settings where %s::jsonb ? name",
            (Jsonb(wanted), Jsonb(wanted)),
        )
        if not read_only:
            connection.limit_s = None

    def _pooled(self, text: str) -> RefusedError:
        return RefusedError(f"No connection to PostgreSQL at {self.place}: {text}. {_TO_THE_SERVER}")

    def refused(self, text: str, whole: str | None = None) -> RefusedError:
        """The error of a connection that failed.

        Args:
            text: why, in one line without a full stop.
            whole: all that was said, where that is more.
        """
        mend = next((mend for part, mend in _MENDS if part in (whole or text)), "")
        return RefusedError(f"No connection to PostgreSQL at {self.place}: {text}. {mend}".rstrip())


def place_of(connection: Connection) -> str:
    """Host, port and database as really connected, whatever URL, environment or service file said."""
    info = connection.info
    return f"{info.host}:{info.port}, database {info.dbname}"


def _open(settings: Mapping[str, Any]) -> OwnConnection:
    return LimitedConnection.connect(**settings, autocommit=True, row_factory=dict_row)


class _ForeignText(Loader):
    """Text as the server has it. Names of others may be in another encoding than they should be."""

    def load(self, data: Buffer) -> str:
        """The text; bytes that are invalid in its encoding are shown with a backslash, by number."""
        assert self.connection is not None
        # Bytes without a known encoding are read as UTF-8.
        encoding = self.connection.info.encoding
        return bytes(data).decode("utf-8" if encoding == "ascii" else encoding, "backslashreplace")


@contextmanager
def list_names(connection: Connection, search_path: str = LIST_SCHEMAS) -> Iterator[None]:
    """Let names without a schema be those of a user's own list while its statements run.

    Args:
        connection: that executes them.
        search_path: where their names are looked for.
    """
    _look_in(connection, search_path)
    try:
        yield
    finally:
        if connection.info.transaction_status == TransactionStatus.INERROR:
            connection.rollback()
        if not connection.closed:
            _look_in(connection, _SEARCH_PATH)


def _look_in(connection: Connection, search_path: str) -> None:
    connection.execute("select pg_catalog.set_config('search_path', %s, false)", (search_path,))


def major_version(connection: Connection) -> int:
    """The server's: 18.

    Raises:
        psycopg.OperationalError: the connection is lost, and nobody knows any more.
    """
    version = connection.info.server_version
    if not version:
        raise psycopg.OperationalError("the connection is lost")
    return version // 10_000


def fetch(
    connection: Connection, name: str, parameters: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Run a stored statement in the variant for this server and return its rows."""
    text = statement("postgres/sql", name, major_version(connection))
    return connection.execute(text.encode(), parameters).fetchall()


def fetch_beside(
    connection: Connection, name: str, parameters: Mapping[str, Any], others: str
) -> dict[str, Any]:
    """Run a stored statement of one row, and another one of any rows in the same question.

    Args:
        connection: where to.
        name: of the one.
        parameters: of both.
        others: of the other, whose rows become the column `others`.
    """
    version = major_version(connection)
    one, many = (statement("postgres/sql", it, version) for it in (name, others))
    text = (
        f"select it.*, (select coalesce(jsonb_agg(o), '[]') from (\n{many}) o) as others "  # noqa: S608
        f"from (\n{one}) it"
    )
    return connection.execute(text.encode(), parameters).fetchall()[0]


def run_script(connection: Connection, name: str) -> None:
    """Run a stored script of several statements as one transaction."""
    connection.execute(statement("postgres/sql", name, major_version(connection)).encode())


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text.split("FATAL:")[-1].strip().rstrip(".")

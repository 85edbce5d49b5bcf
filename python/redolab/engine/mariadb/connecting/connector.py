"""Opens the connections of a run to one server, each as it needs it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pymysql

from redolab.engine.mariadb.connecting.client import PATIENCE_S
from redolab.engine.mariadb.connecting.session_settings import LASTING
from redolab.engine.mariadb.connecting.target import Target, read_target
from redolab.engine.mariadb.connection import (
    Connection,
    ask,
    connect,
    log_in,
    private_target,
    refused,
    settled,
)

LOCK_WAIT_S = 60
"""How long a statement waits for somebody's lock of a table."""
_NO_SUCH_VARIABLE = 1193
_NOT_ALLOWED = 1227


class Connector:
    """Opens connections to one server. Its password is in no text of it."""

    patience_s = float(PATIENCE_S)
    """How long connecting may take, seconds."""

    def __init__(self, target: Target) -> None:
        """Take where the server is and who asks."""
        self.target = target
        """Every connection is protected as the first one was, which this knows afterwards."""

    @classmethod
    def to_private(cls, socket: Path) -> Connector:
        """The connector to a server of Redolab's own."""
        return cls(private_target(socket))

    @classmethod
    def to_url(cls, url: str) -> Connector:
        """The connector to the server of a `mysql://` or `mariadb://` URL.

        Raises:
            UsageError: it cannot be read as one.
        """
        return cls(read_target(url))

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Connector:
        """The connector to the server that another connector's `parameters` name."""
        return cls(Target(**parameters))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """All that another process needs, the password too: for a pipe, and for no other place."""
        return asdict(self.target)

    @property
    def place(self) -> str:
        """The server's place in words, never a password."""
        return self.target.place

    def connect(
        self, name: str, read_only: bool = False, several: bool = False, lock_wait_s: int = LOCK_WAIT_S
    ) -> Connection:
        """Open a connection in autocommit mode.

        Args:
            name: what the server shows as the program at the other end.
            read_only: let the server refuse every change, and answer within `patience_s`.
            several: whether a text may hold several statements.
            lock_wait_s: how long a statement waits for somebody's lock of a table, seconds.

        Raises:
            RefusedError: the server cannot be reached or refuses; the text says what to mend.
        """
        if read_only:
            connection = connect(self.target, name)
            self.target = settled(self.target, connection)
            return connection
        connection = log_in(self.target, name, several=several, unlimited=True)
        self.target = settled(self.target, connection)
        try:
            with connection.promptly():
                ask(connection, "set session transaction read write")
                for variable, value in {**LASTING, "lock_wait_timeout": lock_wait_s}.items():
                    _set(connection, variable, value)
        except pymysql.Error as error:
            with suppress(pymysql.Error):
                connection.close()
            raise refused(self.target, error) from error
        return connection


def _set(connection: Connection, variable: str, value: object) -> None:
    """Set a variable of the session, where the server has it and lets this user."""
    try:
        ask(connection, f"set session {variable} = %s", value)
    except pymysql.Error as error:
        if error.args[0] not in (_NO_SUCH_VARIABLE, _NOT_ALLOWED):
            raise

"""The interface of one server's working sessions, whether their loop runs inside it or in a client."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Protocol

from redolab.engine.postgres.connecting.connection import Connection
from redolab.engine.postgres.loads import PostgresLoad
from redolab.records.load import Amount
from redolab.records.sample import Work

_END_LIMIT_S = 10.0
_END_POLL_S = 0.025


class WorkingSessions(Protocol):
    """Connections that work, as many as the setting in force wants."""

    @property
    def pids(self) -> tuple[int, ...]:
        """The server processes that serve the sessions."""
        ...

    def resize(self, count: int) -> None:
        """Have `count` connections: a session that does not work in a setting is not there.

        Raises:
            RefusedError: the server does not take one more.
        """
        ...

    def replace_lost(self) -> None:
        """Ask every session for a sign of life, and open a lost one anew.

        Raises:
            RefusedError: the server does not take it.
        """
        ...

    def set_parameter(self, name: str, value: str) -> None:
        """Set a server parameter in every session."""
        ...

    def parameter_values(self, name: str) -> list[str]:
        """The value of a server parameter as each session sees it."""
        ...

    def run(
        self, load: PostgresLoad, amount: Amount, parameters: Mapping[str, str], stop: threading.Event
    ) -> Work:
        """Let every session do its part of `load`.

        Args:
            load: what they do.
            amount: how much, of all sessions together.
            parameters: what each transaction sets for itself.
            stop: when set, the sessions are stopped.

        Raises:
            InterruptedRunError: `stop` was set.
        """
        ...

    def close(self) -> None:
        """Close every connection; never raises for one that is lost already."""
        ...


def await_end(control: Connection, pids: set[int]) -> None:
    """Wait until these server processes have ended: what they still do would be in the sample."""
    give_up = time.monotonic() + _END_LIMIT_S
    while pids and time.monotonic() < give_up:
        row = control.execute(
            "select count(*) as alive from pg_stat_activity where pid = any(%s)", (list(pids),)
        ).fetchone()
        if row is None or row["alive"] == 0:
            return
        time.sleep(_END_POLL_S)

"""Watching a live server: read-only, without load. `open_observer` is the only door."""

from __future__ import annotations

import threading
from typing import Protocol

from redolab.errors import UsageError
from redolab.records.observation import Observation, ServerFacts


class Observer(Protocol):
    """A server under observation. Closed by `close`, whatever happened before."""

    @property
    def session_numbers(self) -> str:
        """By which number a session is named, and where the server itself shows it, in words."""
        ...

    @property
    def facts(self) -> ServerFacts:
        """Who the server is."""
        ...

    def read(self) -> Observation:
        """What happened since the last reading; for the first one, since the observer was opened.

        Meant to be called about once a second: sessions that live shorter than the time between two
        readings are known by what the kernel shows of them alone.

        Raises:
            RefusedError: the server went away.
        """
        ...

    def close(self) -> None:
        """End the observation; nothing is left behind."""
        ...


def open_observer(
    target: str,
    seed: int,
    stop: threading.Event | None = None,
    *,
    reopen: bool = True,
    calm: bool = False,
) -> Observer:
    """Watch the server that a URL names.

    Args:
        target: the URL.
        seed: of the gaps between ticks.
        stop: once it is set, a PostgreSQL server that does not answer is waited for no longer than a second.
        reopen: whether `read` makes a connection anew that was lost, for half a minute. Otherwise it gives
            what was seen until then, `broken`, and the observer can only be closed.
        calm: whether it looks more rarely than for a profile, so that its cost can hardly be measured; Oracle
            is not looked at between readings.

    Raises:
        UsageError: the URL names no server that can be watched.
        RefusedError: the server cannot be reached, or refuses.
    """
    if target.startswith(("postgresql://", "postgres://")):
        from redolab.engine.postgres.observer.observer import PostgresObserver

        return PostgresObserver(target, seed, stop, reopen=reopen, calm=calm)
    if target.startswith(("mysql://", "mariadb://")):
        from redolab.engine.mariadb.observer.observer import MariadbObserver

        return MariadbObserver(target, seed, reopen=reopen, calm=calm)
    if target.startswith("oracle://"):
        from redolab.engine.oracle.observer.observer import OracleObserver

        return OracleObserver(target, reopen=reopen)
    raise UsageError(
        f"There is no server to watch under {target.partition('://')[0][:20]!r}. Give its URL, such as "
        "postgresql://user@host:5432/database, mysql://user@host:3306/ or oracle://user@host:1521/service."
    )

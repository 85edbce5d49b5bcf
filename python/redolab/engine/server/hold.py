"""Redolab's hold on somebody's server: the connection that rules it, the lock, the guard, and the way back.

What a database does in its own way is a hook; each has a `HeldServer` of its own at `hold.py`.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

from redolab.console import say
from redolab.engine.private.guarded_mark import GuardedMark
from redolab.engine.private.own_server import OwnServer
from redolab.engine.server.guard_database import TRIES_ON
from redolab.engine.server.putting_back import by_hand
from redolab.engine.server.recovery import Finished, SchemaRecovery
from redolab.errors import InterruptedRunError, RedolabError, RefusedError, sentence

_RESTART_LIMIT_S = 60.0
_LEAVE_LIMIT_S = 10.0
_RETRY_S = 0.25
_ENDING_S = 1.0
_NOTHING = " Nothing was changed."
_Connection = TypeVar("_Connection")


class ChangedParameters(Protocol):
    """The parameters that a run changes, and the list of its changes."""

    def restored(self, values: Mapping[str, str]) -> None:
        """Note in the list what was put back and read."""
        ...


class HeldServer(ABC, Generic[_Connection]):
    """One server in Redolab's hands, from the first look at it to the last."""

    lost: tuple[type[Exception], ...]
    """Errors that the driver raises when a connection is gone."""
    connection: _Connection
    """Rules the server."""
    parameters: ChangedParameters | None = None
    """The parameters that are changed on the server; None before `prepare`."""

    def __init__(self, guarded_mark: GuardedMark, own_server: OwnServer | None) -> None:
        """Take the guard's side of it, and connect.

        Args:
            guarded_mark: the guard, not yet started.
            own_server: set when Redolab started the server itself.

        Raises:
            RefusedError: the server cannot be reached.
        """
        self._guarded, self._own = guarded_mark, own_server
        self._claimed = self._gone = False
        self.meanwhile: list[str] = []
        """Events at the server while it was held, one sentence each."""
        self.farewell = ""
        """The sentence that everything is put back; empty where nothing was, or not all."""
        self.connection = self.open()

    @abstractmethod
    def open(self) -> _Connection:
        """Open a connection that rules the server.

        Raises:
            RefusedError: the server cannot be reached or refuses.
        """

    @abstractmethod
    def look(self) -> None:
        """Ask the server one question: whether it is there, and whether what the run set is still in force.

        Raises:
            RefusedError: somebody else changed it.
        """

    @abstractmethod
    def take_over(self, connection: _Connection, *, leaving: bool) -> None:
        """Rule the server by a new connection, in place of one that was lost.

        Args:
            connection: open.
            leaving: whether everything is only to be put back, for which less must hold than for a sample.

        Raises:
            RefusedError: somebody else has taken the server, or it is no longer one for a run.
        """

    @abstractmethod
    def close_connection(self) -> None:
        """Close the connection; nothing is raised for one that is gone."""

    @abstractmethod
    def recovery(self) -> SchemaRecovery:
        """The recovery that puts this server back, by the present connection."""

    @abstractmethod
    def put_back(self, hurry: threading.Event) -> Finished:
        """Put everything back.

        Raises:
            InterruptedRunError: `hurry` was set before that was done.
        """

    @property
    def mark_kept(self) -> bool:
        """Whether this machine knows the schema as Redolab's own when the run and its guard are gone."""
        return self._guarded.mark_kept

    def guard_pids(self, hold: bool = False) -> list[int]:
        """The number of the guard's connection; made anew where a restart ended it, with `hold`."""
        return self._guarded.pids(hold)

    def ensure(self, limit_s: float | None = None) -> bool:
        """Connect again when the connection was lost; wait while the server is starting.

        Args:
            limit_s: how long the server is waited for, seconds; None for as long as a restart takes.

        Returns whether the connection is a new one.

        Raises:
            RefusedError: the server is not there by then, or somebody else has taken it or changed it.
        """
        self._guarded.renew()
        try:
            self.look()
        except self.lost:
            self._reconnect(_RESTART_LIMIT_S if limit_s is None else limit_s, leaving=False)
            self.look()
            if self._own is None:
                self._note_loss()
            return True
        return False

    def replace(self, connection: _Connection) -> None:
        """Rule the server by this connection from now on: it was killed and started again."""
        self.close_connection()
        self.take_over(connection, leaving=False)

    def leave(self, hurry: threading.Event) -> None:
        """Put everything back on somebody's server, and release the guard.

        Args:
            hurry: once it is set, nobody is waited for.

        Raises:
            RefusedError: something is not as before; the text says what, and how to mend it.
            InterruptedRunError: `hurry` was set before all was put back.
        """
        if self._claimed and self._own is None:
            finished = self._finish(hurry)
            if self.parameters:
                self.parameters.restored(finished.parameters.restored)
            if finished.undone:
                raise RefusedError(f"{finished.text} {TRIES_ON}")
            if finished.text:
                self._guarded.release()
                raise RefusedError(finished.text)
            changed = (
                "Every parameter that was changed is put back, and the"
                if self._guarded.kept.changed
                else "The"
            )
            self.farewell = f"{changed} {self.recovery().kind} redolab is dropped."
        self._guarded.release()

    def leave_to_guard(self) -> None:
        """Let the guard put back what is left to, and do not wait for it."""
        self._guarded.leave_to_guard()

    def close(self) -> None:
        """Close the connection; a server of Redolab's own is removed."""
        self.close_connection()
        if self._own:
            self._own.stop()

    def _finish(self, hurry: threading.Event) -> Finished:
        foreseen: tuple[type[Exception], ...] = (RedolabError, *self.lost)
        try:
            # On the old one a statement may have been broken off.
            self._reconnect(_LEAVE_LIMIT_S, leaving=True)
        except InterruptedRunError:
            raise
        except foreseen as error:
            server = self.recovery().parameters
            raise RefusedError(
                f"What Redolab changed on the server is not put back yet: {sentence(server.words(error))} "
                f"{by_hand(server, self._guarded.kept)}{TRIES_ON} After that the next run on that server, "
                "from this user and machine, puts these changes back first."
            ) from error
        return self.put_back(hurry)

    def _note_loss(self) -> None:
        at = datetime.now(UTC)
        self.meanwhile.append(
            f"The connection to the server was lost and opened again at {at:%H:%M:%S} UTC: the server was "
            "restarted, or somebody ended the connection. Later samples began with the contents that the "
            "server's memory had then."
        )
        say(f"redolab: {self.meanwhile[-1]}")

    def _reconnect(self, limit_s: float, *, leaving: bool) -> None:
        try:
            self._connect_again(limit_s, leaving)
        except RefusedError as error:
            # What is refused before a run is refused before anything is changed, and says so.
            text = str(error).removesuffix(_NOTHING) if self._claimed else str(error)
            raise RefusedError(text) from error

    def _connect_again(self, limit_s: float, leaving: bool) -> None:
        give_up = time.monotonic() + limit_s
        while True:
            self.close_connection()
            if self._own:
                _revive(self._own)
            try:
                connection = self.open()
                break
            except RefusedError:
                self._gone = self._gone or time.monotonic() > give_up
                if self._gone:
                    raise
                time.sleep(_RETRY_S)
        self.take_over(connection, leaving=leaving)


def _revive(server: OwnServer) -> None:
    try:
        server.revive()
    except RefusedError:
        # A process of the one that was killed may be ending still, and holds its memory.
        time.sleep(_ENDING_S)
        server.revive()

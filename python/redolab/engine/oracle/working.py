"""The sessions that work under the setting in force: loops inside the server, or clients over the wire."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from redolab.engine.oracle.clients.sessions import ClientSessions
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.connecting.target import Target
from redolab.engine.oracle.loads import ClientLoad, OracleLoad
from redolab.engine.oracle.sessions import Sessions
from redolab.records.load import Amount, Load, loop_of
from redolab.records.sample import Work


class Working:
    """Connections that work, as many as the setting in force wants."""

    def __init__(
        self,
        target: Target,
        connect: Callable[[str], Statements],
        wanted: Load,
        levels: Mapping[str, str],
        seed: int,
    ) -> None:
        """Open as many sessions as any setting has, which also shows that the server takes them.

        Args:
            target: where clients connect to.
            connect: opens a connection that the server shows under such a name.
            wanted: what is to be done.
            levels: of the first setting: where its loop runs.
            seed: of whatever sessions draw.

        Raises:
            RefusedError: the server does not take so many.
        """
        self._target, self._connect, self._wanted, self._seed = target, connect, wanted, seed
        self._loop = loop_of(wanted, levels)
        self._loops: Sessions | None = None
        self._clients: ClientSessions | None = None
        self._resize(wanted.sessions)

    @property
    def numbers(self) -> tuple[int, ...]:
        """SIDs of the sessions that work now."""
        sessions = self._clients if self._loop == "client" else self._loops
        return sessions.numbers if sessions else ()

    def take(self, levels: Mapping[str, str]) -> None:
        """Have the setting's sessions, and no other ones.

        Raises:
            RefusedError: the server does not take one more.
        """
        loop = loop_of(self._wanted, levels)
        if loop != self._loop:
            self._resize(0)
            self._loop = loop
        self._resize(int(levels.get("sessions", self._wanted.sessions)))

    def run(self, load: OracleLoad, amount: Amount, stop: threading.Event) -> Work:
        """Let every session do its part.

        Raises:
            InterruptedRunError: `stop` was set.
        """
        if self._loop == "client":
            assert isinstance(load, ClientLoad), "no other load has clients"
            assert self._clients is not None
            return self._clients.run(load.client_task(), amount, stop)
        assert self._loops is not None
        return self._loops.run(load, amount, stop)

    def close(self) -> None:
        """Close every connection; never raises for one that is lost already."""
        if self._loops:
            self._loops.close()
        if self._clients:
            self._clients.close()

    def _resize(self, count: int) -> None:
        if self._loop == "client":
            self._clients = self._clients or ClientSessions(self._target, self._seed)
            self._clients.resize(count)
        elif self._loops is None:
            self._loops = Sessions(self._connect, count, self._seed)
        else:
            self._loops.resize(count)

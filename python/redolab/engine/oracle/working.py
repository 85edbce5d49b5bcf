"""The sessions that work under the setting in force: loops inside the server, or clients over the wire."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from redolab.engine.oracle.clients.sessions import ClientSessions
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.connecting.target import Target
from redolab.engine.oracle.loads import ClientLoad, OracleLoad
from redolab.engine.oracle.sessions import Sessions
from redolab.errors import RefusedError
from redolab.records.load import Amount, Load, loop_of
from redolab.records.sample import Work


class Working:
    """Connections that work, as many as the setting in force wants."""

    def __init__(
        self,
        target: Target,
        connect: Callable[[str], Statements],
        served_by: Callable[[], Mapping[int, str]],
        wanted: Load,
        combinations: Sequence[Mapping[str, str]],
        seed: int,
    ) -> None:
        """Open as many sessions as any setting has, which also shows that the server takes them.

        Args:
            target: where clients connect to.
            connect: opens a connection that the server shows under such a name.
            served_by: returns the kind of server process of each SID, as V$SESSION has it.
            wanted: what is to be done.
            combinations: factor levels of each setting.
            seed: of whatever sessions draw.

        Raises:
            RefusedError: the server does not take so many, or has no server process of a kind.
        """
        self._target, self._connect, self._served_by = target, connect, served_by
        self._wanted, self._seed = wanted, seed
        self._kind = _kind(wanted, combinations[0])
        self._loops: Sessions | None = None
        self._clients: dict[str, ClientSessions] = {}
        try:
            for kind in dict.fromkeys(_kind(wanted, levels) for levels in combinations):
                if kind:
                    self._have(kind, 1)
            self._have(_kind(wanted, combinations[0]), wanted.sessions)
        except BaseException:
            self.close()
            raise

    @property
    def numbers(self) -> tuple[int, ...]:
        """SIDs of the sessions that work now."""
        if self._kind is None:
            return self._loops.numbers if self._loops else ()
        return self._clients[self._kind].numbers

    def take(self, levels: Mapping[str, str]) -> None:
        """Have the setting's sessions, and no other ones.

        Raises:
            RefusedError: the server does not take one more, or has no server process of the kind.
        """
        self._have(_kind(self._wanted, levels), int(levels.get("sessions", self._wanted.sessions)))

    def run(self, load: OracleLoad, amount: Amount, stop: threading.Event) -> Work:
        """Let every session do its part.

        Raises:
            InterruptedRunError: `stop` was set.
        """
        if self._kind is not None:
            assert isinstance(load, ClientLoad), "no other load has clients"
            return self._clients[self._kind].run(load.client_task(), amount, stop)
        assert self._loops is not None
        return self._loops.run(load, amount, stop)

    def close(self) -> None:
        """Close every connection; never raises for one that is lost already."""
        if self._loops:
            self._loops.close()
        for clients in self._clients.values():
            clients.close()

    def _have(self, kind: str | None, count: int) -> None:
        """So many sessions of this kind, and none of another."""
        if kind != self._kind:
            self._resize(self._kind, 0)
        self._kind = kind
        self._resize(kind, count)
        if kind:
            self._check_served(kind)

    def _resize(self, kind: str | None, count: int) -> None:
        if kind is not None:
            if kind not in self._clients:
                target = replace(self._target, server=kind or self._target.server)
                self._clients[kind] = ClientSessions(target, self._seed)
            self._clients[kind].resize(count)
            return
        if self._loops is None:
            if count == 0:
                return
            # It has a thread for each session that any setting has.
            self._loops = Sessions(self._connect, self._wanted.sessions, self._seed)
        self._loops.resize(count)

    def _check_served(self, kind: str) -> None:
        served_by = self._served_by()
        # A shared server serves nobody between two calls.
        other_kinds = {served_by.get(number, "") for number in self.numbers} - {kind.upper(), "NONE"}
        if other_kinds:
            raise RefusedError(
                f"The service gave {' and '.join(sorted(other_kinds)).lower()} server processes and no "
                f"{kind} ones. Leave out the settings with {kind} server processes, or start such processes "
                "on the server."
            )


def _kind(wanted: Load, levels: Mapping[str, str]) -> str | None:
    """None for a loop inside the server; of clients the kind of server process, or an empty word."""
    return levels.get("server_process", "") if loop_of(wanted, levels) == "client" else None

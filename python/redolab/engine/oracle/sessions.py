"""The working sessions: each a connection, in a loop inside the server for the length of a sample."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for

import oracledb

from redolab.engine.loops.in_server import GRACE_S, LATE, await_loops
from redolab.engine.oracle.connecting.driver_errors import error_text
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.loads import OracleLoad, OracleScans, Turn
from redolab.engine.oracle.own.guard_database import PROGRAM
from redolab.records.load import Amount
from redolab.records.sample import Work

_RESULTS = ("commits", "changed", "failed", "elapsed_s")
_CANCEL_S = 5.0


class Sessions:
    """Connections, with a thread each that only waits for the server."""

    def __init__(self, connect: Callable[[str], Statements], most: int, seed: int) -> None:
        """Open `most` connections, which also shows that the server takes so many.

        Args:
            connect: opens one that the server shows under such a name.
            most: the sessions to open.
            seed: of the numbers that sessions draw.

        Raises:
            RefusedError: the server does not take so many.
        """
        self._connect, self._seed = connect, seed
        self._pool = ThreadPoolExecutor(most, thread_name_prefix="session")
        self._working: list[Future[dict[str, float] | str]] = []
        self.sessions: list[Statements] = []
        try:
            self.resize(most)
        except BaseException:
            self.close()
            raise

    @property
    def numbers(self) -> tuple[int, ...]:
        """Their SIDs."""
        return tuple(session.sid for session in self.sessions)

    def resize(self, count: int) -> None:
        """Have `count` connections that answer, lost ones opened anew.

        Raises:
            RefusedError: the server does not take one more.
        """
        for session in self.sessions[count:]:
            session.close()
        del self.sessions[count:]
        for place, session in enumerate(self.sessions):
            try:
                session.connection.ping()
            except oracledb.Error:
                session.close()
                self.sessions[place] = self._open(place)
        while len(self.sessions) < count:
            self.sessions.append(self._open(len(self.sessions)))

    def run(self, load: OracleLoad, amount: Amount, stop: threading.Event) -> Work:
        """Let every session do its part, for so long by the server's clock or for its share of the units.

        Raises:
            InterruptedRunError: `stop` was set.
        """
        if isinstance(load, OracleScans):
            return load.work(self.sessions[0], amount, stop)
        self._seed += 1
        count = len(self.sessions)
        turns = [Turn(number, count, amount, self._seed) for number in range(count)]
        self._working = [self._pool.submit(self._loop, load, turn) for turn in turns]
        fixed = amount.units is not None or amount.units_each is not None
        late = await_loops(self._working, None if fixed else amount.seconds, stop, self._end)
        results = [future.result() for future in self._working]
        done = [item for item in results if isinstance(item, dict)]
        trouble = [item for item in results if isinstance(item, str)]
        if late:
            trouble.insert(0, LATE)
        commits, changed = (round(_sum(done, name)) for name in ("commits", "changed"))
        return Work(
            commits=commits,
            rows=changed,
            failed=round(_sum(done, "failed")),
            session_elapsed_s=_sum(done, "elapsed_s"),
            session_elapsed_max_s=max((item["elapsed_s"] for item in done), default=0.0),
            units=changed,
            trouble="; ".join(dict.fromkeys(trouble)) or None,
        )

    def close(self) -> None:
        """Close every connection; never raises for one that is lost already."""
        pending = {future for future in self._working if not future.done()}
        if pending:
            self._end(pending)
        for session in self.sessions:
            session.close()
        self._pool.shutdown(wait=True)

    def _open(self, place: int) -> Statements:
        return self._connect(f"{PROGRAM} {place + 1}")

    def _loop(self, load: OracleLoad, turn: Turn) -> dict[str, float] | str:
        block = load.block(turn)
        try:
            return self.sessions[turn.number].call(block.name, block.words, block.values, _RESULTS)
        except oracledb.Error as error:
            return f"session {turn.number + 1} died: {error_text(error)}"

    def _end(self, pending: set[Future[dict[str, float] | str]]) -> None:
        """End the loops that are still at work."""
        for session in self.sessions:
            session.cancel()
        if wait_for(pending, timeout=_CANCEL_S).not_done:
            for session in self.sessions:
                session.close()
            wait_for(pending, timeout=GRACE_S)


def _sum(items: list[dict[str, float]], name: str) -> float:
    return sum(item[name] for item in items)

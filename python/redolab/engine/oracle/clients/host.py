"""The process from which client sessions are forked: the driver is read into memory once for all of them.

    python -m redolab.engine.oracle.clients.host DESCRIPTOR

Over the socket of that number come, pickled, first the `Target`, then numbers and orders. A number says how
many sessions there shall be, lost ones opened anew; the answer is their SIDs, or in words why there are not
so many. An `Order` is answered by a list of `Told`, one for each session. It ends with the socket, at once.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection as Wire
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from redolab.engine.oracle.clients.session import serve
from redolab.engine.oracle.clients.task import Order, Told
from redolab.engine.oracle.connecting.target import Target
from redolab.engine.oracle.own.guard_database import PROGRAM

_FORK = multiprocessing.get_context("fork")
_BEGIN_S = 0.02
"""After the orders are sent: when all begin."""
_ENDED = "the process of a session ended"


@dataclass
class _Member:
    """A session's process."""

    process: BaseProcess
    wire: Wire
    sid: int

    def ask(self, message: object) -> Any:
        """Its answer; None where it is gone."""
        try:
            self.wire.send(message)
            return self.wire.recv()
        except (EOFError, OSError):
            return None

    def end(self) -> None:
        """End it, and wait until it has."""
        self.process.kill()
        self.process.join()
        self.wire.close()


class Host:
    """All sessions."""

    def __init__(self, orders: Wire, target: Target) -> None:
        """Take where orders come from, and where to connect to."""
        self._orders, self._target = orders, target
        self._taken = _FORK.Value("q", 0)
        self._members: list[_Member] = []

    def resize(self, count: int) -> list[int] | str:
        """Have so many sessions that answer: their SIDs, or why there are fewer."""
        for member in self._members[count:]:
            member.end()
        del self._members[count:]
        for place, member in enumerate(self._members):
            if not member.ask(None):
                member.end()
                opened = self._open(place)
                if isinstance(opened, str):
                    del self._members[place:]
                    return opened
                self._members[place] = opened
        while len(self._members) < count:
            opened = self._open(len(self._members))
            if isinstance(opened, str):
                return opened
            self._members.append(opened)
        return [member.sid for member in self._members]

    def work(self, order: Order) -> list[Told] | None:
        """The work of each session; None where orders have ended meanwhile."""
        self._taken.value = 0
        start_s = time.monotonic() + _BEGIN_S
        reports: dict[Wire, Told] = {}
        waiting = set()
        for member in self._members:
            try:
                member.wire.send((order, start_s))
                waiting.add(member.wire)
            except OSError:
                reports[member.wire] = Told(trouble=_ENDED)
        while waiting:
            for ready in wait([self._orders, *waiting]):
                if ready is self._orders:
                    return None
                assert isinstance(ready, Wire)
                reports[ready] = self._told(ready)
                waiting.discard(ready)
        return [reports[member.wire] for member in self._members]

    def _told(self, wire: Wire) -> Told:
        try:
            report: Told = wire.recv()
        except (EOFError, OSError):
            return Told(trouble=_ENDED)
        return report

    def _open(self, place: int) -> _Member | str:
        here, there = _FORK.Pipe()
        process = _FORK.Process(
            target=serve,
            args=(self._target, f"{PROGRAM} {place + 1}", place, there, self._taken, os.getpid()),
        )
        process.start()
        there.close()
        try:
            answer = here.recv()
        except EOFError:
            answer = "its process ended"
        if isinstance(answer, str):
            process.join()
            here.close()
            return answer
        return _Member(process, here, int(answer))


def main() -> None:
    """Carry out orders until there are no more."""
    # A Ctrl-C in the terminal is Redolab's to answer; it ends this process when it closes the engine.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    orders = Wire(socket.socket(fileno=int(sys.argv[1])).detach())
    host = Host(orders, orders.recv())
    # Whoever gives the orders may end at any time.
    with suppress(EOFError, OSError):
        while True:
            order = orders.recv()
            answer = host.resize(order) if isinstance(order, int) else host.work(order)
            if answer is None:
                break
            orders.send(answer)
    host.resize(0)


if __name__ == "__main__":
    main()

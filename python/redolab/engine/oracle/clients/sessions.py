"""The working sessions as clients over the wire: a process each, and a round trip per statement.

The driver is Python's, so sessions in threads of one process would wait for each other.
"""

from __future__ import annotations

import math
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection as Wire
from typing import cast

from redolab.engine.loops.in_server import GRACE_S, LATE
from redolab.engine.oracle.clients.arrivals import moments
from redolab.engine.oracle.clients.histogram import histogram
from redolab.engine.oracle.clients.task import ClientTask, Order, Told
from redolab.engine.oracle.connecting.target import Target
from redolab.errors import InterruptedRunError, RefusedError
from redolab.records.design import SEEDS
from redolab.records.load import Amount
from redolab.records.sample import Responses, Work

_POLL_S = 0.05


class ClientSessions:
    """Processes of a client on this machine, each with a connection."""

    def __init__(self, target: Target, seed: int) -> None:
        """Take where to connect to; no session yet.

        Args:
            target: where to.
            seed: of the moments at which transactions are asked for, and of rows drawn.
        """
        self._target, self._seed = target, seed
        self._host: subprocess.Popen[bytes] | None = None
        self._orders: Wire | None = None
        self.numbers: tuple[int, ...] = ()
        """SIDs of the sessions."""

    def resize(self, count: int) -> None:
        """Have `count` connections that answer, lost ones opened anew.

        Raises:
            RefusedError: the server does not take one more.
        """
        answer = self._ask(count)
        if isinstance(answer, str):
            self.close()
            raise RefusedError(answer)
        self.numbers = tuple(answer)

    def run(self, task: ClientTask, amount: Amount, stop: threading.Event) -> Work:
        """Let every session do its part, for so long or for its share of the rows.

        Raises:
            InterruptedRunError: `stop` was set; the sessions are lost then.
        """
        self._seed = (self._seed + 1) % SEEDS
        order = Order(task, amount, len(self.numbers), self._seed)
        fixed = amount.units is not None
        give_up_s = math.inf if fixed else time.monotonic() + amount.seconds + GRACE_S
        try:
            orders = self._begun()
            orders.send(order)
            while not orders.poll(_POLL_S):
                late = time.monotonic() > give_up_s
                if stop.is_set() or late:
                    self.close()
                    if stop.is_set():
                        raise InterruptedRunError("The run was interrupted during a sample.")
                    return _nothing(LATE)
            return work_of(order, cast("list[Told]", orders.recv()))
        except (EOFError, OSError):
            self.close()
            return _nothing("the process of the client sessions ended")

    def close(self) -> None:
        """End every session, whatever it does; never raises for one that is lost already."""
        self.numbers = ()
        if self._orders is not None:
            self._orders.close()
            self._orders = None
        if self._host is not None:
            # Its sessions end with it.
            self._host.kill()
            self._host.wait()
            self._host = None

    def _ask(self, count: int) -> list[int] | str:
        """The answer to a request for so many sessions; from a new process where the old one is gone."""
        for _ in range(2):
            try:
                orders = self._begun()
                orders.send(count)
                return cast("list[int] | str", orders.recv())
            except (EOFError, OSError):
                self.close()
        return "The process of the client sessions ended twice. Run again."

    def _begun(self) -> Wire:
        if self._orders is None:
            here, there = socket.socketpair()
            with there:
                self._host = subprocess.Popen(
                    [sys.executable, "-m", "redolab.engine.oracle.clients.host", str(there.fileno())],
                    pass_fds=[there.fileno()],
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,
                )
            self._orders = Wire(here.detach())
            self._orders.send(self._target)
        return self._orders


def _nothing(why: str) -> Work:
    return Work(0, 0, 0, 0.0, 0.0, trouble=why)


def work_of(order: Order, told: Sequence[Told]) -> Work:
    """The work of all sessions together."""
    commits, rows = sum(one.commits for one in told), sum(one.rows for one in told)
    work = Work(
        commits=commits,
        rows=rows,
        failed=sum(one.failed for one in told),
        session_elapsed_s=sum(one.elapsed_s for one in told),
        session_elapsed_max_s=max((one.elapsed_s for one in told), default=0.0),
        units=rows,
        trouble="; ".join(one.trouble for one in told if one.trouble) or None,
        client_cpu_s=sum(one.cpu_s for one in told),
        latency=histogram(one.commit_times_ns for one in told),
    )
    if order.task.arrival_rate_per_s is None:
        return work
    due = sum(1 for _ in moments(order))
    begun = sum(one.waited + len(one.lags_ns) for one in told)
    return replace(
        work,
        responses=Responses(
            times=histogram(one.response_times_ns for one in told),
            total_s=sum(sum(one.response_times_ns) for one in told) / 1e9,
            lag=histogram(one.lags_ns for one in told),
            waited=sum(one.waited for one in told),
            unserved=due - begun,
        ),
    )

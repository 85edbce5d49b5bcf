"""Work of the sessions that a client has (crate `redolab-load`), whatever the database."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Mapping, Sequence

from redolab import _core
from redolab.engine.client_job import ClientJob
from redolab.errors import InterruptedRunError
from redolab.password_command import password_of
from redolab.records.load import Amount
from redolab.records.sample import Responses, Work

_GRACE_S = 30.0
_POLL_S = 0.05


def resize(sessions: _core.ClientSessions, count: int, password_command: str | None) -> None:
    """Have `count` sessions that answer, lost ones opened anew.

    Args:
        sessions: all that there are.
        count: how many there shall be.
        password_command: prints a new password where the one they were opened with has expired; None where
            it never does.

    Raises:
        ConnectionError: the server does not take one more.
        RedolabError: the command that prints the password failed.
    """
    try:
        sessions.resize(count)
    except ConnectionError:
        if password_command is None:
            raise
        sessions.set_password(password_of(password_command))
        sessions.resize(count)


def work(
    sessions: _core.ClientSessions,
    job: ClientJob,
    amount: Amount,
    seed: int,
    stop: threading.Event,
    parameters: Mapping[str, str],
    afterwards: Sequence[str] = (),
) -> Work:
    """Let every session do its part, for so long by its own clock or for its share of the units.

    Args:
        sessions: all that work.
        job: what each of them does.
        amount: how much all of them do.
        seed: of the moments at which transactions are asked for, and of random keys.
        stop: when set, the sessions are stopped at once.
        parameters: what each transaction sets for itself first, where the database has that.
        afterwards: statements that each session executes once after its part.

    Returns:
        What they did. Its units are rows, or commits where the job is a text.

    Raises:
        InterruptedRunError: `stop` was set; sessions that worked then are lost.
    """
    sessions.begin(
        job.statement,
        job.arguments,
        text=job.text,
        rows_per_commit=job.rows_per_commit,
        parameters=list(parameters.items()),
        seconds=amount.seconds,
        rows=amount.units,
        pause_s=job.pause_s,
        arrival_rate_per_s=job.arrival_rate_per_s,
        seed=seed,
        afterwards=afterwards,
    )
    done, late = _await(sessions, amount, stop)
    trouble = [
        f"session {number} died: {session.trouble}"
        for number, session in enumerate(done.sessions, start=1)
        if session.trouble is not None
    ]
    if late:
        trouble.insert(0, f"the sessions did not end within {_GRACE_S:.0f} s of their deadline")
    commits = sum(session.commits for session in done.sessions)
    rows = sum(session.rows for session in done.sessions)
    return Work(
        commits=commits,
        rows=rows,
        failed=sum(session.failed for session in done.sessions),
        session_elapsed_s=sum(session.elapsed_s for session in done.sessions),
        session_elapsed_max_s=max((session.elapsed_s for session in done.sessions), default=0.0),
        units=commits if job.text else rows,
        trouble="; ".join(trouble) or None,
        client_cpu_s=done.cpu_ns / 1e9,
        latency=_microseconds(done.latency),
        responses=None if done.responses is None else _responses(done.responses),
    )


def _await(
    sessions: _core.ClientSessions, amount: Amount, stop: threading.Event
) -> tuple[_core.ClientWork, bool]:
    """The work of the sessions, and whether they had to be stopped because they were late.

    A fixed amount of work takes as long as it takes.
    """
    give_up = math.inf if amount.units is not None else time.monotonic() + amount.seconds + _GRACE_S
    late = False
    while (done := sessions.wait(_POLL_S)) is None:
        late = late or time.monotonic() > give_up
        if late or stop.is_set():
            sessions.interrupt()
    if stop.is_set():
        raise InterruptedRunError("The run was interrupted during a sample.")
    return done, late


def _responses(seen: _core.ClientResponses) -> Responses:
    return Responses(
        _microseconds(seen.times), seen.total_s, _microseconds(seen.lag), seen.waited, seen.unserved
    )


def _microseconds(buckets: Iterable[tuple[int, int]]) -> tuple[tuple[float, int], ...]:
    return tuple((upper_ns / 1e3, count) for upper_ns, count in buckets)

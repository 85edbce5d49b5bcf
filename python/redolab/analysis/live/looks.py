"""Counts of the looks of an observation, by which its processes' blocked time is divided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redolab.analysis.live.division import Blocked
from redolab.records.observation import STATES, Observation

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

CLIENT, MAIN_LOOP = 0, 1
"""The idle columns: a session waits for its client, a background process for something to do."""
NOTHING, UNKNOWN = 2, 3
"""Asleep with nothing posted; no event and no accounts, so on CPU or anything else."""
FIRST_EVENT = 4
"""Column of the first event; an event's column is its code and this."""
_IDLE_CLASSES = frozenset({"Activity", "Client", "Idle"})
_ON_CPU, _RUNNABLE, _ASLEEP, _STATE_UNKNOWN, _AWAKE = range(len(STATES))


@dataclass(frozen=True)
class Counted:
    """An observation's looks, counted. P processes, E events."""

    blocked: Blocked
    is_session: npt.NDArray[np.bool_]
    has_accounts: npt.NDArray[np.bool_]
    cpu_s: Floats
    run_queue_s: Floats
    """P; 0 where there are no accounts."""
    steal_s: Floats
    """P: what the hypervisor took, shared out by CPU."""
    posted: Floats
    """P x E: looks that found the event posted, whatever the scheduler state."""
    looked: Floats
    """P: looks at the process, idle ones too."""
    awake: Floats
    """P: looks that found it on CPU or in the run queue."""
    columns: Floats
    """P x 4: looks that found it on CPU with an event posted and without, and in the run queue so."""


def count(observation: Observation) -> Counted:
    """Count an observation's looks by process and by what they found.

    Asleep with a class Activity, Client or Idle posted is idle, and so is a background process asleep
    with nothing posted, which is how those without events idle. A look during which the event
    changed counts for the event if one was posted. Where a process has no accounts, all its time is divided,
    and time without an event may have been on CPU. Where the server itself keeps the account of a process,
    nothing is divided: its waits are known.
    """
    import numpy as np

    processes, events, looks = observation.processes, observation.events, observation.looks
    tick, process = looks.tick.astype(np.int64), looks.process.astype(np.int64)
    event, state = looks.event.astype(np.int64), looks.state.astype(np.int64)
    count_of, columns = len(processes), FIRST_EVENT + len(events)
    is_session = np.array([item.scope == "session" for item in processes], bool)
    has_accounts = np.array(
        [item.cpu_s is not None and (item.accounted or item.run_queue_s is not None) for item in processes],
        bool,
    )
    cpu = np.array([item.cpu_s or 0.0 for item in processes]) * has_accounts
    queue = np.array([item.run_queue_s or 0.0 for item in processes]) * has_accounts
    elapsed = np.array([item.elapsed_s for item in processes], float)
    steal = cpu * _steal_per_cpu(observation)
    idle_column = np.where(is_session, CLIENT, MAIN_LOOP)
    idle_event = np.array([wait_class in _IDLE_CLASSES or name == "idle" for wait_class, name in events])
    named = np.array([(wait_class, name) not in {("", ""), ("", "idle")} for wait_class, name in events])

    unposted = ~named[event] & ~idle_event[event]
    nothing = np.where(is_session, NOTHING, MAIN_LOOP)[process]
    column = np.where(
        unposted, nothing, np.where(idle_event[event], idle_column[process], FIRST_EVENT + event)
    )
    on_cpu, runnable = state == _ON_CPU, state == _RUNNABLE
    awake = on_cpu | runnable | (state == _AWAKE)
    column[awake | (unposted & (state == _STATE_UNKNOWN))] = -1
    without = ~has_accounts[process]
    nobody_knows = without & (awake | (unposted & is_session[process]))
    column[nobody_knows] = UNKNOWN
    column[without & unposted & ~awake & ~is_session[process]] = MAIN_LOOP

    first = np.array([item.first_tick for item in processes], np.int64)
    last = np.array([item.last_tick for item in processes], np.int64)
    skipped = np.array([item.skipped for item in processes], np.int64)
    noted = np.bincount(process, minlength=count_of)
    idle = np.maximum(last - first - skipped - noted, 0)
    divided = column >= 0
    counts = _table(process[divided], column[divided], count_of, columns)
    counts[np.arange(count_of), idle_column] += idle
    exact = _exact(observation, np.where(idle_event, -1, FIRST_EVENT + np.arange(len(events))), columns)
    posted = named[event] & ~idle_event[event]
    place = np.where(on_cpu, 0, 2) + ~posted
    told = on_cpu | runnable
    return Counted(
        blocked=Blocked(
            elapsed_s=elapsed,
            blocked_s=elapsed - cpu - queue - steal - exact.sum(1),
            counts=counts,
            first_tick=first,
            last_tick=last,
            unnamed=idle / np.maximum(last - first - noted, 1),
            in_main_loop=~is_session,
            pool=np.array(_kinds(observation), np.int64),
            tick=tick,
            process=process,
            column=column,
            ticks=observation.ticks,
            exact_s=exact,
        ),
        is_session=is_session,
        has_accounts=has_accounts,
        cpu_s=cpu,
        run_queue_s=queue,
        steal_s=steal,
        posted=_table(process[posted], event[posted], count_of, len(events)),
        looked=(idle + noted).astype(float),
        awake=np.bincount(process[awake], minlength=count_of).astype(float),
        columns=_table(process[told], place[told], count_of, 4),
    )


def _exact(observation: Observation, column_of: npt.NDArray[np.int64], columns: int) -> Floats:
    """Seconds that the server's own account has, by process and column.

    Args:
        observation: what was seen.
        column_of: the column of each event; -1 for an idle event.
        columns: how many there are.
    """
    import numpy as np

    found = np.zeros((len(observation.processes), columns))
    for waits in observation.timed:
        if waits.process is not None and observation.processes[waits.process].accounted:
            session = observation.processes[waits.process].scope == "session"
            column = int(column_of[waits.event])
            idle = CLIENT if session else MAIN_LOOP
            found[waits.process, idle if column < 0 else column] += waits.time_s or 0.0
    return found


def _table(row: npt.NDArray[np.int64], column: npt.NDArray[np.int64], rows: int, columns: int) -> Floats:
    import numpy as np

    counted = np.bincount(row * columns + column, minlength=rows * columns)
    return counted.reshape(rows, columns).astype(float)


def _kinds(observation: Observation) -> list[int]:
    """Every process's kind: sessions by user and application, background processes by what they do."""
    numbers: dict[tuple[str | None, ...], int] = {}
    keys = [
        ("session", item.user, item.application) if item.scope == "session" else ("background", item.kind)
        for item in observation.processes
    ]
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _steal_per_cpu(observation: Observation) -> float:
    """Seconds the hypervisor took per second of CPU used, on the whole machine."""
    if not observation.host_steal_s or not observation.host_busy_s:
        return 0.0
    return observation.host_steal_s / observation.host_busy_s

"""Where the time of a group of processes went: the part of a live profile that every group has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redolab.analysis.live.division import Division
from redolab.analysis.live.looks import CLIENT, FIRST_EVENT, NOTHING, UNKNOWN, Counted
from redolab.analysis.live.wait_lengths import WaitLength, sampled_length, timed_length
from redolab.analysis.profile import ON_CPU, ON_CPU_OR_UNKNOWN, RUN_QUEUE, STEAL, UNACCOUNTED
from redolab.analysis.waits import event_name
from redolab.records.observation import Observation, TimedWaits, WaitEnds
from redolab.stats.estimates import Estimate
from redolab.stats.share_limits import LEVEL

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

TOP = 5
_ACCOUNT_LAG_S = 0.004
"""The kernel's accounts lag by at most a scheduler tick (250 a second)."""
Json = dict[str, Any]


@dataclass(frozen=True)
class WaitLengths:
    """Lengths of a group's waits, as far as they are known."""

    timed: Sequence[TimedWaits]
    ends: Sequence[WaitEnds]

    def of(self, event: int) -> WaitLength:
        """The average length of the waits for one event: the server's own figure where it has one."""
        by_server = timed_length(item for item in self.timed if item.event == event)
        return by_server or sampled_length(item for item in self.ends if item.event == event)


def group(
    observation: Observation,
    counted: Counted,
    members: Integers,
    division: Division,
    lengths: WaitLengths,
    also_cpu_s: float = 0.0,
) -> Json:
    """The profile of `members`, as the results object has it.

    `also_cpu_s` is CPU of processes that have ended and are not members any more. The rows sum to
    `busy_s`, which is elapsed time less waiting for clients and less background main loops.
    """
    rows = _rows(observation, counted, members, division, also_cpu_s)
    busy = math.fsum(row["time_s"] for row in rows)
    elapsed = float(division.elapsed_s)
    client = float(division.time_s[CLIENT])
    return {
        "elapsed_s": elapsed,
        "busy_s": busy,
        "busy_share": busy / elapsed if elapsed > 0 else None,
        "busy_at_a_time": busy / observation.elapsed_s if observation.elapsed_s > 0 else None,
        "client_wait": {
            "share_of_elapsed": _share(client, elapsed, division, CLIENT).as_json(),
            **_client_split(observation, counted, members, client / elapsed if elapsed > 0 else None),
        },
        "profile": rows if busy > 0 else [],
        "top_events": _top_events(observation, counted, members, rows, lengths) if busy > 0 else [],
        "joint": _joint(counted, members, rows, busy),
    }


def _rows(
    observation: Observation, counted: Counted, members: Integers, division: Division, also_cpu_s: float
) -> list[Json]:
    events = observation.events
    watched = [observation.processes[member] for member in members]
    published = math.hypot(*(item.cpu_late_s for item in watched))
    busy = float(division.busy_s)
    cpu = float(counted.cpu_s[members].sum()) + also_cpu_s
    queue = float(counted.run_queue_s[members].sum())
    steal = float(counted.steal_s[members].sum())
    ran = int((counted.cpu_s[members] + counted.run_queue_s[members] > 0).sum())
    unexplained = float(division.unseen_s + division.excess_s)
    rows = []
    if counted.has_accounts[members].any() or also_cpu_s > 0:
        most_busy = float(division.elapsed_s * (1 - division.idle_low))
        least_busy = float(division.elapsed_s * (1 - division.idle_high))
        lag = 2 * _ACCOUNT_LAG_S * math.sqrt(ran) + published
        rows = [_row(ON_CPU, cpu, _exact(cpu, busy, (least_busy, most_busy), lag), exact=True)]
        if not any(item.accounted for item in watched):
            rows.append(_row(RUN_QUEUE, queue, _exact(queue, busy, (least_busy, most_busy), lag), exact=True))
    if steal > 0:
        rows.append(_row(STEAL, steal, Estimate(steal / busy if busy > 0 else None, None, None)))
    found = division.time_s
    if found[UNKNOWN] > 0:
        share = _share(float(found[UNKNOWN]), busy, division, UNKNOWN)
        rows.append(_row(ON_CPU_OR_UNKNOWN, float(found[UNKNOWN]), share))
    columns = [int(column) for column in found.argsort()[::-1] if column >= FIRST_EVENT and found[column] > 0]
    for column in columns:
        name = event_name(*events[column - FIRST_EVENT])
        rows.append(_row(name, float(found[column]), _share(float(found[column]), busy, division, column)))
    nothing = float(found[NOTHING])
    rows.append(_row(UNACCOUNTED, nothing + unexplained, _unaccounted(nothing, busy, division, published)))
    return rows


def _row(name: str, time_s: float, share: Estimate, exact: bool = False) -> Json:
    return {
        "row": name,
        "class": name.partition(":")[0],
        "share": share.as_json(),
        "time_s": time_s,
        "exact": exact,
    }


def _share(time_s: float, whole_s: float, division: Division, column: int) -> Estimate:
    if whole_s <= 0:
        return Estimate(None, None, None, LEVEL)
    return Estimate(time_s / whole_s, float(division.low[column]), float(division.high[column]), LEVEL)


def _exact(time_s: float, busy_s: float, interval_s: tuple[float, float], lag_s: float) -> Estimate:
    """A share whose time is exact: what is uncertain is the busy time and the accounts' last moment."""
    if busy_s <= 0:
        return Estimate(None, None, None, LEVEL)
    least, most = interval_s
    high = (time_s + lag_s) / least if least > 0 else 1.0
    return Estimate(
        time_s / busy_s, max(time_s - lag_s, 0.0) / most, max(min(high, 1.0), time_s / busy_s), LEVEL
    )


def _unaccounted(nothing_s: float, busy_s: float, division: Division, late_s: float) -> Estimate:
    if busy_s <= 0:
        return Estimate(None, None, None, LEVEL)
    excess, unseen = float(division.excess_s) / busy_s, float(division.unseen_s) / busy_s
    late = late_s / busy_s
    return Estimate(
        nothing_s / busy_s + excess + unseen,
        float(division.low[NOTHING]) + excess - late,
        float(division.high[NOTHING]) + excess + unseen + late,
        LEVEL,
    )


def _client_split(observation: Observation, counted: Counted, members: Integers, share: float | None) -> Json:
    """The share of waiting for clients, outside and inside a transaction as the session list showed it."""
    waited = known = inside = 0.0
    for member in members:
        process = observation.processes[member]
        polls = process.polls_idle + process.polls_in_transaction
        waited = float(counted.blocked.counts[member, CLIENT] + counted.blocked.exact_s[member, CLIENT])
        if polls and waited:
            known += waited
            inside += waited * process.polls_in_transaction / polls
    part = inside / known if known and share is not None else None
    return {
        "idle_share": None if part is None or share is None else share * (1 - part),
        "in_transaction_share": None if part is None or share is None else share * part,
    }


def _top_events(
    observation: Observation, counted: Counted, members: Integers, rows: Sequence[Json], lengths: WaitLengths
) -> list[Json]:
    code = {event_name(*event): place for place, event in enumerate(observation.events)}
    top = []
    for row in [row for row in rows if row["row"] in code][:TOP]:
        event = code[row["row"]]
        length = lengths.of(event)
        waits: float | None = length.count
        if waits is None and length.average_s.point:
            # A wait lasts until its event is taken back, on CPU again or still in the run queue.
            seen = counted.posted[members, event] / counted.looked[members].clip(min=1)
            waits = float(seen @ counted.blocked.elapsed_s[members]) / length.average_s.point
        top.append(
            {
                "event": row["row"],
                "class": row["class"],
                "time_s": row["time_s"],
                "share": row["share"],
                "average_wait_ms": length.average_s.scaled(1e3).as_json() if length.source else None,
                "source": length.source,
                "waits": waits,
                "waits_per_s": None if waits is None else waits / observation.elapsed_s,
            }
        )
    return top


def _joint(counted: Counted, members: Integers, rows: Sequence[Json], busy: float) -> Json | None:
    """Shares of the busy time by scheduler state and by whether a wait was posted meanwhile.

    The column totals are the accounts' own, stolen time with the CPU; looks divide a column. A cell is
    None where no look fell into a column that has time; the matrix is None without the kernel's accounts,
    and where no look distinguished on CPU from run queue.
    """
    time = {row["row"]: row["time_s"] for row in rows}
    if busy <= 0 or RUN_QUEUE not in time or not counted.has_accounts[members].all():
        return None
    unaccounted = time[UNACCOUNTED]
    totals = {"on_cpu": time[ON_CPU] + time.get(STEAL, 0.0), "run_queue": time[RUN_QUEUE]}
    seen = counted.columns[members].sum(0)
    if not seen.any() and sum(totals.values()) > 0:
        return None
    matrix: dict[str, dict[str, float | None]] = {"posted": {}, "not_posted": {}}
    for name, at in (("on_cpu", 0), ("run_queue", 2)):
        looks, whole = float(seen[at] + seen[at + 1]), totals[name] / busy
        for key, found in (("posted", seen[at]), ("not_posted", seen[at + 1])):
            matrix[key][name] = whole * float(found) / looks if looks else None if whole else 0.0
    waits = busy - unaccounted - totals["on_cpu"] - totals["run_queue"]
    matrix["posted"]["asleep"] = waits / busy
    matrix["not_posted"]["asleep"] = unaccounted / busy
    return matrix

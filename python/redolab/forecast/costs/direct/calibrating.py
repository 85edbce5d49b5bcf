"""From a stored run to the costs that forecasts need, measured directly, each with its scatter.

- A transaction, while sessions have a CPU each: the work of a lone session without its flush. The server
  counts and times flushes (`pg_stat_io`, `pg_stat_wal`). The kernel counts CPU time. Where the server does
  not time them, and of which log they are: `redolab.forecast.costs.direct.flushes`.
- A flush: CPU time and the device's, of the same lone session.
- A transaction while sessions compete: many sessions whose commits do not wait (`nowait`). One such session
  shows the cost while caches are warm. What a lone session that waits takes more is cold caches.
- Waiting for somebody else's flush: the CPU time that is left over with many sessions that wait. Going on
  afterwards with cold caches is part of it.
- A client's statement: its CPU time where it has several sessions to work for, and so finds answers waiting.
  What a lone session's client takes more is its thread's going to sleep and waking up.
- A CPU that idles: the waits of a lone session, apart from all CPU time, are the time until it is running.
- A row: settings with several rows per commit show its CPU time and its log. There is one where nobody waits
  and one where many sessions do.
- Others' work: what sessions and client do not have of CPUs that are short, where commits do not wait. Where
  many sessions wait, it is what they do not have of the CPU time that is used.
- A device that has idled: a lone session that pauses shows how much longer a flush takes. It pauses without
  leaving its CPU, so that the delay of an idle CPU is not attributed to the device.

The simulation answers how often a commit waits, in vain too. The cost of a wait is chosen so that the busy
setting needs, simulated, the CPU time per commit that it needed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from redolab.analysis.commit_times import Histogram
from redolab.analysis.reading import read_latency
from redolab.forecast.costs.costs import (
    LEAST_S,
    SERVED_BY_FEW,
    SERVED_SHARE,
    Costs,
    Curve,
    SecondCosts,
    client_threads,
    parameters,
    statements_of,
)
from redolab.forecast.costs.direct.flushes import after_idle_s, flush_quantiles, flushes_of, per_byte_s
from redolab.forecast.costs.direct.measured import quantities
from redolab.forecast.costs.direct.settings import (
    Chosen,
    SampledSetting,
    choose,
    sampled_settings,
    server_measured,
    today_of,
)
from redolab.forecast.costs.logs import Logs, logs_of
from redolab.forecast.costs.run_costs import REPLICATES, Measured, RunCosts
from redolab.model.group_commit import simulate
from redolab.records.run import Run

_SEED = 1
# Share of a client's wake-up for a lone session that is due to its idle CPU: with two sessions it is half.
_IDLE_SHARE = 0.5
_COMMITS = 4_000
# From this share of the CPUs in use on they are short, and what is left is others'.
_SHORT_OF_CPU = 0.9


def calibrate(run: Run, names: Collection[str] | None = None, today: str | None = None) -> RunCosts:
    """Read costs from a run.

    Args:
        run: any run of commits; `redolab run calibrate` is made for it.
        names: the settings to use; without, all that have the baseline's loop and log device.
        today: the one that a forecast starts from; without, what the run says it is.

    Raises:
        NoCostsError: the run does not have them; the text names what is missing, and the command to run.
    """
    logs = logs_of(server_measured(run))
    observed = sampled_settings(run, names, logs)
    histograms, responses = read_latency(run), read_latency(run, "response")
    chosen = choose(observed, run, logs)
    machine = run.manifest["machine"]
    direct = _costs(chosen, histograms, machine, logs)
    point = _with_waits(chosen.busy, direct)
    rng = random.Random(int(run.manifest["design"]["seed"]))
    blocks = sorted({sample.block for item in observed.values() for sample in item.samples})
    replicates = []
    for _ in range(REPLICATES if len(blocks) > 1 else 0):
        drawn = Counter(rng.choices(blocks, k=len(blocks)))
        resampled = {
            name: replace(
                item, samples=[sample for sample in item.samples for _ in range(drawn[sample.block])]
            )
            for name, item in observed.items()
        }
        if all(item.samples for item in resampled.values()):
            costs = _costs(choose(resampled, run, logs), histograms, machine, logs)
            more = costs.wake_s / direct.wake_s
            served_s = tuple((sessions, more * cost_s) for sessions, cost_s in point.served_s)
            replicates.append(replace(costs, wake_s=more * point.wake_s, served_s=served_s))
    scenarios = {name: item for name, item in observed.items() if not item.pause_s}
    return RunCosts(
        point,
        tuple(replicates),
        {
            name: Measured(item.scenario, item.loop, quantities(item.samples, histograms, responses))
            for name, item in scenarios.items()
        },
        today or today_of(scenarios, run),
        logs.cautions(chosen.lone.untimed),
    )


def _costs(
    chosen: Chosen, histograms: Mapping[int, Histogram], machine: Mapping[str, Any], logs: Logs
) -> Costs:
    """The costs, with `wake_s` per commit that waits instead of per wait."""
    lone, busy = chosen.lone, chosen.busy
    cpus = int(machine["cpus"] or 1)
    flushes = flushes_of(chosen, logs)
    alone_s = max(lone.elapsed_s - flushes.elapsed_s, LEAST_S)
    competing = _competing(chosen, cpus)
    client = _of_the_client(chosen, competing, cpus)
    warm = chosen.lone_nowait
    cold_s = 0.0 if warm is None else max(0.0, alone_s - warm.elapsed_s)
    longer_s = after_idle_s(chosen)
    shapes = [
        flush_quantiles(lone, histograms, device_s, part)
        for device_s, part in zip(flushes.device_s, flushes.parts, strict=True)
    ]
    if lone.loop == "client" and competing:
        # Where its client and server are decides how long a lone session takes: its CPU time is that of few.
        lone_s = competing[0].server_s
    else:
        lone_s = max(alone_s - cold_s - lone.client_s, LEAST_S)
    costs = Costs(
        loop=lone.loop,
        cpus=cpus,
        transaction_cpu_s=(
            (1, lone_s),
            *_by_sessions([(item.sessions, item.server_s) for item in competing], lone.loop, cpus),
        ),
        row_cpu_s=((1, LEAST_S),),
        flush_cpu_s=flushes.cpu_s,
        wake_s=0.0,
        commit_bytes=max(1.0, lone.per_commit("log_bytes")),
        row_bytes=0.0,
        flush_s=shapes[0],
        device_s_per_byte=per_byte_s(chosen, longer_s),
        after_idle_s=longer_s,
        client_s=client.cost_s,
        client_wake_s=client.wake_s,
        hand_over_exit_s=client.exit_s,
        cold_s=cold_s,
        available=_available(chosen, cpus),
        available_waiting=_available_waiting(chosen, cpus),
        emulated=lone.per_commit("device_requested_s") > 0,
        one_interrupt=(machine.get("disk_queues") or 1) == 1,
        row_known=chosen.rows is not None or chosen.rows_nowait is not None,
        handed_on=logs.grouping is not None and logs.grouping.handed_on,
        second=None
        if len(shapes) == 1
        else SecondCosts(flushes.cpu_s, shapes[1], logs.own_devices, flushes.late_s, lone.in_groups),
        system=logs.system(lone.loop),
    )
    sessions = busy.scenario.sessions
    waiting_s = busy.cpu_s - busy.flushes * flushes.cpu_s
    waiting_s -= costs.transaction_with(sessions) + costs.client_with(sessions)
    return _with_rows(replace(costs, wake_s=max(waiting_s, LEAST_S) / busy.waiting_share), chosen)


def _available(chosen: Chosen, cpus: int) -> float:
    """Share of the CPUs' time that server and client have where commits do not wait and CPUs are short."""
    used = [
        item.throughput_per_s * item.per_commit("instance_cpu_s", "client_cpu_s") / cpus
        for item in chosen.nowait
    ]
    return min(1.0, max((share for share in used if share > _SHORT_OF_CPU), default=1.0))


def _available_waiting(chosen: Chosen, cpus: int) -> float:
    """The same where commits wait: of the CPU time that anybody uses, because they leave CPUs idle.

    A flush makes work for the kernel's own threads and interrupts. A hypervisor takes CPU time where CPUs go
    idle, so what it takes does not come with every use of them, and is left out.
    """
    anybody_s = chosen.busy.per_commit("host_busy_s")
    if not anybody_s:
        return _available(chosen, cpus)
    return min(1.0, chosen.busy.per_commit("instance_cpu_s", "client_cpu_s") / anybody_s)


def _by_sessions(measured: Sequence[tuple[int, float]], loop: str, cpus: int) -> Curve:
    """Costs by sessions as they count in a forecast.

    What several sessions of a client cost where nobody waits is the least that there is, as with one
    session for each CPU. Where commits wait, its threads and the server's processes put each other off.
    """
    if loop != "client" or not measured:
        return tuple(measured)
    (_, few), *more = measured
    return ((cpus, few), *more)


@dataclass(frozen=True)
class _Competing:
    """CPU time of a statement that commits or belongs to a batch, where nobody waits and CPUs are short."""

    sessions: int
    server_s: float
    client_s: float


def _competing(chosen: Chosen, cpus: int) -> list[_Competing]:
    """By sessions. Of a client's batches too: any of its statements costs the server about as much."""
    nowait, fewest = list(chosen.nowait), 2
    if chosen.lone.loop == "client":
        nowait = [*filter(None, [chosen.rows_nowait]), *nowait]
        fewest = client_threads(cpus) + 1
    shares = {
        item.scenario.sessions: _Competing(
            item.scenario.sessions, item.server_s / _statements(item), item.client_s
        )
        for item in nowait
        if item.scenario.sessions >= fewest
    }
    return [shares[sessions] for sessions in sorted(shares)]


def _statements(item: SampledSetting) -> int:
    """Number of parts of a transaction that cost about the same: rows, and a client's BEGIN and COMMIT."""
    rows = item.scenario.rows_per_commit
    return statements_of(rows) if item.loop == "client" else rows


@dataclass(frozen=True)
class _Client:
    """Costs of a statement for the client."""

    cost_s: Curve
    wake_s: float = 0.0
    exit_s: float = 0.0


def _of_the_client(chosen: Chosen, competing: Sequence[_Competing], cpus: int) -> _Client:
    """CPU time of the client per statement, by sessions, and for waking up; and the time until an idle CPU
    runs.

    While commits do not wait, a thread wakes up for every answer to a lone session, and with more sessions
    once for one answer to each. A lone session's statement finds the server's CPU idle, and its answer the
    client's.
    """
    alone = chosen.lone_nowait
    if chosen.lone.loop != "client" or alone is None or not competing:
        return _Client(((1, chosen.lone.client_s),))
    few = competing[0]
    wakes = [client_threads(cpus) / item.sessions for item in competing]
    busy = 1 - _IDLE_SHARE
    wake_s = max(0.0, (alone.client_s - few.client_s) / (1 - busy * wakes[0]))
    costs = [
        (item.sessions, max(item.client_s - share * busy * wake_s, LEAST_S))
        for item, share in zip(competing, wakes, strict=True)
    ]
    exit_s = max(0.0, alone.elapsed_s - few.server_s - costs[0][1] - wake_s) / 2
    by_sessions = _by_sessions(costs, chosen.lone.loop, cpus)
    return _Client(((1, costs[0][1]), *by_sessions), busy * wake_s, exit_s + _IDLE_SHARE * wake_s / 2)


def _with_rows(costs: Costs, chosen: Chosen) -> Costs:
    """With what a row costs: where nobody waits, and where sessions do."""
    settings = [item for item in (chosen.rows_nowait, chosen.rows) if item is not None]
    if not settings:
        return costs
    measured = sorted({item.scenario.sessions: _row_s(costs, item) for item in settings}.items())
    points = _by_sessions(measured, costs.loop, costs.cpus)
    lone, rows = chosen.lone, settings[-1]
    more = rows.scenario.rows_per_commit - 1
    row_bytes = (rows.per_commit("log_bytes") - lone.per_commit("log_bytes")) / more
    return replace(
        costs,
        row_cpu_s=((1, points[0][1]), *(point for point in points if point[0] > 1)),
        row_bytes=row_bytes,
        commit_bytes=max(1.0, lone.per_commit("log_bytes") - row_bytes),
    )


def _row_s(costs: Costs, rows: SampledSetting) -> float:
    """CPU time of a row beyond the first in the server; of any statement of a client that does not wait."""
    scenario = rows.scenario
    if rows.loop == "client" and scenario.commit_wait == "nowait":
        return max(rows.server_s / _statements(rows), LEAST_S)
    left_s = rows.server_s - costs.transaction_with(scenario.sessions)
    if scenario.commit_wait == "wait":
        waits = 0.0 if scenario.sessions == 1 else rows.waiting_share
        left_s -= rows.flushes * costs.flush_cpu_s + waits * costs.wake_s
    return max(left_s / (_statements(rows) - 1), LEAST_S)


def _with_waits(busy: SampledSetting, costs: Costs) -> Costs:
    """With what waiting costs, such that the busy setting simulated needs the CPU time that was measured."""
    waiting_s, share = costs.wake_s, busy.waiting_share

    def divided(waits: float) -> Costs:
        wake_s = (1 - SERVED_SHARE) * waiting_s / waits
        served_s = SERVED_SHARE * waiting_s
        by_sessions = ((1, SERVED_BY_FEW * served_s), (busy.scenario.sessions, served_s))
        return replace(costs, wake_s=wake_s, served_s=by_sessions)

    division = divided(1.0)
    for _ in range(3):
        needs = parameters(replace(division, hand_over_exit_s=0.0), busy.scenario)
        needs = needs.replaced(idle_exit_s=0.0, halt_exit_s=0.0)
        simulated = simulate(needs, _SEED, _COMMITS)
        cpu_s = simulated.cpu_utilization.point * needs.cpus / simulated.throughput_per_s.point
        waiting_s = max(waiting_s + (busy.cpu_s - cpu_s) / share, LEAST_S)
        division = divided(max(simulated.log_waits_per_commit.point / share, 0.5))
    return division

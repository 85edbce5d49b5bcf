"""From a stored run to what forecasts need: costs that were measured directly, each with its scatter.

- What a lone session does beside its flush is what a transaction costs while sessions have a CPU each; the
  server counts and times flushes (`pg_stat_io`, `pg_stat_wal`), the kernel CPU time. A flush is CPU time and
  the device's.
- Commits that do not wait (`nowait`), with many sessions, tell what a transaction costs while they compete;
  with one, what it costs while caches are warm. What it takes more beside its flush is that they are cold.
- With many sessions that wait, what CPU time is left over is that of waiting for somebody else's flush.
- A client that has several sessions to work for finds answers waiting for it: that is its CPU time per
  statement. What a lone session's client takes more is its thread's going to sleep and waking up; and what a
  lone session waits beside all CPU time is how long CPUs that idle take to be there for either side.
- Settings with several rows per commit tell what a row costs in CPU, log and device time.

How often a commit waits, in vain too, is the simulation's answer; and where the CPUs are short, what a
switch between sessions loses is what makes the simulation reproduce that one setting.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from redolab.analysis.calibration_settings import Chosen, SampledSetting, choose, sampled_settings, today_of
from redolab.analysis.commit_times import Histogram, means_of_parts_us
from redolab.analysis.estimates import Estimate
from redolab.analysis.measured import quantities
from redolab.analysis.reading import read_latency
from redolab.model.calibration import (
    LEAST_S,
    Calibration,
    Curve,
    Scenario,
    client_threads,
    parameters,
    with_sessions,
)
from redolab.model.distribution import quantiles
from redolab.model.group_commit import simulate
from redolab.store import Run

REPLICATES = 40
QUANTILES = 200
_SEED = 1
_COMMITS = 4_000
_MOST_DISPATCH_S = 15e-6
_USUAL_DISPATCH_S = 3e-6
# Below this share of the CPUs in use, what switching loses cannot be told.
_SHORT_OF_CPU = 0.4


@dataclass(frozen=True)
class Measured:
    """A setting as it was measured."""

    scenario: Scenario
    loop: str
    quantities: Mapping[str, Estimate]
    """Of `redolab.model.forecast.QUANTITIES`, those that were measured."""


@dataclass(frozen=True)
class Calibrated:
    """What a run says of costs, and of how sure they are."""

    point: Calibration
    replicates: tuple[Calibration, ...]
    """The same from the run's blocks drawn anew, with replacement."""
    measured: Mapping[str, Measured]
    """By setting."""
    today: str
    """The setting that a forecast starts from and is compared with."""


def calibrate(run: Run, names: Collection[str] | None = None) -> Calibrated:
    """Read costs from a run.

    Args:
        run: any run of commits; `redolab run calibrate` is made for it.
        names: the settings to use; without, all that have the baseline's loop and log device.

    Raises:
        UsageError: the run does not tell them; the text says which, and what to run.
    """
    observed = sampled_settings(run, names)
    histograms, responses = read_latency(run), read_latency(run, "response")
    chosen = choose(observed, run)
    machine = run.manifest["machine"]
    direct = _costs(chosen, histograms, machine)
    waits = _waits(chosen.busy, direct)
    point = _with_dispatch(chosen.busy, replace(direct, wake_s=direct.wake_s / waits))
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
            costs = _costs(choose(resampled, run), histograms, machine)
            replicates.append(replace(costs, wake_s=costs.wake_s / waits, dispatch_s=point.dispatch_s))
    return Calibrated(
        point,
        tuple(replicates),
        {
            name: Measured(item.scenario, item.loop, quantities(item.samples, histograms, responses))
            for name, item in observed.items()
        },
        today_of(observed),
    )


def _costs(chosen: Chosen, histograms: Mapping[int, Histogram], machine: Mapping[str, Any]) -> Calibration:
    """The costs, with `wake_s` per commit that waits instead of per wait, and nothing lost by dispatch."""
    lone, busy = chosen.lone, chosen.busy
    cpus = int(machine["cpus"] or 1)
    alone_s = max(lone.elapsed_s - lone.flushing_s, LEAST_S)
    flush_cpu_s = max(lone.cpu_s - alone_s, LEAST_S) / lone.flushes
    client = _of_the_client(chosen, cpus)
    warm = chosen.lone_nowait
    cold_s = 0.0 if warm is None else max(0.0, alone_s - warm.elapsed_s)
    device_s = max(lone.flushing_s / lone.flushes - flush_cpu_s, LEAST_S)
    costs = Calibration(
        loop=lone.loop,
        cpus=cpus,
        transaction_cpu_s=(
            (1, max(alone_s - cold_s - client.alone_s, LEAST_S)),
            *(
                (item.scenario.sessions, item.server_s)
                for item in chosen.nowait
                if item.scenario.sessions > 1
            ),
        ),
        row_cpu_s=((1, LEAST_S),),
        flush_cpu_s=flush_cpu_s,
        wake_s=0.0,
        dispatch_s=0.0,
        commit_bytes=max(1.0, lone.per_commit("wal_bytes")),
        row_bytes=0.0,
        flush_s=_flush_quantiles(lone, histograms, device_s),
        device_s_per_byte=_per_byte_s(chosen),
        client_s=client.cost_s,
        client_wake_s=client.wake_s,
        hand_over_exit_s=client.exit_s,
        cold_s=cold_s,
        emulated=lone.per_commit("device_requested_s") > 0,
        one_interrupt=(machine.get("disk_queues") or 1) == 1,
        row_known=chosen.rows is not None,
    )
    sessions = busy.scenario.sessions
    waiting_s = busy.cpu_s - busy.flushes * flush_cpu_s
    waiting_s -= costs.transaction_with(sessions) + costs.client_with(sessions)
    costs = replace(costs, wake_s=max(waiting_s, LEAST_S) / busy.waiting_share)
    return costs if chosen.rows is None else _with_rows(costs, chosen, chosen.rows)


@dataclass(frozen=True)
class _Client:
    """What a statement costs the client."""

    cost_s: Curve
    wake_s: float = 0.0
    exit_s: float = 0.0

    @property
    def alone_s(self) -> float:
        """How much longer a statement of a lone session takes than its CPU time in the server."""
        return self.cost_s[0][1] + self.wake_s + 2 * self.exit_s


def _of_the_client(chosen: Chosen, cpus: int) -> _Client:
    """CPU time of the client per statement, by sessions, and to wake up; and how long CPUs take to be there.

    While commits do not wait, a thread wakes up for every answer to a lone session, and with more sessions
    once for one answer to each. A lone session's statement finds the server's CPU idle, and its answer the
    client's.
    """
    threads = client_threads(cpus)
    alone = chosen.lone_nowait
    many = [item for item in chosen.nowait if item.scenario.sessions > threads]
    if chosen.lone.loop != "client" or alone is None or not many:
        return _Client(((1, chosen.lone.client_s),))
    wakes = [threads / item.scenario.sessions for item in many]
    wake_s = max(0.0, (alone.client_s - many[0].client_s) / (1 - wakes[0]))
    costs = [
        (item.scenario.sessions, max(item.client_s - share * wake_s, LEAST_S))
        for item, share in zip(many, wakes, strict=True)
    ]
    exit_s = max(0.0, alone.elapsed_s - many[0].server_s - costs[0][1] - wake_s) / 2
    return _Client(((1, costs[0][1]), *costs), wake_s, exit_s)


def _with_rows(costs: Calibration, chosen: Chosen, rows: SampledSetting) -> Calibration:
    """With what a row costs, which changes with the sessions as a transaction does that waits for nothing."""
    lone, sessions = chosen.lone, rows.scenario.sessions
    more = rows.scenario.rows_per_commit - 1
    waits = 0.0 if sessions == 1 else rows.waiting_share
    left_s = rows.server_s - costs.transaction_with(sessions)
    left_s -= rows.flushes * costs.flush_cpu_s + waits * costs.wake_s
    # A client's BEGIN and COMMIT cost about as much as another row.
    row_s = max(left_s / (more + 2 if costs.loop == "client" else more), LEAST_S)
    nowait = tuple((item.scenario.sessions, item.server_s) for item in chosen.nowait)
    if not nowait or nowait[0][0] != 1:
        nowait = ((1, 1.0),)
    if costs.hand_over_exit_s > 0:
        # The CPU time of a lone session's server is in part that of its CPU's coming back from idling.
        nowait = ((1, nowait[1][1]), *nowait[1:])
    here = with_sessions(nowait, sessions, costs.cpus)
    row_bytes = (rows.per_commit("wal_bytes") - lone.per_commit("wal_bytes")) / more
    return replace(
        costs,
        row_cpu_s=tuple((number, row_s * cost / here) for number, cost in nowait),
        row_bytes=row_bytes,
        commit_bytes=max(1.0, lone.per_commit("wal_bytes") - row_bytes),
    )


def _per_byte_s(chosen: Chosen) -> float:
    """Time of the device per byte: the log writer's flushes are large, those of lone commits small."""
    lone = chosen.lone
    writer = next((item for item in chosen.nowait if item.scenario.sessions == 1 and item.flushes), None)
    if writer is None:
        return 0.0
    longer_s = writer.flushing_s / writer.flushes - lone.flushing_s / lone.flushes
    return max(0.0, longer_s / (writer.per_commit("wal_bytes") / writer.flushes))


def _flush_quantiles(
    lone: SampledSetting, histograms: Mapping[int, Histogram], device_s: float
) -> tuple[float, ...]:
    """The shape of a lone session's commit times, shifted and scaled to the mean time of the device."""
    counts: Counter[float] = Counter()
    for sample in lone.samples:
        counts.update(histograms.get(sample.sample, {}))
    if not counts:
        return (device_s, device_s)
    times = [1e-6 * time_us for time_us in means_of_parts_us(counts, QUANTILES)]
    shift_s = sum(times) / len(times) - device_s
    shifted = [max(time - shift_s, 0.3 * device_s) for time in times]
    scale = device_s / quantiles(shifted).mean_s
    return tuple(scale * time for time in shifted)


def _waits(busy: SampledSetting, costs: Calibration) -> float:
    """How often a commit that does not flush waits in the busy setting, in vain too."""
    waits, share = 1.0, busy.waiting_share
    for _ in range(3):
        each = replace(costs, wake_s=costs.wake_s / waits, dispatch_s=_USUAL_DISPATCH_S)
        seen = simulate(parameters(each, busy.scenario), _SEED, _COMMITS)
        waits = max(seen.log_waits_per_commit.point / share, 0.5)
    return waits


def _with_dispatch(busy: SampledSetting, costs: Calibration) -> Calibration:
    """With what dispatch loses, where the busy setting is short of CPU and so tells it."""
    if busy.throughput_per_s * busy.cpu_s < _SHORT_OF_CPU * costs.cpus:
        return replace(costs, dispatch_s=_USUAL_DISPATCH_S)
    low_s, high_s = 0.0, _MOST_DISPATCH_S
    for _ in range(8):
        middle_s = (low_s + high_s) / 2
        seen = simulate(parameters(replace(costs, dispatch_s=middle_s), busy.scenario), _SEED, _COMMITS)
        if seen.throughput_per_s.point > busy.throughput_per_s:
            low_s = middle_s
        else:
            high_s = middle_s
    return replace(costs, dispatch_s=(low_s + high_s) / 2)

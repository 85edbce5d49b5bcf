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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from redolab.analysis.commit_times import Histogram, means_of_parts_us
from redolab.analysis.estimates import Estimate
from redolab.analysis.measured import quantities
from redolab.analysis.reading import counting, read_latency, read_samples
from redolab.errors import UsageError
from redolab.model.calibration import (
    LEAST_S,
    Calibration,
    Curve,
    Scenario,
    client_threads,
    parameters,
    scenario_of,
    statements_of,
    with_sessions,
)
from redolab.model.distribution import quantiles
from redolab.model.group_commit import simulate
from redolab.sample import Sample
from redolab.store import Run

REPLICATES = 40
QUANTILES = 200
_SEED = 1
_COMMITS = 4_000
_MOST_DISPATCH_S = 15e-6
_USUAL_DISPATCH_S = 3e-6
# Below this share of the CPUs in use, what switching loses cannot be told.
_SHORT_OF_CPU = 0.4
_AGAIN = "`redolab run calibrate` measures it in under a minute"


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


@dataclass(frozen=True)
class _Observed:
    """A setting's samples with what its levels say."""

    scenario: Scenario
    loop: str
    samples: Sequence[Sample]

    def per_commit(self, *names: str) -> float:
        """The sum of these columns per commit; what is missing counts as nothing."""
        total = sum(getattr(sample, name) or 0 for sample in self.samples for name in names)
        return total / self.commits

    @property
    def commits(self) -> int:
        return sum(sample.commits for sample in self.samples)

    @property
    def cpu_s(self) -> float:
        """CPU time of session and client per commit."""
        return self.per_commit("session_cpu_s", "client_cpu_s")

    @property
    def server_s(self) -> float:
        """CPU time of the session per commit."""
        return self.per_commit("session_cpu_s")

    @property
    def client_s(self) -> float:
        """CPU time of the client per statement."""
        return self.per_commit("client_cpu_s") / statements_of(self.scenario.rows_per_commit)

    @property
    def elapsed_s(self) -> float:
        """Elapsed time of a session per commit."""
        return self.per_commit("session_elapsed_s")

    @property
    def flushing_s(self) -> float:
        """Time in writes and flushes of the log per commit."""
        return self.per_commit("wal_write_time_s", "wal_flush_time_s")

    @property
    def flushes(self) -> float:
        """Flushes per commit."""
        return self.per_commit("wal_flushes")

    @property
    def throughput_per_s(self) -> float:
        return self.commits / sum(sample.elapsed_s for sample in self.samples)


def calibrate(run: Run, names: Collection[str] | None = None) -> Calibrated:
    """Read costs from a run.

    Args:
        run: any run of commits; `redolab run calibrate` is made for it.
        names: the settings to use; without, all that have the baseline's loop and log device.

    Raises:
        UsageError: the run does not tell them; the text says which, and what to run.
    """
    observed = _observed(run, names)
    histograms, responses = read_latency(run), read_latency(run, "response")
    chosen = _choose(observed, run)
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
            costs = _costs(_choose(resampled, run), histograms, machine)
            replicates.append(replace(costs, wake_s=costs.wake_s / waits, dispatch_s=point.dispatch_s))
    return Calibrated(
        point,
        tuple(replicates),
        {
            name: Measured(item.scenario, item.loop, quantities(item.samples, histograms, responses))
            for name, item in observed.items()
        },
        _today(observed),
    )


def _observed(run: Run, names: Collection[str] | None) -> dict[str, _Observed]:
    if run.manifest.get("record") != "sample" or run.manifest.get("unit") not in ("commit", "row"):
        raise UsageError(
            f"{run.path} is a run of {run.manifest['experiment']}, which measures no commits, so forecasts "
            f"cannot start from it: {_AGAIN}."
        )
    levels = {item["name"]: item["levels"] for item in run.manifest["settings"]}
    load = run.manifest["load"]
    if names is None:
        names = _of_one_system(levels, run.manifest["design"].get("baseline"))
    by_setting: dict[str, list[Sample]] = {}
    for sample in counting(read_samples(run)):
        if sample.setting in names:
            by_setting.setdefault(sample.setting, []).append(sample)
    return {
        name: _Observed(
            scenario_of(levels[name], samples[0].sessions),
            levels[name].get("loop", load.get("loop", "server")),
            samples,
        )
        for name, samples in by_setting.items()
    }


def _of_one_system(levels: Mapping[str, Mapping[str, str]], baseline: str | None) -> set[str]:
    """The settings with the loop and the log device of the baseline: costs of others are other costs."""

    def system(name: str) -> tuple[str | None, str | None]:
        return levels[name].get("loop"), levels[name].get("log_device_ms")

    like = baseline if baseline is not None and baseline in levels else next(iter(levels))
    return {name for name in levels if system(name) == system(like)}


def _today(observed: Mapping[str, _Observed]) -> str:
    """The plainest busy setting: sessions that loop, waiting commits, fewest rows, most sessions."""

    def order(name: str) -> tuple[bool, bool, int, int, int]:
        asked = observed[name].scenario
        return (
            asked.arrival_rate_per_s is not None,
            asked.commit_wait != "wait",
            asked.commit_delay_us,
            asked.rows_per_commit,
            -asked.sessions,
        )

    return min(observed, key=order)


@dataclass(frozen=True)
class _Chosen:
    """The settings that costs are read from."""

    lone: _Observed
    busy: _Observed
    rows: _Observed | None
    nowait: Sequence[_Observed]
    """One row per commit that waits for nothing, by sessions."""

    @property
    def lone_nowait(self) -> _Observed | None:
        """One session of those."""
        return next((item for item in self.nowait if item.scenario.sessions == 1), None)


def _choose(observed: Mapping[str, _Observed], run: Run) -> _Chosen:
    plain = [
        item
        for item in observed.values()
        if item.scenario.commit_delay_us == 0 and item.scenario.arrival_rate_per_s is None
    ]

    def among(wait: str, rows: bool, lone: bool) -> _Observed | None:
        found = [
            item
            for item in plain
            if item.scenario.commit_wait == wait
            and (item.scenario.rows_per_commit > 1) == rows
            and (item.scenario.sessions == 1) == lone
        ]
        return max(
            found, key=lambda item: (item.scenario.rows_per_commit, item.scenario.sessions), default=None
        )

    lone, busy = among("wait", rows=False, lone=True), among("wait", rows=False, lone=False)
    if lone is None or busy is None:
        missing = "one session alone" if lone is None else "several sessions"
        raise UsageError(
            f"{run.path} is no calibration: it has no setting of {missing} with one row per commit that "
            f"waits for the log, from which the costs of a commit and its flush are read; {_AGAIN}."
        )
    for item in (lone, busy):
        if any(sample.session_cpu_s is None or not sample.wal_flush_time_s for sample in item.samples):
            raise UsageError(
                f"{run.path} is no calibration: it lacks CPU time or the time of log flushes "
                f"(see what was not measured in its report); {_AGAIN} where the server is on this machine."
            )
    return _Chosen(
        lone,
        busy,
        among("wait", rows=True, lone=False) or among("wait", rows=True, lone=True),
        sorted(
            (
                item
                for item in plain
                if item.scenario.commit_wait == "nowait" and item.scenario.rows_per_commit == 1
            ),
            key=lambda item: item.scenario.sessions,
        ),
    )


def _costs(chosen: _Chosen, histograms: Mapping[int, Histogram], machine: Mapping[str, Any]) -> Calibration:
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
        one_interrupt=(machine.get("disk_queues") or 1) == 1,
        row_known=chosen.rows is not None,
    )
    sessions = busy.scenario.sessions
    waiting_s = busy.cpu_s - busy.flushes * flush_cpu_s
    waiting_s -= costs.transaction_with(sessions) + costs.client_with(sessions)
    costs = replace(costs, wake_s=max(waiting_s, LEAST_S) / _waiting_share(busy))
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


def _of_the_client(chosen: _Chosen, cpus: int) -> _Client:
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


def _with_rows(costs: Calibration, chosen: _Chosen, rows: _Observed) -> Calibration:
    """With what a row costs, which changes with the sessions as a transaction does that waits for nothing."""
    lone, sessions = chosen.lone, rows.scenario.sessions
    more = rows.scenario.rows_per_commit - 1
    waits = 0.0 if sessions == 1 else _waiting_share(rows)
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


def _per_byte_s(chosen: _Chosen) -> float:
    """Time of the device per byte: the log writer's flushes are large, those of lone commits small."""
    lone = chosen.lone
    writer = next((item for item in chosen.nowait if item.scenario.sessions == 1 and item.flushes), None)
    if writer is None:
        return 0.0
    longer_s = writer.flushing_s / writer.flushes - lone.flushing_s / lone.flushes
    return max(0.0, longer_s / (writer.per_commit("wal_bytes") / writer.flushes))


def _waiting_share(item: _Observed) -> float:
    """Commits that wait for another's flush, by commits."""
    return max(0.05, 1 - item.flushes)


def _flush_quantiles(
    lone: _Observed, histograms: Mapping[int, Histogram], device_s: float
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


def _waits(busy: _Observed, costs: Calibration) -> float:
    """How often a commit that does not flush waits in the busy setting, in vain too."""
    waits, share = 1.0, _waiting_share(busy)
    for _ in range(3):
        each = replace(costs, wake_s=costs.wake_s / waits, dispatch_s=_USUAL_DISPATCH_S)
        seen = simulate(parameters(each, busy.scenario), _SEED, _COMMITS)
        waits = max(seen.log_waits_per_commit.point / share, 0.5)
    return waits


def _with_dispatch(busy: _Observed, costs: Calibration) -> Calibration:
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

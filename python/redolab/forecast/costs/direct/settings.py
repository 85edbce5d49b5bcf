"""The settings of a run that costs are read from, each with its samples."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from redolab.analysis.reading import counting, read_samples
from redolab.forecast.costs.costs import LEAST_S, Scenario, scenario_of, statements_of
from redolab.forecast.costs.logs import REDO, LogColumns, Logs
from redolab.forecast.costs.run_costs import NoCostsError
from redolab.records.load import pause_of
from redolab.records.run import Run
from redolab.records.sample import Sample
from redolab.records.servers import SERVER, server_of

_TODAY_FIRST = frozenset({"calibrate", "response-curve"})
"""The experiments whose baseline is today's setting."""
_AGAIN = "`redolab run calibrate` measures everything that a forecast needs in under a minute"


@dataclass(frozen=True)
class SampledSetting:
    """A setting's samples with what its levels say."""

    scenario: Scenario
    loop: str
    samples: Sequence[Sample]
    pause_s: float = 0.0
    """After each commit, without leaving the CPU."""
    logs: tuple[LogColumns, ...] = (REDO,)
    """Logs whose flushes are counted below, in the order in which a commit waits for them."""
    in_groups: bool = False
    """Whether commits that one flush of the first log served wait for the second as one group."""

    def of(self, *logs: LogColumns) -> SampledSetting:
        """The same, as far as it is of these logs."""
        return replace(self, logs=logs)

    def per_commit(self, *names: str) -> float:
        """The sum of these columns per commit; what is missing counts as nothing."""
        total = sum(getattr(sample, name) or 0 for sample in self.samples for name in names)
        return total / self.commits

    @property
    def commits(self) -> int:
        """Commits of all samples."""
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
        """Time in writes and flushes of the logs per commit, as the server timed it."""
        return self.per_commit(*(name for log in self.logs for name in log.times))

    @property
    def untimed(self) -> tuple[LogColumns, ...]:
        """The logs whose flushes the server did not time in every sample."""
        return tuple(
            log for log in self.logs if not all(getattr(sample, log.times[-1]) for sample in self.samples)
        )

    @property
    def flushes(self) -> float:
        """Flushes per commit, of all logs."""
        return self.per_commit(*(log.flushes for log in self.logs))

    @property
    def flush_s(self) -> float:
        """Time of a write and flush of a log."""
        return self.flushing_s / self.flushes

    @property
    def usual_flush_s(self) -> float:
        """The same where a sample has few flushes and one that was held up would be their mean: the median
        over the samples.
        """
        flushing = [replace(self, samples=[sample]) for sample in self.samples]
        return statistics.median(each.flush_s for each in flushing if each.flushes)

    @property
    def idle_s(self) -> float:
        """Time of a lone session from one flush to the next."""
        return max((self.elapsed_s - self.flushing_s) / self.flushes, LEAST_S)

    @property
    def waiting_share(self) -> float:
        """Waits for another's flush, by commits; at least a twentieth.

        With two logs there can be two of a commit, or one for both where groups stay together.
        """
        waits = [1 - self.of(log).flushes for log in self.logs]
        return max(0.05, waits[-1] if self.in_groups else sum(waits))

    @property
    def throughput_per_s(self) -> float:
        """Commits per second over all samples."""
        return self.commits / sum(sample.elapsed_s for sample in self.samples)


def sampled_settings(run: Run, names: Collection[str] | None, logs: Logs) -> dict[str, SampledSetting]:
    """The settings of `names`; without, all that have the baseline's loop and log device, and those of a lone
    session that pauses, which show the log device alone.

    Args:
        run: a stored run.
        names: of settings.
        logs: of its server.

    Raises:
        NoCostsError: the run measured no commits.
    """
    if run.manifest.get("record") != "sample" or run.manifest.get("unit") not in ("commit", "row"):
        raise NoCostsError(
            run,
            f"This run of {run.manifest['experiment']} did not measure commits. {_AGAIN}.",
        )
    levels, load = _levels(run), run.manifest["load"]
    if names is None:
        names = _of_one_system(run)
    by_setting: dict[str, list[Sample]] = {}
    for sample in counting(read_samples(run)):
        if sample.setting in names:
            by_setting.setdefault(sample.setting, []).append(sample)
    return {
        name: SampledSetting(
            scenario_of(levels[name], samples[0].sessions),
            levels[name].get("loop", load.get("loop", "server")),
            samples,
            pause_of(levels[name]),
            logs.columns,
            logs.grouping is not None and logs.grouping.in_groups,
        )
        for name, samples in by_setting.items()
    }


def _of_one_system(run: Run) -> set[str]:
    """The settings with the server, the loop and the log device of the baseline: costs of others are other
    costs.
    """
    like = _baseline_levels(run)
    return {
        name
        for name, levels in _levels(run).items()
        if all(levels.get(below) == like.get(below) for below in (SERVER, "log_device_ms"))
        and (levels.get("loop") == like.get("loop") or "pause_ms" in levels)
    }


def _levels(run: Run) -> dict[str, Mapping[str, str]]:
    return {item["name"]: item["levels"] for item in run.manifest["settings"]}


def _baseline_levels(run: Run) -> Mapping[str, str]:
    """Levels of the baseline, or of the first setting where the baseline is not a setting."""
    levels = _levels(run)
    return levels.get(run.manifest["design"].get("baseline"), next(iter(levels.values())))


def server_measured(run: Run) -> Mapping[str, Any]:
    """The record of the server whose costs are read, unless settings are named: the baseline's."""
    return server_of(run.manifest["engine"], _baseline_levels(run))


def today_of(observed: Mapping[str, SampledSetting], run: Run) -> str:
    """The setting that a calibration is compared with, if several sessions work there; of other runs the
    plainest busy setting: sessions that loop, waiting commits, fewest rows, most sessions.
    """
    baseline = run.manifest["design"].get("baseline")
    calibration = run.manifest["experiment"] in _TODAY_FIRST and baseline in observed
    if calibration and observed[baseline].scenario.sessions > 1:
        return str(baseline)

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


def _flushes_told(waiting: SampledSetting, nowait: SampledSetting | None) -> bool:
    """Whether the time of flushes is known, by the server or from commits that do not wait."""
    if not waiting.untimed:
        return True
    counted = all(getattr(sample, log.flushes) for sample in waiting.samples for log in waiting.logs)
    return nowait is not None and counted


@dataclass(frozen=True)
class Chosen:
    """The settings that costs are read from."""

    lone: SampledSetting
    busy: SampledSetting
    rows: SampledSetting | None
    """Several rows per commit, waiting."""
    rows_nowait: SampledSetting | None
    """Several rows per commit, waiting for nothing."""
    nowait: Sequence[SampledSetting]
    """One row per commit that waits for nothing, by sessions."""
    paused: Sequence[SampledSetting]
    """A lone session that pauses after each commit and flushed at all, by the length of the pause."""

    @property
    def lone_nowait(self) -> SampledSetting | None:
        """One session of those."""
        return next((item for item in self.nowait if item.scenario.sessions == 1), None)


def choose(observed: Mapping[str, SampledSetting], run: Run, logs: Logs) -> Chosen:
    """The most informative settings of `run`: the most rows, the most sessions.

    Args:
        observed: settings by name.
        run: where they were measured.
        logs: of its server.

    Raises:
        NoCostsError: a setting is missing, or lacks the figures that costs are read from; the text names it.
    """
    plain = [
        item
        for item in observed.values()
        if not item.pause_s
        and item.scenario.commit_delay_us == 0
        and item.scenario.arrival_rate_per_s is None
    ]

    def among(wait: str, rows: bool, lone: bool) -> SampledSetting | None:
        chosen = [
            item
            for item in plain
            if item.scenario.commit_wait == wait
            and (item.scenario.rows_per_commit > 1) == rows
            and (item.scenario.sessions == 1) == lone
        ]
        return max(
            chosen, key=lambda item: (item.scenario.rows_per_commit, item.scenario.sessions), default=None
        )

    lone, busy = among("wait", rows=False, lone=True), among("wait", rows=False, lone=False)
    if lone is None or busy is None:
        missing = "one session" if lone is None else "several sessions"
        raise NoCostsError(
            run,
            f"A forecast needs a setting with {missing}, one row per commit and commits that wait, which "
            f"this run does not have. {_AGAIN}.",
        )
    nowait = among("nowait", rows=False, lone=True) if logs.grouping is not None else None
    for item in (lone, busy):
        if not _flushes_told(item, nowait) or any(sample.session_cpu_s is None for sample in item.samples):
            raise NoCostsError(
                run,
                "A forecast needs CPU times and times of log flushes, and this run lacks one of the two "
                f"(the run's report lists what was not measured). {_AGAIN} if the server is on this "
                "machine.",
            )
    return Chosen(
        lone,
        busy,
        among("wait", rows=True, lone=False) or among("wait", rows=True, lone=True),
        among("nowait", rows=True, lone=False),
        sorted(
            (
                item
                for item in plain
                if item.scenario.commit_wait == "nowait" and item.scenario.rows_per_commit == 1
            ),
            key=lambda item: item.scenario.sessions,
        ),
        sorted(
            (
                item
                for item in observed.values()
                if item.pause_s and item.scenario == Scenario(1) and item.commits and item.flushes
            ),
            key=lambda item: item.pause_s,
        ),
    )

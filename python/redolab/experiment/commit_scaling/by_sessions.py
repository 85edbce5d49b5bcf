"""A commit-scaling run by its numbers of sessions: commits, their times, and what is busy."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from redolab.analysis import time_based
from redolab.analysis.compared import Compared
from redolab.analysis.levels import Level, SessionsSoFar, sessions_so_far
from redolab.analysis.profile import by_sample, log_sync_share
from redolab.dialect.log_waits import is_log_write
from redolab.experiment.commit_scaling import growth
from redolab.experiment.commit_scaling.growth import Rates
from redolab.records.sample import Sample
from redolab.stats.estimates import Estimate, mean_estimate, ratio_estimate

Pick = Callable[[Sample], float | None]


@dataclass(frozen=True)
class Scaling:
    """A run by its numbers of sessions, in rising order."""

    names: Mapping[int, str]
    samples: Mapping[int, Sequence[Sample]]
    rates: Rates
    """Commits per second by block; the mean of two where the baseline was measured twice."""
    commit_times: Rates
    """Seconds of a session per commit, by block."""
    flush_times: Mapping[int, float]
    """Mean seconds of one flush call with the fewest sessions, by block: the time that a commit needs of the
    log."""
    log_sync_s: Mapping[int, Sequence[float | None]]
    """Per sample: the sessions' time waiting for their flush, as the wait sampler divides it."""
    log_busy: Mapping[int, Estimate]
    """Share of the time in which a process waited for the log to be written or flushed."""
    cpus_busy: Mapping[int, Estimate]
    """Share of the machine's CPU time that was used, by anybody."""
    server_cpu: Mapping[int, Estimate]
    """Share of it that the database used."""
    so_far: SessionsSoFar | None = None
    """The sessions that are enough by the evidence so far, in a run that ends as soon as they are settled."""

    @property
    def levels(self) -> tuple[Level, ...]:
        """The number that ends the run as soon as it is settled; none in a run of a number of blocks."""
        return () if self.so_far is None else (self.so_far.level,)

    def ratio(self, sessions: int, against: int) -> Estimate:
        """Throughput of `sessions` over that of `against` sessions, paired by block."""
        if self.so_far is not None:
            return self.so_far.sessions.ratio(sessions, against)
        return growth.ratio(self.rates, sessions, against)

    def enough(self, margin: float) -> Estimate:
        """The fewest sessions that bring all but `margin` of the greatest throughput."""
        return growth.enough(self.rates, margin) if self.so_far is None else self.so_far.level.estimate

    @property
    def service_s(self) -> float | None:
        """Mean time of one flush with the fewest sessions, seconds (geometric mean of the blocks)."""
        return typical(self.flush_times).point

    @property
    def wall_per_s(self) -> float | None:
        """Commits per second at which a single-server queue has no steady state any more."""
        return 1 / self.service_s if self.service_s else None


def scaling(compared: Compared) -> Scaling:
    """The samples of a run by sessions."""
    levels = {
        setting["name"]: int(setting["levels"]["sessions"]) for setting in compared.manifest["settings"]
    }
    names = {sessions: name for name, sessions in sorted(levels.items(), key=lambda item: item[1])}
    samples = {sessions: compared.samples[name] for sessions, name in names.items()}
    return Scaling(
        names=names,
        samples=samples,
        rates=_each(samples, lambda item: item.commits / item.elapsed_s),
        commit_times=_each(samples, lambda item: item.session_elapsed_s / item.commits),
        flush_times=by_block(samples[min(names)], time_based.flush_time_s),
        log_sync_s={sessions: _log_sync_s(items, compared) for sessions, items in samples.items()},
        log_busy={sessions: _log_busy(items, compared) for sessions, items in samples.items()},
        cpus_busy={sessions: _mean(items, time_based.host_cpu_share) for sessions, items in samples.items()},
        server_cpu={sessions: _mean(items, _server_cpu) for sessions, items in samples.items()},
        so_far=sessions_so_far(compared.manifest, compared.blocks["throughput_per_s"], compared.null)
        if compared.until_settled
        else None,
    )


def commits_per_flush(samples: Sequence[Sample]) -> Estimate:
    """Commits that one flush of the log served."""
    return mean_estimate(map(time_based.commits_per_flush, samples))


def _each(samples: Mapping[int, Sequence[Sample]], pick: Pick) -> Rates:
    return {sessions: by_block(items, pick) for sessions, items in samples.items()}


def by_block(samples: Sequence[Sample], pick: Pick) -> dict[int, float]:
    """Values by block; the mean of two where the baseline was measured twice."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for sample in samples:
        value = pick(sample)
        if value is not None and value > 0:
            found[sample.block].append(value)
    return {block: sum(values) / len(values) for block, values in found.items()}


def _log_busy(samples: Sequence[Sample], compared: Compared) -> Estimate:
    """Share of the time that processes were asleep in a write or flush of the log; else by the server's
    clock.

    The server's clock runs on while a process that has flushed waits for a CPU, so it is used only where the
    kernel's accounts cannot be read.
    """
    _, times = by_sample(samples, compared.seen)
    shares = [
        over(item.log_flush_time_s, item.elapsed_s)
        if row is None
        else sum(seconds for name, seconds in row.items() if is_log_write(name)) / item.elapsed_s
        for row, item in zip(times, samples, strict=True)
    ]
    return mean_estimate(shares)


def _server_cpu(sample: Sample) -> float | None:
    if sample.instance_cpu_s is None or not sample.host_cpus:
        return None
    return sample.instance_cpu_s / (sample.elapsed_s * sample.host_cpus)


def _log_sync_s(samples: Sequence[Sample], compared: Compared) -> list[float | None]:
    times, _ = by_sample(samples, compared.seen)
    shares = [
        log_sync_share(row) if sample.ticks else None for row, sample in zip(times, samples, strict=True)
    ]
    return [
        None if share is None else share * sample.session_elapsed_s
        for share, sample in zip(shares, samples, strict=True)
    ]


def typical(by_block: Mapping[int, float]) -> Estimate:
    """The geometric mean over the blocks, so that no single stall decides, with its 95 % interval."""
    return ratio_estimate(math.log(value) for value in by_block.values())


def flushes_per_s(samples: Sequence[Sample]) -> dict[int, float]:
    """Flushes of the log per second, by block."""
    return by_block(samples, lambda item: over(item.log_flushes, item.elapsed_s))


def log_sync_per_commit_s(samples: Sequence[Sample], log_sync_s: Sequence[float | None]) -> dict[int, float]:
    """Seconds of log sync per commit by block."""
    by_sample_number = {item.sample: sync for item, sync in zip(samples, log_sync_s, strict=True)}
    return by_block(samples, lambda item: over(by_sample_number[item.sample], item.commits))


def _mean(samples: Sequence[Sample], pick: Pick) -> Estimate:
    return mean_estimate(map(pick, samples))


def over(amount: float | None, by: float) -> float | None:
    """The quotient; None where the amount is not known or there is nothing to divide by."""
    return None if amount is None or not by else amount / by


def total(values: Sequence[float | None]) -> float | None:
    """The sum; None where there is no value, or one is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None

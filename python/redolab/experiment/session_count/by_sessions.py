"""A session-count run by its numbers of sessions: throughput, commit times, and where time went."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redolab.analysis.commit_times import commit_time_ms
from redolab.analysis.compared import Compared
from redolab.analysis.levels import Level, SessionsSoFar, sessions_so_far
from redolab.analysis.profile import ON_CPU, ON_CPU_OR_UNKNOWN, RUN_QUEUE, UNACCOUNTED, Times, session_times
from redolab.analysis.time_based import units_of_work
from redolab.analysis.waits import NOTHING, event_name, is_asleep, session_waits
from redolab.dialect.log_waits import is_client_wait, log_counters
from redolab.experiment.base import Levels, setting_name
from redolab.experiment.session_count import pool
from redolab.experiment.session_count.pool import TimedEvent
from redolab.records.sample import Sample
from redolab.stats.blocks import Comparison
from redolab.stats.estimates import Estimate, mean_estimate, ratio_estimate

if TYPE_CHECKING:
    from redolab.experiment.session_count.pool import Floats


@dataclass(frozen=True)
class SessionCounts:
    """A run by its numbers of sessions, in rising order."""

    compared: Compared
    names: Mapping[int, str]
    """Sessions to setting."""
    others: tuple[Levels, ...]
    """The levels of settings that another kind of server process served."""
    sessions: tuple[int, ...]
    rates: Floats
    """Logarithms of throughput: a row for each number of sessions, a column for each complete block."""
    pool: Estimate
    """The fewest sessions whose throughput is no worse than the best by more than the margin."""
    best: int | None
    """The sessions with the greatest throughput."""
    cpus: int | None
    """CPUs of the server's machine, where it is this one."""
    so_far: SessionsSoFar | None = None
    """The pool by the evidence so far, in a run that ends as soon as it is settled."""

    @property
    def levels(self) -> tuple[Level, ...]:
        """The number that ends the run as soon as it is settled; none in a run of a number of blocks."""
        return () if self.so_far is None else (self.so_far.level,)

    def samples(self, sessions: int) -> Sequence[Sample]:
        """The samples that count."""
        return self.compared.samples[self.names[sessions]]

    def times(self, sample: Sample) -> Times:
        """Where the working sessions' time went."""
        return session_times(sample, self.compared.seen.get(sample.sample, NOTHING))

    def commit_time_ms(self, sessions: int, percent: float) -> Estimate:
        """A percentile of the commit time as the client saw it."""
        return commit_time_ms(self.samples(sessions), self.compared.latency, percent)

    def ratio(self, number: int, against: int) -> Estimate:
        """Throughput with `number` sessions over that with `against`."""
        if self.so_far is not None:
            return self.so_far.sessions.ratio(number, against)
        return pool.throughput_ratio(self.sessions, self.rates, number, against)

    def against_usual(self, levels: Levels) -> Estimate:
        """Throughput of a setting with another kind of server process over that of the usual kind."""
        usual = self.names.get(int(levels["sessions"]), "")
        pair = {0: usual, 1: setting_name(levels)}
        _, rates = pool.rates_by_block(self.compared.blocks["throughput_per_s"], pair)
        return ratio_estimate(rates[1] - rates[0])

    def against_fewest(self, sessions: int) -> Comparison | None:
        """Throughput of a setting against that of the fewest sessions, by the run's own tests."""
        wanted = self.names[sessions]
        return next((item for item in self.compared.throughputs if item.setting == wanted), None)


def counted(compared: Compared) -> SessionCounts:
    """The samples of a run by sessions, and the pool they recommend."""
    every = [item["levels"] for item in compared.manifest["settings"]]
    others = tuple(levels for levels in every if "server_process" in levels)
    usual = {int(levels["sessions"]): setting_name(levels) for levels in every if levels not in others}
    names = dict(sorted(usual.items()))
    blocks = compared.blocks["throughput_per_s"]
    sessions, rates = pool.rates_by_block(blocks, names)
    so_far = sessions_so_far(compared.manifest, blocks, compared.null) if compared.until_settled else None
    cpus = {sample.host_cpus for sample in compared.good if sample.host_cpus is not None}
    return SessionCounts(
        compared=compared,
        names=names,
        others=others,
        sessions=sessions,
        rates=rates,
        pool=pool.pool_size(sessions, rates, compared.margin, compared.seed)
        if so_far is None
        else so_far.level.estimate,
        best=sessions[int(rates.mean(axis=1).argmax())] if rates.size else None,
        cpus=max(cpus, default=None),
        so_far=so_far,
    )


def client_share(samples: Iterable[Sample]) -> Estimate:
    """CPU of the client over all CPU time that the machine used; missing where they are two machines."""
    return mean_estimate(
        None if item.client_cpu_s is None or not item.host_busy_s else item.client_cpu_s / item.host_busy_s
        for item in samples
    )


def timed_events(found: SessionCounts, sessions: int) -> tuple[list[TimedEvent], float]:
    """Every timed event of a setting but the wait for the client, and the sessions' DB time, seconds."""
    looks: dict[str, int] = {}
    times: dict[str, float] = {}
    samples = found.samples(sessions)
    for sample in samples:
        for row, seconds in found.times(sample).items():
            times[row] = times.get(row, 0.0) + seconds
        for seen in session_waits(sample, found.compared.seen.get(sample.sample, NOTHING)):
            if seen.event and is_asleep(seen):
                name = event_name(seen.wait_class, seen.event)
                looks[name] = looks.get(name, 0) + seen.ticks
    for_client_s = math.fsum(times.pop(row) for row in list(filter(is_client_wait, times)))
    db_time_s = math.fsum(sample.session_elapsed_s for sample in samples) - for_client_s
    times.pop(UNACCOUNTED, None)
    events = []
    for row, seconds in times.items():
        wait_class, is_wait, event = row.partition(":")
        if not is_wait:
            title = {ON_CPU: "DB CPU", RUN_QUEUE: "run queue", ON_CPU_OR_UNKNOWN: "CPU or unknown"}
            events.append(TimedEvent(title.get(row, row), "", seconds, None))
        else:
            waits, waited_s = (_known_sum(column, samples) for column in log_counters(row) or ("", ""))
            events.append(TimedEvent(event, wait_class, seconds, waits, looks.get(row, 0), waited_s))
    return events, db_time_s


def _known_sum(column: str, samples: Sequence[Sample]) -> float | None:
    values = [getattr(sample, column) for sample in samples] if column else []
    return math.fsum(values) if values and None not in values else None


def throughput(samples: Sequence[Sample]) -> Estimate:
    """Units of work per second, the mean over the samples."""
    return mean_estimate(units_of_work(sample) / sample.elapsed_s for sample in samples)

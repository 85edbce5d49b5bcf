"""A response-curve run by its curves: the measured points, capacity, and Little's law in each sample."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from redolab.analysis.commit_times import Histogram
from redolab.analysis.compared import Compared
from redolab.analysis.statements.words import in_words
from redolab.analysis.time_based import host_cpu_share
from redolab.experiment.response_curve.plan import SHARE, curve_of, share_of
from redolab.forecast.costs.costs import Scenario, scenario_of
from redolab.forecast.costs.direct.measured import quantities
from redolab.records.load import arrival_rate_of
from redolab.records.sample import Sample
from redolab.stats.estimates import MISSING, Estimate, mean_estimate, median_estimate

SHORT_OF_CPU = 0.75
"""Share of the CPUs in use, by anybody, from which on forecasts are drawn and not judged."""
_LEFT = 0.01
"""Share of the transactions that may be left when samples end, in addition to chance."""


@dataclass(frozen=True)
class Little:
    """Little's law in one sample: what is in the system on average is arrivals per second times R."""

    sample: int
    setting: str
    present: float
    """Sessions in a statement by the server's account; by the client's, transactions that wait for a session
    and answers that it has not noticed yet.
    """
    expected: float
    """L x R by the client's account."""

    @property
    def off(self) -> float:
        """Present / expected - 1; what server and client need to hand over makes it negative."""
        return self.present / self.expected - 1


@dataclass(frozen=True)
class Point:
    """One share of capacity."""

    setting: str
    share: float
    """Share of the capacity that the pilot found, 1.0 for all of it."""
    asked_per_s: float
    steady: bool
    """Whether more can be done than is asked for, here and wherever fewer arrive; else R grows for as long as
    a sample lasts.
    """
    samples: Sequence[Sample]
    done_per_s: Estimate
    response_ms: Estimate
    """R of the median sample: one in which other programs had the machine does not carry it."""
    mean_ms: float | None
    """The mean over all transactions of all samples."""
    p95_ms: Estimate
    cpu_share: Estimate
    """Share of all CPUs' time that was used, by any process."""
    repeat: float | None
    """Factor by which two samples of the point differ in R: exp(sqrt(2) x SD of ln R)."""
    little: Sequence[Little]

    @property
    def short_of_cpu(self) -> bool:
        """Whether so much of the CPUs is in use that one sample differs from the next."""
        return self.cpu_share.point is not None and self.cpu_share.point >= SHORT_OF_CPU

    @property
    def left(self) -> float:
        """Share of what was asked for that was not begun before its sample ended."""
        return self._unserved / self._asked

    @property
    def fell_behind(self) -> bool:
        """Whether more was left than a hundredth and three standard deviations of what came."""
        return self._unserved > _LEFT * self._asked + 3 * math.sqrt(self._asked)

    @property
    def _unserved(self) -> int:
        return sum(sample.arrivals_unserved or 0 for sample in self.samples)

    @property
    def _asked(self) -> int:
        return self._unserved + sum(sample.commits for sample in self.samples)


@dataclass(frozen=True)
class Curve:
    """One curve: a pool of sessions with its rows per commit and commit mode."""

    name: str
    scenario: Scenario
    """Its sessions without a pause."""
    capacity_per_s: Estimate
    """Commits per second of these sessions, in the same blocks as the points."""
    points: Sequence[Point]
    """Points by arrivals per second; those that have samples."""

    @property
    def words(self) -> str:
        """Its setting in words."""
        return in_words(
            {
                "sessions": str(self.scenario.sessions),
                "rows_per_commit": str(self.scenario.rows_per_commit),
                "commit_wait": self.scenario.commit_wait,
            }
        )

    @property
    def steady(self) -> list[Point]:
        """The points that have a steady state."""
        return [point for point in self.points if point.steady]

    @property
    def little(self) -> list[Little]:
        """Little's law in every sample of its points."""
        return [one for point in self.points for one in point.little]


def curves(compared: Compared) -> list[Curve]:
    """The curves of a run in the order of its settings, each with at least one point."""
    levels = {item["name"]: item["levels"] for item in compared.manifest["settings"]}
    points: dict[str, list[str]] = {}
    for name, mine in levels.items():
        if SHARE in mine and compared.samples[name]:
            points.setdefault(curve_of(mine), []).append(name)
    return [
        _curve(compared, name, levels, settings)
        for name, settings in points.items()
        if compared.samples.get(name)
    ]


def little_of(
    sample: Sample, commit_times: Histogram, lags: Histogram, rows_per_commit: int
) -> Little | None:
    """Little's law in a sample; None where the server does not report its sessions' time, or the client not
    how long transactions waited for a session.

    An answer lies unnoticed for as long as the client also takes to begin what was asked for: its lag.

    Args:
        sample: with arrivals.
        commit_times: those of the sample; with a lone row they are the whole time in a session.
        lags: those of the client in the sample.
        rows_per_commit: the level of its setting.

    Source: J. D. C. Little, "A proof for the queuing formula L = λW", Operations Research 9 (1961).
    """
    if sample.database_busy_s is None or not sample.response_s:
        return None
    if rows_per_commit == 1:
        waiting_s = sample.response_s - _total_s(commit_times)
    elif not sample.arrivals_waited:
        waiting_s = _total_s(lags)
    else:
        return None
    begun = sum(lags.values())
    unnoticed_s = sample.commits * _total_s(lags) / begun if begun else 0.0
    return Little(
        sample.sample,
        sample.setting,
        (sample.database_busy_s + waiting_s + unnoticed_s) / sample.elapsed_s,
        sample.response_s / sample.elapsed_s,
    )


def response_ms_of(sample: Sample) -> float:
    """The mean R of a sample with arrivals and commits, milliseconds."""
    return 1e3 * (sample.response_s or 0.0) / sample.commits


def repeat_factor(samples: Sequence[Sample]) -> float | None:
    """Factor by which two samples differ in R, as one standard deviation: exp(sqrt(2) x SD of ln R)."""
    import numpy as np

    logs = [math.log(response_ms_of(sample)) for sample in samples]
    return None if len(logs) < 2 else float(np.exp(math.sqrt(2) * np.std(logs, ddof=1)))


def _curve(
    compared: Compared, name: str, levels: Mapping[str, Mapping[str, str]], settings: Sequence[str]
) -> Curve:
    looping = compared.samples[name]
    capacity = mean_estimate(sample.commits / sample.elapsed_s for sample in looping)
    points: list[Point] = []
    for setting in sorted(settings, key=lambda setting: arrival_rate_of(levels[setting]) or 0.0):
        point = _point(compared, setting, levels[setting])
        enough = point.asked_per_s < (capacity.point or 0.0) and not point.fell_behind
        points.append(replace(point, steady=enough and all(one.steady for one in points)))
    return Curve(name, scenario_of(levels[name], looping[0].sessions), capacity, points)


def _point(compared: Compared, setting: str, levels: Mapping[str, str]) -> Point:
    samples = compared.samples[setting]
    timed = [sample for sample in samples if sample.response_s and sample.commits]
    found = quantities(samples, compared.latency, compared.responses)
    little = (
        little_of(
            item,
            compared.latency.get(item.sample, {}),
            compared.lags.get(item.sample, {}),
            int(levels["rows_per_commit"]),
        )
        for item in samples
    )
    return Point(
        setting=setting,
        share=share_of(levels),
        asked_per_s=arrival_rate_of(levels) or 0.0,
        steady=True,
        samples=samples,
        done_per_s=found.get("throughput_per_s", MISSING),
        response_ms=median_estimate(map(response_ms_of, timed), compared.seed),
        mean_ms=found.get("response_time_ms", MISSING).point,
        p95_ms=found.get("response_time_ms_p95", MISSING),
        cpu_share=mean_estimate(map(host_cpu_share, samples)),
        repeat=repeat_factor(timed),
        little=[one for one in little if one is not None],
    )


def _total_s(times: Histogram) -> float:
    """The sum of all times of a histogram."""
    return math.fsum(upper_us * count for upper_us, count in times.items()) / 1e6

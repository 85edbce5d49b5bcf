"""The settings of a rows-per-commit run that differ in their rows per commit alone, and their times."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from redolab.analysis.compared import Compared
from redolab.analysis.statements.labels import label
from redolab.analysis.time_based import UnitOfWork, units_of_work
from redolab.experiment.rows_per_commit.saving import Times
from redolab.records.sample import Sample
from redolab.stats.estimates import Estimate, mean_estimate, ratio_estimate

PUBLISHED_ROWS = 32
"""Rows per commit that the published series names as enough."""


@dataclass(frozen=True)
class Sweep:
    """The settings that differ in their rows per commit alone."""

    label: str
    """Their other levels in words, such as `4 sessions, client loop`; empty where there are none."""
    names: Mapping[int, str]
    """Rows per commit to the setting's name, in rising order."""
    times: Times
    """Wall time over rows, seconds: with several sessions they insert at the same time."""

    @property
    def measured(self) -> bool:
        """Whether its fewest and its most rows per commit have a block in common."""
        first, last = (self.times[rows] for rows in (min(self.names), max(self.names)))
        return len(self.names) > 1 and not set(first).isdisjoint(last)


def sweeps(compared: Compared) -> tuple[Sweep, ...]:
    """The settings of a run by what they have in common; the one of the baseline first."""
    named: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for setting in compared.manifest["settings"]:
        levels = dict(setting["levels"])
        rows = int(levels.pop("rows_per_commit"))
        named[label(levels)][rows] = setting["name"]
    found = []
    for common, names in named.items():
        ordered = dict(sorted(names.items()))
        times = {rows: _block_times(compared.samples[name]) for rows, name in ordered.items()}
        found.append(Sweep(common, ordered, times))
    return tuple(sorted(found, key=lambda sweep: compared.baseline not in sweep.names.values()))


def rows_of_a_sample(compared: Compared) -> int:
    """The rows that elapsed times are stated for."""
    return int(compared.manifest["design"]["units"] or 1)


def _block_times(samples: Sequence[Sample]) -> dict[int, float]:
    """Seconds per row by block; the mean of two where the baseline was measured twice."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for sample in samples:
        found[sample.block].append(sample.elapsed_s / units_of_work(sample))
    return {block: sum(values) / len(values) for block, values in found.items()}


def typical(by_block: Mapping[int, float]) -> Estimate:
    """The geometric mean, with Student's t interval on the logarithms."""
    return ratio_estimate(math.log(seconds) for seconds in by_block.values())


def averages(items: Sequence[UnitOfWork]) -> dict[str, float | None]:
    """Arrival rate per millisecond, and service, queue and response time in ms: means over the samples."""

    def milliseconds(values: Sequence[float | None]) -> float | None:
        return mean_estimate(values).scaled(1e3).point

    return {
        "arrival_rate_per_ms": mean_estimate(item.arrival_rate for item in items).scaled(1e-3).point,
        "service_time_ms": milliseconds([item.service_time for item in items]),
        "queue_time_ms": milliseconds([item.queue_time for item in items]),
        "response_time_ms": milliseconds([item.response_time for item in items]),
    }

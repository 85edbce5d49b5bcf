"""Effect of the wait sampler on the load, from slices of each sample with it on and off."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from redolab.records.sample import OverheadRow
from redolab.stats.estimates import Estimate, ratio_estimate


@dataclass(frozen=True)
class Overhead:
    """The measured effect of the sampler on throughput."""

    ratio: Estimate
    """Throughput with the sampler on over off; no unit."""
    pairs: int
    """On/off pairs that count."""
    empty: int
    """Pairs in samples that count with a slice without a commit, so that no ratio exists."""

    @property
    def text(self) -> str:
        """The effect in words."""
        if self.ratio.point is None:
            return "The effect of sampling on throughput was not measured in this run."
        change = self.ratio.text(" %", _percent)
        left_out = f"; {self.empty} more had a slice without a commit" if self.empty else ""
        return (
            f"Sampling wait events changed throughput by {change}; the sampler was switched on and off in "
            f"turns ({self.pairs:,} on/off {'pair' if self.pairs == 1 else 'pairs'} in this run{left_out})."
        )


def overhead(rows: Iterable[OverheadRow], counting: Collection[int]) -> Overhead:
    """The ratio of throughput, on over off, with Student's t interval over the samples.

    The pairs of one sample share its setting and its moment, so each sample gives one value, the mean
    of its pairs' log ratios.

    Args:
        rows: every on/off pair of the run.
        counting: numbers of the samples that count.
    """
    logs: defaultdict[int, list[float]] = defaultdict(list)
    empty = 0
    for row in rows:
        if row.sample not in counting:
            continue
        if row.on_per_s > 0 and row.off_per_s > 0:
            logs[row.sample].append(math.log(row.on_per_s / row.off_per_s))
        else:
            empty += 1
    ratio = ratio_estimate(statistics.fmean(values) for _, values in sorted(logs.items()))
    return Overhead(ratio, sum(map(len, logs.values())), empty)


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f}".replace("-", "−")

"""The figures of a sampling-distribution run, as data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.experiment.sampling_distribution.means import Coverage, SettingMeans
from redolab.records.draw import Draw
from redolab.stats.density import density, histogram
from redolab.stats.estimates import Estimate
from redolab.stats.plus_and_minus import NORMAL_SHARE


def figures(found: Sequence[SettingMeans], covered: Sequence[Coverage], first: Draw | None) -> list[Figure]:
    """The values of the first repetition, the means of all, and the share within two standard deviations."""
    drawn = []
    if first is not None:
        values = np.asarray(first.values)
        drawn.append(
            Figure(
                "values",
                "The values of one repetition",
                f"{values.size:,} exponential values: nothing like a normal distribution.",
                Axis("value"),
                Axis("density"),
                [
                    Series("histogram", *histogram(values), style="bars"),
                    Series("smoothed", *density(values), style="line"),
                ],
            )
        )
    smoothed = [
        Series(item.setting, *density(np.concatenate(item.means)), style="line")
        for item in found
        if item.means
    ]
    if smoothed:
        drawn.append(
            Figure(
                "means",
                "The means of groups, all repetitions",
                "Smoothed histograms.",
                Axis("mean"),
                Axis("density"),
                smoothed,
            )
        )
    return [*drawn, _coverage(covered)]


def _coverage(covered: Sequence[Coverage]) -> Figure:
    counts = [float(item.count) for item in covered]
    return Figure(
        "coverage",
        "The next mean inside mean ± 2 sd of few",
        f"With many it would be {100 * NORMAL_SHARE:.1f} %.",
        Axis("means known"),
        Axis("inside", "%"),
        [
            Series("normal, exact", counts, [100 * item.normal for item in covered], style="line"),
            _simulated("means of 30 exponential", counts, [item.means_of_30 for item in covered]),
            _simulated("single exponential", counts, [item.exponential for item in covered]),
        ],
    )


def _simulated(name: str, counts: Sequence[float], shares: Sequence[Estimate]) -> Series:
    percent = [share.scaled(100) for share in shares]
    return Series(
        name,
        counts,
        [share.point for share in percent],
        [share.low for share in percent],
        [share.high for share in percent],
    )

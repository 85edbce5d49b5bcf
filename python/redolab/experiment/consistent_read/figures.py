"""The figures of a consistent-read run, as data."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.experiment.consistent_read.prices import ScanFigures
from redolab.stats.density import density
from redolab.stats.estimates import Estimate

_BINS = 40


def drawings(figures: ScanFigures) -> list[Figure]:
    """Time against versions, and the histograms of elapsed time and of buffers."""
    names = [name for name in figures.compared.names if figures.queries[name]]
    rounds = [float(name) for name in names]

    def line(title: str, values: Mapping[str, Estimate]) -> Series:
        found = [values[name] for name in names]
        return Series(
            title, rounds, [item.point for item in found], [item.low for item in found],
            [item.high for item in found],
        )  # fmt: skip

    return [
        Figure(
            "time-and-versions",
            "Time, versions and buffers against the rounds of updates",
            "Each point is a ratio to the query without updates, paired in blocks, with its 95 % interval. "
            "Where the ratio of times is below the ratio of versions, a version costs less than a row that "
            "the query sees.",
            Axis("rounds of uncommitted updates"),
            Axis("ratio to no updates"),
            [
                line(title, values)
                for title, values in (
                    ("elapsed time", figures.elapsed),
                    ("CPU", figures.cpu),
                    ("row versions", figures.versions),
                    ("buffers", figures.buffers),
                )
                if any(value.point is not None for value in values.values())
            ],
        ),
        _elapsed_histogram(figures),
        _buffers_histogram(figures),
    ]


def _elapsed_histogram(figures: ScanFigures) -> Figure:
    series = []
    for name, items in figures.queries.items():
        places, heights = density([query.elapsed_s * 1e3 for query in items])
        if places:
            series.append(Series(f"{name} rounds", places, heights, style="area"))
    return Figure(
        "elapsed-histogram",
        "Elapsed time of a query",
        "Smoothed histogram over the samples of each setting.",
        Axis("elapsed time of a query", "ms"),
        Axis("density", "1/ms"),
        series,
    )


def _buffers_histogram(figures: ScanFigures) -> Figure:
    import numpy as np

    values = {
        name: [query.buffers for query in items if query.buffers is not None]
        for name, items in figures.queries.items()
    }
    edges = np.histogram_bin_edges([value for each in values.values() for value in each] or [0.0], _BINS)
    middles = [float(place) for place in (edges[:-1] + edges[1:]) / 2]
    return Figure(
        "buffers-histogram",
        "Buffers read by a query",
        f"Bars count the samples in each of {_BINS} equal classes. Where every query reads the same pages, "
        "a setting is one bar.",
        Axis("buffers read by a query"),
        Axis("samples"),
        [
            Series(f"{name} rounds", middles, [float(n) for n in np.histogram(each, edges)[0]], style="bars")
            for name, each in values.items()
            if each
        ],
    )

"""The tables and figures of one column of numbers, as data; nothing is computed but histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.analysis.exhibits import Axis, Column, Figure, Series, Table
from redolab.stats.density import Floats, density, histogram, in_view

_MOST_DRAWN = 6
_MOST_ROWS = 20


def tables(results: Mapping[str, Any]) -> list[Table]:
    """Every table of the results; empty ones are left out."""
    shown = [
        _differences(results),
        _effects(results),
        _groups(results),
        _normality(results),
        _ranges(results),
        _means(results),
    ]
    return [table for table in shown if table.rows]


def figures(name: str, groups: Mapping[str, Floats], means: Floats) -> list[Figure]:
    """Histograms raw and smoothed: of the values, of the groups overlaid, of the means.

    Args:
        name: of the column.
        groups: the values by group.
        means: of groups, empty where there are none.
    """
    known = {group: values for group, values in groups.items() if values.size > 1}
    drawn = []
    if len(known) == 1:
        (values,) = known.values()
        drawn.append(_histogram("values", f"Values of {name}", name, values))
    elif known:
        drawn.append(_overlaid(name, known))
    if means.size > 1:
        drawn.append(_histogram("means", f"Means of groups of {name}", f"mean of {name}", means))
    return [figure for figure in drawn if figure.series]


def _histogram(key: str, title: str, axis: str, values: Floats) -> Figure:
    shown = in_view(values)
    bars, curve = histogram(shown), density(shown)
    series = []
    if bars[0]:
        series.append(Series("histogram", *bars, style="bars"))
    if curve[0]:
        series.append(Series("smoothed", *curve, style="line"))
    return Figure(
        f"{key}-histogram", title, _caption(values.size - shown.size), Axis(axis), Axis("density"), series
    )


def _overlaid(name: str, groups: Mapping[str, Floats]) -> Figure:
    series, unseen = [], 0
    for group, values in list(groups.items())[:_MOST_DRAWN]:
        shown = in_view(values)
        unseen += values.size - shown.size
        curve = density(shown)
        if curve[0]:
            series.append(Series(group, *curve, style="line"))
    more = f" The first {_MOST_DRAWN} of {len(groups)} groups." if len(groups) > _MOST_DRAWN else ""
    return Figure(
        "groups-histogram",
        f"Values of {name} by group",
        "Smoothed histograms." + more + _caption(unseen),
        Axis(name),
        Axis("density"),
        series,
    )


def _caption(unseen: int) -> str:
    return f" Extreme values outside of the figure: {unseen:,}." if unseen else ""


def _groups(results: Mapping[str, Any]) -> Table:
    columns = (
        Column("name", "Values", "text"),
        Column("count", "n", "count"),
        Column("mean", "Mean", "estimate"),
        Column("sd", "sd", "number"),
        Column("minimum", "Smallest", "number"),
        Column("median", "Median", "number"),
        Column("maximum", "Largest", "number"),
    )
    return Table("groups", "Values", columns, *_first(_rows(results["groups"], columns)), first=True)


def _normality(results: Mapping[str, Any]) -> Table:
    columns = (
        Column("of", "Normal?", "text"),
        Column("normal", "Answer", "text"),
        Column("test", "Test", "text"),
        Column("pvalue", "p", "pvalue"),
        Column("skewness", "Skewness", "number"),
        Column("distance", "Distance", "number"),
    )
    words = {True: "not rejected", False: "no", None: "not tested"}
    rows = [row | {"normal": words[row["normal"]]} for row in results["normality"]]
    shown, note = _first(_rows(rows, columns))
    text = (
        "The tests are at the 5 % level. Skewness is 0 for a normal distribution and 2 for an exponential "
        "one. Distance is the largest difference between the share of values below some value and the same "
        "share of a normal distribution."
    )
    return Table("normality", "Normality", columns, shown, f"{text} {note}".strip(), first=True)


def _ranges(results: Mapping[str, Any]) -> Table:
    columns = (
        Column("of", "Mean ± 2 sd", "text"),
        Column("low", "From", "number"),
        Column("high", "To", "number"),
        Column("inside", "Inside", "count"),
        Column("count", "of", "count"),
        Column("below", "Below", "count"),
        Column("above", "Above", "count"),
        Column("middle_low", "Middle 95 %", "number"),
        Column("middle_high", "to", "number"),
    )
    shown, note = _first(_rows(results["plus_minus"], columns))
    text = "A normal distribution has 95.4 % inside and 2.3 % on either side."
    return Table("plus-minus", "Plus and minus", columns, shown, f"{text} {note}".strip(), first=True)


def _means(results: Mapping[str, Any]) -> Table:
    means = results["means"]
    columns = (
        Column("count", "Means", "count"),
        Column("size", "of values", "count"),
        Column("prediction", "Next mean", "estimate"),
        Column("spread_ratio", "Spread ratio", "estimate"),
    )
    note = (
        "The interval of the next mean is mean ± t s √(1 + 1/k). The spread ratio compares the spread of the "
        "means with the spread that means of independent values have. Near 1, the order of the values does "
        "not matter."
    )
    rows = _rows([means], columns) if means["count"] > 1 else []
    return Table("means", "Means of groups", columns, rows, note)


def _differences(results: Mapping[str, Any]) -> Table:
    columns = (
        Column("pair", "Against", "text"),
        Column("difference", "Difference of means", "estimate"),
        Column("pvalue_adjusted", "p, adjusted", "pvalue"),
        Column("outcome", "Outcome", "text"),
    )
    shown, note = _first(_rows(_pairs(results), columns))
    return Table(
        "comparisons",
        "Groups compared",
        columns,
        shown,
        f"p is corrected for the number of comparisons (Holm). {note}".strip(),
        first=True,
    )


def _effects(results: Mapping[str, Any]) -> Table:
    columns = (
        Column("pair", "Against", "text"),
        Column("test", "Test", "text"),
        Column("hedges_g", "Hedges' g", "estimate"),
        Column("superiority", "P(above)", "share", "%"),
    )
    shown, note = _first(_rows(_pairs(results), columns))
    text = (
        "P(above): how often a value of the first group is above a value of the second; a tie counts as "
        "half. Cliff's delta is 2 P(above) - 1."
    )
    return Table("effects", "Tests, and size of the differences", columns, shown, f"{text} {note}".strip())


def _pairs(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [row | {"pair": f"{row['a']} - {row['b']}"} for row in results["comparisons"]]


def _rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> list[dict[str, Any]]:
    return [{column.key: row[column.key] for column in columns} for row in rows]


def _first(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """The rows that fit on a screen, and a note on the others."""
    if len(rows) <= _MOST_ROWS:
        return rows, ""
    # The last row may be that of the means, which answers the question.
    kept = [*rows[: _MOST_ROWS - 1], rows[-1]]
    return kept, f"{len(rows) - len(kept):,} more rows are in the JSON."

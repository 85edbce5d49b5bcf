"""Every figure of one column of numbers: `redolab analyze`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import redolab
from redolab import units
from redolab.errors import UsageError
from redolab.stats.estimates import Estimate, exact_share
from redolab.stats.groups import differences, kruskal
from redolab.stats.normality import constant, normality
from redolab.stats.paired import paired
from redolab.stats.plus_and_minus import (
    DEVIATIONS,
    NORMAL_SHARE,
    Floats,
    group_means,
    normal_coverage,
    plus_and_minus,
    prediction_interval,
)
from redolab.stats.serial import mean_error, neighbours, worth
from redolab.values.file import ValuesFile
from redolab.values.tables import figures, tables
from redolab.values.words import answer

FORMAT = 1
MOST_GROUPS = 1_000
_FEWEST_MEANS = 5
"""The file's own groups below which their means are not described: so few groups are treatments to
be compared, not a sample of groups."""
_FEWEST_FOR_MIDDLE = 40
"""Values below which their middle 95 % would be the smallest and the largest of them."""


@dataclass(frozen=True)
class _Means:
    """Means of groups of the values."""

    by: str
    """`order` of the file, or `group`."""
    means: Floats
    size: int | None
    """Values in each; None where that differs."""
    left_over: int


def analyse_values(file: ValuesFile, children: int | None = None) -> dict[str, Any]:
    """The results object of one column of numbers; plain JSON types only.

    Args:
        file: the values, and the group of each where they have groups.
        children: into how many groups of consecutive values they are cut; None for as many as
            there are values in each. Without meaning where the values have groups of their own.

    Raises:
        UsageError: so many groups cannot be made of so few values, or there are too many of them.
    """
    groups = _groups(file)
    cut = _means(file, groups, children)
    tests = {name: normality(values) for name, values in groups.items()}
    of_means = normality(cut.means) if cut.means.size > 1 else None
    compared = differences(groups, {name: test.normal for name, test in tests.items()}) if file.groups else ()
    over_all = kruskal(list(groups.values())) if file.groups else None
    results: dict[str, Any] = {
        "format": FORMAT,
        "redolab_version": redolab.__version__,
        "source": _source(file),
        "groups": [_group(name, values) for name, values in groups.items()],
        "normality": [
            *({"of": name, "kind": "values"} | test.as_json() for name, test in tests.items()),
            *([{"of": "means", "kind": "means"} | of_means.as_json()] if of_means else []),
        ],
        "plus_minus": [
            *(_range(name, "values", values) for name, values in groups.items() if values.size > 1),
            *([_range("means", "means", cut.means)] if cut.means.size > 1 else []),
        ],
        "means": _means_json(cut, file.values),
        "comparisons": [item.as_json() for item in compared],
        "paired": _paired(file),
        "neighbours": _neighbours(file),
        "kruskal_wallis": None if over_all is None else {"statistic": over_all[0], "pvalue": over_all[1]},
        "warnings": _warnings(file, groups, cut, compared),
    }
    return results | {
        "answer": answer(results),
        "tables": [table.as_json() for table in tables(results)],
        "figures": [figure.as_json() for figure in figures(file.title, groups, cut.means)],
    }


def _groups(file: ValuesFile) -> dict[str, Floats]:
    """The values by group in order of appearance; all of them under the column's name without groups."""
    if file.group_name is None:
        return {file.title: file.values}
    if len(file.groups) > MOST_GROUPS:
        raise UsageError(
            f"{file.place} has {len(file.groups):,} different values in the column {file.group_name}; up to "
            f"{MOST_GROUPS:,} groups can be compared. Name a column with fewer values in --group."
        )
    counts = np.bincount(file.member, minlength=len(file.groups))
    ordered = file.values[np.argsort(file.member, kind="stable")]
    return dict(zip(file.groups, np.split(ordered, np.cumsum(counts)[:-1]), strict=True))


def _means(file: ValuesFile, groups: Mapping[str, Floats], children: int | None) -> _Means:
    if file.group_name is not None:
        known = [values for values in groups.values() if values.size]
        means = np.array([values.mean() for values in known] if len(known) >= _FEWEST_MEANS else [])
        sizes = {values.size for values in known}
        return _Means("group", means, sizes.pop() if len(sizes) == 1 else None, 0)
    count = file.values.size
    if not file.ordered:
        if children is not None:
            raise UsageError(
                f"--children cuts values in their order, and {file.place} does not keep the order: it is "
                f"{file.format}."
            )
        return _Means("order", np.array([]), None, 0)
    if children is not None and not 2 <= children <= count // 2:
        raise UsageError(
            f"--children is {children}; {count:,} values can be cut into at least 2 and at most "
            f"{count // 2:,} groups of two values or more."
        )
    means, size = group_means(file.values, children)
    return _Means("order", means, size, count - means.size * size)


def _source(file: ValuesFile) -> dict[str, Any]:
    return {
        "file": file.place,
        "value": file.name,
        "against": file.against,
        "group": file.group_name,
        "separator": file.separator,
        "decimal_point": file.decimal_point,
        "format": file.format,
        "encoding": file.encoding,
        "unit": file.unit,
        "header": file.header,
        "rows": file.rows,
        "values": int(file.values.size),
        "missing": file.missing,
        "not_finite": file.not_finite,
        "no_group": file.no_group,
    }


def _group(name: str, values: Floats) -> dict[str, Any]:
    if not values.size:
        nothing = dict.fromkeys(("sd", "minimum", "lower_quartile", "median", "upper_quartile", "maximum"))
        return {"name": name, "count": 0, "mean": Estimate(None, None, None).as_json(), **nothing}
    quarters = np.percentile(values, [0, 25, 50, 75, 100])
    names = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
    return {
        "name": name,
        "count": int(values.size),
        "mean": _mean(values).as_json(),
        "sd": float(values.std(ddof=1)) if values.size > 1 else None,
        **{key: float(value) for key, value in zip(names, quarters, strict=True)},
    }


def _paired(file: ValuesFile) -> dict[str, Any] | None:
    """All differences of the two columns together, tested against none."""
    if file.against is None:
        return None
    return paired(file.values, normality(file.values).normal).as_json() | {
        "mean": _mean(file.values).as_json()
    }


def _neighbours(file: ValuesFile) -> dict[str, Any] | None:
    """How much values that follow each other in time are alike, and what that makes of their mean."""
    if not file.in_time or file.group_name is not None:
        return None
    point, error = float(file.values.mean()), mean_error(file.values)
    half = None if error is None else error.half_width()
    mean = Estimate(point, None, None) if half is None else Estimate(point, point - half, point + half)
    return {
        "correlation": neighbours(file.values),
        "worth": worth(file.values),
        "mean": mean.as_json(),
    }


def _mean(values: Floats, level: float = 0.95) -> Estimate:
    """The mean with Student's t interval; a single value does not have an interval."""
    from scipy import stats

    point = float(values.mean())
    if values.size < 2:
        return Estimate(point, None, None, level)
    if constant(values):
        return Estimate(point, point, point, level)
    scale = float(values.std(ddof=1)) / math.sqrt(values.size)
    low, high = stats.t.interval(level, values.size - 1, loc=point, scale=scale)
    return Estimate(point, float(low), float(high), level)


def _range(of: str, kind: str, values: Floats) -> dict[str, Any]:
    """Mean plus and minus two standard deviations, the share of values inside, and the middle 95 %."""
    reach = plus_and_minus(values)
    middle = np.percentile(values, [2.5, 97.5]) if values.size >= _FEWEST_FOR_MIDDLE else (None, None)
    return {
        "of": of,
        "kind": kind,
        "count": reach.count,
        "mean": reach.mean,
        "sd": reach.standard_deviation,
        "deviations": DEVIATIONS,
        "low": reach.low,
        "high": reach.high,
        "inside": reach.inside,
        "below": int((values < reach.low).sum()),
        "above": int((values > reach.high).sum()),
        "share": exact_share(reach.inside, reach.count).as_json(),
        "normal_share": NORMAL_SHARE,
        "middle_low": None if middle[0] is None else float(middle[0]),
        "middle_high": None if middle[1] is None else float(middle[1]),
    }


def _means_json(cut: _Means, values: Floats) -> dict[str, Any]:
    count = int(cut.means.size)
    return {
        "by": cut.by,
        "count": count,
        "size": cut.size,
        "left_over": cut.left_over,
        "values": [float(mean) for mean in cut.means],
        "spread_ratio": _spread_ratio(cut, values).as_json(),
        "prediction": prediction_interval(cut.means).as_json(),
        "two_sd_coverage": normal_coverage(count) if count > 1 else None,
    }


def _spread_ratio(cut: _Means, values: Floats) -> Estimate:
    """The spread of the means over that of means of independent values, sd / sqrt(size).

    Near 1 where values next to each other are as different as any others. Above 1 where they are alike,
    so that their groups differ more than by chance. The interval assumes that the means are normal.

    Source: SciPy, `scipy.stats.chi2`.
    """
    from scipy import stats

    if cut.by != "order" or cut.size is None or cut.means.size < 2 or constant(values):
        return Estimate(None, None, None)
    free = cut.means.size - 1
    ratio = float(cut.means.std(ddof=1)) / (float(values.std(ddof=1)) / math.sqrt(cut.size))
    return Estimate(
        ratio,
        ratio * math.sqrt(free / float(stats.chi2.ppf(0.975, free))),
        ratio * math.sqrt(free / float(stats.chi2.ppf(0.025, free))),
    )


def _warnings(
    file: ValuesFile, groups: Mapping[str, Floats], cut: _Means, compared: Sequence[object]
) -> list[str]:
    said = list(file.notes)
    if not file.header:
        said.append(
            f"The first line holds numbers, so Redolab read it as values and called the column {file.name}."
        )
    if file.decimal_point == ",":
        said.append("The commas between digits were read as decimal points.")
    for count, what in (
        (file.missing, "without a value"),
        (file.not_finite, "with an infinite value"),
        (file.no_group, "without a group"),
    ):
        if count:
            said.append(f"Redolab left out {count:,} of {file.rows:,} rows {what}.")
    if cut.left_over and cut.means.size:
        said.append(
            f"The last {cut.left_over:,} values do not fill a group of {cut.size:,}, so no mean includes "
            "them."
        )
    if file.group_name is None and file.ordered and not cut.means.size:
        said.append(f"{file.values.size:,} values are too few to be cut into groups: four are needed.")
    if file.group_name is not None:
        said += _about_groups(groups, compared)
    return said


def _about_groups(groups: Mapping[str, Floats], compared: Sequence[object]) -> list[str]:
    said = []
    empty = [name for name, values in groups.items() if not values.size]
    single = [name for name, values in groups.items() if values.size == 1]
    usable = len(groups) - len(empty) - len(single)
    if empty:
        said.append(f"Groups without any value: {units.some(empty, 10)}.")
    if single:
        said.append(
            f"A single value has no spread, so these groups are not compared: {units.some(single, 10)}."
        )
    if usable < 2:
        said.append("Fewer than two groups have at least two values, so no groups are compared.")
    elif not compared:
        said.append(
            f"{usable:,} groups are too many to be compared pair by pair; only the test over all groups was "
            "made."
        )
    return said

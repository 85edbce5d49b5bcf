"""The percentiles that an HdrHistogram prints (`.hgrm`): one line for each step of them."""

from __future__ import annotations

import re

import numpy as np

from redolab.errors import UsageError
from redolab.units import significant
from redolab.values.content import Content
from redolab.values.formats.counts import expanded
from redolab.values.formats.sheet import Sheet

_HEAD = re.compile(r'\s*"?Value"?[\s,]+"?Percentile"?[\s,]+"?TotalCount"?.*')
_STEP = re.compile(
    r"\s*(-?\d+(?:\.\d+)?)[\s,]+([01](?:\.\d+)?)[\s,]+(\d{1,18})(?:[\s,]+(?:\d+\.\d+|inf|Infinity))?\s*"
)
_SAID = re.compile(r"(Mean|StdDeviation|Max|Total count|SubBuckets)\s*=\s*(\d{1,18}(?:\.\d{1,9})?)")


def read_hgrm(content: Content, head: str) -> Sheet | None:
    """The values, each as often as it was counted between two steps; None for a file in another format.

    Raises:
        UsageError: it has no steps, they go down, or they end before its last value.
    """
    if not any(_HEAD.fullmatch(line) for line in head.splitlines()[:20]):
        return None
    values: list[float] = []
    totals: list[int] = []
    said: dict[str, float] = {}
    for number, line in enumerate(content.lines(), 1):
        if step := _STEP.fullmatch(line):
            values.append(float(step[1]))
            totals.append(int(step[3]))
            if len(totals) > 1 and (totals[-1] < totals[-2] or values[-1] < values[-2]):
                raise UsageError(
                    f"{content.place}, line {number:,}: its value or its count is lower than in the line "
                    "before. In a percentile file both only rise."
                )
        elif line.strip().startswith("#["):
            said |= {name: float(figure) for name, figure in _SAID.findall(line)}
        elif line.strip() and not _HEAD.fullmatch(line) and values and not said:
            raise UsageError(f"{content.place}, line {number:,}: {line[:60]!r} is not a step of percentiles.")
    if not totals:
        raise UsageError(
            f"{content.place} has the head of a percentile file of HdrHistogram but no lines of percentiles."
        )
    if said.get("Total count", totals[-1]) != totals[-1]:
        raise UsageError(
            f"{content.place} has {totals[-1]:,} values up to its last step, but its own total count is "
            f"{said['Total count']:,.0f}. The file is not whole."
        )
    return expanded(
        content.place,
        "a percentile file of HdrHistogram",
        np.array(values),
        [after - before for before, after in zip([0, *totals], totals, strict=False)],
        None,
        (_exactness(values, totals), *_own(said)),
    )


def _exactness(values: list[float], totals: list[int]) -> str:
    """How far apart the steps are."""
    steps = [after - before for before, after in zip([0, *totals], totals, strict=False)]
    widest = max(steps) / totals[-1]
    return (
        f"A percentile file has no single values. Each of its {len(values):,} steps holds up to {widest:.1%} "
        "of the values, and each value was read as the upper end of its step, in the unit of the file. So "
        "the mean is too large, and the smallest value is the upper end of the first step. Percentiles and "
        "the largest value are right."
    )


def _own(said: dict[str, float]) -> list[str]:
    """Its own mean, which it computed from finer buckets."""
    if "Mean" not in said:
        return []
    spread = f", standard deviation {significant(said['StdDeviation'])}" if "StdDeviation" in said else ""
    return [f"The file's own figures are more exact: mean {significant(said['Mean'])}{spread}."]

"""The fewest that are enough, where more bring little more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from redolab.stats.estimates import Estimate


def fewest_enough(values: Mapping[int, float], part: float) -> int:
    """The least number whose value is at least `part` of the greatest value.

    Raises:
        ValueError: there are no values.
    """
    line = part * max(values.values())
    return min(number for number, value in values.items() if value >= line)


def fewest_enough_interval(
    point: float, numbers: Sequence[int], values: Sequence[Estimate], line: float = 0.0
) -> Estimate:
    """The fewest that are enough, with every measured number that cannot be ruled out on its side.

    Args:
        point: the fewest that are enough.
        numbers: measured numbers in rising order; the last is enough.
        values: the value of each number.
        line: the value that is enough.

    Returns:
        The low end is the first number that is not surely short. The high end is the first from which on all
        are surely enough. Both are missing where any of `values` has no interval.
    """
    ends = [(item.low, item.high) for item in values]
    known = [(low, high) for low, high in ends if low is not None and high is not None]
    if len(known) < len(ends):
        return Estimate(float(point), None, None)
    low = next((n for n, (_, high) in zip(numbers, known, strict=True) if high >= line), numbers[-1])
    short = [place for place, (low_end, _) in enumerate(known[:-1]) if low_end < line]
    return Estimate(float(point), float(low), float(numbers[short[-1] + 1 if short else 0]))

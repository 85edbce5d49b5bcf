"""Units in the cells of a column, such as `3.4 ms`."""

from __future__ import annotations

import math

from redolab.values.reading.numbers import CellsSeen, TwoReadingsError

_NANOSECONDS = {
    1: "ns nsec",
    10**3: "us µs μs usec",
    10**6: "ms msec",
    10**9: "s sec secs second seconds",
    60 * 10**9: "min mins minute minutes",
    3600 * 10**9: "h hr hour hours",
    86_400 * 10**9: "day days",
}
_BYTES = {1: "B byte bytes", 2**10: "KiB", 2**20: "MiB", 2**30: "GiB", 2**40: "TiB"}
_KINDS = tuple(
    {name: size for size, names in kind.items() for name in names.split()} for kind in (_NANOSECONDS, _BYTES)
)


def unit_of(column: CellsSeen) -> str | None:
    """The unit of a column's numbers: the most frequent one; None where no cell has a unit.

    Raises:
        TwoReadingsError: some cells have a unit and others do not, or their units are not of one kind.
    """
    units = [unit for unit, _ in column.units.most_common()]
    if not any(units):
        return None
    if "" in units:
        raise TwoReadingsError(
            f"has numbers with the unit {next(filter(None, units))} and others without a unit. Write the "
            "unit in all its cells, or in none of them."
        )
    first = units[0]
    for other in units[1:]:
        if factor(other, first) is None:
            raise TwoReadingsError(
                f"has the units {first} and {other}, which Redolab cannot convert into each other. Write all "
                "its numbers in one unit."
            )
    return first


def factor(unit: str, into: str) -> tuple[int, int] | None:
    """By what to multiply and divide a number in one unit to have it in another; None if not of one kind."""
    if unit == into:
        return 1, 1
    for kind in _KINDS:
        if unit in kind and into in kind:
            common = math.gcd(kind[unit], kind[into])
            return kind[unit] // common, kind[into] // common
    return None

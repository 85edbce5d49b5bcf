"""Time per row over rows per commit: a + b/n^c, from three measured points.

A commit that costs the same whatever it holds would give c = 1. The published series falls more
slowly. Through its times at 1, 4 and 32 rows per commit goes the curve with c = 0.84. It misses the 13 others
by 1.4 % on average and 2.5 % at the most (at 16). With c = 1, nearest to these three, one is missed by
3.1 %; the same form for rows per time in place of time per row misses by 6.7 %. Time per commit is the same
curve times n.

Source: Craig Shallahamer, OraPub, "Altering insert commit batch size", part 1, 28 May 2010, for the series;
the form is Redolab's own choice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

_STEEPEST = 20.0
"""A power beyond which a second row per commit would bring the whole saving, to a millionth."""
_LARGEST = 700.0
"""Largest number whose exponential fits into a float."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Decay:
    """a + b/n^c: seconds per row at n rows per commit."""

    floor: float
    """a, the time that remains however many rows share a commit, seconds."""
    commit: float
    """b, the cost of one commit beyond that, seconds."""
    power: float
    """c; 1 where a commit costs the same whatever it holds."""

    def at(self, rows: float) -> float:
        """Seconds per row at so many rows per commit."""
        return self.floor + self.commit / math.pow(rows, self.power)

    def fewest_rows(self, share: float) -> int:
        """The fewest rows per commit that collect `share` of what any number of them can save against one:
        the least whole n with 1 - 1/n^c >= share.

        Raises:
            ValueError: a share below 0, or of 1 and more, which no number collects.
        """
        if not 0 <= share < 1:
            raise ValueError(f"the share is {share:g}; it must be at least 0 and below 1")
        return math.ceil(math.pow(1 - share, -1 / self.power) * (1 - _ROUNDING))


def decay_through(times: Mapping[int, float]) -> Decay:
    """The curve a + b/n^c through three points, by Brent's method.

    With p and q the logarithms of the steps in rows, c solves (e^(cp) - 1)/(1 - e^(-cq)) = first drop in time
    over the second; a and b follow.

    Args:
        times: rows per commit to seconds per row.

    Raises:
        ValueError: not three points, times that do not fall, or that fall so evenly that no such curve passes
            through them and stays above 0.
    """
    from scipy.optimize import brentq

    if len(times) != 3 or min(times) < 1:
        raise ValueError(
            f"{len(times)} points; the curve goes through three, each of at least 1 row per commit"
        )
    (few, slow), (some, middle), (many, fast) = sorted(times.items())
    if not slow > middle > fast > 0:
        raise ValueError(
            f"seconds per row are {slow:g}, {middle:g} and {fast:g}; each must be below the one before"
        )
    first, second = math.log(some / few), math.log(many / some)
    drops = (slow - middle) / (middle - fast)

    def error(power: float) -> float:
        return math.expm1(power * first) / -math.expm1(-power * second) - drops

    steepest = min(_STEEPEST, _LARGEST / first)
    if error(_ROUNDING) >= 0 or error(steepest) <= 0:
        raise ValueError(
            f"from {few} to {some} rows per commit the time falls {drops:.3g} times as much as from {some} "
            f"to {many}; no curve a + b/n^c does that"
        )
    power = float(brentq(error, _ROUNDING, steepest, xtol=1e-14))
    commit = (slow - middle) / (few**-power - some**-power)
    floor = slow - commit * few**-power
    if floor <= 0:
        raise ValueError("the curve through these times falls below 0")
    return Decay(floor, commit, power)

"""The fewest that are enough, in a run that ends as soon as it knows enough.

Their interval must hold however often one looks. It is read from confidence sequences of the log ratios of
pairs of numbers within blocks (`redolab.stats.evidence`). No shape of the curve over the numbers is assumed.
What is assumed is what the sequences assume: a pair's log ratio is symmetric about its true value. The random
order within a block makes it so where both numbers have the same noise.

The low end is wrong only where the right number itself was ruled out, and the high end only where a number
below it was found enough. Each has a chance of at most 2.5 %. Against the best: by Bonferroni over the other
numbers, so that it does not matter which of them is the best. Against the last: because the numbers are
tested in their order from the last downwards, so that the first error is always made at the same number.

Source: W. Maurer, L. Hothorn, W. Lehmacher 1995, and P. Westfall, A. Krishen, J. Statist. Plann. Inference
99, 2001 (tests in a fixed order); R. L. Berger, Technometrics 24, 1982 (enough against every other).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from redolab.stats.blocks import ALPHA, BlockValues, rows_of
from redolab.stats.enough import fewest_enough_interval
from redolab.stats.estimates import MISSING, Estimate, ratio_of
from redolab.stats.evidence import shift_interval
from redolab.stats.sequential import blocks_to_find, pair_differences

Floats = npt.NDArray[np.float64]
_OF_WHOLE = 0.4 * ALPHA
"""Part of the error that the whole saving may have; each number has the rest."""
_MOST_LOG = 700.0
"""About the logarithm of the greatest number."""


@dataclass(frozen=True)
class NumbersSoFar:
    """Measured numbers, such as sessions, compared with one another by the evidence so far."""

    blocks: BlockValues
    """Logarithms of throughput."""
    names: Mapping[int, str]
    """The setting of each number."""
    reach: float = 0.0
    """Log ratio by which every interval is widened, to either side (`sequential.allowance`)."""
    _known: dict[tuple[int, int, float], tuple[float, float]] = field(default_factory=dict, repr=False)

    @property
    def numbers(self) -> list[int]:
        """The numbers in rising order."""
        return sorted(self.names)

    def ratio(self, number: int, other: int, level: float = 1 - ALPHA) -> Estimate:
        """Throughput with a number over that with another."""
        logs, turned = self._pair(number, other)
        if logs is None:
            return replace(MISSING, level=level)
        low, high = self._ends(number, other, level)
        point = float(np.median(logs.mean(axis=0))) * (-1 if turned else 1)
        if not math.isfinite(high - low):
            return ratio_of(Estimate(point, None, None, level))
        return ratio_of(_inside(Estimate(point, low, high, level)))

    def gain(self) -> Estimate:
        """Throughput with the most over that with the fewest, at the level at which `of_saving` tests it."""
        return self.ratio(self.numbers[-1], self.numbers[0], 1 - _OF_WHOLE)

    def near_best(self, margin: float) -> Estimate:
        """The fewest whose throughput is at most `margin` below that of the best.

        A number is surely short where any other is surely better by more than the margin, and surely enough
        where no other can be. The point is by the geometric means over the complete blocks, and inside the
        interval, whose high end is the first number that is surely enough, or the last.
        """
        numbers, line = self.numbers, math.log1p(-margin)
        means = self._means()
        if not means or len(numbers) < 2:
            return MISSING
        point = next(number for number in numbers if means[number] >= max(means.values()) + line)
        level = 1 - ALPHA / (len(numbers) - 1)
        worst = [
            _least(self._ends(one, other, level) for other in numbers if other != one) for one in numbers
        ]
        enough = next((place for place, (low, _) in enumerate(worst) if low >= line), len(numbers) - 1)
        values = [Estimate(None, low, high) for low, high in worst[: enough + 1]]
        return _inside(fewest_enough_interval(point, numbers[: enough + 1], values, line))

    def blocks_to_settle(self, margin: float) -> int | None:
        """About how many further blocks leave at most two neighbours in the interval of `near_best`.

        None where that is not known, or where nothing is open.
        """
        line, means = math.log1p(-margin), self._means()
        contrasts = []
        for number in self._open(self.near_best(margin)) if means else ():
            over = [
                (number, other, means[number] - means[other] - line)
                for other in self.numbers
                if other != number
            ]
            worst = min(over, key=lambda contrast: contrast[2])
            # A number that is short is so against its worst rival, one that is enough against all.
            contrasts.append([worst] if worst[2] < 0 else over)
        return self._to_go(contrasts, ALPHA / max(len(self.numbers) - 1, 1))

    def blocks_to_collect(self, share: float, point: float) -> int | None:
        """About how many further blocks do so with the interval of a share in `of_saving`.

        Args:
            share: of the saving.
            point: the fewest that collect it, by the means.
        """
        means, last = self._means(), self.numbers[-1]
        if not means:
            return None
        line = math.log(share + (1 - share) * math.exp(means[last] - means[self.numbers[0]]))
        contrasts = [
            [(last, number, line - means[last] + means[number])]
            for number in self._open(self.of_saving({share: point})[share])
        ]
        return self._to_go(contrasts, ALPHA - _OF_WHOLE)

    def of_saving(self, points: Mapping[float, float]) -> dict[float, Estimate]:
        """The fewest that collect each share of the time that the most save against the fewest.

        With h the time of a number and r that of the fewest, both over that of the most, the number collects
        the share s where h is at most s + (1 - s) r. Both ratios have a confidence sequence.

        Args:
            points: share to the fewest that collect it, by the means.

        Returns:
            An estimate for each share, its point brought inside; missing where no saving was shown.
        """
        numbers = self.numbers
        least, most = self._ends(numbers[-1], numbers[0], 1 - _OF_WHOLE)
        if not least > 0:
            return dict.fromkeys(points, MISSING)
        times = [self._ends(numbers[-1], number, 1 - ALPHA + _OF_WHOLE) for number in numbers]
        found = {}
        for share, point in points.items():
            lines = [math.log(share + (1 - share) * math.exp(min(end, _MOST_LOG))) for end in (least, most)]
            values = [Estimate(None, lines[0] - high, lines[1] - low) for low, high in times]
            found[share] = _inside(fewest_enough_interval(point, numbers, values))
        return found

    def saving(self, point: float | None) -> Estimate:
        """The saving of the most against the fewest, as a share of the time of the fewest."""
        low, high = self._ends(self.numbers[-1], self.numbers[0], 1 - ALPHA)
        if point is None or not math.isfinite(high - low):
            return Estimate(point, None, None)
        return _inside(Estimate(point, -math.expm1(-low), -math.expm1(-high)))

    def collected(self, number: int, point: float | None) -> Estimate:
        """The share of that saving that a number brings: (r - h) / (r - 1)."""
        numbers = self.numbers
        least, most = self._ends(numbers[-1], numbers[0], 1 - _OF_WHOLE)
        low, high = self._ends(numbers[-1], number, 1 - ALPHA + _OF_WHOLE)
        if point is None or not least > 0 or not math.isfinite(most - least + high - low):
            return Estimate(point, None, None)
        if number in (numbers[0], numbers[-1]):
            return Estimate(point, point, point)
        ends = [
            (math.exp(whole) - math.exp(time)) / math.expm1(whole)
            for whole in (least, most)
            for time in (low, high)
        ]
        return _inside(Estimate(point, min(ends), max(ends)))

    def _open(self, enough: Estimate) -> list[int]:
        """The numbers of an interval that are neither surely short nor surely enough."""
        if enough.low is None or enough.high is None:
            return []
        return [number for number in self.numbers if enough.low <= number < enough.high]

    def _to_go(self, contrasts: Sequence[Sequence[tuple[int, int, float]]], alpha: float) -> int | None:
        """The most blocks that any open number needs; of three numbers or more one may stay open.

        Args:
            contrasts: for each open number, pairs with their distance from the line.
            alpha: level of the pairs' tests.
        """
        needed = []
        for each in contrasts:
            blocks = []
            for number, other, distance in each:
                logs, _ = self._pair(number, other)
                if logs is None:
                    return None
                blocks.append(blocks_to_find(logs, abs(distance), alpha))
            needed.append(max(blocks))
        left = len(self.numbers) > 2
        return sorted(needed)[-1 - left] if len(needed) > left else None

    def _means(self) -> dict[int, float]:
        """The mean logarithm of each number over the blocks that have all."""
        rows = []
        for _, values in sorted(self.blocks.items()):
            mine = {
                number: [value for (setting, _), value in values.items() if setting == name]
                for number, name in self.names.items()
            }
            if all(mine.values()):
                rows.append({number: math.fsum(each) / len(each) for number, each in mine.items()})
        return {number: math.fsum(row[number] for row in rows) / len(rows) for number in self.names if rows}

    def _pair(self, number: int, other: int) -> tuple[Floats | None, bool]:
        """The differences of a pair, and whether they are those of the other less the number.

        A run measures its baseline twice in a block, and that pair is always the reference.
        """
        setting, reference = self.names[number], self.names[other]
        turned = not any((setting, "treatment") in values for values in self.blocks.values())
        first, second = (reference, setting) if turned else (setting, reference)
        return pair_differences(rows_of(self.blocks, first, second)[0]), turned

    def _ends(self, number: int, other: int, level: float) -> tuple[float, float]:
        """The interval of the logarithm of a ratio; unbounded where nothing is ruled out."""
        if number == other:
            return 0.0, 0.0
        if (other, number, level) in self._known:
            low, high = self._known[other, number, level]
            return -high, -low
        if (number, other, level) not in self._known:
            self._known[number, other, level] = self._computed(number, other, level)
        return self._known[number, other, level]

    def _computed(self, number: int, other: int, level: float) -> tuple[float, float]:
        logs, turned = self._pair(number, other)
        found = MISSING if logs is None else shift_interval(logs, level)
        if found.low is None or found.high is None:
            return -math.inf, math.inf
        low, high = found.low - self.reach, found.high + self.reach
        return (-high, -low) if turned else (low, high)


def _least(ends: Iterable[tuple[float, float]]) -> tuple[float, float]:
    lows, highs = zip(*ends, strict=True)
    return min(lows), min(highs)


def _inside(found: Estimate) -> Estimate:
    """The estimate with its point inside its interval."""
    if found.point is None or found.low is None or found.high is None:
        return found
    return replace(found, point=min(max(found.point, found.low), found.high))

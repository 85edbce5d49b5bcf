"""The fewest that are enough, by evidence that may be looked at after every block."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import pytest

from redolab.stats.blocks import BlockValues
from redolab.stats.levels import NumbersSoFar

NAMES = {number: str(number) for number in (1, 2, 5, 10, 20)}
"""Numbers of sessions; that of 1 is the baseline."""
ROWS = {2**power: str(2**power) for power in range(0, 16, 3)}


def blocks_of(rates: Mapping[int, float], blocks: int, noise: float = 0.0, seed: int = 1) -> BlockValues:
    """Logarithms of such rates, the first of them measured twice, with normal noise."""
    rng, first = random.Random(seed), min(rates)
    found: dict[int, dict[tuple[str, str], float]] = {}
    for block in range(1, blocks + 1):
        roles = [(first, "baseline_a"), (first, "baseline_b")]
        roles += [(number, "treatment") for number in rates if number != first]
        found[block] = {
            (str(number), role): math.log(rates[number]) + rng.gauss(0, noise) for number, role in roles
        }
    return found


def near_best(*rates: float, blocks: int = 12, noise: float = 0.01) -> tuple[float | None, ...]:
    found = NumbersSoFar(blocks_of(dict(zip(NAMES, rates, strict=True)), blocks, noise), NAMES)
    enough = found.near_best(0.05)
    return enough.low, enough.point, enough.high


def test_nothing_is_ruled_out_before_there_is_evidence() -> None:
    assert near_best(1, 2, 4, 8, 16, blocks=4, noise=0.0) == (1, 20, 20)
    assert NumbersSoFar({}, NAMES).near_best(0.05).point is None


@pytest.mark.parametrize(
    ("rates", "enough"),
    [
        ((1, 2, 4, 8, 16), 20),
        ((1, 2, 4, 4, 4), 5),
        ((1, 1, 1, 1, 1), 1),
        ((10, 8, 6, 4, 2), 1),
        ((1, 2, 4, 3, 1), 5),
        # The last is short by just the margin, so that it is neither: it must not keep the others open.
        ((1, 2, 4, 4.1, 3.895), 5),
        ((3, 1, 3, 1, 1), 1),
    ],
    ids=["grows", "plateau", "flat", "falls", "rises and falls", "ambiguous end", "two tops"],
)
def test_the_right_number_is_found_whatever_the_curve(rates: tuple[float, ...], enough: int) -> None:
    assert near_best(*rates, noise=0.002) == (enough, enough, enough)


def test_a_number_at_the_line_leaves_two() -> None:
    low, point, high = near_best(1, 2, 0.95 * 4, 4, 4, blocks=30)
    assert (low, high) == (5, 10)
    assert point in (low, high)


def test_an_odd_baseline_widens_the_interval() -> None:
    blocks = blocks_of(dict(zip(NAMES, (1, 1.5, 1.62, 1.62, 1.62), strict=True)), 12, 0.002)
    sure, doubted, lost = (NumbersSoFar(blocks, NAMES, reach).near_best(0.05) for reach in (0, 0.1, math.inf))
    assert (sure.low, sure.high) == (5, 5)
    assert (doubted.low, doubted.high) == (2, 20)
    assert (lost.low, lost.high) == (1, 20)


def test_a_ratio_is_the_same_turned_round() -> None:
    blocks = blocks_of(dict(zip(NAMES, (1, 2, 4, 4, 4), strict=True)), 12, 0.05)
    found = NumbersSoFar(blocks, NAMES)
    there, back = found.ratio(5, 1), found.ratio(1, 5)
    assert there.low is not None
    assert there.low < 4 < (there.high or 0)
    assert [back.point, back.low, back.high] == pytest.approx(
        [1 / (there.point or 0), 1 / (there.high or 0), 1 / there.low]
    )


def of_rows(commit: float, blocks: int, noise: float) -> NumbersSoFar:
    rates = {rows: 1 / (1 + commit / rows) for rows in ROWS}
    return NumbersSoFar(blocks_of(rates, blocks, noise), ROWS)


def test_the_fewest_of_a_saving() -> None:
    """A commit costs as much as 20 rows: 8 rows of 32,768 bring 87.5 % of the saving, 64 bring 98.4 %."""
    found = of_rows(20, 12, 0.002).of_saving({0.9: 64.0, 0.99: 512.0})
    assert [(item.low, item.point, item.high) for item in found.values()] == [(64, 64, 64), (512, 512, 512)]
    few = of_rows(20, 5, 0.002).of_saving({0.9: 64.0})[0.9]
    assert (few.point, few.low, few.high) == (None, None, None)
    noisy = of_rows(20, 12, 0.3).of_saving({0.99: 512.0})[0.99]
    assert noisy.low is not None
    assert noisy.low < 512 < (noisy.high or 0)


def test_where_a_commit_costs_nothing_no_number_is_named() -> None:
    found = of_rows(0, 30, 0.02)
    assert found.of_saving({0.9: 1.0})[0.9].point is None
    assert 0.95 < (found.gain().low or 0) < 1 < (found.gain().high or 2) < 1.05


def test_saving_and_share_hold_the_truth() -> None:
    found = of_rows(20, 15, 0.05)
    r, h = 21 / (1 + 20 / 32768), (1 + 20 / 8) / (1 + 20 / 32768)
    saved, share = found.saving(0.95), found.collected(8, 0.87)
    assert (saved.low or 1) < 1 - 1 / r < (saved.high or 0)
    assert (share.low or 1) < (r - h) / (r - 1) < (share.high or 0)
    assert [found.collected(number, 1.0).low for number in (1, 32768)] == [1.0, 1.0]
    assert of_rows(20, 3, 0.05).saving(0.95).low is None


def test_the_blocks_to_go_are_about_those_that_it_takes() -> None:
    rates = dict(zip(NAMES, (1, 1.8, 3, 3, 3), strict=True))
    blocks = blocks_of(rates, 45, 0.05, seed=3)

    def after(last: int) -> NumbersSoFar:
        return NumbersSoFar({block: values for block, values in blocks.items() if block <= last}, NAMES)

    def is_settled(last: int) -> bool:
        found = after(last).near_best(0.05)
        return (found.low, found.high) in ((5, 5), (2, 5), (5, 10))

    needed = after(10).blocks_to_settle(0.05)
    assert needed is not None
    assert not is_settled(10)
    assert is_settled(10 + 3 * needed)
    assert after(45).blocks_to_settle(0.05) is None
    assert NumbersSoFar({}, NAMES).blocks_to_settle(0.05) is None


def test_more_noise_takes_more_blocks_to_collect_a_share() -> None:
    few, many = (of_rows(20, 12, noise).blocks_to_collect(0.99, 512.0) for noise in (0.15, 0.3))
    assert few is not None
    assert many is not None
    assert 1 <= few < many
    assert of_rows(20, 12, 0.002).blocks_to_collect(0.99, 512.0) is None
    assert NumbersSoFar({}, ROWS).blocks_to_collect(0.99, 512.0) is None

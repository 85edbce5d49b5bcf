from __future__ import annotations

import math
import random

import pytest

from redolab.stats.shifts import level_shifts


def series(seed: int, *levels: tuple[int, float], spread: float = 0.02) -> list[float]:
    """Values around each level in turn, so many of each."""
    rng = random.Random(seed)
    return [level * math.exp(spread * rng.gauss(0, 1)) for count, level in levels for _ in range(count)]


def test_one_shift_its_place_and_its_levels() -> None:
    (shift,) = level_shifts(series(1, (25, 1.7), (15, 1.0)), least_ratio=1.1, alpha=0.01)
    assert shift.place == 25
    assert shift.before / shift.after == pytest.approx(1.7, rel=0.03)
    # 999 shuffled orders, none of which differs as much.
    assert shift.pvalue == pytest.approx(0.001)


def test_a_time_in_between_is_two_shifts() -> None:
    shifts = level_shifts(series(2, (20, 1.0), (20, 1.5), (20, 1.0)), least_ratio=1.1, alpha=0.01)
    assert [shift.place for shift in shifts] == [20, 40]
    assert [shift.after / shift.before for shift in shifts] == [
        pytest.approx(1.5, rel=0.03), pytest.approx(1 / 1.5, rel=0.03)
    ]  # fmt: skip


def test_small_shifts_are_left_out_and_large_ones_beside_them_stay() -> None:
    assert level_shifts(series(3, (30, 1.0), (30, 1.05), spread=0.005), least_ratio=1.1, alpha=0.01) == ()
    both = series(4, (20, 1.0), (20, 1.05), (20, 2.0), spread=0.005)
    (shift,) = level_shifts(both, least_ratio=1.1, alpha=0.01)
    assert shift.place == 40
    assert len(level_shifts(both, least_ratio=1.01, alpha=0.01)) == 2


def test_without_a_shift_one_series_in_a_hundred_has_one() -> None:
    found = sum(
        bool(level_shifts(series(seed, (24, 1.0)), least_ratio=1.0001, alpha=0.01)) for seed in range(200)
    )
    # 2 are expected, and more than 7 in one of a thousand such tests.
    assert found <= 7


def test_single_values_far_away_are_no_shift() -> None:
    values = series(5, (40, 1.0))
    for place in (7, 20, 39):
        values[place] *= 30
    assert level_shifts(values, least_ratio=1.1, alpha=0.01) == ()


def test_few_or_equal_values_are_not_cut() -> None:
    assert level_shifts(series(6, (3, 1.0), (4, 9.0)), least_ratio=1.1, alpha=0.5) == ()
    assert level_shifts([1.0] * 50, least_ratio=1.1, alpha=0.5) == ()
    assert level_shifts([], least_ratio=1.1, alpha=0.5) == ()


def test_the_same_values_give_the_same_shifts() -> None:
    values = series(7, (12, 1.0), (12, 1.2))
    first, again = (level_shifts(values, least_ratio=1.1, alpha=0.01) for _ in range(2))
    assert first
    assert first == again

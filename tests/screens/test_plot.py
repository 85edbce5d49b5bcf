"""The small plot of a sweep in the terminal."""

from __future__ import annotations

import pytest

from redolab.report.screen.plot import MARK, POINT, STROKE, SweepPoint, plotted
from redolab.report.screen.sweep import run_plot
from tests.report.fixtures import stored

RATES = (10.0, 20.0, 38.0, 40.0)
SWEEP = [SweepPoint(str(2**n), rate, 0.8 * rate, 1.2 * rate) for n, rate in enumerate(RATES)]


def drawn(width: int = 78, marked: int | None = 2) -> list[str]:
    return plotted(SWEEP, "Commits per s over sessions", width, marked, "95 % of the best")


@pytest.mark.parametrize("width", [40, 78, 120])
def test_it_fits(width: int) -> None:
    lines = drawn(width)
    assert 1 < len(lines) <= 12
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_points_are_as_high_as_their_values_and_stand_over_their_labels() -> None:
    lines = drawn()
    heights = [next(n for n, line in enumerate(lines) if line[at : at + 1] == POINT) for at in columns(lines)]
    assert heights == sorted(heights, reverse=True)
    # Of 60 at the top, 10 stand a sixth of the seven steps above the axis.
    assert [8 - height for height in heights] == [1, 2, 4, 5]
    assert [lines[10][at] for at in columns(lines)] == ["1", "2", "4", "8"]
    assert lines[1].startswith(" 60")
    assert STROKE in lines[2]


def test_the_mark_stands_below_its_level() -> None:
    lines = drawn()
    assert lines[-1].index(MARK) == columns(lines)[2]
    assert not any(MARK in line for line in drawn(marked=None))


def test_what_has_no_value_leaves_its_place_empty() -> None:
    lines = plotted([*SWEEP, SweepPoint("16", None, None, None)], "t", 78, None, "")
    assert sum(line.count(POINT) for line in lines) == 4
    assert lines[-1].split() == ["1", "2", "4", "8", "16"]


@pytest.mark.parametrize("points", [SWEEP[:2], [SweepPoint(str(n), 0.0, None, None) for n in range(5)]])
def test_what_a_table_says_as_well_is_not_drawn(points: list[SweepPoint]) -> None:
    assert plotted(points, "t", 78, None, "") == []


def test_too_many_levels_are_not_drawn() -> None:
    assert plotted([SweepPoint(str(n), 1.0, None, None) for n in range(100)], "t", 78, None, "") == []


def columns(lines: list[str]) -> list[int]:
    return [at for at in range(max(map(len, lines))) if any(line[at : at + 1] == POINT for line in lines)]


def test_labels_that_would_touch_are_thinned_out_and_never_cut() -> None:
    points = [SweepPoint(str(2**power), 1.0 + power, None, None) for power in range(16)]
    lines = plotted(points, "t", 78, None, "")
    assert lines[-1].split() == [str(2**power) for power in range(0, 16, 2)]
    assert max(map(len, lines)) <= 78
    # Each stands below its point: the first at the left end, the lowest one.
    assert lines[-1].index("1") == next(line for line in reversed(lines) if POINT in line).index(POINT)


def test_settings_that_differ_in_one_number_are_plotted() -> None:
    lines = run_plot(stored("wide"), 80)
    assert lines[0] == "Rows per s over rows per commit"
    assert sum(line.count(POINT) for line in lines) == 16
    assert lines[-1].endswith("95 % of the best")


@pytest.mark.parametrize("name", ["log_bound", "bare"])
def test_other_settings_are_not(name: str) -> None:
    assert run_plot(stored(name), 80) == []

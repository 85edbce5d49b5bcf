"""How long the samples of a run are that ends when everything is decided, and what may be asked of it."""

from __future__ import annotations

import pytest

from redolab.errors import UsageError
from redolab.experiment import find_experiment
from redolab.experiment.base import Wish
from redolab.experiment.schedule import FIRST_S, LONGEST_S, WARMUP_S, lengths

COMMIT_MODE = find_experiment("commit-mode")


def test_the_first_blocks_are_short_and_later_ones_longer() -> None:
    found = lengths(900.0, 5, None)
    assert found[:9] == (FIRST_S,) * 9
    assert found[9:18] == (2 * FIRST_S,) * 9
    assert list(found) == sorted(found)
    assert max(found) == LONGEST_S


@pytest.mark.parametrize("at_most_s", [1.0, 30.0, 120.0, 900.0])
@pytest.mark.parametrize("seconds", [None, 0.2, 5.0])
def test_they_fit_the_time_and_one_more_would_not(at_most_s: float, seconds: float | None) -> None:
    found = lengths(at_most_s, 3, seconds)
    used_s = 3 * (sum(found) + WARMUP_S * len(found))
    assert used_s <= at_most_s or len(found) == 1
    assert used_s + 3 * (max(found) * 2 + WARMUP_S) > at_most_s
    assert seconds is None or set(found) == {seconds}


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_no_length_is_refused(seconds: float) -> None:
    with pytest.raises(UsageError, match="--seconds is "):
        COMMIT_MODE.plan(Wish(quick=True, seconds=seconds))


def test_a_great_difference_of_four_settings_takes_twenty_seconds_of_load() -> None:
    design = COMMIT_MODE.plan(Wish(quick=True)).design
    assert sum(design.block_time(block) for block in range(1, 9)) == pytest.approx(20)
    assert design.load_time() <= 120


@pytest.mark.parametrize(
    ("wish", "at_most_s"),
    [
        (Wish(quick=True), 120),
        (Wish(), 900),
        (Wish(at_most_s=60), 60),
        (Wish(until_settled=True), 86_400),
        (Wish(full=True), None),
        (Wish(blocks=6), None),
        (Wish(quick=True, blocks=6), None),
    ],
)
def test_when_a_run_ends(wish: Wish, at_most_s: float | None) -> None:
    design = COMMIT_MODE.plan(wish).design
    assert design.at_most_s == at_most_s
    assert design.until_settled == (at_most_s is not None)


def test_the_published_design_is_the_full_one() -> None:
    design = COMMIT_MODE.plan(Wish(full=True)).design
    assert (design.blocks, design.seconds, design.warmup_s, design.lengths) == (32, 90, 10, ())


@pytest.mark.parametrize(
    ("name", "wish", "said"),
    [
        ("response-curve", Wish(at_most_s=60), "takes no --at-most"),
        ("response-curve", Wish(until_settled=True), "takes no --until-settled"),
        ("commit-mode", Wish(at_most_s=60, until_settled=True), "leave --at-most out"),
        ("commit-mode", Wish(at_most_s=60, blocks=3), "--blocks measures a fixed number"),
        ("commit-mode", Wish(until_settled=True, full=True), "--full measures a fixed number"),
    ],
)
def test_what_cannot_be_asked_together(name: str, wish: Wish, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        find_experiment(name).plan(wish)

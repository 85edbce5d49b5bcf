"""Do the intervals of `redolab analyze` hold what they say, and its comparisons their 5 %? Fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from redolab.stats.groups import differences
from redolab.stats.normality import normality
from redolab.stats.plus_and_minus import (
    Parent,
    normal_coverage,
    plus_and_minus,
    prediction_interval,
    simulated_coverage,
)

TRIALS = 4_000


def holds(share: float, level: float, trials: int = TRIALS) -> bool:
    """Whether so many hits are what chance gives in 999 of 1,000 such simulations."""
    low, high = stats.binom.interval(0.999, trials, level)
    return bool(low <= round(share * trials) <= high)


@pytest.mark.parametrize("known", [2, 5, 30])
def test_the_prediction_interval_of_normal_means_covers_its_level(known: int) -> None:
    means = np.random.default_rng(known).normal(7, 3, (TRIALS, known + 1))
    hits = 0
    for *few, following in means.tolist():
        found = prediction_interval(few, 0.9)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= following <= found.high
    assert holds(hits / TRIALS, 0.9)


def test_the_prediction_interval_of_means_of_exponential_values() -> None:
    means = np.random.default_rng(1).exponential(5, (TRIALS, 6, 30)).mean(axis=2)
    hits = 0
    for *few, following in means.tolist():
        found = prediction_interval(few, 0.9)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= following <= found.high
    assert hits / TRIALS == pytest.approx(0.9, abs=0.015)


@pytest.mark.parametrize(("parent", "size"), [("normal", 1), ("exponential", 30), ("exponential", 1)])
def test_two_deviations_of_five_means_hold_86_of_100_and_not_90(parent: Parent, size: int) -> None:
    hits, trials = simulated_coverage(5, size, parent, 100_000, seed=2)
    assert hits / trials == pytest.approx(0.86, abs=0.005)
    low, high = stats.binomtest(hits, trials).proportion_ci(0.999)
    assert high < 0.9
    if parent == "normal":
        assert low < normal_coverage(5) < high


def test_the_shortcut_by_gamma_variables_draws_what_single_values_do() -> None:
    rng = np.random.default_rng(3)
    means = rng.exponential(1, (20_000, 4, 5)).mean(axis=2)
    hits = sum(
        found.low <= following <= found.high
        for *few, following in means.tolist()
        for found in [plus_and_minus(few)]
    )
    shortcut, trials = simulated_coverage(3, 5, "exponential", 20_000, seed=4)
    assert hits / 20_000 == pytest.approx(shortcut / trials, abs=0.015)


@pytest.mark.parametrize("shape", ["normal", "exponential"])
def test_equal_groups_are_called_different_no_oftener_than_5_in_100(shape: str) -> None:
    rng = np.random.default_rng(5)
    runs, found = 300, 0
    for _ in range(runs):
        values = rng.normal(5, 1, (3, 9)) if shape == "normal" else rng.exponential(5, (3, 9))
        groups = {str(number): row for number, row in enumerate(values)}
        normal = {name: normality(row).normal for name, row in groups.items()}
        found += any(item.outcome != "undecided" for item in differences(groups, normal))
    # Three pairs and Holm: a family of tests that together may err once in twenty.
    assert stats.binomtest(found, runs, 0.05, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize("shape", ["normal", "exponential"])
def test_the_bootstrap_interval_of_a_difference_covers_it(shape: str) -> None:
    rng = np.random.default_rng(6)
    runs, hits = 150, 0
    for _ in range(runs):
        first = rng.normal(7, 2, 40) if shape == "normal" else rng.exponential(7, 40)
        second = rng.normal(5, 2, 40) if shape == "normal" else rng.exponential(5, 40)
        (item,) = differences({"b": second, "a": first}, {"a": False, "b": False})
        assert item.interval == "bootstrap"
        assert item.difference.low is not None
        assert item.difference.high is not None
        hits += item.difference.low <= 2 <= item.difference.high
    assert hits / runs == pytest.approx(0.95, abs=0.05)

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from redolab.stats.groups import differences, kruskal
from redolab.stats.normality import normality
from redolab.stats.plus_and_minus import Floats

RNG = np.random.default_rng(1)


def normal_of(groups: dict[str, Floats]) -> dict[str, bool | None]:
    return {name: normality(values).normal for name, values in groups.items()}


def test_normal_groups_are_compared_by_welch() -> None:
    groups = {"a": RNG.normal(10, 1, 40), "b": RNG.normal(12, 2, 60)}
    (found,) = differences(groups, {"a": True, "b": True})
    assert (found.a, found.b, found.test, found.outcome) == ("b", "a", "Welch t", "higher")
    assert found.pvalue == pytest.approx(
        float(stats.ttest_ind(groups["b"], groups["a"], equal_var=False).pvalue)
    )
    assert found.difference.point == pytest.approx(groups["b"].mean() - groups["a"].mean())


def test_other_groups_by_ranks_and_the_effects_are_of_the_same_ranks() -> None:
    groups = {"a": RNG.exponential(1, 50), "b": RNG.exponential(4, 50)}
    (found,) = differences(groups, normal_of(groups))
    test = stats.mannwhitneyu(groups["b"], groups["a"])
    assert found.test == "Mann-Whitney"
    assert found.pvalue == pytest.approx(float(test.pvalue))
    assert found.superiority.point == pytest.approx(float(test.statistic) / 2500)
    assert found.cliffs_delta.point == pytest.approx(2 * float(test.statistic) / 2500 - 1)
    assert found.cliffs_delta.low is not None
    assert found.superiority.low is not None
    assert found.cliffs_delta.low == pytest.approx(2 * found.superiority.low - 1)


def test_hedges_g_worked_out_by_hand() -> None:
    groups = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([3.0, 4.0, 5.0])}
    (found,) = differences(groups, normal_of(groups))
    # A difference of 2 over a pooled deviation of 1, times 1 - 3 / (4 * 4 - 1).
    assert found.hedges_g.point == pytest.approx(2 * (1 - 3 / 15))


def test_every_pair_of_few_groups_and_the_first_of_many() -> None:
    few = {str(number): RNG.normal(size=12) for number in range(4)}
    assert [(item.a, item.b) for item in differences(few, normal_of(few))] == [
        ("1", "0"), ("2", "0"), ("3", "0"), ("2", "1"), ("3", "1"), ("3", "2"),
    ]  # fmt: skip
    many = {str(number): RNG.normal(size=12) for number in range(7)}
    assert {item.b for item in differences(many, normal_of(many))} == {"0"}
    too_many = {str(number): RNG.normal(size=12) for number in range(51)}
    assert differences(too_many, normal_of(too_many)) == ()


def test_holm_over_the_pairs() -> None:
    groups = {name: RNG.normal(mean, 1, 30) for name, mean in (("a", 0), ("b", 0.4), ("c", 2))}
    found = differences(groups, normal_of(groups))
    smallest = min(found, key=lambda item: item.pvalue or 1)
    assert smallest.pvalue_adjusted == pytest.approx(3 * (smallest.pvalue or 0))
    assert all((item.pvalue_adjusted or 0) >= (item.pvalue or 0) for item in found)


def test_equal_values_differ_in_nothing() -> None:
    groups = {"a": np.full(5, 2.0), "b": np.full(9, 2.0)}
    (found,) = differences(groups, normal_of(groups))
    assert (found.pvalue, found.outcome, found.difference.point) == (None, "undecided", 0)
    assert kruskal(list(groups.values())) is None


def test_groups_without_overlap_have_a_superiority_without_interval() -> None:
    groups = {"a": np.full(9, 1.0), "b": np.full(9, 2.0)}
    (found,) = differences(groups, normal_of(groups))
    assert (found.superiority.point, found.superiority.low) == (1.0, None)
    assert (found.outcome, found.interval) == ("higher", "none")


def test_a_group_of_one_value_is_left_out() -> None:
    groups = {"a": np.array([1.0]), "b": RNG.normal(size=9), "c": np.empty(0), "d": RNG.normal(size=9)}
    assert [(item.a, item.b) for item in differences(groups, normal_of(groups))] == [("d", "b")]


@pytest.mark.parametrize(
    ("count", "how"), [(9, "Welch"), (10, "bootstrap"), (2_000, "bootstrap"), (2_001, "Welch")]
)
def test_how_the_interval_is_made(count: int, how: str) -> None:
    groups = {"a": RNG.normal(size=count), "b": RNG.normal(size=count)}
    found = differences(groups, normal_of(groups))
    again = differences(groups, normal_of(groups))
    assert found[0].interval == how
    assert found == again

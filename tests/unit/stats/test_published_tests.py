from __future__ import annotations

import random

import pytest

from redolab.stats.published_tests import normality_pvalue, published_tests


def normal(seed: int, shift: float = 0.0) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(10 + shift, 1) for _ in range(30)]


def skewed(seed: int) -> list[float]:
    rng = random.Random(seed)
    return [rng.expovariate(0.1) for _ in range(30)]


def test_normal_pairs_take_t_and_others_a_rank_test() -> None:
    found = published_tests({"a": normal(1), "b": normal(2, 5), "c": skewed(3)}, "a")
    assert [(item.a, item.b, item.test) for item in found] == [
        ("b", "a", "t"),
        ("c", "a", "Mann-Whitney"),
        (None, None, "Kruskal-Wallis"),
    ]
    assert found[0].pvalue == pytest.approx(0, abs=1e-10)
    assert found[0].as_json()["normality_test"] == "Shapiro-Wilk"


def test_few_or_equal_values_have_no_pvalue() -> None:
    assert normality_pvalue([1.0, 2.0]) is None
    assert normality_pvalue([1.0] * 9) is None
    found = published_tests({"a": [1.0, 1.0], "b": [1.0, 1.0], "c": []}, "a")
    assert [item.pvalue for item in found] == [1.0, None, None]
    assert published_tests({}, "a")[0].pvalue is None

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from redolab.stats.normality import LARGE_TEST, MOST_FOR_SHAPIRO, normality
from redolab.stats.published_tests import NORMALITY_TEST


def test_an_exponential_distribution_is_not_normal() -> None:
    values = np.random.default_rng(1).exponential(5, 900)
    found = normality(values)
    assert found.test == NORMALITY_TEST
    assert found.normal is False
    assert found.pvalue == pytest.approx(float(stats.shapiro(values).pvalue), rel=1e-6)
    # Exactly 2 and 1 - exp(-1) - Phi(0) at its mean, 0.132, but for the sample.
    assert found.skewness == pytest.approx(2, abs=0.4)
    assert found.distance == pytest.approx(
        stats.kstest(values, stats.norm(values.mean(), values.std(ddof=1)).cdf).statistic
    )


@pytest.mark.parametrize(
    ("count", "test"), [(MOST_FOR_SHAPIRO, NORMALITY_TEST), (MOST_FOR_SHAPIRO + 1, LARGE_TEST)]
)
def test_the_test_changes_where_shapiro_wilk_no_longer_holds(count: int, test: str) -> None:
    found = normality(np.random.default_rng(2).normal(3, 2, count))
    assert (found.count, found.test, found.normal) == (count, test, True)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [3.0] * 10, [1e15, 1e15 + 1, 1e15] * 5])
def test_nothing_to_test(values: list[float]) -> None:
    found = normality(np.array(values))
    assert (found.pvalue, found.normal, found.skewness) == (None, None, None)


def test_a_far_offset_changes_nothing() -> None:
    values = np.random.default_rng(3).normal(size=200)
    near, far = normality(values), normality(values + 1e6)
    assert far.pvalue == pytest.approx(near.pvalue or 0, rel=1e-5)
    assert far.skewness == pytest.approx(near.skewness or 0, rel=1e-5)

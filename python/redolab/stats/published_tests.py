"""The tests of the published experiments, in addition to the run's own. They treat samples as independent.
Under drift or autocorrelation they call equal settings different far more often than 5 %
(docs/explanation/method.md): read them for comparison with the literature.

Source: Craig Shallahamer, OraPub, "Speed Sometimes Means Changing The Rules" (2012) and others: a
normality test first, then a t-test, or a rank test where it fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab.stats.estimates import finite

NORMALITY_TEST = "Shapiro-Wilk"
ALPHA = 0.05


@dataclass(frozen=True)
class PublishedTest:
    """One published test; `a` and `b` are None for the test over all settings."""

    a: str | None
    b: str | None
    normal_a_pvalue: float | None
    normal_b_pvalue: float | None
    test: str
    pvalue: float | None

    def as_json(self) -> dict[str, Any]:
        """The test as the results object has it."""
        return {
            "a": self.a,
            "b": self.b,
            "normality_test": NORMALITY_TEST,
            "normal_a_pvalue": self.normal_a_pvalue,
            "normal_b_pvalue": self.normal_b_pvalue,
            "test": self.test,
            "pvalue": self.pvalue,
        }


def published_tests(values: Mapping[str, Sequence[float]], baseline: str) -> tuple[PublishedTest, ...]:
    """Every setting against the baseline, then all together.

    A pair is tested by Welch's t when both are normal (Shapiro-Wilk, p > 0.05), else by
    Mann-Whitney; all together by Kruskal-Wallis.

    Source: SciPy, `shapiro`, `ttest_ind`, `mannwhitneyu`, `kruskal`.
    """
    normal = {name: normality_pvalue(data) for name, data in values.items()}
    pairs = [
        _pair(name, baseline, data, values.get(baseline, ()), normal)
        for name, data in values.items()
        if name != baseline
    ]
    return (*pairs, PublishedTest(None, None, None, None, "Kruskal-Wallis", _kruskal(values)))


def normality_pvalue(values: Sequence[float]) -> float | None:
    """p-value of Shapiro-Wilk; values with p above 0.05 count as normal.

    None for fewer than three values, or equal ones.
    """
    from scipy import stats

    if len(values) < 3 or min(values) == max(values):
        return None
    return finite(float(stats.shapiro(values).pvalue))


def _pair(
    name: str,
    baseline: str,
    data: Sequence[float],
    reference: Sequence[float],
    normal: Mapping[str, float | None],
) -> PublishedTest:
    from scipy import stats

    first, second = normal[name], normal.get(baseline)
    both_normal = first is not None and second is not None and min(first, second) > ALPHA
    test = "t" if both_normal else "Mann-Whitney"
    pvalue = None
    if len(data) > 1 and len(reference) > 1:
        if both_normal:
            pvalue = finite(float(stats.ttest_ind(data, reference, equal_var=False).pvalue))
        else:
            pvalue = finite(float(stats.mannwhitneyu(data, reference).pvalue))
    return PublishedTest(name, baseline, first, second, test, pvalue)


def _kruskal(values: Mapping[str, Sequence[float]]) -> float | None:
    from scipy import stats

    groups = [data for data in values.values() if len(data) > 1]
    together = [value for data in groups for value in data]
    if len(groups) < 2 or min(together) == max(together):
        return None
    return finite(float(stats.kruskal(*groups).pvalue))

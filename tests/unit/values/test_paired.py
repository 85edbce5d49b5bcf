"""Two columns of the same rows: do they differ?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from redolab.stats.paired import NORMAL_TEST, RANK_TEST, paired
from redolab.values.figures import analyse_values
from redolab.values.file import read_values


def analysed(place: Path, ours: list[float], theirs: list[float]) -> dict[str, Any]:
    path = place / "file.csv"
    rows = [f"{a!r},{b!r}" for a, b in zip(ours, theirs, strict=True)]
    path.write_text("\n".join(["a,b", *rows]) + "\n")
    return analyse_values(read_values(str(path), "a", against="b"))


def test_the_tests_are_those_of_scipy() -> None:
    values = np.random.default_rng(4).normal(0.3, 1.0, 40)
    assert paired(values, normal=True).pvalue == pytest.approx(
        stats.ttest_rel(values + 5, np.full(40, 5.0)).pvalue
    )
    assert paired(values, normal=False).pvalue == stats.wilcoxon(values).pvalue
    assert [paired(values, normal=item).test for item in (True, None, False)] == [
        NORMAL_TEST, NORMAL_TEST, RANK_TEST,
    ]  # fmt: skip


def test_no_difference_is_rejected_as_seldom_as_it_should_be() -> None:
    draws = np.random.default_rng(6).normal(0.0, 1.0, (2_000, 15))
    found = sum(paired(draw, normal=True).differ is True for draw in draws)
    # 5 % of 2,000, within four standard deviations.
    assert 61 <= found <= 139


def test_a_shift_is_found_though_the_rows_vary_more(tmp_path: Path) -> None:
    random = np.random.default_rng(8)
    theirs = random.uniform(0.1, 0.9, 30)
    ours = theirs + random.normal(0.03, 0.01, 30)
    results = analysed(tmp_path, ours.tolist(), theirs.tolist())
    assert results["paired"]["differ"] is True
    assert results["paired"]["mean"]["low"] < 0.03 < results["paired"]["mean"]["high"]
    assert results["answer"][0].startswith("a is above b by 0.0")
    turned = analysed(tmp_path, theirs.tolist(), ours.tolist())
    assert turned["answer"][0] == results["answer"][0].replace("a is above b", "a is below b")


def test_equal_columns_are_not_shown_to_differ(tmp_path: Path) -> None:
    random = np.random.default_rng(8)
    theirs = random.uniform(0.1, 0.9, 30)
    results = analysed(tmp_path, (theirs + random.normal(0.0, 0.01, 30)).tolist(), theirs.tolist())
    assert results["paired"]["differ"] is False
    assert results["answer"][0].startswith("a and b do not differ significantly (paired t, p = ")


def test_the_same_difference_in_every_row_needs_no_test(tmp_path: Path) -> None:
    results = analysed(tmp_path, [3.0, 4.0, 5.0], [1.0, 2.0, 3.0])
    assert (results["paired"]["pvalue"], results["paired"]["differ"]) == (None, None)
    assert results["answer"][0] == "a and b: their difference is 2.00 in every row."

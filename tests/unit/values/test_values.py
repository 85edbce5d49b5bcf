from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redolab.errors import UsageError
from redolab.values.figures import analyse_values
from redolab.values.file import read_values


def analysed(
    tmp_path: Path, rows: list[str], group: str | None = None, children: int | None = None
) -> dict[str, Any]:
    path = tmp_path / "file.csv"
    path.write_text("\n".join(rows) + "\n")
    results = analyse_values(read_values(str(path), "ms", group), children)
    json.dumps(results, allow_nan=False)
    return results


def rows_of(seed: int, count: int) -> list[str]:
    return ["ms", *(repr(value) for value in np.random.default_rng(seed).exponential(5, count).tolist())]


def exponential(seed: int = 1, count: int = 900) -> list[float]:
    return [float(value) for value in np.random.default_rng(seed).exponential(5, count)]


def test_the_published_demonstration(tmp_path: Path) -> None:
    # A seed whose means pass: those of about one in ten do not.
    results = analysed(tmp_path, rows_of(3, 900))
    values, means = results["normality"]
    assert (values["kind"], values["normal"]) == ("values", False)
    assert (means["kind"], means["count"], means["normal"]) == ("means", 30, True)
    of_values, of_means = results["plus_minus"]
    # Mean - 2 sd of an exponential distribution lies below zero, so everything outside is above.
    assert of_values["low"] < 0 == of_values["below"]
    assert of_values["above"] == 900 - of_values["inside"]
    assert of_values["share"]["low"] < of_values["inside"] / 900 < of_values["share"]["high"]
    assert of_means["inside"] >= 27
    assert (results["means"]["count"], results["means"]["size"]) == (30, 30)
    assert results["means"]["spread_ratio"]["low"] < 1 < results["means"]["spread_ratio"]["high"]
    assert "The values are not normally distributed" in results["answer"][0]
    assert any("A normal distribution has 95.4 %" in text for text in results["answer"])
    assert [figure["key"] for figure in results["figures"]] == ["values-histogram", "means-histogram"]


def test_the_figures_of_a_small_file_worked_out_by_hand(tmp_path: Path) -> None:
    results = analysed(tmp_path, ["ms", "1", "3", "5", "7", "100"], children=2)
    (group,) = results["groups"]
    assert (group["count"], group["mean"]["point"], group["median"]) == (5, 23.2, 5)
    assert results["means"]["values"] == [2, 6]
    assert results["means"]["left_over"] == 1
    assert results["plus_minus"][1]["mean"] == 4
    assert results["plus_minus"][1]["sd"] == pytest.approx(8**0.5)
    assert "The last 1 values" in " ".join(results["warnings"])


def test_values_that_follow_each_other_and_are_alike_are_noticed(tmp_path: Path) -> None:
    walk = np.repeat(np.random.default_rng(2).normal(10, 2, 30), 30)
    rows = ["ms", *(repr(float(value)) for value in walk + np.random.default_rng(3).normal(0, 0.1, 900))]
    results = analysed(tmp_path, rows)
    assert results["means"]["spread_ratio"]["low"] > 2
    assert "the order of the values matters" in results["answer"][-1]


def test_groups_are_compared(tmp_path: Path) -> None:
    rows = ["ms,mode"]
    rows += [f"{value},wait" for value in exponential(1, 200)]
    rows += [f"{value / 3},nowait" for value in exponential(2, 200)]
    results = analysed(tmp_path, rows, "mode")
    (pair,) = results["comparisons"]
    assert (pair["a"], pair["b"], pair["test"], pair["outcome"]) == (
        "nowait",
        "wait",
        "Mann-Whitney",
        "lower",
    )
    assert pair["difference"]["low"] < pair["difference"]["point"] < pair["difference"]["high"] < 0
    assert results["kruskal_wallis"]["pvalue"] < 0.001
    assert "1 of 1 pairs differ" in results["answer"][0]
    assert "Not normal: wait, nowait" in results["answer"][1]
    # Two groups are treatments, no sample of groups.
    assert results["means"]["count"] == 0
    assert [table["key"] for table in results["tables"]][:2] == ["comparisons", "effects"]


def test_five_groups_and_more_have_means_of_their_own(tmp_path: Path) -> None:
    rows = ["ms,day", *(f"{value},{place % 5}" for place, value in enumerate(exponential(4, 100)))]
    results = analysed(tmp_path, rows, "day")
    assert (results["means"]["by"], results["means"]["count"], results["means"]["size"]) == ("group", 5, 20)
    assert results["means"]["two_sd_coverage"] == pytest.approx(0.858, abs=0.001)
    assert "a further group like these" in results["answer"][-1]


def test_equal_groups_are_not_called_equal(tmp_path: Path) -> None:
    rows = ["ms,g", *(f"{value},{place % 2}" for place, value in enumerate(exponential(5, 60)))]
    results = analysed(tmp_path, rows, "g")
    assert results["comparisons"][0]["outcome"] == "undecided"
    assert "not prove that the groups are equal" in results["answer"][1]


@pytest.mark.parametrize("values", [["5"], ["5", "5"], ["5"] * 8, ["0"] * 8, ["1", "2"], ["-1", "1", "0"]])
def test_few_or_equal_values_have_an_answer(tmp_path: Path, values: list[str]) -> None:
    results = analysed(tmp_path, ["ms", *values])
    assert results["groups"][0]["count"] == len(values)
    if len(set(values)) == 1 and len(values) > 1:
        assert "All values are equal" in results["answer"][0]
        assert results["plus_minus"][0]["sd"] == 0
    if len(values) == 1:
        assert "A single value has no spread" in results["answer"][0]
        assert results["plus_minus"] == []


def test_odd_groups_are_named(tmp_path: Path) -> None:
    rows = ["ms,g", "1,one", ",none", "1,many", "2,many", "4,many", "2,more", "3,more"]
    results = analysed(tmp_path, rows, "g")
    said = " ".join(results["warnings"])
    assert "Groups without any value: none." in said
    assert "are not compared: one." in said
    assert [group["count"] for group in results["groups"]] == [1, 0, 3, 2]
    assert [(pair["a"], pair["b"]) for pair in results["comparisons"]] == [("more", "many")]


def test_one_group_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    results = analysed(tmp_path, ["ms,g", "1,a", "2,a", "3,a"], "g")
    assert results["answer"][0].endswith("there is nothing to compare.")


@pytest.mark.parametrize("children", [-1, 0, 1, 6, 10**9])
def test_children_that_cannot_be_cut(tmp_path: Path, children: int) -> None:
    with pytest.raises(UsageError, match=f"--children is {children}; 10 values .* at least 2 and at most 5"):
        analysed(tmp_path, rows_of(1, 10), children=children)


def test_too_many_groups(tmp_path: Path) -> None:
    rows = ["ms,g", *(f"{number},{number}" for number in range(1_001))]
    with pytest.raises(UsageError, match="1,001 different values in the column g; up to 1,000"):
        analysed(tmp_path, rows, "g")


def test_an_outlier_does_not_press_the_histogram_into_one_bar(tmp_path: Path) -> None:
    results = analysed(tmp_path, [*rows_of(6, 999), "1e9"])
    figure = results["figures"][0]
    assert "Extreme values outside of the figure: 1" in figure["caption"]
    (bars,) = [series for series in figure["series"] if series["style"] == "bars"]
    assert sum(height > 0 for height in bars["y"]) > 10

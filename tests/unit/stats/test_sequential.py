"""Comparisons by the evidence so far: outcomes, Holm's levels, the A/A pair, and what it makes doubtful."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from redolab.stats.blocks import BlockValues, Comparison, NullTest, Outcome
from redolab.stats.estimates import Estimate
from redolab.stats.sequential import compare_sequentially, doubted, watch_null


def blocks(
    count: int, noise: float, ratios: Mapping[str, float], seed: int = 1, again: float = 1.0
) -> BlockValues:
    """Settings that are so many times as fast as the baseline `a`, whose second sample is `again` times."""
    rng = np.random.default_rng(seed)
    found = {}
    for block in range(1, count + 1):
        moved = rng.normal(0, 1)
        values = {("a", "baseline_a"): 1.0, ("a", "baseline_b"): again}
        values |= {(name, "treatment"): ratio for name, ratio in ratios.items()}
        found[block] = {key: moved + math.log(value) + rng.normal(0, noise) for key, value in values.items()}
    return found


def compared(values: BlockValues, *names: str) -> dict[str, Comparison]:
    pairs = [(name, "a") for name in names]
    found = compare_sequentially(values, pairs, "throughput_per_s", margin=0.05)
    return {item.setting: item for item in found}


def test_outcomes() -> None:
    ratios = {"fast": 10.0, "slow": 0.5, "same": 1.0}
    found = compared(blocks(40, 0.02, ratios), *ratios)
    assert {name: item.outcome for name, item in found.items()} == {
        "fast": "better", "slow": "worse", "same": "equivalent",
    }  # fmt: skip
    for name, item in found.items():
        low, high = item.ratio.low, item.ratio.high
        assert low is not None
        assert high is not None
        assert low < ratios[name] < high
        assert item.ratio.level >= 0.95


def test_a_great_ratio_is_decided_after_eight_blocks_and_not_before() -> None:
    ratios = {"fast": 10.0, "faster": 12.0, "fastest": 100.0}
    values = blocks(8, 0.02, ratios)
    assert {item.outcome for item in compared(values, *ratios).values()} == {"better"}
    fewer = {block: values[block] for block in range(1, 8)}
    assert all(item.outcome == "undecided" for item in compared(fewer, *ratios).values())


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("count", [9, 14, 25])
def test_outcome_and_interval_never_contradict_each_other(seed: int, count: int) -> None:
    ratios = {"b": 1.0, "c": 1.04, "d": 1.15}
    for item in compared(blocks(count, 0.1, ratios, seed), *ratios).values():
        assert item.detected == item.excludes_equal
        if item.outcome == "undecided":
            assert not item.excludes_equal
        if item.outcome in ("better", "worse"):
            assert item.excludes_equal


def test_the_interval_has_the_level_at_which_holm_tests() -> None:
    ratios = {"b": 10.0, "c": 1.0, "d": 1.0}
    found = compared(blocks(12, 0.1, ratios), *ratios)
    assert found["b"].ratio.level == pytest.approx(1 - 0.05 / 3)
    # The first is decided, so the two others are tested at half of 5 %.
    assert found["c"].ratio.level == found["d"].ratio.level == pytest.approx(1 - 0.05 / 2)
    assert found["c"].ratio_90.level == pytest.approx(1 - 2 * 0.05 / 3)
    assert (found["b"].pvalue or 0) * 3 == pytest.approx(found["b"].pvalue_adjusted)


def test_a_setting_without_a_block_is_not_known() -> None:
    found = compared(blocks(12, 0.1, {"b": 10.0}), "b", "missing")
    assert found["b"].outcome == "better"
    missing = found["missing"]
    assert (missing.ratio.point, missing.pvalue, missing.blocks) == (None, None, 0)
    assert missing.outcome == "undecided"
    # It belongs to the family all the same: it may yet come.
    assert found["b"].ratio.level == pytest.approx(1 - 0.05 / 2)


def test_less_time_is_better() -> None:
    values = blocks(20, 0.02, {"b": 0.5})
    (item,) = compare_sequentially(values, [("b", "a")], "response_time_ms", margin=0.05)
    assert item.outcome == "better"


def test_blocks_needed_are_about_those_that_settle_it() -> None:
    """Four in five runs with the difference of the margin are settled with so many blocks more."""
    (item,) = compared(blocks(10, 0.05, {"b": 1.0}, seed=4), "b").values()
    assert item.outcome == "undecided"
    assert item.blocks_needed is not None
    settled = [
        compared(blocks(10 + item.blocks_needed, 0.05, {"b": 1.05}, seed), "b")["b"].detected
        for seed in range(60)
    ]
    assert 0.6 <= np.mean(settled) <= 0.98


def test_the_pair_of_the_baseline() -> None:
    assert watch_null(blocks(1, 0.02, {}), "a").passed is None
    few = watch_null(blocks(8, 0.02, {}), "a")
    assert (few.passed, few.blocks, few.ratio.low) == (None, 8, None)
    assert few.pvalue is not None
    fine = watch_null(blocks(30, 0.02, {}), "a")
    assert fine.passed is True
    assert fine.ratio.level == pytest.approx(0.99)
    assert fine.ratio.low is not None
    assert fine.ratio.high is not None
    assert fine.ratio.low < 1 < fine.ratio.high
    assert fine.minimum_detectable_ratio is None
    odd = watch_null(blocks(30, 0.02, {}, again=1.2), "a")
    assert odd.passed is False
    assert odd.blocks == 30


ITEM = Comparison(
    "b", "a", "throughput_per_s", 20, Estimate(10.0, 9.0, 11.0), Estimate(10.0, 9.2, 10.8, 0.9),
    0.001, 0.003, "better", detected=True, blocks_needed=None,
)  # fmt: skip
FAILED = NullTest(False, 0.001, Estimate(1.035, 1.01, 1.05, 0.99), None, 20)


def test_a_great_effect_is_not_doubted_for_a_small_difference() -> None:
    (item,) = doubted([ITEM], FAILED, 0.05)
    assert item.outcome == "better"
    assert item.ratio.low == pytest.approx(9.0 / 1.05)
    assert item.ratio.high == pytest.approx(11.0 * 1.05)
    assert item.ratio_90.low == pytest.approx(9.2 / 1.05)
    assert item.ratio.point == 10.0


@pytest.mark.parametrize(
    ("low", "point", "high", "outcome", "expected"),
    [
        (1.02, 1.03, 1.04, "better", "withheld"),
        (1.06, 1.07, 1.08, "better", "better"),
        (0.90, 0.92, 0.94, "worse", "worse"),
        (0.96, 0.97, 0.98, "worse", "withheld"),
        (0.99, 1.00, 1.01, "equivalent", "withheld"),
        (0.90, 1.00, 1.10, "undecided", "withheld"),
    ],
)
def test_what_the_difference_could_explain_is_withheld(
    low: float, point: float, high: float, outcome: Outcome, expected: Outcome
) -> None:
    item = replace(
        ITEM, ratio=Estimate(point, low, high), ratio_90=Estimate(point, low, high, 0.9),
        outcome=outcome, detected=outcome in ("better", "worse"),
    )  # fmt: skip
    (judged,) = doubted([item], FAILED, 0.05)
    assert judged.outcome == expected
    assert judged.detected == (expected in ("better", "worse"))


def test_nothing_is_doubted_where_the_pair_is_equal_or_unknown() -> None:
    for passed in (True, None):
        assert doubted([ITEM], replace(FAILED, passed=passed), 0.05) == (ITEM,)


def test_a_difference_without_an_interval_makes_everything_doubtful() -> None:
    (item,) = doubted([ITEM], replace(FAILED, ratio=Estimate(1.5, None, None, 0.99)), 0.05)
    assert (item.ratio.low, item.ratio.high, item.outcome) == (None, None, "withheld")

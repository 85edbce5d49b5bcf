from __future__ import annotations

import math
import random

import numpy as np
import pytest

from redolab.records.sample import Role
from redolab.stats.blocks import (
    BlockValues,
    compare,
    friedman,
    null_test,
    within_block_pvalue,
)

A: tuple[str, Role] = ("a", "baseline_a")
A2: tuple[str, Role] = ("a", "baseline_b")
B: tuple[str, Role] = ("b", "treatment")
C: tuple[str, Role] = ("c", "treatment")


def blocks(count: int, noise: float, b: float = 1.0, c: float = 1.0, seed: int = 1) -> BlockValues:
    rng = random.Random(seed)
    return {
        block: {
            A: rng.gauss(0, noise),
            A2: rng.gauss(0, noise),
            B: math.log(b) + rng.gauss(0, noise),
            C: math.log(c) + rng.gauss(0, noise),
        }
        for block in range(1, count + 1)
    }


def test_smallest_possible_pvalues_are_as_stated() -> None:
    rising = np.arange(5.0)
    assert within_block_pvalue(rising + 9, [rising], seed=1) == pytest.approx(2 / 2**5)
    assert within_block_pvalue(rising + 9, [rising, rising], seed=1) == pytest.approx(2 / 3**5)


def test_pvalue_is_exact_for_a_case_counted_by_hand() -> None:
    # Signs of (1, 2, 3): sums 6, 4, 2, 0, 0, -2, -4, -6; 4 or more in 2 of 8, doubled.
    assert within_block_pvalue([1, 2, 3], [[2, 0, 0]], seed=1) == pytest.approx(0.5)


def test_rows_are_separate_tests() -> None:
    values = np.random.default_rng(3).normal(size=(2, 4, 6))
    together = within_block_pvalue(values[0], [values[1]], seed=1)
    alone = [float(within_block_pvalue(values[0, i], [values[1, i]], seed=1)) for i in range(4)]
    assert together == pytest.approx(alone)


def test_drift_between_blocks_does_not_matter() -> None:
    drifting = {
        block: {key: value + 10 * block for key, value in values.items()}
        for block, values in blocks(10, 0.01, b=1.1).items()
    }
    (found,) = compare(drifting, ["a", "b"], "a", "throughput_per_s", margin=0.05, seed=1)
    assert found.outcome == "better"
    assert found.ratio.point == pytest.approx(1.1, rel=0.02)


def test_outcomes_and_their_direction() -> None:
    values = blocks(12, 0.01, b=1.3, c=0.8)
    better, worse = compare(values, ["a", "b", "c"], "a", "throughput_per_s", margin=0.05, seed=1)
    assert (better.outcome, worse.outcome) == ("better", "worse")
    slower, faster = compare(values, ["a", "b", "c"], "a", "response_time_ms", margin=0.05, seed=1)
    assert (slower.outcome, faster.outcome) == ("worse", "better")


def test_a_small_difference_is_found_and_still_equivalent() -> None:
    (found, _) = compare(
        blocks(20, 0.005, b=1.02), ["a", "b", "c"], "a", "throughput_per_s", margin=0.05, seed=1
    )
    assert found.detected
    assert found.outcome == "equivalent"


def test_undecided_says_how_many_blocks_more() -> None:
    (found, _) = compare(
        blocks(30, 0.2, seed=2), ["a", "b", "c"], "a", "throughput_per_s", margin=0.05, seed=1
    )
    assert found.outcome == "undecided"
    # Noise of 0.2 sqrt(1.5) against a margin of log 1.05: some 200 blocks in all.
    assert found.blocks_needed == pytest.approx(170, rel=0.5)


def test_holm_multiplies_the_smallest_by_the_family() -> None:
    found = compare(
        blocks(8, 0.02, b=1.02, c=1.5), ["a", "b", "c"], "a", "throughput_per_s", margin=0.05, seed=1
    )
    raw = [item.pvalue or 0 for item in found]
    adjusted = [item.pvalue_adjusted or 0 for item in found]
    assert min(adjusted) == pytest.approx(2 * min(raw))
    assert max(adjusted) == pytest.approx(max(*raw, 2 * min(raw)))


def test_blocks_with_a_missing_sample_are_left_out() -> None:
    values = {block: dict(entry) for block, entry in blocks(6, 0.01, b=2).items()}
    del values[2][A2]
    del values[3][B]
    found, other = compare(values, ["a", "b", "c"], "a", "throughput_per_s", margin=0.05, seed=1)
    assert (found.blocks, other.blocks) == (4, 5)


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_blocks_decide_nothing(count: int) -> None:
    found = compare(blocks(count, 0.01, b=9), ["a", "b"], "a", "throughput_per_s", margin=0.05, seed=1)
    assert [item.outcome for item in found] == ["undecided"]
    assert found[0].pvalue is None
    assert found[0].ratio.point is None
    assert null_test(blocks(count, 0.01), "a", seed=1).passed is None
    assert friedman(blocks(count, 0.01), ["a", "b", "c"]) is None


def test_two_blocks_cannot_reach_five_percent() -> None:
    (found,) = compare(blocks(2, 1e-4, b=9), ["a", "b"], "a", "throughput_per_s", margin=0.05, seed=1)
    assert found.pvalue == pytest.approx(2 / 9)
    assert found.outcome == "undecided"


def test_without_a_null_pair_the_baseline_stands_alone() -> None:
    values = {
        block: {key: value for key, value in entry.items() if key != A2}
        for block, entry in blocks(8, 0.01, b=1.5).items()
    }
    (found,) = compare(values, ["a", "b"], "a", "throughput_per_s", margin=0.05, seed=1)
    assert (found.blocks, found.outcome) == (8, "better")
    assert null_test(values, "a", seed=1).passed is None


def test_null_test_sees_a_difference_where_there_should_be_none() -> None:
    shifted = {block: {**entry, A2: entry[A2] + 0.1} for block, entry in blocks(10, 0.01).items()}
    found = null_test(shifted, "a", seed=1)
    assert found.passed is False
    assert found.ratio.point == pytest.approx(math.exp(0.1), rel=0.02)
    assert null_test(blocks(10, 0.01), "a", seed=1).passed is True


def test_minimum_detectable_ratio_follows_from_the_noise() -> None:
    found = null_test(blocks(32, 0.02, seed=5), "a", seed=1)
    # 0.511 standard deviations (32 pairs, 80 % power) of 0.02 sqrt(1.5): about 1.26 %.
    assert found.minimum_detectable_ratio == pytest.approx(1.0126, abs=0.003)


def test_equal_values_are_equivalent_and_never_crash() -> None:
    values = blocks(6, 0.0)
    found = compare(values, ["a", "b", "c"], "a", "throughput_per_s", margin=0.05, seed=1)
    assert [item.outcome for item in found] == ["equivalent", "equivalent"]
    assert [item.pvalue for item in found] == [1.0, 1.0]
    assert null_test(values, "a", seed=1).minimum_detectable_ratio == 1.0
    assert friedman(values, ["a", "b", "c"]) is None


def test_friedman() -> None:
    found = friedman(blocks(10, 0.001, b=1.1, c=1.2), ["a", "b", "c"])
    # Every block in the same order: the statistic is n (k - 1).
    assert found is not None
    assert found[0] == pytest.approx(20)
    assert friedman(blocks(10, 0.001), ["a", "b"]) is None


def test_a_clear_difference_in_too_few_blocks_asks_for_just_enough_more() -> None:
    """Three labels in n blocks: p is at least 2 / 3^n, and Holm over three settings triples it."""
    blocks: BlockValues = {
        block: {
            ("base", "baseline_a"): 0.01 * block,
            ("base", "baseline_b"): 0.012 * block,
            **{(name, "treatment"): 2.0 + 0.01 * block for name in ("x", "y", "z")},
        }
        for block in (1, 2, 3)
    }
    found = compare(blocks, ["base", "x", "y", "z"], "base", "throughput_per_s", margin=0.05, seed=1)
    # 3 * 2 / 3^4 = 0.074 and 3 * 2 / 3^5 = 0.025: five blocks are the fewest.
    assert [(item.outcome, item.blocks_needed) for item in found] == [("undecided", 2)] * 3


@pytest.mark.parametrize("count", [8, 72, 73, 74, 200])
def test_what_a_run_can_find_is_a_gain_for_any_number_of_blocks(count: int) -> None:
    """The library's solver gives 73 blocks the effect with the other sign."""
    found = null_test(blocks(count, 0.02, seed=5), "a", seed=1, resamples=99).minimum_detectable_ratio
    assert found is not None
    assert 1 < found < 1.1


def test_pairs_are_shuffled_together_as_each_alone() -> None:
    whole = blocks(40, 0.05, b=1.02, c=1.0)
    more = {block: {**each, ("d", "treatment"): each[C]} for block, each in whole.items()}
    values: BlockValues = {**more, 3: whole[3]}
    together = compare(values, ["a", "b", "c", "d"], "a", "throughput_per_s", margin=0.05, seed=7)
    alone = [
        compare(values, ["a", name], "a", "throughput_per_s", margin=0.05, seed=7)[0].pvalue
        for name in ("b", "c", "d")
    ]
    assert [item.pvalue for item in together] == alone
    assert [item.blocks for item in together] == [40, 40, 39]

from __future__ import annotations

import math

import pytest

from redolab.analysis.overhead import overhead
from redolab.records.sample import OverheadRow


def row(sample: int, pair: int, on: float, off: float) -> OverheadRow:
    return OverheadRow(sample, pair, on_first=True, on_per_s=on, off_per_s=off)


def test_each_sample_gives_one_value_whatever_the_number_of_its_pairs() -> None:
    rows = [row(1, 1, 80, 100), row(1, 2, 125, 100), row(1, 3, 100, 100), row(2, 1, 990, 1000)]
    found = overhead(rows, {1, 2})
    # The first sample's ratios cancel out: 0.8 x 1.25 x 1 = 1.
    assert found.ratio.point == pytest.approx(math.sqrt(1.0 * 0.99))
    # Two values x = 0 and ln 0.99: the standard error of their mean is |x1 - x2| / 2, and t is 12.7062.
    half = 12.7062 * abs(math.log(0.99)) / 2
    assert found.ratio.low == pytest.approx(math.sqrt(0.99) * math.exp(-half), rel=1e-5)
    assert found.ratio.high == pytest.approx(math.sqrt(0.99) * math.exp(half), rel=1e-5)
    assert found.pairs == 4
    assert found.text == (
        "Sampling wait events changed throughput by −0.5 % (−6.7 to +6.1); the sampler was switched on and "
        "off in turns (4 on/off pairs in this run)."
    )


def test_samples_that_do_not_count_are_left_out() -> None:
    rows = [row(1, 1, 90, 100), row(2, 1, 1, 100)]
    found = overhead(rows, {1})
    assert found.ratio.point == pytest.approx(0.9)
    assert found.pairs == 1
    assert found.text.startswith(
        "Sampling wait events changed throughput by −10.0 %; the sampler was switched on and off in turns (1 "
        "on/off pair in this run)."
    )


def test_a_slice_without_a_commit_has_no_ratio_and_is_told() -> None:
    found = overhead([row(1, 1, 0, 100), row(1, 2, 100, 100), row(2, 1, 101, 100)], {1, 2})
    assert (found.pairs, found.empty) == (2, 1)
    assert found.text.endswith("in this run; 1 more had a slice without a commit).")


def test_a_run_without_pairs_says_so() -> None:
    found = overhead([], {1})
    assert found.ratio.point is None
    assert found.text == "The effect of sampling on throughput was not measured in this run."

"""Sums over other sums: the weight of each sample, and intervals that stay where the quotient can be."""

from __future__ import annotations

import ast

import pytest

from redolab.stats.estimates import function_estimate, mean_estimate, quotient_estimate
from tests.docs.pages import ROOT

BUSY_AND_QUIET = [(6.0, 1000.0)] * 5 + [(30.0, 0.1)]
"""Five busy hours, and one with hardly a commit."""


def test_a_quiet_hour_counts_by_what_it_had() -> None:
    found = quotient_estimate(BUSY_AND_QUIET, unequal=True)
    assert found.point == pytest.approx(60 / 5000.1)
    # The mean of the quotients would be 50, and its interval from below zero to more than 100.
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 60 / 5000.1 < found.high < 0.1


def test_an_interval_keeps_its_ends_where_they_can_be() -> None:
    plain = quotient_estimate([(4, 10), (5, 10), (6, 10)])
    mean = mean_estimate([0.4, 0.5, 0.6])
    assert (plain.low, plain.high) == pytest.approx((mean.low, mean.high))
    wide = quotient_estimate([(1, 10), (9, 10)])
    assert wide.low is not None
    assert wide.low > 0
    part = quotient_estimate([(1, 10), (9, 10)], part=True)
    assert part.low is not None
    assert part.high is not None
    assert 0 < part.low < 0.5 < part.high < 1
    below = quotient_estimate([(1, 10), (9, 10)], signed=True)
    assert below.low is not None
    assert below.low < 0


def test_samples_of_unequal_weight_are_worth_fewer() -> None:
    parts = [(8.0, 10.0), (12.0, 10.0), (90.0, 100.0), (15.0, 10.0)]
    counted, worth = quotient_estimate(parts), quotient_estimate(parts, unequal=True)
    assert worth.point == counted.point
    for found in (counted, worth):
        assert found.low is not None
        assert found.high is not None
    # (10 + 10 + 100 + 10)^2 / (3 * 10^2 + 100^2) = 1.64 samples, and never less than one degree of freedom.
    assert (worth.high or 0) - (worth.low or 0) > 3 * ((counted.high or 0) - (counted.low or 0))
    alike = [(8.0, 10.0), (12.0, 11.0), (9.0, 12.0)]
    assert quotient_estimate(alike, unequal=True) == quotient_estimate(alike)


def test_a_function_of_one_quotient_is_that_quotient() -> None:
    parts = [(8.0, 10.0), (12.0, 11.0), (9.0, 12.0)]
    found, plain = function_estimate(29 / 33, [1.0], [parts]), quotient_estimate(parts)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))
    # What moves the two quotients alike does not move the one less the other.
    none = function_estimate(1.0, [1.0, -1.0], [parts, parts])
    assert (none.low, none.high) == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize("room", ["analysis/observed", "forecast/costs/inferred"])
def test_what_was_observed_is_never_a_mean_of_quotients(room: str) -> None:
    """Hours, stretches and reports are not of one size: their figures are sums over other sums."""
    means = {"mean_estimate", "fmean", "median_estimate"}
    paths = list((ROOT / "python" / "redolab" / room).rglob("*.py"))
    assert len(paths) > 4
    for path in paths:
        names = {
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Name | ast.Attribute)
        }
        assert not names & means, path

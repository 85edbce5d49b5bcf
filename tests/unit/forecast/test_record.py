"""Prediction intervals: exact on paper, and covering what they should in simulation."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from redolab.forecast.track_record import (
    EXTRAPOLATED,
    PRIOR,
    Score,
    Silence,
    least_verified,
    log_ratios,
    prediction_interval,
    read_scores,
    read_silences,
    scores_as_lines,
)


def test_how_many_verified_forecasts_a_level_needs() -> None:
    # ceil((n + 1) 0.9) <= n from n = 9 on, ceil((n + 1) 0.95) <= n from n = 19 on.
    assert (least_verified(0.9), least_verified(0.95)) == (9, 19)


def test_the_conformal_interval_is_an_order_statistic() -> None:
    errors = [0.01, -0.02, 0.03, -0.04, 0.05, -0.06, 0.07, -0.08, 0.09]
    found = prediction_interval(100.0, [], errors)
    assert found.low == pytest.approx(100 * math.exp(-0.09), rel=1e-12)
    assert found.high == pytest.approx(100 * math.exp(0.09), rel=1e-12)
    assert found.verified == 9
    # Of 19, the ceil(20 x 0.9) = 18th.
    nineteen = [value / 100 for value in range(1, 20)]
    assert prediction_interval(1.0, [], nineteen).high == pytest.approx(math.exp(0.18), rel=1e-12)


def test_without_enough_verified_forecasts_it_is_student_on_the_prior() -> None:
    found = prediction_interval(100.0, [], [])
    # The 95 % quantile of Student's t with 2 degrees of freedom is 2.919986.
    assert math.log(found.high / 100) == pytest.approx(2.919986 * PRIOR, rel=1e-6)
    assert found.verified == 0
    # Two errors of 0.3 pooled with two of the prior: 4 degrees of freedom, 2.131847.
    pooled = math.sqrt((2 * PRIOR**2 + 2 * 0.3**2) / 4)
    found = prediction_interval(100.0, [], [0.3, -0.3])
    assert math.log(found.high / 100) == pytest.approx(2.131847 * pooled, rel=1e-6)
    # The scatter of the calibration is added: two replicates, each 0.2 off.
    again = [100 * math.exp(0.2), 100 * math.exp(-0.2)]
    found = prediction_interval(100.0, again, [])
    wide = 2.919986 * math.sqrt(PRIOR**2 + 0.2**2)
    assert math.log(found.high / 100) == pytest.approx(wide, rel=1e-6)


def test_it_is_never_narrower_than_the_replicates() -> None:
    again = [100 * math.exp(value) for value in np.linspace(-0.5, 0.7, 101)]
    found = prediction_interval(100.0, again, [0.001] * 30)
    assert math.log(found.low / 100) == pytest.approx(-0.5 + 0.05 * 1.2, rel=1e-9)
    assert math.log(found.high / 100) == pytest.approx(-0.5 + 0.95 * 1.2, rel=1e-9)


def test_it_is_wider_beyond_what_was_measured() -> None:
    for errors in ([], [0.1] * 12):
        near = prediction_interval(100.0, [], errors)
        far = prediction_interval(100.0, [], errors, extrapolated=True)
        assert math.log(far.high / 100) == pytest.approx(EXTRAPOLATED * math.log(near.high / 100))


def test_what_has_no_logarithm_has_the_replicates_for_an_interval() -> None:
    found = prediction_interval(0.0, [0.0, 0.2], [])
    assert (found.point, found.low, found.high) == (0.0, 0.0, 0.2)
    with pytest.raises(ValueError, match="level"):
        prediction_interval(1.0, [], [], level=1.0)


def errors_of(rng: np.random.Generator, shape: str, count: int) -> np.ndarray:
    if shape == "normal":
        return rng.normal(0.05, 0.1, count)
    if shape == "skewed":
        return rng.exponential(0.2, count) - 0.1
    return 0.1 * rng.standard_t(2, count)


@pytest.mark.parametrize("shape", ["normal", "skewed", "heavy"])
@pytest.mark.parametrize("verified", [9, 19, 40])
def test_it_covers_what_it_says_when_errors_are_exchangeable(shape: str, verified: int) -> None:
    rng = np.random.default_rng(20261122)
    inside, rounds = 0, 4_000
    for _ in range(rounds):
        *before, error = errors_of(rng, shape, verified + 1)
        found = prediction_interval(1.0, [], [float(value) for value in before])
        inside += found.low <= math.exp(error) <= found.high
    # Four standard errors are 0.019.
    assert 0.88 <= inside / rounds <= 0.95


@pytest.mark.parametrize("verified", [0, 3, 8])
def test_before_that_it_covers_too_where_the_prior_is_right(verified: int) -> None:
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(4_000):
        *before, error = rng.normal(0, PRIOR, verified + 1)
        found = prediction_interval(1.0, [], [float(value) for value in before])
        inside += found.low <= math.exp(error) <= found.high
    assert inside / 4_000 >= 0.88


def test_past_errors_are_those_of_the_same_model_family_and_quantity() -> None:
    kept = Score("m", "f", "q", 100.0, 110.0)
    others = [
        Score("n", "f", "q", 1.0, 1.0),
        Score("m", "g", "q", 1.0, 1.0),
        Score("m", "f", "r", 1.0, 1.0),
    ]
    assert log_ratios([*others, kept], "m", "f", "q") == (math.log(1.1),)


def test_past_errors_beyond_what_was_measured_count_as_much_as_the_interval_there_is_wider() -> None:
    far = Score("m", "f", "q", 100.0, 121.0, extrapolated=True)
    assert log_ratios([far], "m", "f", "q") == (math.log(1.21) / EXTRAPOLATED,)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_it_covers_what_it_says_where_errors_are_larger_beyond_what_was_measured(share: float) -> None:
    rng = np.random.default_rng(20261125)
    inside, rounds = 0, 4_000
    for _ in range(rounds):
        far = rng.random(40) < share
        errors = 0.1 * rng.standard_normal(40) * np.where(far, EXTRAPOLATED, 1.0)
        *scores, next_one = (
            Score("m", "f", "q", 1.0, math.exp(error), extrapolated=bool(beyond))
            for error, beyond in zip(errors, far, strict=True)
        )
        past = log_ratios(scores, "m", "f", "q")
        found = prediction_interval(1.0, [], past, extrapolated=next_one.extrapolated)
        inside += found.low <= next_one.observed <= found.high
    # Four standard errors are 0.019.
    assert 0.88 <= inside / rounds <= 0.95


def test_whether_a_score_is_inside() -> None:
    assert Score("m", "f", "q", 100.0, 110.0, 90.0, 120.0).inside is True
    assert Score("m", "f", "q", 100.0, 121.0, 90.0, 120.0).inside is False
    assert Score("m", "f", "q", 100.0, 110.0).inside is None


@pytest.mark.parametrize("name", ["record.jsonl", "record.jsonl.gz"])
def test_scores_are_read_as_they_were_written(name: str, tmp_path: Path) -> None:
    scores = (
        Score("m", "f", "q", 1 / 3, 2.0, 0.1, 3.0),
        Score("m", "f", "q", 1.0, 2.0, extrapolated=True),
    )
    silences = (Silence("M/M/1", "nowait", "one server cannot tell"),)
    text = scores_as_lines(scores, silences).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    assert read_scores(path) == scores
    assert read_silences(path) == silences

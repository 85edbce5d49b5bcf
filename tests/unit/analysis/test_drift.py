from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from redolab.analysis.checks.noise import autocorrelation, carry_over, drift, regimes, residual_noise
from redolab.records.sample import Sample

from .synthetic import LOG_BOUND, design, one_sample


def series(factors: list[float], **changes: Any) -> list[Sample]:
    trials = design(blocks=len(factors) // 5).order()
    return [
        replace(one_sample(trial, LOG_BOUND[trial.setting], factor, elapsed_s=60)[0], **changes)
        for trial, factor in zip(trials, factors, strict=True)
    ]


def noise(count: int, size: float = 0.01, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [1 + size * rng.gauss(0, 1) for _ in range(count)]


def test_drift_is_found_and_measured() -> None:
    factors = [value * (1 + 0.1 * place / 49) for place, value in enumerate(noise(50))]
    found = drift(residual_noise(series(factors)))
    assert found.outcome == "warning"
    assert "−9." in found.text or "−8." in found.text or "−10." in found.text


def test_two_regimes_are_found_where_they_change() -> None:
    factors = [value * (1.0 if place < 25 else 1.1) for place, value in enumerate(noise(50))]
    samples = series(factors)
    found = regimes(residual_noise(samples))
    assert found.outcome == "warning"
    assert f"about {samples[25].start_s:.0f} s" in found.text


def test_autocorrelation_costs_samples() -> None:
    rng = random.Random(4)
    factors, level = [], 0.0
    for _ in range(100):
        level = 0.8 * level + rng.gauss(0, 0.01)
        factors.append(1 + level)
    found = autocorrelation(residual_noise(series(factors)))
    assert found.outcome == "warning"
    assert "the 100 samples are worth about" in found.text


def test_few_or_equal_samples_are_not_looked_at() -> None:
    few = residual_noise(series([1.0] * 5))
    assert drift(few).outcome == "not_available"
    same = residual_noise(series([1.0] * 50))
    assert autocorrelation(same).outcome == "not_available"
    assert regimes(residual_noise([])).outcome == "not_available"


def test_what_a_setting_leaves_behind_is_found_and_named() -> None:
    factors, before = noise(100), None
    for place, trial in enumerate(design(blocks=20).order()):
        factors[place] *= 0.8 if before == "nowait/batch" else 1.0
        before = trial.setting
    found = carry_over(series(factors))
    assert found.outcome == "warning"
    assert "after nowait/batch it differs by +1" in found.text


def test_nothing_left_behind() -> None:
    assert carry_over(series(noise(100))).outcome == "passed"


def test_a_gap_in_the_samples_is_no_sequence() -> None:
    """A sample that does not count stands between two that do: the second did not come after the first."""
    samples = series(noise(100))
    assert carry_over(samples[::2]).outcome == "not_available"
    assert carry_over(samples[:10]).outcome == "not_available"
    assert carry_over([]).outcome == "not_available"

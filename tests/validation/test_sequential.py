"""A run that may end after every block: how often does it decide something that is not so?

2,000 runs of up to 60 blocks, looked at after each: cut from stored samples of real servers under one setting
in an order that the design's own code draws, and simulated with drift, autocorrelation, heavy tails and two
regimes. No more than 5 % may ever decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from redolab import open_run
from redolab.analysis.reading import counting, read_samples
from redolab.records.design import Design
from redolab.stats.evidence import log_evidence

DATA = Path(__file__).parent / "data"
BLOCKS, RUNS = 60, 2_000
LINE = math.log(20)
Floats = npt.NDArray[np.float64]
RNG = np.random.default_rng(2041)


def orders(samples: int, seed: int) -> npt.NDArray[np.intp]:
    """Where in each block the setting, A and A' lie, or the setting and A: of shape (blocks, samples)."""
    pair = samples == 3
    design = Design(("b", "a"), "a", BLOCKS, seconds=1, warmup_s=0, seed=seed, null_pair=pair)
    places: dict[int, dict[str, int]] = {block: {} for block in range(1, BLOCKS + 1)}
    for trial in design.order():
        places[trial.block][trial.role] = trial.position - 1
    roles = ("treatment", "baseline_a", "baseline_b")[:samples]
    return np.array([[places[block][role] for role in roles] for block in places])


def differences(noise: Floats, samples: int, seed: int) -> Floats:
    """What such noise makes of a setting that is the baseline's equal."""
    rows = np.take_along_axis(
        noise[: BLOCKS * samples].reshape(BLOCKS, samples), orders(samples, seed), axis=1
    )
    return np.asarray((rows[:, :1] - rows[:, 1:]).T)


def ever_decided(noise: Callable[[int], Floats], samples: int, runs: int = RUNS) -> float:
    """The part of the runs in which no difference is rejected at 5 % after any of the blocks."""
    return float(
        np.mean([log_evidence(differences(noise(seed), samples, seed)).max() >= LINE for seed in range(runs)])
    )


@pytest.mark.parametrize("server", ["mariadb", "mysql"])
def test_real_samples(server: str) -> None:
    samples = counting(read_samples(open_run(DATA / f"null_{server}")))
    values = np.array([math.log(sample.commits / sample.elapsed_s) for sample in samples])

    def cut(_seed: int) -> Floats:
        return values[int(RNG.integers(len(values) - 3 * BLOCKS + 1)) :]

    assert ever_decided(cut, 3) <= 0.05
    assert ever_decided(cut, 2) <= 0.05


def autocorrelated(_seed: int) -> Floats:
    steps = RNG.normal(0, 1, 3 * BLOCKS)
    for place in range(1, steps.size):
        steps[place] += 0.8 * steps[place - 1]
    return steps


def drifting(_seed: int) -> Floats:
    return RNG.normal(0, 1, 3 * BLOCKS) + np.linspace(0, 2, 3 * BLOCKS)


def heavy(_seed: int) -> Floats:
    return np.asarray(RNG.standard_cauchy(3 * BLOCKS))


def skewed(_seed: int) -> Floats:
    """A stall now and then, as of a checkpoint."""
    return -np.asarray(RNG.exponential(1, 3 * BLOCKS) * (RNG.random(3 * BLOCKS) < 0.2))


def two_regimes(_seed: int) -> Floats:
    level = np.where(np.arange(3 * BLOCKS) < RNG.integers(3 * BLOCKS), 0.0, 0.7)
    return np.asarray(level + RNG.normal(0, 0.1, 3 * BLOCKS))


@pytest.mark.parametrize("noise", [autocorrelated, drifting, heavy, skewed, two_regimes])
def test_simulated_noise(noise: Callable[[int], Floats]) -> None:
    assert ever_decided(noise, 3) <= 0.05


@pytest.mark.parametrize("noise", [autocorrelated, drifting, heavy, two_regimes])
def test_the_true_ratio_is_never_ruled_out_in_95_of_100_runs(noise: Callable[[int], Floats]) -> None:
    """And a true ratio at the edge of the margin is never called equivalent in 95 of 100."""
    margin = math.log1p(0.05)
    shifts = np.array([math.log(2.5), math.log(2.5) - margin])
    found = []
    for seed in range(500):
        logs = differences(noise(seed), 3, seed) + math.log(2.5)
        found.append(log_evidence(logs, shifts).max(axis=0)[0] >= LINE)
    assert np.mean(found) <= 0.05


def test_a_difference_is_found() -> None:
    """In blocks with the median that the docs state: 1 and 2 standard deviations of a pair."""
    for size, most in ((2.0, 10), (1.0, 16)):
        after = []
        for _ in range(300):
            setting, *baseline = RNG.normal(0, math.sqrt(0.5), (3, BLOCKS))
            evidence = log_evidence(setting + size - np.array(baseline))
            after.append(
                int(np.argmax(evidence >= math.log(60))) + 1 if evidence.max() >= math.log(60) else 99
            )
        assert np.median(after) <= most

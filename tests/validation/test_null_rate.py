"""When nothing differs, how often does the design say that something does?

40 stored series of noise (drift, autocorrelation; see data/generate_noise.py), each put under 50
random orders by the design's own code and judged by the analysis' own tests: 2,000 A/A runs.
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from redolab.records.design import Design
from redolab.stats.blocks import ALPHA, BlockValues, compare, null_test

SETTINGS = ("wait/immediate", "wait/batch", "nowait/immediate", "nowait/batch")
BASELINE = SETTINGS[0]
BLOCKS, ORDERS, RESAMPLES = 20, 50, 999
Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def noise() -> dict[tuple[str, str], Floats]:
    series: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    with gzip.open(Path(__file__).parent / "data" / "noise.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            series[row["kind"], row["series"]].append(float(row["log_throughput"]))
    return {key: np.array(values) for key, values in series.items()}


def blocks(values: Floats, seed: int) -> BlockValues:
    """The noise as a run of the design would have met it: every setting alike."""
    design = Design(SETTINGS, BASELINE, BLOCKS, seconds=1, warmup_s=0, seed=seed)
    found: defaultdict[int, dict[tuple[str, str], float]] = defaultdict(dict)
    for trial, value in zip(design.order(), values, strict=True):
        found[trial.block][trial.setting, trial.role] = float(value)
    return found


def test_40_series(noise: dict[tuple[str, str], Floats]) -> None:
    assert len(noise) == 40
    assert {len(values) for values in noise.values()} == {BLOCKS * (len(SETTINGS) + 1)}


def test_a_against_a_fails_in_one_run_of_twenty(noise: dict[tuple[str, str], Floats]) -> None:
    failed: defaultdict[str, list[bool]] = defaultdict(list)
    for place, ((kind, _), values) in enumerate(sorted(noise.items())):
        for order in range(ORDERS):
            seed = place * ORDERS + order
            found = null_test(blocks(values, seed), BASELINE, seed, RESAMPLES)
            failed[kind].append(found.passed is False)
    everything = [item for items in failed.values() for item in items]
    assert len(everything) == 2000
    assert 0.03 <= np.mean(everything) <= 0.07
    # 400 runs of a kind: three standard errors about 5 %.
    for kind, items in failed.items():
        assert 0.017 <= np.mean(items) <= 0.083, kind


def test_comparisons_with_the_baseline_stay_at_five_percent(
    noise: dict[tuple[str, str], Floats],
) -> None:
    single, family = [], []
    for place, (_, values) in enumerate(sorted(noise.items())):
        for order in range(0, ORDERS, 4):
            seed = place * ORDERS + order
            found = compare(
                blocks(values, seed), SETTINGS, BASELINE, "throughput_per_s",
                margin=0.05, seed=seed, resamples=RESAMPLES,
            )  # fmt: skip
            single += [(item.pvalue or 0) < ALPHA for item in found]
            family.append(any(item.detected for item in found))
    assert len(single) == 40 * 13 * 3
    assert 0.03 <= np.mean(single) <= 0.07
    # Holm keeps the chance of any false claim in a run at 5 % or below.
    assert np.mean(family) <= 0.06


def test_one_setting_after_the_other_fails_far_more_often(
    noise: dict[tuple[str, str], Floats],
) -> None:
    rejected = []
    for values in noise.values():
        first, *others = np.split(values, len(SETTINGS) + 1)
        rejected += [stats.mannwhitneyu(first, other).pvalue < ALPHA for other in others]
    assert np.mean(rejected) > 0.15

"""The published series of rows per commit, forecast from three of its rows.

The table, seconds for 900,000 rows (Craig Shallahamer, OraPub, 28 May 2010), and what the curve through 1, 4
and 32 rows per commit says of the rows that it was not fitted on.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from redolab.model.batching import Decay, decay_through

FITTED = (1, 4, 32)
# Rows per commit: published, forecast, miss in percent of the published.
TABLE = {
    2: (64.9540, 65.297, +0.53),
    8: (50.6216, 49.870, -1.48),
    16: (47.9620, 46.777, -2.47),
    64: (44.4585, 44.080, -0.85),
    128: (44.4191, 43.539, -1.98),
    256: (43.9992, 43.237, -1.73),
    512: (43.7342, 43.068, -1.52),
    1024: (43.6555, 42.973, -1.56),
    2048: (43.5763, 42.920, -1.51),
    4096: (43.7083, 42.891, -1.87),
    8192: (43.5302, 42.874, -1.51),
    16384: (43.2844, 42.865, -0.97),
    32768: (43.1086, 42.860, -0.58),
}


def published() -> dict[int, float]:
    with (Path(__file__).parent / "data" / "batch_elapsed.csv").open(newline="") as file:
        assert file.readline().startswith("# Craig Shallahamer, OraPub")
        return {int(row["rows_per_commit"]): float(row["elapsed_s"]) for row in csv.DictReader(file)}


ELAPSED = published()


@pytest.fixture(scope="module")
def curve() -> Decay:
    return decay_through({rows: ELAPSED[rows] for rows in FITTED})


def test_the_table_is_the_published_one_without_the_fitted_rows() -> None:
    assert {rows: row[0] for rows, row in TABLE.items()} == {
        rows: elapsed for rows, elapsed in ELAPSED.items() if rows not in FITTED
    }


@pytest.mark.parametrize("rows", TABLE)
def test_every_other_row_is_within_three_percent(rows: int, curve: Decay) -> None:
    elapsed, forecast, miss = TABLE[rows]
    assert curve.at(rows) == pytest.approx(forecast, abs=6e-4)
    assert 100 * (curve.at(rows) / elapsed - 1) == pytest.approx(miss, abs=0.006)
    assert abs(curve.at(rows) / elapsed - 1) < 0.03


def test_the_curve_passes_through_what_it_was_fitted_on(curve: Decay) -> None:
    for rows in FITTED:
        assert curve.at(rows) == pytest.approx(ELAPSED[rows], rel=1e-12)
    assert curve.power == pytest.approx(0.8388, abs=5e-5)
    assert curve.floor == pytest.approx(42.853, abs=5e-4)


def test_a_commit_that_costs_the_same_whatever_it_holds_misses_more() -> None:
    """c = 1, nearest to the three rows by relative error."""
    rows, elapsed = np.array(FITTED, dtype=float), np.array([ELAPSED[rows] for rows in FITTED])
    (floor, commit), *_ = np.linalg.lstsq(
        np.stack([1 / elapsed, 1 / rows / elapsed], axis=1), np.ones(3), rcond=None
    )
    found = Decay(float(floor), float(commit), 1.0)
    misses = {number: found.at(number) / ELAPSED[number] - 1 for number in TABLE}
    assert max(map(abs, misses.values())) == pytest.approx(0.0306, abs=5e-5)


def test_the_same_form_for_rows_per_second_misses_by_twice_as_much() -> None:
    # a - b/n^c for the rate is a + b/n^c for what it falls short of a rate that is out of reach.
    shift = 2 / ELAPSED[32768]
    found = decay_through({rows: shift - 1 / ELAPSED[rows] for rows in FITTED})
    misses = {rows: 1 / (shift - found.at(rows)) / ELAPSED[rows] - 1 for rows in TABLE}
    assert max(map(abs, misses.values())) == pytest.approx(0.067, abs=5e-4)


def test_the_fewest_rows_for_90_percent_are_those_measured_within_one_step(curve: Decay) -> None:
    """16 by the curve; of the published rows 16 collect 88 % and 32 collect 95 %."""
    assert curve.fewest_rows(0.9) == 16
    whole = ELAPSED[1] - ELAPSED[32768]
    assert (ELAPSED[1] - ELAPSED[16]) / whole == pytest.approx(0.878, abs=5e-4)
    assert (ELAPSED[1] - ELAPSED[32]) / whole == pytest.approx(0.951, abs=5e-4)

"""A covariate in the evidence of a run that ends when it knows enough: valid, and worth little.

The difference of a pair, less a slope times the difference of what the machine did just before, is still
symmetric given the blocks before, as long as the slope comes from those blocks alone. Redolab does not do it,
because no real run gained by it (docs/explanation/method.md, *The machine during a sample*).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from redolab.stats.evidence import log_evidence

Floats = npt.NDArray[np.float64]
BLOCKS, RUNS, FIRST = 60, 300, 4
LINE = math.log(20)


def adjusted(differences: Floats, machine: Floats) -> Floats:
    """Each difference less the slope of the blocks before it times that of the machine."""
    left = differences.copy()
    for block in range(FIRST, len(left)):
        x = machine[:block] - machine[:block].mean()
        slope = float(x @ differences[:block]) / float(x @ x)
        left[block] -= slope * machine[block]
    return left


def pairs(correlation: float, seed: int) -> tuple[Floats, Floats]:
    """Differences of two samples in random order, without any between the settings, and of the machine."""
    rng = np.random.default_rng(seed)
    machine, own = rng.normal(size=(2, BLOCKS, 2))
    values = correlation * machine + math.sqrt(1 - correlation**2) * own
    order = rng.choice([-1.0, 1.0], BLOCKS)
    return order * np.diff(values)[:, 0], order * np.diff(machine)[:, 0]


@pytest.mark.parametrize(
    ("correlation", "least", "most"),
    # sqrt(1 - correlation^2) at best, and a little more for the slope that must be learnt.
    [(0.0, 1.0, 1.08), (0.5, 0.87, 0.97), (0.8, 0.6, 0.72)],
)
def test_the_level_holds_and_what_it_narrows(correlation: float, least: float, most: float) -> None:
    decided, narrowed = 0, []
    for seed in range(RUNS):
        differences, machine = pairs(correlation, seed)
        left = adjusted(differences, machine)
        decided += bool(log_evidence(left[np.newaxis]).max() >= LINE)
        narrowed.append(float(np.std(left[FIRST:]) / np.std(differences[FIRST:])))
    # 5 % of 300 runs, and more than 24 of them in one of a hundred such tests.
    assert decided <= 24
    assert least <= float(np.exp(np.mean(np.log(narrowed)))) <= most

"""Where nothing differs on a real server, how often does the design say that something does?

Each stored run has 400 samples of one setting (`benches/null_run.py`). 2,000 runs of 20 blocks are cut
from it: 40 samples in a row, two to a block, in an order that the design's own code draws.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from redolab import open_run
from redolab.analysis.reading import counting, read_samples
from redolab.records.design import Design
from redolab.stats.blocks import BlockValues, null_test

DATA = Path(__file__).parent / "data"
SERVERS = ("mariadb", "mysql")
BLOCKS, CUTS, RESAMPLES = 20, 2_000, 999


def cut(values: list[float], setting: str, seed: int) -> BlockValues:
    """Samples in a row as a run of the design would have met them."""
    first = int(np.random.default_rng(seed).integers(len(values) - 2 * BLOCKS + 1))
    design = Design((setting,), setting, BLOCKS, seconds=1, warmup_s=0, seed=seed)
    found: defaultdict[int, dict[tuple[str, str], float]] = defaultdict(dict)
    for trial, value in zip(design.order(), values[first:], strict=False):
        found[trial.block][trial.setting, trial.role] = value
    return found


@pytest.mark.parametrize("server", SERVERS)
def test_nothing_is_found_where_nothing_differs(server: str) -> None:
    run = open_run(DATA / f"null_{server}")
    (setting,) = run.manifest["design"]["settings"]
    samples = counting(read_samples(run))
    assert len(samples) == 400
    assert all(sample.commits == sample.server_commits for sample in samples)
    values = [float(np.log(sample.commits / sample.elapsed_s)) for sample in samples]
    below = [
        not null_test(cut(values, setting, seed), setting, seed, RESAMPLES).passed for seed in range(CUTS)
    ]
    assert 0.03 <= np.mean(below) <= 0.07

"""The settings on which forecasts are scored, and their measurement.

    python benches/forecast_grid.py RUN [--blocks 4] [--seconds 1.2] [--seed 5]

measures all of them on the embedded PostgreSQL with an emulated log device, in random blocks, into the run
directory RUN. `benches/forecast.py` calibrates on few of them and scores the forecasts of all others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from redolab import runner
from redolab.design import Design
from redolab.engine import open_engine
from redolab.experiment import EXPERIMENTS
from redolab.experiment.base import Plan
from redolab.experiment.calibrate import check_load, setting_name

LOOPS = ("server", "client")
DEVICES_MS = ("0", "1", "5")
SESSIONS = (1, 2, 4, 8, 16, 32)
ROWS_AND_SESSIONS = {4: (2, 8, 32), 32: (2, 8, 32), 256: (1, 8), 1024: (1, 4, 8)}
NOWAIT = ((1, 1), (8, 1), (32, 1), (8, 32))
DELAYS = ((8, 500), (16, 500), (32, 500), (8, 2000))
_CHEAP_DEVICES = ("0", "1")


def settings() -> dict[str, Mapping[str, str]]:
    """Every setting of the grid, by name."""
    found = (
        {
            "sessions": str(sessions),
            "rows_per_commit": str(rows),
            "commit_wait": wait,
            "commit_delay_us": str(delay_us),
            "loop": loop,
            "log_device_ms": device_ms,
        }
        for loop in LOOPS
        for device_ms in DEVICES_MS
        for sessions, rows, wait, delay_us in _of_device(device_ms)
    )
    return {setting_name(levels): levels for levels in found}


def _of_device(device_ms: str) -> Iterator[tuple[int, int, str, int]]:
    for sessions in SESSIONS:
        yield sessions, 1, "wait", 0
    for rows, numbers in ROWS_AND_SESSIONS.items():
        for sessions in numbers:
            yield sessions, rows, "wait", 0
    if device_ms in _CHEAP_DEVICES:
        for sessions, rows in NOWAIT:
            yield sessions, rows, "nowait", 0
        for sessions, delay_us in DELAYS:
            yield sessions, 1, "wait", delay_us


class _Lines:
    """Progress, a line per block's worth of samples."""

    def begin(self, samples: int, seconds: float) -> None:
        self.done, self.total = 0, samples
        print(f"{samples} samples, {seconds:.0f} s of load", file=sys.stderr)

    def advance(self, setting: str) -> None:
        self.done += 1
        if self.done % 50 == 0:
            print(f"{self.done} of {self.total} ({setting})", file=sys.stderr)


def measure(out: Path, blocks: int, seconds: float, seed: int) -> None:
    """Measure the grid into the run directory `out`."""
    combinations = settings()
    names = tuple(combinations)
    load = check_load(max(SESSIONS), client=False)
    design = Design(names, names[0], blocks, seconds, min(seconds, 0.2), seed, null_pair=False)
    engine = open_engine("embedded", load, load.disk_bytes(None), 0.0, seed)
    command = " ".join(["python", "benches/forecast_grid.py", *sys.argv[1:]])
    outcome = runner.run(
        EXPERIMENTS["calibrate"], Plan(design, combinations, load), engine, out, _Lines(), command
    )
    if outcome.error is not None:
        raise outcome.error


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=1.2)
    parser.add_argument("--seed", type=int, default=5)
    asked = parser.parse_args()
    measure(asked.run, asked.blocks, asked.seconds, asked.seed)

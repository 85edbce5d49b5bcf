"""The settings on which forecasts are scored, and their measurement.

    python benches/forecast_grid.py RUN [--blocks 8] [--seconds 0.8] [--seed 5]

measures all of them on the embedded PostgreSQL with an emulated log device, in random blocks, into the run
directory RUN. `benches/forecast.py` calibrates on few of them and scores the forecasts of all others.

    python benches/forecast_grid.py RUN --open [--blocks 4] [--seconds 3] [--seed 5]

measures commits that come at random moments, at shares of capacity, into RUN, and among them what they are
forecast from: near capacity a response takes twice as long where everything takes a tenth longer, as it does
from hour to hour on a machine that is shared. Capacity is what the pool's sessions do when each begins its
next transaction at once: measured first, and once more among the others.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from redolab import open_run
from redolab.analysis.reading import counting, read_samples
from redolab.engine import open_engine
from redolab.experiment import EXPERIMENTS
from redolab.experiment.base import Plan, setting_name
from redolab.experiment.forecast_load import PAUSES_MS, check_load
from redolab.measure import runner
from redolab.records.design import Design
from redolab.records.run import Run

LOOPS = ("server", "client")
DEVICES_MS = ("0", "1", "5")
SESSIONS = (1, 2, 4, 8, 16, 32)
ROWS_AND_SESSIONS = {4: (2, 8, 32), 32: (2, 8, 32), 256: (1, 8), 1024: (1, 4, 8)}
CORNERS = ((64, 16), (128, 1), (48, 100))
"""Sessions and rows per commit, far beyond what a calibration measured."""
BEYOND = ((64, 1), (64, 32))
"""Twice today's sessions; the first is part of a calibration."""
NOWAIT = ((1, 1), (8, 1), (32, 1), (64, 1), (8, 32))
DELAYS = ((8, 500), (16, 500), (32, 500), (8, 2000))
_CHEAP_DEVICES = ("0", "1")
BLOCKS, SECONDS = 8, 0.8
# A percentile of the few hundred commits of a shorter sample would be a guess.
OPEN_BLOCKS, OPEN_SECONDS = 4, 3.0
OPEN_POOL = 64
"""Sessions for arrivals."""
OPEN_SHARES = (0.3, 0.6, 0.8, 0.9)
"""Of capacity."""
OPEN_ROWS = (1, 32)


def settings() -> dict[str, Mapping[str, str]]:
    """Every setting of the grid, by name."""
    found = (
        _levels(sessions, rows, device_ms, loop, wait, delay_us)
        for loop in LOOPS
        for device_ms in DEVICES_MS
        for sessions, rows, wait, delay_us in _of_device(device_ms)
    )
    paused = (levels for device_ms in DEVICES_MS for levels in pauses(device_ms))
    return {setting_name(levels): levels for levels in (*found, *paused)}


def pauses(device_ms: str) -> list[dict[str, str]]:
    """A lone session that pauses between its commits, as `run calibrate` measures it."""
    alone = _levels(1, 1, device_ms, "server")
    return [alone | {"pause_ms": str(pause_ms)} for pause_ms in PAUSES_MS]


def calibration_settings(loop: str, device_ms: str) -> tuple[str, ...]:
    """What a system's costs are read from, as `run calibrate` measures it: today's first, others that wait
    for the log, commits that do not wait (whatever the device), and the pauses.
    """
    nowait_ms = device_ms if device_ms in _CHEAP_DEVICES else "1"
    waiting, nowait = ((32, 1), (1, 1), (64, 1), (32, 32)), ((1, 1), (32, 1), (64, 1), (8, 32))
    found = [_levels(sessions, rows, device_ms, loop) for sessions, rows in waiting]
    found += [_levels(sessions, rows, nowait_ms, loop, "nowait") for sessions, rows in nowait]
    return tuple(map(setting_name, (*found, *pauses(device_ms))))


def law_setting(loop: str, device_ms: str) -> str:
    """The third number of sessions that the Universal Scalability Law needs."""
    return setting_name(_levels(8, 1, device_ms, loop))


def _of_device(device_ms: str) -> Iterator[tuple[int, int, str, int]]:
    for sessions in SESSIONS:
        yield sessions, 1, "wait", 0
    for rows, numbers in ROWS_AND_SESSIONS.items():
        for sessions in numbers:
            yield sessions, rows, "wait", 0
    for sessions, rows in (*CORNERS, *BEYOND):
        yield sessions, rows, "wait", 0
    if device_ms in _CHEAP_DEVICES:
        for sessions, rows in NOWAIT:
            yield sessions, rows, "nowait", 0
        for sessions, delay_us in DELAYS:
            yield sessions, 1, "wait", delay_us


def pool_settings() -> dict[str, Mapping[str, str]]:
    """The pool's sessions without a pause, on every device, one row and many."""
    found = (_levels(OPEN_POOL, rows, device_ms) for device_ms in DEVICES_MS for rows in OPEN_ROWS)
    return {setting_name(levels): levels for levels in found}


def open_settings(pool: Run) -> dict[str, Mapping[str, str]]:
    """Commits at random moments, at shares of what the settings of the run `pool` did; those again; and what
    forecasts start from.
    """
    arrivals = (
        levels | {"arrival_rate_per_s": f"{share * _capacity(pool, name):.0f}"}
        for name, levels in pool_settings().items()
        for share in OPEN_SHARES
    )
    found = {setting_name(levels): levels for levels in arrivals} | pool_settings()
    grid = settings()
    for device_ms in DEVICES_MS:
        for name in (*calibration_settings("client", device_ms), law_setting("client", device_ms)):
            found[name] = grid[name]
    return found


def _capacity(pool: Run, name: str) -> float:
    """Commits per second: the median of the samples."""
    mine = [sample for sample in counting(read_samples(pool)) if sample.setting == name]
    return statistics.median(sample.commits / sample.elapsed_s for sample in mine)


def measure_open(out: Path, blocks: int, seconds: float, seed: int) -> None:
    """Measure capacity, and commits at random moments into the run directory `out`."""
    with tempfile.TemporaryDirectory() as place:
        pool = Path(place) / "pool"
        measure(pool, pool_settings(), blocks, 1.0, seed)
        measure(out, open_settings(open_run(pool)), blocks, seconds, seed)


def _levels(
    sessions: int, rows: int, device_ms: str, loop: str = "client", wait: str = "wait", delay_us: int = 0
) -> dict[str, str]:
    return {
        "sessions": str(sessions),
        "rows_per_commit": str(rows),
        "commit_wait": wait,
        "commit_delay_us": str(delay_us),
        "loop": loop,
        "log_device_ms": device_ms,
    }


class _Lines:
    """Progress, a line per block's worth of samples."""

    def begin(self, samples: int, seconds: float) -> None:
        self.done, self.total = 0, samples
        print(f"{samples} samples, {seconds:.0f} s of load", file=sys.stderr)

    def advance(self, setting: str) -> None:
        self.done += 1
        if self.done % 50 == 0:
            print(f"{self.done} of {self.total} ({setting})", file=sys.stderr)


def measure(
    out: Path, combinations: Mapping[str, Mapping[str, str]], blocks: int, seconds: float, seed: int
) -> None:
    """Measure these settings into the run directory `out`."""
    names = tuple(combinations)
    load = check_load(max(int(levels["sessions"]) for levels in combinations.values()), "server")
    design = Design(names, names[0], blocks, seconds, min(seconds, 0.2), seed, null_pair=False)
    engine = open_engine("embedded", load, load.disk_bytes(None), (0.0,), seed)
    command = " ".join(["python", "benches/forecast_grid.py", *sys.argv[1:]])
    outcome = runner.run(
        EXPERIMENTS["calibrate"], Plan(design, combinations, load), engine, out, _Lines(), command
    )
    if outcome.error is not None:
        raise outcome.error


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--open", action="store_true", help="commits at random moments")
    parser.add_argument("--blocks", type=int, help=f"{BLOCKS}, and {OPEN_BLOCKS} with --open")
    parser.add_argument(
        "--seconds", type=float, help=f"of a sample; {SECONDS:g}, and {OPEN_SECONDS:g} with --open"
    )
    parser.add_argument("--seed", type=int, default=5)
    asked = parser.parse_args()
    if asked.open:
        measure_open(asked.run, asked.blocks or OPEN_BLOCKS, asked.seconds or OPEN_SECONDS, asked.seed)
    else:
        measure(asked.run, settings(), asked.blocks or BLOCKS, asked.seconds or SECONDS, asked.seed)

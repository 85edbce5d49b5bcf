"""What each rule of the group-commit model is worth: the forecasts' errors without it.

    python benches/ablation.py RUN

scores a run of `benches/forecast_grid.py` with every rule and once without each. A rule is cheap, and is to
go, if the errors grow by less than 0.3 points of the median and 1.5 of the 90th percentile without it.
Costs are read anew each time, because the cost of waiting is found by simulation. Writes
`benches/ablation.md`, and the raw errors beside it in `benches/results`. What was removed by it is in
docs/decisions/0007.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from types import MappingProxyType

import forecast_grid
import numpy as np

from redolab import _core
from redolab.forecast.costs import costs
from redolab.forecast.costs.direct import calibrating
from redolab.forecast.costs.direct.measured import measured_settings
from redolab.forecast.models import quantities
from redolab.model.distribution import constant
from redolab.records.store import open_run

HERE = Path(__file__).parent
COMMITS, EACH = 6_000, 25
"""Commits simulated at least, in all and of each session."""
CHEAP = {"median": 0.3, "90th percentile": 1.5}
"""Points by which an error may grow without a rule that is cheap."""
QUANTITIES = {"throughput_per_s": "throughput", "commit_time_ms": "commit time"}
Without = Callable[[_core.GroupCommitParameters], _core.GroupCommitParameters]
RULES: Mapping[str, Without] = MappingProxyType(
    {
        "each CPU has a queue of its own, as Linux has it": lambda it: it.replaced(own_queues=False),
        "who is woken goes to a CPU that is awake": lambda it: it.replaced(spread_below=0.0),
        "a server comes to its client's CPU": lambda it: it.replaced(fetch_below=0.0),
        "a CPU that idles takes over who waits elsewhere": lambda it: it.replaced(balance_s=0.0),
        "a CPU that idles takes time to be there": lambda it: it.replaced(idle_exit_s=0.0, halt_exit_s=0.0),
        "a CPU that has idled for long is halted": lambda it: it.replaced(halt_after_s=1e3),
        "handing over to an idle CPU takes time": lambda it: it.replaced(hand_over_exit_s=0.0),
        "a client's thread that slept costs more": lambda it: it.replaced(client_wake_s=0.0),
        "caches are cold after a wait for the device": lambda it: it.replaced(cold_s=0.0),
        "who was served goes on with cold caches": lambda it: it.replaced(
            served_s=0.0, wake_s=it.wake_s + it.served_s
        ),
        "the waker pays for each he wakes": lambda it: it.replaced(post_s=0.0, wake_s=it.wake_s + it.post_s),
        "a flush waits twice, for write and flush": lambda it: it.replaced(device_write_s=0.0),
        "an emulated device keeps its time from the write on": lambda it: it.replaced(device_paced=False),
        "one CPU hears of the disk": lambda it: it.replaced(device_cpu=None),
        "the disk's interrupt costs who runs there": lambda it: it.replaced(interrupt_s=0.0),
        "a device that has idled takes longer": lambda it: it.replaced(device_after_idle_s=()),
        "the device takes time per byte": lambda it: it.replaced(device_s_per_byte=0.0),
        "CPU times vary": lambda it: it.replaced(
            commit_cpu=constant(it.commit_cpu.mean_s), row_cpu=constant(it.row_cpu.mean_s)
        ),
        "others need CPU time too": lambda it: it.replaced(
            cpus=float(np.ceil(it.cpus)) if it.sessions > it.cpus else it.cpus
        ),
    }
)
EVERY = "every rule"
Error = tuple[str, str, float]
"""Setting, quantity, and forecast by measured."""


def main() -> None:
    """Score with every rule and without each, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="a run of benches/forecast_grid.py")
    run = parser.parse_args().run
    names = [EVERY, *RULES]
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = dict(zip(names, pool.map(errors, repeat(run), names), strict=True))
    with (HERE / "results" / "ablation.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["without", "setting", "quantity", "forecast_by_measured"])
        for name, rows in found.items():
            out.writerows([name, setting, quantity, f"{ratio:.6g}"] for setting, quantity, ratio in rows)
    (HERE / "ablation.md").write_text(page(run, found))


def errors(place: Path, name: str) -> list[Error]:
    """Forecast by measured of every closed setting that costs are not read from, without a rule."""
    run = open_run(place)
    measured = measured_settings(run)
    levels = {item["name"]: item["levels"] for item in run.manifest["settings"]}
    found = []
    with _without(RULES.get(name)):
        for loop in forecast_grid.LOOPS:
            for device_ms in forecast_grid.DEVICES_MS:
                known = forecast_grid.calibration_settings(loop, device_ms)
                calibrated = calibrating.calibrate(run, known, known[0])
                for setting, item in levels.items():
                    if (item["loop"], item["log_device_ms"]) != (loop, device_ms):
                        continue
                    if setting in known or "pause_ms" in item or setting not in measured:
                        continue
                    scenario = costs.scenario_of(item, int(item["sessions"]))
                    commits = max(COMMITS, EACH * scenario.sessions)
                    said = quantities.simulation(calibrated.point, scenario, commits)
                    found += [
                        (setting, quantity, said[quantity] / seen)
                        for quantity in QUANTITIES
                        if quantity in said and (seen := measured[setting][quantity].point)
                    ]
    return found


@contextmanager
def _without(rule: Without | None) -> Iterator[None]:
    """While it lasts, the model's parameters are made without a rule, and costs have no replicates."""
    made, places = costs.parameters, (costs, calibrating, quantities)
    calibrating.REPLICATES = 0
    for place in places:
        place.parameters = made if rule is None else lambda *asked: rule(made(*asked))
    try:
        yield
    finally:
        for place in places:
            place.parameters = made


def page(run: Path, found: Mapping[str, list[Error]]) -> str:
    """The table of prices, the dearest rule first."""
    manifest = open_run(run).manifest
    settings = {setting for setting, _, _ in found[EVERY]}
    base = _figures(found[EVERY])
    prices = {name: _figures(rows) - base for name, rows in found.items() if name != EVERY}
    allowed = np.array([CHEAP["median"], CHEAP["90th percentile"]] * len(QUANTITIES))
    dearest = sorted(prices, key=lambda name: -float((prices[name] / allowed).max()))
    heads = [f"{word}, {part}" for word in QUANTITIES.values() for part in CHEAP]
    lines = [
        "# What each rule of the model is worth",
        "",
        f"Made by `python benches/ablation.py` from {manifest['design']['blocks']} blocks of "
        f"{manifest['design']['seconds']:g} s a setting, {manifest['started_at'][:10]}.",
        f"The errors are those of {len(settings)} settings in which sessions loop, the corners "
        "among them, in percent of what was measured.",
        "Below the first row stands how many points more they are without a rule.",
        f"It is cheap where that is less than {CHEAP['median']:g} of each median and "
        f"{CHEAP['90th percentile']:g} of each 90th percentile.",
        "",
        f"| without | {' | '.join(heads)} | |",
        f"| --- |{' --- |' * (len(heads) + 1)}",
        f"| nothing: {EVERY} | {' | '.join(f'{value:.1f}' for value in base)} | |",
    ]
    for name in dearest:
        cheap = "cheap" if (prices[name] < allowed).all() else ""
        lines.append(f"| {name} | {' | '.join(f'{value:+.1f}' for value in prices[name])} | {cheap} |")
    return "\n".join(lines) + "\n"


def _figures(rows: list[Error]) -> np.ndarray:
    """Median and 90th percentile of the absolute error of each quantity, percent."""
    parts = []
    for quantity in QUANTITIES:
        off = [100 * abs(ratio - 1) for _, name, ratio in rows if name == quantity]
        parts += [np.quantile(off, 0.5), np.quantile(off, 0.9)]
    return np.array(parts)


if __name__ == "__main__":
    main()

"""How true the forecasts are on MariaDB and MySQL, on settings that they were not calibrated on.

    python benches/forecast_servers.py measure mariadb 5 RUN     private server, emulated log device, ms
    python benches/forecast_servers.py score RUN [RUN ...]       writes benches/forecast_servers.md

A run holds what `redolab run calibrate` measures and the settings that are forecast, in the same blocks.
Forecasts are scored as ratios to today's setting, which leaves out what the machine does from hour to hour.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from markdown import in_percent, table

from redolab import open_run
from redolab.engine import find_offer, open_engine
from redolab.experiment import EXPERIMENTS
from redolab.experiment.base import Plan, setting_name
from redolab.experiment.forecast_load import calibration_settings, check_load, looping
from redolab.forecast.ask import ask, models_of
from redolab.forecast.costs.costs import scenario_of
from redolab.forecast.costs.direct.calibrating import calibrate
from redolab.forecast.costs.direct.measured import measured_ratios
from redolab.forecast.models.quantities import ratios_to
from redolab.forecast.models.scenario_forecast import MODEL
from redolab.measure import runner
from redolab.records.design import Design
from redolab.records.run import Run

TODAY, CPUS = 16, 2
BLOCKS, SECONDS, SEED = 6, 0.8, 7
SESSIONS_AND_ROWS = (
    (2, 1), (3, 1), (4, 1), (6, 1), (8, 1), (12, 1), (24, 1), (48, 1), (64, 1),
    (4, 4), (8, 4), (16, 4), (32, 4), (4, 16), (16, 16), (32, 16), (2, 32), (4, 32), (32, 32), (8, 128),
)  # fmt: skip
PAUSES_US = ((8, 2_000), (16, 2_000), (32, 5_000))
WORSE = """\
What is worse than 10 % in the median, and why. MySQL without a binary log: with one row per commit and 6 to
32 sessions, a part of them has committed again before the next flush begins, a few microseconds after the
last one. They wait for one flush, and the model lets all of them wait for two. Today's setting is one of
these, so that every ratio is off by the same factor. Beside today's setting the model is off by little: 4
sessions with 32 rows do 391 commits per second, and it says 390.

The 90th percentiles are settings of many rows at 1 ms: there CPUs are busy, and a row's cost is measured
with 8 and 16 sessions alone.
"""
QUANTITIES = {
    "throughput_ratio": "commits per second",
    "commit_time_ratio": "commit time",
}


class _Silent:
    """No progress."""

    def begin(self, samples: int, seconds: float) -> None: ...

    def advance(self, setting: str) -> None: ...


def held_out() -> dict[str, Mapping[str, str]]:
    """The settings that are forecast, by name."""
    plain = [looping(sessions, rows, "wait") for sessions, rows in SESSIONS_AND_ROWS]
    paused = [{**looping(sessions, 1, "wait"), "commit_delay_us": str(us)} for sessions, us in PAUSES_US]
    return {setting_name(levels): levels for levels in (*plain, *paused)}


def measure(target: str, device_ms: float, out: Path) -> None:
    """Measure the settings of a calibration and those that are forecast, in the same blocks."""
    offer = find_offer(target)
    ways = offer.ways
    wanted = {**calibration_settings(TODAY, CPUS, ways.loops), **held_out()}
    combinations = {name: levels for name, levels in wanted.items() if offer.missing(target, levels) is None}
    most = max(int(levels["sessions"]) for levels in combinations.values())
    load = check_load(most, "client", ways.scopes[0])
    names = tuple(combinations)
    design = Design(names, names[0], BLOCKS, SECONDS, 0.15, SEED, null_pair=False)
    engine = open_engine(target, load, load.disk_bytes(None), (device_ms / 1e3,), SEED)
    command = " ".join(["python", "benches/forecast_servers.py", *sys.argv[1:]])
    plan = Plan(design, combinations, load)
    outcome = runner.run(EXPERIMENTS["calibrate"], plan, engine, out, _Silent(), command)
    if outcome.error is not None:
        raise outcome.error


def scored(run: Run) -> list[tuple[str, dict[str, tuple[float, float]]]]:
    """Of every setting that was forecast: by quantity, its ratio to today's as forecast and as measured."""
    levels = {item["name"]: item["levels"] for item in run.manifest["settings"]}
    held = [name for name in held_out() if name in levels]
    known = [name for name in levels if name not in held]
    calibrated = calibrate(run, known, run.manifest["design"]["baseline"])
    models = {MODEL: models_of(calibrated)[MODEL]}
    now = ask(models, calibrated.point, calibrated.measured[calibrated.today].scenario)[0][MODEL]
    observed = measured_ratios(run, calibrated.today)
    found = []
    for name in held:
        said = ask(models, calibrated.point, scenario_of(levels[name], int(levels[name]["sessions"])))[0]
        ratios = ratios_to(now, said.get(MODEL, {}))
        seen = {
            quantity: (ratios[quantity], point)
            for quantity in QUANTITIES
            if quantity in ratios and (point := observed[name][quantity].point)
        }
        found.append((name, seen))
    return found


def page(runs: Sequence[Run]) -> str:
    """The table of errors, and each setting."""
    lines = ["# Forecasts on MariaDB and MySQL", "", __doc__.splitlines()[0], ""]
    summary, details = [], []
    for run in runs:
        engine = run.manifest["engine"]
        logs = "" if engine["binlog"] else " without a binary log"
        title = f"{engine['name']} {engine['version']}{logs}, {engine['emulated']['log_device_ms']:g} ms"
        each = scored(run)
        errors = {
            quantity: [abs(seen[quantity][0] / seen[quantity][1] - 1) for _, seen in each if quantity in seen]
            for quantity in QUANTITIES
        }
        summary.append([title, str(len(each)), *(in_percent(found, 2) for found in errors.values())])
        details += [
            [
                title,
                name,
                *(
                    f"{seen[quantity][0]:.3g} / {seen[quantity][1]:.3g}"
                    if quantity in seen
                    else "not forecast"
                    for quantity in QUANTITIES
                ),
            ]
            for name, seen in each
        ]
        print(
            title, {quantity: statistics.median(found) for quantity, found in errors.items()}, file=sys.stderr
        )
    lines += table(["server and log device", "settings", *QUANTITIES.values()], summary)
    lines += [
        "",
        "Median and 90th percentile of the absolute error of the ratio to today's setting.",
        "",
        WORSE,
    ]
    lines += table(["server and log device", "setting", *QUANTITIES.values()], details)
    return "\n".join([*lines, "", "Ratios to today's setting: forecast / measured.", ""])


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        measure(sys.argv[2], float(sys.argv[3]), Path(sys.argv[4]))
    else:
        written = page([open_run(Path(place)) for place in sys.argv[2:]])
        (Path(__file__).parent / "forecast_servers.md").write_text(written)

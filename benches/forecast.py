"""How true the forecasts are: every model on every setting that it was not calibrated on.

    python benches/forecast.py                                  measures (40 minutes) and scores
    python benches/forecast.py GRID OPEN [--others GRID ...]    scores runs of `benches/forecast_grid.py`

Other grids are scored too, told apart, and join the record. Writes `benches/forecast.md`, the raw figures
beside it in `benches/results`, and the record that comes with Redolab, which gives the first forecasts of a
new user their intervals.

For each loop (inside the server, in a client) and each flush time of the emulated log (0 is the real device)
costs are read from four settings that wait for the log, from commits that do not wait, and from a session
that pauses between its commits; all other settings are forecast. Arrivals are forecast from costs that were
measured among them. The Universal Scalability Law needs three numbers of sessions: it is fitted on 1, 8 and
32, and silent of 8. Intervals are made from the scores of nine tenths of the settings and checked on the
tenth.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import statistics
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import forecast_changes
import forecast_grid
from held import Held, errors, families
from markdown import in_percent, table

from redolab.analysis.commit_times import percentile_us
from redolab.analysis.reading import counting, read_latency, read_samples
from redolab.forecast.ask import ask, models_of
from redolab.forecast.costs.costs import Scenario, scenario_of
from redolab.forecast.costs.direct.calibrating import calibrate
from redolab.forecast.costs.direct.measured import measured_ratios, measured_settings
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models.points import LINE, USL
from redolab.forecast.models.quantities import RATIOS, SCORED, Model, Quantities, ratios_to
from redolab.forecast.models.scenario_forecast import MODEL, extrapolated, of_replicates
from redolab.forecast.track_record import (
    Score,
    Silence,
    family_of,
    log_ratios,
    prediction_interval,
    scores_as_lines,
)
from redolab.records.sample import Sample
from redolab.records.store import Run, open_run

HERE = Path(__file__).parent
RECORD = HERE.parent / "python" / "redolab" / "forecast" / "record_of_grid.jsonl.gz"
FOLDS = 10
SEED = 1
CORE = ("single rows", "batches")
MAIN = MODEL
PERCENTILES = ("commit_time_ms_p50", "commit_time_ms_p95", "commit_time_ms_p99")


@dataclass(frozen=True)
class Today:
    """The setting that ratios are taken to, as forecast."""

    said: Mapping[str, Quantities]
    """Of each model."""
    replicates: Sequence[Mapping[str, Quantities]]
    """Of the model that forecasts, from each resampled calibration."""


def main() -> None:
    """Measure where no runs are given, score, and write."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("grid", type=Path, nargs="?", help="a run of benches/forecast_grid.py")
    parser.add_argument("open", type=Path, nargs="?", help="its open part")
    parser.add_argument("--others", type=Path, nargs="*", default=[], help="other grids, for the record")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        grid, arrivals = asked.grid, asked.open
        if grid is None:
            grid, arrivals = Path(place) / "grid", Path(place) / "open"
            every = forecast_grid.settings()
            forecast_grid.measure(grid, every, forecast_grid.BLOCKS, forecast_grid.SECONDS, 5)
            forecast_grid.measure_open(arrivals, forecast_grid.OPEN_BLOCKS, forecast_grid.OPEN_SECONDS, 6)
        runs = [open_run(grid)] + ([] if arrivals is None else [open_run(arrivals)])
        held = forecasts(runs[0])
        for run in runs[1:]:
            held += [item for item in forecasts(run) if item.family == "open arrivals"]
        moved = transferred(runs[0])
        again = {} if arrivals is None else repeated(runs[1], response_s)
        single = {} if arrivals is None else samples_of_arrivals(runs[1])
        changes = [
            error
            for loop, device_ms in systems(runs[0]).values()
            for error in forecast_changes.repeated(runs[0], loop, device_ms)
        ]
        about = _about(runs)
        noise = [("this one", held, repeated(runs[0], throughput))]
        others = []
        for number, other in enumerate(map(open_run, asked.others), 1):
            others.append(forecasts(other))
            noise.append((f"another, {number}", others[-1], repeated(other, throughput)))
    everything = [*held, *chain.from_iterable(others)]
    scores = cross_checked(everything)
    silences = [Silence(model, item.family, why) for item in everything for model, why in item.silent.items()]
    write_raw(held, HERE / "results" / "forecast.csv")
    for number, scored in enumerate(others, 1):
        write_raw(scored, HERE / "results" / f"forecast_another_{number}.csv")
    RECORD.write_bytes(gzip.compress(scores_as_lines(scores, silences).encode(), mtime=0))
    (HERE / "forecast.md").write_text(
        page(
            held,
            others,
            scores,
            moved,
            again,
            single,
            [
                *about,
                "",
                *forecast_changes.page(held, scores, silences, changes, MAIN),
                "",
                *_noise(noise),
            ],
        )
    )


def throughput(sample: Sample) -> float:
    """Commits per second."""
    return sample.commits / sample.elapsed_s


def response_s(sample: Sample) -> float:
    """Mean response time of arrivals; 0 where there were none."""
    return (sample.response_s or 0.0) / sample.commits


def repeated(run: Run, value: Callable[[Sample], float]) -> dict[str, list[float]]:
    """How far one sample's value is from the mean of the setting's others, by system; no unit.

    No forecast can be nearer to what is measured than measuring again is.
    """
    by_setting: dict[str, list[float]] = {}
    for sample in counting(read_samples(run)):
        if value(sample) > 0:
            by_setting.setdefault(sample.setting, []).append(value(sample))
    found: dict[str, list[float]] = {}
    for item in run.manifest["settings"]:
        if "pause_ms" in item["levels"]:
            continue
        values = by_setting.get(item["name"], [])
        for place, mine in enumerate(values if len(values) > 1 else ()):
            others = [*values[:place], *values[place + 1 :]]
            name = f"{item['levels']['loop']}, {item['levels']['log_device_ms']} ms"
            found.setdefault(name, []).append(abs(mine * len(others) / sum(others) - 1))
    return found


def _noise(grids: Sequence[tuple[str, Sequence[Held], Mapping[str, list[float]]]]) -> list[str]:
    """What measuring again says, beside what the forecast says, system by system."""
    lines = ["Measuring again against forecasting: throughput of one sample against the mean of the same"]
    lines += ["setting's others, and of the forecast against the mean of all; median / 90th percentile. On"]
    lines += ["which measurements the model's constants were chosen is in docs/decisions/0007.", ""]
    rows = []
    for label, held, noise in grids:
        for system, differences in sorted(noise.items()):
            mine = [item for item in held if item.system == system and item.family != "open arrivals"]
            rows.append([label, system, in_percent(differences), errors(mine, MAIN, "throughput_per_s")])
        mine = [item for item in held if item.family != "open arrivals"]
        everything = list(chain.from_iterable(noise.values()))
        rows.append([label, "all", in_percent(everything), errors(mine, MAIN, "throughput_per_s")])
    return [*lines, *table(["measurement", "system", "measured again", "forecast"], rows)]


def samples_of_arrivals(run: Run) -> dict[str, tuple[list[float], list[float]]]:
    """Mean and 95th percentile of the response time in each sample of the settings with arrivals, ms."""
    responses = read_latency(run, "response")
    found: dict[str, tuple[list[float], list[float]]] = {}
    for sample in counting(read_samples(run)):
        p95_us = percentile_us(responses.get(sample.sample, {}), 95)
        if p95_us is not None:
            means, p95s = found.setdefault(sample.setting, ([], []))
            means.append(1e3 * response_s(sample))
            p95s.append(p95_us / 1e3)
    return found


def systems(run: Run) -> dict[str, tuple[str, str]]:
    """Loop and flush time of every system measured, by name; pauses tell of the device alone."""
    found = {}
    for item in run.manifest["settings"]:
        levels = item["levels"]
        if "pause_ms" not in levels:
            loop, device = levels.get("loop", "client"), levels["log_device_ms"]
            found[f"{loop}, {device} ms"] = (loop, device)
    return dict(sorted(found.items()))


def forecasts(run: Run) -> list[Held]:
    """What every model says of the settings that the calibration did not use."""
    found = []
    measured = measured_settings(run)
    levels = {item["name"]: item["levels"] for item in run.manifest["settings"]}
    for system, (loop, device) in systems(run).items():
        known = forecast_grid.calibration_settings(loop, device)
        calibrated = calibrate(run, known, known[0])
        models = models_of(calibrated)
        ratios, today = measured_ratios(run, known[0]), _today(calibrated, models)
        for_law = forecast_grid.law_setting(loop, device)
        law = models_of(calibrate(run, (*known, for_law), known[0]))[USL]
        for name, item in levels.items():
            belongs = (item.get("loop", "client"), item["log_device_ms"]) == (loop, device)
            if belongs and name not in known and name in measured:
                scenario = scenario_of(item, int(item["sessions"]))
                changes = {} if scenario.arrival_rate_per_s is not None else ratios.get(name, {})
                observed = {
                    key: value.point for key, value in {**measured[name], **changes}.items() if value.point
                }
                mine = models if name == for_law else {**models, USL: law}
                held = _held(name, system, scenario, calibrated, mine, observed, today)
                found.append(replace(held, ratios=changes))
    return found


def _held(
    name: str,
    system: str,
    scenario: Scenario,
    calibrated: RunCosts,
    models: Mapping[str, Model],
    observed: Mapping[str, float],
    today: Today,
) -> Held:
    said, silent = ask(models, calibrated.point, scenario)
    again = _again(calibrated, models, scenario)
    replicates = [
        {**answer[MAIN], **ratios_to(before.get(MAIN, {}), answer[MAIN])}
        for answer, before in zip(again, today.replicates, strict=True)
        if answer
    ]
    beside = {
        model: {**values, **ratios_to(today.said.get(model, {}), values)} for model, values in said.items()
    }
    family, far = family_of(calibrated.point, scenario), bool(extrapolated(calibrated, scenario))
    return Held(name, system, scenario, family, observed, beside, replicates, silent, far, {})


def _today(calibrated: RunCosts, models: Mapping[str, Model]) -> Today:
    now = calibrated.measured[calibrated.today].scenario
    return Today(ask(models, calibrated.point, now)[0], _again(calibrated, models, now))


def _again(
    calibrated: RunCosts, models: Mapping[str, Model], scenario: Scenario
) -> list[dict[str, Quantities]]:
    mine = {MAIN: models[MAIN]}
    return of_replicates(calibrated, lambda costs: ask(mine, costs, scenario)[0])


def cross_checked(held: Sequence[Held]) -> list[Score]:
    """Every model's scores, with the intervals that the scores of the other folds give."""
    order = list(range(len(held)))
    random.Random(SEED).shuffle(order)
    folds = [set(order[number::FOLDS]) for number in range(FOLDS)]
    scores = []
    for fold in folds:
        record = _scores(item for number, item in enumerate(held) if number not in fold)
        for number in sorted(fold):
            scores += [_with_interval(score, held[number], record) for score in _scores([held[number]])]
    return scores


def left_out(held: Sequence[Held]) -> list[Score]:
    """The forecasting model's scores, with the intervals it has before any forecast was checked."""
    scores = []
    for item in held:
        record: list[Score] = []
        scores += [_with_interval(score, item, record) for score in _scores([item]) if score.model == MAIN]
    return scores


def _with_interval(score: Score, item: Held, record: Sequence[Score]) -> Score:
    again = [one[score.quantity] for one in item.replicates if score.quantity in one]
    ratios = log_ratios(record, score.model, score.family, score.quantity)
    found = prediction_interval(
        score.forecast, again if score.model == MAIN else (), ratios, extrapolated=item.far
    )
    return replace(score, low=found.low, high=found.high)


def _scores(held: Iterable[Held]) -> list[Score]:
    return [
        Score(model, item.family, quantity, value, item.observed[quantity], extrapolated=item.far)
        for item in held
        for model, said in item.said.items()
        for quantity, value in said.items()
        if quantity in SCORED and item.observed.get(quantity) and value > 0
    ]


def transferred(grid: Run) -> list[Held]:
    """Forecasts of the emulated 1 and 5 ms from costs that were measured on the real device."""
    measured = measured_settings(grid)
    found = []
    for loop in forecast_grid.LOOPS:
        known = forecast_grid.calibration_settings(loop, "0")
        # No interval is made of them.
        calibrated = replace(calibrate(grid, known, known[0]), replicates=())
        models = models_of(calibrated)
        today = _today(calibrated, models)
        for item in grid.manifest["settings"]:
            levels = item["levels"]
            if levels["loop"] != loop or levels["log_device_ms"] == "0" or "pause_ms" in levels:
                continue
            device_ms = float(levels["log_device_ms"])
            scenario = replace(scenario_of(levels, int(levels["sessions"])), log_device_ms=device_ms)
            observed = {k: v.point for k, v in measured[item["name"]].items() if v.point}
            found.append(_held(item["name"], f"{loop}, moved", scenario, calibrated, models, observed, today))
    return found


def write_raw(held: Sequence[Held], path: Path) -> None:
    """One line per setting, model and quantity."""
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["setting", "system", "family", "model", "quantity", "forecast", "measured"])
        for item in held:
            for model, said in item.said.items():
                for quantity, value in said.items():
                    if item.observed.get(quantity):
                        row = [item.name, item.system, item.family, model, quantity]
                        out.writerow([*row, f"{value:.6g}", f"{item.observed[quantity]:.6g}"])


def page(
    held: Sequence[Held],
    others: Sequence[Sequence[Held]],
    scores: Sequence[Score],
    moved: Sequence[Held],
    again: Mapping[str, list[float]],
    single: Mapping[str, tuple[list[float], list[float]]],
    about: Sequence[str],
) -> str:
    """The page of tables."""
    closed = [item for item in held if item.family != "open arrivals"]
    lines = ["# How true the forecasts are", "", *about, ""]
    left_out_families = _words(set(families(closed)) - set(CORE))
    lines += ["Absolute error in percent of what was measured, median / 90th percentile, over settings that"]
    lines += [f"the model was not calibrated on. Core: without {left_out_families}.", ""]
    lines += _closed_table(held)
    for number, other in enumerate(others, 1):
        lines += ["", f"The same settings, another measurement, {number}", ""]
        lines += _closed_table(other)
    lines += ["", f"Percentiles of the commit time, by the model that forecasts ({MAIN}): median error", ""]
    lines += table(
        ["settings", *(name.removeprefix("commit_time_ms_") for name in PERCENTILES)],
        [[str(len(closed)), *(errors(closed, MAIN, name, 1) for name in PERCENTILES)]],
    )
    lines += ["", "By family and by system, the same model", ""]
    groups: list[tuple[str, Callable[[Held], bool]]] = [
        *((name, lambda item, name=name: item.family == name) for name in families(held)),
        *((name, lambda item, name=name: item.system == name) for name in _systems(closed)),
    ]
    lines += table(
        ["", "settings", "throughput", "response time", "commit time", "p50", "p95", "p99"],
        [
            [
                name,
                str(len(group)),
                *(
                    errors(group, MAIN, quantity)
                    for quantity in ("throughput_per_s", "response_time_ms", "commit_time_ms", *PERCENTILES)
                ),
            ]
            for name, belongs in groups
            if (group := [item for item in held if belongs(item)])
        ],
    )
    arrivals = [item for item in held if item.family == "open arrivals"]
    if arrivals:
        lines += ["", "Open arrivals: response time from the moment it was asked for", ""]
        lines += table(
            ["model", "settings", "mean", "p95"],
            _by_model(arrivals, _models(arrivals), ("response_time_ms", "response_time_ms_p95")),
        )
        lines += ["", "By system: one sample's mean against the mean of the same setting's others, and the"]
        lines += [f"forecast ({MAIN})", ""]
        lines += table(
            ["system", "measured again: mean", "forecast: mean", "p95"],
            [
                [
                    system,
                    in_percent(differences),
                    *(
                        errors([item for item in arrivals if item.system == system], MAIN, quantity)
                        for quantity in ("response_time_ms", "response_time_ms_p95")
                    ),
                ]
                for system, differences in sorted(again.items())
            ],
        )
        lines += ["", *_each_rate(arrivals, single)]
    lines += ["", "Costs measured on the real device, flush times of 1 and 5 ms put in", ""]
    lines += table(
        ["model", "settings", "throughput", "commit time"],
        _by_model(moved, (MAIN, "group commit, approximated"), ("throughput_per_s", "commit_time_ms")),
    )
    lines += [
        "",
        "Coverage of 90 % prediction intervals of the same model, in percent, with its exact 95 % interval.",
        "Nine tenths of the settings are the record; further right, nothing of the family was checked.",
        "",
    ]
    everything = [*held, *chain.from_iterable(others)]
    unchecked = left_out(everything)
    lines += table(
        ["family", "ratio", "throughput", "commit time", "p95", "never checked: throughput", "commit time"],
        [
            [
                name,
                _covered(scores, name, RATIOS["throughput_per_s"]),
                _covered(scores, name, "throughput_per_s"),
                _covered(scores, name, "commit_time_ms"),
                _covered(scores, name, "commit_time_ms_p95"),
                _covered(unchecked, name, "throughput_per_s"),
                _covered(unchecked, name, "commit_time_ms"),
            ]
            for name in (*families(everything), "all")
        ],
    )
    return "\n".join(lines) + "\n"


def _each_rate(arrivals: Sequence[Held], single: Mapping[str, tuple[list[float], list[float]]]) -> list[str]:
    """Every rate: what is forecast, beside the least, the middle and the most of the samples."""
    lines = ["Every rate: the response time in ms that is forecast, and that of its samples (least, median,"]
    lines += ["most). Off is the forecast against the median sample, in percent.", ""]
    rows = []
    for item in arrivals:
        means, p95s = single[item.name]
        said = item.said.get(MAIN, {})
        cells = [
            *_beside(said.get("response_time_ms"), means),
            *_beside(said.get("response_time_ms_p95"), p95s),
        ]
        rate = f"{item.scenario.arrival_rate_per_s:,.0f}"
        rows.append([item.system, str(item.scenario.rows_per_commit), rate, *cells])
    heading = ["system", "rows", "per s", "mean", "samples' means", "off", "p95", "samples' p95", "off"]
    return [*lines, *table(heading, rows)]


def _beside(said: float | None, values: Sequence[float]) -> list[str]:
    """A forecast, if there is one, the samples it is about, and how far it is from the median of them."""
    middle = statistics.median(values)
    measured = " / ".join(f"{value:.3g}" for value in (min(values), middle, max(values)))
    if said is None:
        return ["", measured, ""]
    return [f"{said:.3g}", measured, f"{100 * (said / middle - 1):+.0f}"]


def _closed_table(held: Sequence[Held]) -> list[str]:
    """Every model on the settings in which sessions loop."""
    closed = [item for item in held if item.family != "open arrivals"]
    core = [item for item in closed if item.family in CORE]
    return table(
        ["model", "settings", "throughput", "commit time", "throughput, core", "commit time, core", "silent"],
        [
            [
                model,
                str(sum(model in item.said for item in closed)),
                errors(closed, model, "throughput_per_s"),
                errors(closed, model, "commit_time_ms"),
                errors(core, model, "throughput_per_s"),
                errors(core, model, "commit_time_ms"),
                str(sum(model in item.silent for item in closed)),
            ]
            for model in _models(closed)
        ],
    )


def _about(runs: Sequence[Run]) -> list[str]:
    machine, engine = runs[0].manifest["machine"], runs[0].manifest["engine"]
    blocks = runs[0].manifest["design"]["blocks"]
    seconds = runs[0].manifest["design"]["seconds"]
    return [
        f"Made by `python benches/forecast.py` from {sum(run.samples.num_rows for run in runs):,} samples of "
        f"PostgreSQL {engine['version']} ({machine['cpus']} CPUs, {machine['kernel']},",
        f"{runs[0].manifest['started_at'][:10]}): {blocks} blocks of {seconds:g} s a setting, in random "
        "order. Every figure behind the tables is in `results/forecast.csv`.",
    ]


def _by_model(held: Sequence[Held], models: Sequence[str], quantities: Sequence[str]) -> list[list[str]]:
    """A row per model: how many settings it spoke of, and its errors."""
    return [
        [
            model,
            str(sum(model in item.said for item in held)),
            *(errors(held, model, quantity) for quantity in quantities),
        ]
        for model in models
    ]


def _covered(scores: Sequence[Score], family: str, quantity: str) -> str:
    return forecast_changes.coverage(scores, quantity, MAIN, None if family == "all" else family)


def _models(held: Sequence[Held]) -> list[str]:
    names = dict.fromkeys(model for item in held for model in (*item.said, *item.silent))
    return sorted(names, key=lambda name: (name != MAIN, name == LINE))


def _systems(held: Sequence[Held]) -> list[str]:
    return list(dict.fromkeys(item.system for item in held))


def _words(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


if __name__ == "__main__":
    main()

"""Forecasts from watching, checked: a server at work is watched, changes are forecast and sealed, then made.

    python benches/anticipate.py measure DIR [ENGINE,...] [SESSIONS,...] [WATCHED SECONDS] [BLOCKS]
    python benches/anticipate.py score DIR       writes benches/anticipate.md and the raw figures beside it

    python benches/anticipate.py measure DIR embedded 8 10 2     the small form: in two minutes
    python benches/anticipate.py score benches/results/anticipate     the table that is kept, again

For each engine and number of sessions a private server with an emulated log device of 3 ms is loaded by
Redolab's client and watched through its URL, as somebody else's would be. What the watched run forecasts of
seven changes is sealed. Then today's setting and the changed ones are measured in the same blocks, in
random order, and the ratios compared.
"""

from __future__ import annotations

import csv
import json
import math
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from markdown import in_percent, table

from redolab import open_run
from redolab.commands.watch import watch
from redolab.engine import find_offer, open_engine
from redolab.engine.base import Engine
from redolab.experiment.forecast_load import check_load, looping
from redolab.forecast.costs.costs import Scenario
from redolab.forecast.costs.of_run import costs_of
from redolab.forecast.models.scenario_forecast import compare, forecast_with_replicates
from redolab.forecast.track_record import shipped_record
from redolab.measure.watching import PeriodLengths
from redolab.records.load import Amount
from redolab.records.sample import Setting
from redolab.records.sealed import is_whole, seal
from redolab.stats.estimates import exact_share

HERE = Path(__file__).parent
DEVICE_MS, SEED = 3.0, 26
ENGINES, LOADS = ("embedded", "mariadb", "mysql"), (8, 32)
WATCHED_S, STRETCH_S, SAMPLE_S, WARM_UP_S, BLOCKS = 30.0, 3.0, 1.0, 0.3, 6
QUANTITIES = {
    "throughput_per_s": "commits per second",
    "response_time_ms": "response time",
}
TODAY = "today"
# PostgreSQL and MariaDB are judged together.
PRODUCTS = {"embedded": "PostgreSQL and MariaDB", "mariadb": "PostgreSQL and MariaDB", "mysql": "MySQL"}


@dataclass(frozen=True)
class Row:
    """One sample of a setting."""

    block: int
    position: int
    change: str
    commits: int
    elapsed_s: float
    session_s: float


def changes(sessions: int) -> dict[str, dict[str, Any]]:
    """The seven changes, as factors of a scenario."""
    return {
        "sessions x 2": {"sessions": 2 * sessions},
        "sessions / 2": {"sessions": sessions // 2},
        "8 rows": {"rows_per_commit": 8},
        "32 rows": {"rows_per_commit": 32},
        "nowait": {"commit_wait": "nowait"},
        "log device / 2": {"log_device_ms": DEVICE_MS / 2},
        "log device x 3": {"log_device_ms": DEVICE_MS * 3},
    }


def levels_of(sessions: int, factors: Mapping[str, Any]) -> dict[str, str]:
    """The levels of a setting."""
    plain = looping(
        factors.get("sessions", sessions),
        factors.get("rows_per_commit", 1),
        factors.get("commit_wait", "wait"),
    )
    return {**plain, "log_device_ms": f"{factors.get('log_device_ms', DEVICE_MS):g}"}


def measure(out: Path, engines: Sequence[str], loads: Sequence[int], watched_s: float, blocks: int) -> None:
    """Watch, forecast, seal and measure each engine under each load."""
    out.mkdir(parents=True, exist_ok=True)
    for name in engines:
        for sessions in loads:
            measure_one(out, name, sessions, watched_s, blocks)


def measure_one(out: Path, name: str, sessions: int, watched_s: float, blocks: int) -> None:
    """The same of one."""
    asked = changes(sessions)
    combinations = {
        TODAY: levels_of(sessions, {}),
        **{change: levels_of(sessions, factors) for change, factors in asked.items()},
    }
    load = check_load(2 * sessions, "client", find_offer(name).ways.scopes[0])
    engine = open_engine(name, load, load.disk_bytes(None), (DEVICE_MS / 1e3,), SEED)
    place = out / f"{name.replace(':', '_')}-{sessions}"
    stop = threading.Event()
    try:
        made = dict(zip(combinations, engine.prepare(load, list(combinations.values())), strict=True))
        _watch(engine, made[TODAY], place, watched_s, stop)
        sealed = forecast(place, asked)
        rows = list(_blocks(engine, made, blocks, stop))
    finally:
        engine.close()
    stored = {
        "engine": name,
        "sessions": sessions,
        "watched_s": watched_s,
        "load_average": os.getloadavg()[1],
        "sealed": sealed,
        "samples": [asdict(row) for row in rows],
    }
    (out / f"{place.name}.json").write_text(json.dumps(stored, indent=1) + "\n")
    print(place.name, "measured", file=sys.stderr)


def _watch(engine: Engine, today: Setting, place: Path, watched_s: float, stop: threading.Event) -> None:
    """Watch the server at work, through its URL."""
    engine.apply(today)
    engine.settle()
    engine.work(Amount(2 * WARM_UP_S), stop)
    working = threading.Thread(target=engine.work, args=(Amount(watched_s + 4), stop))
    working.start()
    time.sleep(1)
    try:
        length = min(STRETCH_S, watched_s / 3)
        watch(_url(engine), place, watched_s, "benches/anticipate.py", PeriodLengths(length, 10**6, length))
    finally:
        working.join()


def _url(engine: Any) -> str:
    """Where the private server can be reached; only a bench asks that."""
    own = engine._own  # noqa: SLF001 -- nobody else asks where a private server is
    if hasattr(own, "socket"):
        return f"mysql://root@/?unix_socket={own.socket}"
    words = dict(word.split("=") for word in own.target.split())
    return f"postgresql://{words['user']}@/{words['dbname']}?host={words['host']}"


def forecast(place: Path, asked: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the watched run says of each change, sealed."""
    calibrated = costs_of(open_run(place))
    now = calibrated.measured[calibrated.today].scenario
    record = shipped_record()[0]
    today = forecast_with_replicates(calibrated, now)
    said = {}
    for change, factors in asked.items():
        ratios = compare(today, forecast_with_replicates(calibrated, replace(now, **factors)), record)
        said[change] = {name: asdict(ratios[name]) for name in QUANTITIES}
    return seal({"today": _plain(now), "cautions": list(calibrated.cautions), "changes": said})


def _plain(scenario: Scenario) -> dict[str, Any]:
    return asdict(scenario)


def _blocks(engine: Engine, made: Mapping[str, Setting], blocks: int, stop: threading.Event) -> Any:
    """The settings in random order, block by block."""
    rng = random.Random(SEED)
    for block in range(1, blocks + 1):
        order = list(made)
        rng.shuffle(order)
        for position, change in enumerate(order, 1):
            engine.apply(made[change])
            engine.settle()
            engine.work(Amount(WARM_UP_S), stop)
            work = engine.work(Amount(SAMPLE_S), stop)
            yield Row(
                block, position, change, work.commits, work.session_elapsed_max_s, work.session_elapsed_s
            )


def measured(stored: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The ratio of each change to today: the geometric mean over the blocks."""
    by_block: dict[int, dict[str, Row]] = {}
    for item in stored["samples"]:
        row = Row(**item)
        by_block.setdefault(row.block, {})[row.change] = row
    found: dict[str, dict[str, float]] = {}
    for change in stored["sealed"]["forecast"]["changes"]:
        pairs = [(rows[change], rows[TODAY]) for rows in by_block.values()]
        found[change] = {
            "throughput_per_s": _mean_ratio([_rate(one) / _rate(other) for one, other in pairs]),
            "response_time_ms": _mean_ratio([_time(one) / _time(other) for one, other in pairs]),
        }
    return found


def _rate(row: Row) -> float:
    return row.commits / row.elapsed_s


def _time(row: Row) -> float:
    return row.session_s / row.commits


def _mean_ratio(ratios: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def score(out: Path) -> None:
    """The table of errors, and the raw figures."""
    every = [json.loads(place.read_text()) for place in sorted(out.glob("*.json"))]
    lines = [
        "# Forecasts from watching",
        "",
        "Made by `benches/anticipate.py`: each server was watched for "
        f"{every[0]['watched_s']:g} s at work, under an emulated log device of {DEVICE_MS:g} ms.",
        "Seven changes were forecast from that alone, sealed, and then made. "
        "The machine's load average was "
        + ", ".join(f"{item['load_average']:.1f} ({item['engine']}, {item['sessions']})" for item in every)
        + ".",
        "",
    ]
    details, raw = [], []
    errors: dict[str, dict[str, list[float]]] = {}
    inside: dict[str, dict[str, list[bool]]] = {}
    summary = []
    for stored in every:
        if not is_whole(stored["sealed"]):
            raise SystemExit(f"The seal of {stored['engine']}, {stored['sessions']} is broken.")
        title = f"{stored['engine']}, {stored['sessions']} sessions"
        database = PRODUCTS[stored["engine"]]
        of_all = errors.setdefault(database, {name: [] for name in QUANTITIES})
        held = inside.setdefault(database, {name: [] for name in QUANTITIES})
        observed = measured(stored)
        mine: dict[str, list[float]] = {name: [] for name in QUANTITIES}
        for change, said in stored["sealed"]["forecast"]["changes"].items():
            cells = []
            for name in QUANTITIES:
                one, seen = said[name], observed[change][name]
                mine[name].append(abs(one["point"] / seen - 1))
                held[name].append(one["low"] <= seen <= one["high"])
                cells.append(f"{one['point']:.3g} ({one['low']:.2g} to {one['high']:.2g}) / {seen:.3g}")
                raw.append(
                    [stored["engine"], stored["sessions"], change, name,
                     *(f"{value:.5g}" for value in (one["point"], one["low"], one["high"], seen))]
                )  # fmt: skip
            details.append([title, change, *cells])
        for name, found in mine.items():
            of_all[name] += found
        summary.append([title, *(in_percent(found) for found in mine.values())])
    summary += [
        [f"**{database}**", *(in_percent(found) for found in of_all.values())]
        for database, of_all in errors.items()
    ]
    lines += table(["watched", *(f"{words}, error in %" for words in QUANTITIES.values())], summary)
    lines += ["", "Median / 90th percentile of the absolute error of the ratio to today.", ""]
    lines += table(
        ["watched", "quantity", "measured ratios inside the 90 % interval", "coverage, exact 95 % interval"],
        [
            [database, words, *_covered(held[name])]
            for database, held in inside.items()
            for name, words in QUANTITIES.items()
        ],
    )
    lines += ["", "Ratios to today: forecast (90 % interval) / measured.", ""]
    lines += table(["watched", "change", *QUANTITIES.values()], details)
    (HERE / "anticipate.md").write_text("\n".join([*(line.rstrip() for line in lines), ""]))
    with (HERE / "results" / "anticipate.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["engine", "sessions", "change", "quantity", "forecast", "low", "high", "measured"])
        writer.writerows(raw)
    print("\n".join(lines[5:30]))


def _covered(inside: Sequence[bool]) -> tuple[str, str]:
    share = exact_share(sum(inside), len(inside))
    ends = f"{100 * (share.low or 0):.0f} to {100 * (share.high or 0):.0f} %"
    return f"{sum(inside)} of {len(inside)}", ends


if __name__ == "__main__":
    command, directory, *rest = sys.argv[1:]
    if command == "measure":
        given = [*rest, *[None] * (4 - len(rest))]
        measure(
            Path(directory),
            given[0].split(",") if given[0] else ENGINES,
            [int(number) for number in given[1].split(",")] if given[1] else LOADS,
            float(given[2] or WATCHED_S),
            int(given[3] or BLOCKS),
        )
    else:
        score(Path(directory))

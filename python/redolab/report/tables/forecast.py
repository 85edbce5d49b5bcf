"""A forecast in words and tables, for the page and for the terminal; nothing is recomputed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab.analysis.statements.labels import label_of
from redolab.report.tables import cells
from redolab.report.tables.cells import Cell, Results, ShownColumn, ShownTable
from redolab.units import counted, significant

ROWS: Mapping[str, tuple[str, float]] = {
    "throughput_per_s": ("commits per s", 1.0),
    "rows_per_s": ("rows per s", 1.0),
    "response_time_ms": ("response time, ms", 1.0),
    "response_time_ms_p95": ("  95th percentile", 1.0),
    "commit_time_ms": ("commit time, ms", 1.0),
    "commit_time_ms_p50": ("  median", 1.0),
    "commit_time_ms_p95": ("  95th percentile", 1.0),
    "commit_time_ms_p99": ("  99th percentile", 1.0),
    "cpu_utilization": ("CPUs busy, %", 100.0),
    "device_utilization": ("log device busy, %", 100.0),
    "commits_per_flush": ("commits per flush", 1.0),
}
"""Quantity to its name on the screen and what it is multiplied by."""
_LEVELS: Mapping[str, Callable[[Any], str]] = {
    "sessions": lambda value: counted(value, "session"),
    "rows_per_commit": lambda value: f"{counted(value, 'row')} per commit",
    "commit_wait": str,
    "commit_delay_us": lambda value: f"commit delay {value:,} µs",
    "log_device_ms": lambda value: f"log device {value:g} ms",
    "cpus": lambda value: f"{value:g} effective CPUs",
    "think_time_ms": lambda value: f"think time {value:g} ms",
    "arrival_rate_per_s": lambda value: f"{value:,g} arrivals per s",
    "cpu_factor": lambda value: f"{value:g} times the CPU time per transaction",
}
NAMES: Mapping[str, str] = {
    "sessions": "sessions", "rows_per_commit": "rows per commit", "commit_wait": "commit wait",
    "commit_delay_us": "commit delay (µs)", "log_device_ms": "log device (ms)", "cpus": "effective CPUs",
    "think_time_ms": "think time (ms)", "arrival_rate_per_s": "arrivals per s",
    "cpu_factor": "CPU time, times",
}  # fmt: skip
UNSAID: Mapping[str, Any] = {
    "commit_delay_us": 0, "log_device_ms": None, "cpus": None, "think_time_ms": 0.0,
    "arrival_rate_per_s": None, "cpu_factor": 1.0,
}  # fmt: skip
"""Levels that go without saying."""
BEYOND = "Outside the measured range: {name} {asked} (measured: {measured}). The intervals are wider there."
"""The caution about a factor that was not measured; a page fills it too."""
ENOUGH = 0.95
"""The part of the best throughput of a sweep from which more sessions are hardly worth it."""


def sentences(results: Results) -> list[str]:
    """The answer: what the asked setting gives, how long the work takes, what brings what is wanted."""
    said = []
    if _is_whole(results):
        said.append(_headline(results, _is_changed(results)))
        if results["work_rows"] is not None:
            said.append(_work(results, _is_changed(results)))
    return [*said, *map(_answer, results["answers"])]


def facts(results: Results) -> list[tuple[str, str]]:
    """The forecast's starting point, and how accurate such forecasts were."""
    return _facts(results, _is_changed(results))


def tables(results: Results) -> list[ShownTable]:
    """The asked setting against today's, every quantity, and the sweep."""
    changed = _is_changed(results)
    return [
        *([_compared(results)] if changed else []),
        *([_forecast(results, changed)] if _is_whole(results) else []),
        *([_sweep(results)] if results["sweep"] else []),
    ]


def cautions(results: Results) -> list[str]:
    """Factors that were not measured, and the warnings."""
    return [*_beyond(results), *results["warnings"]]


@dataclass(frozen=True)
class SweptThroughput:
    """The throughput of a sweep."""

    factor: str
    """In words."""
    unit: str
    """`Commits per s` or `Rows per s`."""
    levels: Sequence[Any]
    labels: Sequence[str]
    estimates: Sequence[Mapping[str, float | None]]
    """Point and ends at each level; empty where there is no steady state."""
    enough: int | None
    """The place of the fewest sessions that bring nearly all of the best; None for other factors."""


def swept(results: Results) -> SweptThroughput | None:
    """The sweep that was asked for; None where none was."""
    sweep, factor = results["sweep"], results["swept"]
    if not sweep:
        return None
    several = any(one["levels"]["rows_per_commit"] > 1 for one in sweep)
    quantity, unit = ("rows_per_s", "Rows per s") if several else ("throughput_per_s", "Commits per s")
    levels = [one["levels"][factor] for one in sweep]
    estimates = [{} if one["refused"] else one["forecast"].get(quantity) or {} for one in sweep]
    points = [item.get("point") or 0.0 for item in estimates]
    enough = [place for place, point in enumerate(points) if point >= ENOUGH * max(points) > 0]
    fewest = enough[0] if factor == "sessions" and enough else None
    return SweptThroughput(NAMES[factor], unit, levels, list(map(_level_text, levels)), estimates, fewest)


def _is_changed(results: Results) -> bool:
    return bool(results["asked"]["levels"] != results["today"]["levels"])


def _is_whole(results: Results) -> bool:
    """Whether to show the asked setting's own forecast, except for a sweep or a question about today's."""
    return _is_changed(results) or not (results["sweep"] or results["answers"])


def _headline(results: Results, changed: bool) -> str:
    asked, today = results["asked"], results["today"]
    quantity, unit = _first(asked["levels"])
    said = cells.estimate(asked["forecast"][quantity])
    if not changed:
        measured = today["measured"].get(quantity)
        seen = f"; measured {cells.estimate(measured).text}" if measured else ""
        return f"Today's setting: forecast {said.text} {unit} ({said.interval}){seen}."
    changes, absolute = ", ".join(_changes(results)), f"{said.text} {unit} ({said.interval})"
    ratio = asked["compared_with_today"].get(quantity)
    if ratio is None:
        return f"{changes}: {absolute}."
    times = cells.estimate(ratio)
    return f"{changes}: {times.text} times today's {_unitless(quantity)} ({times.interval}); {absolute}."


def _unitless(quantity: str) -> str:
    """The name of a quantity without the unit of a time, for a ratio of it."""
    return ROWS[quantity][0].partition(",")[0]


def _work(results: Results, changed: bool) -> str:
    """How long the work takes, and how long it takes today."""
    rows, asked, today = results["work_rows"], results["asked"], results["today"]
    taken = cells.estimate(asked["elapsed_s"])
    text = f"{counted(rows, 'row')} take {taken.text} s ({taken.interval})"
    today_s = cells.estimate(today["elapsed_s"]).text
    return f"{text}, and with today's setting {today_s} s." if changed else f"{text}."


def _first(levels: Mapping[str, Any]) -> tuple[str, str]:
    """The quantity that answers first, with its unit: how many arrivals are done is known."""
    if levels["arrival_rate_per_s"] is not None:
        return "response_time_ms", "ms of response time"
    return (
        ("rows_per_s", "rows per s")
        if levels["rows_per_commit"] > 1
        else ("throughput_per_s", "commits per s")
    )


def _changes(results: Results) -> list[str]:
    before, after = results["today"]["levels"], results["asked"]["levels"]
    return [_LEVELS[name](value) for name, value in after.items() if value != before[name]]


def _facts(results: Results, changed: bool) -> list[tuple[str, str]]:
    levels = results["today"]["levels"]
    said = [_LEVELS[name](value) for name, value in levels.items() if value != UNSAID.get(name, "")]
    place = {"server": "inside the server", "client": "in a client"}[results["loop"]]
    today = f"{', '.join(said)} ({_published(results['today'])}loop {place})"
    facts = [("Run", results["run"]), ("Today", today)]
    if changed:
        facts.append(("Asked", ", ".join(_changes(results))))
    verified = results["asked"]["forecast"]["throughput_per_s"]["verified"]
    checked = f"verified {counted(verified, 'time')} before" if verified else "never verified before"
    facts.append(("Model", f"{results['model']}; {results['family']}, {checked}"))
    others = [
        f"{name} {cells.number(said['throughput_per_s'])}"
        for name, said in results["models"].items()
        if name != results["model"] and "throughput_per_s" in said
    ]
    facts += [("Record", text) for text in _record(results)]
    if results["answers"]:
        facts.append(
            ("Answers", "these intervals include the calibration's uncertainty, not the model's own error")
        )
    if others and (changed or not results["sweep"]):
        facts.append(("Others", f"commits per s forecast by the other models: {'; '.join(others)}"))
    return facts


def _published(today: Mapping[str, Any]) -> str:
    """The published name of today's setting, such as `wait/immediate`; nothing for a key of its levels."""
    levels = {name: str(today["levels"][name]) for name in ("sessions", "rows_per_commit", "commit_wait")}
    name = today["setting"]
    return f"setting {name}; " if label_of(name, levels) == name and not name[:1].isdecimal() else ""


def _record(results: Results) -> Iterator[str]:
    """The errors of the model's throughput forecasts, for each record."""
    for part in results["league"]["records"]:
        for row in part["rows"]:
            if row["model"] == results["model"] and row["quantity"] == "throughput_per_s":
                errors = [cells.number(100 * row[name], 2) for name in ("error_median", "error_p95")]
                text = (
                    f"{counted(row['forecasts'], 'earlier forecast')} of throughput ({part['name']}): "
                    f"median error {errors[0]}\u00a0%, 95\u00a0% of the errors below {errors[1]}\u00a0%"
                )
                held = f"; {cells.share(row['coverage']).text}\u00a0% were inside their intervals"
                yield text + (held if row["with_interval"] else "")


def _forecast(results: Results, changed: bool) -> ShownTable:
    asked, today = results["asked"], results["today"]
    measured = changed and bool(asked["measured"])
    sources = [("Today, measured", today["measured"])]
    # The forecast comes last, next to its interval; 80 columns hold three figures and the interval.
    if measured:
        sources.append(("Asked, measured", asked["measured"]))
    else:
        sources.append(("Today, forecast", today["forecast"]))
    if changed:
        sources.append(("Asked, forecast", asked["forecast"]))
    columns = [
        ShownColumn("", align="left"),
        *(ShownColumn(title) for title, _ in sources),
        ShownColumn(_interval_title(asked["forecast"])),
    ]
    rows = [
        [
            Cell(title),
            *(_point(values, name, scale) for _, values in sources),
            Cell(cells.estimate(asked["forecast"].get(name), scale).interval),
        ]
        for name, (title, scale) in _shown(results).items()
    ]
    return ShownTable("forecast", "Forecast", columns, rows)


def _compared(results: Results) -> ShownTable:
    ratios = results["asked"]["compared_with_today"]
    columns = [
        ShownColumn("", align="left"),
        ShownColumn("Times today's"),
        ShownColumn(_interval_title(ratios)),
    ]
    rows = []
    for name in _shown(results):
        if name in ratios:
            ratio = cells.estimate(ratios[name])
            rows.append([Cell(_unitless(name)), Cell(ratio.text), Cell(ratio.interval)])
    return ShownTable("compared", "Compared with today, forecast by forecast", columns, rows)


def _shown(results: Results) -> dict[str, tuple[str, float]]:
    """The quantities of the asked forecast; rows where a commit has several."""
    several = any(results[name]["levels"]["rows_per_commit"] > 1 for name in ("asked", "today"))
    known = results["asked"]["forecast"]
    return {name: row for name, row in ROWS.items() if name in known and (several or name != "rows_per_s")}


def _sweep(results: Results) -> ShownTable:
    factor = results["swept"]
    levels = [one["levels"] for one in results["sweep"]]
    unit = "Rows" if any(one["rows_per_commit"] > 1 for one in levels) else "Commits"
    quantity = "rows_per_s" if unit == "Rows" else "throughput_per_s"
    measured = any(one["measured"] for one in results["sweep"])
    known: Mapping[str, Any] = next((one["forecast"] for one in results["sweep"] if one["forecast"]), {})
    work = results["work_rows"] is not None
    columns = [
        ShownColumn(NAMES[factor][0].upper() + NAMES[factor][1:]),
        ShownColumn("Elapsed", "s") if work else ShownColumn(f"{unit} per s"),
        ShownColumn(_interval_title(known)),
        ShownColumn(
            f"{unit} per s, measured" if work and measured else "Measured" if measured else "Times today's"
        ),
        ShownColumn(f"{unit} per s") if work else ShownColumn("p95", "ms"),
        ShownColumn("CPUs", "% busy"),
        ShownColumn("Log", "% busy"),
    ]
    rows = []
    for one in results["sweep"]:
        said = cells.estimate(one["elapsed_s"] if work else one["forecast"].get(quantity))
        mark = "* " if one["extrapolated"] else ""
        compared = one["measured"] if measured else one["compared_with_today"]
        rows.append(
            [
                Cell(mark + _level_text(one["levels"][factor])),
                Cell("") if one["refused"] else Cell(said.text),
                Cell("no steady state" if one["refused"] else said.interval),
                _point(compared, quantity) if compared else Cell(""),
                _forecast_of(one, quantity if work else "commit_time_ms_p95"),
                _forecast_of(one, "cpu_utilization"),
                _forecast_of(one, "device_utilization"),
            ]
        )
    note = (
        f"Elapsed: time until {counted(results['work_rows'], 'row')} are written."
        if work
        else "p95: 95th percentile of the commit time."
    )
    if any(one["extrapolated"] for one in results["sweep"]):
        note += " * outside the measured range, so the interval is wider."
    return ShownTable("sweep", _sweep_caption(results, factor), columns, rows, note)


def _forecast_of(one: Mapping[str, Any], name: str) -> Cell:
    return Cell("") if one["refused"] else _point(one["forecast"], name, ROWS[name][1])


def _sweep_caption(results: Results, factor: str) -> str:
    before, after = results["today"]["levels"], results["asked"]["levels"]
    others = [
        _LEVELS[name](value)
        for name, value in after.items()
        if name != factor and value not in (before[name], None)
    ]
    return f"Sweep of {NAMES[factor]}" + (f", with {', '.join(others)}" if others else "")


def _answer(answer: Mapping[str, Any]) -> str:
    if answer["refused"]:
        return f"{_QUESTIONS[answer['question']]}: no answer; {answer['refused']}."
    brings, where = answer["brings"], _value_text(answer)
    figures = {name: significant(figure) for name, figure in brings.items()}
    if answer["question"] == "elbow":
        return (
            f"Elbow: {where} sessions give {figures['throughput_per_s']} commits per s, "
            f"{100 * answer['wanted']:g} % of the best throughput ({figures['best_throughput_per_s']} with "
            f"{brings['best_sessions']:,.0f} sessions). The textbook's bounds on throughput, which ignore "
            f"group commit, meet at {figures['bounds_elbow']} sessions."
        )
    if answer["question"] == "keep_p95_under":
        return (
            f"At up to {where} arrivals per s, 95 % of the response times stay under {answer['wanted']:g} "
            f"ms. The same number of sessions in a loop does {figures['looping_throughput_per_s']} commits "
            "per s."
        )
    return (
        f"{where} rows per commit or more save at least {100 * answer['wanted']:g} % of the time per row "
        f"that very many rows would save: {figures['rows_per_s']} rows per s, compared with "
        f"{figures['rows_per_s_of_one']} for one row per commit and {figures['rows_per_s_of_many']} for "
        "very many."
    )


_QUESTIONS: Mapping[str, str] = {
    "elbow": "Sessions at the elbow",
    "keep_p95_under": "Largest arrival rate",
    "rows_for": "Fewest rows per commit",
}


def _value_text(answer: Mapping[str, Any]) -> str:
    """The value with its interval; sessions and rows are whole."""
    value = answer["value"]
    if answer["factor"] == "arrival_rate_per_s":
        cell = cells.estimate(value)
        return f"{cell.text} ({cell.interval})" if cell.interval else cell.text
    low, high = (None if value[end] is None else f"{value[end]:,.0f}" for end in ("low", "high"))
    return f"{value['point']:,.0f}" + (f" ({low} – {high})" if low and high else "")


def _beyond(results: Results) -> Iterator[str]:
    """Factors of the forecast, its sweep and its answers that were not measured; each once."""
    parts = (results, *results["sweep"], *results["answers"])
    items = [item for part in parts for item in part["extrapolated"]]
    for factor in dict.fromkeys(item["factor"] for item in items):
        of_factor = [item for item in items if item["factor"] == factor]
        values = [_level_text(value) for value in sorted({item["asked"] for item in of_factor})]
        asked = values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"
        low, high = (of_factor[0][end] for end in ("measured_from", "measured_to"))
        measured = "none" if low is None else _level_text(low)
        measured += "" if low == high else f" to {_level_text(high)}"
        yield BEYOND.format(name=NAMES[factor], asked=asked, measured=measured)


def _level_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    text = f"{value:,}" if isinstance(value, int) else significant(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _interval_title(estimates: Mapping[str, Any]) -> str:
    one = next(iter(estimates.values()), {"level": 0.9})
    return cells.level(one)


def _point(estimates: Mapping[str, Any], name: str, scale: float = 1.0) -> Cell:
    return Cell(cells.estimate(estimates.get(name), scale).text)

"""The tables of a report, built once for the page and for the terminal; nothing is recomputed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab import units
from redolab.report import cells
from redolab.report.cells import Cell, Column, Results, Table


def emulation(results: Results) -> str:
    """The stamp every table of an emulated run carries; empty on real devices."""
    device = results["engine"].get("emulated", {}).get("log_device_ms")
    if not device:
        return ""
    delivered = device.get("delivered")
    text = f"EMULATED log device {device['requested']:g} ms"
    return text + (f" (delivered {cells.estimate(delivered).text})" if delivered else "")


def comparison(results: Results, setting: str, metric: str) -> Mapping[str, Any] | None:
    """Find the comparison of a setting with the baseline."""
    for entry in results["comparisons"]:
        if entry["a"] == setting and entry["metric"] == metric:
            return dict(entry)
    return None


def baseline(results: Results) -> str:
    """Name of the setting every other one is compared with."""
    return str(results["verdict"]["baseline"])


def verdict(results: Results) -> tuple[str, str]:
    """The verdict's first sentence, and the rest of it."""
    first, stop, rest = str(results["verdict"]["text"]).partition(". ")
    return first + stop.rstrip(), rest


def server(results: Results) -> str:
    """Name the server measured."""
    engine = results["engine"]
    place = "" if engine.get("local", True) else ", on another machine"
    return f"PostgreSQL {engine['version']} ({engine['name']}{place})"


def load(results: Results) -> str:
    """Say what the sessions did."""
    described = results["load"]
    name = f"{described['name']}, " if described.get("name") else ""
    return f"{name}{described['sessions']} sessions, one row per commit"


def facts(results: Results) -> list[tuple[str, str]]:
    """What was measured and where, as name and value."""
    samples = sum(setting["samples"] for setting in results["settings"])
    spoiled = sum(setting["spoiled"] for setting in results["settings"])
    seconds = units.duration(results["load"]["seconds"])
    extra = f", {spoiled} more spoiled" if spoiled else ""
    return [
        ("Server", server(results)),
        ("Load", load(results)),
        ("Samples", f"{samples} of {seconds}{extra}"),
        ("Commit mode set per", str(results["load"]["scope"])),
        ("Log device", emulation(results) or "the machine's own"),
        ("Regime of the baseline", _regime(results["regime"])),
    ]


def null_test(results: Results) -> str:
    """The run's own check, the baseline against itself, in one sentence."""
    test = results["null_test"]
    if test["passed"] is None:
        return "A/A check: not available; the baseline was not measured twice in every block."
    ratio = cells.estimate(test["ratio"])
    text = (
        f"A/A check {'passed' if test['passed'] else 'FAILED'}: the baseline against itself "
        f"{ratio.text}× ({ratio.interval}), {cells.p_equals(test['pvalue'])}."
    )
    if not test["passed"]:
        return text + " Equal settings look different in this run, so no verdict is given."
    smallest = test.get("minimum_detectable_ratio")
    if smallest is None:
        return text
    least = (
        f"a difference of {units.percent(smallest - 1)} or more" if smallest < 2
        else f"only differences by a factor of {cells.number(smallest)} or more"
    )  # fmt: skip
    return f"{text} This run can tell {least}."


def glance(results: Results) -> Table:
    """One row per setting: what it promises, what it gives, and against the baseline."""
    unit = cells.time_unit(results)
    rows = [
        [
            Cell(setting["name"]),
            Cell(setting["tier"]),
            cells.estimate(setting["throughput_per_s"]),
            cells.estimate(setting["response_time_ms"], unit.per_ms),
            *_against_baseline(results, setting["name"], "throughput_per_s"),
        ]
        for setting in results["settings"]
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Durability tier", align="left"),
        Column("Commits", "per s"),
        Column("Response time R", f"{unit.name} per commit"),
        Column("Commits/s against baseline", "ratio"),
        Column("Outcome", align="left"),
    )
    return Table("glance", f"The settings against {baseline(results)}", columns, rows)


def histogram_values(results: Results) -> Table:
    """The response times behind the smoothed histograms, one row per sample of each setting."""
    unit = cells.time_unit(results)
    settings = [item for item in results["settings"] if item.get("density")]
    values = [item["density"]["values_ms"] for item in settings]
    longest = max(map(len, values), default=0)
    rows = [
        [
            Cell(str(index + 1)),
            *(
                Cell(cells.number(unit.of(column[index]), 4) if index < len(column) else "")
                for column in values
            ),
        ]
        for index in range(longest)
    ]
    columns = [
        Column("Sample of the setting"),
        *(Column(item["name"], unit.name) for item in settings),
    ]
    return Table("histogram-values", "Response time R of each sample", columns, rows)


def curve_points(results: Results) -> Table:
    """The measured points of the response-time curve."""
    unit = cells.time_unit(results)
    rows = [
        [
            Cell(points["setting"]),
            Cell(cells.number(rate, 4)),
            Cell(cells.number(unit.of(time), 4)),
        ]
        for points in results["curve"]["points"]
        for rate, time in zip(points["arrival_rate_per_s"], points["response_time_ms"], strict=True)
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Commits L", "per s"),
        Column("Response time R", f"{unit.name} per commit"),
    )
    return Table("curve-points", "Measured points", columns, rows)


def comparisons(results: Results) -> Table:
    """The run's own comparisons, paired within blocks."""
    metrics = {"throughput_per_s": "commits/s", "response_time_ms": "R"}
    rows = [
        [
            Cell(entry["a"]),
            Cell(metrics.get(entry["metric"], entry["metric"])),
            cells.estimate(entry["ratio"]),
            cells.pvalue(entry["pvalue"]),
            cells.pvalue(entry["pvalue_adjusted"]),
            cells.outcome(entry["outcome"]),
            Cell(blocks_needed(entry)),
        ]
        for entry in results["comparisons"]
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Figure", align="left"),
        Column("Ratio to baseline", "× (interval)"),
        Column("p"),
        Column("p, adjusted", "Holm"),
        Column("Outcome", align="left"),
        Column("To settle it", align="left"),
    )
    note = "Ratios are paired within blocks; p from a permutation of the signs within blocks."
    friedman = results.get("friedman")
    if friedman:
        note += (
            f" Friedman test over all settings: statistic {cells.number(friedman['statistic'])}, "
            f"{cells.p_equals(friedman['pvalue'])}."
        )
    return Table("comparisons", f"Comparisons with {baseline(results)}", columns, rows, note)


def log_figures(results: Results) -> Table:
    """How each setting uses the log."""
    rows = [
        [
            Cell(setting["name"]),
            cells.estimate(setting["commits_per_flush"]),
            cells.estimate(setting["flush_time_ms"]),
            cells.estimate(setting["wal_bytes_per_commit"]),
            cells.estimate(setting["run_queue_time_ms"], cells.time_unit(results).per_ms),
            Cell(cells.count(setting["failed"])),
        ]
        for setting in results["settings"]
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Commits per flush"),
        Column("Log flush", "ms"),
        Column("Log", "bytes per commit"),
        Column("Run queue", f"{cells.time_unit(results).name} per commit"),
        Column("Failed commits"),
    )
    return Table("log-figures", "The log, the run queue and failures", columns, rows)


def blocks_needed(entry: Mapping[str, Any]) -> str:
    """Say how many more blocks would settle a comparison; empty when it is settled."""
    needed = entry.get("blocks_needed")
    if not needed:
        return ""
    return f"{cells.count(needed)} more {'block' if needed == 1 else 'blocks'}"


def _regime(regime: Mapping[str, Any]) -> str:
    parts = [
        f"{name} {cells.number(100 * regime[key]['point'])}\u00a0%"
        for name, key in (("log sync", "log_sync_share"), ("CPU and its queue", "cpu_share"))
        if regime[key] and regime[key]["point"] is not None
    ]
    return ": ".join([regime["name"], ", ".join(parts)] if parts else [regime["name"]])


def _against_baseline(results: Results, setting: str, metric: str) -> list[Cell]:
    if setting == baseline(results):
        return [Cell("1"), Cell("baseline", tone="baseline")]
    entry = comparison(results, setting, metric)
    if entry is None:
        return [Cell(cells.NOT_AVAILABLE), Cell(cells.NOT_AVAILABLE)]
    return [cells.estimate(entry["ratio"], suffix="×"), cells.outcome(entry["outcome"])]

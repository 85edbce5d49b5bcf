"""The tables of a report, built once for the page and for the terminal; nothing is recomputed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab import units
from redolab.dialect.known import product_name
from redolab.records.servers import SERVER, servers_of
from redolab.report.tables import cells, method, wording
from redolab.report.tables.cells import Cell, Results, ShownColumn, ShownTable

# What the sessions of each kind of load do (`redolab.records.load`).
_WORK = {
    "updates": "one row per commit",
    "ownrows": "one row per commit, a table for each session",
    "ledger": "one row per commit",
    "inserts": "single-row inserts",
    "scans": "whole scans of {rows:,} rows",
    "spins": "fixed CPU work",
    "draws": "{name} values with mean {mean:g}",
}
_BLIND = 1.5
"""Smallest detectable ratio from which an A/A check shows little."""
_NAMED = frozenset({"updates", "script"})
"""Kinds of load of which there are several by name."""


def emulation(results: Results) -> str:
    """The stamp every table of an emulated run carries; empty on real devices."""
    emulated = results["engine"].get("emulated", {})
    device, second = emulated.get("log_device_ms"), emulated.get("binlog_device_ms")
    if not device:
        return ""
    delivered = device.get("delivered")
    text = f"EMULATED log device {device['requested']:g} ms"
    if second:
        text += f", the binary log's {second['requested']:g} ms"
    return text + (f" (delivered {cells.estimate(delivered).text})" if delivered else "")


def comparison(results: Results, setting: str, metric: str) -> Mapping[str, Any] | None:
    """Find the comparison of a setting with the baseline of its server."""
    for entry in comparisons_on(results, metric):
        if entry["a"] == setting and entry["b"] == baseline_of(results, setting):
            return dict(entry)
    return None


def comparisons_on(results: Results, metric: str) -> list[Mapping[str, Any]]:
    """The comparisons of one metric."""
    return [entry for entry in results.get("comparisons") or () if entry["metric"] == metric]


def baseline(results: Results) -> str:
    """Name of the setting every other one is compared with; of several servers the first one's."""
    return str(results["verdict"]["baseline"])


def baseline_of(results: Results, setting: str) -> str:
    """Name of the setting that this one is compared with: its server's baseline."""
    baselines = results.get("baselines")
    if not baselines:
        return baseline(results)
    servers = {item["name"]: item["levels"].get(SERVER) for item in results["settings"]}
    return str(baselines.get(servers.get(setting), baseline(results)))


def baseline_text(results: Results) -> str:
    """The setting that others are compared with, for a heading."""
    return "the baseline of its server" if results.get("baselines") else baseline(results)


def verdict(results: Results) -> tuple[str, str]:
    """The verdict's first sentence, and the rest of it."""
    first, stop, rest = str(results["verdict"]["text"]).partition(". ")
    return first + stop.rstrip(), rest


def verdict_with_price(results: Results) -> tuple[str, str, str]:
    """The verdict's first sentence, what its advice costs (empty for nothing), and the rest of it."""
    first, rest = verdict(results)
    price = results["verdict"].get("price") or ""
    return first, price, " ".join(rest.replace(price, "").split()) if price else rest


def outcome(results: Results) -> Cell:
    """The verdict's outcome, in the experiment's words where it has its own."""
    name = results["verdict"]["outcome"]
    return Cell(results["verdict"].get("outcome_text") or cells.outcome(name).text, tone=name)


def is_database(results: Results) -> bool:
    """Whether a database was measured, and not the machine alone."""
    engine = results["engine"]
    return bool(servers_of(engine)) or product_name(engine["name"]) is not None


def servers(results: Results) -> list[tuple[str, str]]:
    """Name what was measured, each server by itself."""
    several = servers_of(results["engine"])
    if several:
        return [(f"Server {name}", _server(results, engine)) for name, engine in several.items()]
    engine = results["engine"]
    return [("Server" if is_database(results) else "Measured on", _server(results, engine))]


def _server(results: Results, engine: Mapping[str, Any]) -> str:
    place = "" if engine.get("local", True) else ", processes not visible from here"
    product = product_name(engine["name"])
    if product:
        return f"{product} {engine['version']} ({engine['name']}{place})"
    machine = results["method"].get("machine", {})
    cpus = machine.get("cpus")
    about = [f"{cpus} CPUs" if cpus else "", machine.get("cpu_model")]
    return ", ".join(str(part) for part in (engine["name"] + place, *about) if part)


def load(results: Results) -> str:
    """Say what the sessions did."""
    described = results["load"]
    # Runs stored before there were kinds had updates.
    kind = described.get("kind", "updates")
    parts = [str(described["name"])] if described.get("name") and kind in _NAMED else []
    if described.get("sessions") and kind != "draws":
        parts.append(_workers(results, described["sessions"]))
    if kind in _WORK:
        parts.append(_WORK[kind].format_map(described))
    if {setting["levels"].get("loop", described.get("loop")) for setting in results["settings"]} == {
        "client"
    }:
        parts.append("from a client")
    return ", ".join(parts)


def facts(results: Results) -> list[tuple[str, str]]:
    """The load, the server and the machine, as name and value."""
    if "facts" in results:
        return [(name, value) for name, value in results["facts"]]
    known = [
        *servers(results),
        *_machine(results),
        ("Load", load(results)),
        _counted(results),
    ]
    if any(_is_commit_mode(setting["levels"]) for setting in results["settings"]):
        known.append(("Commit mode set per", str(results["load"]["scope"])))
    if is_database(results):
        known.append(("Log device", emulation(results) or "the machine's own"))
    if results.get("regime"):
        known.append(("Regime of the baseline", _regime(results["regime"])))
    return known


def _machine(results: Results) -> list[tuple[str, str]]:
    """The machine of a database's run; without a database, the machine is already named as measured."""
    machine = results["method"].get("machine") or {}
    if not is_database(results) or not machine.get("cpus"):
        return []
    parts = [units.counted(machine["cpus"], "CPU"), machine.get("cpu_model"), machine.get("kernel")]
    return [("Machine", ", ".join(str(part) for part in parts if part))]


def null_test(results: Results) -> str:
    """The run's own check, the baseline against itself, in one sentence; empty where none was planned."""
    test = results.get("null_test")
    if not test:
        return ""
    if test["passed"] is None and test["pvalue"] is not None:
        few = f"{test['blocks']} blocks are too few"
        return (
            f"A/A check (the baseline against itself): {few} for a difference of the baseline from itself to "
            "show."
        )
    if test["passed"] is None:
        return (
            "A/A check (the baseline against itself): not available; the baseline was not measured twice in "
            "every block."
        )
    ratio = cells.estimate(test["ratio"])
    interval = f" ({ratio.interval})" if ratio.interval else ""
    text = (
        f"A/A check {_passed(test)}: the baseline against itself "
        f"{ratio.text}×{interval}, {cells.p_equals(test['pvalue'])}."
    )
    if not test["passed"]:
        given = results["verdict"]["outcome"] != "withheld"
        return text + (
            " Every interval allows for this difference of the baseline from itself, and an outcome that the "
            "difference could explain is withheld."
            if given
            else " Equal settings look different in this run, so no verdict is given."
        )
    smallest = test.get("minimum_detectable_ratio")
    if smallest is None:
        return text
    least = (
        f"a difference of {units.percent(smallest - 1)} or more" if smallest < 2
        else f"only differences by a factor of {cells.number(smallest)} or more"
    )  # fmt: skip
    return f"{text} This run can detect {least}."


def _passed(test: Mapping[str, Any]) -> str:
    """Whether the check passed, and the ratios that it cannot detect where they are large."""
    if not test["passed"]:
        return "FAILED"
    smallest = test.get("minimum_detectable_ratio")
    return (
        "passed"
        if smallest is None or smallest < _BLIND
        else (f"passed, but cannot detect less than {smallest:.2g}×")
    )


def overview(results: Results) -> ShownTable:
    """One row per setting: what it promises, what it gives, and against the baseline."""
    unit = cells.time_unit(results)
    named = wording.units(results)
    tiered = has_tiers(results)
    rows = [
        [
            Cell(setting["name"]),
            *([Cell(setting["tier"])] if tiered else []),
            cells.estimate(setting["throughput_per_s"]),
            cells.estimate(setting["response_time_ms"], unit.per_ms),
            *_against_baseline(results, setting["name"], "throughput_per_s"),
        ]
        for setting in results["settings"]
    ]
    columns = (
        ShownColumn("Setting", align="left"),
        *([ShownColumn("Durability tier", align="left")] if tiered else []),
        ShownColumn(named.capitalize(), "per s"),
        ShownColumn("Response time R", wording.per_unit(results, unit)),
        ShownColumn(f"{named.capitalize()}/s against baseline", "ratio"),
        ShownColumn("Outcome", align="left"),
    )
    caption = f"The settings against {baseline_text(results)}"
    return ShownTable("glance", caption, columns, rows)


def has_rates(results: Results) -> bool:
    """Whether its settings are known with their throughput."""
    return any(setting.get("throughput_per_s") for setting in results["settings"])


def has_tiers(results: Results) -> bool:
    """Whether its settings promise anything of a commit."""
    return is_database(results) and any(setting.get("tier") for setting in results["settings"])


def curve_points(results: Results) -> ShownTable:
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
        ShownColumn("Setting", align="left"),
        ShownColumn(f"{wording.units(results).capitalize()} L", "per s"),
        ShownColumn("Response time R", wording.per_unit(results, unit)),
    )
    return ShownTable("curve-points", "Measured points", columns, rows)


def comparisons(results: Results) -> ShownTable:
    """The run's own comparisons, paired within blocks."""
    entries = results.get("comparisons") or ()
    pairs = any(entry["b"] != baseline(results) for entry in entries)
    rows = [
        [
            Cell(entry["a"]),
            *([Cell(entry["b"])] if pairs else []),
            Cell(metric_name(results, entry["metric"])),
            cells.estimate(entry["ratio"]),
            cells.pvalue(entry["pvalue"]),
            cells.pvalue(entry["pvalue_adjusted"]),
            cells.outcome(entry["outcome"]),
            Cell(blocks_needed(entry)),
        ]
        for entry in entries
    ]
    columns = (
        ShownColumn("Setting", align="left"),
        *([ShownColumn("against", align="left")] if pairs else []),
        ShownColumn("Figure", align="left"),
        ShownColumn("Ratio" if pairs else "Ratio to baseline", "× (interval)"),
        ShownColumn("p"),
        ShownColumn("p, adjusted", "Holm"),
        ShownColumn("Outcome", align="left"),
        ShownColumn("To settle it", align="left"),
    )
    note = "Ratios are paired within blocks; p comes from a permutation of the signs within blocks."
    friedman = results.get("friedman")
    if friedman:
        note += (
            f" The Friedman test over all settings has the statistic {cells.number(friedman['statistic'])}, "
            f"{cells.p_equals(friedman['pvalue'])}."
        )
    caption = f"Comparisons with {baseline(results)}"
    if pairs:
        caption = "All comparisons" if results.get("baselines") else "Comparisons of all pairs"
    return ShownTable("comparisons", caption, columns, rows, note)


def metric_name(results: Results, metric: str) -> str:
    """A compared figure in few words."""
    names = {"throughput_per_s": f"{wording.units(results)}/s", "response_time_ms": "R"}
    return names.get(metric, metric.replace("_", " "))


def uses_the_log(results: Results) -> bool:
    """Whether anything is known of how its settings use the log."""
    return any(
        (setting.get(key) or {}).get("point") is not None
        for setting in results["settings"]
        for key in ("commits_per_flush", "flush_time_ms", "wal_bytes_per_commit")
    )


def blocks_needed(entry: Mapping[str, Any]) -> str:
    """Say how many more blocks would settle a comparison; empty when it is settled."""
    needed = entry.get("blocks_needed")
    if not needed:
        return ""
    return f"{cells.count(needed)} more {'block' if needed == 1 else 'blocks'}"


def _workers(results: Results, most: int) -> str:
    """How many sessions or processes work, at most where their number is a factor."""
    factors = {factor for setting in results["settings"] for factor in setting["levels"]}
    worker = "process" if "processes" in factors else "session"
    up_to = "up to " if {"sessions", "processes"} & factors else ""
    return f"{up_to}{units.counted(most, worker)}"


def _counted(results: Results) -> tuple[str, str]:
    """How much was measured: samples of so much work, or kills."""
    settings = results["settings"]
    spoiled = sum(setting.get("spoiled") or 0 for setting in settings)
    extra = f", {cells.count(spoiled)} more spoiled" if spoiled else ""
    if any("kills" in setting for setting in settings):
        return "Kills", cells.count(sum(setting["kills"] for setting in settings)) + extra
    samples = sum(setting.get("samples") or 0 for setting in settings)
    done = results["method"].get("design", {}).get("units")
    each = (
        f"{cells.count(done)} {wording.unit(results) if done == 1 else wording.units(results)}" if done
        else method.lengths(results)
    )  # fmt: skip
    return "Samples", f"{cells.count(samples)} of {each}{extra}"


def _is_commit_mode(levels: Mapping[str, str]) -> bool:
    return not {"commit_wait", "commit_logging"}.isdisjoint(levels)


def _regime(regime: Mapping[str, Any]) -> str:
    parts = [
        f"{name} {cells.number(100 * regime[key]['point'])}\u00a0%"
        for name, key in (("log sync", "log_sync_share"), ("CPU and its queue", "cpu_share"))
        if regime[key] and regime[key]["point"] is not None
    ]
    return ": ".join([regime["name"], ", ".join(parts)] if parts else [regime["name"]])


def _against_baseline(results: Results, setting: str, metric: str) -> list[Cell]:
    if setting == baseline_of(results, setting):
        return [Cell("1"), Cell("baseline", tone="baseline")]
    entry = comparison(results, setting, metric)
    if entry is None:
        return [Cell(cells.NOT_AVAILABLE), Cell(cells.NOT_AVAILABLE)]
    return [cells.estimate(entry["ratio"], suffix="×"), cells.outcome(entry["outcome"])]

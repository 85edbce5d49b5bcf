"""The ranked changes and Amdahl's bounds, for the page; nothing is recomputed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab import units
from redolab.report.tables import cells, tables, wording
from redolab.report.tables.cells import Cell, Results, ShownColumn, ShownTable

_MOST = 3
"""Sentences of advice."""
_OUTCOMES: Mapping[str, Cell] = {
    "more work": Cell("more work", tone="better"),
    "shorter times": Cell("shorter times", tone="better"),
    "not shown to help": Cell("not shown", tone="undecided"),
    "less work": Cell("less work", tone="worse"),
}


def has_advice(results: Results) -> bool:
    """Whether there is anything to say: a change, a bound, or that forecasts were cut short."""
    advice = results.get("advice") or {}
    return bool(advice.get("changes") or advice.get("bounds") or advice.get("cut_short"))


def changes(results: Results) -> ShownTable:
    """One row per change, ranked: what it gives, and whether commits stay as durable."""
    advice = results["advice"]
    rows = [
        [
            Cell(str(place)),
            Cell(item["change"]),
            _durability(item),
            _OUTCOMES[item["outcome"]],
            cells.estimate(item["gain"]),
            cells.estimate(item["time"]),
        ]
        for place, item in enumerate(advice["changes"], 1)
    ]
    columns = (
        ShownColumn("#"),
        ShownColumn("Change", align="left"),
        ShownColumn("Durability", align="left"),
        ShownColumn("Outcome", align="left"),
        ShownColumn("Work per second", "× today"),
        ShownColumn("Transaction time", "× today"),
    )
    notes = [
        f"Today's setting is {advice['of']}. {_intervals(advice['changes'])}Work is counted in commits, or "
        "in rows where the rows per commit change.",
        advice["order"],
        *advice["not_forecast"],
        *advice.get("assumptions", ()),
    ]
    return ShownTable("changes", "Changes, ranked", columns, rows, " ".join(notes))


def prices(results: Results) -> ShownTable:
    """The price of each change, and the measurement that confirms its gain."""
    rows = [
        [
            Cell(item["change"]),
            Cell(_price(item)),
            Cell(
                "measured in this run" if item["basis"] == "measured" else _command(results, item["measure"])
            ),
        ]
        for item in results["advice"]["changes"]
    ]
    columns = (
        ShownColumn("Change", align="left"),
        ShownColumn("Price and risk", align="left"),
        ShownColumn("To confirm it", align="left"),
    )
    return ShownTable("prices", "The price of each change, and how to confirm its gain", columns, rows)


def extrapolations(results: Results) -> list[str]:
    """Which forecasts go beyond what was measured or verified, one sentence for each reason."""
    said: dict[str, list[str]] = {}
    for item in results["advice"]["changes"]:
        if item["extrapolated"]:
            said.setdefault(item["extrapolated"], []).append(item["change"])
    return [f"{'; '.join(names)}: {reason}." for reason, names in said.items()]


def bounds(results: Results) -> ShownTable:
    """One row per part of the time: its share, and the most that removing all of it can give."""
    advice = results["advice"]
    rows = [
        [
            Cell(item["name"]),
            cells.share_of_time(item["share"]),
            _most(item["most"]),
            Cell(_command(results, item["measure"])),
        ]
        for item in advice["bounds"]
    ]
    columns = (
        ShownColumn("Time spent", align="left"),
        ShownColumn(f"Share of {advice['whole']}", "%"),
        ShownColumn("Without it, at most", "times as fast"),
        ShownColumn("What would settle it", align="left"),
    )
    return ShownTable(
        "bounds",
        f"What each part of the time can give, setting {advice['of']}",
        columns,
        rows,
        advice["assumes"],
    )


def sentences(results: Results) -> Sequence[str]:
    """The advice in at most three sentences, measured figures first."""
    advice = results.get("advice") or {}
    lines = [str(line) for line in advice.get("lines", ())]
    if not lines or advice["changes"]:
        return lines
    return [*_measured(results), *lines][:_MOST]


def _measured(results: Results) -> list[str]:
    """The gain of the best setting, where the run compared it and found it better."""
    verdict = results.get("verdict") or {}
    if verdict.get("outcome") != "better" or not verdict.get("best"):
        return []
    pair = (verdict["best"], verdict["baseline"])
    entries = tables.comparisons_on(results, "throughput_per_s")
    entry = next((item for item in entries if (item["a"], item["b"]) == pair), None)
    if entry is None or entry["ratio"]["point"] is None:
        return []
    ratio = cells.estimate(entry["ratio"], suffix="×")
    return [
        f"{verdict['best']} instead of {verdict['baseline']}: {ratio.full} the {wording.units(results)} per "
        "second (measured here)."
    ]


def _most(value: Mapping[str, Any]) -> Cell:
    if value["point"] is None:
        return Cell("no limit")
    point = cells.number(value["point"])
    if value["low"] is None:
        return Cell(point)
    high = "no limit" if value["high"] is None else cells.number(value["high"])
    return Cell(point, f"{cells.number(value['low'])} – {high}")


def _durability(item: Mapping[str, Any]) -> Cell:
    before, after = item["tier_before"] or cells.NOT_AVAILABLE, item["tier_after"] or cells.NOT_AVAILABLE
    return Cell(after, tone="" if before == after else "worse")


def _price(item: Mapping[str, Any]) -> str:
    lost = item["tier_after"] != item["tier_before"] and item["tier_text"]
    return f"a commit is {item['tier_text']}" if lost else str(item["risk"])


def _intervals(changed: Sequence[Mapping[str, Any]]) -> str:
    levels = {item["basis"]: units.significant(100 * item["gain"]["level"], 2) for item in changed}
    named = {"forecast": "for forecasts", "measured": "for what this run measured"}
    parts = [f"{level} % {named[basis]}" for basis, level in sorted(levels.items())]
    return f"Intervals: {', '.join(parts)}. " if parts else ""


def _command(results: Results, command: str) -> str:
    """A command with the run's directory in it."""
    return " ".join(str(results.get("run", word)) if word == "RUN" else word for word in command.split(" "))

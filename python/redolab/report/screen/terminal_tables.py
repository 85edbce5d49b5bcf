"""The tables of a run's screen: narrower than those of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from redolab import units
from redolab.analysis.statements.labels import joined
from redolab.dialect.row_names import is_wait, row_name
from redolab.report.screen import fitting
from redolab.report.tables import cells, tables, time_tables, wording
from redolab.report.tables.cells import Cell, Results, ShownColumn, ShownTable
from redolab.report.tables.rows import profile_rows, shares

_SHOWN_ROWS = 5
_MOST_NAMED = 4
"""Settings that a note names."""


def settings(results: Results) -> ShownTable:
    """Every setting per second and per unit of work."""
    unit = cells.time_unit(results)

    def time(value: Mapping[str, float | None] | None) -> Cell:
        return Cell(cells.number(unit.of(value["point"]) if value else None))

    # With several servers a separate table shows the tiers, and the names of settings are long.
    tiered = tables.has_tiers(results) and not results.get("baselines")
    rows = [
        [
            Cell(setting["name"]),
            *([Cell(setting["tier"])] if tiered else []),
            Cell(cells.number(setting["throughput_per_s"]["point"])),
            *(time(setting.get(key)) for key in ("service_time_ms", "queue_time_ms", "response_time_ms")),
        ]
        for setting in results["settings"]
    ]
    each = f"{unit.name}/{wording.unit(results)}"
    columns = (
        ShownColumn("Setting", align="left"),
        *([ShownColumn("Tier", align="left")] if tiered else []),
        ShownColumn(wording.units(results).capitalize(), "per s"),
        ShownColumn("CPU", each),
        ShownColumn("Wait", each),
        ShownColumn("R", each),
    )
    note = "The column Wait includes the time in the run queue."
    return ShownTable("settings", "Settings", columns, rows, note)


def ratios(results: Results) -> ShownTable:
    """Every setting's throughput against its server's baseline."""
    rows = []
    unsettled: dict[str, list[str]] = {}
    for entry in tables.comparisons_on(results, "throughput_per_s"):
        if entry["b"] != tables.baseline_of(results, entry["a"]):
            continue
        ratio = cells.estimate(entry["ratio"], suffix="×")
        rows.append(
            [
                Cell(entry["a"]),
                Cell(ratio.text),
                Cell(ratio.interval),
                cells.pvalue(entry["pvalue_adjusted"]),
                cells.outcome(entry["outcome"]),
            ]
        )
        if entry.get("blocks_needed"):
            unsettled.setdefault(tables.blocks_needed(entry), []).append(entry["a"])
    columns = (
        ShownColumn("Setting", align="left"),
        ShownColumn("Ratio"),
        ShownColumn("Interval"),
        ShownColumn("p, adjusted"),
        ShownColumn("Outcome", align="left"),
    )
    caption = f"{wording.units(results).capitalize()}/s against {tables.baseline_text(results)}"
    note = " ".join(f"{blocks} would settle {_named(names)}." for blocks, names in unsettled.items())
    return ShownTable("ratios", caption, columns, rows, note)


def _named(names: Sequence[str]) -> str:
    """Settings by name, or how many they are where they are many."""
    return joined(names) if len(names) <= _MOST_NAMED else f"{len(names)} of them"


def shares_by_setting(results: Results, width: int) -> ShownTable:
    """A row per setting, with as many of the largest rows of its time as `width` characters hold."""
    main = time_tables.main_rows(results)
    waits = [row for row in main if is_wait(row)]
    for dropped in range(len(waits) + 1):
        gone = set(waits[len(waits) - dropped :])
        whole = _shares(results, [row for row in main if row not in gone])
        for names in fitting.NAMES:
            table = fitting.broken(fitting.folded(whole, names))
            if fitting.needed(table) <= width:
                return table
    return table


def largest(setting: Mapping[str, object], results: Results) -> list[tuple[str, float]]:
    """The rows of a setting's time to show in a few lines, with their shares, in the order of the page."""
    known = {row: share["point"] for row, share in shares(setting).items() if share["point"] is not None}
    big = [row for row in known if abs(known[row]) >= time_tables.MAIN_SHARE]
    kept = sorted((row for row in big if row != "unaccounted"), key=lambda row: -abs(known[row]))[
        :_SHOWN_ROWS
    ]
    kept += [row for row in ("unaccounted",) if row in big]
    return [(row, known[row]) for row in profile_rows(results) if row in kept]


def _shares(results: Results, shown: Sequence[str]) -> ShownTable:
    unit = cells.time_unit(results)

    def part(setting: Mapping[str, object], row: str) -> Cell:
        share = shares(setting).get(row)
        if share is None or share["point"] is None:
            return Cell("–")
        return Cell(units.percent(share["point"]).removesuffix(" %"))

    rows = [
        [
            Cell(setting["name"]),
            Cell(cells.number(unit.of(setting["response_time_ms"]["point"]))),
            *(part(setting, row) for row in shown),
        ]
        for setting in results["settings"]
    ]
    columns = (
        ShownColumn("Setting", align="left"),
        ShownColumn("R", f"{unit.name}/{wording.unit(results)}"),
        *(ShownColumn(row_name(row), "%") for row in shown),
    )
    caption = "Where the time goes, session scope"
    note = "Smaller rows are in the report."
    return ShownTable("time", caption, columns, rows, note)

"""The tables of a durability run: what was lost when the server was killed."""

from __future__ import annotations

from redolab import units
from redolab.report import cells, tables
from redolab.report.cells import Cell, Column, Results, Table
from redolab.report.tables import emulation, verdict

__all__ = ["emulation", "facts", "kills", "losses", "outcome", "rates", "verdict"]


def facts(results: Results) -> list[tuple[str, str]]:
    """What was measured and where, as name and value."""
    counted = sum(setting["kills"] for setting in results["settings"])
    spoiled = sum(setting["spoiled"] for setting in results["settings"])
    return [
        ("Server", tables.server(results)),
        ("Load", tables.load(results)),
        ("Kills", f"{counted}" + (f", {spoiled} more spoiled" if spoiled else "")),
        ("Log device", emulation(results) or "the machine's own"),
    ]


def outcome(results: Results) -> Cell:
    """The outcome in the words of a durability run."""
    name = results["verdict"]["outcome"]
    known = {
        "equivalent": Cell("every promise was kept", tone="better"),
        "worse": Cell("a promise was BROKEN", tone="worse"),
    }
    return known.get(name) or cells.outcome(name)


def losses(results: Results) -> Table:
    """One row per setting: what it promised, and what the kills took."""
    rows = []
    for setting in results["settings"]:
        worst = setting["worst_kill"]
        rows.append(
            [
                Cell(setting["name"]),
                Cell(setting["tier"]),
                Cell(cells.count(setting["kills"])),
                Cell(cells.count(setting["acknowledged"])),
                Cell(cells.count(setting["missing"])),
                Cell(cells.count(worst["missing"]) if worst else cells.NOT_AVAILABLE),
                Cell(_window(setting["loss_window_max_s"])),
                _promise(setting["promise_kept"]),
            ]
        )
    columns = (
        Column("Setting", align="left"),
        Column("Durability tier", align="left"),
        Column("Kills"),
        Column("Acknowledged", "commits"),
        Column("Missing", "commits"),
        Column("Worst kill", "commits missing"),
        Column("Oldest missing", "before the kill"),
        Column("Promise", align="left"),
    )
    return Table("losses", "Acknowledged commits after a hard kill", columns, rows)


def rates(results: Results) -> Table:
    """What the kills cannot rule out."""
    rows = [
        [
            Cell(setting["name"]),
            Cell(cells.count(setting["kills_with_loss"])),
            cells.share(setting["loss_probability"]),
            cells.share(setting["lost_share"]),
            cells.estimate(setting["missing_per_kill"]),
            cells.estimate(setting["recovery_s"]),
            Cell(cells.count(setting["unacknowledged"])),
        ]
        for setting in results["settings"]
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Kills with a loss"),
        Column("Chance of a loss", "% of kills"),
        Column("Lost", "% of acknowledged"),
        Column("Missing", "commits per kill"),
        Column("Recovery", "s"),
        Column("Kept without acknowledgement", "commits"),
    )
    note = (
        "Shares carry exact (Clopper-Pearson) intervals: the upper end is what these kills cannot "
        "rule out, also where nothing was lost."
    )
    return Table("rates", "How sure that is", columns, rows, note)


def kills(results: Results) -> Table:
    """Every kill in the order made."""
    rows = [
        [
            Cell(str(entry["sample"])),
            Cell(str(entry["block"])),
            Cell(entry["setting"]),
            Cell(f"{entry['start_s']:.1f}"),
            Cell(f"{entry['elapsed_s']:.2f}"),
            Cell(cells.count(entry["acknowledged"])),
            Cell(cells.count(entry["missing"])),
            Cell(_window(entry["loss_window_s"])),
            Cell(cells.number(entry["recovery_s"])),
            Cell(entry["spoiled"] or ""),
        ]
        for entry in results["timeline"]
    ]
    columns = (
        Column("Kill"),
        Column("Block"),
        Column("Setting", align="left"),
        Column("Start", "s"),
        Column("Load before the kill", "s"),
        Column("Acknowledged", "commits"),
        Column("Missing", "commits"),
        Column("Oldest missing", "before the kill"),
        Column("Recovery", "s"),
        Column("Spoiled", align="left"),
    )
    return Table("kills", "Kills in the order made", columns, rows)


def _window(seconds: float | None) -> str:
    return "–" if seconds is None else units.duration(seconds)


def _promise(kept: bool | None) -> Cell:
    if kept is None:
        return Cell("none", tone="not_available")
    return Cell("kept", tone="passed") if kept else Cell("BROKEN", tone="failed")

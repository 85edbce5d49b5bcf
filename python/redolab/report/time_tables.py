"""The tables of where the time goes: per commit, row by row, and wait against scheduler state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from redolab.report import cells
from redolab.report.cells import Cell, Column, Results, Table
from redolab.report.rows import is_wait, profile_rows, row_name, times

_VIEWS: Mapping[str, tuple[str, str]] = {
    "profile": (
        "session",
        "What a commit takes in its session. The rows of a setting sum to 100 %; waiting for a client "
        "is think time, not load, and stands in none of them.",
    ),
    "instance_profile": (
        "instance",
        "What every server process does. Background processes work beside the sessions, so these times "
        "can sum to more than R; their main loops and the sessions' think time are idle, not load, and "
        "stand in no row.",
    ),
}


def profile_times(results: Results) -> Table:
    """Time per commit in each row of the session profile, one column per setting."""
    unit = cells.time_unit(results)
    settings = results["settings"]
    parts = [times(setting) for setting in settings]
    wholes = [unit.of(setting["response_time_ms"]["point"]) for setting in settings]

    def time(part: Mapping[str, Mapping[str, Any]], row: str, whole: float | None) -> Cell:
        value = unit.of(part[row]["point"]) if row in part else None
        return Cell("–") if value is None or whole is None else Cell(cells.part(value, whole))

    rows = [
        [
            Cell(row_name(row)),
            *(time(part, row, whole) for part, whole in zip(parts, wholes, strict=True)),
            Cell(row if is_wait(row) else ""),
        ]
        for row in profile_rows(results)
    ]
    total = [Cell("–") if whole is None else Cell(cells.part(whole, whole)) for whole in wholes]
    columns = (
        Column("Time spent", align="left"),
        *(Column(setting["name"], unit.name) for setting in settings),
        Column("Wait event", align="left"),
    )
    note = " ".join(
        ["The rows of a setting sum to its R. “–”: never seen in that setting.", *unaccounted(results)]
    )
    return Table(
        "profile-times",
        f"Time per commit, session scope, {unit.name}",
        columns,
        [*rows, [Cell("response time R"), *total, Cell("")]],
        note,
    )


def profile(results: Results, scope: Literal["profile", "instance_profile"]) -> Table:
    """Every row of every setting's profile: share and time per commit with intervals, and seconds."""
    unit = cells.time_unit(results)
    view, note = _VIEWS[scope]
    order = profile_rows(results, scope)
    rows = [
        [
            Cell(setting["name"]),
            Cell(row_name(entry["row"])),
            cells.share(entry["share"]),
            cells.estimate(entry["per_commit_ms"], unit.per_ms),
            Cell(cells.number(entry["time_s"])),
            Cell(entry["row"] if is_wait(entry["row"]) else ""),
        ]
        for setting in results["settings"]
        for entry in sorted(setting.get(scope) or (), key=lambda entry: order.index(entry["row"]))
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Time spent", align="left"),
        Column("Share", "% (interval)"),
        Column("Per commit", f"{unit.name} (interval)"),
        Column("All samples", "s"),
        Column("Wait event", align="left"),
    )
    return Table(f"{view}-profile", f"Every row, {view} scope", columns, rows, note)


def joint(results: Results) -> Table:
    """Wait posted or not, against what the process did; without rows where that is not known."""
    rows = []
    for setting in results["settings"]:
        matrix = setting.get("joint")
        for key, name in (("posted", "posted"), ("not_posted", "not posted")) if matrix else ():
            shares_of = [matrix[key][column] for column in ("on_cpu", "run_queue", "asleep")]
            known = [share for share in shares_of if share is not None]
            rows.append([Cell(setting["name"]), Cell(name), *map(_percent, shares_of), _percent(sum(known))])
    columns = (
        Column("Setting", align="left"),
        Column("Wait event", align="left"),
        Column("On CPU", "%"),
        Column("Run queue", "%"),
        Column("Asleep", "%"),
        Column("Together", "%"),
    )
    note = (
        "Waits as posted and run queue must not simply be added: a woken process still shows its wait "
        "while it stands in the run queue. Columns are the kernel's exact accounts; readings divide them; "
        f"{cells.NOT_AVAILABLE} where none fell."
        if rows
        else "Not available: on CPU and in the run queue could not be told apart at each reading."
    )
    return Table("joint", "Wait posted or not, share of the sessions' time", columns, rows, note)


def unaccounted(results: Results) -> list[str]:
    """Why more than 1 % of the time is unaccounted, one sentence per reason with its settings."""
    settings: dict[str, list[str]] = {}
    for setting in results["settings"]:
        if setting.get("unaccounted_text"):
            settings.setdefault(setting["unaccounted_text"], []).append(setting["name"])
    return [f"Unaccounted, {', '.join(names)}: {text}" for text, names in settings.items()]


def _percent(share: float | None) -> Cell:
    return Cell(cells.NOT_AVAILABLE if share is None else cells.part(100 * share, 100))

"""The tables of times: of each sample, per unit of work row by row, and wait against scheduler state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from redolab.analysis.statements.labels import joined
from redolab.dialect.row_names import is_wait, row_name
from redolab.report.tables import cells, wording
from redolab.report.tables.cells import Cell, Results, ShownColumn, ShownTable, TimeUnit
from redolab.report.tables.rows import profile_rows, shares, times

MAIN_SHARE = 0.01
"""Share of a setting's time from which a row is shown where there is little room."""
_COLUMNS = 6
"""Settings up to which each has a column of its own."""
_VIEWS: Mapping[str, tuple[str, str]] = {
    "profile": (
        "session",
        "Time of {unit} in its session. The rows of a setting sum to 100 %; waiting for a client is think "
        "time, which no row includes.",
    ),
    "instance_profile": (
        "instance",
        "Time of every server process. Background processes work at the same time as the sessions, so these "
        "times can sum to more than R. The main loops of background processes and the sessions' think time "
        "are idle time, which no row includes.",
    ),
}


def profile_times(results: Results) -> list[ShownTable]:
    """Time per unit of work in each row of the session profile, the whole of a setting as the last row.

    A column per setting; a table for every six of them.
    """
    settings = results["settings"]
    parts = [settings[start : start + _COLUMNS] for start in range(0, len(settings), _COLUMNS)]
    return [_by_row(results, part, number, len(parts)) for number, part in enumerate(parts, 1)]


def histogram_values(results: Results) -> ShownTable:
    """The response times behind the smoothed histograms: a column for each setting, or a row for each sample
    where settings are many.
    """
    unit = cells.time_unit(results)
    settings = [item for item in results["settings"] if item.get("density")]
    values = [item["density"]["values_ms"] for item in settings]
    caption = "Response time R of each sample"
    if len(settings) > _COLUMNS:
        listed = [
            [Cell(item["name"]), Cell(str(number)), Cell(cells.number(unit.of(value), 4))]
            for item, column in zip(settings, values, strict=True)
            for number, value in enumerate(column, 1)
        ]
        across = (
            ShownColumn("Setting", align="left"),
            ShownColumn("Sample of the setting"),
            ShownColumn("R", unit.name),
        )
        return ShownTable("histogram-values", caption, across, listed)
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
        ShownColumn("Sample of the setting"),
        *(ShownColumn(item["name"], unit.name) for item in settings),
    ]
    return ShownTable("histogram-values", caption, columns, rows)


def has_instance(results: Results) -> bool:
    """Whether anything is known of the whole instance's time."""
    return any(setting.get("instance_profile") for setting in results["settings"])


def main_rows(results: Results) -> list[str]:
    """The rows of the session profile that reach 1 % in a setting, and what is unaccounted."""
    parts = [shares(setting) for setting in results["settings"]]
    return [
        row
        for row in profile_rows(results)
        if row == "unaccounted"
        or any(row in part and abs(part[row]["point"] or 0.0) >= MAIN_SHARE for part in parts)
    ]


def _by_row(results: Results, settings: Sequence[Mapping[str, Any]], number: int, tables: int) -> ShownTable:
    unit = cells.time_unit(results)
    rows = [
        [
            Cell(row_name(row)),
            *(_part(setting, row, unit) for setting in settings),
            Cell(row if is_wait(row) else ""),
        ]
        for row in profile_rows(results)
    ]
    columns = (
        ShownColumn("Time spent", align="left"),
        *(ShownColumn(setting["name"], unit.name) for setting in settings),
        ShownColumn("Wait event", align="left"),
    )
    total = [
        Cell("response time R", tone="total"),
        *(_whole(setting, unit) for setting in settings),
        Cell(""),
    ]
    first = number == 1
    key = "profile-times" if first else f"profile-times-{number}"
    caption = f"Time per {wording.unit(results)}, session scope, {unit.name}"
    if tables > 1:
        caption += f", part {number} of {tables}"
    note = (
        "The rows of a setting sum to its response time R. “–” means that the row was never seen in that "
        "setting."
    )
    notes = [note, *unaccounted(results)] if first else []
    return ShownTable(key, caption, columns, [*rows, total], " ".join(notes))


def _part(setting: Mapping[str, Any], row: str, unit: TimeUnit) -> Cell:
    part, whole = times(setting).get(row), unit.of(setting["response_time_ms"]["point"])
    value = None if part is None else unit.of(part["point"])
    return Cell("–") if value is None or whole is None else Cell(cells.part(value, whole))


def _whole(setting: Mapping[str, Any], unit: TimeUnit) -> Cell:
    whole = unit.of(setting["response_time_ms"]["point"])
    return Cell("–" if whole is None else cells.part(whole, whole), tone="total")


def profile(results: Results, scope: Literal["profile", "instance_profile"]) -> ShownTable:
    """Every row of every setting's profile: share and time per unit with intervals, and seconds."""
    unit = cells.time_unit(results)
    view, note = _VIEWS[scope]
    order = profile_rows(results, scope)
    rows = [
        [
            Cell(setting["name"]),
            Cell(row_name(entry["row"])),
            cells.share(entry["share"]),
            cells.estimate(entry["per_unit_ms"], unit.per_ms),
            Cell(cells.number(entry["time_s"])),
            Cell(entry["row"] if is_wait(entry["row"]) else ""),
        ]
        for setting in results["settings"]
        for entry in sorted(setting.get(scope) or (), key=lambda entry: order.index(entry["row"]))
    ]
    columns = (
        ShownColumn("Setting", align="left"),
        ShownColumn("Time spent", align="left"),
        ShownColumn("Share", "% (interval)"),
        ShownColumn(f"Per {wording.unit(results)}", f"{unit.name} (interval)"),
        ShownColumn("All samples", "s"),
        ShownColumn("Wait event", align="left"),
    )
    note = note.format(unit=wording.one(results))
    return ShownTable(f"{view}-profile", f"Every row, {view} scope", columns, rows, note)


def joint(results: Results) -> ShownTable:
    """Wait posted or not, against what the process did; without rows where that is not known."""
    rows = []
    for setting in results["settings"]:
        matrix = setting.get("joint")
        for key, name in (("posted", "posted"), ("not_posted", "not posted")) if matrix else ():
            shares_of = [matrix[key][column] for column in ("on_cpu", "run_queue", "asleep")]
            known = [share for share in shares_of if share is not None]
            rows.append([Cell(setting["name"]), Cell(name), *map(_percent, shares_of), _percent(sum(known))])
    columns = (
        ShownColumn("Setting", align="left"),
        ShownColumn("Wait event", align="left"),
        ShownColumn("On CPU", "%"),
        ShownColumn("Run queue", "%"),
        ShownColumn("Asleep", "%"),
        ShownColumn("Together", "%"),
    )
    note = (
        "Do not add posted waits and run queue: a woken process still shows its wait while it is in the run "
        "queue. The columns divide the kernel's exact accounts between the rows by readings; "
        f"{cells.NOT_AVAILABLE} where there was no reading."
        if rows
        else "Not available: a reading could not distinguish a process on a CPU from one in the run queue."
    )
    return ShownTable("joint", "Wait posted or not, share of the sessions' time", columns, rows, note)


def unaccounted(results: Results) -> list[str]:
    """Why more than 1 % of the time is unaccounted, one sentence per reason with its settings."""
    settings: dict[str, list[str]] = {}
    for setting in results["settings"]:
        if setting.get("unaccounted_text"):
            settings.setdefault(setting["unaccounted_text"], []).append(setting["name"])
    every = len(results["settings"])
    return [
        f"Unaccounted, {'every setting' if len(names) == every else joined(names)}: {text}"
        for text, names in settings.items()
    ]


def _percent(share: float | None) -> Cell:
    return Cell(cells.NOT_AVAILABLE if share is None else cells.part(100 * share, 100))

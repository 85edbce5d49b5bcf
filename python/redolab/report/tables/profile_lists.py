"""The lists of a live profile: its sessions, and their kinds."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.dialect.row_names import is_wait, row_name
from redolab.report.tables import cells
from redolab.report.tables.cells import NOT_AVAILABLE, Cell, Results, ShownColumn, ShownTable
from redolab.report.tables.profile_tables import NARROWEST, Group, duration, percent, short

_SHOWN_SESSIONS = 20
_SHOWN_KINDS = 12


def number(session: Group) -> int:
    """The server's number for a session."""
    return int(session["pid"] if session["connection"] is None else session["connection"])


def kinds(results: Results, width: int = NARROWEST) -> ShownTable:
    """Sessions by user and application."""
    room = 20 + (width - NARROWEST) // 2
    groups = results["kinds"]
    rows = [
        [
            Cell(short(f"{item['user'] or '?'}, {item['application'] or 'no name'}", room)),
            Cell(cells.count(item["sessions"])),
            *_summary(item, groups[0]["busy_s"], 19 + (width - NARROWEST) // 2),
        ]
        for item in groups[:_SHOWN_KINDS]
    ]
    columns = (ShownColumn("User, application", align="left"), ShownColumn("Count"), *_SUMMARY)
    left = groups[_SHOWN_KINDS:]
    note = f"{len(left)} more kinds, busy {_busy(left)} together." if left else ""
    return ShownTable("kinds", "Kinds of session", columns, rows, note)


def sessions(
    results: Results,
    width: int = NARROWEST,
    most: int = _SHOWN_SESSIONS,
    hint: str = "One in detail: --session NUMBER.",
) -> ShownTable:
    """The `most` sessions with most busy time; how many more there are, and how to see one alone."""
    room = 16 + (width - NARROWEST) // 2
    groups = [item for item in results["sessions"] if item["profile"]]
    rows = [
        [
            Cell(str(number(item))),
            Cell(short(item["application"] or item["kind"], room)),
            *_summary(item, groups[0]["busy_s"], 19 + (width - NARROWEST) // 2),
        ]
        for item in groups[:most]
    ]
    columns = (ShownColumn("Session"), ShownColumn("Application", align="left"), *_SUMMARY)
    left, idle = groups[most:], len(results["sessions"]) - len(groups)
    notes = [
        f"{len(left)} more, busy {_busy(left)} together." if left else "",
        f"{idle} more did nothing." if idle else "",
        hint if groups else "",
    ]
    return ShownTable("sessions", "Sessions", columns, rows, " ".join(filter(None, notes)))


_SUMMARY = (
    ShownColumn("Busy", "s"),
    ShownColumn("CPU", "%"),
    ShownColumn("Largest wait", align="left"),
    ShownColumn("Share", "%"),
)


def _summary(group: Group, most_busy_s: float, room: int) -> list[Cell]:
    shares = {row["row"]: row["share"]["point"] for row in group["profile"]}
    busy = Cell(cells.part(group["busy_s"], max(most_busy_s, 10.0)))
    if not shares:
        return [busy, Cell(""), Cell(""), Cell("")]
    largest = max(filter(is_wait, shares), key=lambda row: shares[row], default=None)
    return [
        busy,
        Cell(percent(shares["on_cpu"]) if "on_cpu" in shares else NOT_AVAILABLE),
        Cell(short(row_name(largest), room) if largest else ""),
        Cell(percent(shares[largest]) if largest else ""),
    ]


def _busy(groups: Sequence[Group]) -> str:
    return duration(sum(item["busy_s"] for item in groups))

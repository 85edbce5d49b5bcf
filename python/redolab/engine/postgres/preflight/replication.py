"""Others that would get a run's writes: publications of its tables, and replication slots that keep its log.

A subscriber of all tables gets Redolab's rows too. It has no such tables, so it stops at the first row and
tries it again for ever. Dropping the tables mends nothing: the row stays in the log.

Source: PostgreSQL manual, "Logical Replication", sections "Publication", "Conflicts" and "Restrictions".
"""

from __future__ import annotations

from collections.abc import Sequence

from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.errors import RefusedError


def check_publications(control: Connection, database: str) -> None:
    """Make sure that no publication would take the tables of a run, before any of them is made.

    Raises:
        RefusedError: one takes all tables of the database.
    """
    taking = [row["name"] for row in fetch(control, "select_publications") if row["all_tables"]]
    if taking:
        raise RefusedError(
            f"In the database {database} the {_publications(taking)} all tables, and would publish Redolab's "
            "too. A subscriber does not have these tables, so it would stop permanently at their first row. "
            "Run in another database of this server, because a publication belongs to one database; or let "
            "the publication name its tables. Nothing was changed."
        )


def published(control: Connection) -> frozenset[str]:
    """The publications that take the tables of the run under way."""
    return frozenset(row["name"] for row in fetch(control, "select_publications"))


def check_unpublished(control: Connection, own: frozenset[str]) -> None:
    """Make sure that no publication takes the tables of the run under way.

    Args:
        control: a connection to the database.
        own: publications that the user's own list made.

    Raises:
        RefusedError: one was made meanwhile that does.
    """
    taking = sorted(published(control) - own)
    if taking:
        raise RefusedError(
            f"The {_publications(taking)} Redolab's tables by now, so the run ends here; when the run began, "
            "no publication did. A subscriber that received rows of these tables continues once it has "
            "tables with the same names and columns (docs/guide/own-server.md)."
        )


def idle_slots(control: Connection) -> list[str]:
    """The replication slots that nobody reads, and for which the server keeps all log from now on."""
    return [str(row["name"]) for row in fetch(control, "select_idle_slots")]


def kept_log(slots: Sequence[str], log_bytes: int | None = None) -> list[str]:
    """The effect of idle slots on a run, one sentence; none where there is no such slot.

    Args:
        slots: their names.
        log_bytes: how much log the run writes at most, where that is known.
    """
    if not slots:
        return []
    named, they = (
        (f"slot {slots[0]}", "it is") if len(slots) == 1 else (f"slots {', '.join(slots)}", "they are")
    )
    most = "" if log_bytes is None else f", at most {log_bytes / 1e9:,.1f} GB,"
    return [
        f"Nobody reads from the replication {named}: this server keeps all log of the run{most} until {they} "
        "read or dropped, unless max_slot_wal_keep_size limits it."
    ]


def _publications(names: Sequence[str]) -> str:
    """With the verb: `publication a publishes`, `publications a, b publish`."""
    return (
        f"publication {names[0]} publishes"
        if len(names) == 1
        else (f"publications {', '.join(names)} publish")
    )

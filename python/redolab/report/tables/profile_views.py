"""Which tables a live profile has: of the whole server, or of one session."""

from __future__ import annotations

from redolab.errors import UsageError
from redolab.report.tables import profile_lists
from redolab.report.tables import profile_tables as made
from redolab.report.tables.cells import Results, ShownTable


def instance_tables(results: Results, width: int = made.NARROWEST) -> list[ShownTable]:
    """The tables of the whole profile: instance, sessions, their kinds, the log."""
    instance = results["instance"]
    tables = [
        made.profile(instance, "instance", "Where the time goes, instance", width),
        made.top_events(instance, "Top five waits, instance", width),
        made.profile(results["all_sessions"], "all_sessions", "Where the time goes, sessions", width),
        profile_lists.kinds(results, width),
        profile_lists.sessions(results, width),
        made.joint(instance, "Wait posted or not, instance"),
        made.log_waits(results, width),
    ]
    return [table for table in tables if table is not None and table.rows]


def session_tables(results: Results, session: int, width: int = made.NARROWEST) -> list[ShownTable]:
    """The tables of one session, by its number in the server.

    Raises:
        UsageError: no session of that number was there.
    """
    chosen = [item for item in results["sessions"] if profile_lists.number(item) == session]
    if not chosen:
        known = ", ".join(str(profile_lists.number(item)) for item in results["sessions"][:10])
        seen = f"The busiest sessions: {known}." if known else "No session was connected."
        raise UsageError(f"No session {session} was seen. {seen}")
    tables: list[ShownTable] = []
    for item in chosen:
        who = ", ".join(str(item[key]) for key in ("user", "database", "application", "client") if item[key])
        caption = f"Session {session}" + (f": {who}" if who else "") + (", ended" if item["ended"] else "")
        parts = [
            made.profile(item, "session", caption, width),
            made.top_events(item, f"Top five waits, session {session}", width),
            made.joint(item, f"Wait posted or not, session {session}"),
        ]
        if not item["profile"]:
            tables.append(
                ShownTable("profile-session", caption, (), (), "The session only waited for its client.")
            )
        tables += [table for table in parts if table is not None and table.rows]
    return tables

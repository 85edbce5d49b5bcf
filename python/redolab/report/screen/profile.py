"""A live profile in the terminal: the headline first, made for 80 columns, readable without colour."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.text import Text

from redolab.errors import UsageError
from redolab.outlet import terminal
from redolab.report.screen.paper import Paper
from redolab.report.tables import advice, profile_lists
from redolab.report.tables import profile_tables as made
from redolab.report.tables.cells import Results, Table


def print_profile(results: Results, session: int | None = None, console: Console | None = None) -> None:
    """Print a live profile, or one session of it.

    Raises:
        UsageError: no session of that number was there.
    """
    console = console or terminal()
    console.print(ProfileScreen(results, session))


class ProfileScreen:
    """A live profile as something rich can print; `session` is the number of one to show alone."""

    def __init__(self, results: Results, session: int | None = None) -> None:
        self._results = results
        self._session = session

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        paper = Paper(options.max_width, plain=options.ascii_only)
        if self._session is None:
            tables = instance_tables(self._results, options.max_width)
        else:
            tables = session_tables(self._results, self._session, options.max_width)
        yield paper.text(made.headline(self._results), "bold")
        yield Text()
        yield from paper.facts(made.facts(self._results))
        if self._session is None:
            yield from paper.numbered("What to change", advice.sentences(self._results))
        for table in tables:
            yield from paper.table(table)
        yield Text()
        yield Remarks(self._results)


class Remarks:
    """The instrument card, what is not available and what to read with care, as rich can print them."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        paper = Paper(options.max_width, plain=options.ascii_only)
        yield Text("Instrument", "bold")
        yield Padding(paper.text(self._results["instrument"]["text"]), (0, 0, 0, 2))
        missing = [(f"  {item['what']}", item["why"]) for item in self._results["not_available"]]
        warnings = [("  warning", text) for text in self._results["warnings"]]
        for title, lines in (("Not available here", missing), ("Read with care", warnings)):
            if lines:
                yield Text()
                yield Text(title, "bold")
                yield from paper.facts(lines)


def instance_tables(results: Results, width: int = made.NARROWEST) -> list[Table]:
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


def session_tables(results: Results, session: int, width: int = made.NARROWEST) -> list[Table]:
    """The tables of one session, by its number in the server.

    Raises:
        UsageError: no session of that number was there.
    """
    chosen = [item for item in results["sessions"] if profile_lists.number(item) == session]
    if not chosen:
        known = ", ".join(str(profile_lists.number(item)) for item in results["sessions"][:10])
        seen = f"The busiest that were there: {known}." if known else "No session was there."
        raise UsageError(f"No session {session} was seen. {seen}")
    tables: list[Table] = []
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
                Table("profile-session", caption, (), (), "It did nothing but wait for its client.")
            )
        tables += [table for table in parts if table is not None and table.rows]
    return tables

"""A live profile in the terminal: the headline first, made for 80 columns, readable without colour."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.text import Text

from redolab.console import terminal
from redolab.report.screen.paper import Paper
from redolab.report.tables import advice, profile_views
from redolab.report.tables import profile_tables as made
from redolab.report.tables.cells import Results


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
            tables = profile_views.instance_tables(self._results, options.max_width)
        else:
            tables = profile_views.session_tables(self._results, self._session, options.max_width)
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
        missing = [(item["what"], item["why"]) for item in self._results["not_available"]]
        warnings = [("warning", text) for text in self._results["warnings"]]
        for title, lines in (("Not available here", missing), ("Read with care", warnings)):
            if lines:
                yield Text()
                yield Text(title, "bold")
                yield from (Padding(grid, (0, 0, 0, 2)) for grid in paper.facts(lines))

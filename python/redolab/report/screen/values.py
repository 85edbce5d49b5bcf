"""The analysis of a column of numbers in the terminal: the answer first, made for 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

from redolab.console import terminal
from redolab.report.screen.fitting import fitted
from redolab.report.screen.paper import Paper
from redolab.report.tables import cells, shown_tables
from redolab.report.tables.cells import Results


def print_values(results: Results, console: Console | None = None) -> None:
    """Print the results object of `redolab analyze`."""
    console = console or terminal()
    console.print(ValuesScreen(results))


class ValuesScreen:
    """The analysis of a column of numbers, as something rich can print."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        results, paper = self._results, Paper(options.max_width, plain=options.ascii_only)
        first, *rest = results["answer"]
        yield paper.text(first, "bold")
        for sentence in rest:
            yield paper.text(sentence)
        yield Text()
        yield from paper.facts(_facts(results))
        for table in (*shown_tables.first(results), *shown_tables.others(results)):
            yield from paper.table(fitted(table, paper.width))
        if results["warnings"]:
            yield Text()
            yield Text("Read with care", "bold")
            yield from paper.facts([("  warning", text) for text in results["warnings"]])


def _facts(results: Results) -> list[tuple[str, str]]:
    source = results["source"]
    by = f", by {source['group']}" if source["group"] else ""
    less = f" less {source['against']}" if source["against"] else ""
    used = f"{cells.count(source['values'])} of {cells.count(source['rows'])} rows"
    return [("File", source["file"]), ("Column", f"{source['value']}{less}{by}"), ("Values", used)]

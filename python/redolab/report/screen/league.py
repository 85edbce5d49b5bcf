"""The league of models in a terminal."""

from __future__ import annotations

from rich.console import Console

from redolab.console import terminal
from redolab.report.screen.fitting import fitted
from redolab.report.screen.paper import Paper
from redolab.report.tables import shown_tables
from redolab.report.tables.cells import Results
from redolab.units import counted


def print_league(results: Results, console: Console | None = None) -> None:
    """Print the results object of `redolab league`."""
    console = console or terminal()
    paper = Paper(console.width, plain=console.options.ascii_only)
    for table in shown_tables.first(results):
        for part in paper.table(fitted(table, paper.width), ""):
            console.print(part)
    kept = {item["record"]: item for item in results["ledger"]}
    here = kept["here"]
    told = f"Sealed and checked on this machine: {counted(here['forecasts'], 'forecast')}"
    if here["unscored"]:
        told += f"; sealed and never scored: {here['unscored']}"
    if kept["imported"]["forecasts"]:
        told += f"; imported: {kept['imported']['forecasts']}"
    console.print()
    console.print(paper.text(f"{told}. `redolab verify-forecast` adds a forecast."))

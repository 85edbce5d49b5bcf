"""`redolab league`, and the league in every report: the models' accuracy by today's ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from redolab.commands.options import Json
from redolab.console import say, show_json
from redolab.forecast.checks.ledger import export_ledger, forget_imported, import_ledger, read_ledger
from redolab.records.run import Run
from redolab.records.store import read_document
from redolab.records.writing.writer import write_document
from redolab.report.screen.league import print_league


def command(
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write this machine's ledger to a file, to share it.")
    ] = None,
    take_in: Annotated[
        Path | None,
        typer.Option("--import", metavar="FILE", help="Import the ledger of another machine."),
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Remove everything that was imported before.")
    ] = False,
    json: Json = False,
) -> None:
    """Change the ledger where that is asked for, and show the league.

    Raises:
        UsageError: a file cannot be read or written.
        RefusedError: the ledger cannot be read or written.
    """
    for text in exchange(export, take_in, forget=forget):
        say(text)
    (show_json if json else print_league)(league_now())


def league_now() -> dict[str, Any]:
    """The results object of `redolab league`.

    Raises:
        RefusedError: the ledger cannot be read.
    """
    from redolab.forecast.checks.league import league_of_ledger, league_tables

    verified = read_ledger()
    league = league_of_ledger(verified)
    return {
        "format": 1,
        **league,
        "ledger": [
            {"record": part.origin, "forecasts": part.forecasts, "unscored": part.unscored}
            for part in verified
        ],
        "tables": [table.as_json() for table in league_tables(league, first=True)],
    }


def league_for(run: Run) -> dict[str, Any]:
    """The league of this moment, for a run's report, and kept with the run for `redolab verify`.

    Raises:
        RefusedError: the ledger cannot be read.
    """
    from redolab.forecast.checks.league import FILE

    now = league_now()
    league = {key: now[key] for key in ("level", "records")}
    write_document(run, FILE, league)
    return league


def kept_league(run: Run) -> dict[str, Any] | None:
    """The league kept with a run; None where it was never reported.

    Raises:
        UsageError: it is listed and gone, or cannot be read.
    """
    from redolab.forecast.checks.league import FILE

    return read_document(run, FILE)


def exchange(export: Path | None, take_in: Path | None, *, forget: bool = False) -> list[str]:
    """Forget what was imported, import another machine's ledger, or write this one's; returns messages.

    Raises:
        UsageError: a file cannot be read or written.
        RefusedError: the ledger cannot be written.
    """
    messages = []
    if forget:
        messages.append(f"{forget_imported()} imported lines removed. This machine's own are kept.")
    if take_in is not None:
        imported = import_ledger(take_in)
        refused = (
            f", {imported.refused} refused (not a line of a ledger, or its seal does not match)"
            if imported.refused
            else ""
        )
        messages.append(
            f"{take_in}: {imported.taken} lines imported, {imported.known} already here{refused}."
        )
    if export is not None:
        messages.append(
            f"{export}: {export_ledger(export)} lines, without names of hosts, paths or databases."
        )
    return messages

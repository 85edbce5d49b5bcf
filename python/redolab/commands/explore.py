"""`redolab explore`, and the explorer in a report: from a run's costs to a page that forecasts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redolab.commands.options import RunPath
from redolab.commands.page import check_page, write_text
from redolab.console import say
from redolab.errors import UsageError
from redolab.parts import MissingPartError, why_not_compiled

if TYPE_CHECKING:
    from redolab.forecast.explored import Explored
    from redolab.records.run import Run

PAGE = "report.html"


def command(
    run: RunPath,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write: one HTML file.")] = Path(
        "explore.html"
    ),
) -> None:
    """Write the explorer of a run.

    Raises:
        UsageError: the run does not have the costs of a commit, or the page cannot be written.
        RefusedError: the ledger of verified forecasts cannot be read.
    """
    from redolab.report.page.html import render_explorer

    check_page(out, "--out")
    write_text(render_explorer(costs_of(run)), out, "--out")
    say(f"Page: {out}")


def costs_of(path: Path) -> Explored:
    """The starting point of a page's explorer, from the run at that path.

    Raises:
        UsageError: there is no run, or it does not have the costs of a commit.
        MissingPartError: nothing can be forecast here, and the run's page has no explorer.
        RefusedError: the ledger of verified forecasts cannot be read.
    """
    from redolab.files.usage_errors import as_usage_errors
    from redolab.records.store import open_run

    with as_usage_errors(path):
        run = open_run(path)
        why = why_not_compiled()
        if why is None:
            return explored_of(run, str(path))
        kept = _kept(run)
    if kept is None:
        raise MissingPartError(f"{run.path / PAGE} has no explorer that could be used instead. {why}")
    return replace(kept, run=str(path))


def _kept(run: Run) -> Explored | None:
    """The starting point of the explorer in a run's stored page; None for a page without an explorer.

    Raises:
        UsageError: the page is damaged.
    """
    from redolab.bounds import MOST_JSON_BYTES
    from redolab.records.store import open_folder
    from redolab.report.page.kept_explorer import explored_in

    with open_folder(run.path) as folder:
        if not folder.has(PAGE):
            return None
        page = folder.read(PAGE, 4 * MOST_JSON_BYTES)
    return explored_in(page.decode(errors="replace"), str(run.path / PAGE))


def explored_of(run: Run, name: str) -> Explored:
    """The starting point of a page's explorer, from an opened run.

    Raises:
        NoCostsError: it does not have the costs of a commit.
        RefusedError: the ledger of verified forecasts cannot be read.
    """
    from redolab.forecast.checks.ledger import read_ledger, scores_of
    from redolab.forecast.explored import of_run

    return of_run(run, name, scores_of(read_ledger()))


def own_costs(run: Run) -> Explored | None:
    """The starting point of the explorer in a run's own report; None for a run without such costs."""
    if run.manifest.get("record", "sample") != "sample":
        return None
    try:
        if why_not_compiled() is not None:
            return _kept(run)
        return explored_of(run, str(run.path))
    except UsageError:
        return None

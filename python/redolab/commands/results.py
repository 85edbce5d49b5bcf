"""A stored run's results object: made, stored, shown, and what of it is kept for later forecasts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from redolab.commands.process import end_when_interrupted
from redolab.errors import InterruptedRunError, RedolabError, RefusedError, UsageError
from redolab.outlet import say, show_json

if TYPE_CHECKING:
    from pathlib import Path

    from redolab.analysis.observed.watch.periods import Periods
    from redolab.measure.runner import Outcome
    from redolab.records.run import Run


def make_results(
    run: Run, costs: Path | None = None, begins: Sequence[str] = (), ends: Sequence[str] = ()
) -> dict[str, Any]:
    """Analyse, store the figures and the page, and return the results.

    Args:
        run: the stored run.
        costs: another run, whose costs the page's explorer starts from; None for the run's own.
        begins: of a watched run, when the periods that are asked for begin, as they were written.
        ends: when they end.

    Raises:
        UsageError: the run has no finished sample, or no such period.
    """
    from redolab.commands.explore import costs_of, own_costs
    from redolab.commands.league import league_for
    from redolab.experiment.answers import analyse
    from redolab.records.writer import write_report, write_results
    from redolab.report.page.html import render

    if run.samples.num_rows == 0:
        raise UsageError(f"{run.path} holds no finished sample, so there is nothing to report.")
    given = None if costs is None else costs_of(costs)
    league = None
    try:
        # Nothing but a run of samples has a league in its report.
        league = league_for(run) if run.manifest.get("record", "sample") == "sample" else None
    except RefusedError as error:
        say(f"The report is without the league of models. {error}")
    results = analyse(run, league, _periods(run, begins, ends))
    write_results(run, results)
    write_report(run, render(results, given or own_costs(run)))
    return results


def _periods(run: Run, begins: Sequence[str], ends: Sequence[str]) -> Periods | None:
    """The periods that are asked for; None where none is."""
    if not begins and not ends:
        return None
    if run.manifest.get("record") != "watched":
        raise UsageError(
            f"{run.path} was not watched, so --from and --to name no period of it. They are for what "
            "`redolab watch` stored."
        )
    from redolab.analysis.observed.watch.periods import asked
    from redolab.analysis.observed.watch.stretches import read_stretches

    return asked(read_stretches(run), begins, ends)


def show_results(results: Mapping[str, Any], run: Run, json: bool) -> None:
    """Print the results object as JSON or as the terminal's report, and where the page is."""
    from redolab.report.screen.terminal import print_terminal

    if json:
        show_json(results)
        say(f"Report: {run.path / 'report.html'}")
    else:
        print_terminal(results, run.path / "report.html")


def conclude(outcome: Outcome, json: bool, kept: str) -> None:
    """Analyse and show a run that has just ended.

    Args:
        outcome: the run, and what ended it early.
        json: whether to print JSON.
        kept: what stays whatever happens, as a sentence.

    Raises:
        RedolabError: what ended the run early, once it is shown; or nothing of it counts.
    """
    error = outcome.error
    told = f"{error} " if error else ""
    end_when_interrupted(
        f"{told}Interrupted while the report was made. {kept} `redolab report {outcome.run.path}` makes the "
        "report.",
        error.exit_code if error else InterruptedRunError.exit_code,
    )
    try:
        results = make_results(outcome.run)
        if outcome.run.manifest.get("record", "sample") == "sample":
            keep_lasting(results, outcome.run)
        show_results(results, outcome.run, json)
    except UsageError as raised:
        # Nobody asked for something wrong: the server was not there for a whole stretch.
        raise error or RefusedError(str(raised)) from raised
    except RedolabError as raised:
        if error is None:
            raise
        raise RefusedError(f"{error} {raised}") from raised
    if error is not None:
        raise error


def keep_lasting(results: Mapping[str, Any], run: Run) -> None:
    """Keep what forecasts on this machine will need, where the run decided it."""
    from redolab.experiment.answers import lasting
    from redolab.machine.machine import keep_capacity

    found = lasting(results)
    if found is None:
        return
    try:
        kept = keep_capacity(found, run.manifest["finished_at"], run.path)
    except OSError as error:
        say(f"Not kept for later forecasts: {error}. Set XDG_DATA_HOME to a directory that can be written.")
    else:
        say(f"Kept for later forecasts: {kept}")

"""`redolab report`, and the end of every command that makes a run: results made, stored and shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from redolab.commands.options import Json, RunPath
from redolab.commands.process import end_when_interrupted
from redolab.console import say, show_json
from redolab.errors import InterruptedRunError, RedolabError, RefusedError, UsageError
from redolab.parts import MissingPartError, why_not_compiled

if TYPE_CHECKING:
    from redolab.analysis.observed.watch.periods import Periods
    from redolab.measure.runner import Outcome
    from redolab.records.run import Run

_MOST_REASONS = 3


def command(
    run: RunPath,
    costs: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="The run whose costs the explorer uses.", show_default="its own"),
    ] = None,
    begins: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="Report a watch from this time on, compared with the rest, or with the period of a second "
            "--from and --to.",
        ),
    ] = None,
    ends: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="TIME",
            help="Report a watch up to this time: 2026-11-24T16:30, 2026-11-24 or 16:30 UTC.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Make the results and the page of a stored run anew, and show them.

    Raises:
        UsageError: there is no run, it has no finished sample or no such period, or cannot be analysed.
    """
    from redolab.files.usage_errors import as_usage_errors
    from redolab.records.store import open_run

    with as_usage_errors(run):
        stored = open_run(run)
        screen = _Screen(stored, json)
        results = make_results(stored, costs, begins or (), ends or (), screen.figures)
    screen.rest(results)


def make_and_show(run: Run, json: bool) -> None:
    """Make the results and the page, and show them; figures do not wait for forecasts.

    Raises:
        UsageError: the run has no finished sample.
    """
    screen = _Screen(run, json)
    results = make_results(run, early=screen.figures)
    screen.rest(results)


def make_results(
    run: Run,
    costs: Path | None = None,
    begins: Sequence[str] = (),
    ends: Sequence[str] = (),
    early: Callable[[Mapping[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Analyse, store the figures and the page, and return the results.

    Of what was seen of a server the figures and the page are stored before the advice is forecast, and once
    more with it.

    Args:
        run: the stored run.
        costs: another run, whose costs the page's explorer starts from; None for the run's own.
        begins: of a watched run, when the periods that are asked for begin, as they were written.
        ends: when they end.
        early: receives the figures of a watch or of reports, once they are stored and before the advice is
            forecast.

    Raises:
        UsageError: the run has no finished sample, or no such period.
        MissingPartError: its figures rest on forecasts, which this installation cannot make.
    """
    from redolab.commands.explore import costs_of, own_costs
    from redolab.commands.league import league_for
    from redolab.experiment.answers import analyse
    from redolab.records.writing.writer import write_report, write_results
    from redolab.report.page.html import render

    if run.samples.num_rows == 0:
        raise UsageError(f"{run.path} holds no finished sample, so there is nothing to report.")
    given = None if costs is None else costs_of(costs)
    league = None
    try:
        # Nothing but a run of samples has a league in its report.
        league = league_for(run) if run.manifest.get("record", "sample") == "sample" else None
    except RefusedError as error:
        say(f"The report does not include the league of models. {error}")

    def store(results: Mapping[str, Any]) -> None:
        write_results(run, results)
        write_report(run, render(results, given or own_costs(run)))

    def first(figures: Mapping[str, Any]) -> None:
        store(figures)
        if early is not None:
            early(figures)

    try:
        results = analyse(run, league, _periods(run, begins, ends), early=first)
    except MissingPartError as error:
        raise MissingPartError(
            f"The figures of {run.path} need forecasts, so its report was not changed. {error}"
        ) from error
    store(results)
    return results


def _periods(run: Run, begins: Sequence[str], ends: Sequence[str]) -> Periods | None:
    """The periods that are asked for; None where none is."""
    if not begins and not ends:
        return None
    if run.manifest.get("record") != "watched":
        raise UsageError(
            f"--from and --to choose a period of what `redolab watch` stored, and {run.path} is another "
            "kind of run. Leave them out."
        )
    from redolab.analysis.observed.watch.periods import asked
    from redolab.analysis.observed.watch.stretches import read_stretches

    return asked(read_stretches(run), begins, ends)


class _Screen:
    """Prints a run's results, the figures first where they are known before the advice."""

    def __init__(self, run: Run, json: bool) -> None:
        self._run, self._json, self._begun = run, json, False

    def figures(self, results: Mapping[str, Any]) -> None:
        """Print what is known before the advice, where it is not JSON."""
        from redolab.report.screen.terminal import print_figures

        if not self._json:
            self._begun = True
            print_figures(results)
            if why_not_compiled() is None:
                say(
                    f"The run {self._run.path} has these figures. Redolab now forecasts what changes would "
                    "give."
                )

    def rest(self, results: Mapping[str, Any]) -> None:
        """Print the results object as JSON, or what is left of the terminal's report."""
        from redolab.report.screen.terminal import print_rest, print_terminal

        page = self._run.path / "report.html"
        if self._json:
            show_json(results)
            say(f"Report: {page}")
        elif self._begun:
            print_rest(results, page)
        else:
            print_terminal(results, page)


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
    before = f"{error} " if error else ""
    end_when_interrupted(
        f"{before}Interrupted while the report was being made. {kept} `redolab report {outcome.run.path}` "
        "makes the report.",
        error.exit_code if error else InterruptedRunError.exit_code,
    )
    try:
        screen = _Screen(outcome.run, json)
        results = make_results(outcome.run, early=screen.figures)
        if outcome.run.manifest.get("record", "sample") == "sample":
            keep_lasting(results, outcome.run)
        screen.rest(results)
    except UsageError as raised:
        # The usage was right: the server was not there for a whole stretch.
        raise error or RefusedError(str(raised)) from raised
    except RedolabError as raised:
        if error is None:
            raise
        raise RefusedError(f"{error} {raised}") from raised
    if error is not None:
        raise error
    if reasons := _none_counts(outcome.run):
        raise RefusedError(f"No sample of this run counts: {reasons}. {kept} {outcome.run.path}.")


def _none_counts(run: Run) -> str:
    """Why no sample counts, in one line without a full stop; empty where one does."""
    spoiled = run.samples["spoiled"].to_pylist()
    return "" if None in spoiled else "; ".join(list(dict.fromkeys(spoiled))[:_MOST_REASONS])


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
        say(
            f"The machine's CPU capacity was not kept for later forecasts: {error}. Set XDG_DATA_HOME to a "
            "directory that can be written."
        )
    else:
        say(f"The machine's CPU capacity was kept for later forecasts: {kept}")

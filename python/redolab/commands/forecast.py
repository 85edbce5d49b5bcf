"""`redolab forecast`: from a stored run and a question to the results object."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from redolab.commands.options import Changes, Json, PageFile, RunPath
from redolab.commands.page import check_page, write_page
from redolab.console import show_json
from redolab.errors import CheckFailedError, UsageError
from redolab.forecast.asked import changed, known, parse_set, parse_sweep
from redolab.forecast.costs.costs import Scenario
from redolab.report.screen.forecast import print_forecast

if TYPE_CHECKING:
    from redolab.forecast.costs.run_costs import RunCosts
    from redolab.forecast.models.inverse import Answer

_MOST_LEVELS = 40
_MOST_WORK = 10**15
_MOST: Mapping[str, float] = {
    # Beyond these two a forecast takes minutes.
    "sessions": 4096, "rows_per_commit": 65_536,
    # PostgreSQL's own limit.
    "commit_delay_us": 100_000,
    "log_device_ms": 10_000, "cpus": 1024, "think_time_ms": 3_600_000, "arrival_rate_per_s": 10_000_000,
}  # fmt: skip
"""The largest value of a factor that is forecast."""


@dataclass(frozen=True)
class ForecastOptions:
    """The options of `redolab forecast`."""

    run: RunPath
    changes: Changes = None
    sweep: Annotated[
        str | None,
        typer.Option(
            metavar="FACTOR=LEVELS",
            help="Forecast each level: sessions=1..128 (powers of two) or sessions=1,2,5.",
        ),
    ] = None
    elbow: Annotated[
        bool,
        typer.Option("--elbow", help="Ask for the fewest sessions that give 95 % of the best throughput."),
    ] = False
    keep_p95_under: Annotated[
        float | None,
        typer.Option(
            metavar="MS",
            help=(
                "Ask for the largest arrival rate at which 95 % of the response times stay under this many "
                "ms."
            ),
        ),
    ] = None
    rows_for: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Ask for the fewest rows per commit that give this share of the benefit.",
        ),
    ] = None
    work: Annotated[
        int | None,
        typer.Option(metavar="ROWS", help="Ask how long all sessions together need for this many rows."),
    ] = None
    page: PageFile = None
    json: Json = False


def command(options: ForecastOptions) -> None:
    """Forecast, show the forecast, and write a page of it where one is asked for.

    Raises:
        UsageError: an option that cannot be, or a run that a forecast cannot start from.
        RefusedError: the ledger of verified forecasts cannot be read.
        CheckFailedError: there is no steady state to forecast, or a question has no answer.
    """
    if options.page is not None:
        check_page(options.page, "--page")
    results = execute(options)
    if options.page is not None:
        write_page(results, "forecast", options.page, "--page")
    (show_json if options.json else print_forecast)(results)
    check_answers(results)


def execute(options: ForecastOptions) -> dict[str, Any]:
    """Read the run, forecast, and answer what is asked; gives the results object.

    Raises:
        UsageError: an option that cannot be, or a run that a forecast cannot start from.
        RefusedError: the ledger of verified forecasts cannot be read.
        CheckFailedError: there is no steady state to forecast.
    """
    from redolab._core import SimulationTooLongError
    from redolab.files.usage_errors import as_usage_errors
    from redolab.forecast.checks.league import league_of_ledger
    from redolab.forecast.checks.ledger import read_ledger, scores_of
    from redolab.forecast.costs.of_run import costs_of
    from redolab.forecast.models.scenario_forecast import forecast
    from redolab.model.erlang import NoSteadyStateError
    from redolab.records.store import open_run

    changes = parse_set(options.changes or ())
    swept, levels = (None, ()) if options.sweep is None else parse_sweep(options.sweep)
    _check(options, changes, swept, levels)
    verified = read_ledger()
    with as_usage_errors(options.run):
        calibrated = costs_of(open_run(options.run))
        scenario = known(calibrated.point, changed(calibrated.measured[calibrated.today].scenario, changes))
        sweep = [
            known(calibrated.point, changed(scenario, {swept: level}))
            for level in levels
            if swept is not None
        ]
        if options.rows_for is not None:
            known(calibrated.point, changed(scenario, {"rows_per_commit": 2}))
        try:
            found = forecast(calibrated, scenario, scores_of(verified), sweep, options.work)
            answers = [ask(calibrated, scenario).as_json() for ask in _questions(options)]
        except NoSteadyStateError as error:
            text = str(error)
            raise CheckFailedError(f"{text[:1].upper()}{text[1:]}.") from error
        except SimulationTooLongError as error:
            raise UsageError(f"That cannot be forecast: {error}.") from error
    return {
        "format": 1,
        "run": str(options.run),
        **found,
        "swept": swept,
        "answers": answers,
        "league": league_of_ledger(verified),
    }


def check_answers(results: Mapping[str, Any]) -> None:
    """End with 1 where a question has no answer.

    Raises:
        CheckFailedError: one of them was refused; the text says why.
    """
    refused = [answer["refused"] for answer in results["answers"] if answer["refused"]]
    if refused:
        raise CheckFailedError(f"No answer: {'; '.join(refused)}.")


def _check(
    options: ForecastOptions, changes: Mapping[str, Any], swept: str | None, levels: Sequence[Any]
) -> None:
    if swept is not None and swept in changes:
        raise UsageError(f"--sweep and --set both name {swept}. Leave one of the two out.")
    if len(levels) > _MOST_LEVELS:
        raise UsageError(
            f"--sweep names {len(levels)} levels; at most {_MOST_LEVELS} are forecast at a time."
        )
    asked = [*changes.items(), *((swept or "", level) for level in levels)]
    for factor, value in asked:
        if factor in _MOST and value > _MOST[factor]:
            raise UsageError(f"{factor} is {value:,}; forecasts go up to {_MOST[factor]:,}.")
    limit, share, work = options.keep_p95_under, options.rows_for, options.work
    if work is not None and not 1 <= work <= _MOST_WORK:
        raise UsageError(f"--work is {work:,}; it must be a number of rows from 1 to {_MOST_WORK:,}.")
    if work is not None and "arrival_rate_per_s" in (swept, *changes):
        raise UsageError(
            "--work asks how long sessions in a loop need, and arrivals go on without end. Leave "
            "arrival_rate_per_s out."
        )
    if limit is not None and not 0 < limit < math.inf:
        raise UsageError(
            f"--keep-p95-under is {limit:g}; it must be a number of milliseconds greater than 0."
        )
    if share is not None and not 0 < share < 1:
        raise UsageError(
            f"--rows-for is {share:g}; it must be a share of the benefit between 0 and 1, such as 0.9."
        )


def _questions(options: ForecastOptions) -> Iterator[Callable[[RunCosts, Scenario], Answer]]:
    from functools import partial

    from redolab.forecast.models import inverse

    if options.elbow:
        yield inverse.elbow
    if options.keep_p95_under is not None:
        yield partial(inverse.keep_p95_under, limit_ms=options.keep_p95_under)
    if options.rows_for is not None:
        yield partial(inverse.rows_for, share=options.rows_for)

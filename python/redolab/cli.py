"""The command line: options in, exit codes out. Nothing is measured or computed here."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from redolab.errors import (
    CheckFailedError,
    InterruptedRunError,
    OutputClosedError,
    RedolabError,
    RefusedError,
    UsageError,
)
from redolab.outlet import say, show, show_json, standard_streams
from redolab.printable import printable
from redolab.url_secrets import take_secrets

if TYPE_CHECKING:
    from redolab.commands.run import Asked
    from redolab.records.run import Run


class _Commands(TyperGroup):
    """The commands; what is wrong with their arguments is said in characters that are safe to show."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read the arguments."""
        with _told_safely():
            return super().make_context(*arguments, **options)

    def invoke(self, *arguments: Any, **options: Any) -> Any:
        """Read the arguments of a command, and run it."""
        with _told_safely():
            return super().invoke(*arguments, **options)


@contextmanager
def _told_safely() -> Iterator[None]:
    """Errors of Typer and of the library below it echo arguments in their `message`."""
    try:
        yield
    except Exception as error:
        if isinstance(message := getattr(error, "message", None), str):
            vars(error)["message"] = printable(message)
        raise


app = typer.Typer(
    cls=_Commands,
    name="redolab",
    help="A laboratory for commit performance: measures a real database, and states how sure it is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")]
# What several commands take alike.
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FACTOR=VALUE", help="Ask about this value; may be given several times."),
]
Seed = Annotated[int | None, typer.Option(help="Of the random order, 0 to 2^64 - 1; drawn if not given.")]
Out = Annotated[Path | None, typer.Option(help="Run directory.", show_default="redolab-runs/...")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before loading a server.")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.", show_default=False)]


def main() -> None:
    """Run the command line; ends the process with Redolab's exit codes."""
    _end_when_interrupted("Interrupted; nothing is left behind.")
    sys.excepthook = _tell_unforeseen
    with standard_streams():
        try:
            code = _exit_code(_start)
        finally:
            # A late Ctrl-C must not change the exit code: nothing is left to be broken off.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = code or _exit_code(sys.stdout.flush)
    sys.exit(code)


def _start() -> None:
    _hide_secrets(sys.argv)
    app(prog_name="redolab")


def _exit_code(do: Callable[[], object]) -> int:
    """Do it, and say what went wrong."""
    try:
        do()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except OutputClosedError as error:
        return error.exit_code
    except RedolabError as error:
        say(f"redolab: {error}")
        return error.exit_code
    return 0


def _tell_unforeseen(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    say("".join(traceback.format_exception(kind, error, trace)), end="")


@app.command()
def experiments() -> None:
    """List what can be run, one line each."""
    from redolab.experiment import EXPERIMENTS

    width = max(map(len, EXPERIMENTS))
    for experiment in EXPERIMENTS.values():
        show(f"{experiment.name:<{width}} {experiment.question}")


@app.command()
def run(
    experiment: Annotated[
        str | None, typer.Argument(help="What to run; see `redolab experiments`.", show_default=False)
    ] = None,
    list_file: Annotated[
        Path | None,
        typer.Option("--list", metavar="FILE", help="An experiment of your own, from a TOML file."),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Tell what would be done, and do nothing.")] = False,
    engine: Annotated[
        str | None,
        typer.Option(help="embedded, mariadb, sqlite, or postgresql://user@host/db", show_default="embedded"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick/--full", help="Two minutes, or the published length.")
    ] = False,
    sessions: Annotated[
        str | None,
        typer.Option(help="Working sessions; a list where their number is the question."),
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Rows of a sample, or of the table.")] = None,
    client: Annotated[
        bool, typer.Option("--client", help="Also from a client: every statement a round trip.")
    ] = False,
    load: Annotated[
        str | None,
        typer.Option(help="cpu: a small hot set. io: many pages, heavy on the log.", show_default="cpu"),
    ] = None,
    scope: Annotated[
        str, typer.Option(help="Put settings in force per transaction, session, or system.")
    ] = "session",
    settings: Annotated[str | None, typer.Option(help="Only these settings, with commas between.")] = None,
    log_device_ms: Annotated[
        float | None, typer.Option(help="Emulate a log device with this flush time (embedded only).")
    ] = None,
    blocks: Annotated[int | None, typer.Option(help="Passes over all settings.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Length of a sample.")] = None,
    seed: Seed = None,
    out: Out = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Run an experiment and report it."""
    from redolab.commands.run import RunOptions, ask, execute

    options = RunOptions(
        experiment,
        list_file,
        engine,
        quick,
        sessions,
        rows,
        client,
        load,
        scope,
        settings,
        log_device_ms,
        blocks,
        seconds,
        seed,
        out,
        yes,
        shlex.join(["redolab", *sys.argv[1:]]),
    )
    if plan:
        _show_plan(ask(options), json)
        return
    outcome = execute(options)
    _end_when_interrupted(
        "Interrupted while the report was made. Every sample is kept: "
        f"`redolab report {outcome.run.path}` makes the report."
    )
    results = _made(outcome.run)
    _keep(results, outcome.run)
    _show(results, outcome.run, json)
    if outcome.error is not None:
        raise outcome.error


@app.command()
def profile(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="postgresql://user@host/db or mysql://user@host/", show_default=False
        ),
    ],
    seconds: Annotated[
        float | None,
        typer.Option(
            help="Watch so long and print; without it, a live screen on a terminal.",
            show_default="10 elsewhere",
        ),
    ] = None,
    session: Annotated[
        int | None, typer.Option(help="Show this session alone, by the number that the server gives it.")
    ] = None,
    json: Json = False,
) -> None:
    """Show where a live database's sessions spend their time; read-only, no load."""
    from redolab.commands.profile import DEFAULT_S, watch, watch_live

    on_terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    if on_terminal and seconds is None and not json:
        from redolab.report.screen.live import run_live

        watch_live(url, session, run_live)
        return
    profiled = watch(url, DEFAULT_S if seconds is None else seconds, session)
    if json:
        show_json(profiled.results)
    else:
        from redolab.report.screen.profile import print_profile

        print_profile(profiled.results, session)
    if profiled.error is not None:
        raise profiled.error


@app.command()
def analyze(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A CSV file, or - for stdin.", show_default=False)
    ],
    value: Annotated[
        str | None, typer.Option(help="The column of numbers.", show_default="the only one")
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="A column that names the group of each value: compare the groups.")
    ] = None,
    children: Annotated[
        int | None,
        typer.Option(
            help="Cut the values in their order into so many groups, and look at their means.",
            show_default="as many as values in each",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also write a page with the histograms.")] = None,
    json: Json = False,
) -> None:
    """Say what a column of numbers says: normality, plus and minus, groups compared."""
    from redolab.commands.analyze import analyze as analyze_file
    from redolab.commands.analyze import write_page

    results = analyze_file(file, value, group, children)
    if out is not None:
        write_page(results, out)
    if json:
        show_json(results)
    else:
        from redolab.report.screen.values import print_values

        print_values(results)
    if out is not None:
        say(f"Page: {out}")


@app.command()
def forecast(
    run: RunPath,
    changes: Changes = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            metavar="FACTOR=LEVELS",
            help="Forecast each level: sessions=1..128 (powers of two) or sessions=1,2,5.",
        ),
    ] = None,
    elbow: Annotated[
        bool,
        typer.Option("--elbow", help="Ask for the fewest sessions that give 95 % of the best throughput."),
    ] = False,
    keep_p95_under: Annotated[
        float | None,
        typer.Option(
            metavar="MS",
            help="Ask for the largest arrival rate that keeps 95 % of the response times under so many ms.",
        ),
    ] = None,
    rows_for: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Ask for the fewest rows per commit that bring this share of the benefit."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Forecast a setting that was not measured, from a run that was."""
    from redolab.commands.forecast import ForecastOptions, check_answers, execute

    results = execute(ForecastOptions(run, changes or (), sweep, elbow, keep_p95_under, rows_for))
    if json:
        show_json(results)
    else:
        from redolab.report.screen.forecast import print_forecast

        print_forecast(results)
    check_answers(results)


@app.command()
def report(run: RunPath, json: Json = False) -> None:
    """Rebuild report.html from the stored run alone."""
    from redolab.files.understood import understood
    from redolab.records.store import open_run

    with understood(run):
        stored = open_run(run)
        results = _made(stored)
    _show(results, stored, json)


@app.command()
def verify(run: RunPath, json: Json = False) -> None:
    """Recompute every stored figure and check the hashes; exit 1 on a difference."""
    from redolab.commands.verify import verify as verify_stored

    found = verify_stored(run)
    differences = found.differences
    if json:
        show_json({"format": 1, "run": str(run), "differences": differences})
    if differences:
        raise CheckFailedError(
            f"{run} does not verify: "
            + "; ".join(differences[:5])
            + (f"; and {len(differences) - 5} more" if len(differences) > 5 else "")
            + ". The files were changed after the run, or another version computed them."
        )
    if not json:
        show(f"{run}: every hash and every figure holds ({found.samples} samples).")


@app.command("verify-forecast")
def verify_forecast(
    run: RunPath,
    changes: Changes = None,
    sweep: Annotated[
        str | None,
        typer.Option(metavar="FACTOR=LEVELS", help="Check each level: sessions=1..64 or sessions=1,2,5."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="The server of RUN, where it was one of yours.", show_default="embedded"),
    ] = None,
    blocks: Annotated[int | None, typer.Option(help="Passes over all settings.", show_default="5")] = None,
    seconds: Annotated[float | None, typer.Option(help="Length of a sample.", show_default="2")] = None,
    seed: Seed = None,
    out: Out = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Forecast settings, seal the forecast, measure them, and keep the score."""
    from redolab.commands.verify_forecast import VerifyForecastOptions, execute

    command = shlex.join(["redolab", *sys.argv[1:]])
    outcome = execute(
        VerifyForecastOptions(run, changes or (), sweep, engine, blocks, seconds, seed, out, yes, command)
    )
    _end_when_interrupted(
        "Interrupted while the report was made. The forecast is sealed and every sample is kept: "
        f"`redolab report {outcome.run.path}` makes the report."
    )
    _show(_made(outcome.run), outcome.run, json)
    if outcome.error is not None:
        raise outcome.error


@app.command()
def league(
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write this machine's ledger to a file, to share it.")
    ] = None,
    take_in: Annotated[
        Path | None, typer.Option("--import", metavar="FILE", help="Take in the ledger of another machine.")
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Remove everything that was imported before.")
    ] = False,
    json: Json = False,
) -> None:
    """Show how true every model's forecasts were."""
    from redolab.commands.league import exchange, league_now

    for text in exchange(export, take_in, forget=forget):
        say(text)
    results = league_now()
    if json:
        show_json(results)
    else:
        from redolab.report.screen.league import print_league

        print_league(results)


def _keep(results: Mapping[str, Any], run: Run) -> None:
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


def _show_plan(asked: Asked, json: bool) -> None:
    from redolab.commands.plan import planned, print_plan

    if json:
        show_json(planned(asked.experiment, asked.plan, asked.target))
    else:
        print_plan(asked.experiment, asked.plan, asked.target)


def _made(run: Run) -> dict[str, Any]:
    """Analyse, store the figures and the page, and return the results."""
    from redolab.commands.league import league_for
    from redolab.experiment.answers import analyse
    from redolab.records.writer import write_report, write_results
    from redolab.report.page.html import render

    if run.samples.num_rows == 0:
        raise UsageError(f"{run.path} holds no finished sample, so there is nothing to report.")
    league = None
    try:
        league = league_for(run)
    except RefusedError as error:
        say(f"The report is without the league of models. {error}")
    results = analyse(run, league)
    write_results(run, results)
    write_report(run, render(results))
    return results


def _show(results: Mapping[str, Any], run: Run, json: bool) -> None:
    from redolab.report.screen.terminal import print_terminal

    if json:
        show_json(results)
        say(f"Report: {run.path / 'report.html'}")
    else:
        print_terminal(results, run.path / "report.html")


def _end_when_interrupted(text: str) -> None:
    """End at once on SIGINT and SIGTERM, wherever no run is under way (see `runner.Interruptions`).

    An exception could come up in the middle of a compiled module's import, which makes another one of
    it. What was just being started is removed by its guard, and files are written whole or not at all.
    """
    said = f"redolab: {printable(text)}\n".encode()

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        with suppress(OSError):
            os.write(2, said)
        os._exit(InterruptedRunError.exit_code)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def _hide_secrets(argv: list[str]) -> None:
    """Start over without secrets on the command line, where every user of the machine sees them.

    Raises:
        UsageError: it cannot be told where one of them ends.
    """
    without = [take_secrets(argument, os.environ) for argument in argv]
    if without != argv:
        os.execv(sys.executable, [sys.executable, *without])  # noqa: S606  no shell is wanted


if __name__ == "__main__":
    main()

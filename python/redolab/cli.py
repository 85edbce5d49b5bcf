"""The command line: options in, exit codes out. Nothing is measured or computed here."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from redolab.commands.options import (
    AcrossTiers,
    AgainstColumn,
    AskedEngine,
    AskedExperiment,
    Begins,
    Blocks,
    Changes,
    CheckedBlocks,
    CheckedEngine,
    CheckedSeconds,
    CheckedSweep,
    Children,
    Client,
    CostsOf,
    Elbow,
    Ends,
    EngineNames,
    ExperimentName,
    ExplorePage,
    Export,
    Forget,
    GroupColumn,
    Json,
    KeepP95Under,
    ListFile,
    LoadName,
    LogDeviceMs,
    Out,
    PageFile,
    PlanOnly,
    Quick,
    ReportFiles,
    ReportKind,
    Rows,
    RowsFor,
    RunPath,
    ScopeName,
    Seconds,
    Seed,
    Sessions,
    Settings,
    Sweep,
    TakeIn,
    ValueColumn,
    ValuesPage,
    ValuesPath,
    WatchedSeconds,
    WatchedSession,
    WatchedUrl,
    WatchOut,
    WatchSeconds,
    Work,
    Yes,
)
from redolab.commands.process import (
    Commands,
    end_when_interrupted,
    exit_code,
    hide_secrets,
    tell_unforeseen,
)
from redolab.commands.results import conclude, make_results, show_results
from redolab.errors import CheckFailedError
from redolab.outlet import say, show, show_json, standard_streams

if TYPE_CHECKING:
    from redolab.commands.run import Asked

app = typer.Typer(
    cls=Commands,
    name="redolab",
    help="A laboratory for commit performance: measures a real database, and states how sure it is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def main() -> None:
    """Run the command line; ends the process with Redolab's exit codes."""
    end_when_interrupted("Interrupted; nothing is left behind.")
    sys.excepthook = tell_unforeseen
    with standard_streams():
        try:
            code = exit_code(_start)
        finally:
            # A late Ctrl-C must not change the exit code: nothing is left to be broken off.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = code or exit_code(sys.stdout.flush)
    sys.exit(code)


def _start() -> None:
    hide_secrets(sys.argv)
    app(prog_name="redolab")


@app.command()
def experiments() -> None:
    """List what can be run, one line each."""
    from redolab.experiment import EXPERIMENTS

    width = max(map(len, EXPERIMENTS))
    for experiment in EXPERIMENTS.values():
        show(f"{experiment.name:<{width}} {experiment.question}")


@app.command()
def run(
    experiment: ExperimentName = None,
    list_file: ListFile = None,
    plan: PlanOnly = False,
    engine: EngineNames = None,
    across_tiers: AcrossTiers = False,
    quick: Quick = False,
    sessions: Sessions = None,
    rows: Rows = None,
    client: Client = False,
    load: LoadName = None,
    scope: ScopeName = None,
    settings: Settings = None,
    log_device_ms: LogDeviceMs = None,
    blocks: Blocks = None,
    seconds: Seconds = None,
    seed: Seed = None,
    out: Out = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Run an experiment and report it."""
    from redolab.commands.run import RunOptions, ask, execute

    command = shlex.join(["redolab", *sys.argv[1:]])
    options = RunOptions(
        experiment, list_file, engine or (), across_tiers, quick, sessions, rows, client, load, scope,
        settings, log_device_ms, blocks, seconds, seed, out, yes, command,
    )  # fmt: skip
    if plan:
        _show_plan(ask(options), json)
        return
    outcome = execute(options)
    conclude(outcome, json, "Every sample is kept:")


@app.command()
def doctor(experiment: AskedExperiment = None, engine: AskedEngine = None, json: Json = False) -> None:
    """Say what works here, what is missing, what that costs and what mends it; read-only."""
    from redolab.commands.doctor import check_asked, examine

    results = examine(experiment, engine)
    if json:
        show_json(results)
    else:
        from redolab.report.screen.doctor import print_doctor

        print_doctor(results)
    check_asked(results, experiment)


@app.command()
def profile(
    url: WatchedUrl,
    seconds: WatchedSeconds = None,
    session: WatchedSession = None,
    page: PageFile = None,
    json: Json = False,
) -> None:
    """Show where a live database's sessions spend their time; read-only, no load."""
    from redolab.commands.page import check_page, write_page
    from redolab.commands.profile import DEFAULT_S, watch, watch_live

    on_terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    if page is not None:
        check_page(page, "--page")
    if on_terminal and seconds is None and not json and page is None:
        from redolab.report.screen.live import run_live

        watch_live(url, session, run_live)
        return
    profiled = watch(url, DEFAULT_S if seconds is None else seconds, session)
    if page is not None:
        write_page(profiled.results, "profile", page, "--page")
    if json:
        show_json(profiled.results)
    else:
        from redolab.report.screen.profile import print_profile

        print_profile(profiled.results, session)
    if profiled.error is not None:
        raise profiled.error


@app.command()
def watch(url: WatchedUrl, out: WatchOut = None, seconds: WatchSeconds = None, json: Json = False) -> None:
    """Watch a live database for minutes or days, and keep what is seen; read-only, no load."""
    from redolab.commands.watch import watch as watch_server

    watched = watch_server(url, out, seconds, shlex.join(["redolab", *sys.argv[1:]]))
    conclude(watched, json, "Every stretch is kept:")


@app.command()
def analyze(
    file: ValuesPath,
    value: ValueColumn = None,
    against: AgainstColumn = None,
    group: GroupColumn = None,
    children: Children = None,
    out: ValuesPage = None,
    json: Json = False,
) -> None:
    """Say what a column of numbers says: normality, plus and minus, groups compared."""
    from redolab.commands.analyze import analyze as analyze_file

    results = analyze_file(file, value, against, group, children)
    if out is not None:
        from redolab.commands.page import write_page

        write_page(results, "values", out, "--out")
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
    sweep: Sweep = None,
    elbow: Elbow = False,
    keep_p95_under: KeepP95Under = None,
    rows_for: RowsFor = None,
    work: Work = None,
    page: PageFile = None,
    json: Json = False,
) -> None:
    """Forecast a setting that was not measured, from a run that was."""
    from redolab.commands.forecast import ForecastOptions, check_answers, execute
    from redolab.commands.page import check_page, write_page

    if page is not None:
        check_page(page, "--page")
    results = execute(ForecastOptions(run, changes or (), sweep, elbow, keep_p95_under, rows_for, work))
    if page is not None:
        write_page(results, "forecast", page, "--page")
    if json:
        show_json(results)
    else:
        from redolab.report.screen.forecast import print_forecast

        print_forecast(results)
    check_answers(results)


@app.command()
def explore(run: RunPath, out: ExplorePage = Path("explore.html")) -> None:
    """Write a page that forecasts by itself: drag a setting, and see what it would give."""
    from redolab.commands.explore import execute

    say(f"Page: {execute(run, out)}")


@app.command("import")
def import_(
    kind: ReportKind,
    files: ReportFiles,
    out: Out = None,
    json: Json = False,
) -> None:
    """Read AWR or Statspack reports of an Oracle database, or a pack of its, and report its commits."""
    from redolab.commands.import_reports import execute

    imported = execute(kind, files, out, shlex.join(["redolab", *sys.argv[1:]]))
    show_results(make_results(imported), imported, json)


@app.command("oracle-pack")
def oracle_pack() -> None:
    """Write a SQL*Plus script that a DBA runs without installing anything; `import` reads what it spools."""
    from redolab.importers.pack import script

    show(script())


@app.command()
def report(
    run: RunPath, costs: CostsOf = None, begins: Begins = None, ends: Ends = None, json: Json = False
) -> None:
    """Rebuild report.html from the stored run alone."""
    from redolab.files.understood import understood
    from redolab.records.store import open_run

    with understood(run):
        stored = open_run(run)
        results = make_results(stored, costs, begins or (), ends or ())
    show_results(results, stored, json)


@app.command()
def verify(run: RunPath, json: Json = False) -> None:
    """Recompute every stored figure and check the hashes; exit 1 on a difference."""
    from redolab.commands.verify import verify as verify_stored

    found = verify_stored(run)
    differences = found.differences
    if json:
        show_json({"format": 1, "run": str(run), "differences": differences, "sentences": found.sentences})
    if differences:
        raise CheckFailedError(
            f"{run} does not verify: "
            + "; ".join(differences[:5])
            + (f"; and {len(differences) - 5} more" if len(differences) > 5 else "")
            + ". The files were changed after the run, or another version computed them."
        )
    if not json:
        show(f"{run}: every hash and every figure holds ({found.samples} samples).")
        if not found.sentences:
            show("Its sentences are an older version's and were not compared; redolab report renews them.")


@app.command("verify-forecast")
def verify_forecast(
    run: RunPath,
    changes: Changes = None,
    sweep: CheckedSweep = None,
    engine: CheckedEngine = None,
    blocks: CheckedBlocks = None,
    seconds: CheckedSeconds = None,
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
    conclude(outcome, json, "The forecast is sealed and every sample is kept:")


@app.command()
def league(
    export: Export = None,
    take_in: TakeIn = None,
    forget: Forget = False,
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


def _show_plan(asked: Asked, json: bool) -> None:
    from redolab.commands.plan import planned, print_plan

    if json:
        show_json(planned(asked.experiment, asked.plan, asked.servers))
    else:
        print_plan(asked.experiment, asked.plan, asked.servers, asked.lacking)


if __name__ == "__main__":
    main()

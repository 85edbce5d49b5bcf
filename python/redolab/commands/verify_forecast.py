"""`redolab verify-forecast`: forecast, seal, measure, score."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

import redolab
from redolab.analysis.common_sections import log_devices_ms
from redolab.commands.options import Changes, Json, Out, PasswordCommand, RunPath, Seed, Yes
from redolab.commands.report import conclude
from redolab.commands.run import Asked, measure, open_agreed
from redolab.commands.targets.engines import named_targets
from redolab.commands.targets.named import server_of
from redolab.dialect.known import product_name
from redolab.engine import check_target, find_offer, private_target
from redolab.errors import CheckFailedError, UsageError
from redolab.experiment.base import Experiment, Levels, Plan, Wish
from redolab.experiment.verify_forecast.levels import levels_of
from redolab.experiment.verify_forecast.plan import NOT_HERE, VerifyForecast
from redolab.files.places import default_run_directory
from redolab.files.usage_errors import as_usage_errors
from redolab.forecast.asked import changed, known, parse_set, parse_sweep
from redolab.forecast.checks import ledger
from redolab.forecast.costs.costs import Scenario
from redolab.password_command import use_password_command
from redolab.records.sealed import FILE, seal
from redolab.records.servers import baseline_server
from redolab.records.store import Run, open_run
from redolab.records.writing.writer import check_free

if TYPE_CHECKING:
    from redolab.forecast.costs.run_costs import RunCosts
    from redolab.measure.runner import Outcome

_TODAY = "today"
_MOST_SESSIONS = 1_000
_MOST_SETTINGS = 20


@dataclass(frozen=True)
class VerifyForecastOptions:
    """The options of `redolab verify-forecast`."""

    run: RunPath
    changes: Changes = None
    sweep: Annotated[
        str | None,
        typer.Option(metavar="FACTOR=LEVELS", help="Check each level: sessions=1..64 or sessions=1,2,5."),
    ] = None
    engine: Annotated[
        str | None,
        typer.Option(help="The server of RUN, if it was one of yours.", show_default="embedded"),
    ] = None
    blocks: Annotated[
        int | None, typer.Option(help="Number of passes over all settings.", show_default="5")
    ] = None
    seconds: Annotated[float | None, typer.Option(help="Length of a sample.", show_default="2")] = None
    password_command: PasswordCommand = None
    seed: Seed = None
    out: Out = None
    yes: Yes = False
    json: Json = False


def command(options: VerifyForecastOptions) -> None:
    """Check the forecasts, and report the run that did.

    Raises:
        RedolabError: wrong usage, nothing could be measured, or what ended the run early.
    """
    use_password_command(options.password_command)
    conclude(execute(options), options.json, "The forecast is sealed and every sample is kept:")


def execute(options: VerifyForecastOptions) -> Outcome:
    """Forecast every setting asked about, seal that, measure the settings, and score.

    Nothing is measured before the sealed forecast is in the ledger and in the run directory. A run that
    does not finish leaves it there unscored.

    Raises:
        UsageError: a setting that cannot be forecast or cannot be checked here.
        CheckFailedError: a setting without a steady state.
        RedolabError: nothing could be measured.
    """
    from redolab.forecast.checks.checked import forecast_of, score_run
    from redolab.forecast.costs.of_run import costs_of

    run = open_run(options.run)
    with as_usage_errors(options.run):
        scenarios = _scenarios(options, calibrated := costs_of(run))
    devices_ms = log_devices_ms(run.manifest)
    settings = levels_of(scenarios, devices_ms[0] if devices_ms else None)
    names = dict(zip(scenarios, settings, strict=True))
    asked = _asked(options, run, settings, names[_TODAY], calibrated.point.loop, devices_ms)
    out = options.out or default_run_directory(asked.experiment.name)
    check_free(out)
    record = ledger.scores_of(ledger.read_ledger())
    wanted = {names[key]: item for key, item in scenarios.items() if key != _TODAY}
    with as_usage_errors(options.run):
        content = forecast_of(calibrated, names[_TODAY], wanted, record)
    _check_said(content)
    asked, engine = open_agreed(asked, options.yes)
    try:
        _check_same_database(run, str(engine.describe()["name"]))
        sealed = seal({**_heading(run), **content})
        ledger.note_seal(sealed)
    except BaseException:
        engine.close()
        raise
    plan = dataclasses.replace(asked.plan, documents={FILE: sealed})
    outcome = measure(dataclasses.replace(asked, plan=plan), engine, out)
    scoring = score_run(outcome.run)
    if scoring is not None and scoring.scored:
        ledger.note_scores(
            sealed["sha256"],
            [item.score for item in scoring.checked],
            [silence for _, silence in scoring.silences],
        )
    return outcome


def _scenarios(options: VerifyForecastOptions, calibrated: RunCosts) -> dict[str, Scenario]:
    """Today's scenario under `_TODAY`, then those asked about.

    Raises:
        UsageError: one that cannot be forecast, or cannot be checked here.
    """
    today = calibrated.measured[calibrated.today].scenario
    changes = parse_set(options.changes or ())
    factor, levels = parse_sweep(options.sweep) if options.sweep is not None else ("", (None,))
    if factor in changes:
        raise UsageError(f"--sweep and --set both name {factor}. Leave one of the two out.")
    for name in (*changes, factor):
        if name in NOT_HERE:
            raise UsageError(
                f"{name} can be forecast but not checked: {NOT_HERE[name]}. Leave that factor out."
            )
    if "arrival_rate_per_s" in (*changes, factor) and calibrated.point.loop != "client":
        raise UsageError(
            f"{options.run} measured a loop inside the server, which cannot have arrivals. Calibrate with "
            "`redolab run calibrate --client` to check arrivals."
        )
    found = {_TODAY: today}
    for level in levels:
        scenario = changed(today, changes | ({factor: level} if factor else {}))
        if scenario == today:
            if not factor:
                raise UsageError(
                    "The named setting is today's setting, which the run measured. Name another setting with "
                    "--set FACTOR=VALUE."
                )
            continue
        found[str(level)] = _possible(calibrated, scenario)
    if len(found) > _MOST_SETTINGS:
        raise UsageError(
            f"{len(found)} settings are too many to measure at a time: at most {_MOST_SETTINGS}."
        )
    return found


def _possible(calibrated: RunCosts, scenario: Scenario) -> Scenario:
    if scenario.sessions > _MOST_SESSIONS:
        raise UsageError(f"sessions is {scenario.sessions:,}; at most {_MOST_SESSIONS:,} can be measured.")
    return known(calibrated.point, scenario)


def _check_said(content: Mapping[str, Any]) -> None:
    """Make sure that the model that forecasts has an answer for every setting.

    Raises:
        CheckFailedError: there is no steady state.
    """
    for asked in content["settings"]:
        reason = asked["models"][0]["silent"]
        if reason is not None:
            raise CheckFailedError(f"The setting {asked['setting']} cannot be checked: {reason}.")


def _asked(
    options: VerifyForecastOptions,
    run: Run,
    settings: dict[str, Levels],
    today: str,
    loop: str,
    devices_ms: Sequence[float],
) -> Asked:
    """The settings to measure, and the engine to measure them on: the run's.

    Raises:
        UsageError: the engine does not fit, or must be named.
    """
    named = options.engine and server_of(options.engine)
    target = named or private_target(baseline_server(run.manifest))
    if target is None:
        raise UsageError(
            f"{options.run} was measured on a server of yours, which its record does not name. Add --engine "
            "URL."
        )
    changes_it = any("log_device_ms" in levels for levels in settings.values())
    delays_s = tuple(ms / 1e3 for ms in devices_ms or ([0.0] if changes_it else []))
    experiment = VerifyForecast(settings, today, loop)
    if delays_s and "log_device" not in find_offer(target).capabilities:
        raise UsageError("log_device_ms can be checked under Redolab's own server alone: leave it out.")
    check_target(experiment.name, target, experiment.needs, delays_s)
    _check_same_database(run, find_offer(target).name)
    return Asked(experiment, _plan(experiment, options, target), named_targets([target]), delays_s)


def _check_same_database(run: Run, engine: str) -> None:
    """Make sure that the costs of a commit were measured on the database on which they are to be checked.

    Args:
        run: the costs' run.
        engine: on which it is to be checked; one whose name does not show its database is let through.

    Raises:
        UsageError: it is another database.
    """
    measured, here = (product_name(str(name)) for name in (baseline_server(run.manifest)["name"], engine))
    if None not in (measured, here) and measured != here:
        raise UsageError(
            f"The costs were measured on {measured}, and --engine names {here}, whose commits cost something "
            "else. Calibrate on that server first: `redolab run calibrate --engine ...`."
        )


def _plan(experiment: Experiment, options: VerifyForecastOptions, target: str) -> Plan:
    seed = options.seed if options.seed is not None else secrets.randbelow(2**31)
    ways = find_offer(target).ways
    wish = Wish(scope=ways.scopes[0], blocks=options.blocks, seconds=options.seconds, seed=seed, ways=ways)
    return experiment.plan(wish)


def _heading(run: Run) -> dict[str, Any]:
    """The origin of the forecast, without a name of a host, a path or a database."""
    manifest = run.manifest
    return {
        "redolab_version": redolab.__version__,
        "engine": {key: manifest["engine"].get(key) for key in ("name", "version")},
        "emulated": manifest["engine"].get("emulated") or {},
        "cpus": manifest["machine"].get("cpus"),
        "calibrated_from": {
            "experiment": manifest["experiment"],
            "samples_sha256": manifest["hashes"].get("samples.parquet"),
        },
    }

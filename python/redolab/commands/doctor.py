"""`redolab doctor`: parts that work here, missing parts, what they cost, how to mend it. It only looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import typer

from redolab.commands.options import Json, PasswordCommand
from redolab.commands.targets.engines import experiment_and_engines
from redolab.commands.targets.named import server_of
from redolab.console import show_json
from redolab.engine import OFFERS, check_target, engine_choices, find_offer, offers_for
from redolab.engine.linux.checkup import check_machine, user_name
from redolab.engine.offer import Offer, Wanted
from redolab.errors import RefusedError, UsageError
from redolab.experiment import EXPERIMENTS, find_experiment
from redolab.experiment.base import Experiment, Missing, Wish, nothing_missing
from redolab.measure.consumption import consumption
from redolab.parts import ORACLE, why_missing
from redolab.password_command import use_password_command
from redolab.records.checkup import Check, Checkup, missing
from redolab.report.screen.doctor import print_doctor


def command(
    experiment: Annotated[
        str | None,
        typer.Argument(
            metavar="EXPERIMENT",
            help="Check this experiment alone; exit 3 if it cannot run.",
            show_default=False,
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Argument(metavar="ENGINE", help="The same as --engine.", show_default=False),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help=engine_choices(), show_default="all of Redolab's own")
    ] = None,
    password_command: PasswordCommand = None,
    json: Json = False,
) -> None:
    """Look, and show the results.

    Raises:
        UsageError: there is no such experiment or engine, or the one does not run on the other.
        RefusedError: the experiment asked for cannot run.
    """
    use_password_command(password_command)
    experiment, engines = experiment_and_engines((experiment, server), () if engine is None else (engine,))
    if len(engines) > 1:
        raise UsageError(f"doctor checks one server at a time. Name only one of {', '.join(engines)}.")
    results = examine(experiment, server_of(engines[0]) if engines else None)
    (show_json if json else print_doctor)(results)
    check_asked(results, experiment)


def examine(experiment: str | None, engine: str | None) -> dict[str, Any]:
    """Look at the machine, and at the engine that is named or at each that Redolab starts itself.

    Args:
        experiment: the one asked for; None for all.
        engine: the value of `--engine`, or None.

    Returns:
        The results object: `user`, `engine`, `checks`, `experiments`, `profile`.

    Raises:
        UsageError: there is no such experiment or engine, or the one does not run on the other.
    """
    names = list(EXPERIMENTS) if experiment is None else [find_experiment(experiment).name]
    if experiment is not None and engine is not None:
        check_target(experiment, engine, EXPERIMENTS[experiment].needs)
    offers = _offers(experiment, engine)
    checkups = {offer.name: offer.checkup(engine or offer.name, _wanted(offer, names)) for offer in offers}
    checks: dict[Check, None] = dict.fromkeys(check_machine())
    if engine is None and experiment is None and (why := why_missing(ORACLE)) is not None:
        # For every other part, the check of its engine shows whether it is installed.
        checks[missing(ORACLE.title, why)] = None
    for checkup in checkups.values():
        checks |= dict.fromkeys(checkup.checks)
    return {
        "format": 1,
        "user": user_name(),
        "engine": None if engine is None else find_offer(engine).name,
        "checks": [_as_json(check) for check in checks],
        "experiments": [_experiment(name, offers, checkups) for name in names],
        "profile": _profile(offers, checkups),
    }


def check_asked(results: Mapping[str, Any], experiment: str | None) -> None:
    """End with the refusal where the experiment asked for cannot run.

    Raises:
        RefusedError: it cannot, on the engine named or its default one.
    """
    if experiment is None:
        return
    (found,) = results["experiments"]
    if not found["runs"]:
        raise RefusedError(f"{experiment} cannot run here. {found['engines'][0]['why']}")


def _offers(experiment: str | None, engine: str | None) -> Sequence[Offer]:
    if engine is not None:
        return [find_offer(engine)]
    fitting = OFFERS if experiment is None else offers_for(EXPERIMENTS[experiment].needs)
    return [offer for offer in fitting if not offer.schemes]


def _wanted(offer: Offer, names: Sequence[str]) -> dict[str, Wanted]:
    """The quick run of each experiment that the engine has what it needs for."""
    fitting = [name for name in names if offer.why_not(EXPERIMENTS[name].needs) is None]
    return {name: _quick_run(EXPERIMENTS[name], offer) for name in fitting}


def _quick_run(experiment: Experiment, offer: Offer, missing: Missing = nothing_missing) -> Wanted:
    plan = experiment.plan(Wish(quick=True, scope=offer.ways.scopes[0], ways=offer.ways, missing=missing))
    used = consumption(plan.design, plan.load, plan.combinations) if offer.uses_up else None
    return Wanted(
        load=plan.load,
        combinations=list(plan.combinations.values()),
        disk_bytes=plan.load.disk_bytes(plan.design.units),
        transaction_ids=used.transaction_ids if used else 0,
        log_bytes=used.log_bytes if used else None,
        without=partial(_quick_run, experiment, offer),
    )


def _experiment(name: str, offers: Sequence[Offer], checkups: Mapping[str, Checkup]) -> dict[str, Any]:
    """Whether an experiment can run: on the engine named, else on its default one."""
    needs = EXPERIMENTS[name].needs
    fitting = [offer for offer in offers if offer.why_not(needs) is None] or offers
    engines = []
    for offer in fitting:
        unfit = offer.why_not(needs)
        why = unfit or checkups[offer.name].refusals.get(name)
        engines.append({"engine": offer.name, "applicable": unfit is None, "runs": why is None, "why": why})
    return {"name": name, "runs": engines[0]["runs"], "engines": engines}


def _profile(offers: Sequence[Offer], checkups: Mapping[str, Checkup]) -> dict[str, Any] | None:
    """Whether the server of a URL can be watched; None where none was named."""
    watched = [offer for offer in offers if "watch" in offer.capabilities]
    if not watched:
        return None
    why = checkups[watched[0].name].refusals.get("profile")
    return {"works": why is None, "why": why}


def _as_json(check: Check) -> dict[str, str]:
    return {
        "name": check.name,
        "state": check.state,
        "found": check.found,
        "costs": check.costs,
        "mend": check.mend,
    }

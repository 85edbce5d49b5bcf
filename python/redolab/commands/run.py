"""`redolab run`: from options to a closed run."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from redolab.commands.options import (
    Json,
    Out,
    PasswordCommand,
    Seed,
    UntilSettled,
    Yes,
    log_device_s,
    numbers,
    seconds,
)
from redolab.commands.plan import (
    Servers,
    amount_text,
    blocks_text,
    changes,
    creates,
    disk_bytes,
    planned,
    print_plan,
    time_text,
)
from redolab.commands.process import command_line
from redolab.commands.progress import shown
from redolab.commands.report import conclude
from redolab.commands.targets.engines import common_ways, experiment_and_engines, named_targets
from redolab.console import say, show_json
from redolab.engine import check_target, default_engine, engine_choices, find_offer, open_engine
from redolab.engine.base import Engine, Introduction
from redolab.engine.offer import Offer
from redolab.engine.side_by_side import SideBySide as EnginesBeside
from redolab.errors import UsageError
from redolab.experiment import find_experiment
from redolab.experiment.base import Experiment, Missing, Plan, Wish
from redolab.experiment.listed.plan import listed_experiment
from redolab.experiment.side_by_side import SideBySideExperiment, part_of
from redolab.files.places import default_run_directory
from redolab.measure.consumption import consumption
from redolab.password_command import use_password_command
from redolab.records.sample import Scope
from redolab.units import counted

if TYPE_CHECKING:
    from redolab.measure.runner import Outcome


@dataclass(frozen=True)
class RunOptions:
    """The options of `redolab run`."""

    experiment: Annotated[
        str | None,
        typer.Argument(
            metavar="EXPERIMENT", help="What to run; see `redolab experiments`.", show_default=False
        ),
    ] = None
    servers: Annotated[
        list[str] | None,
        typer.Argument(metavar="ENGINE", help="The same as --engine.", show_default=False),
    ] = None
    list_file: Annotated[
        Path | None,
        typer.Option("--list", metavar="FILE", help="An experiment of your own, from a TOML file."),
    ] = None
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be done, and do nothing.")] = False
    engines: Annotated[
        list[str] | None,
        typer.Option(
            "--engine",
            metavar="[NAME=]ENGINE",
            help=f"{engine_choices()}; several are measured side by side.",
            show_default="the first that the experiment runs on",
        ),
    ] = None
    across_tiers: Annotated[
        bool,
        typer.Option(
            "--across-tiers", help="Compare servers even if their commits promise different durability."
        ),
    ] = False
    quick: Annotated[
        bool | None, typer.Option("--quick/--full", help="At most two minutes, or the published length.")
    ] = None
    sessions: Annotated[
        str | None, typer.Option(help="Working sessions; a list for experiments that vary their number.")
    ] = None
    rows: Annotated[int | None, typer.Option(help="Rows of a sample, or of the table.")] = None
    client: Annotated[
        bool, typer.Option("--client", help="Measure from a client too: every statement is a round trip.")
    ] = False
    load: Annotated[
        str | None,
        typer.Option(
            help="hot: a small hot set. cpu: bound by the CPU. io: many pages, heavy on the log.",
            show_default="hot",
        ),
    ] = None
    scope: Annotated[
        str | None,
        typer.Option(
            help="Apply settings per transaction, session or system.",
            show_default="session where the engine has it",
        ),
    ] = None
    settings: Annotated[str | None, typer.Option(help="Only these settings, separated by commas.")] = None
    log_device_ms: Annotated[
        str | None,
        typer.Option(help="Emulate a log device with this flush time; REDO,BINLOG: a device for each log."),
    ] = None
    blocks: Annotated[int | None, typer.Option(help="Number of passes over all settings.")] = None
    seconds: Annotated[float | None, typer.Option(help="Length of a sample.")] = None
    at_most: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="End after this time, even if something is undecided: 90s, 15m, 2h."
        ),
    ] = None
    until_settled: UntilSettled = False
    password_command: PasswordCommand = None
    seed: Seed = None
    out: Out = None
    yes: Yes = False
    json: Json = False


def command(options: RunOptions) -> None:
    """Show the plan where that is all that is asked for; else run, and report the run.

    Raises:
        RedolabError: wrong usage, nothing could be measured, or what ended the run early.
    """
    use_password_command(options.password_command)
    if not options.plan:
        conclude(execute(options), options.json, "Every sample is kept:")
        return
    asked = ask(options)
    if options.json:
        show_json(planned(asked.experiment, asked.plan, asked.servers))
    else:
        print_plan(asked.experiment, asked.plan, asked.servers, asked.lacking)


@dataclass(frozen=True)
class Asked:
    """A checked request: what would be run, and on what."""

    experiment: Experiment
    plan: Plan
    servers: Servers
    log_device_s: tuple[float, ...]
    """Flush time of an emulated log device: one for all logs, or one for each; none for the real one."""
    lacking: Sequence[str] = ()
    """The settings that a server does not have, and why; one sentence each."""
    beside: Callable[[Mapping[str, Missing]], Asked] | None = None
    """The same request, given what each server does not have; None where its settings are fixed."""


def ask(options: RunOptions) -> Asked:
    """Check the options and make the plan; nothing is started or connected.

    Raises:
        UsageError: something that cannot be run was asked for.
    """
    named, engines = experiment_and_engines(
        (options.experiment, *(options.servers or ())), options.engines or ()
    )
    experiment = _experiment(named, options.list_file)
    delays_s = log_device_s(options.log_device_ms)
    servers = named_targets(engines or [default_engine(experiment.needs)])
    name = experiment.name if options.list_file is None else f"The list {options.list_file}"
    for target in servers.values():
        check_target(name, target, experiment.needs, delays_s)
    offers = {server: find_offer(target) for server, target in servers.items()}
    wish = _wish(options, offers)
    if len(servers) == 1 and options.across_tiers:
        raise UsageError("--across-tiers compares servers with each other: give --engine more than once.")

    def asked(missing: Mapping[str, Missing]) -> Asked:
        if len(servers) > 1:
            beside = SideBySideExperiment(experiment, missing, options.across_tiers)
            return Asked(beside, beside.plan(wish), servers, delays_s, beside.lacking(wish), asked)
        (lacks,) = missing.values()
        here = replace(wish, missing=lacks)
        return Asked(experiment, experiment.plan(here), servers, delays_s, experiment.lacking(here), asked)

    return asked({server: partial(offer.missing, servers[server]) for server, offer in offers.items()})


def execute(options: RunOptions) -> Outcome:
    """Check the options, ask where a foreign server is to be loaded, and run.

    Raises:
        RedolabError: wrong usage, or nothing could be measured.
    """
    from redolab.records.writing.writer import check_free

    asked = ask(options)
    out = options.out or default_run_directory(asked.experiment.name)
    check_free(out)
    asked, engine = open_agreed(asked, options.yes)
    return measure(asked, engine, out)


def open_agreed(asked: Asked, agreed: bool) -> tuple[Asked, Engine]:
    """Print what will happen, open the engine, and ask where the server is somebody else's.

    Gives what is asked for, without the settings that the server turns out not to have.

    Raises:
        UsageError: there was nobody to agree, or no agreement; or the server does not have a setting that was
        named. RefusedError: the engine cannot be had, or no such run is possible there.
    """
    plan = asked.plan
    _announce(asked)
    need = disk_bytes(plan, asked.servers)
    engines: dict[str, Engine] = {}
    try:
        for name, target in asked.servers.items():
            engines[name] = open_engine(target, plan.load, need, asked.log_device_s, plan.design.seed)
        asked = _as_found(asked, engines)
        foreign = {name: _introduce(asked, name, engines[name]) for name in _foreign(asked)}
        if foreign:
            _agree(asked, foreign, agreed)
    except BaseException:
        with ExitStack() as stack:
            for engine in engines.values():
                stack.callback(engine.close)
        raise
    alone = len(engines) == 1
    return asked, engines.popitem()[1] if alone else EnginesBeside(engines, asked.lacking)


def _as_found(asked: Asked, engines: Mapping[str, Engine]) -> Asked:
    """The request without the settings that a server turns out not to have."""
    if asked.beside is None:
        return asked
    found = asked.beside({name: engine.missing for name, engine in engines.items()})
    if found.lacking != asked.lacking:
        _announce(found)
    return found


def _foreign(asked: Asked) -> dict[str, str]:
    """The servers that are somebody else's."""
    return {name: target for name, target in asked.servers.items() if "://" in target}


def _introduce(asked: Asked, name: str, engine: Engine) -> Introduction:
    plan = part_of(asked.plan, name) if len(asked.servers) > 1 else asked.plan
    used = consumption(plan.design, plan.load, plan.combinations)
    levels = list(plan.combinations.values())
    return engine.introduce(plan.load, levels, used.transaction_ids, used.log_bytes)


def measure(asked: Asked, engine: Engine, out: Path) -> Outcome:
    """Run, with progress, and close the engine.

    Args:
        asked: what is to be run.
        engine: open, and agreed to.
        out: the run directory, still free.

    Raises:
        RedolabError: nothing could be measured.
    """
    from redolab.measure import runner

    with shown("measuring", "samples") as progress:
        return runner.run(asked.experiment, asked.plan, engine, out, progress, command_line())


def _experiment(name: str | None, list_file: Path | None) -> Experiment:
    if list_file is None:
        if name is None:
            raise UsageError("Name an experiment (see `redolab experiments`), or a file with --list.")
        return find_experiment(name)
    if name is not None:
        raise UsageError(f"--list {list_file} is an experiment of its own: leave {name!r} out.")
    return listed_experiment(list_file)


def _wish(options: RunOptions, offers: Mapping[str, Offer]) -> Wish:
    if options.scope is not None and options.scope not in get_args(Scope):
        raise UsageError(f"The scope {options.scope!r} does not exist. Use {', '.join(get_args(Scope))}.")
    for offer in offers.values():
        if options.scope is not None and options.scope not in offer.ways.scopes:
            raise UsageError(
                f"--scope {options.scope} does not exist on {offer.name}: its parameters of commits are set "
                f"for {' or '.join(offer.ways.scopes)} alone. Leave --scope out."
            )
    ways = common_ways(offers)
    return Wish(
        quick=bool(options.quick),
        full=options.quick is False,
        sessions=numbers(options.sessions),
        rows=options.rows,
        client=options.client,
        load=options.load,
        scope=cast("Scope", options.scope or ways.scopes[0]),
        settings=tuple(name.strip() for name in (options.settings or "").split(",") if name.strip()),
        blocks=options.blocks,
        seconds=options.seconds,
        at_most_s=None if options.at_most is None else seconds(options.at_most),
        until_settled=options.until_settled,
        seed=options.seed if options.seed is not None else secrets.randbelow(2**31),
        ways=ways,
    )


def _announce(asked: Asked) -> None:
    experiment, plan = asked.experiment, asked.plan
    design = plan.design
    each = len(design.order()) // design.blocks
    say(
        f"{experiment.name}: {blocks_text(design)} of {each} samples of {amount_text(plan)}, "
        f"{counted(plan.load.sessions, 'session')}, seed {design.seed}; {time_text(experiment, plan)}."
    )
    for text in asked.lacking:
        say(f"Not applicable: {text}.")


def _agree(asked: Asked, foreign: Mapping[str, Introduction], agreed: bool) -> None:
    """Describe what will be done on somebody's servers, and ask.

    Raises:
        UsageError: there was nobody to agree, or no agreement.
    """
    plan = asked.plan
    for name, server in foreign.items():
        say(f"{name if len(asked.servers) > 1 else 'Server'}: {server.place}.")
        for note in server.notes:
            say(note)
    if agreed:
        return
    made = creates(plan, _foreign(asked))
    there = {name: server.parameters for name, server in foreign.items()}
    changed = ", ".join(changes(plan, _foreign(asked), there)) or "no parameter"
    say(
        f"On {'that server' if len(foreign) == 1 else 'those servers'} Redolab creates {'; '.join(made)}. "
        f"During the run it loads {'the server' if len(foreign) == 1 else 'them'}, and changes {changed}. At "
        "the end every parameter is put back and everything created is removed. `--plan` shows more."
    )
    if not sys.stdin.isatty():
        raise UsageError(
            "This needs your agreement, and there is no terminal to ask on. Add --yes to run from a script."
        )
    say("Go on? [y/N] ", end="")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("You did not agree, so nothing was done.")

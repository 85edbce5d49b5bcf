"""`redolab continue`: more blocks for a stored run, on the same server."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from redolab.analysis.common_sections import log_devices_ms
from redolab.commands.options import Json, PasswordCommand, RunPath, UntilSettled, Yes, seconds
from redolab.commands.progress import shown
from redolab.commands.report import conclude
from redolab.commands.run import Asked, open_agreed
from redolab.commands.targets.engines import named_targets
from redolab.commands.targets.named import server_of
from redolab.engine import check_target, find_offer, private_target
from redolab.errors import UsageError
from redolab.experiment import find_experiment
from redolab.experiment.base import Experiment, Plan, Wish
from redolab.experiment.listed.plan import NAME as LIST
from redolab.experiment.listed.plan import listed_experiment
from redolab.experiment.schedule import LONGEST_RUN_S, further
from redolab.files.usage_errors import as_usage_errors
from redolab.password_command import use_password_command
from redolab.records.design import Design
from redolab.records.load import Load, load_of
from redolab.records.plain import plain
from redolab.records.store import read_manifest
from redolab.records.writing.continued import ContinuedWriter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redolab.measure.runner import Outcome


@dataclass(frozen=True)
class ContinueOptions:
    """The options of `redolab continue`."""

    run: RunPath
    blocks: Annotated[int | None, typer.Option(help="Number of further passes over all settings.")] = None
    at_most: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Measure until everything is decided, at most this long: 90s, 15m, 2h."
        ),
    ] = None
    until_settled: UntilSettled = False
    engine: Annotated[
        str | None,
        typer.Option(help="The server of the run, if it is yours; the stored run does not name it."),
    ] = None
    list_file: Annotated[
        Path | None, typer.Option("--list", metavar="FILE", help="The run's list file, if it had one.")
    ] = None
    password_command: PasswordCommand = None
    yes: Yes = False
    json: Json = False


def command(options: ContinueOptions) -> None:
    """Measure further blocks of a stored run, and report the whole.

    Raises:
        RedolabError: wrong usage, machine or server are not what they were, or what ended the run early.
    """
    use_password_command(options.password_command)
    conclude(execute(options), options.json, "Every sample is kept:")


def execute(options: ContinueOptions) -> Outcome:
    """Check that the run can go on, ask where a foreign server is to be loaded, and measure.

    Raises:
        RedolabError: wrong usage, or nothing could be measured.
    """
    from redolab.measure import runner

    # Where there is no run, this says so.
    read_manifest(options.run)
    writer = ContinuedWriter(options.run)
    try:
        with as_usage_errors(options.run):
            asked, ends = _asked(options, writer)
        asked, engine = open_agreed(asked, options.yes)
        with shown("measuring", "samples") as progress:
            return runner.go_on(asked.experiment, asked.plan, engine, writer, progress, ends=ends)
    finally:
        writer.let_go()


def _asked(options: ContinueOptions, writer: ContinuedWriter) -> tuple[Asked, bool]:
    """The run's own plan with as many blocks as are asked for, and whether it ends when all is decided.

    Raises:
        UsageError: nothing more is asked for, or the server or the list file must be named.
    """
    manifest = writer.manifest
    target = options.engine and server_of(options.engine)
    target = target or private_target(manifest["engine"])
    if target is None:
        raise UsageError(
            f"{options.run} was measured on a server of yours, which its record does not name. Add --engine "
            "URL."
        )
    experiment = _experiment(options, manifest)
    design, ends = _design(options, writer)
    combinations = {item["name"]: item["levels"] for item in manifest["settings"]}
    load = _load(experiment, manifest, target)
    delays_s = tuple(delay_ms / 1e3 for delay_ms in log_devices_ms(manifest))
    check_target(experiment.name, target, experiment.needs, delays_s)
    plan = Plan(design, combinations, load)
    return Asked(experiment, plan, named_targets([target]), delays_s), ends


def _experiment(options: ContinueOptions, manifest: Mapping[str, Any]) -> Experiment:
    name = manifest["experiment"]
    if name != LIST and options.list_file is not None:
        raise UsageError(f"{options.run} is a run of {name}, which has no list file. Leave --list out.")
    if name != LIST:
        return find_experiment(name)
    if options.list_file is None:
        raise UsageError(
            f"{options.run} was measured from a list file, {str(manifest['load'].get('file'))[:80]!r}. "
            "Such a file is a program, so name it again: --list FILE."
        )
    return listed_experiment(options.list_file)


def _load(experiment: Experiment, manifest: Mapping[str, Any], target: str) -> Load:
    """The run's load.

    Raises:
        UsageError: the list file is not what it was.
    """
    stored = manifest["load"]
    if experiment.name != LIST:
        return load_of(stored)
    client = stored["loop"] == "client"
    ways = find_offer(target).ways
    wish = Wish(sessions=(stored["sessions"],), client=client, scope=stored["scope"], ways=ways)
    load = experiment.load(wish, {})
    if plain({"kind": "script", **plain(load)}) != stored:
        raise UsageError(
            "The list file is not what it was when the run was measured. Begin a new run with the changed "
            "file."
        )
    return load


def _design(options: ContinueOptions, writer: ContinuedWriter) -> tuple[Design, bool]:
    """The run's design with the further blocks, and whether the run ends when everything is decided.

    Raises:
        UsageError: nothing more is asked for, or two things that exclude each other.
    """
    asked = [options.blocks is not None, options.at_most is not None, options.until_settled]
    if sum(asked) > 1:
        raise UsageError("Give one of --blocks, --at-most and --until-settled.")
    stored = writer.manifest["design"]
    design = Design(
        **{**stored, **{name: tuple(stored[name]) for name in ("settings", "lengths") if name in stored}}
    )
    if [plain(trial) for trial in design.order()] != writer.manifest["order"]:
        raise UsageError(
            f"The order of the settings in {writer.path} does not follow from its seed, so the run cannot be "
            "continued."
        )
    if not any(asked):
        if writer.manifest["status"] == "finished":
            raise UsageError(
                f"{writer.path} is finished. Say how much more to measure: --blocks N, --at-most TIME or "
                "--until-settled."
            )
        return design, design.until_settled
    block = max(writer.run.samples["block"].to_pylist(), default=0)
    if options.blocks is not None:
        # A number that was chosen after a look is judged by evidence, which allows any look.
        longer = further(design, block, blocks=options.blocks)
        return replace(longer, at_most_s=design.at_most_s or LONGEST_RUN_S), False
    most_s = LONGEST_RUN_S if options.at_most is None else seconds(options.at_most)
    longer = further(design, block, at_most_s=most_s)
    return replace(longer, at_most_s=writer.measured_s + most_s), True

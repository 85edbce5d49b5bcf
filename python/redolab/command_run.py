"""`redolab run`: from options to a closed run."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast, get_args

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from redolab import runner
from redolab.engine import check_target, open_engine
from redolab.errors import UsageError
from redolab.experiment import find_experiment
from redolab.experiment.base import Experiment, Plan, Wish
from redolab.sample import Scope
from redolab.store import check_free
from redolab.units import clock

# Set-up, snapshots, checkpoints and the report, seconds: to tell the time a run needs.
_SET_UP_S = 5.0
_PER_TRIAL_S = {"sample": 0.35, "kill": 1.5, "draw": 0.03}
_MOST_SESSIONS = 1_000


@dataclass(frozen=True)
class RunOptions:
    """The options of `redolab run` as given."""

    experiment: str
    engine: str | None
    quick: bool
    sessions: str | None
    rows: int | None
    client: bool
    load: str | None
    scope: str
    settings: str | None
    log_device_ms: float | None
    blocks: int | None
    seconds: float | None
    seed: int | None
    out: Path | None
    yes: bool
    command: str


def execute(options: RunOptions) -> runner.Outcome:
    """Check the options, ask where a foreign server is to be loaded, and run.

    Raises:
        RedolabError: wrong usage, or nothing could be measured.
    """
    experiment = find_experiment(options.experiment)
    delay_s = _log_device_s(options.log_device_ms)
    target = options.engine or experiment.engines[0]
    check_target(target, experiment.engines, delay_s)
    plan = experiment.plan(_wish(options))
    out = options.out or _default_place(experiment)
    check_free(out)
    _announce(experiment, plan, target, options.yes)
    engine = open_engine(target, plan.load, delay_s, plan.design.seed)
    with _progress(experiment) as progress:
        return runner.run(experiment, plan, engine, out, progress, options.command)


def _wish(options: RunOptions) -> Wish:
    if options.scope not in get_args(Scope):
        raise UsageError(f"There is no scope {options.scope!r}. Use {', '.join(get_args(Scope))}.")
    return Wish(
        quick=options.quick,
        sessions=_numbers(options.sessions),
        rows=options.rows,
        client=options.client,
        load=options.load,
        scope=cast("Scope", options.scope),
        settings=tuple(name.strip() for name in (options.settings or "").split(",") if name.strip()),
        blocks=options.blocks,
        seconds=options.seconds,
        seed=options.seed if options.seed is not None else secrets.randbelow(2**31),
    )


def _numbers(text: str | None) -> tuple[int, ...]:
    """The numbers of sessions that `--sessions` names.

    Raises:
        UsageError: something else stands there.
    """
    numbers = []
    for item in (text or "").split(",") if text is not None else ():
        try:
            number = int(item)
        except ValueError:
            number = 0
        if not 0 < number <= _MOST_SESSIONS:
            raise UsageError(
                f"--sessions is {text}; it must be a number greater than 0 and at most {_MOST_SESSIONS:,}, "
                "or several with commas between."
            )
        numbers.append(number)
    return tuple(numbers)


def _log_device_s(delay_ms: float | None) -> float | None:
    if delay_ms is None:
        return None
    if not 0 < delay_ms <= 1000:
        raise UsageError(f"--log-device-ms is {delay_ms:g}; it must be greater than 0 and at most 1000.")
    return delay_ms / 1000


def _default_place(experiment: Experiment) -> Path:
    return Path("redolab-runs") / f"{experiment.name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"


def _announce(experiment: Experiment, plan: Plan, target: str, agreed: bool) -> None:
    """Say what will happen; where the server is not Redolab's own, ask."""
    design, load = plan.design, plan.load
    trials = len(design.order())
    need = clock(design.load_time() + trials * _PER_TRIAL_S[experiment.record] + _SET_UP_S)
    print(
        f"{experiment.name}: {design.blocks} blocks of {trials // design.blocks} samples of "
        f"{design.seconds:g} s, {load.sessions} sessions, seed {design.seed}; about {need}.",
        file=sys.stderr,
    )
    if "://" not in target or agreed:
        return
    if load.scope == "system":
        reach = "ALTER SYSTEM for every parameter of the settings"
    elif any("commit_logging" in levels for levels in plan.combinations.values()):
        reach = "ALTER SYSTEM for the WAL writer's parameters"
    else:
        reach = "synchronous_commit in its own sessions alone"
    print(
        "On that server Redolab makes the schema redolab, loads it with commits for that time, and "
        f"changes parameters ({reach}). Every parameter is put back and the schema dropped at the end.",
        file=sys.stderr,
    )
    if not sys.stdin.isatty():
        raise UsageError("Nobody is there to agree to that: add --yes to run from a script.")
    print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("Not agreed, so nothing was done.")


class _Lines:
    """Progress as plain lines, about ten of them, where no terminal is."""

    def __init__(self) -> None:
        self.total = self.done = 0

    def begin(self, samples: int, seconds: float) -> None:
        """The run is about to measure."""
        self.total = samples
        print(f"measuring {samples} samples, {clock(seconds)} of load", file=sys.stderr)

    def advance(self, setting: str) -> None:
        """One more sample is stored."""
        self.done += 1
        if self.done * 10 // self.total > (self.done - 1) * 10 // self.total:
            print(f"{self.done} of {self.total} samples ({setting})", file=sys.stderr)


class _Bar:
    """Progress as a bar with time left, scaled by the samples done so far."""

    def __init__(self, bar: Progress) -> None:
        self.bar = bar
        self.task = bar.add_task("preparing", total=None)

    def begin(self, samples: int, seconds: float) -> None:  # noqa: ARG002
        """The run is about to measure."""
        self.bar.reset(self.task, total=samples, description="measuring")

    def advance(self, setting: str) -> None:
        """One more sample is stored."""
        self.bar.update(self.task, advance=1, description=f"{setting:<16}")


@contextmanager
def _progress(experiment: Experiment) -> Iterator[runner.Progress]:  # noqa: ARG001
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    from rich.progress import TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as bar:
        yield _Bar(bar)

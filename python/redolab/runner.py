"""The main path: open the engine, prepare, measure every trial of the design, store, close."""

from __future__ import annotations

import dataclasses
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import psycopg

import redolab
from redolab.design import Design
from redolab.engine.base import Engine, Load
from redolab.errors import InterruptedRunError, RedolabError, RefusedError
from redolab.experiment.base import Experiment, Moment
from redolab.machine import describe_machine
from redolab.sample import Setting
from redolab.store import Run, RunWriter


class Progress(Protocol):
    """Where a run says how far it is."""

    def begin(self, samples: int, seconds: float) -> None:
        """The first sample is about to start; `seconds` is the load time of all of them."""
        ...

    def advance(self, setting: str) -> None:
        """One more sample of `setting` is stored."""
        ...


@dataclass(frozen=True)
class Outcome:
    """A closed run, and what ended it early, if anything did."""

    run: Run
    error: RedolabError | None


def run(
    experiment: Experiment, design: Design, load: Load, engine: Engine, out: Path,
    progress: Progress, command: str, clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Measure `design` on `engine`, store every sample as it is made, and close the engine.

    Args:
        experiment: what is asked.
        design: how often, how long, in which order.
        load: what the sessions do.
        engine: the database; closed in any case.
        out: the run directory, made here.
        progress: told of every sample.
        command: how the run was asked for, without any password.
        clock: seconds on a clock that never goes back.

    Raises:
        RedolabError: nothing could be measured at all.
    """
    writer: RunWriter | None = None
    error: RedolabError | None = None
    try:
        with interruptible() as stop, _in_plain_words():
            settings = engine.prepare(load, [experiment.combinations[n] for n in design.settings])
            writer = RunWriter(out, _manifest(experiment, design, load, engine, settings, command))
            _measure(experiment, design, engine, settings, writer, stop, progress, clock)
    except RedolabError as raised:
        error = raised
    finally:
        close_error = _close(engine)
    error = error or close_error
    if writer is None:
        raise error or RefusedError("The run ended before it began.")
    stopped = isinstance(error, InterruptedRunError)
    status = "interrupted" if stopped else "failed" if error else "finished"
    stored = writer.finish(
        status,
        finished_at=_now(),
        error=str(error) if error else None,
        parameter_changes=_changes(engine),
    )
    return Outcome(stored, error)


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """SIGINT and SIGTERM set the event instead of breaking off in the middle of a statement."""
    stop = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if not stop.is_set():
            print("\nStopping: the sample in flight is dropped, the rest is kept.", file=sys.stderr)
        stop.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _measure(
    experiment: Experiment, design: Design, engine: Engine, settings: tuple[Setting, ...],
    writer: RunWriter, stop: threading.Event, progress: Progress, clock: Callable[[], float],
) -> None:
    by_name = {setting.name: setting for setting in settings}
    order = design.order()
    start_s = clock()
    progress.begin(len(order), design.load_time())
    for trial in order:
        if stop.is_set():
            raise InterruptedRunError("The run was interrupted between two samples.")
        moment = Moment(trial, by_name[trial.setting], design, lambda: clock() - start_s, stop)
        known_changes = len(engine.changes)
        writer.append(*experiment.measure(engine, moment))
        if len(engine.changes) > known_changes:
            writer.save_manifest(parameter_changes=_changes(engine))
        progress.advance(trial.setting)


def _close(engine: Engine) -> RedolabError | None:
    # A second Ctrl-C must not leave a server running or a parameter changed.
    with interruptible():
        try:
            engine.close()
        except RedolabError as error:
            return error
    return None


@contextmanager
def _in_plain_words() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        text = " ".join(str(error).split())
        raise RefusedError(
            f"The database ended the run: {text}. Every sample finished before is kept. Look at the "
            "server's log for the cause; every parameter changed is put back."
        ) from error


def _manifest(
    experiment: Experiment, design: Design, load: Load, engine: Engine,
    settings: tuple[Setting, ...], command: str,
) -> Mapping[str, Any]:
    return {
        "redolab_version": redolab.__version__,
        "experiment": experiment.name,
        "question": experiment.question,
        "record": experiment.record,
        "started_at": _now(),
        "finished_at": None,
        "design": dataclasses.asdict(design),
        "order": [dataclasses.asdict(trial) for trial in design.order()],
        "settings": [dataclasses.asdict(setting) for setting in settings],
        "mapping": [
            {"setting": s.name, "parameter": name, "value": value, "scope": s.scopes[name]}
            for s in settings for name, value in s.parameters.items()
        ],
        "load": dataclasses.asdict(load),
        "engine": dict(engine.describe()),
        "machine": describe_machine(),
        "conditions": engine.conditions(),
        "not_measured": engine.not_measured(),
        "parameter_changes": [],
        "sampler": {"rate_per_s": engine.tick_rate_per_s},
        "command": command,
    }


def _changes(engine: Engine) -> list[dict[str, Any]]:
    return [dataclasses.asdict(change) for change in engine.changes]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

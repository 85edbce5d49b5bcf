"""The main path: open the engine, prepare, measure every trial of the design, store, close."""

from __future__ import annotations

import dataclasses
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import redolab
from redolab.analysis.reading import read_samples
from redolab.console import say
from redolab.engine.base import Engine
from redolab.errors import ConnectionLostError, EngineError, InterruptedRunError, RedolabError, RefusedError
from redolab.experiment.base import Experiment, Pilot, Plan
from redolab.machine.machine import describe_machine
from redolab.measure.same_place import check_same, is_private
from redolab.measure.settling import Settling
from redolab.measure.trial import MEASURES, Measured, TrialContext
from redolab.records.design import Design
from redolab.records.load import Amount
from redolab.records.run import Run
from redolab.records.sample import Sample, Setting, Work
from redolab.records.writing.continued import ContinuedWriter
from redolab.records.writing.writer import RunWriter

_ATTEMPTS = 3


class RunProgress(Protocol):
    """Receiver of a run's progress."""

    def begin(self, samples: int, seconds: float) -> None:
        """The first sample is about to start; `seconds` is the load time of all of them."""
        ...

    def advance(self, setting: str) -> None:
        """One more sample of `setting` is stored."""
        ...

    def news(self, text: str) -> None:
        """Something is known that the user may want at once."""
        ...


@dataclass(frozen=True)
class Outcome:
    """A closed run, and the error that ended it early, if any."""

    run: Run
    error: RedolabError | None


def run(
    experiment: Experiment,
    plan: Plan,
    engine: Engine,
    out: Path,
    progress: RunProgress,
    command: str,
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Measure `plan` on `engine`, store every sample as it is made, and close the engine.

    Args:
        experiment: the question.
        plan: which settings, how often, how long, in which order, under which load.
        engine: the database; closed in any case.
        out: the run directory, made here.
        progress: notified of every sample.
        command: how the run was asked for, without any password.
        clock: seconds on a clock that never goes back.

    Raises:
        RedolabError: nothing could be measured at all.
    """

    def begin(stop: threading.Event) -> _Begun:
        settings = engine.prepare(plan.load, list(plan.combinations.values()))
        fitted = experiment.fit(plan, _pilot(engine, settings, stop))
        settings = _with_levels(settings, fitted.combinations)
        manifest = _manifest(experiment, fitted.design, fitted, engine, settings, command)
        return _Begun(RunWriter(out, manifest, fitted.documents), fitted.design, settings)

    return _run(experiment, engine, begin, progress, clock, keep=bool(plan.documents))


def go_on(
    experiment: Experiment,
    plan: Plan,
    engine: Engine,
    writer: ContinuedWriter,
    progress: RunProgress,
    *,
    ends: bool,
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Measure what a stored run does not have of a plan yet, and close the engine.

    Args:
        experiment: the question.
        plan: the run's own, with as many blocks as it is to have; its order begins as the run's does.
        engine: the database; closed in any case.
        writer: of the stored run.
        progress: notified of every sample.
        ends: whether a run that ends when everything is decided does so.
        clock: seconds on a clock that never goes back.

    Raises:
        UsageError: machine or server are not what they were; the run is as it was.
        RedolabError: nothing could be measured at all.
    """

    def begin(_stop: threading.Event) -> _Begun:
        settings = engine.prepare(plan.load, list(plan.combinations.values()))
        settings = _with_levels(settings, plan.combinations)
        check_same(writer.manifest, engine, settings)
        earlier = writer.manifest.get("continued", [])
        private = is_private(engine.describe())
        seam = max((sample.seam or 0 for sample in counted), default=0) + private
        server = "a new private server" if private else "the same server"
        writer.go_on(
            design=dataclasses.asdict(plan.design),
            order=[dataclasses.asdict(trial) for trial in plan.design.order()],
            continued=[*earlier, {"at": _now(), "sample": writer.samples + 1, "server": server}],
        )
        return _Begun(writer, plan.design, settings, tuple(counted), writer.measured_s, seam, ends)

    counted = read_samples(writer.run)
    return _run(experiment, engine, begin, progress, clock, keep=True)


@dataclass(frozen=True)
class _Begun:
    """A run whose next sample can be measured."""

    writer: RunWriter
    design: Design
    settings: tuple[Setting, ...]
    earlier: Sequence[Sample] = ()
    """Samples that it has already."""
    measured_s: float = 0.0
    """Seconds from its beginning to the end of the last of them."""
    seam: int = 0
    ends: bool = True
    """Whether it ends when everything is decided, if its design says so."""


def _run(
    experiment: Experiment,
    engine: Engine,
    begin: Callable[[threading.Event], _Begun],
    progress: RunProgress,
    clock: Callable[[], float],
    *,
    keep: bool,
) -> Outcome:
    """Measure, store, and close the engine; a run without a sample is removed unless it is to be kept."""
    writer: RunWriter | None = None
    error: RedolabError | None = None
    with Interruptions() as interruptions:
        engine.heed(interruptions.stop)
        engine.heed_in_closing(interruptions.hurry)
        try:
            begun = begin(interruptions.stop)
            writer = begun.writer
            _measure(experiment, engine, begun, interruptions.stop, progress, clock)
        except RedolabError as raised:
            error = raised
        finally:
            interruptions.closing = True
            error = _told(error, _close(engine), engine, writer)
        if writer is None or not writer.samples:
            if writer is not None and not keep:
                writer.discard()
            raise error or RefusedError("The run ended before its first sample.")
        stopped = isinstance(error, InterruptedRunError)
        stored = writer.finish(
            "interrupted" if stopped else "failed" if error else "finished",
            finished_at=_now(),
            error=str(error) if error else None,
            parameter_changes=_changes(writer, engine),
            conditions=list(dict.fromkeys([*writer.manifest["conditions"], *engine.meanwhile])),
        )
    if engine.farewell and (error is None or isinstance(error, InterruptedRunError)):
        say(f"redolab: {engine.farewell}")
    if error is None and interruptions.stop.is_set():
        error = InterruptedRunError("The run was interrupted after its last sample, so it is complete.")
    return Outcome(stored, error)


class Interruptions:
    """SIGINT and SIGTERM while a run is under way.

    The first one sets `stop`, so that no statement is broken off. The second one breaks off any work that
    hangs; but nothing does once `closing` is set, because things are put back then. One that comes during
    that time sets `hurry`: the guard then does the rest of the waiting.
    """

    def __init__(self, note: str = "the sample in flight is dropped, the rest is kept") -> None:
        """Print `note` at the first signal."""
        self.stop, self.hurry = threading.Event(), threading.Event()
        self.closing = False
        self._said = f"\nStopping: {note}.\n".encode()

    def __enter__(self) -> Self:
        self._before = {n: signal.signal(n, self._note) for n in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, *_: object) -> None:
        if self.closing:
            self.hurry.set()
        if not self.stop.is_set():
            self.stop.set()
            # print() may be what was interrupted, and cannot be entered twice.
            os.write(2, b"\nStopping: everything is being put back.\n" if self.closing else self._said)
        elif not self.closing:
            raise InterruptedRunError("Broken off at the second interruption.")


def _with_levels(
    settings: tuple[Setting, ...], combinations: Mapping[str, Mapping[str, str]]
) -> tuple[Setting, ...]:
    """The settings with the levels that a pilot found."""
    return tuple(
        replace(setting, levels={**setting.levels, **combinations[setting.name]}) for setting in settings
    )


def _pilot(engine: Engine, settings: tuple[Setting, ...], stop: threading.Event) -> Pilot:
    by_name = {setting.name: setting for setting in settings}

    def work(name: str, amount: Amount, levels: Mapping[str, str] | None = None, /) -> Work:
        setting = by_name[name]
        engine.apply(replace(setting, levels={**setting.levels, **(levels or {})}))
        engine.settle()
        done = engine.work(amount, stop)
        if done.trouble is not None and not done.units:
            raise EngineError(done.trouble)
        return done

    return work


def _measure(
    experiment: Experiment,
    engine: Engine,
    begun: _Begun,
    stop: threading.Event,
    progress: RunProgress,
    clock: Callable[[], float],
) -> None:
    writer, design = begun.writer, begun.design
    by_name = {setting.name: setting for setting in begun.settings}
    order = design.order()[writer.samples :]
    settling = Settling(writer.manifest, begun.earlier) if design.until_settled and begun.ends else None
    most_s = math.inf if design.at_most_s is None else design.at_most_s
    start_s = clock() - begun.measured_s
    progress.begin(len(order), min(design.load_time(order), most_s))
    for trial in order:
        # The first block is measured however long it takes.
        if settling is not None and trial.position == 1 and trial is not order[0]:
            _tell(settling, progress)
            if settling.settled or clock() - start_s + design.block_time(trial.block) > most_s:
                return
        if stop.is_set():
            raise InterruptedRunError("The run was interrupted between two samples.")
        setting = by_name[trial.setting]
        moment = TrialContext(trial, setting, design, lambda: clock() - start_s, stop, begun.seam)
        known_changes = len(engine.changes)
        measured = _attempt(experiment, engine, moment)
        writer.append(*measured)
        if settling is not None and isinstance(measured[0], Sample):
            settling.take(measured[0])
        if len(engine.changes) > known_changes:
            writer.save_manifest(parameter_changes=_changes(writer, engine))
        progress.advance(trial.setting)
    if settling is not None:
        _tell(settling, progress)


def _tell(settling: Settling, progress: RunProgress) -> None:
    for text in settling.news():
        progress.news(text)


def _attempt(experiment: Experiment, engine: Engine, moment: TrialContext) -> Measured:
    """Measure one trial; again when a connection is lost before its load begins.

    One that is lost while the load runs spoils the sample, and raises nothing.
    """
    measure = MEASURES[experiment.record]
    for _ in range(_ATTEMPTS - 1):
        with suppress(ConnectionLostError):
            return measure(engine, moment)
    return measure(engine, moment)


def _close(engine: Engine) -> RedolabError | None:
    """Close the engine; returns its error."""
    try:
        engine.close()
    except RedolabError as raised:
        return raised
    return None


def _told(
    error: RedolabError | None, in_closing: RedolabError | None, engine: Engine, writer: RunWriter | None
) -> RedolabError | None:
    """The error that ended the run, with the kept samples and the state of the server; None without one.

    The text states that parameters are put back only where they were read as they were before.
    """
    if in_closing is None:
        put_back = any(change.setting == "restore" for change in engine.changes)
        left = " Every parameter that was changed is put back." if put_back else ""
        if error is None or not isinstance(error, RefusedError):
            return error
        return _with(error, writer, left)
    told = _with(in_closing, writer if error is None else None)
    return RefusedError(f"{_with(error, writer) if error else ''} {told}".lstrip())


def _with(error: RedolabError, writer: RunWriter | None, left: str = "") -> RedolabError:
    """The error with the kept samples, where the server ended the run."""
    kept = "Every sample finished before is kept." if writer is not None and writer.samples else ""
    if isinstance(error, EngineError):
        return type(error)(error.cause, f"{kept} {error.advice}{left}".lstrip())
    if isinstance(error, RefusedError):
        return type(error)(f"{error} {kept}".rstrip() + left)
    return error


def _manifest(
    experiment: Experiment,
    design: Design,
    plan: Plan,
    engine: Engine,
    settings: tuple[Setting, ...],
    command: str,
) -> Mapping[str, Any]:
    return {
        "redolab_version": redolab.__version__,
        "experiment": experiment.name,
        "question": experiment.question,
        "record": experiment.record,
        "unit": experiment.unit,
        "started_at": _now(),
        "finished_at": None,
        "design": dataclasses.asdict(design),
        "order": [dataclasses.asdict(trial) for trial in design.order()],
        "settings": [dataclasses.asdict(setting) for setting in settings],
        "mapping": [
            {"setting": s.name, "parameter": name, "value": value, "scope": s.scopes[name]}
            for s in settings
            for name, value in s.parameters.items()
        ],
        "parameters_before": [dataclasses.asdict(before) for before in engine.parameters_before],
        "load": {"kind": type(plan.load).__name__.lower(), **dataclasses.asdict(plan.load)},
        "engine": dict(engine.describe()),
        "machine": describe_machine(),
        "conditions": engine.conditions(),
        "not_measured": engine.not_measured(),
        "parameter_changes": [],
        "sampler": dict(engine.sampler()),
        "command": command,
    }


def _changes(writer: RunWriter, engine: Engine) -> list[dict[str, Any]]:
    """The changes of parameters of the whole run."""
    return [*writer.changes_before, *(dataclasses.asdict(change) for change in engine.changes)]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

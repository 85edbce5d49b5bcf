"""What an experiment is: its question, its factors, its load, and how one trial is measured."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from redolab.design import Design, Trial
from redolab.engine.base import Engine, Load
from redolab.errors import UsageError
from redolab.sample import Kill, OverheadRow, ProcessTime, Sample, Scope, Setting, WaitRow

Measured = tuple[Sample | Kill, list[WaitRow], list[ProcessTime], list[OverheadRow]]


@dataclass(frozen=True)
class Size:
    """How long a run is: blocks, and seconds per sample and warm-up."""

    blocks: int
    seconds: float
    warmup_s: float


@dataclass(frozen=True)
class Moment:
    """What measuring a trial needs beside the engine."""

    trial: Trial
    setting: Setting
    design: Design
    clock: Callable[[], float]
    """Seconds since the run began."""
    stop: threading.Event

    def now(self) -> tuple[str, float]:
        """UTC in ISO 8601, and seconds since the run began."""
        return datetime.now(UTC).isoformat(timespec="milliseconds"), self.clock()


@dataclass(frozen=True)
class Experiment:
    """One question that `redolab run` can put to a database."""

    name: str
    question: str
    record: str
    """What a trial yields: `sample` or `kill` (see `redolab.store.RECORDS`)."""
    combinations: Mapping[str, Mapping[str, str]]
    """Setting name to factor levels: every setting that may be asked for."""
    default_settings: tuple[str, ...]
    baseline: str
    quick: Size
    full: Size
    null_pair: bool
    load: Callable[[str | None, int, Scope], Load]
    """Makes the load from its name (None where none was asked for), the sessions and the scope."""
    measure: Callable[[Engine, Moment], Measured]

    def chosen(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The settings to measure; all defaults when none is named.

        Raises:
            UsageError: a name is unknown.
        """
        unknown = [name for name in names if name not in self.combinations]
        if unknown:
            raise UsageError(
                f"{self.name} has no setting {', '.join(map(repr, unknown))}. "
                f"It has: {', '.join(self.combinations)}."
            )
        return names or self.default_settings

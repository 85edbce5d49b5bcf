"""The interface between the runner and a database, whichever it is.

An engine prepares its own schema, puts a `Setting` in force, works, and reads counters. It never
decides what to measure or in which order; that is the design's part.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from redolab.errors import UsageError
from redolab.records.load import Amount, Load
from redolab.records.parameter_before import ParameterBefore
from redolab.records.sample import ParameterChange, Setting, Snapshot, Ticks, Work


@dataclass(frozen=True)
class KillRecovery:
    """The state that a hard kill of the server left (see `Engine.kill_and_recover`)."""

    sessions: int
    acknowledged: int
    missing: int
    unacknowledged: int
    loss_window_s: float | None
    load_s: float
    recovery_s: float


@dataclass(frozen=True)
class Introduction:
    """Facts about a server of somebody else's, for the question before a run."""

    place: str
    """Server, host, port, database and role, as really connected."""
    notes: tuple[str, ...]
    """Other facts that an answer depends on, one sentence each."""
    parameters: frozenset[str] | None = None
    """Parameters of commits that this server has; None where the URL determines them already."""


@dataclass(frozen=True)
class MachineProbe:
    """How fast the server's machine is just before a sample. What cannot be seen is None."""

    cpu_loop_s: float | None = None
    """CPU time of a fixed loop, seconds; None where the server is on another machine."""
    flush_s: float | None = None
    """Time of a flush next to its data, seconds; None where the server is not Redolab's own."""


class Watch(Protocol):
    """A wait sampler at work; `ticks` is complete once the `with` block is left."""

    @property
    def ticks(self) -> Ticks:
        """The ticks that were observed."""
        ...


class NoWatch:
    """A wait sampler for engines that have no waits, or whose waits cannot be read: it sees nothing."""

    ticks = Ticks()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing was begun."""


class Engine(ABC):
    """The system that experiments run against. Closed by `close`, whatever happened before.

    An engine declares in its `Offer` what it can do, and implements that. Everything else here has a default:
    no parameters, no warnings, no waits, nothing to settle. Its driver's errors reach nobody: it raises
    `EngineError` in their place.
    """

    parameters_before: Sequence[ParameterBefore] = ()
    """Every parameter that the settings change, as the server had it; known once `prepare` is done."""

    @property
    def changes(self) -> list[ParameterChange]:
        """Every parameter change so far, in order."""
        return []

    def sampler(self) -> Mapping[str, Any]:
        """How wait events are read here: `source`, and the mean `rate_per_s`."""
        return {"source": "none", "rate_per_s": 0.0}

    @abstractmethod
    def describe(self) -> Mapping[str, Any]:
        """The `engine` part of the manifest: name, version, local, emulated, log_filesystem."""

    def conditions(self) -> list[str]:
        """Warnings about this server that a reader of its figures must know."""
        return []

    @property
    def meanwhile(self) -> list[str]:
        """Events at the server during the run that a reader of its figures must know."""
        return []

    @property
    def farewell(self) -> str:
        """After `close`, the sentence that somebody's server is as before; empty without such a server."""
        return ""

    def not_measured(self) -> list[str]:
        """Figures that are not available here, and why; one sentence each."""
        return []

    def missing(self, levels: Mapping[str, str]) -> str | None:
        """Why this server has no such setting, a predicate without its subject; None where it has it."""
        return None

    def heed(self, stop: threading.Event) -> None:
        """End `prepare` and `apply` early with `InterruptedRunError` once `stop` is set.

        Not for an engine whose preparations are short.
        """

    def heed_in_closing(self, hurry: threading.Event) -> None:
        """Wait for nobody in `close` once `hurry` is set; the guard is left with what remains.

        For a server that is somebody else's.
        """

    def introduce(
        self,
        load: Load,
        combinations: Sequence[Mapping[str, str]],
        transaction_ids: int,
        log_bytes: int | None,
    ) -> Introduction:
        """Read the facts about somebody else's server for the question before a run; nothing is changed.

        For engines that a URL names: nothing is made there before they agree.

        Args:
            load: what would be done.
            combinations: factor levels of each setting.
            transaction_ids: the largest number that the run uses up.
            log_bytes: how much log it writes at most; None where the user's own statements decide it.

        Raises:
            RefusedError: no such run is possible there.
        """
        raise NotImplementedError("An engine that a URL names introduces its server.")

    @abstractmethod
    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Check every right the run needs; then make the schema, the rows and the sessions.

        Returns the setting of each combination of factor levels as this server realises it.

        Raises:
            UsageError: this engine has no such load.
            RefusedError: something is missing; the text names the grant, parameter or package.
        """

    @abstractmethod
    def apply(self, setting: Setting) -> None:
        """Put a setting in force: its parameters, which every session must see, and what its levels
        say of the load (how many sessions work, how many rows go into a commit).
        """

    def settle(self) -> None:
        """Bring the server to the same state before every sample, where that may be done."""

    def probe(self) -> MachineProbe:
        """How fast the machine of the server is at this moment; some 10 ms."""
        return MachineProbe()

    @abstractmethod
    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """Let the sessions of the setting work; raises `InterruptedRunError` when `stop` is set."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Read every cumulative counter now."""

    def watch(self, in_turns_s: float = 0.0) -> AbstractContextManager[Watch]:
        """Sample wait events while the `with` block runs; sees nothing where there are none.

        Over a load of `in_turns_s` seconds the sampler is on and off in turns, so that `Ticks.pairs` shows
        its effect on the load; for less than two pairs (and for 0) it is on all the time.
        """
        return NoWatch()

    def draw(self, number: int) -> tuple[int, tuple[float, ...]]:
        """The groups of the setting in force, and the values of its `number`th sample, group after group.

        The same seed and number give the same values. For engines that draw values instead of doing work.

        Raises:
            UsageError: this one does not.
        """
        raise UsageError("This engine cannot draw values; leave --engine out.")

    def kill_and_recover(self, seconds: float, stop: threading.Event) -> KillRecovery:
        """Commit and note each acknowledgement for `seconds`, kill the server hard, recover, count.

        Raises:
            UsageError: this server is not Redolab's own, so it is never killed.
        """
        raise UsageError("This engine cannot be killed; leave --engine out.")

    @abstractmethod
    def close(self) -> None:
        """Put every parameter back, verify it, and leave nothing behind.

        Raises:
            RefusedError: something could not be put back; the text says what, and how to do it.
        """

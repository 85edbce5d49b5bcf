"""The definition of an experiment: its question, its factors, and its load.

An experiment plans, and the runner measures what it plans. It imports no engine, no driver and nothing that
computes: the results of its runs are computed by its answer (`redolab.experiment.answers`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from redolab.errors import UsageError
from redolab.experiment.schedule import LONGEST_RUN_S, WARMUP_S, lengths
from redolab.records.capability import Capability, Ways
from redolab.records.design import Design
from redolab.records.load import Amount, Load
from redolab.records.sample import Scope, Work

Levels = Mapping[str, str]
"""Factor (see `redolab.records.load.FACTORS`) to level."""
Missing = Callable[[Levels], str | None]
"""Why an engine does not have a setting with such levels, one sentence; None where it has."""


class Pilot(Protocol):
    """Works in a setting without recording it, to size the measurement."""

    def __call__(self, setting: str, amount: Amount, levels: Levels | None = None, /) -> Work:
        """Put a setting in force, with such levels in addition to its own, and work for so much."""


@dataclass(frozen=True)
class Size:
    """How long a run is."""

    blocks: int
    seconds: float
    """Length of a sample."""
    warmup_s: float
    units: int | None = None
    """Units of work per sample, where a sample is a fixed amount of work."""


def nothing_missing(_levels: Levels) -> str | None:
    """Why a setting does not exist, where all do."""
    return None


@dataclass(frozen=True)
class Wish:
    """Wishes of the user for a run; None and empty where the experiment decides."""

    quick: bool = False
    full: bool = False
    """Whether the published length was asked for."""
    sessions: tuple[int, ...] = ()
    rows: int | None = None
    client: bool = False
    load: str | None = None
    scope: Scope = "session"
    settings: tuple[str, ...] = ()
    blocks: int | None = None
    seconds: float | None = None
    at_most_s: float | None = None
    """Time after which a run ends though something is undecided, seconds."""
    until_settled: bool = False
    """Whether a run goes on until everything is decided."""
    seed: int = 0
    ways: Ways = field(default_factory=Ways)
    """Ways of the engine to load."""
    missing: Missing = nothing_missing
    """Settings that the engine does not have."""

    @property
    def loop(self) -> str:
        """Where a session's loop runs: in a client where that is asked for, or where nothing else will do."""
        return "client" if self.client or self.scope in self.ways.client_scopes else self.ways.loops[0]

    @property
    def timed_loop(self) -> str:
        """Where a loop runs that notes the time of each commit."""
        return self.loop if self.loop in self.ways.timed else self.ways.timed[0]


@dataclass(frozen=True)
class Plan:
    """Everything a run needs to know, before any database is touched."""

    design: Design
    combinations: Mapping[str, Levels]
    """Setting name to its levels, for the settings of the design."""
    load: Load
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Files written into the run directory before the first sample, by name, as JSON."""


class Experiment(ABC):
    """One question that `redolab run` can put to a database.

    A question is a subclass and inherits the defaults here. Its answer is in its own `answer.py`.
    """

    name: str
    question: str
    unit: str
    """The unit of work, singular: `commit`, `row`, `query` ..."""
    record: str = "sample"
    """The record of a trial: `sample`, `kill` or `draw` (see `redolab.records.schema.RECORDS`)."""
    needs: frozenset[Capability]
    """Capabilities that an engine must offer to answer the question."""
    options: frozenset[str] = frozenset()
    """The fields of `Wish` it takes in addition to quick, settings, blocks, seconds and seed."""
    quick: Size
    full: Size
    null_pair: bool = True
    """Whether the baseline is measured twice in a block, to be compared with itself."""
    sequential: bool = False
    """Whether a run ends as soon as it knows enough, where no number of blocks is asked for: as soon as its
    comparisons are decided, or the numbers that it recommends are settled, where its answer has `levels`.
    """
    settling_s: float | None = None
    """Length of every sample of such a run, where a pilot makes fixed work of it; None: as in `schedule`."""
    side_by_side: bool = False
    """Whether its answer can have the server as a further factor (`redolab.experiment.side_by_side`)."""

    @abstractmethod
    def combine(self, wish: Wish, /) -> Mapping[str, Levels]:
        """Setting name to levels, for every setting that may be measured under such a wish."""

    @abstractmethod
    def load(self, wish: Wish, settings: Mapping[str, Levels], /) -> Load:
        """Makes the load, given the settings to measure."""

    def defaults(self, _wish: Wish, possible: tuple[str, ...], /) -> tuple[str, ...]:
        """The possible settings to measure when none is asked for: all."""
        return possible

    def choose(self, wish: Wish, possible: tuple[str, ...], /) -> tuple[str, ...]:
        """The possible settings to measure: the ones asked for.

        Raises:
            UsageError: one that was asked for is not possible.
        """
        unknown = [name for name in wish.settings if name not in possible]
        if unknown:
            raise UsageError(
                f"The experiment {self.name} has no setting {', '.join(map(repr, unknown))}. Its settings "
                f"are: {', '.join(possible)}."
            )
        return wish.settings or self.defaults(wish, possible)

    def baseline(self, settings: tuple[str, ...], /) -> str:
        """The setting that all are compared with: the first."""
        return settings[0]

    def fit(self, plan: Plan, _pilot: Pilot, /) -> Plan:
        """Sizes the design and the levels on the real engine, where they could not be known before. Here
        nothing.
        """
        return plan

    def plan(self, wish: Wish) -> Plan:
        """The run that `wish` asks for.

        Raises:
            UsageError: an option, a setting or an amount that this experiment cannot take.
        """
        self._check_options(wish)
        possible = self._existing(wish)
        chosen = self.choose(wish, tuple(possible))
        if len(chosen) < 2:
            raise UsageError(
                f"A single setting ({', '.join(chosen)}) cannot be compared with anything. Name at least two "
                "settings."
            )
        sequential = self.sequential and wish.blocks is None and not wish.full
        design = self._until_settled(wish, chosen) if sequential else self._fixed(wish, chosen)
        combinations = {name: possible[name] for name in chosen}
        return Plan(design, combinations, self.load(wish, combinations))

    def _fixed(self, wish: Wish, chosen: tuple[str, ...]) -> Design:
        """The design of a number of blocks."""
        size = self.quick if wish.quick else self.full
        seconds = size.seconds if wish.seconds is None else wish.seconds
        return Design(
            settings=chosen,
            baseline=self.baseline(chosen),
            blocks=size.blocks if wish.blocks is None else wish.blocks,
            seconds=seconds,
            warmup_s=min(size.warmup_s, seconds),
            seed=wish.seed,
            null_pair=self.null_pair,
            # Where the unit of work is a row, the rows asked for are the work of a sample.
            units=wish.rows if wish.rows is not None and self.unit == "row" else size.units,
        )

    def _until_settled(self, wish: Wish, chosen: tuple[str, ...]) -> Design:
        """The design that ends as soon as it knows enough."""
        at_most_s = wish.at_most_s or (_QUICK_S if wish.quick else _PATIENT_S)
        if wish.until_settled:
            at_most_s = LONGEST_RUN_S
        seconds = self.settling_s if wish.seconds is None else wish.seconds
        each = lengths(at_most_s, len(chosen) + self.null_pair, seconds)
        return Design(
            settings=chosen,
            baseline=self.baseline(chosen),
            blocks=len(each),
            seconds=max(each),
            warmup_s=min(WARMUP_S, max(each)),
            seed=wish.seed,
            null_pair=self.null_pair,
            units=wish.rows if self.unit == "row" else None,
            at_most_s=at_most_s,
            lengths=each if self.settling_s is None else (),
        )

    def lacking(self, wish: Wish) -> list[str]:
        """The settings that the engine does not have and that are left out therefore; a sentence each."""
        found = {name: wish.missing(levels) for name, levels in self.combine(wish).items()}
        return [f"{name}: {reason}" for name, reason in found.items() if reason is not None]

    def _existing(self, wish: Wish) -> dict[str, Levels]:
        """The settings that may be measured and that the engine has.

        Raises:
            UsageError: the engine does not have a setting that was asked for.
        """
        everything = self.combine(wish)
        missing = {name: wish.missing(levels) for name, levels in everything.items()}
        for name in wish.settings:
            if (reason := missing.get(name)) is not None:
                raise UsageError(
                    f"The setting {name} is not applicable here: {reason}. Leave that setting out of "
                    "--settings."
                )
        return {name: levels for name, levels in everything.items() if missing[name] is None}

    def _check_options(self, wish: Wish) -> None:
        for name in ("sessions", "rows", "client", "load", "scope"):
            default = wish.ways.scopes[0] if name == "scope" else getattr(Wish(), name)
            if getattr(wish, name) != default and name not in self.options:
                raise UsageError(
                    f"The experiment {self.name} does not take the option --{name}. Its options are: "
                    + ", ".join(f"--{option}" for option in sorted(self.options | _COMMON))
                    + "."
                )
        if wish.at_most_s is None and not wish.until_settled:
            return
        option = "--until-settled" if wish.until_settled else "--at-most"
        if not self.sequential:
            raise UsageError(
                f"The experiment {self.name} takes no {option}, because the length of its runs is fixed. Use "
                "--blocks instead."
            )
        if wish.at_most_s is not None and wish.until_settled:
            raise UsageError(
                "--until-settled measures until everything is decided, without a limit of time: leave "
                "--at-most out, or give --at-most alone."
            )
        if wish.blocks is not None or wish.full:
            fixed = "--full" if wish.blocks is None else "--blocks"
            raise UsageError(
                f"{fixed} measures a fixed number of blocks (passes over all settings): leave {option} out."
            )


_COMMON = frozenset({"quick", "settings", "blocks", "seconds", "seed"})
_QUICK_S, _PATIENT_S = 120.0, 900.0
"""Time of a run that ends when it is settled: with `--quick`, and without."""


def combinations_of(**factors: tuple[str, ...]) -> dict[str, Levels]:
    """Every combination of the factors' levels under its name, the levels joined with `/`."""
    combined: list[dict[str, str]] = [{}]
    for factor, levels in factors.items():
        combined = [item | {factor: level} for item in combined for level in levels]
    return {setting_name(levels): levels for levels in combined}


def setting_name(levels: Levels) -> str:
    """A setting's name: its levels joined."""
    return "/".join(levels.values())


def numbers_once(option: str, numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers that an option named, as they are.

    Raises:
        UsageError: one of them is named twice.
    """
    if len(set(numbers)) != len(numbers):
        raise UsageError(
            f"{option} names a number twice in {','.join(map(str, numbers))}. Name each number once."
        )
    return numbers


def one_number(wish: Wish, default: int) -> int:
    """The number of sessions, where it is not a factor.

    Raises:
        UsageError: a list was given.
    """
    if len(wish.sessions) > 1:
        raise UsageError(
            f"--sessions takes one number here, not {', '.join(map(str, wish.sessions))}: the same sessions "
            "work in every setting. The experiments session-count and commit-scaling take a list."
        )
    return wish.sessions[0] if wish.sessions else default


def resized(design: Design, units: int, seconds: float) -> Design:
    """The design with samples of `units` units of work, expected to take `seconds` on average."""
    return replace(design, units=units, seconds=seconds)

"""The offer of an engine, which needs no import of its driver."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redolab.records.capability import CAPABILITIES, Capability, Ways
from redolab.records.checkup import Checkup

if TYPE_CHECKING:
    from threading import Event

    from redolab.engine.base import Engine
    from redolab.engine.server.observer import Observer
    from redolab.records.load import Load


@dataclass(frozen=True)
class Opening:
    """The arguments with which an engine is opened."""

    target: str
    """The value of `--engine`."""
    load: Load
    """The load that it will do."""
    disk_bytes: int
    """How much disk that needs, where the server is Redolab's own."""
    log_device_s: tuple[float, ...]
    """Flush time of an emulated log device, seconds: one for all logs, or one for each; none for the real
    one."""
    seed: int
    """Seed of the wait sampler's gaps, and of values drawn."""
    variant: str = ""
    """The part of `--engine` after the name and a colon."""


@dataclass(frozen=True)
class Wanted:
    """A run that `redolab doctor` asks about."""

    load: Load
    combinations: Sequence[Mapping[str, str]]
    """Factor levels of each setting."""
    disk_bytes: int
    """How much disk it needs."""
    transaction_ids: int
    """How many it uses up of a server that has them, at most."""
    log_bytes: int | None
    """How much log it writes at most; None where the user's own statements decide it."""
    without: Callable[[Callable[[Mapping[str, str]], str | None]], Wanted]
    """The same run without the settings that a server turns out not to have (see `Engine.missing`)."""


NO_DATABASE: Mapping[Capability, str] = {
    "cpu_work": "The question is about the machine alone, so no database is involved.",
    "draws": "The question is about drawn values, so no database is involved.",
}
"""Why a database lacks what an engine without one has."""
PRIVATE_PLACE = "private server"
"""The place of a server of Redolab's own, as a manifest has it."""
PRIVATE: Mapping[Capability, str] = {
    "watch": "Redolab's own server works only during a run, which watches that server.",
}
"""Why an engine of Redolab's own lacks what only somebody else's server has."""


def no_parameter(target: str, combinations: Iterable[Mapping[str, str]]) -> Sequence[str]:  # noqa: ARG001
    """The parameters of commits where there are none."""
    return ()


def nothing_to_check(target: str, wanted: Mapping[str, Wanted]) -> Checkup:  # noqa: ARG001
    """The checkup of an engine that needs nothing but this process."""
    return Checkup()


def nothing_missing(target: str, levels: Mapping[str, str]) -> str | None:  # noqa: ARG001
    """The reason of an engine that has every combination of levels: None."""
    return None


@dataclass(frozen=True)
class Offer:
    """An engine that `--engine` can name."""

    name: str
    """The value of `--engine`, or a URL's scheme."""
    title: str
    """A description in a few words."""
    capabilities: frozenset[Capability]
    open: Callable[[Opening], Engine]
    """Raises `RefusedError` where the server cannot be had."""
    text: str = ""
    """The title for a plan: whose it is, and what becomes of it; empty where the title says it."""
    lacks: Mapping[Capability, str] = field(default_factory=dict)
    """Why it lacks a capability, one sentence each, where the capability alone does not explain it."""
    ways: Ways = field(default_factory=Ways)
    """Where its sessions' loops can run, and how far its parameters reach."""
    checkup: Callable[[str, Mapping[str, Wanted]], Checkup] = nothing_to_check
    """Looks, read-only, whether the target can do the runs that are wanted, each under its name."""
    missing: Callable[[str, Mapping[str, str]], str | None] = nothing_missing
    """Why such a target does not have a setting with such levels, without a full stop; None where it has, or
    where that is not known before it is opened."""
    observer: Callable[[], Callable[[str, int, Event | None, bool, bool], Observer]] | None = None
    """Imports what watches the server of a URL, by the arguments of `open_observer`; None if none does."""
    schemes: tuple[str, ...] = ()
    """Schemes of the URLs that name it, where the server is somebody else's."""
    makes: tuple[str, ...] = ()
    """The objects that a run makes on it before its tables, and removes again."""
    within: str = ""
    """The prefix of a table's name there: `redolab.` or nothing."""
    logs: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"": ()})
    """Its variants, which `--engine` names after a colon, the plain one as an empty word; each with the logs
    that an emulated device can hold, in words."""
    changes: Callable[[str, Iterable[Mapping[str, str]]], Sequence[str]] = no_parameter
    """The parameters of commits that settings with such levels change on a target."""
    server_wide: Collection[str] = ()
    """Parameters among them that only the whole server has."""
    uses_up: bool = False
    """Whether its server has transaction ids and a log that a run uses up."""
    example: str = ""
    """A URL that names it, where it is named by one."""

    @property
    def choice(self) -> str:
        """The value of `--engine`, as it is shown."""
        return self.example or self.name

    @property
    def choices(self) -> tuple[str, ...]:
        """The possible values of `--engine`: its name, and the names of its variants; or an example of its
        URLs.
        """
        return (self.choice, *(f"{self.name}:{variant}" for variant in self.logs if variant))

    def why_not(self, needs: Collection[Capability]) -> str | None:
        """Why an experiment with these needs cannot run on it, one sentence; None where it can."""
        for capability in CAPABILITIES:
            if capability in needs and capability not in self.capabilities:
                return self.lacks.get(capability, f"This engine does not support {CAPABILITIES[capability]}.")
        return None

"""What is asked of a dialect: what the words of a database server mean, as data.

A dialect needs no driver and no server, so that a stored run is read with it anywhere. Whatever a dialect
does not say stays at its default here, which says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from redolab.dialect.statements import Ways

Pair = tuple[str, str]


@dataclass(frozen=True)
class Grouping:
    """How commits share the flushes of a server's logs."""

    handed_on: bool = False
    """Who releases a log wakes those whom it served, and one more who has it next. Without it all who wait
    are woken and compete for it."""
    in_groups: bool = False
    """Those whom one flush of the first log served wait for a second as one group."""


@dataclass(frozen=True)
class Unposted:
    """A sleep for which versions of a server post no wait event."""

    event: str
    """The event of the versions that do post one, in lower case."""
    why: str
    """What sleeps, and which versions do not show it, in words."""


@dataclass(frozen=True)
class Loss:
    """What one kind of crash may lose of acknowledged commits under a setting."""

    crash: Literal["server", "power"]
    """Of the server's process alone, or of the whole machine: its system, or its power."""
    window_s: float | None = None
    """Age of the oldest commit that can be missing; None where the server sets no such limit."""
    groups: int | None = None
    """Groups of commits that can be missing beside those, each of which one flush serves."""
    about: bool = False
    """Whether the server's manual promises that age only roughly."""
    unknown: str = ""
    """Why nothing limits the loss, or why its limit is not known; half a sentence, or empty."""


@dataclass(frozen=True)
class Dialect:
    """The words of one server and what they mean.

    Wait events are named `Class:Event`, in lower case: PostgreSQL 17 changed the case of some.
    """

    products: Mapping[str, str] = field(default_factory=dict)
    """The engine's name in a manifest, to the name of the product as its maker writes it."""
    event_names: Mapping[str, str] = field(default_factory=dict)
    """Wait events in a few plain words."""
    event_meanings: Mapping[str, str] = field(default_factory=dict)
    """What happens during a wait event, in half a sentence."""
    log_write: frozenset[str] = frozenset()
    """Wait events in which the waiter itself writes or flushes the log."""
    log_sync: frozenset[str] = frozenset()
    """Further wait events in which a commit waits for its flush by another."""
    row_locks: frozenset[str] = frozenset()
    """Wait events of a session that waits for rows which another holds until its commit is done."""
    client_waits: frozenset[str] = frozenset()
    """Wait events of a session that waits for its client to send something."""
    idle_classes: frozenset[str] = frozenset()
    """Classes of wait events in which a background process has nothing to do."""
    log_counters: Mapping[str, Pair] = field(default_factory=dict)
    """Wait events that the server counts and times itself: the columns of a sample with count and seconds."""
    write_flushes: bool = False
    """Whether one call writes the log and flushes it: a sample then has its time once, as that of flushes."""
    groupings: Mapping[str, Grouping] = field(default_factory=dict)
    """How commits share flushes, by the engine's name in a manifest. One that is not among them has one log,
    whose waiters compete for it: PostgreSQL's way, of which forecasts were checked first."""
    unposted_waits: Mapping[Pair, Unposted] = field(default_factory=dict)
    """Why a session sleeps without a wait event, by the levels of `commit_wait` and `commit_logging`."""
    longest_loss_s: Callable[[Mapping[str, Any]], float | None] | None = None
    """Seconds of acknowledged commits that a crash of the server may lose where commits do not wait, by the
    parameters of a setting. Gives None where they do not say."""
    losses: Callable[[Mapping[str, Any]], tuple[Loss, ...]] | None = None
    """What crashes may lose, by the parameters of a setting and those of its server; empty for nothing."""
    ways: Mapping[str, Ways] = field(default_factory=dict)
    """How parameters are set, by the engine's name in a manifest."""
    chosen: Callable[[Mapping[str, str]], frozenset[str]] | None = None
    """The parameters that levels decide, by factor and level; others stay as the server has them."""


NOTHING_KNOWN = Dialect()
"""The dialect of an engine of which nothing is known."""

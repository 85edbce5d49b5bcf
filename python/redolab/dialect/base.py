"""The form of a dialect: the meaning of a database server's words, as data.

A dialect needs no driver and no server, so that a stored run is read with it anywhere. A field that a dialect
does not set keeps its default here, which has no meaning for any word.
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
    """Whether a session that releases a log wakes the sessions it served, and the one that gets the log next.
    Otherwise all waiting sessions are woken and compete for the log."""
    in_groups: bool = False
    """Whether the sessions that one flush of the first log served wait for a second log as one group."""


@dataclass(frozen=True)
class Unposted:
    """A sleep for which versions of a server post no wait event."""

    event: str
    """The event of the versions that do post one, in lower case."""
    why: str
    """A sentence on the sleeping process, and on the versions that do not show the sleep."""


@dataclass(frozen=True)
class Loss:
    """The acknowledged commits that one kind of crash may lose under a setting."""

    crash: Literal["server", "power"]
    """A crash of the server's process alone, or of the whole machine: its system, or its power."""
    window_s: float | None = None
    """Age of the oldest commit that can be missing; None where the server sets no such limit."""
    groups: int | None = None
    """Groups of commits that can be missing in addition; one flush serves each group."""
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
    """Explanations of wait events, half a sentence each."""
    log_write: frozenset[str] = frozenset()
    """Wait events in which the waiter itself writes or flushes the log."""
    log_sync: frozenset[str] = frozenset()
    """Further wait events in which a commit waits for its flush by another."""
    row_locks: frozenset[str] = frozenset()
    """Wait events of a session that waits for rows which another session holds until its commit is done."""
    client_waits: frozenset[str] = frozenset()
    """Wait events of a session that waits for its client to send something."""
    idle_classes: frozenset[str] = frozenset()
    """Classes of wait events in which a background process has nothing to do."""
    log_counters: Mapping[str, Pair] = field(default_factory=dict)
    """Wait events that the server counts and times itself: the columns of a sample with count and seconds."""
    write_flushes: bool = False
    """Whether one call writes and flushes the log: a sample then has its time only once, under flushes."""
    groupings: Mapping[str, Grouping] = field(default_factory=dict)
    """How commits share flushes, by the engine's name in a manifest. An engine that is not listed has one
    log, whose waiters compete for it, as in PostgreSQL, for which forecasts were checked first."""
    unposted_waits: Mapping[Pair, Unposted] = field(default_factory=dict)
    """Why a session sleeps without a wait event, by the levels of `commit_wait` and `commit_logging`."""
    losses: Callable[[Mapping[str, Any]], tuple[Loss, ...]] | None = None
    """Possible losses in crashes, by the parameters of a setting and of its server; empty for nothing."""
    ways: Mapping[str, Ways] = field(default_factory=dict)
    """The ways to set parameters, by the engine's name in a manifest."""
    chosen: Callable[[Mapping[str, str]], frozenset[str]] | None = None
    """The parameters that levels decide, by factor and level; others stay as the server has them."""
    realised: Callable[[Mapping[str, str], Mapping[str, Any]], Mapping[str, str]] | None = None
    """Parameters with their values that realise one level of `commit_wait` or `commit_delay_us`, by factor
    and level; empty where the server does not have any. The second argument is what is known of the server:
    its record in a manifest, its parameters, and `sessions`, how many work on it."""


NOTHING_KNOWN = Dialect()
"""The dialect of an engine of which nothing is known."""

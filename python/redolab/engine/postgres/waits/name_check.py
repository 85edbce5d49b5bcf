"""Do the numbers that a server publishes mean what the table of wait events says? Asked of the server itself.

A table is made for a major version; a fork or a patched server may number differently, and a container may
show another server's processes under the same pids. Then nothing that its memory says may be believed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from redolab import _core
from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.engine.postgres.waits.events import EventNames, name_event

_LOOK_S = 0.1
_RATE_PER_S = 400.0
_ATTEMPTS = 3
_UNORDERED = ("LWLock", "Lock")
_FOREIGN = ("Extension", "InjectionPoint")

Pair = tuple[str, str]


def why_names_differ(connection: Connection, postmaster: int, names: EventNames) -> str | None:
    """How the names of published numbers disagree with the server's own, or None where they agree.

    From 17 on the server lists its names. In any version, what its memory says of processes whose wait
    does not change for a moment is compared with what `pg_stat_activity` says of them; one of them is
    Redolab's own session, which sleeps meanwhile.

    Raises:
        OSError: the server's memory cannot be read.
    """
    if connection.info.server_version >= 170_000:
        listed = [(row["type"], row["name"]) for row in fetch(connection, "select_wait_events")]
        difference = list_difference(names, listed)
        if difference:
            return difference
    own = connection.info.backend_pid
    for _ in range(_ATTEMPTS):  # On a busy machine the sampler may not have had its turn.
        sampler = _core.WaitSampler(postmaster, _RATE_PER_S, 0, [])
        before = _posted(connection)
        connection.execute("select pg_sleep(%s)", (_LOOK_S,))
        after = _posted(connection)
        window = sampler.stop()
        published = _published(window)
        if ("Timeout", "PgSleep") in {name_event(names, number) for number in published.get(own, ())}:
            # A process that did not run at all from before the first question until after the second has not
            # changed.
            still = {process.pid for process in window.processes if process.cpu_ns == 0} - {own}
            steady = {pid: before[pid] for pid in still & before.keys() if after.get(pid) == before[pid]}
            return posted_difference(names, steady, published)
    return "a sleeping session did not appear as sleeping"


def list_difference(names: EventNames, listed: Sequence[Pair]) -> str | None:
    """How a table disagrees with the server's list of events, or None.

    Minor versions add events after the last of a class: the shorter of two lists must begin the longer.
    In the classes that the server does not list in the order of their numbers, one must contain the other.
    """
    ours, theirs = _by_class(pair for _, pair in sorted(names.items())), _by_class(listed)
    for wait_class in ours.keys() | theirs.keys():
        if wait_class in _FOREIGN:
            continue
        our_names, its = ours[wait_class], theirs[wait_class]
        if wait_class in _UNORDERED:
            agree = set(our_names) <= set(its) or set(its) <= set(our_names)
        else:
            agree = all(a == b for a, b in zip(our_names, its, strict=False))
        if not agree:
            return f"it lists other events of the class {wait_class} than the table for its version"
    return None


def posted_difference(
    names: EventNames, steady: Mapping[int, Pair], published: Mapping[int, set[int]]
) -> str | None:
    """How the names of what processes publish disagree with what the server shows of them, or None.

    Args:
        names: the table.
        steady: the events shown, by pid, of processes that did not change theirs.
        published: every number seen in the same time, by pid.
    """
    for pid, shown in steady.items():
        numbers = published.get(pid, set())
        if len(numbers) != 1:
            continue
        (number,) = numbers
        named = name_event(names, number)
        # A number in no table, an extension's for instance, has no name here that could be wrong.
        if named[0] != shown[0] or (number in names and named[0] not in _FOREIGN and named != shown):
            return f"process {pid} waits for {':'.join(shown)}, but its memory shows {':'.join(named)}"
    return None


def _posted(connection: Connection) -> dict[int, Pair]:
    rows = fetch(connection, "select_posted")
    return {row["pid"]: (row["wait_class"], row["event"]) for row in rows if row["kind"]}


def _published(window: _core.Window) -> dict[int, set[int]]:
    """Every number seen of each process."""
    import numpy as np

    numbers: dict[int, set[int]] = defaultdict(set)
    process, event = (
        np.frombuffer(window.look_process, np.uint32),
        np.frombuffer(window.look_event, np.uint32),
    )
    for place, number in {*zip(process.tolist(), event.tolist(), strict=True)}:
        numbers[window.processes[place].pid].add(number)
    for place, number, _ in window.idle:
        numbers[window.processes[place].pid].add(number)
    return numbers


def _by_class(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = defaultdict(list)
    for wait_class, name in pairs:
        names[wait_class].append(name)
    return names

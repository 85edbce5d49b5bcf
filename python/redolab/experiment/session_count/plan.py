"""session-count: is the same work done sooner by few sessions or by many, and how large should a pool be?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from redolab.errors import UsageError
from redolab.experiment.base import (
    Experiment,
    Levels,
    Pilot,
    Plan,
    Size,
    Wish,
    combinations_of,
    numbers_once,
    resized,
)
from redolab.machine.machine import describe_machine
from redolab.records.capability import Capability
from redolab.records.load import Amount, Inserts

# The first and the last are the published ones; those between make a pool size worth recommending.
_PER_CPU = (2, 4, 8, 16)
_PUBLISHED_INSERTS = 320_000
_PADDING_BYTES = 100
_PILOT_S = 0.4
# The fastest setting works at least so long in a sample: shorter ones depend more on their begin and end.
_SHORTEST_S = 0.3
# Where a run ends when it knows enough, many blocks are worth more than long samples.
_SHORTEST_OF_MANY_S = 0.1


class SessionCount(Experiment):
    """The same inserts, by few clients or by many."""

    name = "session-count"
    question = "Is the same work done sooner by few sessions or by many, and how large should a pool be?"
    unit = "commit"
    needs: frozenset[Capability] = frozenset({"inserts", "client_sessions"})
    options = frozenset({"sessions"})
    quick = Size(blocks=6, seconds=1.2, warmup_s=0.3)
    full = Size(blocks=16, seconds=30, warmup_s=5, units=_PUBLISHED_INSERTS)
    sequential = True
    settling_s = 0.6

    def combine(self, wish: Wish, /) -> Mapping[str, Levels]:
        """A setting per number of sessions, and where the engine has them one per kind of server process."""
        cpus = describe_machine()["cpus"] or 1
        numbers = wish.sessions or tuple(cpus * each for each in _PER_CPU)
        numbers = numbers_once("--sessions", numbers)
        found = combinations_of(sessions=tuple(map(str, sorted(numbers))))
        if wish.ways.server_processes:
            found |= combinations_of(sessions=tuple(found), server_process=wish.ways.server_processes)
        return found

    def defaults(self, _wish: Wish, possible: tuple[str, ...], /) -> tuple[str, ...]:
        """The numbers alone: not every service has the other kinds."""
        return _usual(possible)

    def choose(self, wish: Wish, possible: tuple[str, ...], /) -> tuple[str, ...]:
        """The settings asked for, two numbers among them.

        Raises:
            UsageError: one that was asked for is not possible, or they do not suffice to recommend a pool.
        """
        chosen = super().choose(wish, possible)
        if len(chosen) > 1 and len(_usual(chosen)) < 2:
            raise UsageError(
                "session-count compares numbers of sessions: also name two of them without a kind of server "
                "process, as in --sessions 2,8 --settings 2,8,8/shared."
            )
        return chosen

    def baseline(self, settings: tuple[str, ...], /) -> str:
        """The fewest sessions."""
        return min(_usual(settings), key=int)

    def load(self, wish: Wish, settings: Mapping[str, Levels], /) -> Inserts:
        """Inserts whose loop runs in a client."""
        most = max(int(levels["sessions"]) for levels in settings.values())
        return Inserts("", most, wish.scope, _PADDING_BYTES, loop="client")

    def fit(self, plan: Plan, pilot: Pilot, /) -> Plan:
        """As many inserts in every sample as take `design.seconds` on average, estimated from a short work in
        each setting; where the inserts are given, their time is estimated.
        """
        design = plan.design
        each_s = {}
        for name in design.settings:
            work = pilot(name, Amount(_PILOT_S))
            each_s[name] = work.session_elapsed_max_s / max(work.units, 1)
        mean_s = sum(each_s.values()) / len(each_s)
        inserts = design.units
        if inserts is None:
            shortest_s = _SHORTEST_OF_MANY_S if design.until_settled else _SHORTEST_S
            wanted = max(design.seconds / mean_s, shortest_s / min(each_s.values()))
            most = max(int(levels["sessions"]) for levels in plan.combinations.values())
            inserts = max(round(wanted / most), 1) * most
        return replace(plan, design=resized(design, inserts, inserts * mean_s))


def _usual(settings: Iterable[str]) -> tuple[str, ...]:
    """The settings of the usual kind of server process."""
    return tuple(name for name in settings if name.isdigit())


EXPERIMENT = SessionCount()

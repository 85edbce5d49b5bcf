"""One setting of a server as people really have it, and which of them are tried together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations


@dataclass(frozen=True)
class Odd:
    """A setting that somebody's server has."""

    name: str
    """As it is written in a configuration, or in words."""
    start: Mapping[str, str] = field(default_factory=dict)
    """Parameters that the server must be started with."""
    live: Mapping[str, str] = field(default_factory=dict)
    """Parameters that are set while it runs, for every session that logs in from then on."""
    statements: Sequence[str] = ()
    """What an administrator executes besides."""
    undo: Sequence[str] = ()
    """What undoes these."""
    beside: Sequence[str] = ()
    """What a colleague's session repeats meanwhile."""
    refuses: str = ""
    """What doctor and a run say where no run is possible; empty where one is."""
    volatile: bool = False
    """Whether no commit is on the disk when it is confirmed, whatever the run sets."""
    only: Collection[str] = ()
    """The versions that have such a setting; empty for all."""
    hides: Collection[str] = ()
    """What cannot be told then: `sessions`, or their `number` where they log in again and again."""

    def fits(self, other: Odd) -> bool:
        """Whether one server can have both."""
        return self == other or not (self.refuses or other.refuses or self._sets() & other._sets())

    def _sets(self) -> set[str]:
        return {name.replace("-", "_") for name in (*self.start, *self.live)} | {*self.statements[:1]}


def together(odds: Sequence[Odd]) -> list[list[Odd]]:
    """Groups in which every two settings that fit stand together at least once."""
    open_pairs = {
        frozenset(pair) for pair in combinations(range(len(odds)), 2) if odds[pair[0]].fits(odds[pair[1]])
    }
    groups = []
    while open_pairs:
        chosen: list[int] = sorted(min(open_pairs, key=sorted))
        left = set(range(len(odds))) - set(chosen)
        while fitting := [one for one in sorted(left) if all(odds[one].fits(odds[it]) for it in chosen)]:
            best = max(fitting, key=lambda one: sum(frozenset((one, it)) in open_pairs for it in chosen))
            chosen.append(best)
            left.remove(best)
        open_pairs -= {frozenset(pair) for pair in combinations(chosen, 2)}
        groups.append([odds[one] for one in sorted(chosen)])
    return groups


def parameter(text: str, **more: object) -> Odd:
    """A parameter `name = value` that is set while the server runs."""
    return _of_text(text, "live", more)


def at_start(text: str, **more: object) -> Odd:
    """A parameter `name = value` that the server must be started with."""
    return _of_text(text, "start", more)


def _of_text(text: str, where: str, more: Mapping[str, object]) -> Odd:
    pairs = (part.partition("=") for part in text.split("; "))
    values = {name.strip(): value.strip() for name, _, value in pairs}
    return Odd(text, **{where: values, **more})  # type: ignore[arg-type]

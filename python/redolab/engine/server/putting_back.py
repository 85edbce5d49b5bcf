"""Parameters of somebody's server are put back from memory: the one place that decides it, for each database.

The server is read first. A value that the run gave is put back, one that is the old one is done, and any
other is a colleague's: it is left, and named. So is whatever a restart took from the server's configuration.
Afterwards the server is read again, and only what was read back counts as restored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from redolab.engine.server.kept import Changed, Kept
from redolab.errors import RedolabError, RefusedError


class ServerParameters(ABC):
    """The parameters of one server, as they are read and put back."""

    errors: tuple[type[Exception], ...]
    """Errors that the driver raises."""

    @abstractmethod
    def seen(self, changed: Collection[Changed]) -> Mapping[str, str | None]:
        """The values where the run writes: as `Changed.before` has them, by name."""

    @abstractmethod
    def put(self, one: Changed) -> None:
        """Put one back; raises one of `errors`, or `RedolabError`, where that cannot be."""

    def in_force(self, changed: Collection[Changed]) -> Mapping[str, str]:  # noqa: ARG002
        """Values in force for every session, of parameters that differ from `Changed.value`, by name.

        None, where written values are in force at once; else after whatever puts them in force.
        """
        return {}

    @abstractmethod
    def same(self, one: str | None, other: str | None) -> bool:
        """Whether two texts say the same value."""

    @abstractmethod
    def statement(self, one: Changed) -> str:
        """The statement by which an administrator puts one back."""

    @abstractmethod
    def words(self, error: Exception) -> str:
        """The text of an error, in one line without a full stop."""


@dataclass(frozen=True)
class PutBack:
    """The state of parameters when all was tried."""

    restored: Mapping[str, str] = field(default_factory=dict)
    """Parameters that were put back and then read, with their values."""
    left: Mapping[str, str] = field(default_factory=dict)
    """Parameters that still have a value of the run's, or may have, each with the reason."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Parameters that somebody else gave another value meanwhile, each with it; they are left so."""
    sentences: tuple[str, ...] = ()
    """Sentences that the user must know."""


def put_back(server: ServerParameters, changed: Sequence[Changed], restarted: bool = False) -> PutBack:
    """Put back what the run changed, and report the state of everything; raises nothing that is foreseen.

    Args:
        server: its parameters.
        changed: by the run.
        restarted: whether a restart has since reset what the run had set.
    """
    left: dict[str, str] = {}
    others: dict[str, str] = {}
    foreseen: tuple[type[Exception], ...] = (*server.errors, RedolabError)
    ours: list[Changed] = []
    settled = list(changed)
    try:
        ours = _still_ours(server, changed, others, restarted)
        settled = [one for one in changed if one.name not in others]
        for one in ours:
            try:
                server.put(one)
            except foreseen as error:
                left[one.name] = server.words(error)
        settled = [one for one in settled if one.name not in left]
        _read_back(server, settled, left, others)
    except foreseen as error:
        left |= {one.name: server.words(error) for one in settled}
    restored = {one.name: one.value for one in ours if one.name not in left and one.name not in others}
    who = _RESTARTED if restarted else _SOMEBODY
    return PutBack(restored, left, others, _sentences(server, changed, left, others, who))


_SOMEBODY = "Somebody else set {} to {} since the run began"
_RESTARTED = "The server was restarted, and its configuration sets {} to {}"


def _still_ours(
    server: ServerParameters, changed: Sequence[Changed], others: dict[str, str], restarted: bool
) -> list[Changed]:
    """Parameters that still have a value of the run's; those with somebody else's value go into `others`."""
    values = server.seen(changed) if changed else {}
    ours = []
    for one in changed:
        now = values[one.name]
        if _is_before(server, one, now):
            continue
        if one.is_ours(now, server.same) and not restarted:
            ours.append(one)
        else:
            others[one.name] = _shown(now)
    return ours


def _is_before(server: ServerParameters, one: Changed, now: str | None) -> bool:
    """Whether it is as before; what the run gave it may differ from that in the case of letters alone."""
    return now == one.before or (server.same(now, one.before) and now not in one.ours)


def _read_back(
    server: ServerParameters, settled: Sequence[Changed], left: dict[str, str], others: dict[str, str]
) -> None:
    """Read whether they are as before; those that are not go into `left` or `others`."""
    if not settled:
        return
    values, in_force = server.seen(settled), server.in_force(settled)
    for one in settled:
        now = values[one.name]
        if _is_before(server, one, now):
            if one.name not in in_force:
                continue
            now = in_force[one.name]
        if one.is_ours(now, server.same):
            left[one.name] = f"it is still {_shown(now)}"
        else:
            others[one.name] = _shown(now)


def by_hand(server: ServerParameters, kept: Kept) -> str:
    """The statements that put everything back, as a sentence with a blank after it; nothing where none is."""
    statements = dict.fromkeys(server.statement(one) for one in kept.changed)
    return f"An administrator can put the parameter back with: {' '.join(statements)} " if statements else ""


def changed_by_others(name: str, ours: str, now: str, restarted: bool = False) -> RefusedError:
    """The end of a run whose parameter a restart or somebody else changed in the middle."""
    who = "The server was restarted and changed" if restarted else "Somebody else changed"
    return RefusedError(
        f"{who} {name} while the run was under way: it was {ours}, and now it is {now}. Later samples would "
        "not measure the setting that was asked for, so the run ends."
    )


def _sentences(
    server: ServerParameters,
    changed: Sequence[Changed],
    left: Mapping[str, str],
    others: Mapping[str, str],
    who: str,
) -> tuple[str, ...]:
    by_name = {one.name: one for one in changed}
    sentences = []
    if left:
        reasons = "; ".join(f"{name} ({why})" for name, why in left.items())
        statements = " ".join(dict.fromkeys(server.statement(by_name[name]) for name in left))
        sentences.append(
            f"Redolab could not put back {reasons}. An administrator can put the parameter back with: "
            f"{statements}"
        )
    for name, value in others.items():
        one = by_name[name]
        sentences.append(
            f"{who.format(name, value)}. Redolab leaves that value as it is. Before the run the value was "
            f"{one.value}; {server.statement(one)} sets the old value again."
        )
    return tuple(sentences)


def _shown(value: str | None) -> str:
    return "the value of the configuration" if value is None else value

"""The changes of a run on somebody's server, as the run and its guard keep them in memory.

The notes in the database are for the case that both are gone: others can write there, or drop it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from redolab.records.sample import Setting


@dataclass(frozen=True)
class Changed:
    """One parameter of the whole server that the run changes."""

    name: str
    value: str
    """The value in force before."""
    before: str | None
    """The value to put back where the run writes: the server's, or the line of a file; None for no line."""
    ours: tuple[str, ...] = ()
    """The value that the run gave it last, and the one before, for a change that is broken off.

    For a run that is gone, all values that it was to give; empty where that is not known, and any value may
    be its own.
    """

    def is_ours(self, value: str | None, same: Callable[[str | None, str | None], bool]) -> bool:
        """Whether the run gave it such a value."""
        return not self.ours or any(same(value, given) for given in self.ours)


@dataclass(frozen=True)
class Kept:
    """Everything that is needed to clean up."""

    mark: str = ""
    """Mark of Redolab's schema; empty before there is one."""
    made: str = ""
    """The server's number of the schema, whatever its name and comment become; empty without one."""
    changed: tuple[Changed, ...] = ()
    teardown: str = ""
    """The statements that the user's own list wants executed at the end."""
    sessions: tuple[int, ...] = ()
    """The run's connections, which may still work when it was killed."""
    server: str = ""
    """The server's own identity, which a copy of it shares; empty where it may not be asked."""
    address: str = ""
    """The address where it was reached, which distinguishes it from its copies."""
    database: str = ""
    """The server's number of the schema's database, whatever its name becomes; empty without one."""
    settled: tuple[str, ...] = ()
    """The parameters that were changed and are no longer the run's: put back, or a colleague's by now."""
    started: int = 0
    """When the server was started that the run changed, by its own clock, seconds since 1970.

    0 where its parameters outlive a restart.
    """

    def changing(self, name: str, value: str, before: str | None, to: str) -> Kept:
        """The same, with a parameter that is about to get the value `to`."""
        parameters = {it.name: it for it in self.changed}
        parameter = parameters.get(name, Changed(name, value, before))
        parameters[name] = replace(parameter, ours=(*parameter.ours, to)[-2:])
        return replace(self, changed=tuple(parameters.values()))

    def settling(self, names: Collection[str]) -> Kept:
        """The same, where these parameters are no longer the run's."""
        changed = tuple(one for one in self.changed if one.name not in names)
        return replace(self, changed=changed, settled=tuple(sorted({*self.settled, *names})))

    def joined(self, noted: Kept) -> Kept:
        """The same, with what another note of the same run has in addition."""
        names = {one.name for one in self.changed} | {*self.settled}
        more = tuple(one for one in noted.changed if one.name not in names)
        return replace(self, changed=self.changed + more, teardown=self.teardown or noted.teardown)

    def as_json(self) -> dict[str, Any]:
        """The object as JSON, for the guard's pipe."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Kept:
        """The object from JSON, out of the guard's pipe or a file.

        Raises:
            ValueError: it is not a record of one.
        """
        changed = tuple(
            Changed(
                _text(it, "name"), _text(it, "value"), _text(it, "before", none=True), _tuple(it, "ours", str)
            )
            for it in _tuple(found, "changed", dict)
        )
        started = found.get("started")
        if type(started) is not int:
            raise ValueError(f"{started!r} is not a time")
        texts = {name: _text(found, name) for name in _TEXTS}
        numbers = _tuple(found, "sessions", int)
        return cls(
            **texts, changed=changed, sessions=numbers, settled=_tuple(found, "settled", str), started=started
        )


_TEXTS = ("mark", "made", "teardown", "server", "address", "database")


def _text(found: Mapping[str, Any], name: str, *, none: bool = False) -> Any:
    value = found.get(name)
    if isinstance(value, str) or (none and value is None and name in found):
        return value
    raise ValueError(f"{name} is not a text")


def _tuple(found: Mapping[str, Any], name: str, kind: type) -> tuple[Any, ...]:
    values = found.get(name)
    if isinstance(values, list | tuple) and all(type(value) is kind for value in values):
        return tuple(values)
    raise ValueError(f"{name} is not a list of the right kind")


def values_planned(settings: Iterable[Setting]) -> dict[str, tuple[str, ...]]:
    """The values that settings will give each parameter, by its name; each once, in their order."""
    planned: dict[str, dict[str, None]] = {}
    for setting in settings:
        for name, value in setting.parameters.items():
            planned.setdefault(name, {})[value] = None
    return {name: tuple(values) for name, values in planned.items()}


class Memory:
    """Keeps it for one run."""

    def __init__(self) -> None:
        """Nothing is changed yet."""
        self.kept = Kept()
        """The present state."""

    def foresee(self, kept: Kept) -> None:
        """Be ready to keep this."""

    def keep(self, kept: Kept) -> None:
        """Take this in place of what was kept; called before the server is changed."""
        self.kept = kept

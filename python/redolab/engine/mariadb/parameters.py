"""Parameters of the whole server: put in force, recorded, and put back whatever happens.

What a parameter was before, and what the run makes of it, is kept in memory by the run and its guard. All
that a run will change is written to a journal in Redolab's database before, so that `recover` can put it back
when both are gone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from pymysql import converters

from redolab.engine.mariadb.connection import Connection, ask
from redolab.engine.mariadb.own.journal import Journal
from redolab.engine.server.kept import Changed, Kept, Memory, values_planned
from redolab.engine.server.putting_back import changed_by_others
from redolab.errors import RefusedError, UsageError
from redolab.records.sample import ParameterChange, Setting

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
# Neither `inf` nor `1_0`, which Python would read as numbers.
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_MOST_LETTERS = 1023
_WORDS: Mapping[str, str] = {"on": "1", "off": "0", "yes": "1", "no": "0", "true": "1", "false": "0"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of the server as it was before the run."""

    name: str
    value: str


def read_parameters(connection: Connection, names: Iterable[str]) -> dict[str, Parameter]:
    """Read parameters by name, as the whole server has them.

    Raises:
        UsageError: the server has no such parameter.
        RefusedError: a value is too long to be seen whole.
    """
    wanted = tuple(names)
    values = read_values(connection, wanted)
    unknown = [name for name in wanted if name.lower() not in values or not _NAME.fullmatch(name)]
    if unknown:
        raise UsageError(f"This server has no parameter {unknown[0]}.")
    long = [name for name in wanted if len(values[name.lower()]) > _MOST_LETTERS]
    if long:
        raise RefusedError(
            f"The value of {long[0]} is longer than this server shows, so Redolab could not put it back. "
            "Nothing was changed."
        )
    return {name: Parameter(name, values[name]) for name in wanted}


def read_values(connection: Connection, names: Collection[str]) -> dict[str, str]:
    """The values of those parameters that the server has, by their names in lower case."""
    if not names:
        return {}
    rows = ask(connection, "show global variables where variable_name in %s", tuple(names))
    return {str(row["Variable_name"]).lower(): str(row["Value"]) for row in rows}


def set_global(connection: Connection, name: str, value: str) -> None:
    """Put a parameter of the whole server in force, and read it back.

    Raises:
        RefusedError: the server has another value then, or `name` is not the name of a parameter.
    """
    if not _NAME.fullmatch(name):
        raise RefusedError(f"{name!r} is not the name of a parameter")
    ask(connection, f"set global `{name}` = %s", _typed(value))
    value_now = read_parameters(connection, (name,))[name].value
    if not same_value(value_now, value):
        raise RefusedError(
            f"Redolab set {name} = {value} with SET GLOBAL, but the server now has {value_now}"
        )


def same_value(one: str, other: str) -> bool:
    """Whether two texts say the same value of a parameter: `ON` and `1`, `0.5` and `0.500000`.

    >>> same_value("ON", "1"), same_value("0.5", "0.500000"), same_value("1", "2")
    (True, True, False)
    """
    first, second = (_WORDS.get(text.strip().lower(), text.strip().lower()) for text in (one, other))
    if _NUMBER.fullmatch(first) and _NUMBER.fullmatch(second):
        return float(first) == float(second)
    return first == second


def literal(value: str) -> str:
    """A value as SQL wants it."""
    return str(converters.escape_item(_typed(value), "utf8mb4"))


def _typed(value: str) -> int | float | str:
    """A number as a number: the server takes no text for one."""
    if _NUMBER.fullmatch(value):
        with suppress(ValueError):
            return int(value)
        return float(value)
    return value


class Parameters:
    """Puts settings in force on one server and keeps the list of changes."""

    def __init__(
        self,
        control: Connection,
        known: Mapping[str, Parameter],
        memory: Memory,
        journal: Journal | None = None,
    ) -> None:
        """Take the connection that controls the server, and its parameters as they are now.

        Args:
            control: sets them.
            known: all that settings will change.
            memory: keeps what is changed.
            journal: where they are noted before; None for a server of Redolab's own, which is removed.
        """
        self.changes: list[ParameterChange] = []
        """Every change so far, in order."""
        self.control = control
        self._known, self._memory, self._journal = known, memory, journal
        self._now = {name: parameter.value for name, parameter in known.items()}
        self._restarted = False

    def plan(self, settings: Sequence[Setting]) -> None:
        """Write down in the journal what values these settings will give."""
        for name, values in values_planned(settings).items():
            before = self._known[name].value
            if self._journal and not all(same_value(before, value) for value in values):
                self._journal.note(self.control, Changed(name, before, before, values))

    def foresee(self, setting: Setting) -> None:
        """Do the slow part of changing to `setting`, which asks the server nothing.

        It comes before the look at the server, so that almost no time passes between the look and
        `apply`.
        """
        self._memory.foresee(self._changing(self._differing(setting)))

    def apply(self, setting: Setting) -> None:
        """Put `setting` in force for the whole server, and verify it.

        Raises:
            RefusedError: the server took a value and has another.
        """
        differing = self._differing(setting)
        self._memory.keep(self._changing(differing))
        for name, value in differing.items():
            try:
                set_global(self.control, name, value)
            except RefusedError:
                # The server took another value, which must not count as a colleague's.
                set_global(self.control, name, self._now[name])
                raise
            self._record(name, value, setting.name)

    def _differing(self, setting: Setting) -> dict[str, str]:
        return {n: v for n, v in setting.parameters.items() if not same_value(self._now[n], v)}

    def _changing(self, values: Mapping[str, str]) -> Kept:
        kept = self._memory.kept
        for name, value in values.items():
            kept = kept.changing(name, self._known[name].value, self._known[name].value, value)
        return kept

    @property
    def as_before(self) -> bool:
        """Whether each has the value that it had before the run."""
        return all(same_value(self._now[name], it.value) for name, it in self._known.items())

    def look(self) -> list[str]:
        """Columns of a SELECT that read what `check` needs."""
        return [f"@@global.`{name}` as `{name}`" for name in sorted(self._known)]

    def check(self, row: Mapping[str, object]) -> None:
        """Make sure that nobody else changed a parameter: the next sample would be measured under that value.

        Args:
            row: what the columns of `look` gave.

        Raises:
            RefusedError: somebody did.
        """
        for name in self._known:
            value_now = str(row[name])
            if not same_value(value_now, self._now[name]):
                raise changed_by_others(name, self._now[name], value_now, self._restarted)

    def restored(self, values: Mapping[str, str]) -> None:
        """Note in the list of changes what was put back and read."""
        for name, value in values.items():
            self._record(name, value, "restore")

    def connected_again(self, control: Connection, restarted: bool) -> None:
        """The connection was lost: a restart resets every parameter to the server's configuration.

        Whatever else one of them has then, `check` finds.
        """
        self.control, self._restarted = control, restarted
        for name, value in read_values(control, list(self._known)).items():
            if same_value(value, self._known[name].value):
                self._now[name] = value

    def _record(self, name: str, value: str, setting: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.changes.append(ParameterChange(name, self._now[name], value, "system", now, setting))
        self._now[name] = value

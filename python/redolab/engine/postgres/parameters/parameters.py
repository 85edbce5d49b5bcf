"""Server parameters: put in force, recorded, and put back whatever happens.

A parameter that a session may set is set in the session (or in each transaction). One that only
the server has goes through ALTER SYSTEM; its old value is written to a journal in Redolab's schema before
anything is changed, so that `recover` can put it back after any crash, from any later process. The run and
its guard keep the same in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import psycopg
from psycopg import sql

from redolab.engine.postgres.connecting.connection import Connection
from redolab.engine.postgres.own.schema import confirmed_here
from redolab.engine.postgres.parameters.alter_system import (
    alter_system,
    await_value,
    reload_configuration,
    reload_first,
)
from redolab.engine.postgres.parameters.before import Parameter, parameters_before
from redolab.engine.postgres.parameters.system import Lines, read_lines
from redolab.engine.postgres.sessions.working import WorkingSessions
from redolab.engine.server.kept import Kept, Memory, values_planned
from redolab.engine.server.putting_back import changed_by_others
from redolab.errors import RefusedError, UsageError
from redolab.records.sample import ParameterChange, Scope, Setting

# Where a value may come from for ALTER SYSTEM to win over it.
_FILE_SOURCES = ("default", "configuration file")
_GRANTS_PARAMETERS = 150_000  # The first version with GRANT ... ON PARAMETER.


def goes_to_system(parameter: Parameter, scope: Scope) -> bool:
    """Whether this parameter can only be changed for the whole server under `scope`."""
    return scope == "system" or not parameter.session_settable


def check_rights(known: Mapping[str, Parameter], scope: Scope, server: Mapping[str, Any]) -> None:
    """Make sure that this role may make the schema and change `known` under `scope`.

    Raises:
        RefusedError: it may not; the text has every GRANT that it lacks.
    """
    _check_alter_system([name for name, it in known.items() if goes_to_system(it, scope)], server)
    role, database = quoted(server["role"]), quoted(server["database"])
    on_database = [] if server["may_create"] else [f"GRANT CREATE ON DATABASE {database} TO {role}"]
    on_parameters = _parameter_grants(known, scope, server, role)
    if not on_database and not on_parameters:
        return
    if on_parameters and server["version_num"] < _GRANTS_PARAMETERS:
        mend = "Before PostgreSQL 15 only a superuser may change these parameters: connect as a superuser."
    else:
        mend = f"A superuser grants these rights with: {'; '.join([*on_database, *on_parameters])}."
    if on_parameters:
        mend += f" {_NEEDS_NONE} only CREATE."
    raise RefusedError(
        f"The role {server['role']} lacks rights that this run needs in the database {server['database']}. "
        f"{mend} Nothing was changed."
    )


_NEEDS_NONE = (
    "If only these settings are measured, with --scope session --settings wait,nowait, the run needs"
)
"""The settings that can be measured where nothing may be changed for the whole server."""


def _check_alter_system(names: Sequence[str], server: Mapping[str, Any]) -> None:
    if names and not server["may_alter"]:
        raise RefusedError(
            f"ALTER SYSTEM is switched off on this server (allow_alter_system = off), and this run changes "
            f"{', '.join(names)} for the whole server. {_NEEDS_NONE} no ALTER SYSTEM. Nothing was changed."
        )


def _parameter_grants(
    known: Mapping[str, Parameter], scope: Scope, server: Mapping[str, Any], role: str
) -> list[str]:
    system = [p for p in known.values() if goes_to_system(p, scope)]
    grants = [
        f"GRANT SET ON PARAMETER {p.name} TO {role}"
        for p in known.values()
        if not goes_to_system(p, scope) and not p.may_set
    ]
    alter = [p.name for p in system if not p.may_alter_system]
    if alter:
        grants.append(f"GRANT ALTER SYSTEM ON PARAMETER {', '.join(alter)} TO {role}")
    if system and not server["may_reload"]:
        grants.append(f"GRANT EXECUTE ON FUNCTION pg_reload_conf() TO {role}")
    if system and not server["may_read_settings"]:
        grants.append(f"GRANT pg_read_all_settings TO {role}")
    return grants


def check_reach(known: Mapping[str, Parameter], scope: Scope) -> None:
    """Make sure that ALTER SYSTEM has an effect where it is needed.

    Raises:
        RefusedError: a command-line option, role or database setting, or PGOPTIONS overrides it.
    """
    overridden = [
        f"{p.name} = {p.value} (from: {p.source})"
        for p in known.values()
        if goes_to_system(p, scope) and p.source not in _FILE_SOURCES
    ]
    if overridden:
        raise RefusedError(
            f"ALTER SYSTEM would have no effect on {', '.join(overridden)}. Remove what overrides it (a "
            "server command-line option, ALTER ROLE or ALTER DATABASE ... SET, PGOPTIONS), or choose another "
            "--scope. Nothing was changed."
        )


def quoted(name: object) -> str:
    """An identifier as SQL wants it."""
    return sql.Identifier(str(name)).as_string()


class Parameters:
    """Puts settings in force on one server and keeps the list of changes."""

    def __init__(
        self, control: Connection, known: Mapping[str, Parameter], scope: Scope, memory: Memory
    ) -> None:
        """Take the connection that controls the server, and its parameters as they are now.

        Args:
            control: sets them.
            known: all that settings will change.
            scope: for whom.
            memory: keeps what is changed for the whole server.
        """
        self.changes: list[ParameterChange] = []
        self.control = control
        self._known = known
        self._scope, self._memory = scope, memory
        system = [name for name, parameter in known.items() if goes_to_system(parameter, scope)]
        lines = read_lines(control, system)
        self.before = parameters_before(control, known.values(), lines, system)
        """Every parameter as it is now."""
        self._lines = {name: lines.values.get(name) for name in system}
        self.sees_lines = lines.exact
        """Whether the lines of postgresql.auto.conf may be read; else the values in force show them."""
        self._now = {name: parameter.value for name, parameter in known.items()}
        self._shown: dict[str, str] = {}

    def plan(self, settings: Iterable[Setting]) -> None:
        """Write down in the journal what values these settings will give the whole server."""
        for name, values in values_planned(settings).items():
            before = self._known[name].value
            if self._is_system(name) and any(value != before for value in values):
                self._journal(name, values)

    def look(self) -> list[str]:
        """The parameters that `check` needs the lines of."""
        return sorted(self._lines)

    def check(self, lines: Lines) -> None:
        """Make sure that nobody else changed a parameter: the next sample would be measured under that value.

        Args:
            lines: of postgresql.auto.conf.

        Raises:
            RefusedError: somebody did.
        """
        for name, before in self._lines.items():
            line = lines.values.get(name)
            ours = (self._now[name], self._shown[name]) if name in self._shown else (before,)
            if line not in ours and name not in lines.unseen:
                raise changed_by_others(name, self._now[name], line or "taken out")

    def foresee(self, setting: Setting) -> None:
        """Do the slow part of changing to `setting`, which asks the server nothing.

        It comes before the look at the server, so that almost no time passes between the look and
        `apply_to_server`.
        """
        self._memory.foresee(self._changing(self._differing(setting)))

    def apply_to_server(self, setting: Setting) -> None:
        """Put in force the part of `setting` that goes to the whole server.

        Raises:
            RefusedError: the server got a value and has another, or somebody else changed one.
        """
        changed = self._differing(setting)
        if changed and not self.sees_lines:
            # What a colleague has written and not reloaded is not seen before.
            reload_first(self.control)
            self.check(read_lines(self.control, self.look()))
        self._memory.keep(self._changing(changed))
        for name, value in changed.items():
            alter_system(self.control, name, value)
        if changed:
            self._shown |= reload_configuration(self.control, changed)
        for name, value in changed.items():
            self._record(name, value, "system", setting.name)

    def _differing(self, setting: Setting) -> dict[str, str]:
        return {n: v for n, v in setting.parameters.items() if self._is_system(n) and self._now[n] != v}

    def _changing(self, values: Mapping[str, str]) -> Kept:
        kept = self._memory.kept
        for name, value in values.items():
            kept = kept.changing(name, self._known[name].value, self._lines[name], value)
        return kept

    def apply(self, setting: Setting, sessions: WorkingSessions) -> dict[str, str]:
        """Put `setting`, which the server has, in force for `sessions`.

        Returns the parameters each transaction must set for itself (empty unless the scope is
        `transaction`).

        Raises:
            RefusedError: the server accepted a value and the sessions do not see it.
        """
        system = {n: v for n, v in setting.parameters.items() if self._is_system(n)}
        own = {n: v for n, v in setting.parameters.items() if not self._is_system(n)}
        if self._scope == "session":
            for name, value in own.items():
                sessions.set_parameter(name, value)
                self._record(name, value, "session", setting.name)
        elif self._scope == "transaction":
            for name, value in own.items():
                self._record(name, value, "transaction", setting.name)
        self._verify(setting, system if self._scope == "transaction" else setting.parameters, sessions)
        return own if self._scope == "transaction" else {}

    def reach(self, name: str) -> Scope:
        """How far a change of this parameter reaches."""
        return "system" if self._is_system(name) else self._scope

    def as_shown(self, name: str, value: str) -> str:
        """A session parameter's value as the server shows it: `64MB` for `65536kB`.

        Raises:
            UsageError: the server does not take the value.
        """
        if not self._known[name].session_settable:
            return value
        try:
            with self.control.transaction(force_rollback=True):
                row = self.control.execute(
                    "select set_config(%s, %s, true) as value", (name, value)
                ).fetchone()
        except psycopg.Error as error:
            raise UsageError(
                f"The server does not accept {name} = {value}: {error.diag.message_primary}."
            ) from error
        return str(row["value"]) if row else value

    def restored(self, values: Mapping[str, str]) -> None:
        """Note in the list of changes what was put back and read, and what went with the sessions."""
        for name, value in values.items():
            self._record(name, value, "system", "restore")
        for name in self._now:
            if not self._is_system(name):
                self._record(name, self._known[name].value, self.reach(name), "restore")

    def lost_sessions(self, control: Connection) -> None:
        """The server was restarted: what sessions had set is gone, what the server has stays."""
        self.control = control
        for name, parameter in self._known.items():
            if not self._is_system(name):
                self._now[name] = parameter.value

    def _is_system(self, name: str) -> bool:
        return goes_to_system(self._known[name], self._scope)

    def _journal(self, name: str, values: Sequence[str]) -> None:
        with confirmed_here(self.control):
            self.control.execute(
                "insert into redolab.parameter_journal values (%s, %s, %s, %s) on conflict do nothing",
                (name, self._known[name].value, self._lines[name], list(values)),
            )

    def _record(self, name: str, value: str, scope: Scope, setting: str) -> None:
        if self._now[name] == value:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.changes.append(ParameterChange(name, self._now[name], value, scope, now, setting))
        self._now[name] = value

    def _verify(self, setting: Setting, expected: Mapping[str, str], sessions: WorkingSessions) -> None:
        for name, value in expected.items():
            await_value(
                partial(_others, sessions, name, value),
                f"The server accepted {name} = {value} for the setting {setting.name}, but a working "
                "session still has {}. A more specific setting overrides that value: look for ALTER ROLE "
                "... SET, ALTER DATABASE ... SET, PGOPTIONS or a server command-line option, or use --scope "
                "session.",
            )


def _others(sessions: WorkingSessions, name: str, value: str) -> list[str]:
    return [shown for shown in sessions.parameter_values(name) if shown != value]

"""ALTER SYSTEM, the reload, and the wait until its effect is seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import psycopg
from psycopg import sql

from redolab.engine.postgres.connecting.connection import Connection
from redolab.engine.postgres.parameters.text import same_value
from redolab.errors import RefusedError

RELOAD_LIMIT_S = 10.0
HIDDEN = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.UndefinedFile,
    psycopg.errors.UndefinedFunction,
)
"""Errors that are raised where a role may not look at the configuration."""
_POLL_S = 0.005


def alter_system(control: Connection, name: str, value: str | None) -> None:
    """Write a parameter into postgresql.auto.conf; None removes it."""
    if value is None:
        control.execute(sql.SQL("alter system reset {}").format(sql.Identifier(name)))
    else:
        control.execute(sql.SQL("alter system set {} = {}").format(sql.Identifier(name), sql.Literal(value)))


def reload_configuration(control: Connection, expected: Mapping[str, str]) -> dict[str, str]:
    """Let the server read its configuration, and wait until this session sees the values.

    Returns them as the server shows them: `1s` for `1000ms`.

    Raises:
        RefusedError: it does not see one of them.
    """
    control.execute("select pg_catalog.pg_reload_conf()")
    shown: dict[str, str] = {}
    for name, value in expected.items():
        await_value(
            lambda name=name, value=value: _differing(control, name, value, shown),  # type: ignore[misc]
            f"Redolab set {name} = {value} with ALTER SYSTEM, but {RELOAD_LIMIT_S:.0f} s after a reload the "
            "server still has {}. A command-line option, ALTER ROLE or ALTER DATABASE setting overrides it, "
            "or a line of its configuration files is wrong (its log shows which). Correct that, or choose "
            "another --scope.",
        )
    return shown


def reload_first(control: Connection) -> None:
    """Let the server read its configuration as it is now, and wait until it has.

    What somebody else left waiting for a reload is in force then, so that it does not count as Redolab's.
    """
    before = _loaded_at(control)
    control.execute("select pg_catalog.pg_reload_conf()")
    give_up = time.monotonic() + RELOAD_LIMIT_S
    while _loaded_at(control) == before and time.monotonic() < give_up:
        time.sleep(_POLL_S)


def await_value(differing: Callable[[], Sequence[str]], complaint: str) -> None:
    """Wait until nobody sees another value.

    Args:
        differing: the other values that are seen.
        complaint: the text of the error; it has a place for the first of them.

    Raises:
        RefusedError: one is still seen after the limit.
    """
    give_up = time.monotonic() + RELOAD_LIMIT_S
    while others := differing():
        if time.monotonic() > give_up:
            raise RefusedError(complaint.format(others[0]))
        time.sleep(_POLL_S)


def _differing(control: Connection, name: str, value: str, shown: dict[str, str]) -> list[str]:
    row = control.execute(
        "select pg_catalog.current_setting(name) as value, unit, vartype from pg_catalog.pg_settings "
        "where name = %s",
        (name,),
    ).fetchone()
    if row is None:
        return []
    shown[name] = row["value"]
    return [] if same_value(row["value"], value, row["unit"], row["vartype"]) else [row["value"]]


def _loaded_at(control: Connection) -> object:
    row = control.execute("select pg_catalog.pg_conf_load_time() as at").fetchone()
    return row and row["at"]

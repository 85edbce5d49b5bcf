"""What must hold before anything is made in somebody's database, and what a reader must know of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg

from redolab.engine.connection import Connection, fetch
from redolab.engine.parameters import owns_schema, recover
from redolab.errors import RefusedError

OLDEST, NEWEST = 14, 18
_LOCK = 0x5245444F4C4142  # "REDOLAB": one run at a time in a database
_LOCK_LIMIT_S = 5.0
_MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")


def check_server(control: Connection) -> dict[str, Any]:
    """Read who and what the server is.

    Raises:
        RefusedError: it is too old, or a standby.
    """
    major = control.info.server_version // 10_000
    if major < OLDEST:
        raise RefusedError(
            f"This server is PostgreSQL {major}; Redolab needs {OLDEST} or newer, because earlier ones "
            "do not count their log writes (pg_stat_wal). Nothing was changed."
        )
    server = fetch(control, "select_server")[0]
    if server["in_recovery"]:
        raise RefusedError(
            "This server is a read-only standby, and commits can only be measured where they are made. "
            "Point --engine at the primary. Nothing was changed."
        )
    return server


def check_writable(control: Connection) -> None:
    """Make sure that nobody has made the whole server read-only, or this connection.

    What a database or a role has set for its applications does not count.

    Raises:
        RefusedError: somebody has, as hosting companies do when a disk is full.
    """
    with control.transaction(force_rollback=True):
        # Redolab's connections set the parameter; before that it was what it is now.
        control.execute("reset default_transaction_read_only")
        found = fetch(control, "select_read_only")
    if not found:
        return
    source = found[0]["source"]
    if source == "client":
        lift = "take it out of the URL's options, the service file or PGOPTIONS"
    else:
        lift = (
            "ALTER SYSTEM RESET default_transaction_read_only, or take it out of the file or command line "
            "that has it, then SELECT pg_reload_conf()"
        )
    raise RefusedError(
        f"This server takes no writes: default_transaction_read_only is on (from: {source}), and a run "
        f"writes. Find out why it was set; a full disk is a common reason. To lift it: {lift}. "
        "Nothing was changed."
    )


def lock_database(control: Connection, limit_s: float) -> bool:
    """Keep other runs out of this database while `control` is open.

    Returns whether it could be had within `limit_s`; a run that was just killed lets go of it
    when the server notices, or when its guard has cleaned up.
    """
    control.execute("select set_config('lock_timeout', %s, false)", (f"{limit_s * 1000:.0f}ms",))
    try:
        control.execute("select pg_advisory_lock(%s)", (_LOCK,))
    except psycopg.errors.LockNotAvailable:
        return False
    control.execute("set lock_timeout = 0")
    return True


def check_alone(control: Connection, server: Mapping[str, Any]) -> None:
    """Take the database's lock for this run.

    Raises:
        RefusedError: another run is at work in it.
    """
    if not lock_database(control, _LOCK_LIMIT_S):
        raise RefusedError(
            f"Another Redolab run is at work in the database {server['database']}; two would spoil each "
            "other's figures. Wait for it, or use another database."
        )


def claim_database(control: Connection, server: Mapping[str, Any]) -> None:
    """Take the database for this run, and put back what a killed run left changed in it.

    Raises:
        RefusedError: another run is at work, or the name is taken.
    """
    check_alone(control, server)
    if owns_schema(control) is False:
        raise RefusedError(
            f"The database {server['database']} has a schema named redolab that Redolab did not make, and "
            "it is never touched. Rename it, or use another database."
        )
    recover(control)


def server_conditions(
    control: Connection, server: Mapping[str, Any], log_filesystem: str | None
) -> list[str]:
    """Circumstances that change what the figures mean, one sentence each."""
    found = []
    if server["version_num"] // 10_000 > NEWEST:
        found.append(f"PostgreSQL {server['version']} is newer than {NEWEST}, the newest that was tested.")
    if server["fsync"] != "on":
        found.append("fsync is off: a commit here never waits for the disk, whatever the setting.")
    if log_filesystem in _MEMORY_FILESYSTEMS:
        found.append(f"The log lies in memory ({log_filesystem}): a flush costs next to nothing.")
    if server["synchronous_standby_names"]:
        found.append("A synchronous standby confirms each waiting commit: its time is log sync too.")
    others = control.execute(
        "select count(*) as n from pg_stat_activity where backend_type = 'client backend' "
        "and state = 'active' and application_name not like 'redolab %'"
    ).fetchone()
    if others and others["n"]:
        found.append(f"{others['n']} other sessions were active when the run began: the server was not idle.")
    return found

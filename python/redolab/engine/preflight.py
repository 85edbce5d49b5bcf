"""What must hold before anything is made in somebody's database, and what a reader must know of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.engine.connection import Connection, fetch, run_script
from redolab.engine.parameters import recover
from redolab.errors import RefusedError

OLDEST, NEWEST = 14, 18
_COMMENT = "made by redolab; removed at the end of the run"
_LOCK = 0x5245444F4C4142  # "REDOLAB": one run at a time in a database
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
    # A default of read-only is the database's custom, not a wall; our own sessions need to write.
    control.execute("set default_transaction_read_only = off")
    return server


def lock_database(control: Connection, server: Mapping[str, Any]) -> None:
    """Keep other runs out of this database while `control` is open.

    Raises:
        RefusedError: another run is at work in it.
    """
    lock = control.execute("select pg_try_advisory_lock(%s) as free", (_LOCK,)).fetchone()
    if lock is None or not lock["free"]:
        raise RefusedError(
            f"Another Redolab run is at work in the database {server['database']}; two would spoil each "
            "other's figures. Wait for it, or use another database."
        )


def claim_schema(control: Connection, server: Mapping[str, Any]) -> None:
    """Make the schema `redolab`, after clearing what a killed run left of an earlier one.

    Raises:
        RefusedError: another run is at work, the name is taken, or CREATE is not granted.
    """
    lock_database(control, server)
    schema = control.execute(
        "select obj_description(oid, 'pg_namespace') as comment from pg_namespace "
        "where nspname = 'redolab'"
    ).fetchone()
    if schema and schema["comment"] != _COMMENT:
        raise RefusedError(
            f"The database {server['database']} has a schema named redolab that Redolab did not make, and "
            "it is never touched. Rename it, or use another database."
        )
    if schema:
        recover(control)
    if not server["may_create"]:
        raise RefusedError(
            f"The role {server['role']} may not create a schema in the database {server['database']}. "
            f"As its owner: GRANT CREATE ON DATABASE {server['database']} TO {server['role']}. "
            "Nothing was changed."
        )
    run_script(control, "create_schema")


def server_conditions(
    control: Connection, server: Mapping[str, Any], log_filesystem: str | None
) -> list[str]:
    """Circumstances that change what the figures mean, one sentence each."""
    found = []
    if server["version_num"] // 10_000 > NEWEST:
        found.append(
            f"PostgreSQL {server['version']} is newer than {NEWEST}, the newest that was tested."
        )
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
        found.append(
            f"{others['n']} other sessions were active when the run began: the server was not idle."
        )
    return found

"""Conditions before anything is made in somebody's database, and facts that a reader must know of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from redolab.engine.linux.local_server import MEMORY_FILESYSTEMS
from redolab.engine.postgres.connecting.connection import Connection, Connector, fetch
from redolab.engine.postgres.own.recovery import PostgresRecovery, finish_noted
from redolab.engine.postgres.own.schema import MARKS, find_schema, identity
from redolab.engine.postgres.own.server_lock import PostgresLock
from redolab.engine.server.recovery import tell_of_copies, tell_of_killed
from redolab.errors import RefusedError

OLDEST, NEWEST = 14, 19
_MOST_LEFT = 20
_NOT_RELEASED = re.compile(r"\d+(alpha|beta|rc|devel)\d*")


def check_server(control: Connection) -> dict[str, Any]:
    """Read who and what the server is.

    Raises:
        RefusedError: it is too old, or a standby.
    """
    major = control.info.server_version // 10_000
    if major < OLDEST:
        raise RefusedError(
            f"This server is PostgreSQL {major}; Redolab needs {OLDEST} or newer, because earlier versions "
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
        rows = fetch(control, "select_read_only")
    if not rows:
        return
    source = rows[0]["source"]
    if source == "client":
        lift = "remove it from the URL's options, the service file or PGOPTIONS"
    else:
        lift = (
            "ALTER SYSTEM RESET default_transaction_read_only, or take it out of the file or command line "
            "that has it, then SELECT pg_reload_conf()"
        )
    raise RefusedError(
        f"This server accepts no writes (default_transaction_read_only is on, from: {source}), but a run "
        "writes. Find out why that parameter was set; a full disk is a common reason. To allow writes again: "
        f"{lift}. Nothing was changed."
    )


def check_unclaimed(control: Connection) -> bool:
    """Make sure, before anything is asked, that no other run is at work and that the schema's name is free.

    Returns whether an earlier run left something, which is put back first.

    Raises:
        RefusedError: it is not so.
    """
    PostgresLock(control).check_free()
    this = identity(control)
    left = MARKS.left_on(this.server, this.address)
    tell_of_copies(left)
    # What is noted is put back first, whoever has the name by now.
    return bool(left.here) or _check_schema(control, MARKS.kept())


def claim_database(control: Connection, connector: Connector) -> None:
    """Take the server for this run, and put back what killed runs of this machine left changed on it.

    Raises:
        RefusedError: another run is at work, the name is taken, or something cannot be put back.
    """
    PostgresLock(control).take_for_run()
    this, here = identity(control), control.info.dbname
    for noted in MARKS.left_on(this.server, this.address).here:
        tell_of_killed(finish_noted(control, connector, noted), in_the_way=noted.database == this.database)
    marks = MARKS.kept()
    _check_schema(control, marks)
    tell_of_killed(PostgresRecovery(control, marks).recover())
    _check_schema(control, MARKS.kept())
    for database in sorted({name for name in marks.values() if name != here})[:_MOST_LEFT]:
        _recover_elsewhere(connector, database, marks)


def _recover_elsewhere(connector: Connector, database: str, marks: Collection[str]) -> None:
    """Put back what a killed run left in another database, which may be one of another server's."""
    try:
        control = connector.to_database(database).connect("redolab control")
    except RefusedError:
        return
    with control:
        tell_of_killed(PostgresRecovery(control, marks).recover())


def _check_schema(control: Connection, marks: Collection[str]) -> bool:
    """Make sure that the name is free, or has what a run of this machine made; returns whether it has."""
    standing = find_schema(control, marks)
    why = standing and (standing.doubt or standing.odd)
    if standing is None or why is None:
        return standing is not None
    database = control.info.dbname
    if not standing.looks_made:
        raise RefusedError(
            f"The database {database} has a schema named redolab that Redolab did not make. Redolab never "
            "touches such a schema. Rename that schema, or use another database."
        )
    raise RefusedError(
        f"The database {database} has a schema named redolab, and it is not proved that this Redolab made "
        f"it: {why}. Redolab never touches such a schema. If a killed run left the schema, start a run as "
        "the same role, and as the same operating-system user on the same machine: the new run puts "
        "everything back first. Or put back by hand the parameters that redolab.parameter_journal lists, and "
        "DROP SCHEMA redolab CASCADE."
    )


def version_conditions(server: Mapping[str, Any]) -> list[str]:
    """Reasons in the version alone against relying on the figures, one sentence each."""
    sentences = []
    major = server["version_num"] // 10_000
    if major > NEWEST:
        sentences.append(
            f"PostgreSQL {server['version']} is newer than {NEWEST}, the newest version that was tested."
        )
    early = _NOT_RELEASED.match(server["version"])
    if early:
        sentences.append(
            f"PostgreSQL {early[0]} is not a release: its behaviour may change before the release."
        )
    return sentences


def server_conditions(
    control: Connection, server: Mapping[str, Any], log_filesystem: str | None
) -> list[str]:
    """Circumstances that change what the figures mean, one sentence each."""
    sentences = version_conditions(server)
    if server["fsync"] != "on":
        sentences.append("fsync is off: a commit here never waits for the disk, whatever the setting.")
    if log_filesystem in MEMORY_FILESYSTEMS:
        sentences.append(
            f"The log is on a file system in memory ({log_filesystem}): a flush costs almost nothing."
        )
    if server["synchronous_standby_names"]:
        sentences.append("A synchronous standby confirms each waiting commit: log sync includes that time.")
    others = control.execute(
        "select count(*) as n from pg_stat_activity where backend_type = 'client backend' "
        "and state = 'active' and application_name not like 'redolab %'"
    ).fetchone()
    if others and others["n"]:
        sentences.append(
            f"{others['n']} other sessions were active when the run began: the server was not idle."
        )
    return sentences

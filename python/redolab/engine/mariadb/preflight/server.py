"""The identity and properties of a server, and whether a run is possible on one like it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pymysql

from redolab.dialect.innodb import keeps_binlog, strange_engine
from redolab.engine.mariadb.answers import Row
from redolab.engine.mariadb.connection import Connection, ask, fetch, redo_log_state
from redolab.errors import RefusedError

Facts = Mapping[str, Any]
"""The server's identity and properties, as `check_server` reads them."""
NAMES: Mapping[str, str] = {"mariadb": "MariaDB", "mysql": "MySQL"}
OLDEST: Mapping[str, int] = {"mariadb": 1006, "mysql": 800}

_VERSION = re.compile(r"(?:5\.5\.5-)?(\d{1,4})\.(\d{1,4})\.(\d{1,4})(?!\w)")
# Whoever builds MySQL itself names itself so; what only speaks its protocol does not.
_MYSQL_BUILDS = re.compile(r"\(?(MySQL|Percona|Source distribution|Debian|Ubuntu|Google|Homebrew)\b")
_PRETENDERS = re.compile(
    r"OceanBase|TiDB|StarRocks|Doris|SingleStore|MemSQL|Vitess|Dolt|ClickHouse|Databend|MatrixOne|Greptime|"
    r"Manticore|PolarDB|Aurora|Xpand",
    re.IGNORECASE,
)
_CLOSED = (
    "read_only", "super_read_only", "innodb_read_only", "offline_mode",
    "transaction_read_only", "tx_read_only",
)  # fmt: skip
_MOST_LETTERS = 200
_ON = ("ON", "1", "YES")


def check_server(control: Connection, place: str) -> dict[str, Any]:
    """Read who and what the server is.

    Returns its variables of interest by name, together with: `flavour`, `name`, `version` (major * 100 +
    minor), `version_text`, `role` (user and host), `binlog`, `timed_files` and `place`.

    Raises:
        RefusedError: it only pretends, is too old, takes no writes, or commits in another way.
    """
    with control.promptly():
        rows = fetch(control, "select_variables", 500)
        variables = Row((str(row["Variable_name"]).lower(), str(row["Value"])) for row in rows)
        flavour, version = _identity(variables)
        _check_writable(variables)
        _check_prepares(variables)
        _check_alone_in_commits(variables)
        _check_binlog(variables)
        role = ask(control, "select current_user() as role")[0]["role"]
        redo_log = redo_log_state(control, flavour)
        timed_files = flavour == "mysql" or _times_files(control, variables)
    return Row(
        {**variables, **redo_log},
        flavour=flavour,
        name=NAMES[flavour],
        version=version,
        version_text=variables["version"],
        role=role,
        binlog=keeps_binlog(variables),
        timed_files=timed_files,
        place=place,
    )


def is_replica(control: Connection, server: Facts) -> bool:
    """Whether it takes data from another server; False where this user may not see that."""
    with suppress(pymysql.Error):
        return bool(fetch(control, "select_replica", server["version"], server["flavour"]))
    return False


def _identity(found: Mapping[str, str]) -> tuple[str, int]:
    text, comment = found.get("version", ""), found.get("version_comment", "")
    flavour = "mariadb" if "MariaDB" in text else "mysql"
    numbers = _VERSION.match(text)
    is_genuine = flavour == "mariadb" or _MYSQL_BUILDS.match(comment)
    pretends = _PRETENDERS.search(f"{text} {comment}") or "aurora_version" in found
    if (
        numbers is None
        or len(text) > _MOST_LETTERS
        or not is_genuine
        or pretends
        or "innodb_flush_log_at_trx_commit" not in found
    ):
        raise RefusedError(
            f"This server reports that it is {text[:_MOST_LETTERS]} ({comment[:_MOST_LETTERS]}). This server "
            "speaks the protocol of MariaDB and MySQL but is neither of the two, so its settings may affect "
            "a commit differently. Point --engine at a MariaDB from 10.6 or a MySQL from 8.0. Nothing was "
            "changed."
        )
    version = int(numbers[1]) * 100 + int(numbers[2])
    if version < OLDEST[flavour]:
        oldest = divmod(OLDEST[flavour], 100)
        raise RefusedError(
            f"This server is {NAMES[flavour]} {text}; Redolab needs {oldest[0]}.{oldest[1]} or newer. "
            "Nothing was changed."
        )
    return flavour, version


def _check_writable(found: Mapping[str, str]) -> None:
    closed = [
        name
        for name in _CLOSED
        # MariaDB from 12.0 has words for it.
        if found.get(name, "OFF").upper() not in ("OFF", "0")
    ]
    if found.get("innodb_force_recovery", "0") != "0":
        closed.append("innodb_force_recovery")
    if closed:
        raise RefusedError(
            f"This server accepts no writes ({closed[0]} = {found[closed[0]]}), but a run writes. If the "
            "server is a replica, point --engine at its source. Otherwise find out why the parameter was "
            f"set; SET GLOBAL {closed[0]} = OFF or the configuration allows writes again. Nothing was "
            "changed."
        )


def _check_prepares(found: Mapping[str, str]) -> None:
    if found.get("max_prepared_stmt_count") == "0":
        raise RefusedError(
            "This server accepts no prepared statements (max_prepared_stmt_count = 0), but the sessions of a "
            "run prepare their statements. SET GLOBAL max_prepared_stmt_count = 16382, the default, allows "
            "prepared statements. Nothing was changed."
        )


def _check_alone_in_commits(found: Mapping[str, str]) -> None:
    if _is_on(found.get("wsrep_on")):
        kind = "of a Galera cluster (wsrep_on = ON)"
    elif found.get("group_replication_group_name"):
        kind = "of a replication group (group_replication_group_name is set)"
    else:
        return
    raise RefusedError(
        f"This server is a member {kind}: a commit waits for the other members, and no setting of the log "
        "changes that wait. Point --engine at a standalone server. Nothing was changed."
    )


def _check_binlog(found: Mapping[str, str]) -> None:
    strange = strange_engine(found)
    if strange:
        raise RefusedError(
            f"{strange} Point --engine at a server that keeps its binary log in files or in InnoDB. Nothing "
            "was changed."
        )


def _times_files(control: Connection, found: Mapping[str, str]) -> bool:
    """Whether it counts and times its files, and this user may read that."""
    if not _is_on(found.get("performance_schema")):
        return False
    with suppress(pymysql.Error):
        ask(control, "select 1 from performance_schema.file_summary_by_event_name limit 1")
        return True
    return False


def _is_on(value: str | None) -> bool:
    return value is not None and value.upper() in _ON

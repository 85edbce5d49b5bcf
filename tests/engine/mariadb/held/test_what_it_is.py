"""Which servers a run accepts, by what they say of themselves; and what a reader is told of them."""

from __future__ import annotations

from contextlib import closing, nullcontext
from typing import Any

import pytest

from redolab.engine.mariadb.preflight.conditions import server_conditions
from redolab.engine.mariadb.preflight.semi_sync import check_semi_sync
from redolab.engine.mariadb.preflight.server import check_server
from redolab.errors import RefusedError
from tests.engine.mariadb.held.holding import PARAMETERS, REDO, hold_of
from tests.mariadb import MariaDB

BASE = {
    "version": "10.11.6-MariaDB", "version_comment": "Debian 12", "log_bin": "ON", "sync_binlog": "1",
    "read_only": "OFF", "innodb_flush_log_at_trx_commit": "1", "innodb_flush_method": "O_DIRECT",
    "performance_schema": "OFF",
}  # fmt: skip


class Said:
    """A connection to a server that only says what it is."""

    def __init__(self, variables: dict[str, str], others: int = 0) -> None:
        self._variables, self._others = variables, others
        self._rows: list[dict[str, Any]] = []

    def __enter__(self) -> Said:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    cursor = __enter__
    promptly = nullcontext
    is_encrypted = True

    def thread_id(self) -> int:
        return 1

    def execute(self, text: str, _values: object) -> None:
        asked = text.lower()
        if "show global variables" in asked:
            self._rows = [{"Variable_name": n, "Value": v} for n, v in self._variables.items()]
        elif "show processlist" in asked:
            self._rows = [{"Id": n, "Command": "Query", "User": "u"} for n in range(1, self._others + 2)]
            # Threads of a replica's have the commands of clients.
            self._rows.append({"Id": 99, "Command": "Query", "User": "system user"})
        elif "slave status" in asked or "replica status" in asked:
            self._rows = []
        elif "rpl_semi_sync_source_status" in asked:
            self._rows = [
                {"Variable_name": n, "Value": v}
                for n, v in self._variables.items()
                if n.endswith(("_status", "_clients"))
            ]
        elif "global_status" in asked:
            self._rows = [{"Value": self._variables.get("innodb_redo_log_enabled", "ON")}]
        else:
            assert "current_user()" in asked, text
            self._rows = [{"role": "u@%"}]

    def fetchall(self) -> list[dict[str, Any]]:
        return self._rows


def facts(**variables: str) -> dict[str, Any]:
    return check_server(Said({**BASE, **variables}), "h:3306")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("version", "comment"),
    [
        ("5.7.25-OceanBase-v4.3.5", "OceanBase_CE 4.3.5 (r1) (Built Jan 1 2026)"),
        ("5.7.25", "OceanBase seekdb 1.4.0"),
        ("8.0.11-TiDB-v7.5.0", "TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0 compatible"),
        ("8.0.33", "StarRocks version 3.3.0"),
        ("5.7.99", "Doris version doris-2.1.0"),
        ("8.0.33", "Dolt"),
        ("8.0.30-Vitess", "Version: 19.0.0"),
        ("5.7.32", "SingleStoreDB source distribution (compatible; MySQL Enterprise & Commercial)"),
        ("8.0.26-v1.2.3-nightly", "Databend Query"),
        ("8.4.2-greptimedb-0.9", "Greptime"),
        ("9.0", "MySQL Community Server - GPL"),
        ("something", "MySQL Community Server - GPL"),
        ("", ""),
    ],
)
def test_what_only_speaks_the_language_is_refused(version: str, comment: str) -> None:
    with pytest.raises(
        RefusedError, match=r"speaks the protocol of MariaDB and MySQL but is neither.*Nothing was changed"
    ):
        facts(version=version, version_comment=comment)


def test_aurora_commits_in_another_way() -> None:
    with pytest.raises(RefusedError, match="speaks the protocol of MariaDB and MySQL but is neither"):
        facts(version="8.0.39", version_comment="Source distribution", aurora_version="3.08.0")


@pytest.mark.parametrize(
    ("version", "comment", "is_it"),
    [
        ("10.6.0-MariaDB-log", "mariadb.org binary distribution", ("mariadb", 1006)),
        ("5.5.5-10.11.6-MariaDB", "Debian 12", ("mariadb", 1011)),
        ("11.8.9-MariaDB-0+deb13u1 from Debian-log", "-- Please help", ("mariadb", 1108)),
        ("8.0.45", "MySQL Community Server - GPL", ("mysql", 800)),
        ("8.0.45-0ubuntu0.24.04.1", "(Ubuntu)", ("mysql", 800)),
        ("8.4.6-6", "Percona Server (GPL), Release 6, Revision 1", ("mysql", 804)),
        ("9.7.4-2", "(Debian)", ("mysql", 907)),
        ("8.0.40-google", "(Google)", ("mysql", 800)),
    ],
)
def test_the_real_ones_are_known(version: str, comment: str, is_it: tuple[str, int]) -> None:
    found = facts(version=version, version_comment=comment)
    assert (found["flavour"], found["version"]) == is_it


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"version": "10.5.29-MariaDB"}, "needs 10.6 or newer"),
        ({"version": "5.7.44", "version_comment": "MySQL Community Server (GPL)"}, "needs 8.0 or newer"),
        ({"read_only": "ON"}, "read_only = ON"),
        ({"read_only": "NO_LOCK_NO_ADMIN"}, "read_only = NO_LOCK_NO_ADMIN"),
        ({"super_read_only": "ON"}, "super_read_only = ON"),
        ({"innodb_read_only": "ON"}, "innodb_read_only = ON"),
        ({"innodb_force_recovery": "1"}, "innodb_force_recovery = 1"),
        ({"wsrep_on": "ON"}, "Galera"),
        ({"group_replication_group_name": "8a94f357-aab4-11df-86ab-c80aa9429562"}, "replication group"),
        ({"binlog_storage_engine": "RocksDB"}, "not known what a commit waits for on this server"),
    ],
)
def test_one_on_which_no_run_is_possible_is_refused(variables: dict[str, str], said: str) -> None:
    with pytest.raises(RefusedError, match=said) as error:
        facts(**variables)
    assert "Nothing was changed." in str(error.value)


@pytest.mark.parametrize(
    ("variables", "filesystem", "said"),
    [
        ({}, None, []),
        ({"log_bin": "OFF"}, None, ["keeps no binary log"]),
        ({"sync_binlog": "100"}, "ext4", ["sync_binlog was 100"]),
        ({"innodb_flush_method": "O_DSYNC"}, None, ["within each write"]),
        ({"innodb_flush_method": "nosync"}, None, ["nothing is ever flushed"]),
        ({"innodb_doublewrite": "OFF"}, None, ["innodb_doublewrite is OFF"]),
        ({"innodb_doublewrite": "DETECT_ONLY"}, None, ["innodb_doublewrite is DETECT_ONLY"]),
        (
            {"version": "9.7.0", "version_comment": "MySQL Community", "innodb_redo_log_enabled": "OFF"},
            None,
            ["redo log is disabled"],
        ),
        ({"innodb_flush_log_at_timeout": "10"}, None, ["lose commits of about that many seconds"]),
        ({"rpl_semi_sync_source_enabled": "ON"}, None, ["no commit waits for a replica at present"]),
        ({}, "tmpfs", ["in memory (tmpfs)"]),
        ({"version": "13.1.2-MariaDB"}, None, ["newer than 11.8"]),
        # One log, whatever sync_binlog is.
        ({"binlog_storage_engine": "InnoDB", "sync_binlog": "100"}, None, ["inside InnoDB"]),
        ({"binlog_storage_engine": "InnoDB", "log_bin": "OFF"}, None, ["keeps no binary log"]),
        ({"binlog_storage_engine": ""}, None, []),
    ],
)
def test_what_changes_the_meaning_of_figures_is_told(
    variables: dict[str, str], filesystem: str | None, said: list[str]
) -> None:
    told = server_conditions(Said({}), facts(**variables), filesystem)  # type: ignore[arg-type]
    assert len(told) == len(said), told
    assert all(words in text for words, text in zip(said, told, strict=True))


def semi_sync(status: str, clients: int, timeout_ms: int, **more: str) -> dict[str, str]:
    before = "rpl_semi_sync_master_"
    return {
        f"{before}enabled": "ON", f"{before}status": status, f"{before}clients": str(clients),
        f"{before}timeout": str(timeout_ms), **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("variables", "said", "refused"),
    [
        (semi_sync("ON", 1, 10_000), "a commit waits for a replica too", False),
        (semi_sync("OFF", 0, 10_000), "no commit waits for a replica at present", False),
        (semi_sync("OFF", 0, 9_000_000), "Rpl_semi_sync_master_status is OFF", False),
        (semi_sync("ON", 0, 10_000), "none is connected: a commit returns after 10 s", False),
        (semi_sync("ON", 0, 3_600_000), "none is connected: a commit returns after 3600 s", True),
        (
            semi_sync("ON", 1, 61_000, rpl_semi_sync_master_wait_for_slave_count="2"),
            "waits for 2 replicas, but 1 is connected", True,
        ),
        ({}, "", False),
    ],
)  # fmt: skip
def test_a_commit_that_waits_long_for_absent_replicas_is_no_run(
    variables: dict[str, str], said: str, refused: bool
) -> None:
    server, connection = facts(**variables), Said(variables)
    told = server_conditions(connection, server, None)  # type: ignore[arg-type]
    assert said in " ".join(told)
    assert bool(told) == bool(said)
    if not refused:
        check_semi_sync(connection, server)  # type: ignore[arg-type]
        return
    with pytest.raises(RefusedError, match=said) as error:
        check_semi_sync(connection, server)  # type: ignore[arg-type]
    assert "Connect the replicas" in str(error.value)
    assert "Nothing was changed." in str(error.value)


def test_others_at_work_are_told() -> None:
    told = server_conditions(Said({}, others=3), facts(), None)  # type: ignore[arg-type]
    assert told == ["3 other sessions were active when the run began: the server was not idle."]


def test_the_question_says_what_becomes_of_the_server(server: MariaDB, url: str) -> None:
    with closing(hold_of(url)) as hold:
        found = hold.introduce(PARAMETERS, 3 * 10**9)
        assert hold.conditions() == []
    name = "MySQL" if server.flavour == "mysql" else "MariaDB"
    version = server.ask("select version() as it")[0]["it"]
    assert found.place == f"{name} {version} at 127.0.0.1:{server.port}, as the user bench@%"
    *exposed, changes, log, unseen = found.notes
    assert "This user cannot see" in unseen
    # That of Debian 12 has no TLS.
    assert len(exposed) == ("10.11" in version)
    assert f"{REDO} (now 1), sync_binlog (now 1)" in changes
    assert "at most 3.0 GB" in log
    assert "a replica would replay it" in log

"""A server that keeps its binary log inside InnoDB, as scripted answers describe it: commits flush one log.

No such server was at hand; what it promises is what MariaDB's documentation says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from redolab.dialect import innodb
from redolab.engine.mariadb.connecting.target import read_target
from redolab.engine.mariadb.description import describe, not_measured
from redolab.engine.mariadb.observer.counters import counters, missing
from redolab.engine.mariadb.observer.server import Server, identify
from redolab.engine.mariadb.observer.waits import file_event
from redolab.engine.mariadb.preflight.server import check_server
from redolab.engine.mariadb.settings import setting_of
from redolab.engine.mariadb.snapshots import take_snapshot
from redolab.errors import RefusedError
from redolab.forecast.costs.logs import logs_of
from redolab.records.load import Load

VARIABLES = {
    "version": "12.3.2-MariaDB-log", "version_comment": "MariaDB Server", "log_bin": "ON", "sync_binlog": "1",
    "binlog_storage_engine": "InnoDB", "read_only": "OFF", "innodb_flush_log_at_trx_commit": "1",
    "innodb_flush_method": "O_DIRECT", "performance_schema": "OFF", "hostname": "h", "port": "3306",
    "datadir": "/d/",
}  # fmt: skip
COUNTERS = {
    "uptime_s": 5, "server_commits": 7, "server_rows": 9, "log_bytes": 100, "log_writes": 3, "log_flushes": 4,
    "binlog_groups": 0, "binlog_bytes": 0, "binlog_flushes": 0, "buffer_hits": 1, "buffer_reads": 0,
    "history_list_length": 0,
}  # fmt: skip
ABOUT = {
    "version": VARIABLES["version"], "comment": "MariaDB Server", "performance_schema": 0, "hostname": "h",
    "log_bin": 1, "pid_file": "/p", "connection": 42, "role": "u@%",
}  # fmt: skip
ANSWERS: tuple[tuple[str, list[dict[str, Any]]], ...] = (
    (r"GLOBAL_STATUS", [COUNTERS]),
    (r"SHOW GLOBAL STATUS", [{"Variable_name": "Uptime", "Value": "5"}]),
    (r"@@version_comment AS comment", [ABOUT]),
    (r"current_user\(\) as role", [{"role": "u@%"}]),
    (r"AS thread", [{"thread": 0, "connection": 42}]),
    (r"", []),
)
LOAD = Load("", 4, "system")
MODES = [
    ({"commit_wait": "wait", "commit_logging": "immediate"}, "1", "disk"),
    ({"commit_wait": "nowait", "commit_logging": "immediate"}, "2", "os"),
    ({"commit_wait": "nowait", "commit_logging": "batch"}, "0", "memory"),
]


class Scripted:
    """A connection that answers as such a server would."""

    promptly = nullcontext
    is_encrypted = True

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._rows: list[dict[str, Any]] = []

    def __enter__(self) -> Scripted:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    cursor = __enter__

    def thread_id(self) -> int:
        return 42

    def execute(self, text: str, _values: object = None) -> None:
        if "show global variables" in text.lower():
            asked = [name for name in self._variables if f"'{name}'" in text]
            self._rows = [{"Variable_name": name, "Value": self._variables[name]} for name in asked]
        else:
            self._rows = next(rows for words, rows in ANSWERS if re.search(words, text, re.IGNORECASE))

    def fetchall(self) -> list[dict[str, Any]]:
        return self._rows


def facts(**variables: str) -> dict[str, Any]:
    return check_server(Scripted({**VARIABLES, **variables}), "h:3306")  # type: ignore[arg-type]


def watched(**variables: str) -> Server:
    target = read_target("mysql://u@h/")
    return identify(Scripted({**VARIABLES, **variables}), target)  # type: ignore[arg-type]


@pytest.mark.parametrize(("levels", "redo", "tier"), MODES)
@pytest.mark.parametrize("sync", ["0", "1", "100"])
def test_a_mode_sets_one_log_and_promises_what_that_does(
    levels: dict[str, str], redo: str, tier: str, sync: str
) -> None:
    now = {innodb.REDO: "1", innodb.BINLOG: sync}
    setting = setting_of(levels, LOAD, facts(sync_binlog=sync), now, 250)
    assert (setting.parameters, setting.tier) == ({innodb.REDO: redo}, tier)


def test_a_setting_that_was_found_promises_what_the_redo_log_does() -> None:
    levels = {"commit_wait": "wait"}
    kept = setting_of(levels, LOAD, facts(), {innodb.REDO: "1", innodb.BINLOG: "0"}, 250)
    assert kept.tier == "disk"
    files = facts(binlog_storage_engine="")
    both = setting_of(levels, LOAD, files, {innodb.REDO: "1", innodb.BINLOG: "0"}, 250)
    assert (both.parameters, both.tier) == ({innodb.REDO: "1", innodb.BINLOG: "1"}, "disk")


def test_a_report_says_where_the_binary_log_is_and_what_that_costs() -> None:
    server, there = facts(), watched()
    about = describe(server, None, local=False)
    assert (about["binlog"], about["binlog_storage_engine"]) == (True, "innodb")
    assert "binlog_storage_engine" not in describe(facts(binlog_storage_engine=""), None, local=False)
    assert "binlog_storage_engine" not in describe(facts(log_bin="OFF"), None, local=False)
    said = " ".join(not_measured(server, there, None))
    assert "does not describe whether the pause has an effect inside InnoDB" in said
    assert "log_bin is off" not in said


def test_what_is_not_documented_of_its_counters_is_not_known() -> None:
    def taken(**variables: str) -> Mapping[str, float | None]:
        return take_snapshot(
            Scripted(VARIABLES),  # type: ignore[arg-type]
            facts(**variables), device=None, process=None, helpers=(), watcher=None, sessions=(),
        ).counters  # fmt: skip

    inside, files = taken(), taken(binlog_storage_engine="")
    assert [inside[name] for name in ("binlog_groups", "binlog_bytes", "binlog_flushes")] == [None] * 3
    assert (inside["server_commits"], inside["log_flushes"]) == (7, 4)
    assert (files["binlog_groups"], files["binlog_flushes"]) == (0, 0)


def test_a_watch_counts_its_commits_by_the_redo_log_alone() -> None:
    server = watched()
    assert server.parameters["binlog_storage_engine"] == "InnoDB"
    assert server.facts.server["binlog_storage_engine"] == "innodb"
    before = {"innodb_max_trx_id": 100.0, "binlog_commits": 0.0, "binlog_group_commits": 0.0}
    after = {"innodb_max_trx_id": 140.0, "binlog_commits": 0.0, "binlog_group_commits": 0.0}
    seen = counters(server, before, after, {})
    assert seen["transactions"] == 20
    assert (seen["commits"], seen["binlog_flushes"], seen["binlog_flush_time_s"]) == (None, None, None)
    assert any("does not document what is counted" in why for _, why in missing(server, after))
    files = counters(watched(binlog_storage_engine=""), before, after, {})
    assert (files["commits"], files["binlog_flushes"]) == (0, 0)
    none = replace(server, binlog=False, binlog_engine="")
    assert counters(none, before, after, {})["binlog_flushes"] == 0


def test_an_engine_that_nothing_is_known_of_is_refused() -> None:
    with pytest.raises(RefusedError, match=r"other.*not known.*Nothing was changed"):
        facts(binlog_storage_engine="other")
    with pytest.raises(RefusedError, match="not known what a commit waits for on this server"):
        watched(binlog_storage_engine="other")


def test_a_forecast_has_one_log() -> None:
    about: dict[str, Any] = {"name": "mariadb", "binlog": True}
    assert len(logs_of(about).columns) == 2
    inside = logs_of({**about, "binlog_storage_engine": "innodb"})
    assert [log.name for log in inside.columns] == ["the redo log"]
    assert inside.system("client") == "MariaDB, client, one log"


def test_its_files_are_the_binary_log() -> None:
    assert file_event("/d/binlog-000012.ibb", "flush") == ("IO", "binlog flush")
    assert file_event("/d/other-000012.ibb", "flush") == ("IO", "other file flush")

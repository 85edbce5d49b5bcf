"""The dialects: data without a driver, of which no two give one name two meanings."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields

import pytest

from redolab.dialect import mariadb, postgres
from redolab.dialect.base import NOTHING_KNOWN, Dialect
from redolab.dialect.known import DIALECTS, dialect_of, product_name
from redolab.dialect.log_waits import (
    is_client_wait,
    is_idle_class,
    is_log_sync,
    is_log_write,
    log_counters,
    unposted_wait,
)
from redolab.dialect.row_names import is_wait, row_meaning, row_name
from redolab.records.sample import Sample


def events(dialect: Dialect) -> set[str]:
    named = (dialect.event_names, dialect.event_meanings, dialect.log_counters)
    return set().union(*named, dialect.log_write, dialect.log_sync, dialect.client_waits)


def test_a_stored_run_has_the_dialect_of_its_engine() -> None:
    assert dialect_of("embedded") is dialect_of("postgresql") is postgres.DIALECT
    assert dialect_of("MySQL") is dialect_of("mariadb") is mariadb.DIALECT
    assert product_name("mysql") == "MySQL"
    assert product_name("sqlite") == "SQLite"


def test_an_unknown_engine_has_an_empty_dialect() -> None:
    assert dialect_of("made-up") is NOTHING_KNOWN
    assert product_name("made-up") is None
    assert not any(getattr(NOTHING_KNOWN, item.name) for item in fields(NOTHING_KNOWN))


def test_no_name_belongs_to_two_dialects() -> None:
    count = Counter(name for dialect in DIALECTS for name in (*events(dialect), *dialect.products))
    assert {name for name, times in count.items() if times > 1} == set()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_are_in_lower_case(dialect: Dialect) -> None:
    names = events(dialect) | dialect.products.keys() | dialect.idle_classes
    assert {name for name in names if name != name.lower()} == set()
    assert all(re.fullmatch("[a-z][a-z/ ]*:.+", name) for name in events(dialect))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_servers_counters_are_columns_of_a_sample(dialect: Dialect) -> None:
    columns = {item.name for item in fields(Sample)}
    assert {column for pair in dialect.log_counters.values() for column in pair} <= columns


@pytest.mark.parametrize("name", ["IO:WALSync", "IO:WalSync", "IO:redo log flush"])
def test_a_flush_by_the_waiter_is_the_logs(name: str) -> None:
    assert is_log_write(name)
    assert is_log_sync(name)
    assert row_meaning(name)


@pytest.mark.parametrize(
    "name",
    [
        "LWLock:WALWrite",
        "IPC:SyncRep",
        "Stage:Commit",
        "Stage:waiting for handler commit",
        "Timeout:CommitDelay",
    ],
)
def test_a_flush_by_another_is_a_commits_wait(name: str) -> None:
    assert is_log_sync(name)
    assert not is_log_write(name)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_wait_for_the_log_is_cut_off_on_80_columns(dialect: Dialect) -> None:
    names = {row_name(name) for name in dialect.log_write | dialect.log_sync}
    assert {name for name in names if len(name) > 20} == set()


def test_what_no_server_says_is_nothing() -> None:
    assert not is_log_sync("Timeout:PgSleep")
    assert not is_client_wait("Client:ClientWrite")
    assert log_counters("IO:DataFileRead") is None
    assert unposted_wait("embedded", "wait", None) is None
    assert row_meaning("Made:Up") == ""
    assert row_name("Made:Up") == "Made:Up"
    assert is_wait("Made:Up")
    assert not is_idle_class("IO")


def test_waits_for_the_client_and_idle_classes() -> None:
    assert is_client_wait("Client:ClientRead")
    assert is_idle_class("Activity")
    assert is_idle_class("")
    assert log_counters("IO:WalSync") == ("log_flushes", "log_flush_time_s")
    assert "commit_delay" in (unposted_wait("postgresql", "wait", "batch") or "")
    assert "commit_delay" in (unposted_wait("postgresql", "wait", "batch", ["IO:WalSync"]) or "")
    # A version that posts the sleep does not sleep there without an event.
    assert unposted_wait("postgresql", "wait", "batch", ["IO:WalSync", "Timeout:CommitDelay"]) is None
    # Another server has no commit_delay.
    assert unposted_wait("mariadb", "wait", "batch") is None

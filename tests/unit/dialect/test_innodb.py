"""What the settings of MariaDB and MySQL are, and their tier: that of the weaker log."""

from __future__ import annotations

import pytest

from redolab.dialect import innodb


@pytest.mark.parametrize(
    ("redo", "sync_binlog", "tier"),
    [
        ("1", None, "disk"),
        ("3", None, "disk"),
        ("2", None, "os"),
        ("0", None, "memory"),
        ("1", "1", "disk"),
        # Recovery rolls back what the binary log does not have.
        ("1", "0", "os"),
        ("1", "100", "os"),
        ("2", "1", "os"),
        ("2", "0", "os"),
        ("0", "1", "memory"),
        ("0", "0", "memory"),
    ],
)
def test_a_tier_is_the_weaker_of_both_logs(redo: str, sync_binlog: str | None, tier: str) -> None:
    assert innodb.durability_tier(redo, sync_binlog, "O_DIRECT") == tier


@pytest.mark.parametrize(("redo", "tier"), [("1", "os"), ("2", "os"), ("0", "memory")])
def test_where_nothing_is_flushed_no_commit_is_safe_from_a_power_cut(redo: str, tier: str) -> None:
    assert innodb.durability_tier(redo, "1", "nosync") == tier


def test_without_a_redo_log_no_commit_is_safe_from_a_crash() -> None:
    assert innodb.durability_tier("1", "1", "O_DIRECT", redo_log=False) == "memory"
    usual = {"innodb_flush_log_at_trx_commit": "1", "log_bin": "ON", "sync_binlog": "1"}
    assert innodb.tier_of(usual) == innodb.tier_of({**usual, "innodb_redo_log_enabled": "ON"}) == "disk"
    assert innodb.tier_of({**usual, "innodb_redo_log_enabled": "OFF"}) == "memory"


@pytest.mark.parametrize("flavour", ["mariadb", "mysql"])
@pytest.mark.parametrize(
    ("wait", "logging", "logs", "pause"),
    [
        ("wait", "immediate", ("1", "1"), ("0", "0")),
        ("wait", "batch", ("1", "1"), ("250", "8")),
        ("nowait", "immediate", ("2", "0"), ("0", "0")),
        ("nowait", "batch", ("0", "0"), ("0", "0")),
    ],
)
def test_a_mode_sets_both_logs_and_the_pause(
    flavour: str, wait: str, logging: str, logs: tuple[str, str], pause: tuple[str, str]
) -> None:
    levels = {"commit_wait": wait, "commit_logging": logging}
    found = innodb.commit_parameters(levels, flavour=flavour, binlog=True, pause_us=250, sessions=8)
    names = (innodb.REDO, innodb.BINLOG, *innodb.PAUSE[flavour])
    assert found == dict(zip(names, (*logs, *pause), strict=True))
    alone = innodb.commit_parameters(levels, flavour=flavour, binlog=False, pause_us=250, sessions=8)
    assert alone == {innodb.REDO: logs[0]}


def test_a_pause_needs_the_binary_log() -> None:
    gathers = {"commit_wait": "wait", "commit_logging": "batch"}
    assert innodb.missing(gathers, binlog=True) is None
    assert innodb.missing(gathers, binlog=False) == innodb.NO_PAUSE
    assert innodb.missing({"commit_wait": "wait", "commit_delay_us": "100"}, binlog=False) == innodb.NO_PAUSE
    assert innodb.missing({"commit_wait": "nowait", "commit_logging": "batch"}, binlog=False) is None


def test_what_a_server_promises_is_read_from_its_parameters() -> None:
    def tier(redo: str, sync: str, binlog: str = "ON") -> str | None:
        return innodb.tier_of(
            {"innodb_flush_log_at_trx_commit": redo, "sync_binlog": sync, "log_bin": binlog}
        )

    assert [tier("1", "1"), tier("1", "0"), tier("1", "0", "OFF"), tier("2", "1"), tier("0", "1")] == [
        "disk", "os", "disk", "os", "memory",
    ]  # fmt: skip
    # Recovery rolls back what the binary log does not have; where that is not known, nothing is promised.
    known = {"innodb_flush_log_at_trx_commit": "1", "log_bin": "ON"}
    assert innodb.tier_of(known) is innodb.tier_of({"innodb_flush_log_at_trx_commit": "3"}) is None
    assert innodb.tier_of({**known, "innodb_flush_log_at_trx_commit": "2"}) == "os"
    assert innodb.tier_of({}) is innodb.tier_of({"innodb_flush_log_at_trx_commit": "7"}) is None


def in_innodb(redo: str, sync: str, engine: str = "InnoDB", **others: str) -> dict[str, str]:
    """The parameters of a server that keeps its binary log in a storage engine."""
    about = {"innodb_flush_log_at_trx_commit": redo, "sync_binlog": sync, "log_bin": "ON"}
    return {**about, "binlog_storage_engine": engine, **others}


@pytest.mark.parametrize(("redo", "tier"), [("1", "disk"), ("3", "disk"), ("2", "os"), ("0", "memory")])
@pytest.mark.parametrize("sync", ["0", "1", "100"])
def test_a_binary_log_inside_innodb_has_no_say(redo: str, tier: str, sync: str) -> None:
    assert innodb.tier_of(in_innodb(redo, sync)) == tier
    assert innodb.tier_of(in_innodb(redo, sync, "innodb")) == tier
    del (without := in_innodb(redo, sync))["sync_binlog"]
    assert innodb.tier_of(without) == tier
    assert innodb.tier_of(in_innodb(redo, sync, innodb_flush_method="nosync")) == min(
        tier, "os", key=["memory", "os", "disk"].index
    )


def test_an_engine_that_is_not_set_is_none() -> None:
    for empty in ("", "NULL", "None"):
        assert innodb.tier_of(in_innodb("1", "0", empty)) == "os"
        assert innodb.tier_of(in_innodb("1", "1", empty)) == "disk"


def test_an_engine_that_nothing_is_known_of_promises_nothing() -> None:
    strange = in_innodb("1", "1", "RocksDB")
    assert innodb.tier_of(strange) is None
    assert "rocksdb" in (innodb.strange_engine(strange) or "")
    # It is nowhere in use without a binary log.
    assert innodb.tier_of({**strange, "log_bin": "OFF"}) == "disk"
    assert innodb.strange_engine({**strange, "log_bin": "OFF"}) is None
    assert innodb.strange_engine(in_innodb("1", "1")) is None


def test_a_server_with_one_log_says_why_it_has_no_pause() -> None:
    inside: dict[str, object] = {"binlog": True, "binlog_storage_engine": "InnoDB"}
    assert not innodb.has_second_log(inside)
    assert innodb.no_pause(inside) == innodb.NO_KNOWN_PAUSE
    assert innodb.no_pause({"binlog": False}) == innodb.NO_PAUSE
    assert innodb.has_second_log({"binlog": True, "binlog_storage_engine": ""})
    assert innodb.has_second_log({"binlog": True})
    assert not innodb.has_second_log({"binlog": False, "binlog_storage_engine": ""})
    gathers = {"commit_wait": "wait", "commit_logging": "batch"}
    assert innodb.missing(gathers, False, innodb.no_pause(inside)) == innodb.NO_KNOWN_PAUSE


@pytest.mark.parametrize(
    ("redo", "flushes"), [("1", True), ("3", True), ("2", False), ("0", False), (None, True), ("9", True)]
)
def test_what_flushes_the_redo_log_at_commit(redo: str | None, flushes: bool) -> None:
    known = {} if redo is None else {"innodb_flush_log_at_trx_commit": redo}
    assert innodb.flushes_redo_at_commit(known) is flushes

"""What the advice gives to type for a change: statements of parameters, and none for anything else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from redolab.forecast.advice.statements import Today
from tests.forecasts import TODAY, make_calibrated

COMMITS_PER_S = 3_400.0
INNODB = {
    "innodb_flush_log_at_trx_commit": "1", "sync_binlog": "100", "log_bin": "ON",
    "innodb_flush_log_at_timeout": "3", "binlog_commit_wait_usec": "0", "binlog_commit_wait_count": "0",
}  # fmt: skip


def watched(server: str, parameters: dict[str, str], **more: Any) -> Today:
    return today_of(
        {
            "record": "watched",
            "design": {"baseline": "watched"},
            "settings": [{"name": "watched", "levels": {}, "tier": "", "parameters": parameters}],
            "engine": {"name": server},
            **more,
        }
    )


def today_of(manifest: dict[str, Any], **more: Any) -> Today:
    run: Any = SimpleNamespace(manifest=manifest, **more)
    return Today.of(run, make_calibrated(replicates=1))


def nowait(today: Today) -> dict[str, Any]:
    change = {"factor": "commit_wait", "to": "nowait", "risk": "a crash", "durability": "lost"}
    return today.to_type({**change, "gain": {"high": 2.0}}, "disk", "safe")


@pytest.mark.parametrize(
    ("factor", "level", "word"),
    [
        ("rows_per_commit", "32", "application"),
        ("sessions", "4", "connection pool"),
        ("log_device", "half", "hardware"),
        ("cpus", "4", "hardware"),
    ],
)
def test_what_no_parameter_makes_has_no_statement(factor: str, level: str, word: str) -> None:
    for engine in ("postgresql", "mariadb", "mysql", "oracle", "shelf"):
        found = watched(engine, {}).changed(factor, level, COMMITS_PER_S)
        assert (found["ways"], found["parameters"], found["price"], found["price_text"]) == ([], [], [], None)
        assert word in found["why_none"]


def test_an_unknown_server_gets_none_either() -> None:
    found = watched("shelf", {}).changed("commit_wait", "nowait", COMMITS_PER_S)
    assert found["ways"] == []
    assert found["why_none"] == "Redolab does not know by which parameters this server makes this change."


def test_a_watch_of_postgresql_gives_back_what_it_saw() -> None:
    noted = [
        {"parameter": "synchronous_commit", "value": "local", "altered": True, "of_roles": []},
        {"parameter": "commit_delay", "value": "0", "altered": False, "of_roles": None},
        {"parameter": "commit_siblings", "value": "7", "altered": None, "of_roles": None},
    ]
    today = watched("postgresql", {"wal_writer_delay": "500ms", "fsync": "on"}, parameters_before=noted)
    found = nowait(today)
    assert found["parameters"] == ["synchronous_commit"]
    assert found["ways"][0]["set"] == [
        "ALTER SYSTEM SET synchronous_commit = off;",
        "SELECT pg_reload_conf();",
    ]
    assert found["ways"][0]["undo"][0] == "ALTER SYSTEM SET synchronous_commit = 'local';"
    # Three rounds of the WAL writer, at the upper end of the forecast: 1.5 s x 2 x 3,400.
    assert [(it["crash"], it["window_s"], it["commits"]) for it in found["price"]] == [
        ("server", 1.5, 10_200), ("power", 1.5, 10_200),
    ]  # fmt: skip
    assert found["price_text"].startswith("The price: a crash of the server, or a power cut, may lose up to")
    assert (found["risk"], found["tier_before"], found["tier_after"]) == ("a crash", "disk", "memory")
    delayed = today.changed("commit_delay_us", "134", COMMITS_PER_S)
    assert delayed["ways"][0]["set"][:2] == [
        "ALTER SYSTEM SET commit_delay = 134;", "ALTER SYSTEM SET commit_siblings = 5;",
    ]  # fmt: skip
    assert delayed["ways"][0]["undo"][:2] == [
        "ALTER SYSTEM RESET commit_delay;", "ALTER SYSTEM SET commit_siblings = 7;",
    ]  # fmt: skip
    assert (delayed["price"], delayed["price_text"]) == ([], None)


def test_a_value_that_the_watchs_own_role_hid_is_not_the_servers() -> None:
    noted: list[dict[str, Any]] = [
        {"parameter": "synchronous_commit", "value": None, "altered": None, "of_roles": []}
    ]
    found = nowait(watched("postgresql", {"synchronous_commit": "off"}, parameters_before=noted))
    assert found["as_before"] == []
    assert found["ways"][0]["undo"][0] == "ALTER SYSTEM RESET synchronous_commit;"
    assert len(found["ways"][0]["look"]) == 1
    assert "are not known here" in found["ways"][0]["reach"]


def test_an_older_watch_knows_the_values_and_nothing_of_the_others() -> None:
    today = watched("postgresql", {"synchronous_commit": "on"})
    assert nowait(today)["ways"][0]["undo"][0] == "ALTER SYSTEM SET synchronous_commit = on;"
    delayed = today.changed("commit_delay_us", "134", None)
    assert (
        "The values of commit_delay and commit_siblings before the change are not known"
        in delayed["ways"][0]["reach"]
    )
    assert "None" not in str(delayed["ways"])


def test_without_a_rate_the_price_has_its_time_alone() -> None:
    found = watched("postgresql", {"wal_writer_delay": "200ms"}).changed("commit_wait", "nowait", None)
    assert [(it["window_s"], it["commits"]) for it in found["price"]] == [(pytest.approx(0.6), None)] * 2
    unlimited = watched("postgresql", {}).changed("commit_wait", "nowait", COMMITS_PER_S)
    assert [(it["window_s"], it["commits"]) for it in unlimited["price"]] == [(None, None)] * 2
    assert "is not known" in unlimited["price_text"]


@pytest.mark.parametrize("engine", ["mariadb", "mysql"])
def test_a_watch_of_the_family_sets_both_logs_and_names_the_crash_that_loses(engine: str) -> None:
    found = nowait(watched(engine, INNODB, engine={"name": engine, "binlog": True}))
    assert found["ways"][0]["set"] == [
        "SET GLOBAL innodb_flush_log_at_trx_commit = 2;", "SET GLOBAL sync_binlog = 0;",
    ]  # fmt: skip
    assert found["ways"][0]["undo"] == [
        "SET GLOBAL innodb_flush_log_at_trx_commit = 1;", "SET GLOBAL sync_binlog = 100;",
    ]  # fmt: skip
    # The operating system has all of it: a crash of the server alone loses nothing.
    assert [(it["crash"], it["window_s"]) for it in found["price"]] == [("power", None)]
    assert found["risk"] == "a power cut, or a crash of the operating system, may lose acknowledged commits"
    assert found["tier_after"] == "os"


def test_a_pause_is_one_of_the_binary_log() -> None:
    mysql = watched("mysql", {}, engine={"name": "mysql", "binlog": True})
    found = mysql.changed("commit_delay_us", "134", None)
    assert found["parameters"] == [
        "binlog_group_commit_sync_delay", "binlog_group_commit_sync_no_delay_count",
    ]  # fmt: skip
    assert found["ways"][0]["undo"] == []
    without = watched("mariadb", INNODB | {"log_bin": "OFF"})
    assert without.changed("commit_delay_us", "134", None)["ways"] == []
    assert without.changed("commit_wait", "nowait", None)["parameters"] == ["innodb_flush_log_at_trx_commit"]
    assert not without.can("commit_delay_us", "1")


def test_oracle_says_it_in_its_own_words_and_has_no_delay() -> None:
    today = watched("oracle", {"cpu_count": "8", "commit_wait": "WAIT", "commit_logging": "BATCH"})
    found = nowait(today)
    session, each = found["ways"]
    assert session["set"] == ["ALTER SESSION SET COMMIT_WAIT = 'NOWAIT' COMMIT_LOGGING = 'IMMEDIATE';"]
    assert session["undo"] == ["ALTER SESSION SET COMMIT_WAIT = 'WAIT' COMMIT_LOGGING = 'BATCH';"]
    assert each["set"] == ["COMMIT WRITE NOWAIT IMMEDIATE;"]
    assert all("Oracle documents no limit" in it["unknown"] for it in found["price"])
    assert not today.can("commit_delay_us", "1")
    assert today.can("commit_wait", "nowait")
    assert today.can("sessions", "4")


def test_the_last_report_knows_what_a_session_begins_with() -> None:
    entries = pa.Table.from_pylist(
        [
            {"sample": sample, "section": "parameter", "name": name, "text": text}
            for sample, name, text in (
                (1, "commit_wait", "FORCE_WAIT"), (2, "commit_wait", "WAIT"), (2, "commit_logging", "BATCH"),
            )
        ]
    )  # fmt: skip
    manifest = {
        "record": "report",
        "settings": [{"name": "DB", "levels": {}, "tier": "", "parameters": {}}],
        "engine": {"name": "oracle"},
    }
    samples = pa.Table.from_pylist([{"sample": 1, "setting": "DB"}, {"sample": 2, "setting": "DB"}])
    session, _ = nowait(today_of(manifest, entries=entries, samples=samples))["ways"]
    assert session["undo"] == ["ALTER SESSION SET COMMIT_WAIT = 'WAIT' COMMIT_LOGGING = 'BATCH';"]
    unlisted = today_of(manifest, entries=entries.slice(0, 1), samples=samples)
    session, _ = nowait(unlisted)["ways"]
    assert session["undo"] == ["ALTER SESSION SET COMMIT_WAIT = 'WAIT' COMMIT_LOGGING = 'IMMEDIATE';"]
    assert len(session["look"]) == 1


def test_a_run_undoes_to_what_was_before_it_not_to_one_of_its_settings() -> None:
    costs = make_calibrated(replicates=1)
    manifest = {
        "status": "finished",
        "design": {"baseline": TODAY},
        "engine": {"name": "postgresql", "wal_writer_delay": "200ms"},
        "settings": [
            {"name": name, "levels": {}, "tier": "disk", "parameters": {"synchronous_commit": value}}
            for name, value in ((TODAY, "on"), ("other", "off"))
        ],
        "parameters_before": [{"parameter": "synchronous_commit", "value": "off", "altered": True}],
    }
    run: Any = SimpleNamespace(manifest=manifest)
    found = Today.of(run, costs).changed("commit_wait", "nowait", None)
    assert found["ways"][0]["undo"][0] == "ALTER SYSTEM SET synchronous_commit = off;"
    assert found["as_before"] == ["synchronous_commit"]

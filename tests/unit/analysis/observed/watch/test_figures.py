"""The figures of a watched run, worked out by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from redolab.analysis.observed.watch.answer import analyse
from redolab.errors import UsageError
from redolab.experiment import answers
from redolab.records.watched import Watched
from tests.unit.watched import Kind, Seen, busy_days, steady, watched_run, without


def figures(results: dict[str, Any]) -> dict[str, Any]:
    return {key: value["point"] for key, value in results["settings"][0]["figures"].items()}


def test_figures_are_those_worked_out_by_hand(tmp_path: Path) -> None:
    # 500 commits a second for 60 s: 30,000 commits of 0.2 ms of CPU, 0.05 ms of run queue, 4 ms of log sync
    # and 0.1 ms of something else; 1 + 500 / 500 = 2 of them share a flush of 2 ms.
    found = figures(analyse(watched_run(tmp_path / "run", steady())))
    expected = {
        "arrival_rate_per_s": 500,
        "service_time_s": 2e-4 + 0.1 / 500,  # the background took a tenth of a CPU
        "queue_time_s": 0.05e-3 + 4e-3 + 0.1e-3,
        "response_time_s": 0.4e-3 + 4.15e-3,
        "session_response_time_s": 4.35e-3,
        "busy_sessions": 500 * 4.35e-3,
        "connected_sessions": 20,
        "log_sync_share": 4 / 4.35,
        "log_sync_per_commit_s": 4e-3,
        "commits_per_flush": 2,
        "time_per_flush_s": 2e-3,
        "time_per_write_s": 1e-4,
        "log_flushes_per_s": 250,
        "log_utilization": 0.5,
        "rows_per_commit": 3,
        "log_bytes_per_commit": 600,
        "run_queue_share": 0.05 / 4.35,
        "cpu_utilization_cores": (500 * 2e-4 + 0.1) / 2,
        "cpu_utilization_threads": (500 * 2e-4 + 0.1) / 4,
        "host_utilization_cores": (500 * 2e-4 + 0.5) / 2,
        "host_utilization_threads": (500 * 2e-4 + 0.5) / 4,
        "steal_share": 0.01 / 4,
    }
    for key, value in expected.items():
        assert found[key] == pytest.approx(value), key
    assert found["time_per_binlog_flush_s"] is None


def test_what_replication_commits_is_in_no_figure_of_sessions(tmp_path: Path) -> None:
    """Sessions that wait for their clients while a replica replays would commit in no time at all."""
    run = watched_run(tmp_path / "run", steady(), change=lambda watched: replace(watched, replayers=2))
    results = analyse(run)
    found, missing = figures(results), results["settings"][0]["missing"]
    for key in (
        "queue_time_s",
        "response_time_s",
        "session_response_time_s",
        "log_sync_per_commit_s",
        "servers",
    ):
        assert found[key] is None
        assert "replication commits on this server too" in missing[key]
    whole = figures(analyse(watched_run(tmp_path / "other", steady())))
    for key in (
        "arrival_rate_per_s",
        "service_time_s",
        "commits_per_flush",
        "busy_sessions",
        "log_sync_share",
    ):
        assert found[key] == whole[key] is not None


def test_a_watch_from_before_replication_was_told_apart_keeps_its_figures(tmp_path: Path) -> None:
    run = watched_run(tmp_path / "run", steady())
    before = figures(analyse(run))
    older = replace(run, samples=run.samples.drop_columns(["replayers"]))
    assert figures(analyse(older)) == before
    assert before["session_response_time_s"] is not None


def test_m_is_that_at_which_the_published_curve_passes_through_the_means(tmp_path: Path) -> None:
    found = figures(analyse(watched_run(tmp_path / "run", steady())))
    service, rate, servers = (found[key] for key in ("service_time_s", "arrival_rate_per_s", "servers"))
    response = service / (1 - (service * rate / servers) ** servers)
    assert response == pytest.approx(found["response_time_s"])


def test_a_mean_is_weighted_by_time_and_by_work(tmp_path: Path) -> None:
    # 10 s with 1,000 commits a second and 30 s with 200: 16,000 commits in 40 s.
    stretches = [Seen(0, 1, 1000, 1e-3, 10), Seen(10, 1, 200, 3e-3, 30)]
    found = figures(analyse(watched_run(tmp_path / "run", stretches)))
    assert found["arrival_rate_per_s"] == pytest.approx(400)
    assert found["log_sync_per_commit_s"] == pytest.approx((10_000 * 2e-3 + 6_000 * 6e-3) / 16_000)


def test_few_stretches_have_no_interval_and_many_have_one(tmp_path: Path) -> None:
    few = analyse(watched_run(tmp_path / "few", busy_days(stretch_s=600)[:3]))
    assert few["settings"][0]["figures"]["arrival_rate_per_s"]["low"] is None
    many = analyse(watched_run(tmp_path / "many"))
    rate = many["settings"][0]["figures"]["arrival_rate_per_s"]
    assert rate["low"] < rate["point"] < rate["high"]


def test_a_part_of_a_whole_is_never_more_than_the_whole(tmp_path: Path) -> None:
    # Four stretches of which one had next to no log sync: the interval is wide, and ends below all.
    flushes = (4e-3, 4e-3, 4e-3, 1e-6)
    stretches = [Seen(60 * at, 1, 500, flush) for at, flush in enumerate(flushes)]
    results = analyse(watched_run(tmp_path / "run", stretches))
    share = results["settings"][0]["figures"]["log_sync_share"]
    assert 0 < share["low"] < share["point"] < share["high"] < 1
    rows = [row["share"] for row in results["all_sessions"]["profile"]]
    assert all(0 <= row["low"] <= row["point"] <= row["high"] < 1 for row in rows)


def test_spoiled_stretches_count_for_nothing_and_are_named(tmp_path: Path) -> None:
    broken = [replace(seen, spoiled="counters went backwards") for seen in steady(50)[40:]]
    results = analyse(
        watched_run(tmp_path / "run", [*steady(40), *(replace(seen, rate_per_s=9) for seen in broken)])
    )
    assert results["settings"][0]["figures"]["arrival_rate_per_s"]["point"] == pytest.approx(500)
    assert results["watched"]["stretches"] == 40
    assert results["watched"]["spoiled"] == 10
    assert "10 stretches do not count: counters went backwards." in results["warnings"]
    (table,) = [item for item in results["tables"] if item["key"] == "spoiled"]
    assert len(table["rows"]) == 10


def test_a_gap_between_two_starts_is_told(tmp_path: Path) -> None:
    second = [replace(seen, start=2, at_s=seen.at_s + 3 * 3600) for seen in steady(5)]
    results = analyse(watched_run(tmp_path / "run", [*steady(5), *second]))
    assert results["watched"]["starts"] == 2
    assert results["watched"]["missed_s"] == pytest.approx(3 * 3600 - 300)
    (gap,) = next(item for item in results["tables"] if item["key"] == "gaps")["rows"]
    assert gap["minutes"] == pytest.approx(175)
    assert gap["why"] == "Redolab was not watching"
    starts = next(item for item in results["tables"] if item["key"] == "starts")
    assert [row["counted"] for row in starts["rows"]] == ["5 min", "5 min"]
    assert starts["note"] == "Between the first and the last stretch 2 h 55 min were not watched."


@pytest.mark.parametrize(("stretches", "unit", "last"), [(10, "min", 9), (200, "h", 199 / 60)])
def test_time_counts_in_minutes_where_the_watch_is_short(
    stretches: int, unit: str, last: float, tmp_path: Path
) -> None:
    results = analyse(watched_run(tmp_path / "run", steady(stretches)))
    drawn = next(item for item in results["figures"] if item["key"] == "use")
    assert drawn["x"]["unit"] == unit
    assert [drawn["series"][0]["x"][place] for place in (0, -1)] == pytest.approx([0, last])


@pytest.mark.parametrize(
    ("kind", "key", "why"),
    [
        ("mariadb", "time_per_flush_s", "did not time its flushes"),
        ("postgresql", "time_per_binlog_flush_s", "no binary log"),
        ("remote", "service_time_s", "another machine"),
        ("remote", "servers", "another machine"),
        ("remote", "host_utilization_cores", "CPU time could not be read"),
    ],
)
def test_what_is_not_known_says_why(tmp_path: Path, kind: Kind, key: str, why: str) -> None:
    results = analyse(watched_run(tmp_path / "run", steady(), kind))
    assert figures(results)[key] is None
    assert why in results["settings"][0]["missing"][key]
    assert any(why in str(row["why"]) for row in _table(results, "missing")["rows"])


def test_what_one_stretch_does_not_know_leaves_that_stretch_out_alone(tmp_path: Path) -> None:
    def change(watched: Watched) -> Watched:
        return replace(watched, log_flushes=None) if watched.sample <= 10 else watched

    stretches = [replace(seen, rate_per_s=100) for seen in steady(10)] + steady(40)[10:]
    found = figures(analyse(watched_run(tmp_path / "run", stretches, change=change)))
    assert found["commits_per_flush"] == pytest.approx(2)
    assert found["arrival_rate_per_s"] == pytest.approx((10 * 100 + 30 * 500) / 40)


def test_a_server_that_counts_nothing_still_has_its_account_of_time(tmp_path: Path) -> None:
    results = analyse(watched_run(tmp_path / "run", steady(), change=without("transactions")))
    assert figures(results)["response_time_s"] is None
    assert figures(results)["log_sync_share"] == pytest.approx(4 / 4.35)
    assert results["settings"][0]["profile"] == []
    assert _table(results, "account-sessions")["first"] is True
    assert all(row["per_commit_ms"] is None for row in _table(results, "account-sessions")["rows"])


def test_the_account_adds_up_and_its_bounds_are_amdahls(tmp_path: Path) -> None:
    results = answers.analyse(watched_run(tmp_path / "run", steady()))
    rows = results["all_sessions"]["profile"]
    assert [row["row"] for row in rows[:2]] == ["on_cpu", "run_queue"]
    assert math.fsum(row["share"]["point"] for row in rows) == pytest.approx(1)
    assert results["all_sessions"]["busy_s"] == pytest.approx(40 * 30_000 * 4.35e-3)
    per_commit = math.fsum(row["per_unit_ms"]["point"] for row in results["settings"][0]["profile"])
    assert per_commit == pytest.approx(4.35)
    assert results["settings"][0]["response_time_ms"]["point"] == pytest.approx(4.35)
    log = next(item for item in results["advice"]["bounds"] if item["kind"] == "log")
    assert log["most"]["point"] == pytest.approx(1 / (1 - 4 / 4.35))


def test_waits_are_merged_bucket_by_bucket(tmp_path: Path) -> None:
    results = analyse(watched_run(tmp_path / "run", steady()))
    rows = {row["below_ms"]: row for row in _table(results, "log-waits")["rows"]}
    assert rows[2.0]["sync"]["point"] == pytest.approx(0.3)
    assert rows[2.0]["write"]["point"] == pytest.approx(0.92)
    assert (
        "92.0 % of log writes and 30.0 % of log syncs finished within 2.00 ms." in results["verdict"]["text"]
    )


def test_hours_and_days_stand_apart(tmp_path: Path) -> None:
    results = analyse(watched_run(tmp_path / "run"))
    hours, days = _table(results, "hours"), _table(results, "days")
    assert len(hours["rows"]) == 24
    assert [row["group"] for row in days["rows"]] == [
        "Monday, 23 November 2026",
        "Tuesday, 24 November 2026",
        "Wednesday, 25 November 2026",
    ]
    assert sum(row["stretches"] for row in days["rows"]) == results["watched"]["stretches"]
    assert days["rows"][0]["stretches"] == 12 - 3  # two hours of ten minutes, three of them spoiled


def test_figures_show_the_load_the_use_and_the_log(tmp_path: Path) -> None:
    results = analyse(watched_run(tmp_path / "run"))
    drawn = {item["key"]: item for item in results["figures"]}
    assert set(drawn) == {"curve", "use", "sharing", "log-times", "log-waits"}
    assert [item["name"] for item in drawn["curve"]["series"]] == ["watched", "published curve"]
    assert [item["name"] for item in drawn["use"]["series"]] == [
        "database, of cores",
        "database, of threads",
        "machine, of cores",
        "machine, of threads",
    ]
    # The line is broken where Redolab was not watching.
    assert drawn["use"]["series"][0]["y"].count(None) == 1


def test_without_cpu_load_is_shown_against_the_sessions_r(tmp_path: Path) -> None:
    results = analyse(watched_run(tmp_path / "run", busy_days(stretch_s=1800), "remote"))
    curve = next(item for item in results["figures"] if item["key"] == "curve")
    assert [item["name"] for item in curve["series"]] == ["watched"]
    assert "busy time of sessions alone" in curve["caption"]
    assert _table(results, "hours")["rows"][0]["response"]["point"] > 0


def test_many_stretches_make_few_points(tmp_path: Path) -> None:
    results = analyse(watched_run(tmp_path / "run", busy_days(stretch_s=120)))
    curve = next(item for item in results["figures"] if item["key"] == "curve")
    assert 200 < len(curve["series"][0]["x"]) <= 400


def test_the_object_is_json_and_the_same_every_time(tmp_path: Path) -> None:
    run = watched_run(tmp_path / "run")
    first = json.dumps(answers.analyse(run), allow_nan=False)
    assert json.dumps(answers.analyse(run), allow_nan=False) == first


def test_a_run_without_a_stretch_that_counts_is_refused(tmp_path: Path) -> None:
    broken = [replace(seen, spoiled="the server was gone") for seen in steady(3)]
    with pytest.raises(UsageError, match="no figure can be computed: the server was gone"):
        analyse(watched_run(tmp_path / "run", broken))


def test_a_time_that_is_none_is_refused_in_words(tmp_path: Path) -> None:
    run = watched_run(tmp_path / "run", steady(3), change=lambda item: replace(item, started_at="noon"))
    with pytest.raises(UsageError, match="'noon', which is not a time"):
        analyse(run)


def _table(results: dict[str, Any], key: str) -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in results["tables"] if item["key"] == key)
    return found

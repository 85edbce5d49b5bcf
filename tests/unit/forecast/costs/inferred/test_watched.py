"""Costs from a watched run: what its stretches say, what they lack, and how sure that makes a forecast."""

from __future__ import annotations

import functools
import math
import random
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from redolab.forecast.advice import advice
from redolab.forecast.asked import changed
from redolab.forecast.costs.costs import Scenario
from redolab.forecast.costs.inferred.fit import with_flush, with_server_cpu
from redolab.forecast.costs.inferred.priors import quantiles_of
from redolab.forecast.costs.of_run import costs_of
from redolab.forecast.costs.run_costs import REPLICATES, NoCostsError, RunCosts
from redolab.forecast.models.scenario_forecast import compare, forecast, forecast_with_replicates, predict
from redolab.forecast.track_record import shipped_record
from redolab.records.report import Entry
from redolab.records.run import Run
from redolab.records.schema import schema
from redolab.records.watched import LOG_WRITE, SETTING, Watched

COMMITS, SECONDS, SESSIONS = 12_000, 10.0, 8
FLUSH_S = 3.2e-3
MEANS = ("throughput_per_s", "response_time_ms", "commit_time_ms")
"""Of a percentile the simulation's own noise is as wide as what this compares."""
POSTGRES = {"name": "postgresql", "version": "18.1", "place": "here", "local": True}
MARIADB = {"name": "mariadb", "version": "10.11", "place": "here", "local": True, "binlog": True}


def stretch(number: int, **known: Any) -> Watched:
    """Ten seconds of 8 sessions that commit single rows through a log of 3.2 ms; from stretch to stretch a
    little apart.
    """
    commits = round(COMMITS * random.Random(number).uniform(0.97, 1.03))
    values: dict[str, Any] = {item.name: None for item in fields(Watched)}
    values |= {
        "sample": number, "block": 1, "position": number, "setting": SETTING,
        "started_at": "2026-11-26T03:00:00Z", "start_s": SECONDS * number, "elapsed_s": SECONDS,
        "connected_s": 9 * SECONDS, "busy_s": 0.9 * SESSIONS * SECONDS, "client_in_transaction_s": 0.0,
        "worked_sessions": SESSIONS, "session_cpu_s": commits * 90e-6, "session_run_queue_s": 0.1,
        "log_sync_s": 0.8 * SESSIONS * SECONDS, "instance_cpu_s": commits * 95e-6, "host_cpus": 2,
        "host_busy_s": commits * 160e-6, "host_steal_s": 0.0, "transactions": commits,
        "rows_written": commits,
        "log_flushes": commits // 4, "log_flush_time_s": commits / 4 * FLUSH_S, "log_writes": commits // 4,
        "log_write_time_s": 0.0, "log_bytes": 250 * commits, "binlog_flushes": 0, "binlog_flush_time_s": 0.0,
        "ticks": 1000, "looks": 9000, "sampler_cpu_s": 0.05,
    }  # fmt: skip
    return Watched(**(values | known))


def run_of(
    stretches: list[Watched],
    engine: dict[str, Any] = POSTGRES,
    entries: list[Entry] | None = None,
    parameters: dict[str, str] | None = None,
) -> Run:
    empty = pa.table({})
    manifest = {
        "experiment": "watch",
        "record": "watched",
        "unit": "commit",
        "design": {"baseline": SETTING, "blocks": 1, "seed": 0, "margin": 0.0},
        "settings": [{"name": SETTING, "levels": {}, "tier": "", "parameters": parameters or {}}],
        "load": {},
        "engine": engine,
        "machine": {"cpus": 2, "disk_queues": 1},
    }
    samples = pa.Table.from_pylist([asdict(item) for item in stretches], schema(Watched))
    listed = pa.Table.from_pylist([asdict(item) for item in entries or []], schema(Entry))
    return Run(Path("watched"), manifest, samples, empty, empty, empty, empty, listed)


def six(**known: Any) -> list[Watched]:
    return [stretch(number, **known) for number in range(1, 7)]


@functools.cache
def as_usual() -> RunCosts:
    return costs_of(run_of(six()))


def test_what_was_seen_is_todays_setting() -> None:
    found = as_usual()
    today = found.measured[found.today]
    assert (found.today, today.scenario.sessions, today.scenario.rows_per_commit) == (SETTING, 8, 1)
    assert today.scenario.commit_wait == "wait"
    assert today.quantities["throughput_per_s"].point == pytest.approx(1200, rel=0.03)
    assert today.quantities["throughput_per_s"].low is not None
    assert today.quantities["commits_per_flush"].point == pytest.approx(4, rel=0.01)
    assert len(found.replicates) == REPLICATES
    assert found.point.only_seen
    assert found.point.cpus == 2
    assert not found.point.prior_holds


FLUSHES = ("log_flushes", "log_flush_time_s", "log_writes", "log_write_time_s")
OTHERS = ("log_sync_s", "log_bytes", "rows_written", "host_busy_s", "connected_s", "worked_sessions")


@pytest.mark.parametrize("lacking", [1, 3, 5])
@pytest.mark.parametrize("names", [FLUSHES, OTHERS, (*FLUSHES, *OTHERS)], ids=["flushes", "others", "all"])
def test_what_some_stretches_lack_is_taken_from_those_that_have_it(
    names: tuple[str, ...], lacking: int
) -> None:
    """With 3 of 6 stretches commits per flush doubled, with 5 of 6 the server counted as nowait."""
    whole = as_usual()
    lack: dict[str, Any] = dict.fromkeys(names)
    some = costs_of(run_of([replace(it, **lack) if it.sample <= lacking else it for it in six()]))
    of_whole, of_some = (it.measured[it.today] for it in (whole, some))
    think_ms = of_some.scenario.think_time_ms
    assert of_some.scenario == replace(of_whole.scenario, think_time_ms=think_ms)
    assert think_ms == pytest.approx(of_whole.scenario.think_time_ms, rel=0.1)
    for name, value in of_whole.quantities.items():
        assert of_some.quantities[name].point == pytest.approx(value.point, rel=0.03), name
    assert some.point.flush_mean_s == pytest.approx(whole.point.flush_mean_s, rel=0.03)


def test_every_assumption_is_a_sentence_of_the_forecast() -> None:
    found = as_usual()
    results = forecast(found, Scenario(16), ())
    assert set(found.cautions) <= set(results["warnings"])
    text = " ".join(results["warnings"])
    for words in (
        "No cost was measured by itself",
        "by the server's clock",
        "attributed to them",
        "by Little's law",
    ):
        assert words in text or "at once" in text, words
    assert results["family"] == "single rows (PostgreSQL as it was seen, one log)"
    assert all(item["verified"] == 0 for item in results["asked"]["forecast"].values())


def test_the_same_run_gives_the_same_forecast() -> None:
    assert costs_of(run_of(six())) == as_usual()


def from_a_run(seen: RunCosts) -> RunCosts:
    """The same costs as if a run had measured them, to some 1 %."""
    rng = random.Random(1)
    point = replace(seen.point, only_seen=False, system="")
    again = tuple(
        with_flush(with_server_cpu(point, rng.gauss(1, 0.01)), point.flush_mean_s * rng.gauss(1, 0.01))
        for _ in range(REPLICATES)
    )
    return RunCosts(point, again, seen.measured, seen.today)


@pytest.mark.parametrize(
    "change",
    [
        {"sessions": 16},
        {"sessions": 4},
        {"rows_per_commit": 8},
        {"commit_wait": "nowait"},
        {"log_device_ms": 1.6},
        {"log_device_ms": 9.6},
        {"cpus": 4.0},
        {"cpu_factor": 0.5},
        {"think_time_ms": 5.0},
        {"arrival_rate_per_s": 500.0},
    ],
)
def test_no_forecast_is_narrower_than_one_from_a_run(change: dict[str, Any]) -> None:
    record = shipped_record()[0]
    seen = as_usual()
    measured = from_a_run(seen)
    widths = []
    for calibrated in (seen, measured):
        now = calibrated.measured[calibrated.today].scenario
        asked = forecast_with_replicates(calibrated, changed(now, change))
        said = predict(asked, record)
        ratios = compare(forecast_with_replicates(calibrated, now), asked, record)
        every = {**{name: said[name] for name in MEANS}, **{f"{name}, ratio": ratios[name] for name in MEANS}}
        widths.append({name: value.high / value.low for name, value in every.items()})
    mine, theirs = widths
    # Where both have the width that the record gives, they differ by the simulation's own last digits.
    narrower = {name: (mine[name], theirs[name]) for name in mine if mine[name] < (1 - 1e-3) * theirs[name]}
    assert narrower == {}


def test_two_logs_that_the_server_does_not_time() -> None:
    known = {"log_flush_time_s": None, "log_write_time_s": None, "binlog_flush_time_s": None}
    stretches = [replace(item, binlog_flushes=(item.transactions or 0) // 4) for item in six(**known)]
    found = costs_of(run_of(stretches, MARIADB))
    assert found.point.second is not None
    assert found.point.handed_on
    assert any("was not measured" in text for text in found.cautions)
    assert any("one device" in text for text in found.cautions)
    results = forecast(found, Scenario(8, log_device_ms=0.4), ())
    assert results["asked"]["compared_with_today"]["throughput_per_s"]["point"] > 1.5


def test_commits_that_do_not_wait_are_told_from_those_that_do() -> None:
    many = [replace(item, log_flushes=(item.transactions or 0) // 100, log_sync_s=0.0) for item in six()]
    found = costs_of(run_of(many))
    assert found.measured[found.today].scenario.commit_wait == "nowait"
    # The parameter says so too, where the server has two logs.
    known = {"log_flush_time_s": None, "log_write_time_s": None, "binlog_flush_time_s": None}
    stretches = [replace(item, binlog_flushes=3_000) for item in six(**known)]
    found = costs_of(run_of(stretches, MARIADB, parameters={"innodb_flush_log_at_trx_commit": "2"}))
    assert found.measured[found.today].scenario.commit_wait == "binlog"


def test_flushes_seen_one_by_one_give_their_shape() -> None:
    entries = [
        Entry(number, LOG_WRITE, name, "waits", count, None, None, None)
        for number in range(1, 7)
        for name, count in (("1", 30.0), ("2", 20.0), ("4", 10.0), ("inf", 1.0))
    ]
    plain, shaped = as_usual(), costs_of(run_of(six(), entries=entries))
    assert any("distributed as observed" in text for text in shaped.cautions)
    assert shaped.point.flush_mean_s == pytest.approx(plain.point.flush_mean_s, rel=0.15)
    assert max(shaped.point.flush_s) / min(shaped.point.flush_s) > 4


def test_buckets_become_quantiles() -> None:
    found = quantiles_of({1.0: 50, 2.0: 50})
    assert found[0] == pytest.approx(0.5e-3)
    assert found[len(found) // 2] == pytest.approx(1e-3)
    assert found[-1] == pytest.approx(2e-3)
    assert list(found) == sorted(found)


@pytest.mark.parametrize(
    ("known", "missing"),
    [
        ({"session_cpu_s": None, "instance_cpu_s": None}, "the CPU time of the server's sessions"),
        ({"busy_s": None}, "the busy time of sessions"),
        ({"worked_sessions": None}, "the number of working sessions"),
        ({"host_cpus": None}, "the number of CPUs of the machine"),
        ({"transactions": None}, "saw no transaction that wrote"),
        ({"transactions": 0}, "saw no transaction that wrote"),
        ({"spoiled": "the server restarted"}, "saw no transaction that wrote"),
        ({"session_cpu_s": 0.0}, "above zero"),
        ({"session_cpu_s": math.nan, "instance_cpu_s": None}, "the CPU time of the server's sessions"),
        (
            {"busy_s": 1e300, "worked_sessions": 10**9, "connected_s": 1e12},
            r"sessions \(1 to 4,096 can be forecast\)",
        ),
        ({"host_cpus": 10**6}, "1,000,000 CPUs"),
        ({"rows_written": 10**12}, r"rows per commit \(1 to"),
    ],
)
def test_a_watch_that_lacks_something_is_refused_by_name(known: dict[str, Any], missing: str) -> None:
    with pytest.raises(NoCostsError, match=missing):
        costs_of(run_of(six(**known)))


def test_a_stretch_that_does_not_count_is_left_out() -> None:
    spoiled = [*six(), replace(stretch(7), spoiled="the connection was lost", transactions=10**9)]
    assert costs_of(run_of(spoiled)).point == as_usual().point


def test_advice_from_a_watched_run_is_ranked_and_keeps_the_bounds() -> None:
    bound = {
        "name": "log",
        "share": {"point": 0.8},
        "rows": ["log sync"],
        "text": "without the log",
        "most": {},
    }
    found = advice.of_seen(run_of(six()), {"bounds": [bound]})
    assert found["bounds"] == [bound]
    assert found["why_no_forecast"] is None
    assert {"rows_per_commit", "sessions", "commit_wait", "log_device", "cpus"} <= {
        item["factor"] for item in found["changes"]
    }
    assert {item["measure"] for item in found["changes"]} == {"redolab run calibrate --engine URL"}
    assert found["lines"]
    lost = next(item for item in found["changes"] if item["factor"] == "commit_wait")
    assert (lost["tier_before"], lost["tier_after"], lost["durability"]) == ("disk", "memory", "lost")
    assert all(item["extrapolated"] for item in found["changes"])


def test_advice_says_why_there_is_no_forecast() -> None:
    found = advice.of_seen(run_of(six(busy_s=None)), None)
    assert found["changes"] == []
    assert "the busy time of sessions" in found["why_no_forecast"]


def test_a_server_of_oracles_can_be_measured_and_its_sessions_changed() -> None:
    oracle = {"name": "oracle", "version": "19.3", "place": "here", "local": False}
    found = advice.of_seen(run_of(six(log_write_time_s=None), oracle), None)
    assert "sessions" in {item["factor"] for item in found["changes"]}
    assert {item["measure"] for item in found["changes"]} == {"redolab run calibrate --engine URL"}
    assert "report" not in " ".join(found["not_forecast"])


def of_share(share: float | None) -> dict[str, Any]:
    """As much of a results object as says what commits waited for."""
    return {"settings": [{"name": SETTING, "figures": {"log_sync_share": {"point": share}}}]}


def test_commits_that_are_not_the_matter_are_not_changed() -> None:
    found = advice.of_seen(run_of(six()), None, of_share(0.04))
    assert {item["factor"] for item in found["changes"]} == {"sessions", "cpus"}
    assert "waiting for the log is only 4.0 % of the sessions' busy time" in " ".join(found["not_forecast"])
    # Where the server does not tell waits apart, the forecast says what it assumes.
    for share in (0.8, None):
        assert len(advice.of_seen(run_of(six()), None, of_share(share))["changes"]) > 6


def test_rows_that_were_not_counted_are_not_changed() -> None:
    found = advice.of_seen(run_of(six(rows_written=None)), None)
    assert "rows_per_commit" not in {item["factor"] for item in found["changes"]}
    assert any(text.startswith("Rows per commit: the rows of") for text in found["not_forecast"])


def test_a_time_of_writes_that_some_stretches_lack_is_not_taken_for_none() -> None:
    def writing(number: int, known: bool) -> Watched:
        item = stretch(number)
        return replace(item, log_write_time_s=0.5 * (item.log_flush_time_s or 0.0) if known else None)

    whole = costs_of(run_of([writing(number, known=True) for number in range(1, 7)]))
    some = costs_of(run_of([writing(number, known=number > 3) for number in range(1, 7)]))
    assert whole.point.flush_mean_s > 1.3 * as_usual().point.flush_mean_s
    assert some.point.flush_mean_s == pytest.approx(whole.point.flush_mean_s, rel=0.03)

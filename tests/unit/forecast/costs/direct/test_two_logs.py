"""Costs read from runs of MariaDB and MySQL, made up, whose commits wait for redo log and binary log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from redolab._core import GroupCommitParameters
from redolab.errors import UsageError
from redolab.experiment.calibrate.tables import tables
from redolab.forecast.costs.costs import LEAST_S, Scenario, parameters
from redolab.forecast.costs.direct import calibrating, settings
from redolab.forecast.costs.direct.calibrating import calibrate
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models.quantities import simulation
from redolab.forecast.models.scenario_forecast import UNVERIFIED, forecast, predict
from redolab.forecast.models.scenario_forecast import forecast_with_replicates as ahead
from redolab.forecast.track_record import PRIOR, family_of, without_system
from redolab.model.distribution import constant
from redolab.model.group_commit import SecondLog, simulate
from redolab.model.group_commit_approximation import approximate
from redolab.records.run import Run
from redolab.records.sample import Sample
from tests.forecasts import make_scores

US = 1e-6
COMMITS = 1_000
SERVER, CLIENT, EXIT, FLUSH_CPU = 100 * US, 20 * US, 60 * US, 15 * US
REDO, BINLOG = 5_000 * US, 2_000 * US
BUSY = 32
Given = Callable[..., RunCosts]


def sample(number: int, setting: str, sessions: int, **known: float | None) -> Sample:
    values: dict[str, Any] = {field.name: None for field in fields(Sample)}
    values |= {
        "sample": number, "block": 1, "position": 1, "setting": setting, "role": "treatment",
        "sessions": sessions, "commits": COMMITS, "rows": COMMITS, "elapsed_s": 1.0, "failed": 0,
        "session_elapsed_s": float(sessions), "ticks": 0, "client_cpu_s": COMMITS * CLIENT,
        "session_cpu_s": COMMITS * SERVER, "log_flushes": 1, "binlog_flushes": 0,
    }  # fmt: skip
    return Sample(**(values | known))


def samples(timed: Sequence[str] = ()) -> list[Sample]:
    """A lone session and several, waiting for both logs or for none; flushes are timed in columns `timed`."""
    alone = SERVER + CLIENT + EXIT

    def times(flushes: float) -> dict[str, float]:
        known = {"log_flush_time_s": REDO, "binlog_flush_time_s": BINLOG}
        return {name: COMMITS * flushes * (FLUSH_CPU + known[name]) for name in timed}

    return [
        sample(
            1, "1/1/wait", 1, log_flushes=COMMITS, binlog_flushes=COMMITS, **times(1.0),
            session_cpu_s=COMMITS * (SERVER + 2 * FLUSH_CPU),
            session_elapsed_s=COMMITS * (alone + 2 * FLUSH_CPU + REDO + BINLOG),
        ),
        sample(
            2, f"{BUSY}/1/wait", BUSY, log_flushes=COMMITS // 4, binlog_flushes=COMMITS // 5, **times(0.2),
            session_cpu_s=COMMITS * (SERVER + 80 * US),
        ),
        sample(3, "1/1/nowait", 1, session_elapsed_s=COMMITS * alone),
        sample(4, f"{BUSY}/1/nowait", BUSY),
    ]  # fmt: skip


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Given:
    """Calibrate on these samples of such a server, without a stored run."""

    def of(found: list[Sample], name: str = "mariadb", **engine: Any) -> RunCosts:
        monkeypatch.setattr(settings, "read_samples", lambda run: found)  # noqa: ARG005
        monkeypatch.setattr(calibrating, "read_latency", lambda run, kind="commit": {})  # noqa: ARG005
        factors = ("sessions", "rows_per_commit", "commit_wait")
        run = SimpleNamespace(
            path=Path("a-run"),
            manifest={
                "record": "sample", "unit": "commit", "experiment": "calibrate", "machine": {"cpus": 2},
                "design": {"seed": 1, "baseline": f"{BUSY}/1/wait"},
                "load": {"loop": "client", "sessions": BUSY},
                "engine": {"name": name, "binlog": True} | engine,
                "settings": [
                    {"name": item.setting, "levels": dict(zip(factors, item.setting.split("/"), strict=True))}
                    for item in found
                ],
            },
        )  # fmt: skip
        return calibrate(cast("Run", run))

    return of


def devices(calibrated: RunCosts) -> list[float]:
    """Mean time of a flush of each log."""
    second = calibrated.point.second
    assert second is not None
    return [calibrated.point.flush_mean_s, second.flush_mean_s]


def test_what_commits_take_longer_than_those_that_wait_for_nothing_are_their_flushes(given: Given) -> None:
    calibrated = given(samples())
    # Evenly, where nobody says how they differ.
    assert devices(calibrated) == pytest.approx([(REDO + BINLOG) / 2] * 2)
    assert calibrated.point.flush_cpu_s == pytest.approx(FLUSH_CPU)
    assert calibrated.point.cold_s == 0.0
    assert calibrated.point.system == "MariaDB, client, two logs"
    divided, one_device = calibrated.cautions
    assert "does not time the flushes of the redo log and the binary log" in divided
    assert "divided evenly" in divided
    assert "one device" in one_device
    names = [row["cost"] for row in tables(calibrated)[0].rows]
    assert "flush of the binary log: device" in names


def test_the_emulated_devices_say_how_that_time_is_divided(given: Given) -> None:
    apart = given(samples(), emulated={"log_device_ms": 5.0, "binlog_device_ms": 2.0})
    cpu_s = 2 * FLUSH_CPU
    both_s = REDO + BINLOG + cpu_s
    assert devices(apart) == pytest.approx([both_s * part - FLUSH_CPU for part in (5 / 7, 2 / 7)])
    assert apart.point.second is not None
    assert apart.point.second.own_device
    assert [text for text in apart.cautions if "in proportion to the emulated devices' times" in text]
    shared = given(samples(), emulated={"log_device_ms": 3.5})
    assert devices(shared) == pytest.approx([(REDO + BINLOG) / 2] * 2)
    assert shared.point.second is not None
    assert not shared.point.second.own_device
    assert len(shared.cautions) == 1


def test_an_emulated_device_is_done_before_its_process_is_there(given: Given) -> None:
    found = samples()
    # The devices were asked for less than what the commits took longer.
    asked_s = COMMITS * (REDO + BINLOG - 700 * US)
    found[0] = replace(found[0], device_requested_s=asked_s)
    point = given(found, emulated={"log_device_ms": 3.5}).point
    assert point.second is not None
    assert point.second.late_s == pytest.approx(350 * US)
    queued = parameters(point, Scenario(8)).second
    assert queued is not None
    assert queued.late_s == point.second.late_s
    other = parameters(point, Scenario(8, log_device_ms=9.0)).second
    assert other is not None
    assert other.late_s == 0.0
    real = given(samples()).point.second
    assert real is not None
    assert real.late_s == 0.0


def test_more_flushes_of_one_log_have_more_of_the_time(given: Given) -> None:
    found = samples()
    found[0] = sample(
        1, "1/1/wait", 1, log_flushes=2 * COMMITS, binlog_flushes=COMMITS,
        session_cpu_s=COMMITS * SERVER, session_elapsed_s=COMMITS * (SERVER + CLIENT + EXIT + 3 * REDO),
    )  # fmt: skip
    assert devices(given(found)) == pytest.approx([REDO, REDO], rel=1e-3)


def test_what_the_server_times_is_taken_from_it(given: Given) -> None:
    timed = given(samples(["log_flush_time_s", "binlog_flush_time_s"]), "mysql")
    assert devices(timed) == pytest.approx([REDO, BINLOG], rel=0.01)
    assert [text for text in timed.cautions if "time the flushes" in text] == []
    # The binary log's alone are timed: the rest is the redo log's.
    half = given(samples(["binlog_flush_time_s"]))
    assert devices(half) == pytest.approx([REDO, BINLOG], rel=0.01)
    assert "the flushes of the redo log." in half.cautions[0]


def test_without_counts_or_commits_that_do_not_wait_there_are_no_costs(given: Given) -> None:
    waits = [item for item in samples() if "nowait" not in item.setting]
    with pytest.raises(UsageError, match="needs CPU times and times of log flushes"):
        given(waits)
    uncounted = [
        sample(item.sample, item.setting, item.sessions, binlog_flushes=None) if item.sample == 2 else item
        for item in samples()
    ]
    with pytest.raises(UsageError, match="needs CPU times and times of log flushes"):
        given(uncounted)
    # What PostgreSQL does not time is not told from its commits.
    with pytest.raises(UsageError, match="needs CPU times and times of log flushes"):
        given(samples(), "embedded")


def test_each_way_to_group_is_what_the_dialect_says(given: Given) -> None:
    found = samples(["log_flush_time_s", "binlog_flush_time_s"])
    mariadb, mysql = given(found, "mariadb").point, given(found, "mysql").point
    assert mariadb.second is not None
    assert mysql.second is not None
    assert (mariadb.second.in_groups, mysql.second.in_groups) == (False, True)
    assert mariadb.handed_on
    assert mysql.handed_on
    without = given(found, "mysql", binlog=False).point
    assert (without.second, without.handed_on) == (None, True)
    assert without.system == "MySQL, client, one log"
    postgres = given(found, "embedded", binlog=None).point
    assert (postgres.second, postgres.handed_on, postgres.system) == (None, False, "")


def test_a_scenario_says_which_logs_commits_wait_for(given: Given) -> None:
    point = given(samples(["log_flush_time_s", "binlog_flush_time_s"])).point

    def needs(wait: str, **factors: Any) -> GroupCommitParameters:
        return parameters(point, Scenario(8, commit_wait=wait, **factors))

    both = needs("wait", commit_delay_us=300)
    assert both.second is not None
    assert (both.commit_delay_s, both.second.enough) == (0.0, 8)
    assert both.second.pause_s == pytest.approx(350e-6)
    assert needs("redo").second is None
    assert needs("redo").device == both.device
    assert needs("binlog").second is None
    assert needs("binlog").device == both.second.device
    assert needs("nowait").asynchronous
    assert needs("nowait").writer_interval_s == 1.0
    # Every flush of another device takes as long, of whichever log.
    other = needs("wait", log_device_ms=9.0)
    assert other.second is not None
    assert other.device == other.second.device == constant(9e-3 - point.flush_cpu_s)
    with pytest.raises(ValueError, match="wait for redo log and binary log alone"):
        needs("redo", commit_delay_us=300)
    rates = {
        wait: simulation(point, Scenario(8, commit_wait=wait))["throughput_per_s"]
        for wait in ("wait", "redo", "binlog", "nowait")
    }
    assert rates["wait"] < rates["redo"] < rates["binlog"] < rates["nowait"]


def test_a_server_with_one_log_has_no_other_to_wait_for(given: Given) -> None:
    point = given(samples(["log_flush_time_s"]), binlog=False).point
    with pytest.raises(ValueError, match="wait for one log, so it is wait or nowait"):
        parameters(point, Scenario(8, commit_wait="binlog"))
    with pytest.raises(ValueError, match="redo or binlog too"):
        Scenario(8, commit_wait="both")


def test_records_of_another_system_make_no_interval_narrow(given: Given) -> None:
    calibrated = given(samples(["log_flush_time_s", "binlog_flush_time_s"]))
    asked = Scenario(BUSY)
    family = family_of(calibrated.point, asked)
    assert family == "single rows (MariaDB, client, two logs)"
    outlook = ahead(calibrated, asked)

    def high(family: str, count: int) -> tuple[float, int]:
        record = make_scores(family, "throughput_per_s", (0.01,) * count)
        found = predict(outlook, record)["throughput_per_s"]
        return found.high / found.point, found.verified

    widest, verified = high("single rows", 30)
    assert verified == 0
    # Twice as wide, on the logarithm, as what is assumed of a server whose like was checked.
    assert widest == pytest.approx(2.718281828459045 ** (2 * 2.919985580353724 * PRIOR))
    assert high("single rows (MySQL, client, two logs)", 30) == (widest, 0)
    narrow, verified = high(family, 30)
    assert verified == 30
    assert narrow == pytest.approx(1.01, abs=1e-3)
    told = forecast(calibrated, asked, make_scores("single rows", "throughput_per_s", (0.01,) * 30))
    assert told["family"] == family
    assert UNVERIFIED.format(family=family) in told["warnings"]
    assert set(calibrated.cautions) <= set(told["warnings"])


def test_the_explorer_is_given_the_record_of_its_own_system() -> None:
    system = "MariaDB, client, two logs"
    assert without_system(f"nowait ({system})", system) == "nowait"
    assert without_system("nowait", system) is None
    assert without_system("nowait (MySQL, client, two logs)", system) is None
    assert without_system("nowait", "") == "nowait"
    assert without_system(f"nowait ({system})", "") is None


def test_two_logs_are_simulated_as_the_crate_says() -> None:
    second = SecondLog(constant(3e-3))
    alone = GroupCommitParameters(sessions=1, cpus=2, device=constant(2e-3), handed_on=True, second=second)
    found = simulate(alone, 1, 2_000)
    assert found.commit_time.mean_s.point == pytest.approx(5e-3)
    assert found.device_utilization.point == pytest.approx(1.0)
    with pytest.raises(ValueError, match="knows one log"):
        approximate(alone)
    with pytest.raises(ValueError, match="pause_s"):
        GroupCommitParameters(sessions=1, cpus=2, second=SecondLog(constant(1e-3), pause_s=-1.0))


def test_the_least_cost_is_not_less_than_nothing(given: Given) -> None:
    found = samples()
    found[0] = sample(
        1, "1/1/wait", 1, log_flushes=COMMITS, binlog_flushes=COMMITS, session_elapsed_s=COMMITS * US
    )
    assert devices(given(found)) == pytest.approx([LEAST_S] * 2)

"""What is seen of a replayed Oracle whose sessions do what the test says, second by second."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing

import pytest

from redolab.analysis.live.profile import profile_observation
from redolab.engine import open_observer
from redolab.engine.oracle.observer import observer as observing
from redolab.engine.oracle.observer import reading
from redolab.engine.oracle.observer.observer import OracleObserver
from redolab.errors import RefusedError
from redolab.records.observation import Observation, join
from tests.oracle.instance import Busy, Instance, Session
from tests.oracle.replay import Replayed

SECONDS = 3


class Clock:
    """The observer's clock, which moves with the truth and not with the test."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(reading, "monotonic", found)
    monkeypatch.setattr(observing, "_AFTER_BREAK_S", 0.0)
    monkeypatch.setattr(observing.OracleObserver, "retry_s", 0.01)
    return found


@pytest.fixture
def busy(instance: Instance) -> Busy:
    found = Busy(instance)
    found.second()
    return found


@pytest.fixture
def observer(server: Replayed, busy: Busy, clock: Clock) -> Iterator[OracleObserver]:
    found = open_observer(server.url, 1)
    assert isinstance(found, OracleObserver)
    with closing(found):
        yield found


def a_second(busy: Busy, clock: Clock) -> None:
    busy.second()
    clock.now_s += 1.0


def seconds(observer: OracleObserver, busy: Busy, clock: Clock, count: int = SECONDS) -> Observation:
    seen = []
    for _ in range(count):
        a_second(busy, clock)
        seen.append(observer.read())
    return join(seen)


def rows(group: dict[str, object]) -> dict[str, float]:
    profile = group["profile"]
    assert isinstance(profile, list)
    return {row["row"]: row["time_s"] for row in profile}


def test_what_sessions_were_told_to_spend_is_what_is_seen(
    observer: OracleObserver, busy: Busy, clock: Clock
) -> None:
    results = profile_observation(seconds(observer, busy, clock))
    first, second, sleeper = results["sessions"]
    for session in (first, second):
        assert rows(session) == pytest.approx(
            {
                "on_cpu": 0.6, "Commit:log file sync": 1.5, "User I/O:db file sequential read": 0.6,
                "unaccounted": 0.3,
            }
        )  # fmt: skip
        assert (session["user"], session["application"]) == ("SHOP", "JDBC Thin Client")
    assert {first["connection"], second["connection"]} == {100, 101}
    # A wait that has not ended is known from V$SESSION.
    assert sleeper["client_wait"]["share_of_elapsed"]["point"] == pytest.approx(1.0)
    assert sleeper["client_wait"]["in_transaction_share"] == pytest.approx(1.0)
    assert sleeper["user"] == "REPORTS"
    everybody = results["all_sessions"]
    assert everybody["log_sync_share"]["point"] == pytest.approx(0.5)
    (top,) = [each for each in everybody["top_events"] if each["event"] == "Commit:log file sync"]
    assert (top["waits"], top["average_wait_ms"]["point"]) == (600, pytest.approx(5.0))


def test_the_log_writer_and_the_instances_own_figures(
    observer: OracleObserver, busy: Busy, clock: Clock
) -> None:
    seen = seconds(observer, busy, clock)
    results = profile_observation(seen)
    assert rows(results["instance"])["System I/O:log file parallel write"] == pytest.approx(0.75)
    assert seen.counters == pytest.approx(
        {
            "transactions": 600, "commits": 600, "log_flushes": 375, "log_flush_time_s": 0.75,
            "log_writes": 375, "log_write_time_s": None, "log_bytes": 360_000,
        }
    )  # fmt: skip
    log = results["log"]
    assert (log["commits_per_flush"], log["flush_time_ms"]) == (pytest.approx(1.6), pytest.approx(2.0))
    # 5 ms lie below 8.192 ms, 2 ms below 2.048 ms.
    assert [(each["to_ms"], each["count"]) for each in log["log_sync"]["buckets"] if each["count"]] == [
        (pytest.approx(8.192), 600)
    ]
    assert [(each["to_ms"], each["count"]) for each in log["log_write"]["buckets"] if each["count"]] == [
        (pytest.approx(2.048), 375)
    ]
    assert (results["host"]["cpus"], results["host"]["busy_share"]) == (4, pytest.approx(0.43 / 4))
    assert seen.ended_cpu_s == pytest.approx(0.0)
    assert {process.kind for process in seen.processes if process.scope == "background"} == {"LGWR", "CKPT"}


def test_a_session_that_came_and_went_is_in_the_instances_cpu(
    observer: OracleObserver, busy: Busy, clock: Clock
) -> None:
    brief = Session(300, 1)
    busy.instance.add(brief)
    busy.instance.compute(brief, 400_000)
    a_second(busy, clock)
    del busy.instance.sessions[300]
    seen = observer.read()
    assert seen.ended_cpu_s == pytest.approx(0.4)
    assert all(process.pid != 300 for process in seen.processes)


def test_a_number_that_is_given_again_is_another_session(
    observer: OracleObserver, busy: Busy, clock: Clock
) -> None:
    seconds(observer, busy, clock, 1)
    busy.instance.sessions[100] = Session(100, 8)
    a_second(busy, clock)
    seen = observer.read()
    (gone,) = [process for process in seen.processes if process.ended]
    assert (gone.pid, gone.started, gone.elapsed_s) == (100, 7, 0.0)
    assert all(item.time_s is None or item.time_s >= 0 for item in seen.timed)


def test_cpu_of_a_long_call_is_told_to_be_late(observer: OracleObserver, busy: Busy, clock: Clock) -> None:
    busy.sessions[0].last_call_s = 40
    busy.sessions[1].status = "INACTIVE"
    seen = seconds(observer, busy, clock, 1)
    late = {process.connection: process.cpu_late_s for process in seen.processes if process.cpu_s}
    assert late[100] == 5.0
    # At the earlier reading it was in a call that had just begun.
    assert late[101] == 1.0
    assert any("5 s late" in why for _, why in seen.not_available)


def test_a_restart_is_survived_and_told(
    observer: OracleObserver, busy: Busy, clock: Clock, server: Replayed
) -> None:
    seconds(observer, busy, clock, 1)
    server.restart()
    seen = observer.read()
    assert any("restarted" in text for text in seen.warnings)
    again = Busy(server.instance)
    seconds(observer, again, clock, 1)
    seen = seconds(observer, again, clock, 1)
    assert seen.counters["commits"] == 200


def test_a_lost_connection_is_made_again(
    observer: OracleObserver, busy: Busy, clock: Clock, server: Replayed
) -> None:
    server.cut()
    seen = observer.read()
    assert any("connection to the database was lost" in text for text in seen.warnings)
    assert seconds(observer, busy, clock, 1).counters["commits"] == 200


def test_a_database_that_stays_away_ends_the_watching(
    observer: OracleObserver, server: Replayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observing.OracleObserver, "restart_limit_s", 0.05)
    server.stop()
    with pytest.raises(RefusedError, match=r"No connection to Oracle at .*Does the listener run"):
        observer.read()


def test_counters_that_go_back_are_left_out_and_told(
    observer: OracleObserver, busy: Busy, clock: Clock
) -> None:
    busy.instance.statistics["user commits"] = 3
    clock.now_s += 1.0
    seen = observer.read()
    assert seen.counters["commits"] is None
    assert any("decreased while it was watched" in text for text in seen.warnings)
    assert profile_observation(seen)["log"]["transactions"] is None


@pytest.mark.parametrize(
    ("view", "name"),
    [
        ("V$SESSION", "SESSION"),
        ("V$SESSION_EVENT", "SESSION_EVENT"),
        ("V$SESS_TIME_MODEL", "SESS_TIME_MODEL"),
    ],
)
def test_without_a_view_of_sessions_the_grant_is_named(
    server: Replayed, busy: Busy, view: str, name: str
) -> None:
    server.instance.ungranted = {view, "V$OSSTAT"}
    with pytest.raises(RefusedError) as caught:
        open_observer(server.url, 1)
    assert f'GRANT SELECT ON SYS.V_${name} TO "WATCHER";' in str(caught.value)
    assert 'GRANT SELECT ON SYS.V_$OSSTAT TO "WATCHER";' in str(caught.value)


@pytest.mark.parametrize(
    "view",
    ["V$SYSTEM_EVENT", "V$SYS_TIME_MODEL", "V$SYSSTAT", "V$EVENT_HISTOGRAM_MICRO", "V$OSSTAT", "V$INSTANCE",
     "V$PARAMETER"],
)  # fmt: skip
def test_without_another_view_the_rest_is_shown(
    server: Replayed, busy: Busy, clock: Clock, view: str
) -> None:
    server.instance.ungranted = {view}
    with closing(OracleObserver(server.url)) as observer:
        seen = seconds(observer, busy, clock, 1)
    results = profile_observation(seen)
    assert results["all_sessions"]["log_sync_share"]["point"] == pytest.approx(0.5)
    grant = f'GRANT SELECT ON SYS.V_{view.removeprefix("V")} TO "WATCHER";'
    assert [why for _, why in seen.not_available if grant in why]


@pytest.mark.parametrize("code", [600, 1013])
def test_an_error_of_oracles_in_any_statement_ends_in_a_sentence(
    server: Replayed, busy: Busy, clock: Clock, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observing.OracleObserver, "restart_limit_s", 0.05)
    for name in ("select_sessions", "select_waits", "select_histograms", "select_self"):
        server.instance.failing = {name: code}
        with pytest.raises(RefusedError, match=rf"could not be watched: .*ORA-{code:05d}"):
            open_observer(server.url, 1)
    server.instance.failing = {}
    with closing(OracleObserver(server.url)) as observer:
        server.instance.failing = {"select_session_waits": code}
        with pytest.raises(RefusedError, match=rf"ORA-{code:05d}"):
            observer.read()


def test_a_clock_that_is_switched_off_is_refused(server: Replayed, busy: Busy) -> None:
    server.instance.parameters["timed_statistics"] = "FALSE"
    with pytest.raises(RefusedError, match="ALTER SYSTEM SET TIMED_STATISTICS = TRUE"):
        open_observer(server.url, 1)


def test_parameters_without_a_value_are_no_matter(server: Replayed, busy: Busy, clock: Clock) -> None:
    server.instance.parameters = dict.fromkeys(server.instance.parameters)
    with closing(OracleObserver(server.url)) as observer:
        assert seconds(observer, busy, clock, 1).counters["commits"] == 200


def test_a_pluggable_database_says_what_it_leaves_out(server: Replayed, busy: Busy, clock: Clock) -> None:
    server.instance.container = (3, "SHOPPDB", "CDB1")
    with closing(OracleObserver(server.url)) as observer:
        seen = seconds(observer, busy, clock, 1)
    assert any("SHOPPDB" in why and "CDB$ROOT" in why for _, why in seen.not_available)


def test_waits_of_an_hour_and_more_have_no_end(observer: OracleObserver, busy: Busy, clock: Clock) -> None:
    busy.instance.spend(busy.sessions[0], "log file sync", [2**33])
    seen = seconds(observer, busy, clock, 1)
    assert max(bucket.below_s for bucket in seen.wait_buckets) == math.inf


def test_nothing_but_queries_was_sent(observer: OracleObserver, busy: Busy, clock: Clock) -> None:
    seconds(observer, busy, clock, 1)
    assert busy.instance.asked
    assert all(name.startswith("select_") for name in busy.instance.asked)

"""Sessions of a client against a replayed Oracle where time passes by itself."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from redolab.engine.linux.local_server import children
from redolab.engine.oracle.clients.arrivals import moments
from redolab.engine.oracle.clients.sessions import ClientSessions, work_of
from redolab.engine.oracle.clients.task import ClientTask, Order, Told
from redolab.engine.oracle.connecting.target import read_target
from redolab.engine.oracle.own.tables import MARKS
from redolab.errors import InterruptedRunError, RefusedError
from redolab.records.load import Amount
from redolab.records.sample import Scope
from redolab.records.store import open_run
from redolab.url_secrets import ORACLE_PASSWORD
from tests.conftest import Redolab
from tests.oracle.instance import COSTS, SYNC, Instance, Session
from tests.oracle.replay import DIALECTS, Replayed, replayed
from tests.oracle.test_runs import by_name, point, run
from tests.servers import wait_until

TASK = ClientTask("insert_item", {"padding": "x" * 10}, "wait immediate")


@pytest.fixture
def live(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Replayed]:
    """An instance whose log takes 20 ms for a flush."""
    instance = Instance(getattr(request, "param", 2103))
    instance.live = True
    instance.costs = {mode: COSTS[mode].with_flush(20_000) for mode in COSTS}
    monkeypatch.setenv(ORACLE_PASSWORD, instance.password)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with replayed(instance) as server:
        yield server
    assert instance.tables == {}
    assert MARKS.kept() == {}


@pytest.fixture
def sessions(live: Replayed) -> Iterator[ClientSessions]:
    live.instance.tables["REDOLAB_ITEM"] = 0
    found = ClientSessions(read_target(live.url), seed=7)
    try:
        yield found
    finally:
        found.close()
        live.instance.tables.clear()


def test_each_session_is_a_process_of_its_own(live: Replayed, sessions: ClientSessions) -> None:
    sessions.resize(3)
    own = [item for item in live.instance.sessions.values() if item.type == "USER"]
    assert sorted(sessions.numbers) == sorted(item.sid for item in own)
    assert sessions._host is not None
    assert len(children(sessions._host.pid)) == 3
    kept = sessions.numbers[:2]
    sessions.resize(2)
    assert sessions.numbers == kept
    wait_until(lambda: len(live.instance.sessions) == 4, "the third is gone")


@pytest.mark.parametrize("live", DIALECTS, indirect=True)
@pytest.mark.parametrize("scope", ["transaction", "session"])
def test_rows_and_commits_are_those_that_the_server_saw(
    live: Replayed, sessions: ClientSessions, scope: Scope
) -> None:
    sessions.resize(2)
    task = ClientTask(TASK.row, TASK.values, "wait immediate", scope, rows_per_commit=3)
    done = sessions.run(task, Amount(1.0, units=18), threading.Event())
    assert (done.commits, done.rows, done.units, done.trouble) == (6, 18, 18, None)
    assert live.instance.tables["REDOLAB_ITEM"] == 18
    assert live.instance.statistics["user commits"] == 6
    assert sum(count for _, count in done.latency) == 6
    # No commit was acknowledged before its flush.
    assert min(upper_us for upper_us, _ in done.latency) > 20_000
    waits = [live.instance.sessions[sid].waits[SYNC] for sid in sessions.numbers]
    assert [count for count, _ in waits] == [3, 3]


def test_commits_that_do_not_wait_do_not(live: Replayed, sessions: ClientSessions) -> None:
    sessions.resize(1)
    task = ClientTask(TASK.row, TASK.values, "nowait batch")
    done = sessions.run(task, Amount(1.0, units=20), threading.Event())
    assert done.commits == 20
    assert live.instance.sessions[sessions.numbers[0]].waits[SYNC][0] == 0


def test_a_pause_is_asleep_in_the_client(live: Replayed, sessions: ClientSessions) -> None:
    sessions.resize(1)
    task = ClientTask(TASK.row, TASK.values, "nowait batch", pause_s=0.05)
    done = sessions.run(task, Amount(1.0, units=4), threading.Event())
    assert done.session_elapsed_max_s >= 4 * 0.05


def test_what_is_asked_for_is_served_or_told(live: Replayed, sessions: ClientSessions) -> None:
    sessions.resize(2)
    # Two sessions whose commits take 20 ms and more do at most 100 of these in a second.
    task = ClientTask(TASK.row, TASK.values, "wait immediate", arrival_rate_per_s=300.0)
    done = sessions.run(task, Amount(1.0), threading.Event())
    seen = done.responses
    assert seen is not None
    begun = sum(count for _, count in seen.times)
    assert begun == done.commits <= 110
    assert seen.unserved > 100
    assert seen.waited + sum(count for _, count in seen.lag) == begun
    assert seen.waited > begun / 2
    # Two that come rarely find a session free.
    rare = ClientTask(TASK.row, TASK.values, "wait immediate", arrival_rate_per_s=8.0)
    again = sessions.run(rare, Amount(1.0), threading.Event()).responses
    assert again is not None
    assert again.unserved == 0
    assert again.waited <= sum(count for _, count in again.times) / 2


def test_an_interrupted_sample_ends_at_once_and_the_next_begins_anew(
    live: Replayed, sessions: ClientSessions
) -> None:
    sessions.resize(2)
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(InterruptedRunError):
        sessions.run(TASK, Amount(60.0), stop)
    wait_until(lambda: len(live.instance.sessions) == 2, "both sessions are gone")
    sessions.resize(1)
    assert sessions.run(TASK, Amount(1.0, units=2), threading.Event()).commits == 2


def test_a_lost_session_spoils_its_sample_and_is_opened_anew(
    live: Replayed, sessions: ClientSessions
) -> None:
    sessions.resize(2)
    threading.Timer(0.3, live.cut).start()
    done = sessions.run(TASK, Amount(2.0), threading.Event())
    assert done.trouble is not None
    assert "session 1 died" in done.trouble
    before = sessions.numbers
    sessions.resize(2)
    assert not set(before) & set(sessions.numbers)
    assert sessions.run(TASK, Amount(1.0, units=2), threading.Event()).trouble is None


def test_a_server_that_takes_no_more_is_told(live: Replayed, sessions: ClientSessions) -> None:
    live.instance.password = "another"
    with pytest.raises(RefusedError, match="ORA-01017"):
        sessions.resize(1)


def test_a_host_that_is_killed_takes_its_sessions_with_it(live: Replayed, sessions: ClientSessions) -> None:
    sessions.resize(2)
    assert sessions._host is not None
    os.kill(sessions._host.pid, signal.SIGKILL)
    wait_until(lambda: len(live.instance.sessions) == 2, "both sessions are gone")
    sessions.resize(2)
    assert len(sessions.numbers) == 2


def test_a_sessions_process_that_is_killed_spoils_its_sample(
    live: Replayed, sessions: ClientSessions
) -> None:
    sessions.resize(2)
    assert sessions._host is not None
    first, second = children(sessions._host.pid)
    os.kill(first, signal.SIGKILL)
    done = sessions.run(TASK, Amount(1.0, units=4), threading.Event())
    assert (done.commits, done.trouble) == (2, "the process of a session ended")
    threading.Timer(0.3, os.kill, (second, signal.SIGKILL)).start()
    assert sessions.run(TASK, Amount(5.0), threading.Event()).trouble is not None
    sessions.resize(2)
    threading.Timer(0.3, sessions._host.kill).start()
    done = sessions.run(TASK, Amount(5.0), threading.Event())
    assert done.trouble == "the process of the client sessions ended"
    sessions.resize(2)
    assert sessions.run(TASK, Amount(1.0, units=4), threading.Event()).trouble is None


def test_moments_are_the_same_in_every_process_and_end_with_the_amount() -> None:
    task = ClientTask("insert_item", {}, "wait immediate", rows_per_commit=2, arrival_rate_per_s=50.0)
    order = Order(task, Amount(4.0), 3, seed=5)
    found = list(moments(order))
    assert found == list(moments(order)) == sorted(found)
    # Within four standard deviations of a Poisson count.
    assert 200 - 4 * 200**0.5 < len(found) < 200 + 4 * 200**0.5
    assert found[-1] < 4.0
    assert len(list(moments(Order(task, Amount(4.0, units=7), 3, seed=5)))) == 4


def test_what_sessions_tell_is_added_up() -> None:
    told = [
        Told(2, 4, 1, 1.5, 0.25, [1_000_000, 2_000_000]),
        Told(1, 2, 0, 1.0, 0.5, [1_000_000], trouble="session 2 died: ORA-00028"),
    ]
    work = work_of(Order(TASK, Amount(1.0), 2, 1), told)
    assert (work.commits, work.rows, work.client_cpu_s) == (3, 6, 0.75)
    assert work.failed == 1
    assert (work.session_elapsed_s, work.session_elapsed_max_s) == (2.5, 1.5)
    assert work.latency == ((1000.447, 2), (2000.895, 1))
    assert work.trouble == "session 2 died: ORA-00028"
    assert work.responses is None


def slower(live: Replayed) -> None:
    """A flush takes so long that what a busy machine adds to a round trip is little beside it."""
    live.instance.costs = {mode: COSTS[mode].with_flush(80_000) for mode in COSTS}


def test_session_count_finds_that_many_share_a_flush(
    live: Replayed, redolab: Redolab, tmp_path: Path
) -> None:
    slower(live)
    results = run(
        redolab, tmp_path, live, "session-count", "--quick", "--sessions", "2,8", "--blocks", "4",
        "--seconds", "0.5",
    )  # fmt: skip
    found = by_name(results)
    # Whoever commits while the log is being flushed shares the next flush.
    ratio = point(found["8"], "throughput_per_s") / point(found["2"], "throughput_per_s")
    assert ratio == pytest.approx(4, rel=0.25)
    assert point(found["8"], "commits_per_flush") > 2 * point(found["2"], "commits_per_flush")
    outcomes = [item["outcome"] for item in results["comparisons"] if item["metric"] == "throughput_per_s"]
    assert outcomes == ["better"]


def test_session_count_has_a_row_for_shared_servers(live: Replayed, redolab: Redolab, tmp_path: Path) -> None:
    results = run(
        redolab, tmp_path, live, "session-count", "--quick", "--sessions", "2,4", "--blocks", "2",
        "--settings", "2,4,4/shared", "--seconds", "0.3",
    )  # fmt: skip
    (table,) = (table for table in results["tables"] if table["key"] == "server-processes")
    (row,) = table["rows"]
    assert (row["sessions"], row["server_process"]) == (4, "shared")
    assert point(row, "ratio") == pytest.approx(1, rel=0.1)
    assert point(row, "p95") > 20
    found = by_name(results)
    assert point(row, "throughput_per_s") == pytest.approx(
        point(found["4/shared"], "throughput_per_s"), rel=0.1
    )
    # The pool is one of the usual server processes.
    assert [row["sessions"] for row in results["tables"][0]["rows"]] == [2, 4]
    live.instance.server_processes = {"DEDICATED"}
    done = redolab(
        "run", "session-count", "--quick", "--sessions", "2,4", "--settings", "2,4,4/pooled",
        "--engine", live.url, "--yes", "--out", tmp_path / "none",
    )  # fmt: skip
    assert (done.code, "and no pooled ones" in " ".join(done.err.split())) == (3, True)
    done = redolab(
        "run", "session-count", "--quick", "--sessions", "2,4", "--settings", "4,4/pooled",
        "--engine", live.url, "--yes", "--out", tmp_path / "none",
    )  # fmt: skip
    assert (done.code, "name two of them without" in " ".join(done.err.split())) == (2, True)


def test_calibrate_forecasts_what_more_sessions_do_and_is_checked(
    live: Replayed, redolab: Redolab, tmp_path: Path
) -> None:
    slower(live)
    results = run(
        redolab,
        tmp_path,
        live,
        "calibrate",
        "--quick",
        "--sessions",
        "4",
        "--blocks",
        "2",
        "--seconds",
        "0.4",
    )
    assert all(row["spoiled"] is None for row in open_run(tmp_path / "run").samples.to_pylist())
    measured = {name: point(setting, "throughput_per_s") for name, setting in by_name(results).items()}
    done = redolab("forecast", tmp_path / "run", "--set", "sessions=16", "--json")
    assert done.code == 0, done.err
    forecast = json.loads(done.out)["asked"]["forecast"]["throughput_per_s"]["point"]
    # A flush takes all that wait, so four times as many sessions commit four times as much.
    assert forecast / measured["4/1/wait"] == pytest.approx(4, rel=0.15)
    checked = redolab(
        "verify-forecast", tmp_path / "run", "--set", "sessions=8", "--engine", live.url, "--yes", "--json",
        "--blocks", "2", "--seconds", "0.4", "--out", tmp_path / "check",
    )  # fmt: skip
    assert checked.code == 0, checked.err
    scores = {(it["model"], it["quantity"]): it for it in json.loads(checked.out)["forecast"]["scores"]}
    own = scores["group commit, simulated", "throughput_per_s"]
    assert own["forecast"]["point"] / own["measured"]["point"] == pytest.approx(1, rel=0.15)


def test_rows_per_commit_goes_over_the_wire_where_asked(
    live: Replayed, redolab: Redolab, tmp_path: Path
) -> None:
    results = run(
        redolab, tmp_path, live, "rows-per-commit", "--quick", "--client", "--blocks", "2",
        "--settings", "1/client,8/client,1/server", "--rows", "32",
    )  # fmt: skip
    each = {name: point(setting, "response_time_ms") for name, setting in by_name(results).items()}
    # A flush of 20 ms for each commit; a lone session waits for no other's.
    assert each["1/client"] > 20
    assert each["8/client"] < each["1/client"] / 3
    assert each["1/server"] == pytest.approx(4.3)
    assert live.instance.asked.count("insert_item") >= 2 * 2 * 32


def test_response_curve_shows_commits_that_wait_for_a_session(
    live: Replayed, redolab: Redolab, tmp_path: Path
) -> None:
    results = run(
        redolab, tmp_path, live, "response-curve", "--quick", "--sessions", "4", "--blocks", "2",
        "--seconds", "0.3",
    )  # fmt: skip
    found = by_name(results)
    # A flush that begins at once, or the rest of one and the next; at more than can be done, a queue.
    first, last = (point(found[f"4/1/wait/{share}%"], "response_time_ms") for share in (10, 110))
    assert 20 < first < last
    assert "4 sessions, 1 row per commit, commits wait" in results["verdict"]["text"]


def test_a_session_commits_as_its_parameters_say(live: Replayed, redolab: Redolab, tmp_path: Path) -> None:
    slower(live)
    results = run(
        redolab, tmp_path, live, "commit-mode", "--quick", "--scope", "session", "--sessions", "2",
        "--blocks", "2", "--seconds", "0.4",
    )  # fmt: skip
    found = by_name(results)
    first, last = found["wait/immediate"], found["nowait/batch"]
    assert first["parameters"] == {"COMMIT_WAIT": "WAIT", "COMMIT_LOGGING": "IMMEDIATE"}
    assert last["parameters"] == {"COMMIT_WAIT": "NOWAIT", "COMMIT_LOGGING": "BATCH"}
    parts = {row["row"]: point(row, "per_unit_ms") for row in first["profile"]}
    assert 80 < parts["Commit:log file sync"] < 180
    assert "Commit:log file sync" not in {row["row"] for row in last["profile"] if point(row, "per_unit_ms")}
    assert point(last, "throughput_per_s") > 5 * point(first, "throughput_per_s")
    assert live.instance.parameters["commit_wait"] is None
    done = redolab("run", "commit-mode", "--quick", "--scope", "session", "--load", "cpu",
                   "--engine", live.url, "--yes", "--out", tmp_path / "cpu")  # fmt: skip
    assert (done.code, "leave one of them out" in " ".join(done.err.split())) == (2, True)


def test_a_session_that_does_not_take_its_parameters_spoils_its_samples(
    live: Replayed, sessions: ClientSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.resize(1)
    monkeypatch.setattr(Session, "parameters", property(lambda _: {}, lambda *_: None), raising=False)
    task = ClientTask("insert_item", {"padding": "x" * 10}, "nowait batch", "session")
    done = sessions.run(task, Amount(1.0, units=2), threading.Event())
    assert done.trouble == "session 1: COMMIT_WAIT is NONE after ALTER SESSION SET, not NOWAIT"


@pytest.mark.parametrize(
    "step", ["insert_item", "commit_write", "truncate_item", "create_item", "select_machine"]
)
@pytest.mark.parametrize("experiment", ["session-count", "response-curve"])
def test_an_error_of_oracles_in_any_step_of_a_pilot_is_told(
    live: Replayed, redolab: Redolab, tmp_path: Path, experiment: str, step: str
) -> None:
    live.instance.failing = {step: 1653}
    sessions = "2,4" if experiment == "session-count" else "2"
    done = redolab(
        "run", experiment, "--quick", "--sessions", sessions, "--engine", live.url, "--yes",
        "--out", tmp_path / "run",
    )  # fmt: skip
    live.instance.failing = {}
    assert done.code == 3
    assert "ORA-01653" in done.err


@pytest.mark.parametrize("step", ["insert_item", "commit_write"])
def test_sessions_that_die_in_the_warm_up_end_the_run(
    live: Replayed, redolab: Redolab, tmp_path: Path, step: str
) -> None:
    live.instance.failing = {step: 1653}
    done = redolab(
        "run", "calibrate", "--quick", "--sessions", "2", "--blocks", "2", "--seconds", "0.1",
        "--engine", live.url, "--yes", "--out", tmp_path / "run",
    )  # fmt: skip
    live.instance.failing = {}
    assert done.code == 3
    assert "session 1 died: ORA-01653" in done.err
    assert not (tmp_path / "run").exists()

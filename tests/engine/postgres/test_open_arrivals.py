"""Transactions that come at random moments: as many as were asked for, timed from the moment asked for."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from redolab import open_run
from redolab.analysis.checks.diagnostics import arrivals
from redolab.analysis.reading import read_samples
from redolab.commands.verify import verify_run
from redolab.engine import open_engine
from redolab.errors import InterruptedRunError, UsageError
from redolab.experiment import EXPERIMENTS
from redolab.experiment.answers import analyse
from redolab.experiment.base import Plan
from redolab.forecast.costs.direct.calibrating import calibrate
from redolab.measure import runner
from redolab.records.design import Design
from redolab.records.load import Amount, Updates
from redolab.records.sample import Responses, Work
from redolab.records.store import read_results
from redolab.records.writing.writer import write_report, write_results
from redolab.report.page.html import render
from tests.engine.clients import Open, inserts, sampled, work
from tests.servers import PASSWORD, Server, wait_until

RATE = "arrival_rate_per_s"


def responses(done: Work) -> Responses:
    assert done.responses is not None
    return done.responses


def count(buckets: tuple[tuple[float, int], ...]) -> int:
    return sum(number for _, number in buckets)


@pytest.mark.parametrize("rows_per_commit", [1, 4])
def test_a_low_rate_is_kept(opened: Open, newest: Server, database: str, rows_per_commit: int) -> None:
    engine, settings = opened(inserts(8), {"rows_per_commit": str(rows_per_commit), RATE: "200"})
    done = work(engine, settings[f"{rows_per_commit}/200"], Amount(2.0))
    seen = responses(done)
    assert done.trouble is None
    # What comes at random in two seconds is 400, give or take four standard deviations.
    assert abs(done.commits + seen.unserved - 400) < 4 * math.sqrt(400)
    assert done.rows == done.commits * rows_per_commit
    assert newest.ask("select count(*) from redolab.item", database) == done.rows
    assert count(seen.times) == count(done.latency) == done.commits
    assert count(seen.lag) + seen.waited == done.commits
    # The interval is the whole time, for every session, though work may end before it does.
    assert done.session_elapsed_max_s >= 2.0
    assert done.session_elapsed_s >= 8 * 2.0


def test_few_sessions_of_a_large_pool_do_what_little_comes(
    opened: Open, newest: Server, database: str
) -> None:
    # No commit waits for the disk: a flush that is held up keeps as many sessions as come meanwhile.
    engine, settings = opened(inserts(16), {"commit_wait": "nowait", RATE: "20"})
    done = work(engine, settings["nowait/20"], Amount(4.0))
    # One of each thread, of which there are as many as CPUs and at most eight, and two that help.
    few = min(8, len(os.sched_getaffinity(0))) + 2
    most = newest.ask(
        "select sum(rows)::int from (select count(*) as rows from redolab.item group by session"
        f" order by rows desc limit {few}) as busiest",
        database,
    )
    assert most > 0.9 * done.rows


def test_a_response_takes_at_least_as_long_as_its_commit_and_the_clients_lag(opened: Open) -> None:
    engine, settings = opened(inserts(8), {"rows_per_commit": "4", RATE: "100"})
    done = work(engine, settings["4/100"], Amount(1.0))
    seen = responses(done)

    def total_us(buckets: tuple[tuple[float, int], ...]) -> float:
        return sum(upper_us * number for upper_us, number in buckets)

    # A bucket is a thousandth or half a microsecond wide.
    assert total_us(seen.times) == pytest.approx(1e6 * seen.total_s, rel=2e-3)
    assert seen.total_s * 1e6 > 0.998 * (total_us(done.latency) + total_us(seen.lag)) - done.commits


def test_more_than_can_be_done_builds_a_backlog_and_is_told(opened: Open, newest: Server) -> None:
    engine, settings = opened(inserts(2), {"sessions": "2"}, {"sessions": "2", RATE: "1000000"})
    capacity = work(engine, settings["2"], Amount(0.5))
    sample, latency = sampled(engine, settings["2/1000000"], Amount(1.0))
    assert capacity.responses is None
    assert sample.arrivals_waited is not None
    assert sample.arrivals_unserved is not None
    assert sample.response_s is not None
    # It ends in its time with what was done, and the rest is counted.
    assert sample.commits + sample.arrivals_unserved == pytest.approx(1_000_000, rel=0.01)
    assert sample.arrivals_waited > 0.9 * sample.commits
    assert sample.arrivals_unserved > sample.commits
    # Responses take as long as the backlog is: about half of the time on average, not the two commits' time.
    assert sample.response_s / sample.commits > 0.25
    (told,) = arrivals([sample])
    assert told.outcome == "warning"
    assert "backlog grew" in told.text
    assert {row.kind for row in latency} >= {"commit", "response"}


def test_the_moments_do_not_depend_on_who_is_free(opened: Open) -> None:
    """An amount of rows is done to the end, however long that takes."""
    engine, settings = opened(inserts(3), {"sessions": "1", RATE: "1000"}, {"sessions": "3", RATE: "1000"})
    for name in ("1/1000", "3/1000"):
        done = work(engine, settings[name], Amount(1.0, 50))
        assert (done.rows, done.commits, responses(done).unserved) == (50, 50, 0)


def test_a_lost_session_spoils_the_sample_and_the_others_go_on(
    opened: Open, newest: Server, database: str
) -> None:
    engine, settings = opened(inserts(3), {"sessions": "3", RATE: "300"})
    engine.apply(settings["3/300"])
    victim = engine.snapshot().session_pids[0]

    def kill() -> None:
        wait_until(lambda: newest.ask("select count(*) from redolab.item", database) > 0, "rows come")
        assert newest.ask(f"select pg_terminate_backend({victim})")

    killer = threading.Thread(target=kill)
    killer.start()
    done = engine.work(Amount(1.0), threading.Event())
    killer.join()
    assert done.trouble == "session 1 died: terminating connection due to administrator command"
    assert done.session_elapsed_max_s >= 1.0
    # Lost before it begins, too: the others do not wait for it for ever.
    again = engine.work(Amount(0.3), threading.Event())
    assert again.trouble == "session 1 died: the connection was closed"
    assert again.commits > 0


def timers() -> int:
    """Timers of the kernel that this process has."""
    return sum(
        os.fspath(path.readlink()) == "anon_inode:[timerfd]"
        for path in Path("/proc/self/fd").iterdir()
        if path.is_symlink()
    )


def test_an_interruption_ends_the_wait_for_work_at_once_and_leaves_no_timer(opened: Open) -> None:
    engine, settings = opened(inserts(4), {"sessions": "4", RATE: "0.01"})
    engine.apply(settings["4/0.01"])
    before = timers()
    stop = threading.Event()
    timer = threading.Timer(0.2, stop.set)
    timer.start()
    began = time.monotonic()
    with pytest.raises(InterruptedRunError):
        engine.work(Amount(60.0), stop)
    assert time.monotonic() - began < 6.0
    assert timers() == before


KILLED = """
import sys, threading
from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.engine import PostgresEngine
from redolab.records.load import Amount, Inserts
engine = PostgresEngine(Connector(sys.argv[1]), None, 1)
load = Inserts("", 4, "session", 20, loop="client")
(setting,) = engine.prepare(load, [{"sessions": "4", "arrival_rate_per_s": "500"}])
engine.apply(setting)
print("ready", flush=True)
engine.work(Amount(60.0), threading.Event())
"""


def test_a_killed_process_leaves_nothing(newest: Server, url: str, database: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, f"{url}?password={PASSWORD}"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    wait_until(lambda: newest.ask("select count(*) from redolab.item", database) > 0, "rows come")
    process.send_signal(signal.SIGKILL)
    # The guard holds the same stderr, so this waits for it too.
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    newest.assert_left_clean(database)
    wait_until(lambda: newest.redolab_sessions() == 0, "its sessions end")


@pytest.mark.parametrize("rate", ["0", "-1", "nan", "inf", "many", "1e7"])
def test_a_rate_that_is_none_is_refused(opened: Open, rate: str) -> None:
    with pytest.raises(UsageError, match=r"arrival_rate_per_s is .*above 0"):
        opened(inserts(2), {RATE: rate})


def test_a_loop_inside_the_server_cannot_wait_for_arrivals(opened: Open) -> None:
    for load in (inserts(2, "server"), Updates("", 1, "session", rows_per_session=10, padding_bytes=0)):
        with pytest.raises(UsageError, match="loop=client"):
            opened(load, {RATE: "100"})


class NoProgress:
    """Nobody watches."""

    def begin(self, samples: int, seconds: float) -> None:
        """Nothing."""

    def news(self, text: str) -> None: ...

    def advance(self, setting: str) -> None:
        """Nothing."""


def test_a_whole_run_with_arrivals_is_read_by_forecasts_and_verified(tmp_path: Path) -> None:
    closed: list[dict[str, str]] = [{"sessions": number, "log_device_ms": "1"} for number in ("1", "4")]
    open_ = {"sessions": "8", "log_device_ms": "1", RATE: "300"}
    combinations = {"/".join(levels.values()): levels for levels in [*closed, open_]}
    load = inserts(8)
    design = Design(tuple(combinations), "1/1", 2, 0.8, 0.1, 3, null_pair=False)
    engine = open_engine("embedded", load, load.disk_bytes(None), (0.0,), 3)
    outcome = runner.run(
        EXPERIMENTS["calibrate"], Plan(design, combinations, load), engine, tmp_path / "run", NoProgress(), ""
    )
    assert outcome.error is None
    run = outcome.run
    found = calibrate(run)
    # Forecasts start from sessions that loop, though more of them wait for arrivals.
    assert found.today == "4/1"
    asked = found.measured["8/1/300"]
    assert (asked.scenario.sessions, asked.scenario.arrival_rate_per_s) == (8, 300.0)
    mine = [sample for sample in read_samples(run) if sample.setting == "8/1/300"]
    responded_ms, commits = (
        1e3 * sum(sample.response_s or 0 for sample in mine),
        sum(sample.commits for sample in mine),
    )
    assert asked.quantities["response_time_ms"].point == pytest.approx(responded_ms / commits)
    mean, p95 = (asked.quantities[name].point for name in ("response_time_ms", "response_time_ms_p95"))
    commit_ms = asked.quantities["commit_time_ms"].point
    assert mean is not None
    assert p95 is not None
    assert commit_ms is not None
    # No flush is shorter than the emulated device's, and a response holds its commit; classes are 0.1 % wide.
    assert 1.0 < commit_ms < 1.001 * mean < 1.001 * p95
    assert "response_time_ms_p95" not in found.measured["4/1"].quantities
    write_results(run, analyse(run))
    write_report(run, render(read_results(run)))
    assert verify_run(open_run(run.path)) == []

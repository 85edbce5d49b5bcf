"""The CPU of each server process, from the kernel's nanoseconds, against its own total in ticks."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.engine import PostgresEngine
from redolab.engine.postgres.private import EmbeddedServer
from redolab.experiment.base import Wish
from redolab.experiment.commit_mode.plan import EXPERIMENT
from redolab.measure.difference import instance_cpu_s, process_times
from redolab.records.load import Amount

LOAD_S = 6.0
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def private() -> Iterator[tuple[PostgresEngine, str]]:
    server = EmbeddedServer(2)
    engine = PostgresEngine(Connector(server.target), server, seed=1)
    yield engine, server.target
    engine.close()


def stat(pid: int) -> tuple[float, float]:
    """CPU of the process, and of its children that have ended, seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own, ended = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
    return own * TICK_S, ended * TICK_S


def test_the_processes_cpu_adds_up_to_the_systems_own_total(
    private: tuple[PostgresEngine, str],
) -> None:
    engine, target = private
    name = "nowait/batch"
    plan = EXPERIMENT.plan(Wish(sessions=(2,)))
    (setting,) = engine.prepare(plan.load, [plan.combinations[name]])
    engine.apply(setting)

    before = engine.snapshot()
    assert before.tasks is not None
    known = {task.pid: stat(task.pid) for task in before.tasks}
    passer_by = threading.Thread(target=work_and_leave, args=(target,))
    passer_by.start()
    work = engine.work(Amount(LOAD_S), threading.Event())
    passer_by.join()
    wait_for_its_end(engine)
    after = engine.snapshot()
    assert after.tasks is not None
    postmaster = next(task.pid for task in after.tasks if task.kind == "postmaster")
    own = sum(stat(task.pid)[0] - known.get(task.pid, (0, 0))[0] for task in after.tasks)
    ended = stat(postmaster)[1] - known[postmaster][1]

    living = process_times(1, before, after)
    assert living is not None
    in_sum = sum(process.cpu_ns for process in living) / 1e9
    assert work.trouble is None
    # Where others are at work too, these wait for a CPU meanwhile.
    assert in_sum + sum(process.run_queue_ns or 0 for process in living) / 1e9 > LOAD_S / 2
    # Each process's ticks may miss one at either end; idle ones have none to miss.
    assert in_sum == pytest.approx(own, rel=0.01)

    # With the one that came and went; its account is kept in ticks.
    assert ended > 5 * TICK_S
    instance = instance_cpu_s(before, after)
    assert instance is not None
    assert instance == pytest.approx(own + ended, rel=0.01)


def work_and_leave(target: str) -> None:
    with psycopg.connect(target, application_name="passer-by") as connection:
        connection.execute("select count(*) from generate_series(1, 2000000)")


def wait_for_its_end(engine: PostgresEngine) -> None:
    question = "select from pg_stat_activity where application_name = 'passer-by'"
    give_up = time.monotonic() + 30
    while engine._control.execute(question.encode()).fetchone():
        assert time.monotonic() < give_up
        time.sleep(0.01)

"""The profiler against sessions that noted themselves when they waited; the long form is in benches/."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from redolab.analysis.live.profile import profile_observation
from redolab.engine import open_observer
from redolab.records.observation import Observation, join
from tests.scripted import LOCKS, SLEEP, Worker, script, shares

SECONDS = 24
SEED = 20261121


@pytest.fixture(scope="module")
def watched() -> tuple[list[Worker], list[Observation]]:
    """Twelve workers that sleep and wait for three kinds of locks, read once a second."""
    with script(30) as scripted:
        until = time.time() + SECONDS
        workers = []
        for number in range(12):
            kind = tuple(LOCKS)[number % 3]
            workers.append(
                scripted.work(kind, number + 1, until, 0.0005, (0.005, 0.02, 0.06)[number % 4 % 3])
            )
            scripted.hold(kind, number + 1, until, 0.02, 0.01)
        scripted.begun()
        observer = open_observer(scripted.url, SEED)
        try:
            observer.read()
            readings = []
            while time.time() < until - 2:
                time.sleep(1)
                readings.append(observer.read())
        finally:
            observer.close()
        scripted.ended()
    return workers, readings


def window(observation: Observation) -> tuple[float, float]:
    """Begin and end, in seconds since 1970."""
    begin = datetime.fromisoformat(observation.at).timestamp()
    return begin, begin + observation.elapsed_s


def test_the_truth_lies_inside_the_intervals(watched: tuple[list[Worker], list[Observation]]) -> None:
    workers, readings = watched
    inside = rows = 0
    for reading in readings:
        sessions = {item["pid"]: item for item in profile_observation(reading)["sessions"]}
        for worker in workers:
            session = sessions[worker.pid]
            said = shares(session["profile"])
            assert sum(share["point"] for share in said.values()) == pytest.approx(1, abs=0.01)
            for event in worker.waits:
                truth = worker.time_in(event, *window(reading)) / session["busy_s"]
                share = said.get(event, {"low": 0.0, "high": 0.0})
                inside += share["low"] <= truth <= share["high"]
                rows += 1
    # 95 % of some 500. A worker's own notes hold its time in the run queue too, which the profile keeps
    # apart: on a busy machine that costs a few.
    assert rows >= 400
    assert inside / rows >= 0.88


def test_the_whole_stretch_is_right_and_in_the_right_order(
    watched: tuple[list[Worker], list[Observation]],
) -> None:
    workers, readings = watched
    whole = join(readings)
    (group,) = (item for item in profile_observation(whole)["kinds"] if item["application"] == "worker")
    said = {row["row"]: row["time_s"] for row in group["profile"]}
    truth = {
        event: sum(worker.time_in(event, *window(whole)) for worker in workers)
        for event in (SLEEP, *LOCKS.values())
    }
    # A worker's own notes hold its time in the run queue too, which the profile keeps apart.
    for event, seconds in truth.items():
        assert (
            -0.04 < (seconds - said[event]) / group["busy_s"] < 0.04 + said["run_queue"] / group["busy_s"]
        ), event
    top = [item["event"] for item in group["top_events"]]
    assert top[0] == SLEEP
    assert set(top[1:4]) == set(LOCKS.values())


def test_every_worker_is_known_by_its_application(watched: tuple[list[Worker], list[Observation]]) -> None:
    workers, readings = watched
    found = {item["application"]: item for item in profile_observation(join(readings))["kinds"]}
    assert found["worker"]["sessions"] == len(workers)
    assert found["holder"]["sessions"] == len(workers)

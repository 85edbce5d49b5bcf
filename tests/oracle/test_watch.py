"""`redolab watch oracle://...`: stretches of an instance's own accounts, over a lost connection too."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from redolab.commands.watch import watch
from redolab.engine.oracle.connecting.connection import Connection
from redolab.engine.oracle.observer import observer, reading
from redolab.engine.oracle.preflight.server import Server as Identified
from redolab.measure.watching import PeriodLengths
from redolab.records.run import Run
from redolab.records.store import open_run
from tests.oracle.instance import Busy
from tests.oracle.replay import Replayed

SPEED = 20.0
"""Seconds of the instance in one of ours."""
ONE = pytest.mark.parametrize("release", [2103], indirect=True)


@contextmanager
def at_work(busy: Busy, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the sessions work second by second, by a clock that is quicker than ours."""
    passed, ended, still = [0], threading.Event(), threading.Lock()
    monkeypatch.setattr(reading, "monotonic", lambda: float(passed[0]))

    def read_within_a_second(connection: Connection, server: Identified) -> reading.Reading:
        # A reading takes several statements, and here a second is as short as one of them.
        with still:
            return plain(connection, server)

    plain = reading.read
    monkeypatch.setattr(observer, "read", read_within_a_second)

    def work() -> None:
        while not ended.wait(1 / SPEED):
            with still, busy.instance.lock:
                busy.second()
                passed[0] += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def watched(server: Replayed, place: Path, seconds: float) -> Run:
    lengths = PeriodLengths(first_s=10.0)
    outcome = watch(server.url, place / "watch", seconds, "redolab watch", lengths)
    assert outcome.error is None
    return open_run(place / "watch")


def rows(run: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run.samples.to_pylist()
    return found


@ONE
def test_each_stretch_has_what_the_sessions_were_told_to_spend(
    server: Replayed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = Busy(server.instance)
    busy.second()
    with at_work(busy, monkeypatch):
        run = watched(server, tmp_path, 1.2)
    assert run.manifest["engine"]["name"] == "oracle"
    assert run.manifest["engine"]["identity"] == "orcl_a ORCL"
    stretches = [row for row in rows(run) if row["spoiled"] is None]
    assert stretches
    for row in stretches:
        seconds = row["elapsed_s"]
        assert row["transactions"] == pytest.approx(200 * seconds)
        assert row["log_sync_s"] == pytest.approx(1.0 * seconds)
        assert row["session_cpu_s"] == pytest.approx(0.4 * seconds)
        assert row["session_run_queue_s"] is None
        assert row["log_flushes"] == pytest.approx(125 * seconds)
        assert row["log_flush_time_s"] == pytest.approx(0.25 * seconds)
        # Of its own machine, which is not this one.
        assert (row["host_cpus"], row["host_cores"]) == (4, 2)
    numbers = {row["sample"] for row in stretches}
    entries = [item for item in run.entries.to_pylist() if item["sample"] in numbers]
    whole_s = sum(row["elapsed_s"] for row in stretches)
    writes = {item["name"]: item["value"] for item in entries if item["section"] == "log write"}
    assert set(writes) == {"2.048"}
    syncs = sum(item["value"] for item in entries if item["section"] == "log sync")
    assert syncs == pytest.approx(200 * whole_s)


@ONE
def test_it_goes_on_over_a_restart(server: Replayed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = Busy(server.instance)
    busy.second()

    def restart() -> None:
        time.sleep(0.7)
        server.restart()

    with at_work(busy, monkeypatch):
        breaking = threading.Thread(target=restart)
        breaking.start()
        run = watched(server, tmp_path, 4.5)
        breaking.join()
    found = [row["spoiled"] for row in rows(run)]
    assert "the connection to the server was lost" in found
    assert len(found) > found.index("the connection to the server was lost") + 1

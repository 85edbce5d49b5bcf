"""A watch on disk: bounded in files and bytes, whole after a kill in any moment, and gone on with."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from redolab.errors import UsageError
from redolab.records.parts import Span, parts_to_read
from redolab.records.report import Entry
from redolab.records.run import Run
from redolab.records.store import open_run
from redolab.records.watched import BACKGROUND, LOG_SYNC, LOG_WRITE, SESSIONS, SETTING, Watched
from redolab.records.writing import watch_writer
from redolab.records.writing.watch_writer import JOINED, WatchWriter

MANIFEST: dict[str, Any] = {
    "experiment": "watch", "record": "watched", "unit": "commit", "started_at": "2026-11-26T03:00:00+00:00",
    "design": {"baseline": SETTING, "blocks": 1, "seed": 0, "margin": 0.0},
    "settings": [{"name": SETTING, "levels": {}, "tier": "", "parameters": {}}],
    "load": {}, "engine": {"name": "postgresql", "version": "18.1"}, "machine": {},
    "sampler": {"source": "server memory"},
}  # fmt: skip


def stretch(number: int, elapsed_s: float = 10.0, **changes: Any) -> Watched:
    """A row with figures that are as irregular as measured ones."""
    draw = random.Random(number)
    row = Watched(
        sample=number, block=1, position=number, setting=SETTING, started_at="2026-11-26T03:00:00.123+00:00",
        start_s=10.0 * number + draw.random(), elapsed_s=elapsed_s + draw.random() / 100, spoiled=None,
        connected_s=320 + draw.random(), busy_s=300 * draw.random(), client_in_transaction_s=draw.random(),
        worked_sessions=draw.randrange(40), session_cpu_s=draw.random(), session_run_queue_s=draw.random(),
        log_sync_s=draw.random(), instance_cpu_s=draw.random(), host_cpus=8, host_cores=4,
        host_busy_s=draw.random(), host_steal_s=draw.random(), transactions=draw.randrange(10**6),
        rows_written=draw.randrange(10**7), log_flushes=draw.randrange(10**5), log_flush_time_s=draw.random(),
        log_writes=draw.randrange(10**5), log_write_time_s=draw.random(), log_bytes=draw.randrange(10**10),
        binlog_flushes=draw.randrange(10**5), binlog_flush_time_s=draw.random(), ticks=250,
        looks=draw.randrange(10**5), sampler_cpu_s=draw.random(), server_cpu_s=draw.random(),
    )  # fmt: skip
    return dataclasses.replace(row, **changes)


def entries(number: int, rows: int = 30) -> list[Entry]:
    """Accounts and histograms as a busy server with many kinds of waits has them."""
    draw = random.Random(-number)
    return [
        Entry(number, section, name, measure, value, None, None, None)
        for section, measure, named in (
            (SESSIONS, "seconds", [f"LWLock:Event{place}" for place in range(rows)]),
            (BACKGROUND, "seconds", [f"IO:Event{place}" for place in range(rows)]),
            (LOG_SYNC, "waits", [f"{0.125 * 2**place:g}" for place in range(rows // 2)]),
            (LOG_WRITE, "waits", [f"{0.125 * 2**place:g}" for place in range(rows // 2)]),
        )
        for name in named
        for value in [draw.random() if measure == "seconds" else float(draw.randrange(50))]
    ]


def write(writer: WatchWriter, numbers: range) -> None:
    for number in numbers:
        writer.add(stretch(number, block=writer.block), entries(number, 4))


def check(run: Run, stretches: int) -> None:
    """Every stretch is there once, in order, with its entries."""
    assert run.samples["sample"].to_pylist() == list(range(1, stretches + 1))
    kept = run.entries["sample"].to_pylist()
    assert sorted(kept) == sorted(n for n in range(1, stretches + 1) for _ in entries(n, 4))


def abandon(writer: WatchWriter) -> None:
    """What a SIGKILL leaves: nothing is closed in good order."""
    writer._parts.close()
    writer._folder.close()


def names(path: Path) -> list[str]:
    return sorted(file.name for file in path.iterdir())


def size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def test_an_hour_and_a_third_of_a_day_stay_small(tmp_path: Path) -> None:
    writer = WatchWriter(tmp_path / "watch", MANIFEST)
    for number in range(1, 361):
        writer.add(stretch(number), entries(number))
    hour = size(writer.path)
    for number in range(361, 361 + 480):
        writer.add(stretch(number, 60.0), entries(number))
    third = size(writer.path) - hour
    assert hour < 20e6
    assert third < 5e6 / 3
    files = len(list((writer.path / "parts").iterdir()))
    assert files <= 2 * (840 // JOINED + JOINED)
    run = writer.finish("finished")
    assert run.samples.num_rows == 840
    assert size(run.path) < hour + third


def test_what_is_read_is_the_same_before_and_after_parts_were_joined(tmp_path: Path) -> None:
    writer = WatchWriter(tmp_path / "watch", MANIFEST)
    write(writer, range(1, JOINED))
    before = open_run(writer.path)
    check(before, JOINED - 1)
    write(writer, range(JOINED, JOINED + 3))
    assert parts_to_read(names(writer.path / "parts"))[0] == Span(1, JOINED)
    check(open_run(writer.path), JOINED + 2)
    run = writer.finish("finished")
    check(run, JOINED + 2)
    assert run.samples.slice(0, JOINED - 1).equals(before.samples)
    assert run.entries.slice(0, before.entries.num_rows).equals(before.entries)
    assert not (run.path / "parts").exists()


@pytest.mark.parametrize("ended", ["finished", "interrupted", "failed", None])
def test_a_watch_is_gone_on_with(tmp_path: Path, ended: str | None) -> None:
    first = WatchWriter(tmp_path / "watch", MANIFEST)
    write(first, range(1, 6))
    if ended is None:
        abandon(first)
    else:
        first.finish(
            ended, finished_at="2026-11-26T03:01:00+00:00", error="something" if ended == "failed" else None
        )
        for name in ("results.json", "report.html"):
            (first.path / name).write_text("{}")
    second = WatchWriter(first.path, None)
    assert (second.samples, second.block) == (5, 2)
    assert second.watched_s == max(stretch(n).start_s + stretch(n).elapsed_s for n in range(1, 6))
    manifest = json.loads((first.path / "manifest.json").read_text())
    assert (manifest["status"], manifest["hashes"], manifest.get("error")) == ("running", {}, None)
    assert manifest["started_at"] == MANIFEST["started_at"]
    assert names(first.path) == ["manifest.json", "parts"]
    write(second, range(6, 9))
    check(open_run(first.path), 8)
    run = second.finish("finished")
    check(run, 8)
    assert run.samples["block"].to_pylist() == [1] * 5 + [2] * 3


def test_a_watch_that_somebody_is_at_is_left_alone(tmp_path: Path) -> None:
    first = WatchWriter(tmp_path / "watch", MANIFEST)
    write(first, range(1, 3))
    with pytest.raises(UsageError, match="still being watched"):
        WatchWriter(first.path, None)
    write(first, range(3, 4))
    check(first.finish("finished"), 3)
    WatchWriter(first.path, None).finish("finished")


def test_another_kind_of_run_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "run"
    place.mkdir()
    (place / "manifest.json").write_text(
        json.dumps(
            {
                **MANIFEST,
                "record": "report",
                "experiment": "awr",
                "format": 2,
                "status": "finished",
                "hashes": {},
            }
        )
    )
    before = (place / "manifest.json").read_bytes()
    with pytest.raises(UsageError, match="'awr', not a watch"):
        WatchWriter(place, None)
    assert names(place) == ["manifest.json"]
    assert (place / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("started_at", [None, "yesterday", "2026-11-26T03:00:00", ""])
def test_a_watch_that_does_not_say_when_it_began_cannot_go_on(tmp_path: Path, started_at: str | None) -> None:
    writer = WatchWriter(tmp_path / "watch", {**MANIFEST, "started_at": started_at})
    write(writer, range(1, 3))
    writer.finish("finished")
    with pytest.raises(UsageError, match="no valid start time"):
        WatchWriter(writer.path, None)


def test_a_watch_with_other_numbers_cannot_go_on(tmp_path: Path) -> None:
    writer = WatchWriter(tmp_path / "watch", MANIFEST)
    writer.add(stretch(10**12), entries(10**12, 4))
    with pytest.raises(UsageError, match="are not numbered"):
        WatchWriter(_closed(writer), None)


def _closed(writer: WatchWriter) -> Path:
    """The tables of a watch that was closed, from parts that no version would have written."""
    for kind in ("samples", "entries"):
        part = writer.path / "parts" / Span(10**12, 10**12).file(kind)
        (writer.path / f"{kind}.parquet").write_bytes(part.read_bytes())
    writer.save_manifest(status="finished")
    abandon(writer)
    return writer.path


class Killed(BaseException):
    """The process ends here."""


class Deadly:
    """Counts what is done to files, and ends everything at one of them."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int) -> None:
        self.at, self.done = at, 0
        unlink, replace = os.unlink, os.replace

        def unlinks(name: str, *, dir_fd: int) -> None:
            self.step()
            unlink(name, dir_fd=dir_fd)

        def replaces(draft: str, name: str, **directories: int) -> None:
            self.step()
            replace(draft, name, **directories)

        patch.setattr(os, "unlink", unlinks)
        patch.setattr(os, "replace", replaces)

    def step(self) -> None:
        self.done += 1
        if self.done == self.at:
            raise Killed


def _moments(tmp_path: Path, patch: pytest.MonkeyPatch, closed: bool) -> Iterator[Path]:
    """A watch of some stretches that is gone on with, killed after 1, 2, 3 ... changes to its files."""
    for at in range(1, 100):
        writer = WatchWriter(tmp_path / f"watch-{at}", MANIFEST)
        write(writer, range(1, 8))
        if closed:
            writer.finish("finished")
        else:
            abandon(writer)
        with patch.context() as inner:
            deadly = Deadly(inner, at)
            try:
                again = WatchWriter(writer.path, None)
            except Killed:
                yield writer.path
                continue
        abandon(again)
        assert deadly.done == at - 1
        return


@pytest.mark.parametrize("closed", [True, False])
def test_killed_in_any_moment_of_going_on_nothing_is_lost_or_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    moments = 0
    for path in _moments(tmp_path, monkeypatch, closed):
        moments += 1
        check(open_run(path), 7)
        again = WatchWriter(path, None)
        check(open_run(path), 7)
        write(again, range(8, 10))
        check(again.finish("finished"), 9)
    assert moments > 5


def test_killed_while_it_is_closed_nothing_is_lost_or_read_twice(tmp_path: Path) -> None:
    for tables in (("samples",), ("samples", "entries")):
        writer = WatchWriter(tmp_path / "-".join(tables), MANIFEST)
        write(writer, range(1, 4))
        for kind in tables:
            pq.write_table(getattr(open_run(writer.path), kind), writer.path / f"{kind}.parquet")
        abandon(writer)
        check(open_run(writer.path), 3)
        again = WatchWriter(writer.path, None)
        write(again, range(4, 6))
        check(again.finish("finished"), 5)


_WRITE = """
import sys
from pathlib import Path
from tests.unit.records.test_watch_writer import MANIFEST, write
from redolab.records.writing import watch_writer
watch_writer.JOINED = 3
place = Path(sys.argv[1])
writer = watch_writer.WatchWriter(place, None if place.exists() else MANIFEST)
write(writer, [writer.samples + 1])
print("begun", flush=True)
write(writer, range(writer.samples + 1, 10**6))
"""


def test_killed_at_random_it_goes_on(tmp_path: Path) -> None:
    draw, place, stretches = random.Random(26), tmp_path / "watch", 0
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", _WRITE, place], stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        try:
            process.wait(timeout=0.05 + 0.3 * draw.random())
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.stdout.close()
        run = open_run(place)
        assert run.samples.num_rows >= stretches
        stretches = run.samples.num_rows
        check(run, stretches)
    assert stretches > 0
    check(WatchWriter(place, None).finish("finished"), stretches)


def test_it_is_read_while_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_writer, "JOINED", 5)
    writer, read = WatchWriter(tmp_path / "watch", MANIFEST), 0
    thread = threading.Thread(target=write, args=(writer, range(1, 60)))
    thread.start()
    while thread.is_alive():
        run = open_run(writer.path)
        check(run, run.samples.num_rows)
        assert run.samples.num_rows >= read
        read = run.samples.num_rows
    thread.join()
    assert read > 0
    check(writer.finish("finished"), 59)


def test_a_full_watch_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = WatchWriter(tmp_path / "watch", MANIFEST)
    write(writer, range(1, 3))
    assert not writer.full
    monkeypatch.setattr(watch_writer, "MOST_SAMPLES", 3)
    assert writer.full
    writer.finish("finished")


_FIRST = """
import sys
from pathlib import Path
from tests.unit.records.test_watch_writer import MANIFEST, write
from redolab.records.writing.watch_writer import WatchWriter
writer = WatchWriter(Path(sys.argv[1]), MANIFEST)
known = set(sys.modules)
write(writer, [1])
print(sorted(set(sys.modules) - known))
"""


def test_the_first_stretch_waits_for_no_import(tmp_path: Path) -> None:
    """Arrow's imports take a quarter of a second, which would be time between two samples."""
    done = subprocess.run(
        [sys.executable, "-c", _FIRST, tmp_path / "watch"],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.stdout == "[]\n"

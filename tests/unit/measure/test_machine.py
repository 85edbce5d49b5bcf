"""The machine of a sample: how fast it was before it, and what it did between the two snapshots."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from redolab.engine.base import MachineProbe
from redolab.engine.fake import FakeEngine, FakeScript
from redolab.engine.linux.host_counters import cpu_times
from redolab.engine.private.flushed_file import FlushedFile
from redolab.engine.private.own_server import OwnServer
from redolab.engine.private.probe import cpu_loop_s, probe, why_not_probed
from redolab.engine.side_by_side import SideBySide
from redolab.measure.difference import difference
from redolab.measure.trial import TrialContext, measure_sample
from redolab.records.design import Trial
from redolab.records.load import Amount, OwnRows
from redolab.records.sample import Sample, Snapshot, TaskAccount, Ticks, Work
from tests.unit.analysis.synthetic import design

TRIAL = Trial(sample=1, block=1, position=1, setting="wait", role="treatment")
Times = Mapping[int, tuple[float, float]] | None


def between(before: Snapshot, after: Snapshot) -> Sample:
    return difference(TRIAL, "2026-11-28T14:00:00Z", 0.0, before, after, Work(9, 9, 0, 2.0, 1.0, 9), Ticks())[
        0
    ]


def snapshot(times: Times = None, *tasks: TaskAccount, log_writers: frozenset[str] = frozenset()) -> Snapshot:
    return Snapshot(0.0, "one", {}, tasks or None, 0, (7,), cpu_times=times, log_writers=log_writers)


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        ({0: (1.0, 5.0), 1: (2.0, 5.0)}, {0: (1.2, 6.0), 1: (2.9, 6.0)}, 0.9),
        ({0: (1.0, 5.0)}, {0: (1.5, 6.0), 1: (9.0, 9.0)}, 0.5),  # A CPU that came online meanwhile.
        ({0: (1.0, 5.0), 1: (2.0, 5.0)}, {0: (1.5, 6.0)}, 0.5),  # One that went offline.
        ({0: (1.0, 5.0)}, {0: (2.1, 6.0)}, 1.0),  # Its idle time was corrected downwards.
        ({0: (1.0, 5.0)}, {0: (0.9, 6.0)}, 0.0),
        ({0: (1.0, 5.0)}, {0: (1.0, 5.0)}, None),  # A clock that did not move says nothing.
        (None, {0: (1.0, 5.0)}, None),
        ({0: (1.0, 5.0)}, None, None),
    ],
)
def test_the_busiest_cpu_by_its_own_clock(before: Times, after: Times, share: float | None) -> None:
    found = between(snapshot(before), snapshot(after)).busiest_cpu
    assert found == (None if share is None else pytest.approx(share))


def account(pid: int, kind: str, cpu_s: float, queue_s: float | None = 0.0) -> TaskAccount:
    return TaskAccount(pid, kind, pid, round(cpu_s * 1e9), None if queue_s is None else round(queue_s * 1e9))


def test_time_of_those_who_write_the_log_alone() -> None:
    kinds = frozenset({"writer", "flusher"})
    before = snapshot(None, account(7, "writer", 5.0), account(8, "writer", 1.0), log_writers=kinds)
    after = snapshot(
        None,
        account(7, "writer", 9.0),  # A session, whatever its name.
        account(8, "writer", 1.2, 0.3),
        account(9, "flusher", 0.1, 0.2),  # It began meanwhile.
        account(10, "other", 3.0, 3.0),
        log_writers=kinds,
    )
    sample = between(before, after)
    assert sample.log_writer_cpu_s == pytest.approx(0.3)
    assert sample.log_writer_run_queue_s == pytest.approx(0.5)


def test_no_process_for_the_log_is_not_one_that_did_nothing() -> None:
    other, writer = account(8, "other", 1.0), account(9, "writer", 1.0)
    kinds = frozenset({"writer"})
    for end in (
        snapshot(None, other, log_writers=kinds),
        snapshot(None, writer),
        snapshot(log_writers=kinds),
    ):
        sample = between(snapshot(None, other, writer), end)
        assert (sample.log_writer_cpu_s, sample.log_writer_run_queue_s) == (None, None)
    idle = snapshot(None, writer, log_writers=kinds)
    assert between(idle, idle).log_writer_cpu_s == 0.0
    queue = snapshot(None, account(9, "writer", 2.0, None), log_writers=kinds)
    assert between(idle, queue).log_writer_cpu_s == pytest.approx(1.0)
    assert between(idle, queue).log_writer_run_queue_s is None


def test_cpu_times_of_the_kernel(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text(
        "cpu  1 1 1 1 1 1 1 1 1 1\n"
        "cpu0 100 20 30 400 50 6 7 87 90 10\n"  # Guests, the last two, are in user and nice already.
        "cpu12 0 0 0 100 0 0 0\n"  # An old kernel without steal.
        "intr 5 0 0\ncpufreq 3 4\n"
    )
    assert cpu_times(stat) == {0: (2.5, 7.0), 12: (0.0, 1.0)}
    stat.write_text("nothing\n")
    assert cpu_times(stat) is None
    assert cpu_times(tmp_path / "missing") is None
    real = cpu_times()
    assert real
    assert all(0 <= busy_s <= all_s for busy_s, all_s in real.values())


def test_the_flushed_file_has_no_name_and_leaves_nothing(tmp_path: Path) -> None:
    file = FlushedFile(tmp_path)
    assert list(tmp_path.iterdir()) == []
    taken_s = file.flush_s()
    assert taken_s is not None
    assert taken_s > 0
    assert list(tmp_path.iterdir()) == []
    file.close()
    file.close()
    assert file.flush_s() is None
    assert FlushedFile(tmp_path / "missing").flush_s() is None


def test_a_slow_device_is_flushed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s, flushes = [0.0], []

    def flush(_file: int) -> None:
        flushes.append(_file)
        now_s[0] += 0.25

    module = "redolab.engine.private.flushed_file"
    monkeypatch.setattr(f"{module}.os.fdatasync", flush)
    monkeypatch.setattr(f"{module}.time.monotonic", lambda: now_s[0])
    file = FlushedFile(tmp_path)
    assert file.flush_s() == 0.25
    assert len(flushes) == 1

    def broken(_file: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(f"{module}.os.fdatasync", broken)
    assert file.flush_s() is None
    file.close()


class _Own:
    def flush_s(self) -> float:
        return 0.002


def test_what_cannot_be_seen_is_not_measured_and_said() -> None:
    own = cast("OwnServer", _Own())
    assert probe(None, local=False) == MachineProbe(None, None)
    here = probe(own, local=True)
    assert here.flush_s == 0.002
    assert here.cpu_loop_s is not None
    assert here.cpu_loop_s > 0
    assert why_not_probed(own, local=True) == []
    assert [text.partition(":")[0] for text in why_not_probed(None, local=False)] == [
        "Speed of the machine and its busiest CPU, for each sample", "Time of a flush before each sample",
    ]  # fmt: skip


def test_the_fixed_loop_is_more_work_than_none() -> None:
    assert cpu_loop_s() > 0.0001


class _Watched(FakeEngine):
    """Notes what is asked of it, in order."""

    def __init__(self, loop_s: float = 0.004) -> None:
        super().__init__({"wait/immediate": FakeScript(cpu_ns=100_000, run_queue_ns=0)})
        self.asked: list[str] = []
        self._loop_s = loop_s

    def settle(self) -> None:
        self.asked.append("settle")

    def probe(self) -> MachineProbe:
        self.asked.append("probe")
        return MachineProbe(self._loop_s, None)

    def work(self, amount: Amount, stop: threading.Event) -> Work:
        self.asked.append("work")
        return super().work(amount, stop)

    def snapshot(self) -> Snapshot:
        self.asked.append("snapshot")
        return super().snapshot()


def test_the_machine_is_looked_at_before_anything_is_done_under_the_setting() -> None:
    engine = _Watched()
    (setting,) = engine.prepare(
        OwnRows("own rows", sessions=2, scope="session"),
        [{"commit_wait": "wait", "commit_logging": "immediate"}],
    )
    planned = replace(design(blocks=1), warmup_s=0.1)
    moment = TrialContext(planned.order()[0], setting, planned, engine.clock, threading.Event())
    sample = measure_sample(engine, moment)[0]
    assert engine.asked == ["settle", "probe", "work", "snapshot", "work", "snapshot"]
    assert isinstance(sample, Sample)
    assert (sample.cpu_loop_s, sample.flush_s) == (0.004, None)


def test_of_servers_side_by_side_the_one_at_work_is_looked_at() -> None:
    engine = SideBySide({"one": _Watched(0.004), "two": _Watched(0.007)})
    levels = {"commit_wait": "wait", "commit_logging": "immediate"}
    load = OwnRows("own rows", sessions=2, scope="session")
    settings = engine.prepare(load, [{"server": name, **levels} for name in ("one", "two")])
    found = []
    for setting in (*settings, settings[0]):
        engine.apply(setting)
        found.append(engine.probe().cpu_loop_s)
    assert found == [0.004, 0.007, 0.004]

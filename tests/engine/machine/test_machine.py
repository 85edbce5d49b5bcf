"""The machine as an engine: real processes at work, what the kernel says of them, and a whole run."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from redolab.engine.machine.engine import MachineEngine
from redolab.errors import InterruptedRunError, RefusedError, UsageError
from redolab.machine.cpus import read_cpus
from redolab.records.load import Amount, Spins, Updates
from redolab.records.sample import Setting, Snapshot
from tests.control_group import control_group, inside
from tests.docs.pages import ROOT, inline_code
from tests.docs.test_docs import leaves
from tests.servers import command, in_a_process

MOST = 4
CPUS = read_cpus()


@pytest.fixture
def engine() -> Iterator[MachineEngine]:
    made = MachineEngine()
    yield made
    made.close()


def prepared(engine: MachineEngine) -> dict[int, Setting]:
    levels = [{"processes": str(number)} for number in range(1, MOST + 1)]
    settings = engine.prepare(Spins("", MOST, "session"), levels)
    return {int(setting.name): setting for setting in settings}


def children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def grown(before: Snapshot, after: Snapshot) -> list[tuple[float, float]]:
    """Seconds on CPU and in the run queue of each process."""
    assert before.tasks is not None
    assert after.tasks is not None
    return [
        ((new.cpu_ns - old.cpu_ns) / 1e9, ((new.run_queue_ns or 0) - (old.run_queue_ns or 0)) / 1e9)
        for old, new in zip(before.tasks, after.tasks, strict=True)
    ]


@pytest.mark.parametrize("processes", [1, 2, MOST])
def test_all_processes_can_run_from_the_agreed_moment_to_their_end(
    processes: int, engine: MachineEngine
) -> None:
    engine.apply(prepared(engine)[processes])
    before = engine.snapshot()
    done = engine.work(Amount(1.0, units_each=60), threading.Event())
    after = engine.snapshot()
    assert done.trouble is None
    assert done.units == processes * 60
    assert before.session_pids == after.session_pids
    assert len(set(before.session_pids)) == processes
    accounts = grown(before, after)
    # Each was on a CPU or waiting for one all the time, so they worked side by side, as far as the kernel's
    # CPU time explains their elapsed time: here to 5 %, and 50 ms for being woken.
    assert sum(map(sum, accounts)) == pytest.approx(done.session_elapsed_s, rel=0.05, abs=0.05 * processes)
    assert max(map(sum, accounts)) == pytest.approx(done.session_elapsed_max_s, rel=0.05, abs=0.05)
    # The same work takes every process about the same CPU time.
    cpu_s = [cpu for cpu, _ in accounts]
    assert max(cpu_s) < 2 * min(cpu_s)


def test_the_cpus_were_at_least_as_busy_as_these_processes(engine: MachineEngine) -> None:
    engine.apply(prepared(engine)[2])
    before = engine.snapshot()
    done = engine.work(Amount(1.0, units_each=100), threading.Event())
    after = engine.snapshot()

    def more(name: str) -> float:
        old, new = before.counters[name], after.counters[name]
        assert old is not None
        assert new is not None
        return new - old

    own = sum(cpu for cpu, _ in grown(before, after))
    # The kernel counts these in ticks of 10 ms, one of which each CPU may lack.
    assert more("host_busy_s") >= own - 0.02 * CPUS.threads
    whole = more("host_busy_s") + more("host_idle_s") + more("host_steal_s")
    assert whole == pytest.approx((after.at_s - before.at_s) * CPUS.threads, rel=0.1, abs=0.1)
    assert done.session_elapsed_max_s <= after.at_s - before.at_s


def test_work_for_a_time_ends_with_the_spin_under_way(engine: MachineEngine) -> None:
    engine.apply(prepared(engine)[2])
    done = engine.work(Amount(0.2), threading.Event())
    assert done.units >= 2
    assert done.session_elapsed_max_s >= 0.2
    shared = engine.work(Amount(1.0, units=31), threading.Event())
    assert shared.units == 32, "whole spins, the same for both"


def test_a_process_that_is_killed_spoils_the_sample_and_is_replaced(engine: MachineEngine) -> None:
    settings = prepared(engine)
    engine.apply(settings[2])
    first, second = engine.snapshot().session_pids
    threading.Timer(0.2, os.kill, (second, signal.SIGKILL)).start()
    done = engine.work(Amount(1.0, units_each=400), threading.Event())
    assert done.trouble == "1 of 2 processes ended in the middle of their work"
    assert done.units == 400
    engine.apply(settings[2])
    pids = engine.snapshot().session_pids
    assert first in pids
    assert second not in pids
    assert engine.work(Amount(1.0, units_each=5), threading.Event()).units == 10


def test_an_interruption_does_not_wait_for_the_work(engine: MachineEngine) -> None:
    before = children()
    engine.apply(prepared(engine)[MOST])
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(InterruptedRunError):
        engine.work(Amount(1.0, units_each=10**9), stop)
    assert len(children() - before) == MOST
    engine.close()
    assert children() == before


def test_it_does_no_other_load(engine: MachineEngine) -> None:
    with pytest.raises(UsageError, match="cannot do the load Updates"):
        engine.prepare(Updates("cpu", 1, "session", 1, 1), [])


def test_too_few_open_files_are_a_refusal_that_leaves_no_process(engine: MachineEngine) -> None:
    before = children()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 20, hard))
    try:
        with pytest.raises(RefusedError, match="ulimit -n"):
            engine.prepare(Spins("", 64, "session"), [{"processes": "64"}])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert children() > before, "it got some of the way"
    engine.close()
    assert children() == before


def run(place: Path, *options: str, group: Path | None = None) -> tuple[str, dict[str, Any]]:
    """The errors' stream and the results of a run in a process of its own."""
    words = command(
        "run", "cpu-capacity", "--quick", "--json", "--seed", "5", *options, "--out", place / "run"
    )
    done = subprocess.run(
        words if group is None else inside(group, words),
        env=os.environ | {"XDG_DATA_HOME": str(place / "data")},
        check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr, json.loads(done.stdout)


def test_a_whole_run_and_what_is_kept_of_it(tmp_path: Path) -> None:
    said, results = run(tmp_path, "--blocks", "2", "--seconds", "0.4")
    assert results["engine"]["name"] == "machine"
    assert results["unit"] == "spin"
    numbers = [setting["name"] for setting in results["settings"]]
    assert numbers[0] == "1"
    assert int(numbers[-1]) == 2 * CPUS.threads
    elapsed, *_ = results["tables"]
    assert [str(row["processes"]) for row in elapsed["rows"]] == numbers
    assert results["method"]["machine"]["processors"]["allowed"] == list(CPUS.allowed)
    assert results["capacity"]["effective_cpus"]["point"] > 0
    documented = inline_code(ROOT / "docs" / "reference" / "json.md")
    # What is an empty list here is documented by what it holds elsewhere.
    documented |= {name.partition("[]")[0] for name in documented} | {"settings[].instance_profile"}
    assert sorted(set(leaves(results, "")) - documented) == []
    # Every figure comes from the stored run alone.
    assert in_a_process("verify", tmp_path / "run").code == 0
    kept = list((tmp_path / "data").rglob("*.json"))
    decided = results["verdict"]["outcome"] in ("equivalent", "worse")
    assert len(kept) == decided
    assert ("The machine's CPU capacity was kept for later forecasts" in said) == decided


def test_a_quota_of_one_and_a_half_cpus_is_found(tmp_path: Path) -> None:
    if CPUS.limit < 2:
        pytest.skip("a quota of 1.5 CPUs binds only where this process may use 2 CPUs or more")
    with control_group(quota_cpus=1.5) as group:
        _, results = run(tmp_path, "--blocks", "4", group=group)
    found, shown = results["capacity"], results["verdict"]["text"]
    assert found["power"] == "quota", shown
    assert shown.startswith("Size for the quota, or raise it: this machine gives M = ")
    assert "Capped by a quota of 1.5 CPUs" in shown
    assert results["method"]["machine"]["processors"]["quota_cpus"] == 1.5
    # Within 5 % of the quota: its CPU time to the point, the work that was done with it by the interval.
    (elapsed,) = [table for table in results["tables"] if table["key"] == "cpu-elapsed"]
    full = elapsed["rows"][-1]
    assert full["by_quota"]["point"] == pytest.approx(1.5 / 1.5, rel=0.05)
    assert found["effective_cpus"]["low"] <= 1.05 * 1.5
    assert found["effective_cpus"]["high"] >= 0.95 * 1.5
    assert found["throttled_share"]["point"] > 0.5
    (withheld,) = [table for table in results["tables"] if table["key"] == "cpu-throttling"]
    assert withheld["rows"][0]["periods"]["point"] < 0.1, "one process alone stays below the quota"

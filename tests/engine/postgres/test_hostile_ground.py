"""The wait sampler where things go wrong around it: never a crash, never a wrong attribution."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from redolab import _core
from redolab.engine.postgres.waits.events import event_names
from tests.servers import Server, installed_servers, running, wait_until

RATE_PER_S = 200.0
PG_SLEEP = next(number for number, name in (event_names(18) or {}).items() if name == ("Timeout", "PgSleep"))
CLIENT_READ = next(n for n, name in (event_names(18) or {}).items() if name == ("Client", "ClientRead"))


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the server's user may enter, with a path short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="redolab-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def fresh(place: Path) -> Iterator[Server]:
    """A server of the newest version that may be maltreated."""
    yield from running(installed_servers()["18"], place / "18")


def postmaster(server: Server) -> int:
    return int((server.data / "postmaster.pid").read_text().splitlines()[0])


def connect(server: Server) -> psycopg.Connection:
    return psycopg.connect(server.conninfo("postgres"), autocommit=True)


def numbers(values: bytes) -> list[int]:
    return array("I", values).tolist()


def looks(window: _core.Window) -> Counter[tuple[int, int]]:
    """Looks by process and event, idle ones too."""
    found = Counter(zip(numbers(window.look_process), numbers(window.look_event), strict=True))
    for process, event, ticks in window.idle:
        found[process, event] += ticks
    return found


def assert_consistent(window: _core.Window) -> None:
    """Every look belongs to a process, at a tick between the first and the last that looked at it."""
    found: Counter[int] = Counter()
    for (process, _), count in looks(window).items():
        found[process] += count
    assert window.looks == found.total()
    for place, watched in enumerate(window.processes):
        assert found[place] == watched.last_tick - watched.first_tick - watched.skipped
        assert watched.last_tick <= window.ticks
    names = [(watched.pid, watched.start_ticks) for watched in window.processes]
    assert len(set(names)) == len(names)
    ticks = numbers(window.look_tick)
    assert ticks == sorted(ticks)
    assert len(set(zip(ticks, numbers(window.look_process), strict=True))) == len(ticks)


def of_pid(window: _core.Window, pid: int) -> int:
    """Place of a process in the window."""
    (place,) = [place for place, process in enumerate(window.processes) if process.pid == pid]
    return place


def test_after_a_crash_the_new_memory_is_found_and_the_old_processes_are_gone(fresh: Server) -> None:
    sampler = _core.WaitSampler(postmaster(fresh), RATE_PER_S, 1, [])
    with ThreadPoolExecutor(1) as pool:
        old = connect(fresh)
        old_pid = old.info.backend_pid
        sleeping = pool.submit(old.execute, "select pg_sleep(60)")
        wait_until(
            lambda: fresh.ask("select 1 from pg_stat_activity where wait_event = 'PgSleep'") == 1, "sleep"
        )
        time.sleep(0.2)
        os.kill(old_pid, signal.SIGKILL)
        assert isinstance(sleeping.exception(), psycopg.OperationalError)
        wait_until(lambda: answers(fresh), "the server recovers")
    with connect(fresh) as new:
        new.execute("select pg_sleep(1)")
        seen = sampler.stop()
        assert_consistent(seen)
        before, after = of_pid(seen, old_pid), of_pid(seen, new.info.backend_pid)
        found = looks(seen)
        assert seen.processes[before].ended
        assert found[before, PG_SLEEP] > 0
        assert not seen.processes[after].ended
        # A search for the new memory takes a fifth of a second at most.
        assert found[after, PG_SLEEP] > 0.5 * RATE_PER_S
        assert (seen.processes[after].user, seen.processes[after].database) == ("postgres", "postgres")
        old.close()


def answers(server: Server) -> bool:
    try:
        connect(server).close()
    except psycopg.OperationalError:
        return False
    return True


def test_when_the_server_stops_what_was_seen_is_there_and_ticks_are_lost(fresh: Server) -> None:
    sampler = _core.WaitSampler(postmaster(fresh), RATE_PER_S, 2, [])
    time.sleep(0.3)
    fresh.stop()
    gone_at = sampler.read()
    time.sleep(0.3)
    afterwards = sampler.stop()
    assert_consistent(gone_at)
    assert gone_at.ticks > 0
    assert gone_at.looks > 0
    assert all(process.ended for process in gone_at.processes[1:])
    assert (afterwards.ticks, afterwards.looks) == (0, 0)
    assert afterwards.lost > 0
    assert sampler.stop().elapsed_s == 0


def test_a_server_that_starts_again_is_another_one(fresh: Server) -> None:
    first = _core.WaitSampler(postmaster(fresh), RATE_PER_S, 3, [])
    fresh.stop()
    fresh.start()
    second = _core.WaitSampler(postmaster(fresh), RATE_PER_S, 3, [])
    with connect(fresh) as session:
        session.execute("select pg_sleep(0.3)")
        new, old = second.stop(), first.stop()
        assert looks(new)[of_pid(new, session.info.backend_pid), PG_SLEEP] > 0
    assert_consistent(new)
    assert_consistent(old)
    assert not {process.pid for process in old.processes} & {process.pid for process in new.processes}


def test_sessions_that_come_and_go_are_each_seen_as_themselves(newest: Server) -> None:
    sampler = _core.WaitSampler(postmaster(newest), RATE_PER_S, 4, [])
    stop = threading.Event()
    pids: set[int] = set()

    def come_and_go() -> None:
        while not stop.is_set():
            with connect(newest) as session:
                pids.add(session.info.backend_pid)
                session.execute("select pg_sleep(0.02)")

    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(come_and_go)
        time.sleep(3)
        stop.set()
    seen = sampler.stop()
    assert_consistent(seen)
    short = [place for place, process in enumerate(seen.processes) if process.pid in pids]
    # Who lives for 20 ms is there at one of 200 ticks a second nearly always.
    assert len(short) > 0.5 * len(pids)
    found = looks(seen)
    slept = sum(found[place, PG_SLEEP] for place in short)
    assert slept > 0
    # Nobody else has slept: no tick is a former process's.
    assert sum(ticks for (_, event), ticks in found.items() if event == PG_SLEEP) == slept
    ended = [process for process in seen.processes if process.ended]
    assert len(ended) > 0.5 * len(pids)
    assert all(process.elapsed_s < 2 for process in ended)


def test_five_hundred_idle_sessions_are_all_seen_idle(fresh: Server) -> None:
    fresh.stop()
    fresh.start("-c", "max_connections=520")
    with ExitStack() as stack:
        sessions = [stack.enter_context(connect(fresh)) for _ in range(500)]
        pids = {session.info.backend_pid for session in sessions}
        sampler = _core.WaitSampler(postmaster(fresh), 50.0, 5, [])
        time.sleep(3)
        seen = sampler.stop()
    assert_consistent(seen)
    found = looks(seen)
    places = [place for place, process in enumerate(seen.processes) if process.pid in pids]
    assert len(places) == 500
    assert {found[place, CLIENT_READ] for place in places} == {seen.ticks}


def test_a_pause_reads_nothing(newest: Server) -> None:
    sampler = _core.WaitSampler(postmaster(newest), RATE_PER_S, 6, [])
    time.sleep(0.2)
    sampler.pause()
    assert sampler.read().ticks > 0
    time.sleep(0.3)
    paused = sampler.read()
    assert (paused.ticks, paused.looks, paused.lost) == (0, 0, 0)
    sampler.resume()
    time.sleep(0.2)
    assert sampler.stop().ticks > 0


def test_windows_follow_each_other_without_a_gap(newest: Server) -> None:
    with connect(newest) as session, ThreadPoolExecutor(1) as pool:
        pid = session.info.backend_pid
        spinning = pool.submit(session.execute, "do $$ begin loop end loop; end $$")
        whole = _core.WaitSampler(postmaster(newest), RATE_PER_S, 7, [])
        parts = _core.WaitSampler(postmaster(newest), RATE_PER_S, 7, [])
        windows = []
        for _ in range(4):
            time.sleep(0.3)
            windows.append(parts.read())
        windows.append(parts.stop())
        total = whole.stop()
        session.cancel_safe()
        assert isinstance(spinning.exception(), psycopg.errors.QueryCanceled)
    for window in [*windows, total]:
        assert_consistent(window)
    cpu_ns, elapsed_s = (
        sum(getattr(window.processes[of_pid(window, pid)], part) for window in windows)
        for part in ("cpu_ns", "elapsed_s")
    )
    process = total.processes[of_pid(total, pid)]
    assert cpu_ns == pytest.approx(process.cpu_ns, rel=0.05)
    assert elapsed_s == pytest.approx(process.elapsed_s, rel=0.05)


def test_running_is_told_from_waiting_for_a_cpu(newest: Server) -> None:
    """Three times as many spinning sessions as CPUs: the looks divide as the kernel's accounts do."""
    count = 3 * (os.cpu_count() or 1)
    with ExitStack() as stack:
        sessions = [stack.enter_context(connect(newest)) for _ in range(count)]
        pids = [session.info.backend_pid for session in sessions]
        pool = stack.enter_context(ThreadPoolExecutor(count))
        spinning = [pool.submit(s.execute, "do $$ begin loop end loop; end $$") for s in sessions]
        sampler = _core.WaitSampler(postmaster(newest), RATE_PER_S, 8, [])
        time.sleep(6)
        seen = sampler.stop()
        for session in sessions:
            session.cancel_safe()
        assert all(isinstance(task.exception(), psycopg.errors.QueryCanceled) for task in spinning)
    places = {of_pid(seen, pid) for pid in pids}
    states = Counter(
        state
        for process, state in zip(numbers(seen.look_process), seen.look_state, strict=True)
        if process in places
    )
    mine = [seen.processes[place] for place in places]
    cpu, queue = (sum(getattr(p, part) for p in mine) for part in ("cpu_ns", "run_queue_ns"))
    told = states[0] + states[1]
    assert told >= 100, "one tick in sixteen tells"
    assert states[0] / told == pytest.approx(cpu / (cpu + queue), abs=0.12)
    assert (told + states[4]) / states.total() > 0.98


def test_waits_of_known_length_are_told_and_followed(newest: Server) -> None:
    """Sleeps of 10 to 30 ms: their mean from looks, and some of them whole from bursts."""
    # Lengths differ, or the sessions would sleep and wake in step and count as one. Between two sleeps
    # a session is awake for several readings of a burst.
    sleep, awake = "pg_sleep(0.01 + 0.02 * random())", "count(*) from generate_series(1, 5000)"
    block = f"do $$ begin for i in 1..200 loop perform {sleep}; perform {awake}; end loop; end $$"
    with ExitStack() as stack:
        sessions = [stack.enter_context(connect(newest)) for _ in range(8)]
        pool = stack.enter_context(ThreadPoolExecutor(8))
        sampler = _core.WaitSampler(postmaster(newest), RATE_PER_S, 9, [], [PG_SLEEP], [], 20.0)
        for sleeping in [pool.submit(session.execute, block) for session in sessions]:
            sleeping.result()
        seen = sampler.stop()
    durations = array("d", seen.log_sync_s)
    assert len(durations) >= 20
    assert len(seen.log_write_s) == 0
    # A session that is kept from its CPU between two waits may seem to begin one more.
    assert sorted(durations)[len(durations) // 10] > 0.0095
    watched = [ends for ends in seen.wait_ends if ends.event == PG_SLEEP]
    exposure_s = sum(ends.exposure_ns for ends in watched) / 1e9
    expected = exposure_s / (sum(durations) / len(durations))
    assert expected > 20
    # Counted ends scatter like Poisson's.
    assert sum(ends.ends for ends in watched) == pytest.approx(expected, rel=0.3, abs=4 * expected**0.5)
    assert seen.burst_s > 0
    assert seen.burst_gap_s >= 25e-6


def test_a_program_that_is_no_server_is_refused(place: Path) -> None:
    program = Path(shutil.copy("/bin/sleep", place / "postgres"))
    foreign = subprocess.Popen([program, "60"])
    try:
        with pytest.raises(OSError, match="my_wait_event_info"):
            _core.WaitSampler(foreign.pid, RATE_PER_S, 1, [])
    finally:
        foreign.kill()
        foreign.wait()
    with pytest.raises(FileNotFoundError):
        _core.WaitSampler(foreign.pid, RATE_PER_S, 1, [])


def test_a_stripped_server_is_read(place: Path) -> None:
    programs = installed_servers()["18"]
    package = programs.parent.parent
    for part in package.parent.glob(f"{package.name}*"):
        # Its libraries lie beside the package.
        shutil.copytree(part, place / part.name, symlinks=True)
    copy = place / package.name / "pginstall"
    subprocess.run(["strip", "--strip-all", copy / "bin" / "postgres"], check=True)
    for server in running(copy / "bin", place / "18"):
        with connect(server) as session:
            sampler = _core.WaitSampler(postmaster(server), RATE_PER_S, 1, [])
            session.execute("select pg_sleep(0.3)")
            seen = sampler.stop()
            assert looks(seen)[of_pid(seen, session.info.backend_pid), PG_SLEEP] > 0


def test_another_user_is_refused(newest: Server) -> None:
    # Root's rights are given up; who has none may not read the memory of root's processes.
    pid = postmaster(newest) if os.geteuid() == 0 else 1
    drop = "os.setgroups([]); os.setgid(65534); os.setuid(65534)" if os.geteuid() == 0 else "pass"
    code = f"import os; from redolab import _core; {drop}; _core.WaitSampler({pid}, 50.0, 1, [])"
    refused = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "PermissionError" in refused.stderr
    assert refused.returncode == 1

"""What is said of machines that are not this one: made-up files of a kernel's in the place of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.engine.linux import checkup
from redolab.engine.private.checkup import disk_check

ALL, NONE = "1ffffffffff", "0"


def machine(root: Path, **files: str) -> Path:
    names = {
        "status": "proc/self/status",
        "scope": "proc/sys/kernel/yama/ptrace_scope",
        "clock": "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "clocks": "sys/devices/system/clocksource/clocksource0/available_clocksource",
        "init": "proc/1/stat",
    }
    for name, text in files.items():
        path = root / names[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def rights(capabilities: str) -> str:
    return f"Name:\tx\nCapInh:\t0\nCapEff:\t{capabilities}\n"


@pytest.mark.parametrize(
    ("capabilities", "scope", "state", "found"),
    [
        (ALL, "1", "works", "of every user's servers"),
        (NONE, None, "limited", "of servers that run as the user"),
        (NONE, "0", "limited", "of servers that run as the user"),
        (NONE, "1", "limited", "only of Redolab's own servers (kernel.yama.ptrace_scope is 1)"),
    ],
)
def test_whose_memory_may_be_read(
    capabilities: str, scope: str | None, state: str, found: str, tmp_path: Path
) -> None:
    files = {"status": rights(capabilities)} | ({} if scope is None else {"scope": scope})
    check = checkup.check_memory(machine(tmp_path, **files))
    assert check.state == state
    assert check.found.startswith(found)
    assert ("CAP_SYS_PTRACE" in check.mend) is (state != "works")


def test_not_even_a_child_may_be_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(checkup, "ThreadLooks", refuse)
    check = checkup.check_memory(machine(tmp_path, status=rights(ALL)))
    assert (check.state, check.found) == (
        "missing", "not even of Redolab's own servers (Operation not permitted)"
    )  # fmt: skip


def test_hidden_processes(tmp_path: Path) -> None:
    assert checkup.check_processes(tmp_path).state == "limited"
    assert checkup.check_processes(machine(tmp_path, init="1 (init) S")).state == "works"


@pytest.mark.parametrize(("source", "state"), [("tsc", "works"), ("hpet", "limited"), (None, "limited")])
def test_the_clock(source: str | None, state: str, tmp_path: Path) -> None:
    if source is not None:
        machine(tmp_path, clock=source, clocks="tsc hpet")
    check = checkup.check_clock(tmp_path)
    assert check.state == state
    assert source != "hpet" or "tsc hpet" in check.mend


def test_a_quota_of_cpus(tmp_path: Path) -> None:
    assert checkup.check_cpus(tmp_path).state == "works"
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/\n")
    (tmp_path / "proc/self/mountinfo").write_text("1 0 0:1 / /cg rw - cgroup2 cgroup2 rw\n")
    (tmp_path / "cg").mkdir()
    (tmp_path / "cg/cpu.max").write_text("150000 100000\n")
    (tmp_path / "cg/cpu.stat").write_text("nr_throttled 7\nthrottled_usec 5\n")
    check = checkup.check_cpus(tmp_path)
    assert check.state == "limited"
    assert check.found.endswith("a quota of 1.5 CPUs, throttled 7 times so far")
    assert str(tmp_path / "cg") in check.mend


def test_loop_devices(tmp_path: Path) -> None:
    control = tmp_path / "loop-control"
    assert "there is no" in checkup.check_loops(control, machine(tmp_path, status=rights(ALL))).found
    control.touch()
    assert checkup.check_loops(control, tmp_path).state == "works"
    machine(tmp_path, status=rights(NONE))
    assert checkup.check_loops(control, tmp_path).found == "mounting is not allowed here"


def test_a_kernel_without_schedstat(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checkup.check_run_queue().state == "works"
    monkeypatch.setattr(checkup, "cpu_s", lambda _: None)
    assert checkup.check_run_queue().state == "missing"


@pytest.mark.parametrize(("kind", "state"), [("ext4", "works"), ("tmpfs", "limited"), (None, "works")])
def test_a_disk_in_memory(
    kind: str | None, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redolab.engine.private.checkup.filesystem", lambda _: kind)
    check = disk_check(tmp_path / "servers", tmp_path)
    assert check.state == state
    assert str(tmp_path / "servers") in check.found

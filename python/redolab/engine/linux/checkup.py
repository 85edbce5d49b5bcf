"""Checks of what the kernel lets Redolab see and do, each with the effect of its lack and a remedy."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path

from redolab.engine.linux.local_server import cpu_s
from redolab.engine.linux.thread_looks import ThreadLooks
from redolab.files.places import data_directory
from redolab.machine.cpus import read_cpus, read_throttling
from redolab.records.checkup import Check

_SYS_PTRACE, _SYS_ADMIN = 19, 21
# They are read without a system call.
_QUICK_CLOCKS = frozenset({"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"})
_LOOP_CONTROL = Path("/dev/loop-control")


def check_machine() -> list[Check]:
    """Everything that does not depend on an engine; nothing is changed."""
    return [
        check_memory(), check_processes(), check_run_queue(), check_clock(), check_cpus(), check_data(),
        check_loops(),
    ]  # fmt: skip


def user_name() -> str:
    """The user that Redolab runs as, by name where there is one."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"number {os.geteuid()}"


def check_memory(root: Path = Path("/")) -> Check:
    """Whether the memory and the system calls of other processes may be read, and whose."""
    name = "Memory of processes"
    scope = _text(root / "proc/sys/kernel/yama/ptrace_scope")
    views = "Waits of other servers come from their views, which divide waits of about 50 µs inaccurately."
    why = _why_child_is_hidden()
    if why is not None:
        return Check(
            name, "missing", f"not even of Redolab's own servers ({why})", views,
            "Set kernel.yama.ptrace_scope to 0 or 1; in a container allow the capability SYS_PTRACE.",
        )  # fmt: skip
    if _may(_SYS_PTRACE, root):
        return Check(name, "works", "of every user's servers")
    mend = "Run Redolab as root or with CAP_SYS_PTRACE"
    if scope in (None, "0"):
        reach = f"of servers that run as the user {user_name()}"
        return Check(name, "limited", reach, views, f"{mend}, or as the user that the server runs as.")
    reach = f"only of Redolab's own servers (kernel.yama.ptrace_scope is {scope})"
    mend += "; or set kernel.yama.ptrace_scope to 0, and run it as the user that the server runs as."
    return Check(name, "limited", reach, views, mend)


def check_processes(root: Path = Path("/")) -> Check:
    """Whether the processes of other users can be seen at all."""
    name = "Processes of others"
    if _text(root / "proc/1/stat") is not None:
        return Check(name, "works", "can be seen")
    return Check(
        name, "limited", "are hidden (/proc is mounted with hidepid)",
        "A server of another user is treated as a remote one: its CPU time and run queue are not measured.",
        "Run Redolab as root or as the server's user, or mount /proc without hidepid.",
    )  # fmt: skip


def check_run_queue() -> Check:
    """Whether the kernel reports how long a process ran, and how long it waited for a CPU."""
    name = "CPU and run queue"
    if cpu_s(os.getpid()):
        return Check(name, "works", "from /proc/PID/schedstat, to the nanosecond")
    return Check(
        name, "missing", "this kernel has no /proc/PID/schedstat",
        "CPU time and waiting for a CPU cannot be separated from other time.",
        "Use a kernel with CONFIG_SCHED_INFO; sandboxes that emulate a kernel do not have it.",
    )  # fmt: skip


def check_clock(root: Path = Path("/")) -> Check:
    """The source of the kernel's clock."""
    place = root / "sys/devices/system/clocksource/clocksource0"
    name, source = "Clock", _text(place / "current_clocksource")
    if source is None:
        return Check(
            name,
            "limited",
            "the kernel does not report its source",
            "It is not known whether reading the clock takes little time.",
        )
    if source in _QUICK_CLOCKS:
        return Check(name, "works", source)
    return Check(
        name, "limited", source,
        "Every reading is a system call, so commits that are timed one by one look slower than they are.",
        f"Choose a faster one of {_text(place / 'available_clocksource') or 'those there are'}: write its "
        f"name to {place / 'current_clocksource'} as root.",
    )  # fmt: skip


def check_cpus(root: Path = Path("/")) -> Check:
    """The CPUs of this process, and whether a control group limits them."""
    cpus = read_cpus(root)
    counts = f"{cpus.threads} logical, {cpus.cores} cores"
    if cpus.quota is None:
        return Check("CPUs", "works", f"{counts}, no quota")
    throttled = read_throttling(cpus.quota)
    often = f", throttled {throttled.periods:,} times so far" if throttled else ""
    return Check(
        "CPUs", "limited", f"{counts}, a quota of {cpus.quota.cpus:g} CPUs{often}",
        "When the quota is used up, all sessions pause, and the pauses appear as waits.",
        f"Raise cpu.max of the control group {cpus.quota.place}, or use fewer sessions.",
    )  # fmt: skip


def check_data() -> Check:
    """Whether what outlives a run can be kept."""
    name, place = "Data directory", data_directory()
    standing = next(parent for parent in (place, *place.parents) if parent.exists())
    if os.access(standing, os.W_OK | os.X_OK):
        return Check(name, "works", str(place))
    return Check(
        name, "missing", f"{standing} cannot be written",
        "Forecasts cannot be verified, and changes of a killed run on your server must be put back by hand.",
        "Set XDG_DATA_HOME to a directory of your own.",
    )  # fmt: skip


def check_loops(control: Path = _LOOP_CONTROL, root: Path = Path("/")) -> Check:
    """Whether loop devices are available; none is taken."""
    name = "Loop devices"
    if os.access(control, os.R_OK | os.W_OK) and _may(_SYS_ADMIN, root):
        return Check(name, "works", "are available")
    why = f"{control} cannot be opened" if control.exists() else f"there is no {control}"
    if os.access(control, os.R_OK | os.W_OK):
        why = "mounting is not allowed here"
    return Check(
        name, "missing", why,
        "Nothing is affected today: only future experiments with a power cut will need loop devices.",
        "Run Redolab as root on a machine that has loop devices.",
    )  # fmt: skip


def _why_child_is_hidden() -> str | None:
    """Why a process that Redolab started may not be looked into; None where it may."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        # An answer comes only when the program has begun: until then the process is still Redolab's copy.
        child.stdin.write(b".")
        child.stdout.read(1)
        why = _why_hidden(child.pid)
        child.stdin.close()
    return why


def _why_hidden(process: int) -> str | None:
    try:
        ThreadLooks(process).close()
        with Path(f"/proc/{process}/mem").open("rb"):
            return None
    except OSError as error:
        return error.strerror or str(error)


def _may(capability: int, root: Path) -> bool:
    """Whether this process has a capability in force; see capabilities(7)."""
    for line in (_text(root / "proc/self/status") or "").splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> capability & 1)
    return False


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None

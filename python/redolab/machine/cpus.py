"""The CPUs this process may use: which are online, their cores, their kinds, and the limits on them.

Read from Linux's /sys and /proc (Documentation/admin-guide/cputopology.rst, cgroup-v2.rst and
scheduler/sched-bwc.rst of the kernel). A value that the kernel does not report is None, never a guess.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from redolab.files import system

_ROOT = Path("/")
_CPU = "sys/devices/system/cpu"


@dataclass(frozen=True)
class Quota:
    """A limit on CPU time set by a control group: ours, or one that ours lies in."""

    cpus: float
    """CPU seconds per second."""
    period_s: float
    """How often the kernel hands out the group's time anew."""
    place: Path
    """The group's directory."""


@dataclass(frozen=True)
class Throttling:
    """Effect of a quota so far, cumulative."""

    periods: int
    """Periods in which the group ran out of its time."""
    time_s: float
    """Time that its CPUs were withheld, summed over CPUs."""


@dataclass(frozen=True)
class Cpus:
    """CPUs that this process can run on."""

    online: tuple[int, ...]
    """Logical CPUs (threads) that are switched on."""
    offline: tuple[int, ...]
    allowed: tuple[int, ...]
    """CPUs that this process may use, by its affinity mask and its cpuset."""
    cores: int
    """Distinct cores among the allowed ones."""
    sockets: int
    kinds: tuple[str, ...]
    """How fast the allowed CPUs are, where they differ: one text per kind; one or none where they do not."""
    quota: Quota | None

    @property
    def threads(self) -> int:
        """Logical CPUs that this process may use."""
        return len(self.allowed)

    @property
    def limit(self) -> float:
        """CPU seconds per second that this process can have at most."""
        return min(self.threads, self.quota.cpus) if self.quota else float(self.threads)


@dataclass(frozen=True)
class CpuTimes:
    """Cumulative times of some CPUs, summed, in seconds."""

    busy_s: float
    idle_s: float
    steal_s: float
    """Time the hypervisor gave to others."""


def read_cpus(root: Path = _ROOT, allowed: Iterable[int] | None = None) -> Cpus:
    """The CPUs of this process.

    Args:
        root: the directory that holds /proc and /sys.
        allowed: the affinity mask; None asks the kernel.
    """
    place = root / _CPU
    mask = system.allowed_cpus() if allowed is None else sorted(allowed)
    topology = [_core(place, cpu) for cpu in mask]
    return Cpus(
        online=_cpu_list(_text(place / "online")) or tuple(mask),
        offline=_cpu_list(_text(place / "offline")),
        allowed=tuple(mask),
        cores=len(set(topology)),
        sockets=len({socket for socket, _ in topology}),
        kinds=_kinds(place, mask),
        quota=read_quota(root),
    )


def read_quota(root: Path = _ROOT) -> Quota | None:
    """The tightest CPU quota on this process, of all control groups it lies in; None without one."""
    found = [quota for place in _groups(root) if (quota := _quota_of(place)) is not None]
    return min(found, key=lambda quota: quota.cpus, default=None)


def read_throttling(quota: Quota | None) -> Throttling | None:
    """Effect of the quota so far; None without a quota or where the kernel does not report it."""
    text = _text(quota.place / "cpu.stat") if quota else None
    if text is None:
        return None
    counts = {name: int(value) for name, _, value in (line.partition(" ") for line in text.splitlines())}
    if "nr_throttled" not in counts:
        return None
    # Version 2 counts microseconds, version 1 nanoseconds.
    time_s = counts.get("throttled_usec", 0) / 1e6 + counts.get("throttled_time", 0) / 1e9
    return Throttling(counts["nr_throttled"], time_s)


def read_times(cpus: Iterable[int], root: Path = _ROOT) -> CpuTimes:
    """Busy, idle and steal time of these CPUs since the machine started.

    Raises:
        OSError: /proc/stat cannot be read.
    """
    wanted = {f"cpu{cpu}" for cpu in cpus}
    busy = idle = steal = 0
    for line in (root / "proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name in wanted:
            user, nice, system, waiting, waiting_for_io, irq, softirq, stolen, *_ = map(int, fields)
            busy += user + nice + system + irq + softirq
            idle += waiting + waiting_for_io
            steal += stolen
    ticks = os.sysconf("SC_CLK_TCK")
    return CpuTimes(busy / ticks, idle / ticks, steal / ticks)


def as_record(cpus: Cpus) -> dict[str, object]:
    """The CPUs as the manifest has them."""
    return {
        "online": list(cpus.online),
        "offline": list(cpus.offline),
        "allowed": list(cpus.allowed),
        "cores": cpus.cores,
        "sockets": cpus.sockets,
        "kinds": list(cpus.kinds),
        "quota_cpus": cpus.quota.cpus if cpus.quota else None,
        "quota_period_s": cpus.quota.period_s if cpus.quota else None,
    }


def _core(place: Path, cpu: int) -> tuple[str, str]:
    """Which socket and which core a CPU is a thread of; where the kernel does not report it, one per core."""
    topology = place / f"cpu{cpu}" / "topology"
    socket = _text(topology / "physical_package_id") or "0"
    # The list of its threads is unique to a core, where core_id is so only inside a socket or a die.
    threads = _text(topology / "core_cpus_list") or _text(topology / "thread_siblings_list")
    return socket, threads or str(cpu)


def _kinds(place: Path, mask: Iterable[int]) -> tuple[str, ...]:
    """The different speeds that the kernel knows of; its relative capacities, else the highest clocks."""
    capacities: dict[str, int] = {}
    clocks: dict[str, int] = {}
    for cpu in mask:
        for found, file in ((capacities, "cpu_capacity"), (clocks, "cpufreq/cpuinfo_max_freq")):
            text = _text(place / f"cpu{cpu}" / file)
            if text is not None:
                found[text] = found.get(text, 0) + 1
    if len(capacities) > 1:
        return tuple(f"{count} CPUs of capacity {value}" for value, count in _by_speed(capacities))
    return tuple(f"{count} CPUs up to {int(value) / 1e6:.2f} GHz" for value, count in _by_speed(clocks))


def _by_speed(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: int(item[0]), reverse=True)


def _groups(root: Path) -> Iterator[Path]:
    """The directory of every control group that this process lies in and that can limit its CPU time."""
    mounts = list(_mounts(root))
    for line in (_text(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        for kind, options, shown, mount in mounts:
            version_2 = kind == "cgroup2" and not controllers
            version_1 = kind == "cgroup" and "cpu" in controllers.split(",") and "cpu" in options
            # A mount shows the tree from `shown` down; in a container often only our own group.
            inside = os.path.relpath(path, shown)
            if (version_1 or version_2) and not inside.startswith(".."):
                top = root / mount.lstrip("/")
                below = Path(inside).parts
                yield from (top.joinpath(*below[:depth]) for depth in range(len(below) + 1))


def _mounts(root: Path) -> Iterator[tuple[str, list[str], str, str]]:
    """Type, options of the file system, the part of it shown, and place of every mount."""
    for line in (_text(root / "proc/self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        _, _, _, shown, place, *_ = before.split(" ")
        kind, _, options = after.split(" ", 2)
        yield kind, options.split(","), shown, place


def _quota_of(place: Path) -> Quota | None:
    text = _text(place / "cpu.max")
    if text is None:
        limit, period = _text(place / "cpu.cfs_quota_us"), _text(place / "cpu.cfs_period_us")
    else:
        limit, _, period = text.partition(" ")
    if not limit or not period or limit in ("max", "-1"):
        return None
    return Quota(int(limit) / int(period), int(period) / 1e6, place)


def _cpu_list(text: str | None) -> tuple[int, ...]:
    """The numbers of a list as the kernel writes it: `0-3,8`."""
    found: list[int] = []
    for part in (text or "").split(","):
        if part:
            first, _, last = part.partition("-")
            found += range(int(first), int(last or first) + 1)
    return tuple(found)


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None

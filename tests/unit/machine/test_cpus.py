"""The CPUs of a machine, from directories as kernels have them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from redolab.machine.cpus import as_record, read_cpus, read_quota, read_throttling, read_times

CPU = "sys/devices/system/cpu"


def tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


def cores(threads_of: Mapping[int, str], socket_of: Mapping[int, int] | None = None) -> dict[str, str]:
    files = {}
    for cpu, siblings in threads_of.items():
        files[f"{CPU}/cpu{cpu}/topology/core_cpus_list"] = siblings
        files[f"{CPU}/cpu{cpu}/topology/physical_package_id"] = str((socket_of or {}).get(cpu, 0))
    return files


def test_two_threads_a_core_on_two_sockets_some_switched_off(tmp_path: Path) -> None:
    threads = {0: "0,4", 4: "0,4", 1: "1,5", 5: "1,5", 2: "2", 3: "3"}
    root = tree(
        tmp_path,
        cores(threads, {2: 1, 3: 1}) | {f"{CPU}/online": "0-5", f"{CPU}/offline": "6-7"},
    )
    found = read_cpus(root, allowed=range(6))
    assert (found.threads, found.cores, found.sockets) == (6, 4, 2)
    assert found.offline == (6, 7)
    assert found.limit == 6.0
    # Kept to one core and one more thread, by an affinity mask.
    fewer = read_cpus(root, allowed=[0, 4, 2])
    assert (fewer.threads, fewer.cores, len(fewer.online)) == (3, 2, 6)


def test_cpus_that_are_not_alike(tmp_path: Path) -> None:
    files = cores({0: "0", 1: "1", 2: "2"}) | {f"{CPU}/online": "0-2", f"{CPU}/offline": ""}
    clocks = {f"{CPU}/cpu{n}/cpufreq/cpuinfo_max_freq": "2400000" if n else "5100000" for n in range(3)}
    root = tree(tmp_path, files | clocks)
    assert read_cpus(root, range(3)).kinds == ("1 CPUs up to 5.10 GHz", "2 CPUs up to 2.40 GHz")
    capacities = {f"{CPU}/cpu{n}/cpu_capacity": "446" if n == 2 else "1024" for n in range(3)}
    tree(root, capacities)
    assert read_cpus(root, range(3)).kinds == ("2 CPUs of capacity 1024", "1 CPUs of capacity 446")


def test_a_kernel_that_tells_nothing_has_a_core_per_cpu(tmp_path: Path) -> None:
    found = read_cpus(tmp_path, allowed=[0, 1, 2])
    assert (found.online, found.offline, found.cores, found.sockets) == ((0, 1, 2), (), 3, 1)
    assert found.kinds == ()
    assert found.quota is None


V2 = "36 25 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate"
V1 = "37 25 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct"
CONTAINER = "38 25 0:30 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw"


@pytest.mark.parametrize(
    ("mount", "group", "files", "cpus", "place"),
    [
        (V2, "0::/a/b", {"a/b/cpu.max": "150000 100000"}, 1.5, "a/b"),
        # The tightest of all that it lies in counts.
        (V2, "0::/a/b", {"a/b/cpu.max": "max 100000", "a/cpu.max": "50000 100000"}, 0.5, "a"),
        (V2, "0::/a/b", {"a/b/cpu.max": "400000 100000", "a/cpu.max": "300000 100000"}, 3.0, "a"),
        (V2, "0::/a", {"a/cpu.max": "max 100000"}, None, ""),
        (V2, "0::/", {"cgroup.procs": ""}, None, ""),
        (CONTAINER, "0::/docker/abc/inner", {"inner/cpu.max": "20000 10000"}, 2.0, "inner"),
        (CONTAINER, "0::/docker/abc", {"cpu.max": "25000 50000"}, 0.5, ""),
        # Our group is not in the part of the tree that is shown.
        (CONTAINER, "0::/elsewhere", {"cpu.max": "25000 50000"}, None, ""),
    ],
)
def test_the_quota_of_version_2(
    mount: str, group: str, files: dict[str, str], cpus: float | None, place: str, tmp_path: Path
) -> None:
    here = "sys/fs/cgroup"
    root = tree(
        tmp_path,
        {"proc/self/mountinfo": mount, "proc/self/cgroup": group}
        | {f"{here}/{name}": text for name, text in files.items()},
    )
    found = read_quota(root)
    assert (None if found is None else found.cpus) == cpus
    if found is not None:
        assert found.place == root / here / place


def test_the_quota_of_version_1(tmp_path: Path) -> None:
    here = "sys/fs/cgroup/cpu,cpuacct"
    root = tree(
        tmp_path,
        {
            "proc/self/mountinfo": f"{V2}\n{V1}",
            "proc/self/cgroup": "4:memory:/m\n3:cpu,cpuacct:/job\n0::/",
            f"{here}/job/cpu.cfs_quota_us": "75000",
            f"{here}/job/cpu.cfs_period_us": "50000",
            f"{here}/cpu.cfs_quota_us": "-1",
            f"{here}/cpu.cfs_period_us": "100000",
            f"{here}/job/cpu.stat": "nr_periods 10\nnr_throttled 4\nthrottled_time 2500000000",
        },
    )
    quota = read_quota(root)
    assert quota is not None
    assert (quota.cpus, quota.period_s) == (1.5, 0.05)
    throttling = read_throttling(quota)
    assert throttling is not None
    assert (throttling.periods, throttling.time_s) == (4, 2.5)
    found = read_cpus(root, allowed=range(4))
    assert found.limit == 1.5
    assert as_record(found)["quota_cpus"] == 1.5


def test_throttling_of_version_2_and_of_none(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/self/mountinfo": V2,
            "proc/self/cgroup": "0::/a",
            "sys/fs/cgroup/a/cpu.max": "150000 100000",
        },
    )
    quota = read_quota(root)
    assert read_throttling(quota) is None
    assert read_throttling(None) is None
    tree(
        root, {"sys/fs/cgroup/a/cpu.stat": "usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 70000"}
    )
    found = read_throttling(quota)
    assert found is not None
    assert (found.periods, found.time_s) == (3, 0.07)


def test_times_are_those_of_the_cpus_asked_for(tmp_path: Path) -> None:
    stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 20 30 400 50 6 7 80 90 0\ncpu1 1 1 1 1 1 1 1 1 1 1\nbtime 5"
    root = tree(tmp_path, {"proc/stat": stat})
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    found = read_times([0], root)
    assert found.busy_s == pytest.approx(163 * tick_s)
    assert found.idle_s == pytest.approx(450 * tick_s)
    assert found.steal_s == pytest.approx(80 * tick_s)


def test_this_machine_has_the_cpus_that_the_kernel_lets_us_use() -> None:
    found = read_cpus()
    assert set(found.allowed) == os.sched_getaffinity(0)
    assert 1 <= found.cores <= found.threads <= len(found.online)
    assert 0 < found.limit <= found.threads

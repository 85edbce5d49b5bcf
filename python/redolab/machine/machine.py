"""Description of this machine, for the manifest; and earlier measurements of it, for forecasts. The result of
`redolab run cpu-capacity` is kept in `$XDG_DATA_HOME/redolab/machines` (by default
`~/.local/share/redolab/machines`), in one file for each machine and CPU quota, because a home directory may
belong to several machines and a container's quota changes the CPUs.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redolab
from redolab.errors import UsageError
from redolab.files import system
from redolab.files.documents import parse_json_object
from redolab.files.folder import Folder
from redolab.files.foreign import read_regular
from redolab.files.places import data_directory
from redolab.machine.cpus import as_record, read_cpus

_FORMAT = 1
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class EffectiveCpus:
    """Effective CPUs, M, as once measured on this machine under its present quota."""

    point: float
    low: float
    high: float
    level: float
    """Confidence level of the interval from `low` to `high`."""
    power: str
    """`cores`, `threads`, `quota` or `less`: its limit."""
    measured_at: str
    """UTC, ISO 8601: when the run ended."""
    run: str
    """The run directory, where it then was."""


def describe_machine() -> dict[str, Any]:
    """CPUs, their model, memory and system software; null where the system does not report a value."""
    return {
        "cpus": os.cpu_count(),
        "cpu_model": _field(Path("/proc/cpuinfo"), "model name"),
        "memory_bytes": system.memory_bytes(),
        "kernel": f"{platform.system()} {platform.release()}",
        "os": _field(Path("/etc/os-release"), "PRETTY_NAME"),
        "python": platform.python_version(),
        "processors": as_record(read_cpus()),
        "disk_queues": _disk_queues(),
    }


def effective_cpus() -> EffectiveCpus | None:
    """Effective CPUs of this machine by its last decided cpu-capacity run; None where there was none.

    A record made under another quota, another set of CPUs or on another machine is another file, and is
    not found. A file that cannot be read as a record counts as none.
    """
    try:
        record = parse_json_object(read_regular(record_path(), _MOST_BYTES), "the record")
        found = record["capacity"]["effective_cpus"]
        return EffectiveCpus(
            float(found["point"]),
            float(found["low"]),
            float(found["high"]),
            float(found["level"]),
            str(record["capacity"]["power"]),
            str(record["measured_at"]),
            str(record["run"]),
        )
    except (OSError, UsageError, ValueError, KeyError, TypeError):
        return None


def keep_capacity(capacity: Mapping[str, Any], measured_at: str, run: Path) -> Path:
    """Keep a run's result for this machine, in place of an earlier run's; returns the file.

    Args:
        capacity: the key `capacity` of the results.
        measured_at: UTC, ISO 8601.
        run: the run directory.

    Raises:
        OSError: it cannot be written.
    """
    path = record_path()
    record = {
        "format": _FORMAT,
        "redolab_version": redolab.__version__,
        "machine": _identity(),
        "measured_at": measured_at,
        "run": str(run.resolve()),
        "capacity": dict(capacity),
    }
    with Folder.to_write(path.parent, 0o700) as folder:
        folder.write_json(path.name, record)
    return path


def record_path() -> Path:
    """The file of this machine under its present quota."""
    name = hashlib.sha256(json.dumps(_identity(), sort_keys=True).encode()).hexdigest()[:16]
    return data_directory() / "machines" / f"{name}.json"


def _disk_queues() -> int | None:
    """Hardware queues of the disk with the most; with a single one, one CPU handles all its interrupts."""
    disks = [
        disk / "mq"
        for disk in Path("/sys/block").glob("*")
        if not disk.name.startswith(("loop", "ram", "zram")) and (disk / "mq").is_dir()
    ]
    return max((len(list(disk.iterdir())) for disk in disks), default=None)


def _identity() -> dict[str, Any]:
    """Properties that identify a machine in a measurement of its CPUs."""
    cpus = read_cpus()
    return {
        "host": platform.node(),
        "cpu_model": _field(Path("/proc/cpuinfo"), "model name"),
        "allowed": list(cpus.allowed),
        "cores": cpus.cores,
        "quota_cpus": cpus.quota.cpus if cpus.quota else None,
    }


def _field(path: Path, name: str) -> str | None:
    try:
        for line in path.read_text().splitlines():
            key, found, value = line.replace("=", ":", 1).partition(":")
            if found and key.strip() == name:
                return value.strip().strip('"')
    except OSError:
        return None
    return None

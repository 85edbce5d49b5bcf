"""What this machine is, for the manifest."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from redolab.cpus import as_record, read_cpus


def describe_machine() -> dict[str, Any]:
    """CPUs, their model, memory and system software; null for what the system does not tell."""
    return {
        "cpus": os.cpu_count(),
        "cpu_model": _field(Path("/proc/cpuinfo"), "model name"),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": f"{platform.system()} {platform.release()}",
        "os": _field(Path("/etc/os-release"), "PRETTY_NAME"),
        "python": platform.python_version(),
        "processors": as_record(read_cpus()),
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

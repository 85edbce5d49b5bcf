"""The rows of a time profile: their order, their figures by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.dialect.row_names import is_wait
from redolab.report.tables.cells import Results


def profile_rows(results: Results, scope: str = "profile") -> list[str]:
    """Rows of the time profile over all settings: CPU, run queue, steal, waits by size, unaccounted last."""
    largest: dict[str, float] = {}
    for setting in results["settings"]:
        for entry in setting.get(scope) or ():
            size = abs(entry["share"]["point"] or 0.0)
            largest[entry["row"]] = max(size, largest.get(entry["row"], 0.0))
    waits = sorted(filter(is_wait, largest), key=lambda row: -largest[row])
    first = [row for row in ("on_cpu", "run_queue", "steal", "on_cpu_or_unknown") if row in largest]
    return [*first, *waits, *(["unaccounted"] if "unaccounted" in largest else [])]


def shares(setting: Mapping[str, Any], scope: str = "profile") -> dict[str, Mapping[str, Any]]:
    """A setting's share per row of its time profile."""
    return {entry["row"]: entry["share"] for entry in setting.get(scope) or ()}


def times(setting: Mapping[str, Any], scope: str = "profile") -> dict[str, Mapping[str, Any]]:
    """A setting's time per unit of work, in milliseconds, per row of its time profile."""
    return {entry["row"]: entry["per_unit_ms"] for entry in setting.get(scope) or ()}

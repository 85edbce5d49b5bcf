"""The rows of a time profile: what they mean, their order, their figures by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.dialect.row_names import is_wait
from redolab.report.tables.cells import Results

_ROW_MEANINGS = {
    "on_cpu": "executing on a processor, by the kernel's account",
    "run_queue": "ready to run, waiting for a processor, by the kernel's account",
    "steal": (
        "taken by the hypervisor while the session should have run; an estimate: the machine's steal "
        "times the sessions' part of its busy CPU"
    ),
    "on_cpu_or_unknown": "no wait was posted; the kernel's accounts could not be read",
    "unaccounted": "response time that no account explains; negative when accounts overlap",
}
_EVENT_MEANINGS = {
    "io:walsync": "the process itself waits until the log device has stored the log",
    "io:walwrite": "the process itself hands log pages to the operating system",
    "lwlock:walwrite": "another process is writing or flushing the log; this one waits for it to end",
    "lwlock:walinsert": "copying a record into the log buffer waits for other copies",
    "lwlock:walbufmapping": "the log buffer is full and its pages are being replaced",
    "lwlock:buffercontent": "another process holds the data page",
    "lock:transactionid": "another transaction holds the row",
    "ipc:procarraygroupupdate": "another process ends this transaction in a group",
    "ipc:xactgroupupdate": "another process records this commit in a group",
}


def row_meaning(row: str) -> str:
    """Say what a row of the time profile means; empty where the event's name must do."""
    return _ROW_MEANINGS.get(row) or _EVENT_MEANINGS.get(row.lower(), "")


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

"""One reading of an Oracle instance: accounts of sessions and of the whole, and the waits under way."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from redolab.engine.oracle.connecting.connection import Connection, fetch
from redolab.engine.oracle.preflight.server import Server
from redolab.engine.sampling.event_codes import Event

Waits = Mapping[Event, tuple[int, int]]
"""Waits that ended, and their microseconds, by class and name."""
_US_PER_S = 1e6
_NO_END_US = 2**32
_LOG_CLASSES = {"log file sync": "Commit", "log file parallel write": "System I/O"}
"""Wait classes of the events whose histograms are read: V$EVENT_HISTOGRAM_MICRO does not have classes."""
_LATEST_S = 5.0
"""How late a session's CPU is published at most (Oracle Database Reference, V$SESS_TIME_MODEL)."""
monotonic = time.monotonic


@dataclass(frozen=True)
class Session:
    """A session or a background process."""

    sid: int
    serial: int
    scope: Literal["session", "background"]
    kind: str
    user: str | None
    program: str | None
    service: str | None
    machine: str | None
    active: bool
    in_transaction: bool
    waiting: Event | None
    """The event that it waits in at this moment."""
    waiting_us: int
    cpu_us: int
    cpu_late_s: float
    waits: Waits


@dataclass(frozen=True)
class Reading:
    """Everything that was asked at one moment. What this user may not see is None."""

    at_s: float
    """Monotonic clock."""
    at: str
    sessions: Mapping[tuple[int, int], Session]
    """By SID and SERIAL#; Redolab's own is not among them."""
    own_cpu_us: int
    waits: Waits | None
    cpu_us: int | None
    statistics: Mapping[str, int] | None
    buckets: Mapping[tuple[Event, float], int] | None
    """Waits by event and the end of their bucket in seconds."""
    machine: Mapping[str, float] | None


def read(connection: Connection, server: Server) -> Reading:
    """Ask for everything that this user may see.

    Raises:
        oracledb.Error: the connection was lost, or the database refused.
    """
    waits = _session_waits(fetch(connection, "select_session_waits"))
    cpu = _session_cpu(fetch(connection, "select_session_times"))
    rows = fetch(connection, "select_sessions")
    # What is under way is known at the moment of this statement: the reading is of that moment.
    at_s, at = monotonic(), datetime.now(UTC).isoformat(timespec="milliseconds")
    sessions = [_session(row, waits, cpu) for row in rows if row["type"] in ("USER", "BACKGROUND")]

    def rows_of(name: str) -> list[dict[str, Any]] | None:
        return fetch(connection, name) if name in server.available else None

    instance_waits = rows_of("select_waits")
    times, statistics = rows_of("select_times"), rows_of("select_statistics")
    histograms, machine = rows_of("select_histograms"), rows_of("select_machine")
    return Reading(
        at_s=at_s,
        at=at,
        sessions={(item.sid, item.serial): item for item in sessions if item.sid != server.sid},
        own_cpu_us=cpu.get(server.sid, 0),
        waits=None if instance_waits is None else _instance_waits(instance_waits),
        cpu_us=None if times is None else sum(_totals(times, ("stat_name",), "value").values()),
        statistics=None if statistics is None else _by_name(_totals(statistics, ("name",), "value")),
        buckets=None if histograms is None else _buckets(histograms),
        machine=None if machine is None else {row["stat_name"]: float(row["value"]) for row in machine},
    )


def _session(row: Mapping[str, Any], waits: Mapping[int, Waits], cpu: Mapping[int, int]) -> Session:
    sid, background = int(row["sid"]), row["type"] == "BACKGROUND"
    active = row["status"] == "ACTIVE"
    waits_now = row["state"] == "WAITING" and row["event"]
    late = _LATEST_S if background else min(_LATEST_S, int(row["last_call_et"] or 0) + 1.0) if active else 0.0
    return Session(
        sid=sid,
        serial=int(row["serial"]),
        scope="background" if background else "session",
        kind=_kind(str(row["program"] or "")) if background else "session",
        user=row["username"],
        program=row["module"] or row["program"],
        service=row["service_name"],
        machine=row["machine"],
        active=active,
        in_transaction=bool(row["in_transaction"]),
        waiting=(str(row["wait_class"] or "Other"), str(row["event"])) if waits_now else None,
        waiting_us=max(0, int(row["wait_time_micro"] or 0)) if waits_now else 0,
        cpu_us=cpu.get(sid, 0),
        cpu_late_s=late if cpu.get(sid, 0) else 0.0,
        waits=waits.get(sid, {}),
    )


def _kind(program: str) -> str:
    """A background process by its short name.

    >>> _kind("oracle@db1 (LGWR)")
    'LGWR'
    """
    return program.rpartition("(")[2].rstrip(")") or "background"


def _session_waits(rows: Iterable[Mapping[str, Any]]) -> dict[int, Waits]:
    waits: dict[int, dict[Event, tuple[int, int]]] = {}
    for row in rows:
        event = str(row["wait_class"] or "Other"), str(row["event"])
        waits.setdefault(int(row["sid"]), {})[event] = int(row["total_waits"]), int(row["time_waited_micro"])
    return dict(waits)


def _session_cpu(rows: Iterable[Mapping[str, Any]]) -> dict[int, int]:
    """Microseconds by SID: a session has the one account, a background process the other."""
    cpu_us: dict[int, int] = {}
    for row in rows:
        cpu_us[int(row["sid"])] = cpu_us.get(int(row["sid"]), 0) + int(row["value"])
    return cpu_us


def _instance_waits(rows: list[dict[str, Any]]) -> Waits:
    counts = _totals(rows, ("wait_class", "event"), "total_waits")
    times = _totals(rows, ("wait_class", "event"), "time_waited_micro")
    return {(str(key[0] or "Other"), str(key[1])): (count, times[key]) for key, count in counts.items()}


def _buckets(rows: list[dict[str, Any]]) -> dict[tuple[Event, float], int]:
    """Buckets of waits for the log; waits longer than the second last bucket have no upper end."""
    buckets = {}
    for (event, below_us), count in _totals(rows, ("event", "wait_time_micro"), "wait_count").items():
        below_s = int(below_us) / _US_PER_S if int(below_us) < _NO_END_US else float("inf")
        buckets[(_LOG_CLASSES[event], event), below_s] = count
    return buckets


def _by_name(totals: Mapping[tuple[Any, ...], int]) -> dict[str, int]:
    return {str(key[0]): value for key, value in totals.items()}


def _totals(rows: list[dict[str, Any]], names: tuple[str, ...], value: str) -> dict[tuple[Any, ...], int]:
    """Values by some columns. Rows of the whole database (CON_ID 0) come before those of its containers."""
    whole: dict[tuple[Any, ...], int] = {}
    parts: dict[tuple[Any, ...], int] = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        into = parts if row["con_id"] else whole
        into[key] = into.get(key, 0) + int(row[value])
    return parts | whole

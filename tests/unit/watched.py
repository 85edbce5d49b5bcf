"""Watched runs made up from known numbers, through the real store."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from redolab.records.report import Entry
from redolab.records.run import Run
from redolab.records.schema import schema
from redolab.records.store import open_run
from redolab.records.watched import BACKGROUND, LOG_SYNC, LOG_WRITE, SESSIONS, SETTING, Watched
from redolab.records.writing.writer import RunWriter

BEGAN = datetime(2026, 11, 23, 22, 0, tzinfo=UTC)
"""A Monday."""
CPUS, CORES = 4, 2
Kind = Literal["postgresql", "mariadb", "remote"]
_MACHINE: Mapping[str, Any] = {"cpus": CPUS, "cpu_model": "made up", "kernel": "6.1"}
_ENGINES: Mapping[Kind, Mapping[str, Any]] = {
    "postgresql": {"name": "postgresql", "version": "18.1", "place": "127.0.0.1:5432/shop", "local": True},
    "mariadb": {"name": "mariadb", "version": "11.8.3", "place": "127.0.0.1:3306", "local": True},
    "remote": {"name": "postgresql", "version": "16.4", "place": "db.example:5432/shop", "local": False},
}
_PARAMETERS: Mapping[Kind, Mapping[str, str]] = {
    "postgresql": {"synchronous_commit": "on", "commit_delay": "0", "commit_siblings": "5"},
    "mariadb": {"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "1"},
    "remote": {"synchronous_commit": "on"},
}
_EVENTS: Mapping[Kind, tuple[str, str, str]] = {
    "postgresql": ("IO:WalSync", "LWLock:WALWrite", "IO:DataFileRead"),
    "mariadb": ("Stage:Commit", "IO:Redo log flush", "IO:Data file read"),
    "remote": ("IO:WalSync", "LWLock:WALWrite", "IO:DataFileRead"),
}
_NOT_OF: Mapping[Kind, frozenset[str]] = {
    "postgresql": frozenset({"binlog_flushes", "binlog_flush_time_s"}),
    "mariadb": frozenset({"log_flush_time_s", "log_write_time_s", "server_cpu_s"}),
    "remote": frozenset(
        {"session_cpu_s", "session_run_queue_s", "instance_cpu_s", "host_cpus", "host_cores", "host_busy_s",
         "host_steal_s", "worked_sessions", "binlog_flushes", "binlog_flush_time_s"}
    ),
}  # fmt: skip
"""What such a server does not tell."""


@dataclass(frozen=True)
class Seen:
    """One stretch to be written."""

    at_s: float
    """Seconds since the watching first began."""
    start: int
    rate_per_s: float
    flush_s: float
    elapsed_s: float = 60.0
    spoiled: str | None = None


def manifest(kind: Kind = "postgresql") -> dict[str, Any]:
    return {
        "experiment": "watch",
        "record": "watched",
        "question": "Where does this server's time go, and what do its commits cost?",
        "unit": "commit",
        "started_at": BEGAN.isoformat(timespec="milliseconds"),
        "design": {"baseline": SETTING, "blocks": 1, "seed": 0, "margin": 0.0},
        "settings": [{"name": SETTING, "levels": {}, "tier": "", "parameters": dict(_PARAMETERS[kind])}],
        "load": {},
        "engine": dict(_ENGINES[kind]),
        "machine": {} if kind == "remote" else dict(_MACHINE),
        "sampler": {"source": "queries" if kind == "remote" else "server memory"},
        "conditions": [],
        "redolab_version": "0.1.0",
        "command": "redolab watch URL --out watched",
    }


def row(number: int, position: int, seen: Seen, kind: Kind = "postgresql") -> tuple[Watched, list[Entry]]:
    """A stretch in which a commit took 0.2 ms of CPU, 0.05 ms of run queue, and two flushes of waiting."""
    commits = round(seen.rate_per_s * seen.elapsed_s)
    cpu, queue, sync, other = 2e-4 * commits, 5e-5 * commits, 2 * seen.flush_s * commits, 1e-4 * commits
    sharing = 1 + seen.rate_per_s / 500
    flushes = max(1, round(commits / sharing))
    busy = cpu + queue + sync + other
    known: dict[str, Any] = {
        "connected_s": 20 * seen.elapsed_s,
        "busy_s": busy,
        "client_in_transaction_s": 0.5 * seen.elapsed_s,
        "worked_sessions": 16,
        "session_cpu_s": cpu,
        "session_run_queue_s": queue,
        "log_sync_s": sync,
        "instance_cpu_s": cpu + 0.1 * seen.elapsed_s,
        "host_cpus": CPUS,
        "host_cores": CORES,
        "host_busy_s": cpu + 0.5 * seen.elapsed_s,
        "host_steal_s": 0.01 * seen.elapsed_s,
        "transactions": commits,
        "rows_written": 3 * commits,
        "log_flushes": flushes,
        "log_flush_time_s": flushes * seen.flush_s,
        "log_writes": flushes,
        "log_write_time_s": flushes * 1e-4,
        "log_bytes": 600 * commits,
        "binlog_flushes": flushes,
        "binlog_flush_time_s": flushes * seen.flush_s / 2,
        "server_cpu_s": 0.001 * seen.elapsed_s,
    }
    known |= dict.fromkeys(_NOT_OF[kind])
    watched = Watched(
        sample=number,
        block=seen.start,
        position=position,
        setting=SETTING,
        started_at=(BEGAN + timedelta(seconds=seen.at_s)).isoformat(timespec="milliseconds"),
        start_s=seen.at_s,
        elapsed_s=seen.elapsed_s,
        spoiled=seen.spoiled,
        ticks=int(100 * seen.elapsed_s),
        looks=int(2000 * seen.elapsed_s),
        sampler_cpu_s=0.004 * seen.elapsed_s,
        **known,
    )
    flush_event, queue_event, other_event = _EVENTS[kind]
    session_rows = {
        flush_event: sync / 2,
        queue_event: sync / 2,
        other_event: 0.9 * other,
        "unaccounted": 0.1 * other,
    }
    if kind == "remote":
        session_rows["on_cpu_or_unknown"] = cpu + queue
    else:
        session_rows |= {"on_cpu": cpu, "run_queue": queue}
    waits = {"1": 0.1, "2": 0.2, "4": 0.4, "8": 0.2, "inf": 0.1}
    writes = {"1": 0.5, "2": 0.42, "4": 0.06, "8": 0.02}
    background = {"on_cpu": 0.1 * seen.elapsed_s, flush_event: 0.05 * seen.elapsed_s}
    entries = [
        *_entries(number, SESSIONS, "seconds", session_rows),
        *_entries(number, BACKGROUND, "seconds", background),
        *_entries(number, LOG_SYNC, "waits", {end: part * commits for end, part in waits.items()}),
        *_entries(number, LOG_WRITE, "waits", {end: part * flushes for end, part in writes.items()}),
    ]
    return watched, entries


def _entries(number: int, section: str, measure: str, values: Mapping[str, float]) -> list[Entry]:
    return [Entry(number, section, name, measure, value, None, None, None) for name, value in values.items()]


def busy_days(seed: int = 5, stretch_s: float = 60.0) -> list[Seen]:
    """Two days of an hour in eight, with load that goes up and down, a restart and spoiled stretches."""
    rng = random.Random(seed)
    found, noise = [], 0.0
    starts = [(1, 0.0, 26 * 3600.0), (2, 27.5 * 3600, 40 * 3600.0)]
    for start, begins, ends in starts:
        at = begins
        while at + stretch_s <= ends:
            noise = 0.7 * noise + rng.gauss(0, 0.08)
            daily = 600 + 350 * math.sin(2 * math.pi * (at / 86_400 - 0.4))
            spoiled = "the server was restarted" if start == 1 and 3600 <= at < 3600 + 3 * stretch_s else None
            flush = 2e-3 * math.exp(0.3 * noise) * (1.5 if 9 * 3600 <= at < 11 * 3600 else 1.0)
            found.append(Seen(at, start, daily * math.exp(noise), flush, stretch_s, spoiled))
            at += stretch_s
    return found


def watched_run(
    place: Path,
    stretches: Sequence[Seen] | None = None,
    kind: Kind = "postgresql",
    status: str | None = "finished",
    change: Callable[[Watched], Watched] = lambda watched: watched,
) -> Run:
    """Write a watched run, its stretches as one part; with no status it is still being watched."""
    writer = RunWriter(place, manifest(kind))
    rows: list[Watched] = []
    found: list[Entry] = []
    positions: dict[int, int] = {}
    for number, seen in enumerate(busy_days(stretch_s=600.0) if stretches is None else stretches, 1):
        positions[seen.start] = positions.get(seen.start, 0) + 1
        watched, entries = row(number, positions[seen.start], seen, kind)
        rows.append(change(watched))
        found += entries
    write_part(place, rows, found)
    if status is None:
        return open_run(place)
    return writer.finish(status, finished_at=BEGAN.isoformat(timespec="milliseconds"))


def write_part(place: Path, rows: Sequence[Watched], entries: Sequence[Entry]) -> None:
    """Write stretches as one part of a run that is still being watched: many small files take long."""
    number = rows[0].sample
    for kind, record, written in (("entries", Entry, entries), ("samples", Watched, rows)):
        table = pa.Table.from_pylist([asdict(item) for item in written], schema=schema(record))
        pq.write_table(table, place / "parts" / f"{kind}-{number:06d}.parquet")


def steady(
    count: int = 40, rate_per_s: float = 500.0, flush_s: float = 2e-3, elapsed_s: float = 60.0
) -> list[Seen]:
    """Stretches that are all alike, one after the other."""
    return [Seen(number * elapsed_s, 1, rate_per_s, flush_s, elapsed_s) for number in range(count)]


def without(name: str) -> Callable[[Watched], Watched]:
    """A change that leaves one column out."""
    assert name in {item.name for item in fields(Watched)}
    nothing: dict[str, Any] = {name: None}
    return lambda watched: replace(watched, **nothing)

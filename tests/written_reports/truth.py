"""What a written report is written from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

# The upper bounds of a histogram's buckets, as the reports name them, in ascending order.
BOUNDS = (
    "<1us", "<2us", "<4us", "<8us", "<16us", "<32us", "<64us", "<128us", "<256us", "<512us",
    "<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms", "<64ms", "<1/8s", "<1/4s", "<1/2s", "<1s", "<2s",
    "<4s", "<8s", "<16s", "<32s", "<1m", "<2m",
)  # fmt: skip

# A release of each layout, for those who want the two to go together: truth(release=RELEASES["11.2"]).
RELEASES = {
    "9.2": "9.2.0.8.0",
    "10.2": "10.2.0.5.0",
    "11.2": "11.2.0.4.0",
    "12.1": "12.1.0.2.0",
    "12.2": "12.2.0.1.0",
    "19c": "19.0.0.0.0",
}


@dataclass(frozen=True)
class Event:
    """One wait event of one kind of process; the histogram holds percent by upper bound of `BOUNDS`."""

    name: str
    wait_class: str
    waits: int
    seconds: float
    idle: bool = False
    histogram: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Truth:
    """All that a report says about its database and its time."""

    database: str
    dbid: int
    instance: str
    instance_number: int
    release: str
    rac: bool
    host: str
    platform: str
    container: str
    cpus: int
    cores: int
    sockets: int
    memory_bytes: int
    startup: datetime
    begin_snapshot: int
    end_snapshot: int
    begin: datetime
    elapsed_s: float
    sessions: int
    end_sessions: int
    db_time_s: float
    db_cpu_s: float
    background_cpu_s: float
    background_elapsed_s: float
    commits: int
    rollbacks: int
    redo_bytes: int
    redo_writes: int
    redo_write_time_cs: int
    user_calls: int
    executes: int
    log_switches: int
    foreground: tuple[Event, ...]
    background: tuple[Event, ...]
    statistics: Mapping[str, int]
    busy_cs: int
    idle_cs: int
    user_cs: int
    sys_cs: int
    iowait_cs: int
    load_begin: float
    load_end: float
    parameters: Mapping[str, str]

    @property
    def end(self) -> datetime:
        return self.begin + timedelta(seconds=self.elapsed_s)

    @property
    def transactions(self) -> int:
        return self.commits + self.rollbacks


def waited_s(events: tuple[Event, ...]) -> float:
    """The time of the events that are not idle."""
    return sum(event.seconds for event in events if not event.idle)


def all_statistics(truth: Truth) -> dict[str, int]:
    """Every instance statistic by name, in the order of a report."""
    named = {
        "redo size": truth.redo_bytes,
        "redo writes": truth.redo_writes,
        "redo write time": truth.redo_write_time_cs,
        "user commits": truth.commits,
        "user rollbacks": truth.rollbacks,
        "user calls": truth.user_calls,
        "execute count": truth.executes,
        "DB time": round(truth.db_time_s * 100),
        "CPU used by this session": round(truth.db_cpu_s * 100),
    }
    return dict(sorted({**named, **truth.statistics}.items()))


def all_events(truth: Truth) -> tuple[Event, ...]:
    """The events of all processes, those of both kinds added up: longest first, the idle ones last."""
    found: dict[str, Event] = {}
    for event in (*truth.foreground, *truth.background):
        known = found.get(event.name)
        found[event.name] = event if known is None else _added(known, event)
    return ordered(tuple(found.values()))


def ordered(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """As reports order: longest time first, the idle ones last."""
    return tuple(sorted(events, key=lambda event: (event.idle, -event.seconds, -event.waits)))


def _added(one: Event, other: Event) -> Event:
    waits = one.waits + other.waits
    shares = {
        bound: (one.waits * one.histogram.get(bound, 0.0) + other.waits * other.histogram.get(bound, 0.0))
        / max(waits, 1)
        for bound in BOUNDS
        if bound in one.histogram or bound in other.histogram
    }
    return Event(one.name, one.wait_class, waits, one.seconds + other.seconds, one.idle, shares)


def truth(**changes: Any) -> Truth:
    """One hour of a busy database, with what `changes` says otherwise; what follows from it follows."""
    given: dict[str, Any] = {**_HOUR, **changes}
    share = given["elapsed_s"] * given["cpus"] / (_HOUR["elapsed_s"] * _HOUR["cpus"])
    for name in ("busy_cs", "user_cs", "sys_cs", "iowait_cs"):
        given[name] = changes.get(name, round(_HOUR[name] * share))
    accounted = given["db_cpu_s"] + waited_s(given["foreground"])
    given.setdefault("db_time_s", round(accounted + 0.03 * accounted, 2))
    given.setdefault("background_elapsed_s", given["background_cpu_s"] + waited_s(given["background"]))
    given.setdefault("end_snapshot", given["begin_snapshot"] + 1)
    given.setdefault("end_sessions", given["sessions"] + 5)
    given.setdefault("idle_cs", round(given["elapsed_s"] * given["cpus"] * 100) - given["busy_cs"])
    return Truth(**given)


_FOREGROUND = (
    Event(
        "log file sync", "Commit", 413_207, 942.11,
        histogram={"<512us": 2.5, "<1ms": 21.5, "<2ms": 38.0, "<4ms": 27.2, "<8ms": 8.4, "<16ms": 1.6,
                   "<32ms": 0.5, "<64ms": 0.2, "<1/8s": 0.1},
    ),
    Event(
        "db file sequential read", "User I/O", 1_904_551, 933.23,
        histogram={"<128us": 3.1, "<256us": 22.9, "<512us": 41.0, "<1ms": 24.9, "<2ms": 6.0, "<4ms": 1.3,
                   "<8ms": 0.7, "<16ms": 0.1},
    ),
    Event(
        "enq: TX - row lock contention", "Application", 1_203, 812.42,
        histogram={"<4ms": 4.0, "<16ms": 11.0, "<64ms": 20.0, "<1/4s": 25.0, "<1s": 21.0, "<2s": 10.0,
                   "<4s": 9.0},
    ),
    Event(
        "SQL*Net message to client", "Network", 5_200_117, 4.16,
        histogram={"<1us": 61.0, "<2us": 38.0, "<4us": 0.9, "<16us": 0.1},
    ),
    Event("latch: redo allocation", "Other", 312, 0.24, histogram={"<1ms": 88.0, "<4ms": 12.0}),
    Event(
        "SQL*Net message from client", "Idle", 5_200_114, 412_390.5, idle=True,
        histogram={"<1ms": 20.0, "<16ms": 30.0, "<1s": 49.0, "<4s": 1.0},
    ),
)  # fmt: skip

_BACKGROUND = (
    Event(
        "log file parallel write", "System I/O", 231_870, 259.69,
        histogram={"<512us": 11.0, "<1ms": 54.0, "<2ms": 27.0, "<4ms": 6.0, "<8ms": 1.5, "<16ms": 0.5},
    ),
    Event(
        "db file parallel write", "System I/O", 98_114, 88.3,
        histogram={"<512us": 30.0, "<1ms": 40.0, "<2ms": 28.0, "<64ms": 2.0},
    ),
    Event(
        "control file parallel write", "System I/O", 3_611, 9.57,
        histogram={"<2ms": 40.0, "<4ms": 59.96, "<32ms": 0.04},
    ),
    Event("log file sync", "Commit", 41, 0.12, histogram={"<4ms": 100.0}),
    Event(
        "rdbms ipc message", "Idle", 402_310, 86_120.4, idle=True,
        histogram={"<1ms": 35.0, "<64ms": 20.0, "<1s": 10.0, "<4s": 35.0},
    ),
)  # fmt: skip

_STATISTICS = {
    "background timeouts": 21_003,
    "db block changes": 31_204_118,
    "logons cumulative": 2_113,
    "opened cursors cumulative": 3_110_912,
    "parse count (hard)": 1_911,
    "parse count (total)": 2_870_114,
    "physical reads": 1_951_220,
    "physical writes": 401_877,
    "recursive calls": 9_120_331,
    "redo blocks written": 8_500_117,
    "redo entries": 15_004_290,
    "redo log space requests": 17,
    "redo synch time": 94_330,
    "redo synch time (usec)": 943_301_877,
    "redo synch writes": 413_260,
    "redo wastage": 71_440_112,
    "session logical reads": 92_440_871,
    "sorts (memory)": 210_433,
    "workarea executions - optimal": 180_114,
}

_PARAMETERS = {
    "commit_logging": "IMMEDIATE",
    "commit_wait": "WAIT",
    "compatible": "19.0.0",
    "control_files": "/u02/oradata/ORDERS/control01.ctl,  /u03/fra/ORDERS/control02.ctl",
    "cpu_count": "8",
    "db_block_size": "8192",
    "db_domain": "",
    "db_name": "ORDERS",
    "log_archive_dest_1": "location=/u03/archive/ORDERS mandatory reopen=60 alternate=log_archive_dest_2",
    "log_buffer": "134217728",
    "processes": "1500",
    "sga_target": "17179869184",
    "undo_tablespace": "UNDOTBS1",
}

_HOUR: dict[str, Any] = {
    "database": "ORDERS",
    "dbid": 1234567890,
    "instance": "orders1",
    "instance_number": 1,
    "release": "19.0.0.0.0",
    "rac": False,
    "host": "dbhost",
    "platform": "Linux x86 64-bit",
    "container": "ORDERSPDB",
    "cpus": 8,
    "cores": 4,
    "sockets": 1,
    "memory_bytes": 33_561_264_128,
    "startup": datetime(2025, 2, 3, 4, 5, 6),  # noqa: DTZ001 -- a report's times have no zone
    "begin_snapshot": 4711,
    "begin": datetime(2025, 3, 14, 10, 0, 7),  # noqa: DTZ001
    "elapsed_s": 3600.0,
    "sessions": 214,
    "db_cpu_s": 4_210.44,
    "background_cpu_s": 96.31,
    "commits": 412_345,
    "rollbacks": 1_234,
    "redo_bytes": 4_211_877_004,
    "redo_writes": 231_842,
    "redo_write_time_cs": 26_144,
    "user_calls": 5_203_118,
    "executes": 7_811_240,
    "log_switches": 4,
    "foreground": _FOREGROUND,
    "background": _BACKGROUND,
    "statistics": _STATISTICS,
    "busy_cs": 561_204,
    "user_cs": 410_118,
    "sys_cs": 142_306,
    "iowait_cs": 88_412,
    "load_begin": 1.84,
    "load_end": 2.07,
    "parameters": _PARAMETERS,
}

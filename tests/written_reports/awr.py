"""The rows of the tables of an AWR report, as text: a page and a listing print the same ones."""

from __future__ import annotations

from collections.abc import Iterable

from tests.written_reports.printed import average, bare, commas, share, short
from tests.written_reports.truth import BOUNDS, Event, Truth, all_events, ordered, waited_s

Rows = list[list[str]]

SQL_ID = "7ws837zynp1zv"
SQL_MODULE = "JDBC Thin Client"
SQL_TEXT = "insert into page values ('<script>alert(1)</script>') /* log file sync 99,999 1,234 */"
IDENTITY = "This table displays database instance information"
CONTAINER = "This table displays pdb instance information"

KEY = {
    "db block changes", "execute count", "logons cumulative", "opened cursors cumulative",
    "parse count (total)", "physical reads", "physical writes", "redo size", "session logical reads",
    "user calls", "user commits", "user rollbacks", "workarea executions - optimal",
}  # fmt: skip
# What a container's report leaves out: the log writer works for the root.
ROOT = {"redo writes", "redo write time", "redo wastage", "redo blocks written"}


def load_profile(truth: Truth, version: str) -> Rows:
    """Per second, per transaction, per execution, per call."""
    statistics = truth.statistics
    lines = [
        ["DB Time(s):", *_four(truth, truth.db_time_s)],
        ["DB CPU(s):", *_four(truth, truth.db_cpu_s)],
    ]
    if version != "11.2":
        lines.append(["Background CPU(s):", *_four(truth, truth.background_cpu_s)[:2], "0.00", "0.00"])
    per = {
        "Redo size (bytes):": truth.redo_bytes,
        "Logical read (blocks):": statistics.get("session logical reads", 0),
        "Block changes:": statistics.get("db block changes", 0),
        "Physical read (blocks):": statistics.get("physical reads", 0),
        "Physical write (blocks):": statistics.get("physical writes", 0),
        "User calls:": truth.user_calls,
        "Parses (SQL):": statistics.get("parse count (total)", 0),
        "Hard parses (SQL):": statistics.get("parse count (hard)", 0),
        "Logons:": statistics.get("logons cumulative", 0),
        "Executes (SQL):": truth.executes,
        "Rollbacks:": truth.rollbacks,
    }
    lines += [[name, *_four(truth, value)[:2], "", ""] for name, value in per.items()]
    return [*lines, ["Transactions:", commas(truth.transactions / truth.elapsed_s, 1), "", "", ""]]


def _four(truth: Truth, value: float) -> list[str]:
    return [
        commas(value / truth.elapsed_s, 1),
        commas(value / max(truth.transactions, 1), 1),
        commas(value / max(truth.executes, 1), 2),
        commas(value / max(truth.user_calls, 1), 2),
    ]


def top_events(truth: Truth, version: str) -> Rows:
    """The ten events, DB CPU among them, that took the most of the foreground's time."""
    rows = [(truth.db_cpu_s, ["DB CPU", "", short(truth.db_cpu_s), "", "", ""])]
    rows += [
        (
            event.seconds,
            [
                event.name,
                commas(event.waits),
                short(event.seconds),
                average(event.seconds, event.waits, version),
                "",
                event.wait_class,
            ],
        )
        for event in truth.foreground
        if not event.idle
    ]
    rows.sort(key=lambda pair: -pair[0])
    for seconds, row in rows:
        row[4] = bare(share(seconds, truth.db_time_s))
    return [row for _, row in rows[:10]]


def wait_classes(truth: Truth, version: str) -> Rows:
    """Of all processes, with DB CPU."""
    found = [(truth.db_cpu_s, 0, "DB CPU"), *_by_class(all_events(truth))]
    return [
        [
            name,
            commas(waits) if waits else "",
            commas(seconds),
            average(seconds, waits, version),
            bare(share(seconds, truth.db_time_s)),
            commas(seconds / truth.elapsed_s, 1),
        ]
        for seconds, waits, name in sorted(found, reverse=True)
    ]


def foreground_classes(truth: Truth, version: str, decimals: int = 2) -> Rows:
    found = [(truth.db_cpu_s, 0, "DB CPU"), *_by_class(truth.foreground)]
    return [
        [
            name,
            commas(waits) if waits else "",
            "0" if waits else "",
            commas(seconds),
            average(seconds, waits, version),
            commas(share(seconds, truth.db_time_s), decimals),
        ]
        for seconds, waits, name in sorted(found, reverse=True)
    ]


def _by_class(events: Iterable[Event]) -> list[tuple[float, int, str]]:
    classes: dict[str, tuple[float, int]] = {}
    for event in events:
        if not event.idle:
            seconds, waits = classes.get(event.wait_class, (0.0, 0))
            classes[event.wait_class] = (seconds + event.seconds, waits + event.waits)
    return [(seconds, waits, name) for name, (seconds, waits) in classes.items()]


def time_model(truth: Truth, version: str, decimals: int = 2) -> Rows:
    """Seconds, percent of DB time and, from 12.1, percent of all CPU time."""
    executing = truth.db_time_s * 0.94
    cpu = truth.db_cpu_s + truth.background_cpu_s
    parts = [
        ("sql execute elapsed time", executing),
        ("DB CPU", truth.db_cpu_s),
        ("parse time elapsed", 40.7),
    ]
    parts.sort(key=lambda part: -part[1])
    rows = [
        [name, commas(value, decimals), _percent(share(value, truth.db_time_s), decimals), ""]
        for name, value in parts
    ]
    rows += [
        ["DB time", commas(truth.db_time_s, decimals), "", ""],
        ["background elapsed time", commas(truth.background_elapsed_s, decimals), "", ""],
        ["background cpu time", commas(truth.background_cpu_s, decimals), "", ""],
    ]
    if version == "11.2":
        return [row[:3] for row in rows]
    for row in rows:
        if row[0] == "DB CPU":
            row[3] = _percent(share(truth.db_cpu_s, cpu), decimals)
        if row[0] == "background cpu time":
            row[3] = _percent(share(truth.background_cpu_s, cpu), decimals)
    return [*rows, ["total CPU time", commas(cpu, decimals), "", ""]]


def _percent(value: float, decimals: int) -> str:
    return commas(value, 2) if decimals == 2 else bare(value)


def system_statistics(truth: Truth) -> Rows:
    """The statistics of the operating system, with the end value where it differs."""
    load = ["LOAD", commas(truth.load_begin), commas(truth.load_end)]
    return [
        ["FREE_MEMORY_BYTES", "1,612,845,056", "1,570,705,408"],
        ["BUSY_TIME", commas(truth.busy_cs), ""],
        ["IDLE_TIME", commas(truth.idle_cs), ""],
        ["IOWAIT_TIME", commas(truth.iowait_cs), ""],
        ["NICE_TIME", "0", ""],
        ["SYS_TIME", commas(truth.sys_cs), ""],
        ["USER_TIME", commas(truth.user_cs), ""],
        load,
        ["RSRC_MGR_CPU_WAIT_TIME", "0", ""],
        ["PHYSICAL_MEMORY_BYTES", commas(truth.memory_bytes), ""],
        ["NUM_CPUS", commas(truth.cpus), ""],
        ["NUM_CPU_CORES", commas(truth.cores), ""],
        ["NUM_CPU_SOCKETS", commas(truth.sockets), ""],
        ["GLOBAL_RECEIVE_SIZE_MAX", "4,194,304", ""],
    ]


def system_detail(truth: Truth, empty: str = "") -> Rows:
    total = truth.busy_cs + truth.idle_cs
    times = (truth.busy_cs, truth.user_cs, truth.sys_cs, truth.idle_cs, truth.iowait_cs)
    return [
        [f"{truth.begin:%d-%b %H:%M:%S}", commas(truth.load_begin, 2), *[empty] * 5],
        [
            f"{truth.end:%d-%b %H:%M:%S}",
            commas(truth.load_end, 2),
            *[commas(share(time, total), 2) for time in times],
        ],
    ]


def events(truth: Truth, version: str, *, background: bool = False, decimals: int = 2) -> Rows:
    """Event, waits, time-outs, seconds, average, waits per transaction, percent of the time."""
    whole = truth.background_elapsed_s if background else truth.db_time_s
    timeouts = "0" if background or version in {"11.2", "12.1"} else ""
    return [
        [
            event.name,
            commas(event.waits),
            timeouts,
            commas(event.seconds),
            average(event.seconds, event.waits, version),
            commas(event.waits / max(truth.transactions, 1), decimals),
            "" if event.idle else _percent(share(event.seconds, whole), decimals),
        ]
        for event in ordered(truth.background if background else truth.foreground)
    ]


def activity(truth: Truth, statistics: dict[str, int], decimals: int = 2) -> Rows:
    return [
        [
            name,
            commas(value),
            commas(value / truth.elapsed_s, decimals),
            commas(value / max(truth.transactions, 1), decimals),
        ]
        for name, value in statistics.items()
    ]


def histogram(truth: Truth, bounds: tuple[str, ...], *, within: tuple[str, str] | None = None) -> Rows:
    """Of every event with a histogram: name, waits, and its shares below each bound and above the last.

    With `within`, only events that are not idle and have waits between the two bounds, of which it counts
    the waits; the shares stay those of all waits.
    """
    rows = []
    for event in sorted(all_events(truth), key=lambda event: (event.idle, event.name)):
        if not event.histogram or (within and event.idle):
            continue
        inside = _up_to(event, within[1]) - _up_to(event, within[0]) if within else 100.0
        waits = round(event.waits * inside / 100)
        if waits == 0:
            continue
        sums = [_up_to(event, bound) for bound in bounds]
        shares = [later - sooner for sooner, later in zip([0.0, *sums], [*sums, 100.0], strict=False)]
        rows.append([event.name, short(waits), *[_cell(value) for value in shares]])
    return rows


def _cell(value: float) -> str:
    return bare(value) if value > 1e-9 else ""


def _up_to(event: Event, bound: str) -> float:
    if not bound:
        return 0.0
    last = BOUNDS.index("<1s" if bound == "<=1s" else bound)
    return sum(event.histogram.get(name, 0.0) for name in BOUNDS[: last + 1])


def captured(truth: Truth) -> tuple[str, str]:
    """The two notes on how much of DB time the report accounts for."""
    waits = waited_s(truth.foreground)
    percent = share(waits + truth.db_cpu_s, truth.db_time_s)
    return (
        f"Captured Time accounts for {percent:>12.1f}%  of Total DB time {truth.db_time_s:>14,.2f} (s)",
        f"Total FG Wait Time: {waits:>20,.2f} (s)  DB CPU time: {truth.db_cpu_s:>14,.2f} (s)",
    )

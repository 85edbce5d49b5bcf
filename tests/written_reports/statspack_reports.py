"""A Statspack report, as the printing scripts of three releases lay it out."""

from __future__ import annotations

from collections.abc import Iterable

from tests.written_reports import awr
from tests.written_reports.plus import FOOTER, Column, Value, table
from tests.written_reports.printed import share
from tests.written_reports.statspack_heads import call_time_s, identity, summary
from tests.written_reports.truth import Event, Truth, all_events, all_statistics, ordered

_ONLY = "-> Only events with Total Wait Time (s) >= .001 are shown"
_ORDER = "-> ordered by Total Wait Time desc, Waits desc (idle events last)"
_UNITS = "-> s - second, cs - centisecond,  ms - millisecond, us - microsecond"
_TIMEOUTS = "-> %Timeouts:  value of 0 indicates value was < .5%.  Value of null is truly 0"

# What does not begin a page of its own.
_SAME_PAGE = {
    "Time Model System Stats",
    "Background Wait Events",
    "Wait Events (fg and bg)",
    "Wait Event Histogram",
    "OS Statistics",
    "OS Statistics - detail",
}


def statspack(truth: Truth, version: str, *, fine: bool = False) -> str:
    """The report of `version`: 9.2, 10.2 or 11.2, which is that of 12 to 19c also.

    `fine`: the averages with two decimals, which the configuration of the reports allows for from 10.2 on.
    """
    lines = [*identity(truth, version), *summary(truth, version)]
    if version != "9.2":
        lines += _time_model(truth, version)
    lines += _waits(truth, version, "99990.99" if fine else "99990")
    if version != "9.2":
        lines += _histogram(truth, version)
    lines += [*_sql(truth, version), *_activity(truth, version)]
    if version != "9.2":
        lines += _system(truth, version)
    lines += [*_parameters(truth, version), ""]
    lines.append(
        "                                 End of Report"
        if version == "9.2"
        else f"End of Report ( sp_{truth.begin_snapshot}_{truth.end_snapshot}.lst )"
    )
    return "\n".join(line.rstrip(" ") for line in lines) + "\n\n"


def _title(truth: Truth, version: str, name: str, *notes: str) -> list[str]:
    begin, end = truth.begin_snapshot, truth.end_snapshot
    start = "\n" if version == "11.2" and name in _SAME_PAGE else "\f"
    if version == "9.2":
        whose = f"for DB: {truth.database}  Instance: {truth.instance}  Snaps: {begin} -{end}"
        return [f"{start}{name} {whose}", *notes, ""]
    return [f"{start}{name}  DB/Inst: {truth.database}/{truth.instance}  Snaps: {begin}-{end}", *notes, ""]


def _time_model(truth: Truth, version: str) -> list[str]:
    percent = Column("99999.9", "% DB time" if version == "11.2" else "% of DB time")
    columns = [Column("a35", "Statistic"), Column("9,999,999,999,990.9", "Time (s)"), percent]
    parts = {
        "sql execute elapsed time": truth.db_time_s * 0.94,
        "DB CPU": truth.db_cpu_s,
        "parse time elapsed": 40.7,
    }
    rows: list[list[Value]] = [
        [name, seconds, share(seconds, truth.db_time_s)] for name, seconds in parts.items()
    ]
    rows += [
        ["DB time", truth.db_time_s, None],
        ["background elapsed time", truth.background_elapsed_s, None],
        ["background cpu time", truth.background_cpu_s, None],
    ]
    note = "-> Ordered by % of DB time desc, Statistic name"
    return table(_title(truth, version, "Time Model System Stats", note), columns, rows)


def _waits(truth: Truth, version: str, average: str) -> list[str]:
    if version == "11.2":
        everything = [_UNITS, _TIMEOUTS, _ONLY, _ORDER]
        return [
            *_events(truth, version, average, "Foreground Wait Events", [_ONLY, _ORDER], truth.foreground),
            *_events(truth, version, average, "Background Wait Events", [_ONLY, _ORDER], truth.background),
            *_events(truth, version, average, "Wait Events (fg and bg)", everything, all_events(truth)),
        ]
    # The older reports leave the background's sleep out of the table of all processes.
    both = [event for event in all_events(truth) if event.name != "rdbms ipc message"]
    if version == "10.2":
        notes = [_UNITS, _TIMEOUTS, _ONLY, _ORDER]
        own = notes[1:]
    else:
        own = ["-> ordered by wait time desc, waits desc (idle events last)"]
        notes = [
            "-> s  - second",
            "-> cs - centisecond -     100th of a second",
            "-> ms - millisecond -    1000th of a second",
            "-> us - microsecond - 1000000th of a second",
            *own,
        ]
    return [
        *_events(truth, version, average, "Wait Events", notes, both),
        *_events(truth, version, average, "Background Wait Events", own, truth.background),
    ]


def _events(
    truth: Truth, version: str, average: str, name: str, notes: list[str], events: Iterable[Event]
) -> list[str]:
    first = {"9.2": "a28", "10.2": "a33", "11.2": "a28"}[version]
    timeouts = {
        "9.2": Column("9,999,990", "Timeouts"),
        "10.2": Column("9999", "%Time| -outs"),
        "11.2": Column("999", "%Tim|out"),
    }[version]
    columns = [
        Column(first, "Event"),
        Column("999,999,990", "Waits"),
        timeouts,
        Column("9,999,990", "Total Wait|Time (s)"),
        Column(average, "Avg|wait|(ms)"),
        Column("9,990.0", "Waits|/txn"),
    ]
    if version == "11.2":
        columns.append(Column("999.9", "%Total|Call|Time"))
    whole = call_time_s(truth)
    rows: list[list[Value]] = []
    for event in ordered(tuple(events)):
        milli = 1000 * event.seconds / event.waits if event.waits else None
        row: list[Value] = [
            event.name,
            event.waits,
            0,
            event.seconds,
            milli,
            event.waits / max(truth.transactions, 1),
        ]
        percent = None if event.idle else share(event.seconds, whole)
        rows.append([*row, percent] if version == "11.2" else row)
    return table(_title(truth, version, name, *notes), columns, rows)


_BOUNDS = ("<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms", "<=1s")


def _histogram(truth: Truth, version: str) -> list[str]:
    notes = [
        "-> Total Waits - units: K is 1000, M is 1000000, G is 1000000000",
        "-> % of Waits - column heading: <=1s is truly <1024ms, >1s is truly >=1024ms",
        "-> % of Waits - value: .0 indicates value was <.05%, null is truly 0",
        "-> Ordered by Event (idle events last)",
        "",
        "                           Total ----------------- % of Waits ------------------",
    ]
    title = _title(truth, version, "Wait Event Histogram", *notes)[:-1]
    columns = [Column("a26", "Event"), Column("a5", "Waits")]
    columns += [Column("a5", f"{bound:>5}") for bound in (*_BOUNDS, ">1s")]
    counts = {event.name: event.waits for event in all_events(truth)}
    rows = [
        [row[0], _counted(counts[row[0]]), *[f"{cell:>5}" for cell in row[2:]]]
        for row in awr.histogram(truth, _BOUNDS)
    ]
    return table(title, columns, rows) if rows else []


def _counted(waits: int) -> str:
    """Five characters: thousands and millions are cut, not rounded."""
    if waits <= 9_999:
        return f"{waits} ".rjust(5)
    unit, size = ("K", 1_000) if waits // 1_000 <= 9_999 else ("M", 1_000_000)
    return f"{waits // size}{unit}".rjust(5)


def _sql(truth: Truth, version: str) -> list[str]:
    """One statement with its text in lines of 64 characters: some of which look like other tables' rows."""
    if version == "9.2":
        title = _title(truth, version, "SQL ordered by Gets", "-> End Buffer Gets Threshold:   10000")
        heads = [
            "                                                     CPU      Elapsd",
            "  Buffer Gets    Executions  Gets per Exec  %Total Time (s)  Time (s) Hash Value",
            "--------------- ------------ -------------- ------ -------- --------- ----------",
            f"{truth.executes * 4:>15,} {truth.executes // 3:>12,} {12.0:>14,.1f} {37.2:>6.1f} "
            f"{truth.db_cpu_s / 3:>8.2f} {truth.db_time_s / 3:>9.2f} 1821034822",
        ]
    else:
        title = _title(
            truth,
            version,
            "SQL ordered by CPU",
            f"-> Total DB CPU (s): {truth.db_cpu_s:>14,.0f}",
            "-> Captured SQL accounts for   71.2% of Total DB CPU",
        )
        heads = [
            "    CPU                  CPU per             Elapsd                     Old",
            "  Time (s)   Executions  Exec (s)  %Total   Time (s)    Buffer Gets  Hash Value",
            "---------- ------------ ---------- ------ ---------- --------------- ----------",
            f"{truth.db_cpu_s / 3:>10.2f} {truth.executes // 3:>12,} {0:>10.2f} {33.3:>6.1f} "
            f"{truth.db_time_s / 3:>10.2f} {truth.executes * 4:>15,} 1821034822",
        ]
    return [
        *title,
        *heads,
        f"Module: {awr.SQL_MODULE}",
        "insert into page values ('<script>alert(1)</script>') /* a text",
        "log file sync                    99,999     0      1,234   9999",
        "redo writes                                99,999          9.9 */",
        "",
        FOOTER,
    ]


def _activity(truth: Truth, version: str) -> list[str]:
    name = Column("a33", "Statistic")
    total = Column("9,999,999,999,990", "Total")
    columns = [name, total, Column("999,999,990.9", "per Second"), Column("9,999,990.9", "per Trans")]
    rows: list[list[Value]] = [
        [known, value, value / truth.elapsed_s, value / max(truth.transactions, 1)]
        for known, value in all_statistics(truth).items()
        if value > 0 and not (version != "11.2" and "(usec)" in known)
    ]
    lines = table(_title(truth, version, "Instance Activity Stats"), columns, rows)
    if version == "9.2":
        return lines
    note = "-> Statistics with absolute values (should not be diffed)"
    columns = [name, Column("99,999,999,999", "Begin Value"), Column("99,999,999,999", "End Value")]
    current: list[list[Value]] = [["logons current", truth.sessions, truth.end_sessions]]
    lines += table(_title(truth, version, "Instance Activity Stats", note), columns, current)
    note = "-> Statistics identified by '(derived)' come from sources other than SYSSTAT"
    columns = [name, total, Column("9,999.99", "per Hour")]
    switches: list[list[Value]] = [
        ["log switches (derived)", truth.log_switches, truth.log_switches * 3600 / truth.elapsed_s]
    ]
    return lines + table(_title(truth, version, "Instance Activity Stats", note), columns, switches)


def _system(truth: Truth, version: str) -> list[str]:
    columns = [Column("a25", "Statistic"), Column("9,999,999,999,999,990", "Total")]
    times = {
        "BUSY_TIME": truth.busy_cs,
        "IDLE_TIME": truth.idle_cs,
        "IOWAIT_TIME": truth.iowait_cs,
        "SYS_TIME": truth.sys_cs,
        "USER_TIME": truth.user_cs,
    }
    if version == "10.2":
        times["LOAD"] = round(truth.load_end)
    times |= {
        "PHYSICAL_MEMORY_BYTES": truth.memory_bytes,
        "NUM_CPUS": truth.cpus,
        "NUM_CPU_CORES": truth.cores,
        "NUM_CPU_SOCKETS": truth.sockets,
    }
    note = "-> ordered by statistic type (CPU use, Virtual Memory, Hardware Config), Name"
    rows: list[list[Value]] = [[name, value] for name, value in times.items()]
    lines = table(_title(truth, version, "OS Statistics", note), columns, rows)
    return lines if version == "10.2" else [*lines, *_system_detail(truth, version)]


def _system_detail(truth: Truth, version: str) -> list[str]:
    columns = [Column("99999", "Snap|Id"), Column("a15", "Snapshot|Day Time"), Column("999.9", "Load")]
    columns += [Column("999.9", f"%{name}") for name in ("Busy", "User", "System")]
    columns += [Column("990.9", "%WIO"), Column("990.9", "%WCPU")]
    total = truth.busy_cs + truth.idle_cs
    times = (truth.busy_cs, truth.user_cs, truth.sys_cs, truth.iowait_cs)
    shares = [share(time, total) for time in times]
    rows: list[list[Value]] = [
        [truth.begin_snapshot, f"{truth.begin:%a %d %H:%M:%S}", truth.load_begin, *[None] * 5],
        [truth.end_snapshot, f"{truth.end:%a %d %H:%M:%S}", truth.load_end, *shares, None],
    ]
    return table(_title(truth, version, "OS Statistics - detail"), columns, rows)


def _parameters(truth: Truth, version: str) -> list[str]:
    columns = [
        Column("a29", "Parameter Name"),
        Column("a33", "Begin value", wrapped=version != "9.2"),
        Column("a14", "  End value|(if different)"),
    ]
    rows = [[name, value, " "] for name, value in truth.parameters.items()]
    return table(_title(truth, version, "init.ora Parameters"), columns, rows)

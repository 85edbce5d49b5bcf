"""The first page of a Statspack report: whose it is, the load, the top events, the processors."""

from __future__ import annotations

from tests.written_reports.plus import FOOTER, Column, Value, number, table
from tests.written_reports.printed import share
from tests.written_reports.truth import Truth, all_events, waited_s


def call_time_s(truth: Truth) -> float:
    """What the percentages of the reports are of: all waits that are not idle, and the time on processors."""
    return waited_s(truth.foreground) + waited_s(truth.background) + truth.db_cpu_s


def identity(truth: Truth, version: str) -> list[str]:
    """Database, instance, host and snapshots."""
    rac = "YES" if truth.rac else "NO"
    if version == "9.2":
        columns = [Column("a12", "DB Name"), Column("9999999999", "DB Id   "), Column("a12", "Instance")]
        columns += [Column("99999", "Inst Num"), Column("a11", "Release"), Column("a7", "Cluster")]
        columns.append(Column("a12", "Host"))
        row: list[Value] = [truth.database, truth.dbid, truth.instance, truth.instance_number]
        lines = table([""], columns, [[*row, truth.release, rac, truth.host]])[:-1]
        return ["STATSPACK report for", *lines, *_snapshots(truth, version)]
    lines = [
        "STATSPACK report for",
        "",
        "Database    DB Id    Instance     Inst Num  Startup Time   Release     RAC",
        "~~~~~~~~ ----------- ------------ -------- --------------- ----------- ---",
        f"{'':8} {number(truth.dbid, '9999999999')} {truth.instance:12} {truth.instance_number:8} "
        f"{truth.startup:%d-%b-%y %H:%M} {truth.release:11} {rac}",
        "",
    ]
    megabytes = truth.memory_bytes / 2**20
    if version == "10.2":
        lines += [
            f"Host  Name:   {truth.host[:16]:16} Num CPUs: {truth.cpus:4}        "
            f"Phys Memory (MB): {number(megabytes, '999,999')}",
            "~~~~",
        ]
    else:
        lines += [
            "Host Name             Platform                CPUs Cores Sockets   Memory (G)",
            "~~~~ ---------------- ---------------------- ----- ----- ------- ------------",
            f"     {truth.host[:16]:16} {truth.platform[:22]:22} {truth.cpus:5} {truth.cores:5} "
            f"{truth.sockets:7} {number(megabytes / 1024, '9,999,999.9')}",
        ]
    return [*lines, "", *_snapshots(truth, version)]


def _snapshots(truth: Truth, version: str) -> list[str]:
    old = version != "11.2"
    form = {"9.2": "99999990", "10.2": "999999990", "11.2": "999999999"}[version]
    rows = [
        f"{name} {number(snapshot, form)} {time:%d-%b-%y %H:%M:%S}  {number(sessions, '99,999')} "
        f"{cursors:9.1f}"
        for name, snapshot, time, sessions, cursors in (
            ("Begin Snap:", truth.begin_snapshot, truth.begin, truth.sessions, 4.0),
            ("  End Snap:", truth.end_snapshot, truth.end, truth.end_sessions, 4.3),
        )
    ]
    minutes = truth.elapsed_s / 60
    if version == "9.2":
        head = "              Snap Id     Snap Time      Sessions Curs/Sess Comment"
        under = "            --------- ------------------ -------- --------- -------------------"
    else:
        head = "Snapshot       Snap Id     Snap Time      Sessions Curs/Sess Comment"
        under = f"~~~~~~~~    ---------- ------------------ -------- --------- {'-' * (18 + old)}"
    if old:
        return [head, under, *rows, f"   Elapsed:      {minutes:>14,.2f} (mins)", ""]
    return [
        head,
        under,
        *rows,
        f"   Elapsed: {number(minutes, '99,990.00')} (mins) Av Act Sess: "
        f"{number(truth.db_time_s / truth.elapsed_s, '99,990.9')}",
        f"   DB time: {number(truth.db_time_s / 60, '99,990.00')} (mins)      DB CPU: "
        f"{number(truth.db_cpu_s / 60, '99,990.99')} (mins)",
        "",
    ]


def summary(truth: Truth, version: str) -> list[str]:
    """Sizes of the caches, load profile, top five events and, from 10.2, the processors."""
    lines = [*_caches(truth, version), "", *_load(truth, version), "", *_top(truth, version)]
    return lines if version == "9.2" else [*lines, *_processors(truth, version)]


def _caches(truth: Truth, version: str) -> list[str]:
    log_buffer = f"{int(truth.parameters.get('log_buffer', '0')) // 1024:,}K"
    if version == "9.2":
        return [
            "Cache Sizes (end)",
            "~~~~~~~~~~~~~~~~~",
            f"               Buffer Cache: {'10,240M':>10}      Std Block Size: {'8K':>10}",
            f"           Shared Pool Size: {'2,048M':>10}          Log Buffer: {log_buffer:>10}",
        ]
    wide = version == "10.2"
    return [
        f"Cache Sizes{' ' * (12 + 11 * wide)}Begin        End",
        f"~~~~~~~~~~~{' ' * (7 + 11 * wide)}---------- ----------",
        f"{'Buffer Cache:':>{17 + 11 * wide}} {'10,240M':>10} {'':10}   Std Block Size: {'8K':>10}",
        f"{'Shared Pool:':>{17 + 11 * wide}} {'2,048M':>10} {'':10}       Log Buffer: {log_buffer:>10}",
    ]


def _load(truth: Truth, version: str) -> list[str]:
    statistics = truth.statistics
    values = {
        "Redo size": truth.redo_bytes,
        "Logical reads": statistics.get("session logical reads", 0),
        "Block changes": statistics.get("db block changes", 0),
        "Physical reads": statistics.get("physical reads", 0),
        "Physical writes": statistics.get("physical writes", 0),
        "User calls": truth.user_calls,
        "Parses": statistics.get("parse count (total)", 0),
        "Hard parses": statistics.get("parse count (hard)", 0),
        "Logons": statistics.get("logons cumulative", 0),
        "Executes": truth.executes,
    }
    per = truth.transactions / truth.elapsed_s
    each = max(truth.transactions, 1)
    if version != "11.2":
        form = "9,999,999,999,990.99"
        lines = [
            "Load Profile",
            "~~~~~~~~~~~~                            Per Second       Per Transaction",
            "                                   ---------------       ---------------",
        ]
        if version == "10.2":
            lines = ["Load Profile                            Per Second       Per Transaction", lines[2]]
            lines[1] = "~~~~~~~~~~~~" + lines[1][12:]
        lines += [
            f"{name + ':':>28} {number(value / truth.elapsed_s, form)} {number(value / each, form)}"
            for name, value in values.items()
        ]
        lines.append(f"{'Transactions:':>28} {number(per, form)}")
        blocks = share(values["Block changes"], values["Logical reads"])
        rollback = share(truth.rollbacks, each)
        return [
            *lines,
            "",
            f"  % Blocks changed per Read: {number(blocks, '990.99')}    Recursive Call %:    {63.67:8.2f}",
            f" Rollback per transaction %: {number(rollback, '990.99')}       Rows per Sort:    {12.88:8.2f}",
        ]
    lines = [
        "Load Profile              Per Second    Per Transaction    Per Exec    Per Call",
        "~~~~~~~~~~~~      ------------------  ----------------- ----------- -----------",
    ]
    for name, seconds in (("DB time(s):", truth.db_time_s), ("DB CPU(s):", truth.db_cpu_s)):
        lines.append(
            f"{name:>17} {number(seconds / truth.elapsed_s, '999,999,999,990.9')} "
            f"{number(seconds / each, '999,999,999,990.9')} "
            f"{number(seconds / max(truth.executes, 1), '999,990.99')} "
            f"{number(seconds / max(truth.user_calls, 1), '999,990.99')}"
        )
    values["Rollbacks"] = truth.rollbacks
    lines += [
        f"{name + ':':>17} {number(value / truth.elapsed_s, '999,999,999,990.9')} "
        f"{number(value / each, '999,999,999,990.9')}"
        for name, value in values.items()
    ]
    return [*lines, f"{'Transactions:':>17} {number(per, '999,999,999,990.9')}"]


def _top(truth: Truth, version: str) -> list[str]:
    rows: list[tuple[str, int | None, float]] = [("CPU time", None, truth.db_cpu_s)]
    rows += [(event.name, event.waits, event.seconds) for event in all_events(truth) if not event.idle]
    rows = sorted(rows, key=lambda row: -row[2])[:5]
    whole = call_time_s(truth)
    head = "Top 5 Timed Events|~~~~~~~~~~~~~~~~~~|Event"
    waits, time = Column("999,999,990", "Waits"), Column("99,999,990", "Time (s)")
    if version == "9.2":
        columns = [Column("a44", head), waits, time, Column("999.99", "% Total|Ela Time")]
        return table([""], columns, [[*row, share(row[2], whole)] for row in rows])
    columns = [Column("a41", head), waits, time]
    columns += [Column("99990", "Avg|wait|(ms)"), Column("999.9", "%Total|Call|Time")]
    averages = [None if not count else 1000 * seconds / count for _, count, seconds in rows]
    return table(
        [""],
        columns,
        [[*row, average, share(row[2], whole)] for row, average in zip(rows, averages, strict=True)],
    )


def _processors(truth: Truth, version: str) -> list[str]:
    total = truth.busy_cs + truth.idle_cs
    shares = [share(time, total) for time in (truth.user_cs, truth.sys_cs, truth.idle_cs, truth.iowait_cs)]
    cpus = f"(CPUs: {truth.cpus}  Cores: {truth.cores}  Sockets: {truth.sockets})"
    cpu_s = truth.db_cpu_s + truth.background_cpu_s
    lines = [
        f"\fHost CPU  {cpus if version == '11.2' else f'(CPUs: {truth.cpus})'}",
        "~~~~~~~~              Load Average",
        "                      Begin     End      User  System    Idle     WIO     WCPU",
        "                    ------- -------   ------- ------- ------- ------- --------",
        f"{'':19} {number(truth.load_begin, '990.99')} {number(truth.load_end, '990.99')}   "
        + " ".join(number(value, "990.99") for value in shares),
        "",
        "Instance CPU",
    ]
    if version == "10.2":
        lines += [
            "~~~~~~~~~~~~",
            f"              % of total CPU for Instance:    {number(share(cpu_s * 100, total), '990.99')}",
            f"              % of busy  CPU for Instance:    "
            f"{number(share(cpu_s * 100, truth.busy_cs), '990.99')}",
            "  %DB time waiting for CPU - Resource Mgr:",
        ]
    else:
        lines += [
            "~~~~~~~~~~~~                                       % Time (seconds)",
            "                                            -------- --------------",
            _wide("Host: Total time (s):", total / 100),
            _wide("Host: Busy CPU time (s):", truth.busy_cs / 100),
            _narrow("% of time Host is Busy:", share(truth.busy_cs, total)),
            _wide("Instance: Total CPU time (s):", cpu_s),
            _narrow("% of Busy CPU used for Instance:", share(cpu_s * 100, truth.busy_cs)),
            _wide("Instance: Total Database time (s):", truth.db_time_s + truth.background_elapsed_s),
            _narrow("%DB time waiting for CPU (Resource Mgr):", 0.0),
        ]
    memory = number(truth.memory_bytes / 2**20, "9,999,999.9")
    return [
        *lines,
        "",
        "Memory Statistics                       Begin          End",
        "~~~~~~~~~~~~~~~~~                ------------ ------------",
        f"                  Host Mem (MB): {memory} {memory}",
        FOOTER,
    ]


def _wide(name: str, value: float) -> str:
    return f"{name:>42}    {number(value, '99,999,999,999,990.0')}"


def _narrow(name: str, value: float) -> str:
    return f"{name:>42}    {number(value, '990.9')}"

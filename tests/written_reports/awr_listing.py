"""An AWR report as its text."""

from __future__ import annotations

from collections.abc import Sequence

from tests.written_reports import awr
from tests.written_reports.plus import FOOTER, Column, Value, number, table
from tests.written_reports.printed import average, bare, commas, share
from tests.written_reports.truth import Truth, all_statistics

_NO_DATA = ["                  No data exists for this section of the report."]
_FOOTER = " " * 26 + "-" * 54
_SQL_LINES = [
    f"Module: {awr.SQL_MODULE}",
    "insert into page values ('<script>alert(1)</script>') /* a text",
    "log file sync                    99,999            1,234   1.23ms      1.0   99.9",
    "redo writes                                  99,999            9.9        9.9 */",
    "",
]


def awr_text(truth: Truth, version: str, *, pdb: bool = False, paged: bool = False) -> str:
    """The text of `version`, 11.2 or 19c.

    `pdb`: of a container; `paged`: as a query in SQL*Plus prints it, a heading on every short page.
    """
    lines = [*_identity(truth, version, pdb), *_load(truth, version), *_top(truth, version)]
    if not pdb:
        lines += _processors(truth)
    lines += [*_time_model(truth, version), *([] if pdb else _system(truth, version))]
    lines += [*_waits(truth, version, pdb), *([] if pdb else _histogram(truth, version))]
    lines += [*_sql(truth, version), *_activity(truth, version, pdb), *_parameters(truth, version, pdb)]
    lines += ["End of Report"]
    lines = [line.rstrip(" ") for line in lines]
    if paged:
        pages = [["OUTPUT", *lines[start : start + 14], ""] for start in range(0, len(lines), 14)]
        lines = [line for page in pages for line in page]
    return "\n".join(lines) + "\n"


def _wide(width: int, heading: str) -> Column:
    """A column of `width` whose values stand right."""
    return Column("9" * (width - 1), heading)


def _title(truth: Truth, name: str, *notes: str) -> list[str]:
    """The title's second half stands right, and is cut where the line ends."""
    whose = f"DB/Inst: {truth.database}/{truth.instance}  Snaps: {truth.begin_snapshot}-{truth.end_snapshot}"
    return ["", f"{name}{whose:>{max(79 - len(name), 0)}}"[:79], *notes, ""]


def _table(
    version: str, title: Sequence[str], columns: Sequence[Column], rows: Sequence[Sequence[Value]]
) -> list[str]:
    return [*table(title, columns, rows)[:-1], _FOOTER if version == "19c" else FOOTER, ""]


def _identity(truth: Truth, version: str, pdb: bool) -> list[str]:
    rac = "YES" if truth.rac else "NO"
    started = f"{truth.startup:%d-%b-%y %H:%M}"
    base = f"{truth.database:12} {truth.dbid:11}"
    if version == "11.2":
        lines = [
            "WORKLOAD REPOSITORY report for",
            "",
            "DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC",
            "------------ ----------- ------------ -------- --------------- ----------- ---",
            f"{base} {truth.instance:12} {truth.instance_number:8} {started} {truth.release:11} {rac}",
        ]
    else:
        lines = [
            f"WORKLOAD REPOSITORY {'PDB report (root snapshots)' if pdb else 'report for'}",
            "",
            "DB Name         DB Id    Unique Name DB Role          Edition Release    RAC CDB",
            "------------ ----------- ----------- ---------------- ------- ---------- --- ---",
            f"{base} {truth.database.lower():11} {'PRIMARY':16} {'EE':7} {truth.release:10} {rac:3} "
            f"{'YES' if pdb else 'NO'}",
            "",
            "Instance     Inst Num Startup Time",
            "------------ -------- ---------------",
            f"{truth.instance:12} {truth.instance_number:8} {started}",
        ]
        if pdb:
            lines += [
                "",
                "Container DB Id  Container Name       Open Time",
                "--------------- --------------- ---------------",
                f"{987654321:15} {truth.container:15} {started}",
            ]
    return [
        *lines,
        "",
        "Host Name        Platform                         CPUs Cores Sockets Memory(GB)",
        "---------------- -------------------------------- ---- ----- ------- ----------",
        f"{truth.host[:16]:16} {truth.platform[:32]:32} {truth.cpus:4} {truth.cores:5} {truth.sockets:7} "
        f"{truth.memory_bytes / 2**30:10.2f}",
        "",
        *_snapshots(truth),
    ]


def _snapshots(truth: Truth) -> list[str]:
    heads = ["              Snap Id      Snap Time      Sessions Curs/Sess"]
    heads.append("            --------- ------------------- -------- ---------")
    rows = [
        f"Begin Snap: {truth.begin_snapshot:9} {truth.begin:%d-%b-%y %H:%M:%S} {truth.sessions:9} {4.0:9.1f}",
        f"  End Snap: {truth.end_snapshot:9} {truth.end:%d-%b-%y %H:%M:%S} {truth.end_sessions:9} {4.3:9.1f}",
    ]
    if truth.rac:
        heads = [heads[0] + " Instances", heads[1] + " ---------"]
        rows = [row + "         2" for row in rows]
    return [
        *heads,
        *rows,
        f"   Elapsed: {truth.elapsed_s / 60:>19,.2f} (mins)",
        f"   DB Time: {truth.db_time_s / 60:>19,.2f} (mins)",
        "",
    ]


_OLD_NAMES = {
    "Redo size (bytes):": "Redo size:",
    "Logical read (blocks):": "Logical reads:",
    "Physical read (blocks):": "Physical reads:",
    "Physical write (blocks):": "Physical writes:",
    "Parses (SQL):": "Parses:",
    "Hard parses (SQL):": "Hard parses:",
    "Executes (SQL):": "Executes:",
}


def _load(truth: Truth, version: str) -> list[str]:
    if version == "11.2":
        heads = [
            "Load Profile              Per Second    Per Transaction   Per Exec   Per Call",
            "~~~~~~~~~~~~         ---------------    --------------- ---------- ----------",
        ]
        first, widths = 17, (19, 19, 11, 11)
    else:
        heads = [
            "Load Profile                    Per Second   Per Transaction  Per Exec  Per Call",
            "~~~~~~~~~~~~~~~            ---------------   --------------- --------- ---------",
        ]
        first, widths = 24, (18, 18, 10, 10)
    lines = []
    for name, *cells in awr.load_profile(truth, version):
        shown = _OLD_NAMES.get(name, name) if version == "11.2" else name
        lines.append(
            f"{shown:>{first}}"
            + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        )
    return [*heads, *lines, ""]


def _top(truth: Truth, version: str) -> list[str]:
    if version == "11.2":
        title = ["Top 5 Timed Foreground Events", "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"]
        columns = [Column("a30", "Event"), _wide(12, "Waits"), _wide(11, "Time(s)")]
        columns += [_wide(6, "Avg|wait|(ms)"), _wide(6, "% DB|time"), Column("a10", "Wait Class")]
        rows: list[tuple[float, list[str]]] = [
            (
                event.seconds,
                [
                    event.name,
                    commas(event.waits),
                    commas(event.seconds),
                    average(event.seconds, event.waits, version),
                    bare(share(event.seconds, truth.db_time_s)),
                    event.wait_class,
                ],
            )
            for event in truth.foreground
            if not event.idle
        ]
        cpu = bare(share(truth.db_cpu_s, truth.db_time_s))
        rows.append((truth.db_cpu_s, ["DB CPU", "", commas(truth.db_cpu_s), "", cpu, ""]))
        rows.sort(key=lambda row: -row[0])
        return table(title, columns, [row for _, row in rows[:5]])[:-1]
    title = ["Top 10 Foreground Events by Total Wait Time", "~" * 43]
    columns = [Column("a30", "Event"), _wide(11, "Waits"), _wide(10, "Total Wait|Time (sec)")]
    columns += [_wide(9, "Avg|Wait"), _wide(6, "% DB|time"), Column("a8", "Wait|Class")]
    lines = [*table(title, columns, awr.top_events(truth, version))[:-1], "", ""]
    title = ["Wait Classes by Total Wait Time", "~" * 31]
    columns = [Column("a16", "Wait Class"), _wide(16, "Waits"), _wide(16, "Total Wait|Time (sec)")]
    columns += [_wide(10, "Avg|Wait|Time"), _wide(6, "% DB|time"), _wide(8, "Avg|Active|Sessions")]
    return [*lines, *table(title, columns, awr.wait_classes(truth, version))[:-1], ""]


def _processors(truth: Truth) -> list[str]:
    total = truth.busy_cs + truth.idle_cs
    times = (truth.user_cs, truth.sys_cs, truth.iowait_cs, truth.idle_cs)
    shares = "".join(f"{share(time, total):10.1f}" for time in times)
    cpu_cs = (truth.db_cpu_s + truth.background_cpu_s) * 100
    return [
        f"Host CPU (CPUs: {truth.cpus:4} Cores: {truth.cores:4} Sockets: {truth.sockets:4})",
        "~~~~~~~~         Load Average",
        "               Begin       End     %User   %System      %WIO     %Idle",
        "           --------- --------- --------- --------- --------- ---------",
        f"{'':10}{truth.load_begin:10.2f}{truth.load_end:10.2f}{shares}",
        "",
        "Instance CPU",
        "~~~~~~~~~~~~",
        f"              % of total CPU for Instance:{share(cpu_cs, total):10.1f}",
        f"              % of busy  CPU for Instance:{share(cpu_cs, truth.busy_cs):10.1f}",
        f"  %DB time waiting for CPU - Resource Mgr:{0:10.1f}",
        "",
        "Memory Statistics",
        "~~~~~~~~~~~~~~~~~                       Begin          End",
        f"                  Host Mem (MB):{number(truth.memory_bytes / 2**20, '99,999,999.9')}"
        f"{number(truth.memory_bytes / 2**20, '99,999,999.9')}",
        "",
    ]


def _time_model(truth: Truth, version: str) -> list[str]:
    columns = [Column("a42", "Statistic Name"), _wide(18, "Time (s)")]
    if version == "11.2":
        columns.append(_wide(12, "% of DB Time"))
        notes = [f"-> Total time in database user-calls (DB Time): {truth.db_time_s:.1f}s"]
    else:
        columns += [_wide(7, "% of|DB Time"), _wide(10, "% of Total|CPU Time")]
        notes = ["-> DB Time represents total time in user calls"]
    notes += [
        '-> Statistics including the word "background" measure background process',
        "   time, and so do not contribute to the DB time statistic",
    ]
    title = _title(truth, "Time Model Statistics", *notes)
    return _table(version, title, columns, awr.time_model(truth, version, 1))


def _system(truth: Truth, version: str) -> list[str]:
    notes = [
        "-> *TIME statistic values are diffed.",
        "   All others display actual values.  End Value is displayed if different",
        "-> ordered by statistic type (CPU Use, Virtual Memory, Hardware Config), Name",
    ]
    columns = [Column("a25", "Statistic"), _wide(22, "Value"), _wide(16, "End Value")]
    title = _title(truth, "Operating System Statistics", *notes)
    lines = _table(version, title, columns, awr.system_statistics(truth))
    columns = [Column("a15", "Snap Time"), _wide(8, "Load")]
    columns += [_wide(8, f"%{name}") for name in ("busy", "user", "sys", "idle", "iowait")]
    rows = [
        [cell if cell in {"N/A", row[0]} else f"{float(cell):.1f}" for cell in row]
        for row in awr.system_detail(truth, "N/A")
    ]
    return lines + _table(version, _title(truth, "Operating System Statistics - Detail"), columns, rows)


def _waits(truth: Truth, version: str, pdb: bool) -> list[str]:
    new = version == "19c"
    units = "-> s  - second, ms - millisecond, us - microsecond, ns - nanosecond"
    notes = [
        units if new else "-> s  - second, ms - millisecond -    1000th of a second",
        "-> Only events with Total Wait Time (s) >= .001 are shown",
        "-> ordered by wait time desc, waits desc (idle events last)",
        "-> %Timeouts: value of 0 indicates value was < .5%.  Value of null is truly 0",
    ]
    columns = [Column("a20", "Wait Class"), _wide(15 if new else 16, "Waits"), _wide(5, "%Time|-outs")]
    columns.append(_wide(15 if new else 16, "Total Wait|Time (s)"))
    columns += [_wide(10, "Avg wait") if new else _wide(8, "Avg|wait|(ms)"), _wide(9, "%DB time")]
    about = [
        notes[0],
        "-> ordered by wait time desc, waits desc",
        *[f"-> {note}" for note in awr.captured(truth)],
    ]
    title = _title(truth, "Foreground Wait Class", *about)
    lines = _table(version, title, columns, awr.foreground_classes(truth, version, 1))
    columns = [Column("a26", "Event"), _wide(11 if new else 12, "Waits"), _wide(5, "%Time|-outs")]
    columns.append(_wide(8, "Total|Wait|Time (s)") if new else _wide(10, "Total Wait|Time (s)"))
    columns += [_wide(9, "Avg wait") if new else _wide(7, "Avg|wait|(ms)"), _wide(8, "Waits|/txn")]
    title = _title(truth, "Foreground Wait Events", *notes)
    rows = awr.events(truth, version, decimals=1)
    lines += _table(version, title, [*columns, _wide(6, "% DB|time")], rows)
    if pdb:
        return lines
    title = _title(truth, "Background Wait Events", notes[2], notes[1], notes[3])
    rows = awr.events(truth, version, background=True, decimals=1)
    return lines + _table(version, title, [*columns, _wide(6, "% bg|time")], rows)


_UP_TO_2S = ("<32ms", "<64ms", "<1/8s", "<1/4s", "<1/2s", "<1s", "<2s")


def _histogram(truth: Truth, version: str) -> list[str]:
    if version == "11.2":
        main: tuple[str, ...] = ("<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms", "<=1s")
        lines = _shares(truth, version, "Wait Event Histogram", "Total|Waits", (*main, ">1s"), None)
        name = "Wait Event Histogram Detail (64 msec to 2 sec)"
    else:
        main = ("<8us", "<16us", "<32us", "<64us", "<128us", "<256us", "<512us")
        lines = _shares(truth, version, "Wait Event Histogram", "Total|Waits", (*main, ">=512us"), None)
        name = "Wait Event Histogram (up to 32 ms)"
        main = ("<512us", "<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms")
        waits = "Waits|1ms|to 32"
        lines += _shares(truth, version, name, waits, (*main, ">=32ms"), ("<512us", "<32ms"))
        name = "Wait Event Histogram (up to 2 sec)"
    waits = "Waits|64ms|to 2s"
    return lines + _shares(truth, version, name, waits, (*_UP_TO_2S, ">=2s"), ("<32ms", "<2s"))


def _shares(
    truth: Truth, version: str, name: str, waits: str, bounds: tuple[str, ...], within: tuple[str, str] | None
) -> list[str]:
    """The headings of five characters are cut where the bound's name is longer."""
    of_waits = "% of Waits" if within is None and version == "11.2" else "% of Total Waits"
    notes = [
        "-> Units for Total Waits column: K is 1000, M is 1000000, G is 1000000000",
        f"-> {of_waits}: value of .0 indicates value was <.05%;",
        "   value of null is truly 0",
        "-> Ordered by Event (idle events last)",
        "",
        f"{of_waits:^31}".rjust(72).rstrip(),
        " " * 33 + "-" * 47,
    ]
    title = _title(truth, name, *notes)[:-1]
    columns = [Column("a26", "Event"), _wide(5, waits), *[_wide(5, bound[:5]) for bound in bounds]]
    rows = awr.histogram(truth, bounds[:-1], within=within)
    if not rows:
        return [*_title(truth, name), *_NO_DATA, _FOOTER if version == "19c" else FOOTER, ""]
    return _table(version, title, columns, [[row[0], _five(row[1]), *row[2:]] for row in rows])


def _five(counted: str) -> str:
    """Without its decimal where five characters do not hold it."""
    return counted if len(counted) <= 5 else f"{float(counted[:-1]):.0f}{counted[-1]}"


def _sql(truth: Truth, version: str) -> list[str]:
    columns = [_wide(16, "Elapsed|Time (s)"), _wide(14, "Executions"), _wide(13, "Elapsed Time|per Exec (s)")]
    columns += [_wide(6, name) for name in ("%Total", "%CPU", "%IO")] + [Column("a13", "   SQL Id")]
    row: list[Value] = [
        commas(truth.db_time_s / 2, 1),
        commas(truth.executes // 3),
        "0.00",
        "50.0",
        "31.2",
        "11.8",
    ]
    title = _title(
        truth, "SQL ordered by Elapsed Time", "-> %Total - Elapsed Time  as a percentage of Total DB time"
    )
    lines = table(title, columns, [[*row, awr.SQL_ID]])[:-1]
    return [*lines, *_SQL_LINES, _FOOTER if version == "19c" else FOOTER, ""]


def _activity(truth: Truth, version: str, pdb: bool) -> list[str]:
    every = {name: value for name, value in all_statistics(truth).items() if not (pdb and name in awr.ROOT)}
    columns = [
        Column("a32", "Statistic"),
        _wide(18, "Total"),
        _wide(14, "per Second"),
        _wide(13, "per Trans"),
    ]
    title = _title(truth, "Instance Activity Stats", "-> Ordered by statistic name")
    lines = []
    if version == "19c":
        key = {name: value for name, value in every.items() if name in awr.KEY}
        about = _title(truth, "Key Instance Activity Stats", "-> Ordered by statistic name")
        lines += _table(version, about, columns, awr.activity(truth, key, 1))
    lines += _table(version, title, columns, awr.activity(truth, every, 1))
    columns = [Column("a32", "Statistic"), _wide(15, "Begin Value"), _wide(15, "End Value")]
    note = "-> Statistics with absolute values (should not be diffed)"
    title = _title(truth, "Instance Activity Stats - Absolute Values", note)
    lines += _table(
        version, title, columns, [["logons current", commas(truth.sessions), commas(truth.end_sessions)]]
    )
    if pdb:
        return lines
    columns = [Column("a32", "Statistic"), _wide(18, "Total"), _wide(9, "per Hour")]
    note = "-> Statistics identified by '(derived)' come from sources other than SYSSTAT"
    title = _title(truth, "Instance Activity Stats - Thread Activity", note)
    hourly = commas(truth.log_switches * 3600 / truth.elapsed_s, 2)
    rows: list[list[Value]] = [["log switches (derived)", commas(truth.log_switches), hourly]]
    return lines + _table(version, title, columns, rows)


def _parameters(truth: Truth, version: str, pdb: bool) -> list[str]:
    name = "Modified Parameters" if version == "19c" else "init.ora Parameters"
    columns = [
        Column("a29", "Parameter Name"),
        Column("a33", "Begin value"),
        Column("a14", "End value|(if different)"),
    ]
    title = _title(truth, "Parameters modified by this container" if pdb else name)
    rows: list[list[Value]] = []
    for known, value in truth.parameters.items():
        rows.append([known, value, ""])
        if pdb:
            rows.append([f"   PDB: {truth.container}", "", ""])
    return _table(version, title, columns, rows)

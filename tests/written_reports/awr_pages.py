"""An AWR report as its HTML page."""

from __future__ import annotations

from html import escape

from tests.written_reports import awr
from tests.written_reports.awr_waits import MICRO, waits
from tests.written_reports.markup import grid, heading, saved, section
from tests.written_reports.printed import commas, share
from tests.written_reports.truth import Truth, all_statistics


def awr_html(
    truth: Truth, version: str, *, pdb: bool = False, tbody: bool = False, preamble: bool = False
) -> str:
    """The page of `version`, one of 11.2, 12.1, 12.2 and 19c.

    `pdb`: of a container; `tbody`: as a browser saves it; `preamble`: as SQL*Plus spools it.
    """
    page = "\n".join([_head(truth), *_identity(truth, version, pdb), *_summary(truth, version, pdb)])
    page += "\n" + "\n".join([*waits(truth, version, pdb), *_sql(truth), *_activity(truth, version, pdb)])
    page += "\n" + "\n".join([*_parameters(truth, version, pdb), "End of Report", "</body></html>", ""])
    if tbody:
        page = saved(page)
    if preamble:
        name = f"awrrpt_{truth.instance_number}_{truth.begin_snapshot}_{truth.end_snapshot}.html"
        page = f"{_PREAMBLE.format(name=name)}{page}{_WRITTEN.format(name=name)}".replace("\n", "\r\n")
    return page


_PREAMBLE = """
Specify the Report Name
~~~~~~~~~~~~~~~~~~~~~~~
The default report file name is {name}.  To use this name,
press <return> to continue, otherwise enter an alternative.

Enter value for report_name:

Using the report name {name}

"""
_WRITTEN = """Report written to {name}
SQL>
"""


def _head(truth: Truth) -> str:
    snaps = f"{truth.begin_snapshot}-{truth.end_snapshot}"
    title = f"AWR Report for DB: {truth.database}, Inst: {truth.instance}, Snaps: {snaps}"
    return f"""<html lang="en"><head><title>{escape(title)}</title>
<style type="text/css">
body.awr {{font:bold 10pt Arial,Helvetica,Geneva,sans-serif;color:black; background:White;}}
td.awrc    {{font:8pt Arial,Helvetica,Geneva,sans-serif;color:black;background:#FFFFCC; vertical-align:top;}}
table.tdiff {{  border_collapse: collapse; }}
</style></head><body class="awr">"""


def _identity(truth: Truth, version: str, pdb: bool) -> list[str]:
    kind = "PDB report (root snapshots)" if pdb else "report for"
    parts = [f'<h1 class="awr">\nWORKLOAD REPOSITORY {kind}\n\n</h1>\n<p />']
    rac = "YES" if truth.rac else "NO"
    started = f"{truth.startup:%d-%b-%y %H:%M}"
    number = str(truth.instance_number)
    if version in MICRO:
        heads = ["DB Name", "DB Id", "Unique Name", "Role", "Edition", "Release", "RAC", "CDB"]
        unique = truth.database.lower()
        row = [truth.database, str(truth.dbid), unique, "PRIMARY", "EE", truth.release, rac]
        row.append("YES" if pdb else "NO")
        parts.append(grid(awr.IDENTITY, heads, [row], words=(0, 2, 3, 4, 5, 6, 7), narrow=True))
        own = [truth.instance, number, started]
        parts.append(grid(awr.IDENTITY, ["Instance", "Inst Num", "Startup Time"], [own], words=(0, 2)))
    else:
        heads = ["DB Name", "DB Id", "Instance", "Inst num", "Startup Time", "Release", "RAC"]
        row = [truth.database, str(truth.dbid), truth.instance, number, started, truth.release, rac]
        parts.append(grid(awr.IDENTITY, heads, [row], words=(0, 2, 4, 5, 6), narrow=True))
    if pdb:
        heads = ["Container DB Id", "Container Name", "Open Time"]
        parts.append(grid(awr.CONTAINER, heads, [["987654321", truth.container, started]], words=(1, 2)))
    heads = ["Host Name", "Platform", "CPUs", "Cores", "Sockets", "Memory (GB)"]
    counts = [f"{count:>4}" for count in (truth.cpus, truth.cores, truth.sockets)]
    row = [truth.host, truth.platform, *counts, f"{truth.memory_bytes / 2**30:>8.2f}"]
    parts.append(grid("This table displays host information", heads, [row], words=(0, 1), narrow=True))
    return [*parts, _snapshots(truth)]


def _snapshots(truth: Truth) -> str:
    heads = ["", "Snap Id", "Snap Time", "Sessions", "Cursors/Session"]
    begin = f"{truth.begin:%d-%b-%y %H:%M:%S}"
    end = f"{truth.end:%d-%b-%y %H:%M:%S}"
    rows = [
        ["Begin Snap:", str(truth.begin_snapshot), begin, str(truth.sessions), f"{4.0:>9.1f}"],
        ["End Snap:", str(truth.end_snapshot), end, str(truth.end_sessions), f"{4.3:>9.1f}"],
        ["Elapsed:", "", f"{truth.elapsed_s / 60:>19,.2f} (mins)", "", ""],
        ["DB Time:", "", f"{truth.db_time_s / 60:>19,.2f} (mins)", "", ""],
    ]
    if truth.rac:
        heads.append("Instances")
        for row, last in zip(rows, ["2", "2", "", ""], strict=True):
            row.append(last)
    return grid("This table displays snapshot information", heads, rows, narrow=True, middle=2)


def _summary(truth: Truth, version: str, pdb: bool) -> list[str]:
    heads = ["", "Per Second", "Per Transaction", "Per Exec", "Per Call"]
    padded = [
        [row[0], *[f"{cell:>12}" if cell else "" for cell in row[1:]]]
        for row in awr.load_profile(truth, version)
    ]
    parts = ['<h3 class="awr"><a class="awr" name="99999"></a>Report Summary</h3>\n<p />Load Profile<p />']
    parts.append(grid("This table displays load profile", heads, padded, narrow=True))
    average = "Avg Wait" if version in MICRO else "Wait Avg(ms)"
    heads = ["Event", "Waits", "Total Wait Time (sec)", average, "% DB time", "Wait Class"]
    parts.append("<p />Top 10 Foreground Events by Total Wait Time<p />\n<ul>\n</ul>")
    summary = "This table displays top 10 wait events by total wait time"
    parts.append(grid(summary, heads, awr.top_events(truth, version), words=(0, 5)))
    average = "Avg Wait Time" if version in MICRO else "Avg Wait (ms)"
    heads = ["Wait Class", "Waits", "Total Wait Time (sec)", average, "% DB time", "Avg Active Sessions"]
    summary = "This table displays wait class statistics ordered by total wait time"
    parts.append("<p />Wait Classes by Total Wait Time<p />\n<ul>\n</ul>")
    parts.append(grid(summary, heads, awr.wait_classes(truth, version)))
    return [*parts, *([] if pdb else _host_cpu(truth))]


def _host_cpu(truth: Truth) -> list[str]:
    total = truth.busy_cs + truth.idle_cs
    heads = ["CPUs", "Cores", "Sockets", "Load Average Begin", "Load Average End"]
    heads += ["%User", "%System", "%WIO", "%Idle"]
    counts = [f"{count:>5}" for count in (truth.cpus, truth.cores, truth.sockets)]
    loads = [f"{load:>7.2f}" for load in (truth.load_begin, truth.load_end)]
    times = (truth.user_cs, truth.sys_cs, truth.iowait_cs, truth.idle_cs)
    row = [*counts, *loads, *[f"{share(time, total):>6.1f}" for time in times]]
    cpu_cs = (truth.db_cpu_s + truth.background_cpu_s) * 100
    own = [f"{share(cpu_cs, total):>10.1f}", f"{share(cpu_cs, truth.busy_cs):>10.1f}", f"{0:>10.1f}"]
    heads_own = ["%Total CPU", "%Busy CPU", "%DB time waiting for CPU (Resource Manager)"]
    return [
        "\nHost CPU\n<p />",
        grid("This table displays system load statistics", heads, [row], words=(), narrow=True),
        "Instance CPU\n<p />",
        grid("This table displays CPU usage and wait statistics", heads_own, [own], words=(), narrow=True),
    ]


def _sql(truth: Truth) -> list[str]:
    """The statements by elapsed time and their texts: somebody else's words in the middle of the report."""
    heads = ["Elapsed  Time (s)", "Executions ", "Elapsed Time per Exec (s) ", "%Total", "%CPU", "%IO"]
    heads += ["   SQL Id", "SQL Module", "SQL Text"]
    summary = "This table displays top SQL by elapsed time"
    half = truth.db_time_s / 2
    numbers = [commas(half, 2), commas(truth.executes // 3), "0.00", "50.00", "31.20", "11.80"]
    cells = "".join(f"<td align=\"right\" class='awrc'>{number}</td>" for number in numbers)
    top = "".join(
        [
            f'<table border="0" class="tdiff" summary="{summary}"><tr>',
            *[heading(head) for head in heads],
            f"</tr>\n<tr>{cells}<td scope=\"row\" class='awrc'>",
            f'<a class="awr" href="#{awr.SQL_ID}">{awr.SQL_ID}</a></td>\n',
            f"<td class='awrc'>\n{escape(awr.SQL_MODULE)}\n</td>\n",
            f"<td class='awrc'>{escape(awr.SQL_TEXT[:30], quote=False)}...</td></tr>\n</table><p />",
        ]
    )
    texts = (
        '<table border="0" class="tdiff" summary="This table displays the text of the SQL statements which '
        f'have been\n      referred to in the report">\n<tr>{heading("SQL Id")}{heading("SQL Text")}</tr>\n'
        f'<tr><td scope="row" class=\'awrc\'><a class="awr" name="{awr.SQL_ID}"></a>{awr.SQL_ID}</td>'
        f"<td class='awrc'>{escape(awr.SQL_TEXT, quote=False)}</td></tr>\n</table><p />"
    )
    notes = [
        "% Total DB Time is the Elapsed Time of the SQL statement divided     into the Total Database Time"
    ]
    return [
        section("SQL ordered by Elapsed Time", notes, top),
        section("Complete List of SQL Text", [], texts),
    ]


def _activity(truth: Truth, version: str, pdb: bool) -> list[str]:
    every = {name: value for name, value in all_statistics(truth).items() if not (pdb and name in awr.ROOT)}
    key = {name: value for name, value in every.items() if name in awr.KEY}
    # Before 12.2 a statistic stands in one of the two tables, later the key ones stand in both.
    other = every if version in MICRO else {name: every[name] for name in every if name not in key}
    heads = ["Statistic", "Total", "per Second", "per Trans"]
    summary = (
        "{} activity statistics. For each instance, activity total, activity per second, and activity per "
        "transaction are displayed"
    )
    tables = [
        grid(summary.format("This table displays Key Instance"), heads, awr.activity(truth, key)),
        grid(summary.format("This table displays Instance"), heads, awr.activity(truth, other)),
        grid(
            "This table displays absolute values of instance-related features. For each instance, activity "
            "begin value and end value are displayed",
            ["Statistic", "Begin Value", "End Value"],
            [
                ["logons current", commas(truth.sessions), commas(truth.end_sessions)],
                ["opened cursors current", commas(truth.sessions * 4), commas(truth.end_sessions * 4)],
            ],
        ),
        grid(
            "This table displays thread activity stats in the instance. For each activity , total number of "
            "activity and activity per hour are displayed",
            ["Statistic", "Total", "per Hour"],
            [
                [
                    "log switches (derived)",
                    commas(truth.log_switches),
                    commas(truth.log_switches * 3600 / truth.elapsed_s, 2),
                ]
            ],
        ),
    ]
    titles = [
        "Key Instance Activity Stats",
        "Instance Activity Stats" if version in MICRO else "Other Instance Activity Stats",
        "Instance Activity Stats - Absolute Values",
        "Instance Activity Stats - Thread Activity",
    ]
    notes = ["Ordered by statistic name", "Ordered by statistic name"]
    notes += ["Statistics with absolute values (should not be diffed)"]
    notes += ["Statistics identified by '(derived)' come from sources other than SYSSTAT"]
    parts = [section(*each) for each in zip(titles, [[note] for note in notes], tables, strict=True)]
    return parts[:3] if pdb else parts


def _parameters(truth: Truth, version: str, pdb: bool) -> list[str]:
    heads = ["Parameter Name", "Begin value", "End value (if different)"]
    rows = [[name, value, "  "] for name, value in truth.parameters.items()]
    many = [
        [name, part.strip(), "  "] for name, value, _ in rows if ",  " in value for part in value.split(",")
    ]
    if version in MICRO:
        titles = ("Modified Parameters", "Modified Multi-Valued Parameters")
        summaries = ("the modified initialization parameters", "multi-valued parameters")
    else:
        titles = ("init.ora Parameters", "init.ora Multi-Valued Parameters")
        summaries = ("init.ora parameters", "multi-valued init.ora parameters")
    if pdb:
        titles = ("Parameters modified by this container", titles[1])
    return [
        section(title, [], grid(f"This table displays name and value of {what}", heads, of, words=(0, 1, 2)))
        for title, what, of in zip(titles, summaries, (rows, many), strict=True)
        if of
    ]

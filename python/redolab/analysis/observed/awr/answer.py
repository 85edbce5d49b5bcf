"""Every figure of an imported run: the commits of a database by its own reports."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from redolab import units
from redolab.analysis import common_sections
from redolab.analysis.exhibits import Figure, Table
from redolab.analysis.observed import exhibits
from redolab.analysis.observed.awr import figures, tables, times_of_day
from redolab.analysis.observed.awr.cost import Cost, cost_of
from redolab.analysis.observed.awr.entries import read_figures, read_histogram
from redolab.analysis.observed.awr.shares import cumulative, together
from redolab.analysis.observed.awr.summary import Summary
from redolab.analysis.observed.awr.verdict import sentences
from redolab.analysis.observed.exhibits import Cumulative
from redolab.analysis.observed.figures import AWR
from redolab.dialect.oracle import LOG_SYNC, LOG_WRITE
from redolab.errors import UsageError
from redolab.records.report import Entry, Report
from redolab.records.run import Run

PARAMETERS = (
    "commit_logging",
    "commit_wait",
    "commit_write",
    "log_buffer",
    "log_archive_dest_1",
    "log_archive_dest_2",
    "fast_start_mttr_target",
    "filesystemio_options",
    "_use_adaptive_log_file_sync",
)
_SAME_TIME = 0.01
"""Part of all time that reports one after another may seem to have in common."""
_OLD_PARAMETER, _WITHOUT_EFFECT = "commit_write", 11
"""A parameter of 10.2, and the release from which on it has no effect."""
_NAMES = ("Log file sync", "Log file parallel write")
_NOT_MEASURED = (
    "The queue for CPUs: a report does not count processes that wait for a CPU, so their time is "
    "unaccounted.",
    "Single sessions and transactions: a report has sums and means over all of them.",
    "The effect of a change: nothing was tried. The bounds show the most that a change can give.",
)


def analyse(run: Run) -> dict[str, Any]:
    """The results object of an imported run; plain JSON types only.

    Raises:
        UsageError: no report of it counts.
    """
    everything = [cost_of(item) for item in read_figures(run)]
    names = [setting["name"] for setting in run.manifest["settings"]]
    by_name: dict[str, list[Cost]] = {name: [] for name in names}
    left_out = Counter[str]()
    for cost in everything:
        setting = cost.figures.report.setting
        if cost.figures.report.spoiled is None and setting in by_name:
            by_name[setting].append(cost)
        else:
            left_out[setting] += 1
    counting = {name: Summary(costs) for name, costs in by_name.items() if costs}
    if not counting:
        raise UsageError(f"None of the reports of {run.path} can be used, so no figure can be computed.")
    waits = _waits(run, by_name)
    shown = _tables(counting, waits, everything)
    first = next(iter(counting))
    return common_sections.heading(run) | {
        "facts": [list(pair) for pair in _facts(run, everything)],
        "verdict": {
            "text": " ".join(sentences(first, counting[first], waits[first])),
            "outcome": "undecided",
            "outcome_text": "read, not measured",
            "baseline": first,
            "best": None,
        },
        "settings": [
            _setting(name, counting.get(name), len(by_name[name]), left_out[name]) for name in names
        ],
        "tables": [table.as_json() for table in shown],
        "figures": [figure.as_json() for figure in _figures(counting, waits, everything)],
        "diagnostics": [],
        "timeline": [_timeline(cost) for cost in everything],
        "method": common_sections.method(run.manifest) | {"design": {}, "not_measured": list(_NOT_MEASURED)},
        "warnings": [
            *map(str, run.manifest.get("conditions", ())),
            *_impossible(counting),
            *_of_sessions_alone(everything),
            *_of_some_reports(counting),
            *_of_parameters(everything),
            *_contradictions(everything),
        ],
    }


def _setting(name: str, summary: Summary | None, count: int, spoiled: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": name,
        "levels": {},
        "tier": "",
        "tier_text": "",
        "parameters": {},
        "reports": count,
        "spoiled": spoiled,
    }
    if summary is not None:
        found["figures"] = {key: summary.estimate(key).as_json() for key in AWR}
        found["missing"] = {key: item.why for key, item in AWR.items() if summary.estimate(key).point is None}
    return found


def _waits(run: Run, by_name: Mapping[str, Sequence[Cost]]) -> dict[str, tuple[Cumulative, Cumulative]]:
    """Log file sync and log write, wait by wait, of each instance."""
    entries = {event: read_histogram(run, event) for event in (LOG_SYNC, LOG_WRITE)}
    return {
        name: (_shares(entries[LOG_SYNC], costs), _shares(entries[LOG_WRITE], costs))
        for name, costs in by_name.items()
    }


def _shares(entries: Mapping[int, Sequence[Entry]], costs: Sequence[Cost]) -> Cumulative:
    parts = []
    for cost in costs:
        histogram = entries.get(cost.figures.report.sample, ())
        waits = next((item.value for item in histogram if item.measure == "total"), None)
        if waits:
            parts.append((waits, cumulative(histogram)))
    return together(parts)


def _tables(
    counting: Mapping[str, Summary],
    waits: Mapping[str, tuple[Cumulative, Cumulative]],
    everything: Sequence[Cost],
) -> list[Table]:
    found = []
    for number, (name, summary) in enumerate(counting.items(), 1):
        key = str(number)
        sync, write = waits[name]
        account = tables.account_table(summary, name, key) if summary.has_db_time else None
        if account is not None:
            found.append(account)
        found += [
            _cost_table(summary, name, key),
            tables.bounds_table(summary, name, key),
            tables.events_table(summary, name, key),
        ]
        if sync and write:
            caption = f"{name}: share of waits that took less"
            found.append(exhibits.histogram_table(sync, write, caption, f"waits-{key}", _NAMES))
        found += times_of_day.tables(summary, name, key)
    last = next(iter(counting.values())).costs[-1]
    listed = dict(last.figures.texts("parameter"))
    return [
        *found,
        tables.reports_table(everything),
        *tables.printed_tables(last),
        exhibits.parameters_table(
            "Parameters that matter to commits, as the last report lists them",
            {name: listed.get(name, "not listed: the default, or unchanged") for name in PARAMETERS},
            "A report lists the parameters that were set; all others have their default.",
        ),
        exhibits.meanings_table(AWR),
    ]


def _cost_table(summary: Summary, name: str, key: str) -> Table:
    interval = (
        "the interval is what rounding leaves open"
        if summary.single
        else "95 % over the reports, each weighted by its totals"
    )
    return exhibits.figures_table(
        f"cost-{key}",
        f"{name}: what a commit costs",
        AWR,
        {key: summary.estimate(key) for key in AWR},
        f"In brackets: {interval}. n/a: the report does not print the numbers that the figure is made of.",
    )


def _figures(
    counting: Mapping[str, Summary],
    waits: Mapping[str, tuple[Cumulative, Cumulative]],
    everything: Sequence[Cost],
) -> list[Figure]:
    found: list[Figure | None] = [figures.time_figure(everything)]
    for number, (name, summary) in enumerate(counting.items(), 1):
        sync, write = waits[name]
        title = f"{name}: each wait, not their mean"
        found.append(exhibits.shares_figure(sync, write, title, f"waits-{number}", _NAMES))
        found.append(figures.curve_figure(summary, name, str(number)))
    return [figure for figure in found if figure is not None]


def _facts(run: Run, everything: Sequence[Cost]) -> list[tuple[str, str]]:
    reports = [cost.figures.report for cost in everything]
    engine = run.manifest["engine"]
    layouts = " and ".join(dict.fromkeys(report.layout for report in reports))
    counting = [report for report in reports if report.spoiled is None]
    left_out = sum(report.spoiled is not None for report in reports)
    counted = units.counted(len(reports) - left_out, "report")
    return [
        ("Database", f"Oracle Database {engine.get('version', '')}, {reports[0].setting}"),
        ("Read from", f"{counted}, {_length(counting)} ({layouts})"
         + (f", {left_out} more not counted" if left_out else "")),
        ("From", reports[0].started_at.replace("T", " ") + ", in the database's time zone"),
    ]  # fmt: skip


def _length(reports: Sequence[Report]) -> str:
    """How long reports are: by the clock, and all together where several are of the same time."""
    whole = sum(report.elapsed_s for report in reports)
    by_clock, past = 0.0, -math.inf
    for report in sorted(reports, key=lambda item: item.start_s):
        end = report.start_s + report.elapsed_s
        by_clock += max(0.0, end - max(past, report.start_s))
        past = max(past, end)
    hours, together = (f"{units.significant(length / 3600)} h" for length in (by_clock, whole))
    # Elapsed times are printed in hundredths of a minute, and snapshots follow each other.
    if whole - by_clock <= _SAME_TIME * whole:
        return f"{together} in all"
    return f"{hours} by the clock, {together} of reports, because some of them cover the same time"


def _impossible(counting: Mapping[str, Summary]) -> list[str]:
    """Utilisations above 100 %: their busy time is counted in other units than their capacity."""
    found = []
    for name, summary in counting.items():
        cores, threads = (summary.most(f"cpu_utilization_{unit}") for unit in ("cores", "threads"))
        if cores is not None and cores > 1:
            other = (
                ""
                if threads is None
                else f" Divided by the time of all threads, busy time is {units.percent(threads)}."
            )
            found.append(
                f"{name}: busy time is {units.percent(cores)} of the time of all cores, which cannot be: "
                f"this system counts busy time in threads.{other}"
            )
    return found


def _of_sessions_alone(everything: Sequence[Cost]) -> list[str]:
    """Warnings about reports in which S has no CPU of the background."""
    files = [cost.figures.report.file for cost in everything if cost.without_background]
    if not files:
        return []
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return [
        f"Background cpu time is not printed in {files[0]}{more}, as in reports of a pluggable database: S "
        "is the CPU time of sessions alone."
    ]


def _of_some_reports(counting: Mapping[str, Summary]) -> list[str]:
    """Warnings where log file sync is known only from reports in which it is one of the largest events."""
    found = []
    for name, summary in counting.items():
        without = sum(cost.sync is None and not cost.lists_waits for cost in summary.costs)
        if 0 < without < len(summary.costs):
            found.append(
                f"{name}: {without:,} of {len(summary.costs):,} reports list only their largest events, and "
                "log file sync is not one of them. The share of log file sync in DB time comes from the "
                "other reports."
            )
    return found


def _of_parameters(everything: Sequence[Cost]) -> list[str]:
    """Parameters that are set and do not do what they look like."""
    last = everything[-1].figures
    listed = {name: text for name, text in last.texts("parameter") if text}
    found = []
    written = listed.get(_OLD_PARAMETER)
    if written is not None and _major(last.report.release) >= _WITHOUT_EFFECT:
        found.append(
            f"commit_write is set ({written}): it is deprecated and without effect since 11g, where "
            "commit_logging and commit_wait took its place. Set commit_logging and commit_wait, and reset "
            "commit_write."
        )
    if listed.get("commit_wait", "").upper() == "NOWAIT":
        found.append(
            "commit_wait is NOWAIT: commits do not wait for their redo, so an outage can lose some that were "
            "acknowledged. Where log file sync is listed, sessions asked to wait all the same."
        )
    return found


def _major(release: str | None) -> int:
    first = (release or "").partition(".")[0]
    return int(first) if first.isdecimal() else 0


def _contradictions(everything: Sequence[Cost]) -> list[str]:
    found = []
    for cost in everything:
        texts = [text for _, text in cost.figures.texts("contradiction")]
        if texts:
            more = (
                f" The report has {units.counted(len(texts) - 1, 'more contradiction')}."
                if len(texts) > 1
                else ""
            )
            found.append(f"{cost.figures.report.file} contradicts itself: {texts[0]}{more}")
    return found


def _timeline(cost: Cost) -> dict[str, Any]:
    report = cost.figures.report
    return {
        "sample": report.sample,
        "block": report.block,
        "position": report.position,
        "setting": report.setting,
        "start_s": report.start_s,
        "elapsed_s": report.elapsed_s,
        "spoiled": report.spoiled,
    }

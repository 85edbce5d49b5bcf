"""The time model, the operating system and the waits on the page of an AWR report."""

from __future__ import annotations

from tests.written_reports import awr
from tests.written_reports.markup import NO_DATA, grid, section, shares
from tests.written_reports.truth import Truth

MICRO = {"12.2", "19c"}
_S = " (s)"
_TIME_MODEL = (
    "This table displays different time model statistics. For each statistic, time and % of DB time are "
    "displayed"
)
_OS = (
    "This table displays operating systems statistics. For each statistic, actual value is displayed. "
    "If the end value is different, it is also displayed"
)
_OS_DETAIL = (
    "This table displays some detailed operating systems statistics. load, % busy , % user, % sys, % idle, "
    "% iowait are displayed for begin and end snap time"
)
_NOTES = [
    "s  - second, ms - millisecond -    1000th of a second",
    "Only events with Total Wait Time (s) >= .001 are shown",
    "ordered by wait time desc, waits desc (idle events last)",
    "%Timeouts: value of 0 indicates value was < .5%.  Value of null is truly 0",
]


def waits(truth: Truth, version: str, pdb: bool) -> list[str]:
    heads = ["Statistic Name", "Time (s)", "% of DB Time"]
    if version != "11.2":
        heads = ["Statistic Name", "Time (s)", "% of  DB Time", "% of Total CPU Time"]
    notes = ["DB Time represents total time in user calls", "Ordered by % of DB time desc, Statistic name"]
    if version == "11.2":
        notes[0] = f"Total time in database user-calls (DB Time): {truth.db_time_s:.1f}s"
    model = grid(_TIME_MODEL, heads, awr.time_model(truth, version))
    parts = [section("Time Model Statistics", notes, model)]
    if not pdb:
        heads = ["Statistic", "Value", "End Value"]
        notes = [
            "*TIME statistic values are diffed.      All others display actual values.  "
            "End Value is displayed if different",
            "ordered by statistic type (CPU Use, Virtual Memory, Hardware Config), Name",
        ]
        table = grid(_OS, heads, awr.system_statistics(truth))
        parts.append(section("Operating System Statistics", notes, table))
        heads = ["Snap Time", "Load", "%busy", "%user", "%sys", "%idle", "%iowait"]
        table = grid(_OS_DETAIL, heads, awr.system_detail(truth))
        parts.append(section("Operating System Statistics - Detail", [], table))
    average = "Avg wait" if version in MICRO else "Avg wait (ms)"
    heads = ["Wait Class", "Waits", "%Time -outs", "Total Wait Time" + _S, average, "%DB time"]
    table = grid(
        "This table displays foreground wait class statistics", heads, awr.foreground_classes(truth, version)
    )
    parts.append(section("Foreground Wait Class", [*_NOTES[:1], *_NOTES[3:], *awr.captured(truth)], table))
    heads = ["Event", "Waits", "%Time -outs", "Total Wait Time" + _S, average, "Waits /txn", "% DB time"]
    summary = "This table displays Foreground Wait Events and their wait statistics"
    table = grid(summary, heads, awr.events(truth, version))
    parts.append(section("Foreground Wait Events", _NOTES, table))
    if pdb:
        return parts
    heads[-1] = "% bg time"
    table = grid(
        "This table displays background wait events statistics",
        heads,
        awr.events(truth, version, background=True),
    )
    parts.append(section("Background Wait Events", _NOTES[1:], table))
    return [*parts, *_histograms(truth, version)]


_UP_TO_2S = ("<32ms", "<64ms", "<1/8s", "<1/4s", "<1/2s", "<1s", "<2s")
_UP_TO_2M = ("<2s", "<4s", "<8s", "<16s", "<32s", "<1m", "<2m")
_MAIN_11 = ("<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms", "<=1s")
_MAIN_19 = ("<8us", "<16us", "<32us", "<64us", "<128us", "<256us", "<512us")
_UP_TO_64US = ("<1us", "<2us", "<4us", "<8us", "<16us", "<32us", "<64us")
_UP_TO_32MS = ("<512us", "<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms")


def _histograms(truth: Truth, version: str) -> list[str]:
    title = "Wait Event Histogram"
    if version in MICRO:
        tables = [
            (title, "Total Waits", _MAIN_19, None),
            (f"{title} (up to 64 us)", "Waits 1us  - 64us", _UP_TO_64US, ("", "<64us")),
            (f"{title} (up to 32 ms)", "Waits 1ms  to 32ms", _UP_TO_32MS, ("<512us", "<32ms")),
            (f"{title} (up to 2 sec)", "Waits 64ms  to 2s", _UP_TO_2S, ("<32ms", "<2s")),
            (f"{title} (up to 2 min)", "Waits 4s   to 2m", _UP_TO_2M, ("<2s", "<2m")),
        ]
    else:
        tables = [
            (title, "Total Waits", _MAIN_11, None),
            (f"{title} Detail (64 msec to 2 sec)", "Waits 64ms  to 2s", _UP_TO_2S, ("<32ms", "<2s")),
            (f"{title} Detail (4 sec to 2 min)", "Waits 4s   to 2m", _UP_TO_2M, ("<2s", "<2m")),
        ]
    parts = []
    for heading, waits, bounds, within in tables:
        of_waits = "% of Waits" if within is None and version not in MICRO else "% of Total Waits"
        last = ">1s" if bounds[-1] == "<=1s" else bounds[-1].replace("<", ">=")
        rows = awr.histogram(truth, bounds, within=within)
        table = shares(of_waits, waits, [*bounds, last], rows) if rows else NO_DATA
        parts.append(section(heading, ["Ordered by Event (idle events last)"], table))
    return parts

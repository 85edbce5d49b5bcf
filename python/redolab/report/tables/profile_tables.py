"""The tables of a live profile; nothing is recomputed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab import units
from redolab.dialect.known import product_name
from redolab.dialect.log_waits import is_log_sync
from redolab.dialect.row_names import is_wait, row_name
from redolab.report.tables import cells
from redolab.report.tables.cells import NOT_AVAILABLE, Cell, Results, ShownColumn, ShownTable

Group = Mapping[str, Any]
NARROWEST = 80
_VIEWS = {
    "instance": (
        "Time of every server process. Background processes work at the same time as the sessions, so no "
        "session need have waited for all of this time. The main loops of background processes ({idle}) and "
        "the sessions' waits for their clients ({client}) are idle time, which no row includes."
    ),
    "all_sessions": (
        "Time of the sessions, without the background processes: this is what clients waited for. Waiting "
        "for a client ({client}) is think time, which no row includes."
    ),
    "session": (
        "Time of this session alone; the work that background processes do for it is in the profile of the "
        "whole instance. Waiting for its client ({client}) is think time, which no row includes."
    ),
}


def headline(results: Results) -> str:
    """The profile in one sentence."""
    sessions = results["all_sessions"]
    count = sessions["sessions"]
    if not count:
        return "No session was connected."
    who = "1 session was" if count == 1 else f"{count:,} sessions were"
    if not sessions["profile"]:
        return f"{who} connected and only waited for {'its client' if count == 1 else 'their clients'}."
    busy = f"{who} busy {units.percent(sessions['busy_share'], 0)} of the time"
    at_a_time = f" ({cells.number(sessions['busy_at_a_time'])} at a time)" if count > 1 else ""
    shares = {row["row"]: row["share"] for row in sessions["profile"]}
    parts = {row_name(row): share for row, share in shares.items() if not is_log_sync(row)}
    if any(is_log_sync(row) for row in shares):
        parts["log sync"] = sessions["log_sync_share"]
    first, second = sorted(parts, key=lambda name: -abs(parts[name]["point"] or 0.0))[:2]
    others = [name for name in dict.fromkeys((second, "on CPU")) if name in parts and name != first]
    largest = cells.share_of_time(parts[first])
    interval = f" ({largest.interval})" if largest.interval else ""
    rest = "".join(f", {cells.share_of_time(parts[name]).text} % {name}" for name in others)
    return f"{busy}{at_a_time}; {largest.text} %{interval} of that is {first}{rest}."


def span(results: Results) -> str:
    """Which time the figures are of, and on which server, in one line."""
    return f"the last {units.clock(results['elapsed_s'])} of {dict(facts(results))['Server']}"


def facts(results: Results) -> list[tuple[str, str]]:
    """The server watched, the length of the watch, and the log's figures."""
    engine, host, log = results["engine"], results["host"], results["log"]
    place = f", {engine['place']}" if engine.get("place") else ""
    product = product_name(engine["name"]) or engine["name"]
    known = [("Server", f"{product} {engine['version']}{place}")]
    ticks = f"{results['instrument']['ticks']:,} ticks"
    known.append(
        ("Watched", f"{units.duration(results['elapsed_s'])} from {units.moment(results['at'])}, {ticks}")
    )
    if host["busy_share"] is not None:
        steal = host["steal_share"] or 0.0
        taken = f", {units.percent(steal)} taken by the hypervisor" if steal >= 0.0005 else ""
        known.append(("Machine", f"{host['cpus']} CPUs, {units.percent(host['busy_share'], 0)} busy{taken}"))
    rates = [
        f"{cells.number(log[key])} {words}"
        for key, words in (
            ("transactions_per_s", "transactions/s"),
            ("flushes_per_s", "flushes/s"),
            ("commits_per_flush", "commits per flush"),
            ("flush_time_ms", "ms per flush"),
        )
        if log[key] is not None
    ]
    return [*known, *([("Log", ", ".join(rates))] if rates else [])]


def profile(group: Group, view: str, caption: str, width: int = NARROWEST) -> ShownTable:
    """Every row of a group's time, with interval, seconds and a bar; the rows sum to 100 %."""
    room = width - NARROWEST
    length = 14 + room // 2
    rows = []
    for row in group["profile"]:
        share, tone = cells.share_of_time(row["share"]), row["row"] if not is_wait(row["row"]) else "wait"
        bar = "█" * max(0, round(length * (row["share"]["point"] or 0.0)))
        rows.append(
            [
                Cell(short(row_name(row["row"]), 24 + room // 2)),
                Cell(share.text),
                Cell(share.interval),
                Cell(cells.part(row["time_s"], group["busy_s"])),
                Cell(bar, tone=tone),
            ]
        )
    if rows:
        rows.append([Cell("busy"), Cell("100"), Cell(""), Cell(cells.part(group["busy_s"], group["busy_s"]))])
    columns = (
        ShownColumn("Time spent", align="left"),
        ShownColumn("Share", "%"),
        ShownColumn("Interval"),
        ShownColumn("Seconds", "of all"),
        ShownColumn("", align="left"),
    )
    waited = group["client_wait"]["share_of_elapsed"]["point"] or 0.0
    note = _VIEWS[view].format(
        idle=duration(group.get("idle_s", 0.0)),
        client=duration(group["elapsed_s"] * waited),
    )
    return ShownTable(f"profile-{view}", caption, columns, rows, note)


def top_events(group: Group, caption: str, width: int = NARROWEST) -> ShownTable:
    """The five waits with most time: class, average length, how many."""
    rows = []
    for item in group["top_events"]:
        average = _average(item["average_wait_ms"])
        rows.append(
            [
                Cell(short(row_name(item["event"]), 22 + (width - NARROWEST) // 2)),
                Cell(item["class"]),
                Cell(cells.share_of_time(item["share"]).text),
                Cell(average.text),
                Cell(average.interval),
                Cell(cells.number(item["waits_per_s"])),
            ]
        )
    columns = (
        ShownColumn("Wait", align="left"),
        ShownColumn("Class", align="left"),
        ShownColumn("Share", "%"),
        ShownColumn("Average", "ms"),
        ShownColumn("Interval"),
        ShownColumn("Waits", "per s"),
    )
    return ShownTable("top-events", caption, columns, rows)


def joint(group: Group, caption: str) -> ShownTable | None:
    """A wait posted or not, against the scheduler's state; None where the kernel could not be asked."""
    joint = group["joint"]
    if joint is None:
        return None
    names = {"posted": "a wait posted", "not_posted": "no wait posted"}

    rows = []
    for key, words in names.items():
        cells_of = [*joint[key].values()]
        together = None if None in cells_of else sum(cells_of)
        shown = (NOT_AVAILABLE if share is None else percent(share) for share in (*cells_of, together))
        rows.append([Cell(words), *map(Cell, shown)])
    columns = (
        ShownColumn("Busy time, %", align="left"),
        *(ShownColumn(words) for words in ("on CPU", "run queue", "asleep", "together")),
    )
    note = (
        "A woken process still shows its wait while it is in the run queue, so adding waits and run queue "
        "would count that time twice. The profile counts a wait only while the process sleeps."
    )
    return ShownTable("joint", caption, columns, rows, note)


def log_waits(results: Results, width: int = NARROWEST) -> ShownTable | None:
    """Histograms of log syncs and log writes side by side; None where none were followed."""
    sync, write = results["log"]["log_sync"], results["log"]["log_write"]
    both = [item for item in (sync, write) if item is not None]
    if not both:
        return None
    length = 14 + (width - NARROWEST) // 2
    buckets = max((item["buckets"] for item in both), key=len)
    rows = []
    for place, bucket in enumerate(buckets):
        parts = [_bucket(item, place, length) for item in (sync, write)]
        if bucket["to_ms"] is None and not any(share for share, _ in parts):
            continue
        name = f"> {bucket['from_ms']:g}" if bucket["to_ms"] is None else f"{bucket['to_ms']:g}"
        mark = "*" if bucket["incomplete"] else ""
        rows.append([Cell(name + mark), *(cell for _, pair in parts for cell in pair)])
    for key, words in _FIGURES:
        values = [
            Cell(cells.number(item[key]) + " ms" if item and item[key] else "") for item in (sync, write)
        ]
        rows.append([Cell(words), values[0], Cell(""), values[1], Cell("")])
    counts = [Cell(_count(item)) for item in (sync, write)]
    rows.append([Cell("waits"), counts[0], Cell(""), counts[1], Cell("")])
    columns = (
        ShownColumn("Up to, ms"),
        ShownColumn("log sync", "%"),
        ShownColumn("", align="left"),
        ShownColumn("log write", "%"),
        ShownColumn("", align="left"),
    )
    resolution = max(item["resolution_ms"] for item in both)
    if resolution:
        note = f"Waits followed one by one, read every {cells.number(resolution, 2)} ms"
        note += "; * does not include shorter waits." if any(b["incomplete"] for b in buckets) else "."
    else:
        note = "Waits counted by the server; median and percentiles are upper bounds of its buckets."
    text = results["log"]["text"]
    return ShownTable(
        "log-waits", "Log sync and log write", columns, rows, f"{note} {text}" if text else note
    )


_FIGURES = (("p50_ms", "median"), ("p95_ms", "95 %"), ("p99_ms", "99 %"), ("mean_ms", "average"))


def percent(share: float) -> str:
    """A share (1.0 is all) in percent, to the tenth."""
    return f"{round(100 * share, 1) + 0.0:.1f}".replace("-", "−")


def _average(estimate: Mapping[str, Any] | None) -> Cell:
    if estimate is None:
        return Cell(NOT_AVAILABLE)
    if estimate["point"] is None:
        return Cell(f"≥ {cells.number(estimate['low'])}")
    if estimate["low"] == estimate["high"]:
        return Cell(cells.number(estimate["point"]), "exact")
    return cells.estimate(estimate)


def _bucket(item: Mapping[str, Any] | None, place: int, length: int) -> tuple[float, tuple[Cell, Cell]]:
    if item is None:
        return 0.0, (Cell(""), Cell(""))
    share = item["buckets"][place]["share"] if place < len(item["buckets"]) else 0.0
    return share, (Cell(f"{100 * share:.1f}"), Cell("█" * round(length * share), tone="wait"))


def _count(item: Mapping[str, Any] | None) -> str:
    if item is None:
        return ""
    return f"{item['count'] + item['unfinished']:,}"


def duration(seconds: float) -> str:
    """A time as text; `none` for less than the clocks resolve, or for a rounding error."""
    return units.duration(seconds) if seconds >= 1e-6 else "none"


def short(text: str, room: int) -> str:
    """`text` cut to `room` characters; `..` shows that it was."""
    return text if len(text) <= room else text[: room - 2] + ".."

"""The tables and figures that a watch and reports share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from redolab.analysis.exhibits import Axis, Column, Figure, Series, Table
from redolab.analysis.observed.figures import Measure
from redolab.model.queueing import response_time_cpu
from redolab.stats.estimates import Estimate

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
Cumulative = Mapping[float, float]
"""A time in seconds to the share of the waits that took less, 0 to 1."""
_POINTS = 60
_NEAREST = 0.98
"""Share of M at which the drawn curve ends: at M it has no end."""


def figures_table(
    key: str, caption: str, figures: Mapping[str, Measure], found: Mapping[str, Estimate], note: str
) -> Table:
    """The cost of a commit: every figure that is `found`, with its interval."""
    return Table(
        key,
        caption,
        (
            Column("figure", "Figure", "text"),
            Column("value", "Value", "estimate"),
            Column("unit", "Unit", "text"),
        ),
        [
            {
                "figure": figures[name].name,
                "value": value.scaled(figures[name].scale),
                "unit": figures[name].unit,
            }
            for name, value in found.items()
        ],
        note,
        first=True,
    )


def meanings_table(figures: Mapping[str, Measure]) -> Table:
    """The parts of each figure."""
    return Table(
        "meanings",
        "What the figures are made of",
        (Column("figure", "Figure", "text"), Column("meaning", "What it is", "text")),
        [{"figure": item.name, "meaning": item.meaning} for item in figures.values()],
    )


def parameters_table(caption: str, known: Mapping[str, object], note: str = "") -> Table:
    """The server's parameters about commits."""
    return Table(
        "parameters",
        caption,
        (Column("parameter", "Parameter", "text"), Column("value", "Value", "text")),
        [{"parameter": name, "value": str(value)} for name, value in known.items()],
        note,
    )


def time_columns(of: str) -> tuple[Column, ...]:
    """The columns of an account of time; `of` heads the shares."""
    return (
        Column("row", "Time spent", "text"),
        Column("seconds", "Time", "number", "s"),
        Column("share", of, "share"),
        Column("per_commit_ms", "Per commit", "number", "ms"),
    )


def hour_text(hour: int) -> str:
    """An hour of the day in words, as `09h`."""
    return f"{hour:02}h"


def groups_table(
    key: str,
    caption: str,
    title: str,
    groups: Mapping[str, tuple[int, Callable[[str], Estimate]]],
    words: tuple[str, str, str],
    made_of: tuple[str, str],
    note: str,
) -> Table:
    """L, R, log sync and its share of groups, given how many are in each and any figure of it by its key.

    `words` are for what is counted, for log sync and for the time that it has a share of; `made_of` are the
    keys of R and of log sync.
    """
    counted, sync, whole = words
    return Table(
        key,
        caption,
        (
            Column("group", title, "text"),
            Column(counted, counted.capitalize(), "count"),
            Column("rate", "Commits", "estimate", "per s"),
            Column("response", "R", "estimate", "ms"),
            Column("sync", sync, "estimate", "ms"),
            Column("share", f"Share of {whole}", "share"),
        ),
        [
            {
                "group": name,
                counted: count,
                "rate": figure("arrival_rate_per_s"),
                "response": figure(made_of[0]).scaled(1e3),
                "sync": figure(made_of[1]).scaled(1e3),
                "share": figure("log_sync_share"),
            }
            for name, (count, figure) in groups.items()
        ],
        note,
    )


def histogram_table(
    sync: Cumulative, write: Cumulative, caption: str, key: str, names: tuple[str, str]
) -> Table:
    """Waits of commits next to writes of the log, wait by wait; `names` are the names of the two."""
    return Table(
        key,
        caption,
        (
            Column("below_ms", "Less than", "number", "ms"),
            Column("sync", names[0], "share"),
            Column("write", names[1], "share"),
        ),
        [
            {
                "below_ms": 1e3 * below,
                "sync": Estimate(sync[below], None, None),
                "write": Estimate(write[below], None, None),
            }
            for below in sorted(set(sync) & set(write))
        ],
        "Means hide the few long waits that matter. A log sync can last as long as the log write that it "
        "waits for, the write before that one, and the queue for a CPU together. So log syncs and log "
        "writes are compared wait by wait, never by means alone.",
    )


def shares_figure(
    sync: Cumulative, write: Cumulative, title: str, key: str, names: tuple[str, str]
) -> Figure | None:
    """The share of the waits that took less than a time, for commits and for the log's writes."""
    if not sync or not write:
        return None
    return Figure(
        key,
        title,
        "The further right a line, the longer the waits.",
        Axis("Took less than", "ms", logarithmic=True),
        Axis("Share of the waits", "%"),
        tuple(
            Series(
                name.lower(),
                [1e3 * at for at in shares],
                [100 * part for part in shares.values()],
                style="line",
            )
            for name, shares in zip(names, (sync, write), strict=True)
        ),
    )


def published_line(service: float, servers: float) -> Series:
    """The published curve for S seconds and M servers, response times in ms."""
    most = _NEAREST * servers / service
    rates = [most * number / _POINTS for number in range(1, _POINTS + 1)]
    times = [1e3 * response_time_cpu(service, at, servers) for at in rates]
    return Series("published curve", rates, times, style="line")

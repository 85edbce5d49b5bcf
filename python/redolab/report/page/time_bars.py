"""The time of a unit of work as bars of HTML at one scale: seen without a script, in mail and on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab import units
from redolab.dialect.row_names import row_name
from redolab.report.tables import cells, wording
from redolab.report.tables.cells import Results
from redolab.report.tables.rows import profile_rows, shares

MOST_FIRST = 4
"""Settings whose bars are shown with the verdict."""
_WAITS = 6
"""Waits with a look of their own; the style sheet has as many."""
_MAIN_SHARE = 0.01
"""Waits below this share in every setting share one entry of the legend."""
_LABELLED = 0.08
"""Part of the whole width from which a segment has room for its share."""
_FIXED: Mapping[str, str] = {
    "on_cpu": "cpu",
    "on_cpu_or_unknown": "unknown",
    "run_queue": "queue",
    "steal": "steal",
    "unaccounted": "unaccounted",
}
_REST = "wait-other"


@dataclass(frozen=True)
class Segment:
    """A part of a bar."""

    look: str
    """Its class in the style sheet."""
    title: str
    width: float
    """Percent of the width of all bars."""
    text: str


@dataclass(frozen=True)
class Bar:
    """One setting: its response time, and what it is made of."""

    name: str
    time: str
    segments: Sequence[Segment]
    sentence: str
    """The same in words."""


@dataclass(frozen=True)
class Bars:
    """Bars at one scale, the longest as wide as the page, and what their parts mean."""

    bars: Sequence[Bar]
    legend: Sequence[tuple[str, str]]
    """Look and name."""


@dataclass(frozen=True)
class Divided:
    """A time and what it is made of."""

    name: str
    time: str
    """The time in words."""
    length: float
    """The same as a number, in one unit for all bars."""
    shares: Mapping[str, Mapping[str, Any]]
    """Estimate by row of a time account."""
    per: str = ""
    """The unit that the time belongs to, as `per commit`."""


def first_bars(results: Results) -> Bars | None:
    """The bars with the verdict: each server's baseline, the best setting and others in their order."""
    verdict = results["verdict"]
    named = [verdict["baseline"], verdict["best"], *(results.get("baselines") or {}).values()]
    ordered = sorted(_measured(results), key=lambda item: item["name"] not in named)[:MOST_FIRST]
    kept = {item["name"] for item in ordered}
    return _of_settings(results, [item for item in _measured(results) if item["name"] in kept])


def more_bars(results: Results) -> Bars | None:
    """The bars of all settings, where those with the verdict are not all; else None."""
    settings = _measured(results)
    return _of_settings(results, settings) if len(settings) > MOST_FIRST else None


def profile_bars(results: Results) -> Bars | None:
    """The bars of a live profile: the sessions, and every process of the server."""
    groups = (("sessions", results["all_sessions"]), ("every process of the server", results["instance"]))
    divided = [
        Divided(
            name,
            units.duration(group["busy_s"]),
            group["busy_s"],
            {row["row"]: row["share"] for row in group["profile"]},
        )
        for name, group in groups
        if group["profile"]
    ]
    seen = dict.fromkeys(row for item in divided for row in item.shares)
    fixed = [row for row in _FIXED if row in seen and row != "unaccounted"]
    waits = [row for row in seen if row not in _FIXED]
    return bars(divided, [*fixed, *waits, *(row for row in seen if row == "unaccounted")])


def _measured(results: Results) -> list[Mapping[str, Any]]:
    return [
        setting
        for setting in results["settings"]
        if setting.get("profile") and (setting["response_time_ms"] or {}).get("point")
    ]


def _of_settings(results: Results, settings: Sequence[Mapping[str, Any]]) -> Bars | None:
    unit = cells.time_unit(results)
    divided = [
        Divided(
            setting["name"],
            f"{cells.estimate(setting['response_time_ms'], unit.per_ms).text} {unit.name}",
            setting["response_time_ms"]["point"],
            shares(setting),
            f"per {wording.unit(results)}",
        )
        for setting in settings
    ]
    every = [shares(setting) for setting in results["settings"]]
    return bars(divided, profile_rows(results), every)


def bars(
    divided: Sequence[Divided],
    rows: Sequence[str],
    every: Sequence[Mapping[str, Mapping[str, Any]]] | None = None,
) -> Bars | None:
    """Times as bars at one scale; None where there is none.

    Args:
        divided: a bar each.
        rows: of the time accounts, in the order in which they are drawn.
        every: the shares that decide which row has a look of its own; None for those of the bars.
    """
    if not divided:
        return None
    looks = _looks(rows, every if every is not None else [item.shares for item in divided])
    # Where CPU and waits overlap, the parts are more than the whole.
    longest = max(item.length * max(1.0, _together(item)) for item in divided)
    drawn = []
    seen: dict[str, str] = {}
    for item in divided:
        reach = item.length / longest
        segments = []
        for row in rows:
            part = item.shares.get(row, {}).get("point") or 0.0
            if part > 0:
                look, name = looks[row]
                text = f"{100 * part:.0f} %" if part * reach >= _LABELLED else ""
                said = f"{_long_name(row)}: {cells.share(item.shares[row]).full} %"
                segments.append(Segment(look, said, 100 * part * reach, text))
                if part >= _MAIN_SHARE:
                    seen.setdefault(look, name)
        whole = f"{item.name}: {item.time} {item.per}".rstrip()
        drawn.append(Bar(item.name, item.time, segments, f"{whole}. {_in_words(item.shares, rows)}"))
    ordered = dict.fromkeys(look for look, _ in looks.values())
    return Bars(drawn, [(look, seen[look]) for look in ordered if look in seen])


def _together(item: Divided) -> float:
    """The shares that are drawn, 1 for a time that is divided without a remainder below nothing."""
    return sum(max(share["point"] or 0.0, 0.0) for share in item.shares.values())


def _in_words(parts: Mapping[str, Mapping[str, Any]], rows: Sequence[str]) -> str:
    told = [
        f"{row_name(row)} {units.percent(parts[row]['point'], 0)}"
        for row in rows
        if row in parts and abs(parts[row]["point"] or 0.0) >= _MAIN_SHARE
    ]
    return ", ".join(told) + "."


def _looks(
    rows: Sequence[str], every: Sequence[Mapping[str, Mapping[str, Any]]]
) -> dict[str, tuple[str, str]]:
    """The look of each row, and its name in the legend."""
    largest: dict[str, float] = {}
    for parts in every:
        for row, share in parts.items():
            largest[row] = max(largest.get(row, 0.0), abs(share["point"] or 0.0))
    looks = {}
    # What servers side by side post in different words is one wait, and looks like one.
    waits: dict[str, str] = {}
    for row in rows:
        name = row_name(row)
        if row in _FIXED:
            looks[row] = _FIXED[row], name
        elif largest[row] >= _MAIN_SHARE and (name in waits or len(waits) < _WAITS):
            looks[row] = waits.setdefault(name, f"wait{len(waits) + 1}"), name
        else:
            looks[row] = _REST, "other waits"
    return looks


def _long_name(row: str) -> str:
    name = row_name(row)
    return f"{name} ({row})" if ":" in row and name != row else name

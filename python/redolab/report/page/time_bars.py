"""The time of a unit of work as bars of HTML at one scale: seen without a script, in mail and on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab.dialect.row_names import row_name
from redolab.report.tables import cells, wording
from redolab.report.tables.cells import Results
from redolab.report.tables.rows import profile_rows, shares

MOST_FIRST = 4
"""Settings whose bars stand beside the verdict."""
_WAITS = 6
"""Waits with a look of their own; the style sheet has as many."""
_MAIN_SHARE = 0.01
"""Waits below this share in every setting stand together in the legend."""
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


def first_bars(results: Results) -> Bars | None:
    """The bars beside the verdict: the baseline, the best setting and others in their order."""
    verdict = results["verdict"]
    named = [verdict["baseline"], verdict["best"]]
    ordered = sorted(_measured(results), key=lambda item: item["name"] not in named)[:MOST_FIRST]
    kept = {item["name"] for item in ordered}
    return _bars(results, [item for item in _measured(results) if item["name"] in kept])


def more_bars(results: Results) -> Bars | None:
    """The bars of all settings, where those beside the verdict are not all; else None."""
    settings = _measured(results)
    return _bars(results, settings) if len(settings) > MOST_FIRST else None


def _measured(results: Results) -> list[Mapping[str, Any]]:
    return [
        setting
        for setting in results["settings"]
        if setting.get("profile") and (setting["response_time_ms"] or {}).get("point")
    ]


def _bars(results: Results, settings: Sequence[Mapping[str, Any]]) -> Bars | None:
    if not settings:
        return None
    unit = cells.time_unit(results)
    rows = profile_rows(results)
    looks = _looks(results, rows)
    longest = max(setting["response_time_ms"]["point"] for setting in settings)
    bars = []
    seen: dict[str, str] = {}
    for setting in settings:
        parts = shares(setting)
        reach = setting["response_time_ms"]["point"] / longest
        segments = []
        for row in rows:
            part = parts.get(row, {}).get("point") or 0.0
            if part > 0:
                look, name = looks[row]
                text = f"{100 * part:.0f} %" if part * reach >= _LABELLED else ""
                said = f"{_long_name(row)}: {cells.share(parts[row]).full} %"
                segments.append(Segment(look, said, 100 * part * reach, text))
                if part >= _MAIN_SHARE:
                    seen.setdefault(look, name)
        time = f"{cells.estimate(setting['response_time_ms'], unit.per_ms).text} {unit.name}"
        whole = f"{setting['name']}: {time} per {wording.unit(results)}"
        bars.append(Bar(setting["name"], time, segments, f"{whole}. {_in_words(parts, rows)}"))
    return Bars(
        bars,
        [(look, seen[look]) for look in dict.fromkeys(look for look, _ in looks.values()) if look in seen],
    )


def _in_words(parts: Mapping[str, Mapping[str, Any]], rows: Sequence[str]) -> str:
    told = [
        f"{row_name(row)} {100 * parts[row]['point']:.0f} %"
        for row in rows
        if row in parts and abs(parts[row]["point"] or 0.0) >= _MAIN_SHARE
    ]
    return ", ".join(told) + "."


def _looks(results: Results, rows: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Of each row its look, and what the legend calls it."""
    largest: dict[str, float] = {}
    for setting in results["settings"]:
        for row, share in shares(setting).items():
            largest[row] = max(largest.get(row, 0.0), abs(share["point"] or 0.0))
    looks = {}
    waits = 0
    for row in rows:
        if row in _FIXED:
            looks[row] = _FIXED[row], row_name(row)
        elif largest[row] >= _MAIN_SHARE and waits < _WAITS:
            waits += 1
            looks[row] = f"wait{waits}", row_name(row)
        else:
            looks[row] = _REST, "other waits"
    return looks


def _long_name(row: str) -> str:
    name = row_name(row)
    return f"{name} ({row})" if ":" in row and name != row else name

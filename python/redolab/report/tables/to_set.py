"""Statements that make the recommended setting, for the page and for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab.report.tables.cells import Results
from redolab.units import listed

_TITLES: Mapping[str, str] = {
    "recommended": "What to set",
    "compared with": "What it was compared with",
    "measured": "Measured too",
}
_SCOPES: Mapping[str, str] = {
    "server": "the whole server",
    "role": "one role",
    "session": "one session",
    "commit": "each commit",
    "list": "your list",
}


@dataclass(frozen=True)
class ShownWay:
    """One way to set every parameter."""

    scope: str
    """For whom it holds, in words."""
    reach: str
    """The same in sentences, with what it needs and whether it outlives a restart."""
    set: str
    """Statements, one a line."""
    undo: str
    """The same; empty where nothing is known of what was before."""
    look: str
    """Statements that show what the undo does not know; empty where there is nothing to look for."""


@dataclass(frozen=True)
class Shown:
    """A setting and how to have it."""

    title: str
    sentences: Sequence[str]
    ways: Sequence[ShownWay]
    more: str
    """The names of the ways after the first one."""


def recommended(results: Results) -> Shown | None:
    """The setting that the verdict recommends; None where it recommends none."""
    return next(_shown(results, "recommended"), None)


def others(results: Results) -> list[Shown]:
    """The setting that it is compared with, or every other setting of a run that compares none."""
    return [*_shown(results, "compared with"), *_shown(results, "measured")]


@dataclass(frozen=True)
class ShownChange(Shown):
    """A change of parameters that the advice names, and how to make it."""

    helps: bool
    """Whether it is shown to help."""


def of_advice(results: Results) -> list[ShownChange]:
    """The changes of the advice that are changes of parameters, in its order; empty where there are none."""
    changes = (results.get("advice") or {}).get("changes") or ()
    return [_of_change(item) for item in changes if item.get("ways")]


def _of_change(item: Mapping[str, Any]) -> ShownChange:
    ways = [_way(way) for way in item["ways"]]
    kept = item["as_before"]
    values = "value" if len(kept) == 1 else "values"
    sentences = [str(item["price_text"])] if item["price_text"] else []
    if kept:
        sentences.append(
            f"The server already has the right {values} of {listed(kept)}; the statements only make sure of "
            "that."
        )
    helps = item["outcome"] in ("more work", "shorter times")
    more = f"More: {'; '.join(way.scope for way in ways[1:])}"
    return ShownChange(f"What to type for {item['change']}.", sentences, ways, more, helps)


def _shown(results: Results, purpose: str) -> Iterator[Shown]:
    for entry in results.get("statements") or ():
        if entry["purpose"] == purpose and (entry["ways"] or entry["application"]):
            yield _of_entry(entry, results)


def _of_entry(entry: Mapping[str, Any], results: Results) -> Shown:
    title = _TITLES[entry["purpose"]]
    ways = [_way(item) for item in entry["ways"]]
    named = entry["words"] if entry["words"] == entry["setting"] else f"{entry['words']} ({entry['setting']})"
    purposes = {item["purpose"] for item in results["statements"]}
    last = (
        "the other settings that were measured"
        if "measured" in purposes
        else "the setting it was compared with"
    )
    behind = [*(way.scope for way in ways[1:]), last]
    more = f"More: {'; '.join(behind)}"
    return Shown(f"{title}: {named}.", _sentences(entry), ways, more)


def _sentences(entry: Mapping[str, Any]) -> list[str]:
    found = [str(text) for text in entry["application"]]
    if not entry["parameters"]:
        return found
    kept = entry["as_before"]
    if len(kept) == len(entry["parameters"]):
        found.append("The server had all of these values before the run, so nothing has to be changed.")
    elif kept:
        values = "value" if len(kept) == 1 else "values"
        found.append(
            f"Before the run the server had the right {values} of {listed(kept)}; the statements only make "
            "sure of that."
        )
    return found


def _way(item: Mapping[str, Any]) -> ShownWay:
    scope = _SCOPES.get(item["scope"], item["scope"])
    if item["scope"] == "server":
        scope += f", in {item['language']}" if item["language"] != "SQL" else ""
        scope += ", across restarts" if item["lasts"] else ", until its next restart"
    return ShownWay(
        scope,
        item["reach"] if item["restart"] else f"No restart. {item['reach']}",
        "\n".join(item["set"]),
        "\n".join(item["undo"]),
        "\n".join(item.get("look") or ()),
    )

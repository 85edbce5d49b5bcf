"""Short labels of settings for tables, figures and sentences: which part of a name means what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from redolab import units
from redolab.records.servers import SERVER, without_server

_MODES = ("commit_wait", "commit_logging")
"""The factors whose levels are published names, such as `nowait/batch`."""
_SHARE, _RATE = "share_of_capacity", "arrival_rate_per_s"
_SHORT: Mapping[str, Callable[[str], str]] = {
    "sessions": lambda level: units.counted(int(level), "session"),
    "processes": lambda level: units.counted(int(level), "process"),
    "rows_per_commit": lambda level: units.counted(int(level), "row"),
    "rounds": lambda level: units.counted(int(level), "round"),
    "groups": lambda level: "{:,} groups of {:,}".format(*map(int, level.split("x"))),
    "loop": lambda level: f"{level} loop",
    "pause_ms": lambda level: f"{float(level):g} ms pause",
    "server_process": lambda level: f"{level} server processes",
    _SHARE: lambda level: f"{float(level.removesuffix('%')):g} % of capacity",
    _RATE: lambda level: f"{float(level):,g} arrivals per s",
    "commit_delay_us": lambda level: f"{int(level):,} µs delay",
    "log_device_ms": lambda level: f"{float(level):g} ms log device",
    "cpu_turns": lambda level: f"{int(level):,} CPU turns",
}


def label(levels: Mapping[str, str]) -> str:
    """The levels of a setting as a short label; published names of commit modes stay as they are.

    >>> label({"sessions": "32", "rows_per_commit": "1", "commit_wait": "wait"})
    '32 sessions, 1 row, wait'
    >>> label({"server": "mysql", "commit_wait": "nowait", "commit_logging": "batch"})
    'nowait/batch on mysql'
    """
    own = without_server(levels)
    mode = "/".join(own[factor] for factor in _MODES if factor in own)
    parts = []
    for factor, level in own.items():
        if factor in _MODES:
            parts += [mode] if mode not in parts else []
        # The rate follows from the share of capacity.
        elif factor != _RATE or _SHARE not in own:
            parts.append(_part(factor, level, alone=len(own) == 1))
    text = ", ".join(parts)
    return f"{text} on {levels[SERVER]}" if SERVER in levels and text else text


def _part(factor: str, level: str, *, alone: bool) -> str:
    if factor in _SHORT:
        try:
            return _SHORT[factor](level)
        except (ValueError, IndexError):
            pass
    explains_itself = level.startswith(factor) or (alone and re.search(r"[^\W\d]", level) is not None)
    return level if explains_itself else f"{factor.replace('_', ' ')} {level}"


def labels(settings: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The label of each setting by its name; the name itself where levels do not make it, or not it alone.

    Args:
        settings: with `name` and `levels`, as a manifest and the results object have them.
    """
    found = {str(item["name"]): label_of(str(item["name"]), item.get("levels") or {}) for item in settings}
    times = Counter(found.values())
    return {name: text if times[text] == 1 else name for name, text in found.items()}


def label_of(name: str, levels: Mapping[str, str]) -> str:
    """The label of the levels that a setting's name joins; the name itself where it joins something else.

    >>> label_of("8/wait", {"sessions": "8", "commit_wait": "wait", "loop": "client"})
    '8 sessions, wait'
    """
    rest, named = f"{name}/", {}
    for factor, level in levels.items():
        if rest.startswith(f"{level}/"):
            rest, named[factor] = rest.removeprefix(f"{level}/"), level
    return name if rest or not named else label(named)


def joined(names: Iterable[str]) -> str:
    """Settings in one sentence; labels of several parts are kept apart by semicolons.

    >>> joined(["wait", "nowait"]), joined(["1 session, 1 row", "2 sessions, 1 row"])
    ('wait, nowait', '1 session, 1 row; 2 sessions, 1 row')
    """
    known = list(names)
    return ("; " if any(", " in name for name in known) else ", ").join(known)

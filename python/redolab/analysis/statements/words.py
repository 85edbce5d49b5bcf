"""Settings in words: as the server's own parameters, and as what their levels mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from redolab import units
from redolab.dialect.known import dialect_of
from redolab.dialect.oracle_statements import STATEMENT
from redolab.records.servers import SERVER, server_of

_MOST_NAMED = 4
"""Parameters that a sentence can name."""
_MODES: Mapping[str, Mapping[str, str]] = {
    "commit_wait": {
        "wait": "commits wait",
        "nowait": "commits do not wait",
        "redo": "commits wait for the redo log alone",
        "binlog": "commits wait for the binary log alone",
    },
    "commit_logging": {"immediate": "the log is written at once", "batch": "the log gathers"},
    "loop": {"client": "a client sends each statement", "server": "the loop runs inside the server"},
}
_NUMBERS: Mapping[str, Callable[[str], str]] = {
    "sessions": lambda level: units.counted(int(level), "session"),
    "processes": lambda level: units.counted(int(level), "process"),
    "rows_per_commit": lambda level: f"{units.counted(int(level), 'row')} per commit",
    "commit_delay_us": lambda level: f"a commit delay of {int(level):,} µs",
    "pause_ms": lambda level: f"clients pause for {float(level):g} ms",
    "arrival_rate_per_s": lambda level: f"{float(level):,g} transactions arrive per second",
    "log_device_ms": lambda level: f"a log device of {float(level):g} ms a flush",
    "cpu_turns": lambda level: f"{int(level):,} turns of CPU work per commit",
    "server": lambda level: f"on {level}",
    "server_process": lambda level: f"{level} server processes",
    "share_of_capacity": lambda level: f"{float(level.removesuffix('%')):g} % of capacity",
    "rounds": lambda level: units.counted(int(level), "round"),
}


def in_words(levels: Mapping[str, str]) -> str:
    """The levels of a setting in words: `32 sessions, 1 row per commit, commits wait`.

    >>> in_words({"sessions": "32", "rows_per_commit": "1", "commit_wait": "wait"})
    '32 sessions, 1 row per commit, commits wait'
    """
    return ", ".join(_level(factor, level) for factor, level in levels.items())


def _level(factor: str, level: str) -> str:
    if level in (known := _MODES.get(factor, {})):
        return known[level]
    if factor in _NUMBERS:
        try:
            return _NUMBERS[factor](level)
        except ValueError:
            pass
    return level if level.startswith(factor) else f"{factor}: {level}"


def called(manifest: Mapping[str, Any], declared: Mapping[str, Any], text: str) -> str:
    """A setting in its server's own words, its label in brackets; the label alone where it sets nothing.

    Named are the parameters that its levels decide, not those that it has as the server had them.

    Args:
        manifest: of the run.
        declared: the setting, as the manifest has it.
        text: its label.
    """
    name, values = str(declared["name"]), declared["parameters"]
    chosen, _ = chosen_first(manifest, declared)
    if not 0 < len(chosen) <= _MOST_NAMED:
        return text
    if STATEMENT in chosen:
        return f"{STATEMENT} {values[STATEMENT]} ({text})"
    texts = [f"{parameter}={values[parameter]}" for parameter in chosen]
    return text if texts == [name] else f"{units.listed(texts)} ({text})"


def chosen_first(manifest: Mapping[str, Any], declared: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """A setting's parameters: those that its levels decide, and those that it has as the server had them.

    Where a user's own levels decide, these are the parameters that differ between settings.

    Args:
        manifest: of the run.
        declared: the setting, as the manifest has it.
    """
    names, server = list(declared["parameters"]), declared["levels"].get(SERVER)
    known = dialect_of(str(server_of(manifest["engine"], declared["levels"]).get("name", "")))
    if not known.ways:
        return [], names
    decided = frozenset() if known.chosen is None else known.chosen(declared["levels"])
    if not decided:
        alike = [item for item in manifest["settings"] if item["levels"].get(SERVER) == server]
        decided = frozenset(
            name for name in names if len({item["parameters"].get(name) for item in alike}) > 1
        )
    return [name for name in names if name in decided], [name for name in names if name not in decided]

"""Capabilities that an experiment may need and an engine may offer: the words that both use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from redolab.records.sample import Scope

Capability = Literal[
    "updates",
    "own_rows",
    "inserts",
    "scans",
    "statements",
    "commit_modes",
    "client_sessions",
    "hard_kill",
    "log_device",
    "cpu_work",
    "draws",
    "watch",
]

CAPABILITIES: Mapping[Capability, str] = {
    "updates": "single-row updates, one per commit",
    "own_rows": "updates in which each session has its own row",
    "inserts": "inserts, a given number per commit",
    "scans": "full scans while another session has uncommitted updates",
    "statements": "the statements of a list file",
    "commit_modes": "commits that wait for their flush or do not, with the log written at once or in batches",
    "client_sessions": "sessions that work over the wire",
    "hard_kill": "a server that may be killed",
    "log_device": "an emulated log device",
    "cpu_work": "processes that only compute",
    "draws": "values drawn at random",
    "watch": "watching a server at work without putting load on it",
}
"""Every capability, in words."""


_LOADS: frozenset[Capability] = frozenset(
    {"updates", "own_rows", "inserts", "scans", "commit_modes", "client_sessions"}
)
OFFERED: Mapping[str, frozenset[Capability]] = {
    "embedded": _LOADS | {"statements"},
    "postgresql": _LOADS | {"statements"},
    "mariadb": _LOADS | {"statements"},
    "mysql": _LOADS | {"statements"},
    "oracle": _LOADS,
}
"""Capabilities that a server offers to experiments, by the engine's name in a manifest, whoever owns the
server. Engines include them in their offers, and advice on a stored run names what can be measured there."""


@dataclass(frozen=True)
class Ways:
    """How the sessions of an engine can work, and how far its parameters reach; the default comes first."""

    loops: tuple[str, ...] = ("server", "client")
    """Where the loop of a session can run."""
    timed: tuple[str, ...] = ("server", "client")
    """Where a loop can run that notes the time of each commit, and pauses after it."""
    scopes: tuple[Scope, ...] = ("session", "transaction", "system")
    """How a setting's parameters can be applied."""
    client_scopes: tuple[Scope, ...] = ()
    """Scopes among these that only the loop of a client obeys."""
    server_processes: tuple[str, ...] = ()
    """Kinds of server process that a client can ask for, in addition to the usual one."""

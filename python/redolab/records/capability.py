"""What an experiment may need of an engine, and an engine may offer: the words that both use."""

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
    "updates": "single-row updates, one to a commit",
    "own_rows": "updates of a row of each session's own",
    "inserts": "inserts, so many to a commit",
    "scans": "whole scans beside updates that are not committed",
    "statements": "the statements of a list file",
    "commit_modes": "commits that wait for their flush or not, at once or gathered",
    "client_sessions": "sessions that work over the wire",
    "hard_kill": "a server that may be killed",
    "log_device": "an emulated log device",
    "cpu_work": "processes that only compute",
    "draws": "values drawn at random",
    "watch": "a server at work that is watched and not loaded",
}
"""Every capability, and what an engine with it has."""


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
"""What a server offers to experiments, whoever it belongs to, by the engine's name in a manifest. Engines
take it into their offers, and advice on a stored run names what can be measured there."""


@dataclass(frozen=True)
class Ways:
    """How the sessions of an engine can work, and how far its parameters reach; first what it does untold."""

    loops: tuple[str, ...] = ("server", "client")
    """Where the loop of a session can run."""
    timed: tuple[str, ...] = ("server", "client")
    """Where one can run that notes the time of each commit, and pauses after it."""
    scopes: tuple[Scope, ...] = ("session", "transaction", "system")
    """How a setting's parameters can be put in force."""
    client_scopes: tuple[Scope, ...] = ()
    """Those of them that only the loop of a client obeys."""
    server_processes: tuple[str, ...] = ()
    """Kinds of server process that a client can ask for, beside the usual one."""

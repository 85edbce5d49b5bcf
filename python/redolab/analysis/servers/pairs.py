"""Which settings of a run are compared with which, where several servers were measured side by side.

Within a server each setting is compared with the server's own baseline. Servers are compared under the same
levels, where both promise the same for a commit: a ratio across promises would compare two different things.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from redolab.records.servers import SERVER, name_on, name_without, servers_of, without_server


@dataclass(frozen=True)
class Group:
    """The settings that are compared with one baseline: those of one server."""

    server: str
    """Empty where the run has one server."""
    baseline: str
    names: tuple[str, ...]
    """Names of its settings, the baseline among them, in the order of the design."""


@dataclass(frozen=True)
class Match:
    """The same levels on two servers."""

    setting: str
    """The setting on the later server."""
    reference: str
    """The setting on the earlier server."""
    levels: str
    """The name that both have on their server."""
    same_tier: bool


def groups_of(manifest: Mapping[str, Any]) -> tuple[Group, ...]:
    """The settings of each server with its baseline, which has the levels of the run's; in their order."""
    baseline = manifest["design"]["baseline"]
    settings = manifest["settings"]
    servers = servers_of(manifest["engine"])
    if not servers:
        return (Group("", baseline, tuple(setting["name"] for setting in settings)),)
    plain = next(name_without(item["levels"], baseline) for item in settings if item["name"] == baseline)
    return tuple(
        Group(
            server,
            name_on(server, plain),
            tuple(item["name"] for item in settings if item["levels"][SERVER] == server),
        )
        for server in servers
    )


def matches_of(manifest: Mapping[str, Any]) -> tuple[Match, ...]:
    """The same levels on every two servers, in the order of the design."""
    by_server: dict[str, list[Mapping[str, Any]]] = {name: [] for name in servers_of(manifest["engine"])}
    for setting in manifest["settings"]:
        if by_server:
            by_server[setting["levels"][SERVER]].append(setting)
    return tuple(
        Match(
            second["name"],
            first["name"],
            name_without(first["levels"], first["name"]),
            first["tier"] == second["tier"],
        )
        for earlier, later in combinations(by_server.values(), 2)
        for first in earlier
        for second in later
        if without_server(first["levels"]) == without_server(second["levels"])
    )


def pairs_of(manifest: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Every pair of settings that is compared: the setting, and its reference."""
    across = manifest["design"].get("across_tiers", False)
    within = [
        (name, group.baseline)
        for group in groups_of(manifest)
        for name in group.names
        if name != group.baseline
    ]
    matched = matches_of(manifest)
    return [*within, *((item.setting, item.reference) for item in matched if item.same_tier or across)]

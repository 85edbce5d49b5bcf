"""A run on several servers: the factor that distinguishes them, and the server of a setting.

Such a run's `engine` is one record for all of them, with the record of each under its name in `servers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SERVER = "server"
"""The factor whose levels are the servers' names; the first of a setting's levels."""
SIDE_BY_SIDE = "side by side"
"""The text in place of an engine's name where there are several."""


def servers_of(engine: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The record of each server by its name, the first one's first; empty for a run on one server.

    Args:
        engine: the `engine` part of a manifest, or of a results object.
    """
    found: Mapping[str, Mapping[str, Any]] = engine.get("servers") or {}
    return found


def server_of(engine: Mapping[str, Any], levels: Mapping[str, str]) -> Mapping[str, Any]:
    """The record of the server that a setting was measured on.

    Args:
        engine: the `engine` part of a manifest, or of a results object.
        levels: of the setting.
    """
    return servers_of(engine).get(levels.get(SERVER, ""), engine)


def baseline_server(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record of the server that the run's baseline was measured on."""
    baseline = manifest["design"]["baseline"]
    levels = next(item["levels"] for item in manifest["settings"] if item["name"] == baseline)
    return server_of(manifest["engine"], levels)


def name_on(server: str, setting: str) -> str:
    """The name of a setting where several servers have it."""
    return f"{server}/{setting}"


def name_without(levels: Mapping[str, str], name: str) -> str:
    """The name of a setting without its server's."""
    return name.removeprefix(f"{levels[SERVER]}/") if SERVER in levels else name


def without_server(levels: Mapping[str, str]) -> dict[str, str]:
    """The levels of a setting without its server."""
    return {factor: level for factor, level in levels.items() if factor != SERVER}

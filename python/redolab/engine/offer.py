"""What an engine offers, told without importing its driver."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redolab.records.capability import CAPABILITIES, Capability

if TYPE_CHECKING:
    from redolab.engine.base import Engine
    from redolab.records.load import Load


@dataclass(frozen=True)
class Opening:
    """What an engine is opened with."""

    target: str
    """What `--engine` says."""
    load: Load
    """What it will do."""
    disk_bytes: int
    """How much disk that needs, where the server is Redolab's own."""
    log_device_s: float | None
    """Flush time of an emulated log device, seconds; None for the real one."""
    seed: int
    """Of the wait sampler's gaps, and of values drawn."""


@dataclass(frozen=True)
class Offer:
    """An engine that `--engine` can name."""

    name: str
    """What `--engine` says, or a URL's scheme."""
    title: str
    """What it is, in a few words."""
    capabilities: frozenset[Capability]
    open: Callable[[Opening], Engine]
    """Raises `RefusedError` where the server cannot be had."""
    schemes: tuple[str, ...] = ()
    """Of the URLs that name it, where the server is somebody else's."""
    lacks: Mapping[Capability, str] = field(default_factory=dict)
    """Why it lacks a capability, one sentence each, where the capability alone does not tell."""

    def why_not(self, capability: Capability) -> str:
        """Why the engine lacks `capability`, one sentence."""
        return self.lacks.get(capability, f"It has not: {CAPABILITIES[capability]}.")

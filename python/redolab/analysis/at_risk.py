"""Acknowledged commits that crashes may lose under a setting: number, age, or why these are unknown."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab import units
from redolab.dialect.base import Loss
from redolab.dialect.known import dialect_of

_CRASHES: Mapping[tuple[str, ...], str] = {
    ("server",): "a crash of the server",
    ("power",): "a power cut, or a crash of the operating system,",
    ("server", "power"): "a crash of the server, or a power cut,",
}


@dataclass(frozen=True)
class AtRisk:
    """The possible loss under a setting when the server crashes."""

    window_s: float
    """Age of the oldest commit that can be missing, by the server's manual."""
    commits: int
    """Commits acknowledged in that time at the measured rate."""

    def as_json(self) -> dict[str, Any]:
        """The figures as the results object has them."""
        return {"window_s": self.window_s, "commits": self.commits}


@dataclass(frozen=True)
class Price(Loss):
    """The possible loss in one kind of crash, with the commits that were acknowledged in that time."""

    commits: int | None = None
    """Acknowledged in the window at the measured rate; None where one of the two is not known."""

    def as_json(self) -> dict[str, Any]:
        """The price as the results object has it."""
        return dataclasses.asdict(self) | {"unknown": self.unknown or None}


def prices(
    server: Mapping[str, Any], declared: Mapping[str, Any], commits_per_s: float | None
) -> tuple[Price, ...]:
    """The possible losses in crashes under a setting; empty for nothing, and where the server is not known.

    Args:
        server: its record in the manifest.
        declared: the setting, as the manifest has it.
        commits_per_s: acknowledged commits; None where they were not measured.
    """
    losses = dialect_of(str(server.get("name", ""))).losses
    if losses is None:
        return ()
    return tuple(
        Price(**dataclasses.asdict(loss), commits=_commits(loss.window_s, commits_per_s))
        for loss in losses({**server, "tier": declared["tier"], **declared["parameters"]})
    )


def at_risk(found: Sequence[Price]) -> AtRisk | None:
    """The possible loss in a crash of the server; None where it loses nothing, or where it is not known.

    Args:
        found: what `prices` found.
    """
    for price in found:
        if price.crash == "server" and price.window_s is not None and price.commits is not None:
            return AtRisk(price.window_s, price.commits)
    return None


def in_words(found: Sequence[Price]) -> list[str]:
    """The possible losses in crashes, as sentences; the first begins in lower case.

    Args:
        found: what `prices` found.
    """
    alike: dict[Price, list[str]] = {}
    for price in found:
        alike.setdefault(dataclasses.replace(price, crash="server"), []).append(price.crash)
    sentences = []
    for price, crashes in alike.items():
        sentences.append(f"{_CRASHES[tuple(crashes)]} may lose {_lost(price)}.")
        if price.unknown:
            sentences.append(f"How many commits can be lost is not known: {price.unknown}.")
    return [text if not place else text[0].upper() + text[1:] for place, text in enumerate(sentences)]


def _lost(price: Price) -> str:
    if price.unknown:
        return "acknowledged commits"
    parts, about = [], "about " if price.about else ""
    if price.window_s is not None:
        age = f"{about}the last {units.duration(price.window_s)}"
        if price.commits is None:
            parts.append(f"acknowledged commits of {age}")
        else:
            step = 10 ** max(0, len(str(price.commits)) - 2)
            most = math.ceil(price.commits / step) * step
            parts.append(f"up to {about}{most:,} acknowledged commits, those of {age}")
    if price.groups is not None:
        parts.append(f"up to {units.counted(price.groups, 'group')} of commits that one flush serves")
    return " and ".join(parts)


def _commits(window_s: float | None, per_s: float | None) -> int | None:
    return None if window_s is None or per_s is None else math.ceil(window_s * per_s)

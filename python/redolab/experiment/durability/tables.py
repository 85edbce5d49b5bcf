"""The tables and the figure of a durability run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.analysis.exhibits import Column, Table
from redolab.records.sample import Kill

_PROMISES = {True: "kept", False: "broken", None: "none"}


def losses(settings: Sequence[Mapping[str, Any]]) -> Table:
    """Promise and losses of each setting; `settings` as in the results object."""
    return Table.of(
        "losses",
        "Acknowledged commits after a hard kill",
        settings,
        (
            Column("setting", "Setting", "text"),
            Column("tier", "Tier", "text"),
            Column("kills", "Kills", "count"),
            Column("acknowledged", "Acknowledged", "count"),
            Column("missing", "Missing", "count"),
            Column("window_ms", "Window", "number", "ms"),
            Column("promise", "Promise", "outcome"),
        ),
        {
            "setting": lambda setting: setting["name"],
            "window_ms": lambda setting: _milliseconds(setting["loss_window_max_s"]),
            "promise": lambda setting: _PROMISES[setting["promise_kept"]],
        },
        note="Window: how long before the kill the oldest missing commit was acknowledged.",
        first=True,
    )


def rates(settings: Sequence[Mapping[str, Any]]) -> Table:
    """Shares of loss that the kills cannot rule out; `settings` as in the results object."""
    return Table.of(
        "rates",
        "How certain that is",
        settings,
        (
            Column("setting", "Setting", "text"),
            Column("kills_with_loss", "Kills with a loss", "count"),
            Column("loss_probability", "Chance of a loss", "share", "% of kills"),
            Column("lost_share", "Lost", "share", "% of acknowledged"),
            Column("missing_per_kill", "Missing", "estimate", "commits per kill"),
            Column("worst", "Worst kill", "count", "commits missing"),
            Column("recovery_s", "Recovery", "estimate", "s"),
            Column("unacknowledged", "Kept without acknowledgement", "count", "commits"),
        ),
        {
            "setting": lambda setting: setting["name"],
            "worst": lambda setting: (
                None if setting["worst_kill"] is None else setting["worst_kill"]["missing"]
            ),
        },
        note="Shares have exact (Clopper-Pearson) intervals. The upper end of an interval is the largest "
        "share that these kills do not rule out, even where nothing was lost.",
    )


def kills(made: Sequence[Kill]) -> Table:
    """Every kill in the order made, spoiled ones too."""
    return Table.of(
        "kills",
        "Kills in the order made",
        made,
        (
            Column("sample", "Kill", "count"),
            Column("block", "Block", "count"),
            Column("setting", "Setting", "text"),
            Column("start_s", "Start", "number", "s"),
            Column("elapsed_s", "Load before the kill", "number", "s"),
            Column("acknowledged", "Acknowledged", "count", "commits"),
            Column("missing", "Missing", "count", "commits"),
            Column("window_ms", "Window", "number", "ms"),
            Column("recovery_s", "Recovery", "number", "s"),
            Column("spoiled", "Spoiled", "text"),
        ),
        {
            "window_ms": lambda kill: _milliseconds(kill.loss_window_s),
            "spoiled": lambda kill: kill.spoiled or "no",
        },
        note=(
            "Sessions commit and note each acknowledgement outside the server; the server is killed hard "
            "under that load, recovers, and Redolab looks for every noted commit."
        ),
    )


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds

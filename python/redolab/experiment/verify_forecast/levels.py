"""The settings that check a forecast, from the scenarios that it is about."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.experiment.base import Levels, setting_name
from redolab.forecast.costs.costs import Scenario


def levels_of(scenarios: Mapping[str, Scenario], device_ms: float | None) -> dict[str, Levels]:
    """Settings to measure, by the names they are given here: their levels joined.

    Commit delay and log device are levels of all settings where one setting has them; arrivals are a level of
    the settings that have them, and the sessions of all others loop.

    Args:
        scenarios: by any key; the keys of the result are the names, in the same order.
        device_ms: flush time of the emulated device under which the others are measured; None for none.
    """
    delays = any(item.commit_delay_us for item in scenarios.values())
    devices = any(item.log_device_ms is not None for item in scenarios.values())
    found: dict[str, Levels] = {}
    for item in scenarios.values():
        levels = {
            "sessions": str(item.sessions),
            "rows_per_commit": str(item.rows_per_commit),
            "commit_wait": item.commit_wait,
        }
        if delays:
            levels["commit_delay_us"] = str(item.commit_delay_us)
        if devices:
            levels["log_device_ms"] = (
                f"{item.log_device_ms if item.log_device_ms is not None else device_ms or 0:g}"
            )
        if item.arrival_rate_per_s is not None:
            levels["arrival_rate_per_s"] = f"{item.arrival_rate_per_s:.12g}"
        found[setting_name(levels)] = levels
    return found

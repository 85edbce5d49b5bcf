"""Whether commits are what to change on a server that was observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab import units
from redolab.analysis.observed.verdict import SOME, log_first

_ELSEWHERE = (
    "Commits: waiting for the log is only {share} of {whole}, and {left} would remain without that wait. So "
    "no change of commits or of the log is forecast."
)
_SATURATED = (
    "Commits: the log is written for {busy} of the time, and sessions that wait for locks or buffers wait "
    "for commits too. The model does not include that, so no change of commits or of the log is forecast."
)
_UNKNOWN_SHARE = (
    "Commits: the time that commits wait for the log is not known, so no change of commits or of the log is "
    "forecast."
)


def of_commits(figures: Mapping[str, Any], setting: str, whole: str) -> tuple[float | None, str]:
    """Waiting for the log as a share of the time, and why it is not what to change; empty where it may be."""
    found: Mapping[str, Any] = next((item for item in figures["settings"] if item["name"] == setting), {})
    share, busy = (
        found.get("figures", {}).get(key, {}).get("point") for key in ("log_sync_share", "log_utilization")
    )
    if share is None:
        return None, _UNKNOWN_SHARE
    if share >= SOME:
        return share, ""
    if log_first(busy):
        return share, _SATURATED.format(busy=units.percent(busy))
    return share, _ELSEWHERE.format(
        share=units.percent(share), whole=whole, left=units.percent(max(0.0, 1 - share))
    )

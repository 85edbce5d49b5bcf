"""The published response-time curve of a run, for the page's sliders."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from redolab.report.tables.cells import Results


def curves(results: Results) -> dict[str, Any] | None:
    """Each setting's S, M and mean rate, and the measured points; None where no curve passes through any.

    Args:
        results: the results object of a stored run.
    """
    curve = results.get("curve") or {}
    points = {item["setting"]: item for item in curve.get("points", ())}
    known = [item for item in curve.get("published", ()) if item["servers"] and item["service_time_ms"]]
    if not known:
        return None
    return {
        "curves": [
            {
                "setting": item["setting"],
                "servers": item["servers"],
                "service_time_ms": item["service_time_ms"],
                "rate_per_s": fmean(
                    rate for rate in points[item["setting"]]["arrival_rate_per_s"] if rate is not None
                ),
            }
            for item in known
        ],
        "points": [
            {
                "setting": item["setting"],
                "rates": item["arrival_rate_per_s"],
                "times": item["response_time_ms"],
            }
            for item in points.values()
        ],
    }

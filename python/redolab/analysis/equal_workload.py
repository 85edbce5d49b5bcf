"""Response times at one workload: what each setting would take at the baseline's rate of work.

In a closed loop a faster setting also does more work, so its R is the R of a busier system. The published
work asked for a comparison at the same arrival rate, which its curve gives.

Source: Craig Shallahamer, OraPub, "Speed Sometimes Means Changing The Rules" (21 February 2012).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from redolab.model.queueing import response_time_cpu

NO_CURVE, TOO_MUCH = "no curve passes through its mean", "more than its servers can do"
"""Why a setting has no response time there."""


def equal_workload(
    points: Sequence[Mapping[str, Any]], published: Sequence[Mapping[str, Any]], baseline: str
) -> dict[str, Any] | None:
    """R of every setting as measured at its own rate, and by the published curve at the baseline's.

    Args:
        points: `curve.points` of a results object.
        published: its `curve.published`.
        baseline: the setting whose mean rate all are compared at.

    Returns:
        `rate_per_s`, and `settings` with `setting`, `own_rate_per_s`, `measured_ms`, `published_ms` and
        `published_refused`: None, or why there is no such R. None altogether where the baseline's rate is not
        known, or there is nothing to compare.
    """
    curves = {item["setting"]: item for item in published}
    means = {item["setting"]: _means(item) for item in points}
    rate = means.get(baseline, (None, None))[0]
    if rate is None or len(means) < 2:
        return None
    return {
        "baseline": baseline,
        "rate_per_s": rate,
        "settings": [
            {
                "setting": name,
                "own_rate_per_s": own,
                "measured_ms": measured,
                **_published(curves.get(name), rate),
            }
            for name, (own, measured) in means.items()
        ],
    }


def _means(item: Mapping[str, Any]) -> tuple[float | None, float | None]:
    rates = [value for value in item["arrival_rate_per_s"] if value is not None]
    times = [value for value in item["response_time_ms"] if value is not None]
    return fmean(rates) if rates else None, fmean(times) if times else None


def _published(curve: Mapping[str, Any] | None, rate_per_s: float) -> dict[str, Any]:
    if curve is None or curve["servers"] is None or curve["service_time_ms"] is None:
        return {"published_ms": None, "published_refused": NO_CURVE}
    try:
        time_s = response_time_cpu(curve["service_time_ms"] / 1e3, rate_per_s, curve["servers"])
    except ValueError:
        return {"published_ms": None, "published_refused": TOO_MUCH}
    return {"published_ms": 1e3 * time_s, "published_refused": None}

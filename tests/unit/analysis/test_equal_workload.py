"""Response times of the settings at the baseline's rate."""

from __future__ import annotations

from typing import Any

import pytest

from redolab.analysis.equal_workload import NO_CURVE, TOO_MUCH, equal_workload


def points(setting: str, *pairs: tuple[float, float]) -> dict[str, Any]:
    return {
        "setting": setting,
        "arrival_rate_per_s": [rate for rate, _ in pairs],
        "response_time_ms": [time for _, time in pairs],
    }


def curve(setting: str, service_ms: float | None, servers: float | None) -> dict[str, Any]:
    return {"setting": setting, "service_time_ms": service_ms, "servers": servers}


def test_every_setting_is_asked_at_the_rate_of_the_baseline() -> None:
    found = equal_workload(
        [
            points("slow", (90.0, 21.0), (110.0, 19.0)),
            points("fast", (400.0, 5.0)),
            points("slowest", (10.0, 9.0)),
            points("odd", (300.0, 1.0)),
        ],
        [
            curve("slow", 5.0, 1.0),
            curve("fast", 2.0, 1.0),
            curve("slowest", 10.0, 1.0),
            curve("odd", 1.0, None),
        ],
        "slow",
    )
    assert found is not None
    assert found["rate_per_s"] == pytest.approx(100.0)
    slow, fast, slowest, odd = found["settings"]
    assert (slow["own_rate_per_s"], slow["measured_ms"]) == (100.0, 20.0)
    # M/M/1: S / (1 - S L).
    assert slow["published_ms"] == pytest.approx(10.0)
    assert fast["published_ms"] == pytest.approx(2.5)
    assert (slowest["published_ms"], slowest["published_refused"]) == (None, TOO_MUCH)
    assert (odd["published_ms"], odd["published_refused"]) == (None, NO_CURVE)


def test_without_a_rate_or_another_setting_there_is_nothing_to_compare() -> None:
    one = points("slow", (90.0, 21.0))
    assert equal_workload([one], [], "slow") is None
    assert equal_workload([one, points("fast", (1.0, 1.0))], [], "gone") is None

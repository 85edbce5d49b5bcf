"""A response-time curve on a log device of 5 ms, from the pilot to the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from redolab import open_run
from redolab.experiment.response_curve.plan import SHARE
from redolab.forecast.costs.direct.calibrating import calibrate
from tests.conftest import Redolab
from tests.engine.pairs.test_pairs import said

CURVE = "8/1/wait"


def rows(results: dict[str, Any], key: str) -> dict[int, dict[str, Any]]:
    found = next(table for table in results["tables"] if table["key"] == key)
    return {row["share"]: row for row in found["rows"]}


def test_a_curve_on_a_slow_log(tmp_path: Path, redolab: Redolab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    run = tmp_path / "run"
    results = said(
        redolab(
            "run", "response-curve", "--quick", "--settings", CURVE, "--blocks", "2", "--seconds", "0.8",
            "--log-device-ms", "5", "--json", "--out", run,
        )
    )  # fmt: skip
    samples = rows(results, "response-samples-1")
    points = rows(results, "response-curve-1")
    # The arrivals asked for are shares of one capacity, and come up to it.
    rates = {share: row["asked_per_s"] for share, row in samples.items()}
    assert all(rate == pytest.approx(rates[10] * share / 10, rel=0.01) for share, rate in rates.items())
    for share in (30, 60):
        assert samples[share]["done_per_s"]["point"] == pytest.approx(rates[share], rel=0.25)
    # A commit takes a flush at least, and with half a flush before it rarely more than two.
    assert points[30]["response_time_ms"]["point"] > 5.0
    assert points[30]["response_time_ms"]["point"] < points[60]["forecast_ms"]["high"]
    assert points[110]["judged"] == "unsteady"
    assert points[110]["response_time_ms"] is None
    assert samples[110]["left"]["point"] > samples[30]["left"]["point"]
    # The server and the client say the same of what was in the system.
    for row in samples.values():
        assert row["present"] == pytest.approx(row["expected"], rel=0.2)
    forecasts = [row for share, row in points.items() if share <= 60]
    assert all(row["forecast_ms"]["low"] < row["forecast_ms"]["point"] for row in forecasts)
    stored = open_run(run)
    calibrated = calibrate(stored)
    assert calibrated.today == CURVE == stored.manifest["design"]["baseline"]
    assert calibrated.point.loop == "client"
    asked = {item["name"] for item in stored.manifest["settings"] if SHARE in item["levels"]}
    assert asked == {f"{CURVE}/{share}%" for share in points}
    verified = redolab("verify", run)
    assert verified.code == 0, verified.err
    # Forecasts can start from such a run, as from a calibration.
    found = said(redolab("forecast", run, "--set", "arrival_rate_per_s=200", "--json"))
    assert found["today"]["setting"] == CURVE
    assert found["loop"] == "client"

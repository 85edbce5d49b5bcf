"""Waits that are neither CPU nor log, in what is forecast of a server that was seen at work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from redolab.forecast.costs.costs import Scenario
from redolab.forecast.models.inverse import keep_p95_under
from redolab.forecast.models.scenario_forecast import forecast
from tests.forecasts import make_calibrated

OTHER_S = 0.02
PLAIN = make_calibrated()
WAITS = replace(PLAIN, other_s=OTHER_S)
ASKED = Scenario(8, rows_per_commit=4)


def test_mean_response_times_contain_them_and_each_row_has_its_part() -> None:
    without, found = forecast(PLAIN, ASKED, ()), forecast(WAITS, ASKED, ())
    for part, rows in (("today", 1), ("asked", 4)):
        before, after = (item[part]["forecast"] for item in (without, found))
        more_ms = 1e3 * OTHER_S * rows
        assert after["response_time_ms"]["point"] == pytest.approx(
            before["response_time_ms"]["point"] + more_ms
        )
        assert "response_time_ms_p95" in before
        assert "response_time_ms_p95" not in after
        assert after["commit_time_ms"] == before["commit_time_ms"]
        assert after["throughput_per_s"] == before["throughput_per_s"]
    today, asked = (found[part]["forecast"]["response_time_ms"]["point"] for part in ("today", "asked"))
    ratio = found["asked"]["compared_with_today"]["response_time_ms"]
    assert ratio["point"] == pytest.approx(asked / today)
    assert ratio["low"] <= ratio["point"] <= ratio["high"]


def test_they_are_named_where_there_are_any() -> None:
    said = "mean response time includes 80.0 ms of other waits"
    assert sum(said in text for text in forecast(WAITS, ASKED, ())["warnings"]) == 1
    assert not any("other waits" in text for text in forecast(PLAIN, ASKED, ())["warnings"])


def test_levels_of_a_sweep_have_them_too() -> None:
    sweep = [Scenario(2), Scenario(8)]
    without, found = (forecast(item, Scenario(8), (), sweep)["sweep"] for item in (PLAIN, WAITS))
    for before, after in zip(without, found, strict=True):
        assert after["forecast"]["response_time_ms"]["point"] == pytest.approx(
            before["forecast"]["response_time_ms"]["point"] + 1e3 * OTHER_S
        )


def test_a_percentile_that_nobody_knows_answers_no_question() -> None:
    answer = keep_p95_under(WAITS, Scenario(8), 100.0)
    assert answer.value is None
    assert "20.0 ms of a transaction's mean time are waits that are neither CPU time nor" in answer.refused
    assert keep_p95_under(PLAIN, Scenario(8), 100.0).value is not None

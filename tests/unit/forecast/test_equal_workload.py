"""The model's response times at one rate of commits."""

from __future__ import annotations

from typing import cast

import pytest

from redolab.errors import UsageError
from redolab.forecast import equal_workload
from redolab.records.run import Run
from tests.forecasts import BATCHES, LONE, TODAY, make_calibrated

RUN = cast("Run", None)


def test_each_setting_is_forecast_at_that_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equal_workload, "costs_of", lambda _run: make_calibrated(0))
    found = equal_workload.forecasts_at(RUN, 600.0, ())
    assert found is not None
    assert set(found) == {LONE, TODAY, BATCHES}
    # Eight sessions take less than the one that must do all of it.
    assert found[TODAY]["point"] < found[LONE]["point"]
    assert found[TODAY]["low"] < found[TODAY]["point"] < found[TODAY]["high"]
    beyond = equal_workload.forecasts_at(RUN, 1_500.0, ())
    assert beyond is not None
    assert "no steady state" in beyond[LONE]["refused"]


def test_a_run_without_costs_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_run: Run) -> None:
        raise UsageError("it tells no costs")

    monkeypatch.setattr(equal_workload, "costs_of", refuse)
    assert equal_workload.forecasts_at(RUN, 600.0, ()) is None

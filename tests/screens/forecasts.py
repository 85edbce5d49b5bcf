"""Forecasts whose screens are kept: results objects from the made-up calibration.

They are stored, so that a change of the model does not change a screen.

`python -m tests.screens.forecasts` computes them anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from redolab.forecast.checks.league import league_json
from redolab.forecast.costs.costs import Scenario
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models import inverse
from redolab.forecast.models.scenario_forecast import forecast
from redolab.forecast.track_record import Score
from tests.forecasts import make_calibrated, make_scores

STORED = Path(__file__).parents[1] / "report" / "data" / "forecasts.json"
_ERRORS = tuple(0.02 * place for place in range(-6, 7))


def stored() -> dict[str, dict[str, Any]]:
    """Results objects by screen."""
    found: dict[str, dict[str, Any]] = json.loads(STORED.read_text())
    return found


def computed() -> dict[str, dict[str, Any]]:
    """The same from the model."""
    calibrated = make_calibrated(replicates=20)
    rows, loop = Scenario(16, rows_per_commit=32), Scenario(8, rows_per_commit=32, cpus=4)
    many = Scenario(64, commit_wait="nowait", log_device_ms=0.4)
    scores = (
        *make_scores("batches", "throughput_per_s", _ERRORS),
        *make_scores("batches", "commit_time_ms", _ERRORS),
    )
    sweep = [Scenario(8, arrival_rate_per_s=rate) for rate in (500.0, 2_000.0, 3_500.0, 9_000.0)]
    sessions = [Scenario(number) for number in (1, 2, 4, 8, 16, 32, 64, 128)]
    return {
        "forecast": _results(calibrated, rows, scores),
        "forecast_today": _results(calibrated, Scenario(8), ()),
        "forecast_measured": _results(calibrated, Scenario(8, rows_per_commit=32), scores),
        "forecast_open": _results(calibrated, Scenario(8, arrival_rate_per_s=2_000.0), ()),
        "forecast_beyond": _results(calibrated, many, ()),
        "forecast_sweep": _results(calibrated, Scenario(8), (), sweep=sessions, swept="sessions"),
        "forecast_work": _results(calibrated, rows, scores, work_rows=900_000),
        "forecast_work_sweep": _results(
            calibrated, Scenario(8), scores, swept="rows_per_commit", work_rows=900_000,
            sweep=[Scenario(8, rows_per_commit=number) for number in (1, 8, 64)],
        ),
        "forecast_arrivals": _results(calibrated, Scenario(8), (), sweep=sweep, swept="arrival_rate_per_s"),
        "forecast_answers": _results(
            calibrated, loop, scores,
            answers=[
                inverse.elbow(calibrated, loop).as_json(),
                inverse.keep_p95_under(calibrated, loop, 0.5).as_json(),
                inverse.keep_p95_under(calibrated, loop, 4.0).as_json(),
                inverse.rows_for(calibrated, loop, 0.9).as_json(),
            ],
        ),
    }  # fmt: skip


def _results(
    calibrated: RunCosts,
    scenario: Scenario,
    scores: tuple[Score, ...],
    sweep: list[Scenario] | None = None,
    swept: str | None = None,
    answers: list[dict[str, Any]] | None = None,
    work_rows: int | None = None,
) -> dict[str, Any]:
    found = forecast(calibrated, scenario, scores, sweep or (), work_rows)
    league = league_json([("here", "this machine's ledger", scores, ())])
    return {
        "run": "redolab-runs/calibrate",
        **found,
        "swept": swept,
        "answers": answers or [],
        "league": league,
    }


if __name__ == "__main__":
    STORED.write_text(json.dumps(computed(), indent=1) + "\n")

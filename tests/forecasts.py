"""A made-up calibration, for tests of forecasts that need no run."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

# Whatever reads costs from a run is imported before a test puts made-up ones in their place: what is imported
# after that would keep them.
import redolab.analysis.compared  # noqa: F401
from redolab.forecast.costs.costs import Costs, Curve, Scenario
from redolab.forecast.costs.run_costs import Measured, RunCosts
from redolab.forecast.track_record import Score
from redolab.stats.estimates import Estimate

LONE, TODAY, BATCHES = "1/1/wait", "8/1/wait", "8/32/wait"
POINT = Costs(
    loop="server",
    cpus=2,
    transaction_cpu_s=((1, 45e-6), (8, 55e-6)),
    row_cpu_s=((1, 5e-6), (8, 6e-6)),
    flush_cpu_s=15e-6,
    wake_s=25e-6,
    commit_bytes=100.0,
    row_bytes=110.0,
    flush_s=tuple(float(value) for value in np.linspace(0.8e-3, 1.2e-3, 21)),
    device_s_per_byte=1e-9,
)


def make_calibrated(replicates: int = 8, **changes: Any) -> RunCosts:
    """A server whose log device takes 0.8 to 1.2 ms per flush, measured in three settings.

    Args:
        replicates: resampled calibrations, each cost of which is off by some 3 %.
        changes: of the calibration.
    """
    point = replace(POINT, **changes)
    rng = np.random.default_rng(1)
    again = []
    for _ in range(replicates):
        cpu, device = (float(value) for value in rng.normal(1, 0.03, 2))
        again.append(
            replace(
                point,
                transaction_cpu_s=_scaled(point.transaction_cpu_s, cpu),
                row_cpu_s=_scaled(point.row_cpu_s, cpu),
                flush_cpu_s=point.flush_cpu_s * cpu,
                wake_s=point.wake_s * cpu,
                flush_s=tuple(value * device for value in point.flush_s),
            )
        )
    return RunCosts(
        point,
        tuple(again),
        {
            LONE: _measured(Scenario(1), 900.0, 1.10),
            TODAY: _measured(Scenario(8), 3_400.0, 2.30),
            BATCHES: _measured(Scenario(8, rows_per_commit=32), 3_000.0, 2.60),
        },
        TODAY,
    )


def made_up_run(engine: str) -> SimpleNamespace:
    """What a command reads of a run on such an engine, whose costs are made up."""
    return SimpleNamespace(
        manifest={
            "engine": {"name": engine, "version": "18.6", "emulated": {}},
            "design": {"baseline": "today"},
            "settings": [{"name": "today", "levels": {}}],
            "machine": {},
            "experiment": "calibrate",
            "hashes": {},
        }
    )


def make_scores(family: str, quantity: str, errors: tuple[float, ...]) -> tuple[Score, ...]:
    """Verified forecasts of the model that forecasts, off by so much of the forecast."""
    return tuple(
        Score("group commit, simulated", family, quantity, 100.0, 100.0 * (1 + error)) for error in errors
    )


def _scaled(curve: Curve, factor: float) -> Curve:
    return tuple((sessions, cost * factor) for sessions, cost in curve)


def _measured(scenario: Scenario, throughput: float, response_ms: float) -> Measured:
    def near(value: float) -> Estimate:
        return Estimate(value, 0.98 * value, 1.02 * value)

    return Measured(
        scenario,
        "server",
        {
            "throughput_per_s": near(throughput),
            "response_time_ms": near(response_ms),
            "commit_time_ms": near(0.95 * response_ms),
            "commits_per_flush": near(throughput / 900),
        },
    )

"""What the golden forecasts are: drawn settings and three calibrations, and what is forecast of them.

`python -m tests.golden.forecast_cases` writes `data/forecasts.json` anew. The figures that stand there are
those of the Python that forecast before the crate redolab-forecast did.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from redolab.forecast.costs.costs import Costs, Scenario, parameters
from redolab.forecast.costs.run_costs import Measured, RunCosts
from redolab.forecast.models.inverse import elbow, keep_p95_under, rows_for
from redolab.forecast.models.quantities import QUANTITIES, simulation
from redolab.forecast.models.scenario_forecast import ScenarioForecast, compare, extrapolated, predict
from redolab.forecast.track_record import Score, family_of, prediction_interval
from redolab.model.closed import Station, sessions_at_elbow
from redolab.model.distribution import Distribution
from redolab.model.erlang import erlang_b, erlang_c, open_queue
from redolab.model.queueing import response_time_cpu, response_time_io, response_time_single

FILE = Path(__file__).parent / "data" / "forecasts.json"
SCENARIOS = 200
COMPARED = Scenario(16, rows_per_commit=3)
"""The setting that is compared with today's."""
NEEDS = (
    "cpus", "commit_cpu", "row_cpu", "device", "contention_s", "served_s", "spread_below", "statements",
    "client_s", "commit_delay_s", "transaction_cpu_s",
)  # fmt: skip
"""The parameters of the simulator that are kept: those that no other tells."""

Rows = list[list[Any]]


def calibrations() -> dict[str, Costs]:
    """A server's costs, a client's, and those of an emulated log device, with figures that are not round."""
    rng = random.Random(11)

    def about(value: float) -> float:
        return value * rng.uniform(0.8, 1.2)

    def flushes(mean_s: float) -> tuple[float, ...]:
        return tuple(sorted(about(mean_s) * rng.lognormvariate(0.0, 0.3) for _ in range(40)))

    def grown(value: float, *sessions: int) -> tuple[tuple[int, float], ...]:
        return tuple((count, about(value) * (1 + 0.01 * count)) for count in sessions)

    server = Costs(
        loop="server", cpus=2, transaction_cpu_s=grown(45e-6, 1, 8, 32, 64), row_cpu_s=grown(5e-6, 1, 8, 32),
        flush_cpu_s=about(15e-6), wake_s=about(18e-6), commit_bytes=about(100.0), row_bytes=about(110.0),
        flush_s=flushes(0.2e-3), device_s_per_byte=about(1e-9),
        after_idle_s=((0.0, 0.0), (2e-3, about(1e-4))), served_s=grown(6e-6, 1, 32),
        available=about(0.8), available_waiting=about(0.8), cold_s=about(9e-6),
        one_interrupt=True,
    )  # fmt: skip
    client = replace(
        server, loop="client", cpus=4, client_s=grown(12e-6, 1, 8, 32), client_wake_s=about(7e-6),
        hand_over_exit_s=about(20e-6), one_interrupt=False, after_idle_s=(), flush_s=flushes(0.4e-3),
    )  # fmt: skip
    emulated = replace(
        server, flush_s=flushes(5e-3), emulated=True, transaction_cpu_s=grown(300e-6, 1),
        row_cpu_s=grown(40e-6, 1, 16), served_s=((1, 0.0),), available=1.0, available_waiting=1.0,
    )  # fmt: skip
    return {"server": server, "client": client, "emulated": emulated}


def draw_scenarios() -> list[Scenario]:
    """Settings of every family, most with one or two factors besides the sessions."""
    rng = random.Random(12)
    levels: Mapping[str, Callable[[], Any]] = {
        "rows_per_commit": lambda: rng.choice((2, 3, 8, 32, 57, 58, 59, 96, 128)),
        "commit_wait": lambda: "nowait",
        "commit_delay_us": lambda: rng.randint(1, 2_000),
        "log_device_ms": lambda: rng.choice((0.0, rng.uniform(0.05, 9.0))),
        "cpus": lambda: rng.choice((1.0, 1.9, 16.0, rng.uniform(0.5, 9.0))),
        "think_time_ms": lambda: rng.uniform(0.1, 20.0),
        "cpu_factor": lambda: rng.uniform(0.25, 2.0),
        "arrival_rate_per_s": lambda: 10 ** rng.uniform(1.5, 4.5),
    }
    drawn: list[Scenario] = []
    while len(drawn) < SCENARIOS:
        names = rng.sample(sorted(levels), rng.choice((0, 1, 1, 2, 2, 3)))
        if not {"arrival_rate_per_s", "think_time_ms"} <= set(names):
            sessions = rng.choice((1, 2, 3, 8, 16, 33, 64, 128))
            drawn.append(Scenario(sessions, **{name: levels[name]() for name in names}))
    return drawn


def calibrated_of(point: Costs) -> RunCosts:
    """A calibration with two replicates and four measured settings."""
    replicates = tuple(
        replace(
            point,
            transaction_cpu_s=tuple((count, more * cost) for count, cost in point.transaction_cpu_s),
            flush_s=tuple(value / more for value in point.flush_s),
        )
        for more in (0.9, 1.13)
    )
    settings = (Scenario(1), Scenario(8), Scenario(32, rows_per_commit=32), Scenario(8, commit_delay_us=200))
    measured = {str(place): Measured(one, point.loop, {}) for place, one in enumerate(settings)}
    return RunCosts(point, replicates, measured, "1")


def of_scenario(calibrated: RunCosts, scenario: Scenario) -> list[Any]:
    """Family, factors beyond what was measured, parameters and quantities; or a text where there are none."""
    point = calibrated.point
    beyond = [
        [item["factor"], item["measured_from"], item["measured_to"]]
        for item in extrapolated(calibrated, scenario)
    ]
    needs = parameters(point, scenario)
    kept = [_plain(getattr(needs, name)) for name in NEEDS]
    try:
        said = simulation(point, scenario, max(4_000, 20 * scenario.sessions))
        quantities: list[Any] = [said.get(name) for name in QUANTITIES]
    except ValueError as error:
        quantities = [str(error)]
    return [family_of(point, scenario), beyond, kept, quantities]


def of_formulas() -> Rows:
    """Published curves, Erlang's formulas, moments and bounds: each with its arguments."""
    rng = random.Random(13)
    rows: Rows = []
    for _ in range(40):
        service, servers = 10 ** rng.uniform(-5, 0), rng.choice((1, 2, 3, 8, 40))
        rate = rng.uniform(0, 1) * servers / service
        offered = rate * service
        queue = open_queue(rate, service, servers)
        share = rng.uniform(0.01, 0.999)
        rows.append(
            [
                service, rate, servers, share, response_time_cpu(service, rate, servers + 0.5),
                response_time_io(service, rate, servers), response_time_single(service, rate / servers),
                erlang_b(servers, offered), erlang_c(servers, offered), queue.utilization,
                queue.response_time, queue.response_time_quantile(share),
                sessions_at_elbow((Station(service, servers), Station(share)), rate),
            ]
        )  # fmt: skip
    return rows


def of_moments() -> Rows:
    """Mean and coefficient of variation of each shape."""
    rng = random.Random(14)
    many = sorted(rng.lognormvariate(-7, 1) for _ in range(50))
    described = (
        ("constant", [3.7e-4]), ("constant", [0.0]), ("exponential", [2.2e-3]), ("gamma", [1.3e-5, 0.5]),
        ("lognormal", [7.1e-4, 1.3]), ("two_valued", [1.1e-4, 2.3e-2, 0.017]), ("quantiles", many),
    )  # fmt: skip
    found = [(Distribution(shape, tuple(values)), shape, values) for shape, values in described]
    return [[shape, values, one.mean_s, one.cv] for one, shape, values in found]


def of_intervals() -> Rows:
    """Prediction intervals: arguments, low end and high end."""
    rng = random.Random(15)
    rows: Rows = []
    for place in range(60):
        point = 0.0 if place == 0 else 10 ** rng.uniform(-3, 5)
        replicates = [point * rng.lognormvariate(0, 0.1) for _ in range(rng.choice((0, 1, 2, 11, 20)))]
        errors = [rng.gauss(0.02, 0.1) for _ in range(rng.choice((0, 1, 5, 8, 9, 10, 23)))]
        level, far = rng.choice((0.9, 0.9, 0.5, 0.8, 0.95, 0.99)), rng.random() < 0.5
        said = prediction_interval(point, replicates, errors, level, far)
        rows.append([point, replicates, errors, level, far, said.low, said.high, said.verified])
    return rows


def of_answers(calibrated: RunCosts) -> Rows:
    """The questions the other way round."""
    asked = Scenario(8, rows_per_commit=4)
    answers = (
        elbow(calibrated, asked), elbow(calibrated, Scenario(8, commit_wait="nowait")),
        keep_p95_under(calibrated, Scenario(16), 40.0), rows_for(calibrated, Scenario(2), 0.8),
    )  # fmt: skip
    return [
        [
            None if one.value is None else [one.value.point, one.value.low, one.value.high],
            dict(one.brings),
            one.refused,
        ]
        for one in answers
    ]


def of_comparisons(calibrated: RunCosts, asked: Scenario) -> Rows:
    """Forecasts of a setting and of what it is in times today's, each with its interval."""
    rng = random.Random(16)
    scores = [
        Score(
            "group commit, simulated",
            family_of(calibrated.point, asked),
            quantity,
            1.0,
            rng.lognormvariate(0, 0.1),
        )
        for quantity in (*list(QUANTITIES)[:6], "throughput_ratio")
        for _ in range(12)
    ]
    today, then = (_outlook(calibrated, one) for one in (Scenario(8), asked))
    return [
        [name, one.point, one.low, one.high, one.verified]
        for found in (predict(then, scores), compare(today, then, scores))
        for name, one in found.items()
    ]


def of_all() -> dict[str, Any]:
    """Everything, by part."""
    scenarios, points = draw_scenarios(), calibrations()
    calibrated = {name: calibrated_of(point) for name, point in points.items()}
    return {
        "calibrations": {name: asdict(point) for name, point in points.items()},
        "scenarios": [_changed(one) for one in scenarios],
        "formulas": of_formulas(),
        "moments": of_moments(),
        "intervals": of_intervals(),
        "answers": {name: of_answers(one) for name, one in calibrated.items()},
        "comparisons": {name: of_comparisons(one, COMPARED) for name, one in calibrated.items()},
        "forecasts": {
            name: [of_scenario(one, scenario) for scenario in scenarios] for name, one in calibrated.items()
        },
    }


def _outlook(calibrated: RunCosts, scenario: Scenario) -> ScenarioForecast:
    def said(calibration: Costs) -> Mapping[str, float]:
        return simulation(calibration, scenario, 4_000)

    again = tuple(said(one) for one in calibrated.replicates)
    far = bool(extrapolated(calibrated, scenario))
    return ScenarioForecast(
        scenario, family_of(calibrated.point, scenario), far, said(calibrated.point), again
    )


def _changed(scenario: Scenario) -> dict[str, Any]:
    usual = Scenario(scenario.sessions)
    names = [field.name for field in fields(Scenario)]
    return {
        name: getattr(scenario, name)
        for name in names
        if name == "sessions" or getattr(scenario, name) != getattr(usual, name)
    }


def _plain(value: Any) -> Any:
    if not isinstance(value, Distribution):
        return value
    # The quantiles are those of the calibration.
    return value.shape if value.shape == "quantiles" else list(value.values)


def _lines(rows: Sequence[Any]) -> str:
    return ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)


def as_text(found: Mapping[str, Any]) -> str:
    """JSON with a line for each row."""
    parts = []
    for name, part in found.items():
        if isinstance(part, list):
            parts.append(f'"{name}":[\n{_lines(part)}\n]')
        else:
            inside = ",\n".join(
                f'"{key}":[\n{_lines(rows)}\n]' if isinstance(rows, list) else f'"{key}":{json.dumps(rows)}'
                for key, rows in part.items()
            )
            parts.append(f'"{name}":{{\n{inside}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    FILE.write_text(as_text(of_all()))

"""Response times of the settings at one workload, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.report.tables import cells, wording
from redolab.report.tables.cells import Cell, Results, ShownColumn, ShownTable

_TOO_MUCH = "above its capacity"


def has_equal_workload(results: Results) -> bool:
    """Whether the run's settings can be compared at one rate."""
    return bool((results.get("curve") or {}).get("equal_workload"))


def equal_workload(results: Results) -> ShownTable:
    """R of each setting at its own rate, and at the baseline's by the published curve and by the forecast."""
    same = results["curve"]["equal_workload"]
    unit = cells.time_unit(results)
    forecasts = same.get("forecasts")
    rate = cells.number(same["rate_per_s"])
    columns = [
        ShownColumn("Setting", align="left"),
        ShownColumn(f"Own {wording.units(results)}", "per s"),
        ShownColumn("R measured at its own rate", unit.name),
        ShownColumn(f"R by the published curve at {rate} per s", unit.name),
        *([ShownColumn(f"R by the forecast at {rate} per s", unit.name)] if forecasts else []),
    ]
    rows = [
        [
            Cell(item["setting"]),
            Cell(cells.number(item["own_rate_per_s"])),
            Cell(cells.number(unit.of(item["measured_ms"]))),
            Cell(item["published_refused"] or cells.number(unit.of(item["published_ms"]))),
            *([_forecast(forecasts.get(item["setting"]), unit)] if forecasts else []),
        ]
        for item in same["settings"]
    ]
    note = (
        f"Work arrives at the rate of {same['baseline']}, however fast it is done, so a faster setting is "
        "less busy at this rate than in its own loop."
    )
    if not forecasts:
        note += (
            " A forecast needs the costs of a commit, which this run does not have. redolab run calibrate "
            "measures these costs."
        )
    return ShownTable("equal-workload", "Response time at equal workload", columns, rows, note)


def _forecast(forecast: Mapping[str, Any] | None, unit: cells.TimeUnit) -> Cell:
    if forecast is None:
        return Cell(cells.NOT_AVAILABLE)
    return Cell(_TOO_MUCH) if forecast["refused"] else cells.estimate(forecast, unit.per_ms)

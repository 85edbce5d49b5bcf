"""Forecasts are, to twelve digits, what they were before there was one implementation for Python and page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from redolab.forecast.costs.costs import Costs, Scenario
from tests.golden import forecast_cases as cases

STORED: dict[str, Any] = json.loads(cases.FILE.read_text())
POINTS = cases.calibrations()


def differences(found: Any, stored: Any, place: str = "") -> Iterator[str]:
    """Where two trees of figures and words are not the same."""
    if isinstance(found, list | tuple) and isinstance(stored, list) and len(found) == len(stored):
        for number, (one, other) in enumerate(zip(found, stored, strict=True)):
            yield from differences(one, other, f"{place}/{number}")
    elif isinstance(found, dict) and isinstance(stored, dict) and found.keys() == stored.keys():
        for name, one in found.items():
            yield from differences(one, stored[name], f"{place}/{name}")
    elif isinstance(found, float) and isinstance(stored, int | float):
        if not math.isclose(found, stored, rel_tol=1e-12):
            yield f"{place}: {found!r} instead of {stored!r}"
    elif found != stored:
        yield f"{place}: {found!r} instead of {stored!r}"


def test_the_calibrations_and_settings_are_those_whose_forecasts_are_stored() -> None:
    assert {name: _calibration(costs) for name, costs in STORED["calibrations"].items()} == POINTS
    assert len(STORED["scenarios"]) == cases.SCENARIOS
    assert cases.draw_scenarios() == [Scenario(**changes) for changes in STORED["scenarios"]]


@pytest.mark.parametrize("name", POINTS)
def test_forecasts_are_what_they_were(name: str) -> None:
    calibrated = cases.calibrated_of(POINTS[name])
    found = [cases.of_scenario(calibrated, Scenario(**changes)) for changes in STORED["scenarios"]]
    assert list(differences(found, STORED["forecasts"][name])) == []


@pytest.mark.parametrize("name", POINTS)
def test_intervals_and_answers_are_what_they_were(name: str) -> None:
    calibrated = cases.calibrated_of(POINTS[name])
    comparisons = cases.of_comparisons(calibrated, cases.COMPARED)
    assert list(differences(comparisons, STORED["comparisons"][name])) == []
    assert list(differences(cases.of_answers(calibrated), STORED["answers"][name])) == []


def test_formulas_are_what_they_were() -> None:
    assert list(differences(cases.of_formulas(), STORED["formulas"])) == []
    assert list(differences(cases.of_moments(), STORED["moments"])) == []
    assert list(differences(cases.of_intervals(), STORED["intervals"])) == []


def test_a_difference_is_seen() -> None:
    assert list(differences([1.0, {"a": 2.0}], [1.0, {"a": 2.0 + 1e-11}])) == [
        "/1/a: 2.0 instead of 2.00000000001"
    ]
    assert len(list(differences([1, 2.0, "a", None], [1, 2, "b", 0.0]))) == 2
    assert list(differences([1.0], [1.0, 2.0])) != []


def _calibration(costs: dict[str, Any]) -> Costs:
    def frozen(value: Any) -> Any:
        return tuple(frozen(one) for one in value) if isinstance(value, list) else value

    return Costs(**{field.name: frozen(costs[field.name]) for field in fields(Costs) if field.name in costs})

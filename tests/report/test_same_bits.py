"""The page's WebAssembly, in a browser, forecasts what Python's module does: every number, every bit."""

from __future__ import annotations

import base64
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page

from redolab import _core
from redolab.forecast.costs.costs import FACTORS, Costs, Scenario, SecondCosts
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.explored import explored
from redolab.forecast.models.scenario_forecast import (
    ScenarioForecast,
    compare,
    forecast_with_replicates,
    predict,
)
from redolab.forecast.track_record import Predicted, families_of, family_of, shipped_record
from redolab.model.erlang import NoSteadyStateError, open_queue
from redolab.model.queueing import response_time_cpu, response_time_io
from redolab.report.page import html
from tests.forecasts import make_scores
from tests.golden.forecast_cases import calibrated_of, calibrations, draw_scenarios

SETTINGS = int(os.environ.get("REDOLAB_FORECASTS", "6"))
"""Settings of each calibration that are compared."""
RECORD = shipped_record()[0]
WORDS = ("nowait", "wait", "redo", "binlog")
WASM = Path(html.__file__).with_name("assets") / "explore.wasm"

_MODULE = """async ({ wasm, costs }) => {
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const made = await WebAssembly.instantiate(bytes(wasm), { env: { wanted: () => 1 } });
  const it = made.instance.exports;
  const give = (numbers) => {
    // Asking for room may move the memory.
    const at = it.input(numbers.length);
    new Float64Array(it.memory.buffer, at, numbers.length).set(numbers);
  };
  const numbers = () => [...new Float64Array(it.memory.buffer, it.output(), it.output_count())].map(String);
  const text = () =>
    new TextDecoder().decode(new Uint8Array(it.memory.buffer, it.text(), it.text_count()));
  give(new Float64Array(bytes(costs).buffer));
  if (it.read_costs() !== 0) throw new Error(text());
  const replicates = Number(numbers()[0]);
  const outlook = (slot, setting) => {
    give(setting.map((value) => (value === null ? NaN : value)));
    if (it.begin(slot, 0) !== 0) return { refused: text() };
    const begun = { point: numbers(), family: text() };
    for (let one = 0; one < replicates; one += 1) if (it.replicate(slot, one) !== 0) throw new Error(text());
    it.intervals(slot);
    return { ...begun, said: numbers() };
  };
  window.module = { it, outlook, text, numbers };
}"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


def as_numbers(scenario: Scenario) -> list[float | None]:
    values = [getattr(scenario, factor) for factor in FACTORS]
    return [float(WORDS.index(value)) if isinstance(value, str) else value for value in values]


def number(text: str) -> float | None:
    value = float(text)
    return None if math.isnan(value) else value


def told(calibrated: RunCosts, asked: Scenario) -> ScenarioForecast | str:
    """The forecast, or why there is none."""
    try:
        return forecast_with_replicates(calibrated, asked)
    except NoSteadyStateError as error:
        return str(error)


def ends(one: Predicted | None) -> list[float | None]:
    return [None] * 3 if one is None else [one.point, one.low, one.high]


def points() -> Mapping[str, Costs]:
    """The golden costs, some of a server with two logs, and some that were only seen."""
    golden = calibrations()
    client = golden["client"]
    second = SecondCosts(
        1.1 * client.flush_cpu_s, tuple(0.7 * value for value in client.flush_s), late_s=30e-6
    )
    own = replace(second, own_device=True, in_groups=True)
    apart = replace(client, handed_on=True, second=own, system="MySQL, client, two logs")
    return {
        **golden,
        "one device": replace(client, handed_on=True, second=second, system="MariaDB, client, two logs"),
        "two devices": apart,
        "seen": replace(client, only_seen=True, system="PostgreSQL, seen"),
        "two logs seen": replace(
            apart, only_seen=True, system="MySQL, two logs, seen", measured_system=apart.system
        ),
    }


def scenarios(point: Costs) -> list[Scenario]:
    """What is asked of some costs."""
    drawn = draw_scenarios()[:SETTINGS]
    alone = [Scenario(8, commit_wait="redo"), Scenario(16, commit_wait="binlog", rows_per_commit=4)]
    # Such a server has no pause where commits do not wait for both logs.
    paused = [one for one in drawn if one.commit_wait == "wait" or not one.commit_delay_us]
    return drawn if point.second is None else [*alone, *paused]


@pytest.mark.parametrize("name", points())
def test_forecasts_are_the_same(page: Page, name: str) -> None:
    calibrated = calibrated_of(points()[name])
    # Of a system that was never checked there is nothing in the record; here it was, of one family.
    checked = family_of(calibrated.point, Scenario(8, commit_wait="redo"))
    record = (*RECORD, *make_scores(checked, "throughput_per_s", (0.05, -0.03)))
    if calibrated.point.only_seen:
        # The wider of two records counts: for commits that wait for one log that of costs that were measured.
        measured = families_of(calibrated.point, Scenario(8, commit_wait="redo"))[1]
        record = (*record, *make_scores(measured, "throughput_per_s", (0.5, -0.3)))
    numbers = explored(calibrated, name, "embedded", record).numbers
    packed = {
        "wasm": base64.b64encode(WASM.read_bytes()).decode(),
        "costs": base64.b64encode(numbers).decode(),
    }
    page.evaluate(_MODULE, packed)
    scenario = calibrated.measured[calibrated.today].scenario
    today = forecast_with_replicates(calibrated, scenario)
    page.evaluate("(setting) => { module.outlook(0, setting); }", as_numbers(scenario))
    for asked in scenarios(calibrated.point):
        found: dict[str, Any] = page.evaluate("(setting) => module.outlook(1, setting)", as_numbers(asked))
        own = told(calibrated, asked)
        if isinstance(own, str):
            assert found == {"refused": own}, asked
            continue
        assert found["family"] == own.family.partition(" (")[0]
        predicted, ratios = predict(own, record), compare(today, own, record)
        lost, *said = (number(text) for text in found["said"])
        assert lost == sum(not one for one in own.replicates)
        for place, quantity in enumerate(_core.FORECAST):
            assert number(found["point"][place]) == own.point.get(quantity), (quantity, asked)
            one, ratio = predicted.get(quantity), ratios.get(quantity)
            expected = [*ends(one), 0 if one is None else one.verified, *ends(ratio)]
            assert said[7 * place : 7 * place + 7] == expected, (quantity, asked)


def test_formulas_are_the_same(page: Page) -> None:
    page.evaluate(_MODULE, {"wasm": base64.b64encode(WASM.read_bytes()).decode(), "costs": _any_costs()})
    ask = "([kind, service, rate, servers]) => String(module.it.response_time(kind, service, rate, servers))"
    for share in (0.01, 0.5, 0.93, 0.999):
        service, servers = 0.0037, 3
        rate = share * servers / service
        for kind, expected in (
            (0, response_time_cpu(service, rate, servers)),
            (1, response_time_io(service, rate, servers)),
            (2, open_queue(rate, service, servers).response_time),
        ):
            assert float(page.evaluate(ask, [kind, service, rate, servers])) == expected
    assert page.evaluate(ask, [0, 1.0, 5.0, 2.0]) == "NaN"


def test_damaged_numbers_are_refused(page: Page) -> None:
    wasm = base64.b64encode(WASM.read_bytes()).decode()
    for numbers, why in ((b"", "they end too early"), (bytes(8), "the page has no costs")):
        with pytest.raises(Error, match=why):
            page.evaluate(_MODULE, {"wasm": wasm, "costs": base64.b64encode(numbers).decode()})


def _any_costs() -> str:
    calibrated = calibrated_of(calibrations()["server"])
    return base64.b64encode(explored(calibrated, "any", "embedded", RECORD).numbers).decode()

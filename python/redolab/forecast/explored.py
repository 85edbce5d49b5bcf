"""The starting point of a page's explorer: costs as numbers, today's setting, and a sweep for pages without
it.

The explorer asks the crate redolab-forecast, as `redolab forecast` does, with the same costs and the same
record of earlier forecasts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

from redolab import _core
from redolab._core import SimulationTooLongError
from redolab.analysis.statements.labels import label_of, labels
from redolab.dialect.known import dialect_of
from redolab.forecast.costs.costs import FACTORS, Scenario
from redolab.forecast.costs.of_run import costs_of
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models.scenario_forecast import (
    MODEL,
    measured_of,
    point_forecast,
    predict,
)
from redolab.forecast.track_record import Predicted, Score, systems_of
from redolab.model.erlang import NoSteadyStateError
from redolab.records.run import Run
from redolab.records.servers import baseline_server

_FEWEST_TO = 64
"""The sweep goes at least to so many sessions, and to twice the most that were measured."""
_MOST = 512
WITHOUT = "Forecast response times do not include waits that are neither CPU time nor the log."


@dataclass(frozen=True)
class Swept:
    """A level of the sweep."""

    scenario: Scenario
    forecast: Mapping[str, Predicted]
    """With intervals from the record alone; nothing where there is no steady state."""


@dataclass(frozen=True)
class Explored:
    """A run's costs, for the explorer of a page."""

    numbers: bytes
    """Numbers that the crate redolab-explore reads: costs, measured settings, and the record."""
    run: str
    loop: str
    cpus: int
    row_known: bool
    """Whether the cost of a row is known, so that several rows per commit can be forecast."""
    device_ms: float
    """Mean time of a flush as it was measured, in milliseconds."""
    least_device_ms: float
    """The quickest flush that was measured."""
    only_seen: bool
    """Whether the costs were solved from what was seen of a server at work."""
    longest_loss_s: float | None
    """How much time's commits may be lost under nowait; None where that is not known."""
    system: str
    """The measured system, where a forecast's family names it."""
    cautions: Sequence[str]
    """Assumptions about the costs, in sentences."""
    setting: str
    """Today's setting in words."""
    today: Scenario
    measured: Sequence[Mapping[str, Any]]
    """Levels and quantities of every setting that was measured and can be forecast."""
    sweep: Sequence[Swept]
    """Today's setting with other numbers of sessions."""

    def as_json(self) -> dict[str, Any]:
        """All of it but the numbers and the sweep; plain JSON types only."""
        return {
            "run": self.run,
            "loop": self.loop,
            "cpus": self.cpus,
            "row_known": self.row_known,
            "device_ms": self.device_ms,
            "least_device_ms": self.least_device_ms,
            "longest_loss_s": self.longest_loss_s,
            "system": self.system,
            "cautions": list(self.cautions),
            "setting": self.setting,
            "today": asdict(self.today),
            "measured": [dict(item) for item in self.measured],
            "factors": list(FACTORS),
            "quantities": list(_core.FORECAST),
            "level": _core.LEVEL,
        }


def of_run(run: Run, name: str, record: Sequence[Score]) -> Explored:
    """The starting point of a run's explorer.

    Args:
        run: any run of commits with costs.
        name: how the run is called in commands.
        record: every forecast that was verified before.

    Raises:
        NoCostsError: the run does not have the costs of a commit, a row and a flush.
    """
    engine = str(baseline_server(run.manifest)["name"])
    return explored(costs_of(run), name, engine, record, labels(run.manifest["settings"]))


def explored(
    calibrated: RunCosts,
    name: str,
    engine: str,
    record: Sequence[Score],
    labelled: Mapping[str, str] = MappingProxyType({}),
) -> Explored:
    """The starting point of an explorer.

    Args:
        calibrated: a run's costs.
        name: how the run is called in commands.
        engine: what it was measured on.
        record: every forecast that was verified before.
        labelled: the settings' labels, where their names are keys.
    """

    def shown(setting: str, scenario: Scenario) -> str:
        text = labelled.get(setting, setting)
        return label_of(setting, _levels(scenario)) if text == setting else text

    point = calibrated.point
    today = calibrated.measured[calibrated.today].scenario
    scenarios = [item.scenario for item in calibrated.measured.values()]
    return Explored(
        numbers=_core.explorer_numbers(
            [point, *calibrated.replicates],
            scenarios,
            [list(_errors(record, system)) for system in systems_of(point)],
        ),
        run=name,
        loop=point.loop,
        cpus=point.cpus,
        row_known=point.row_known,
        device_ms=1e3 * (point.flush_mean_s + point.flush_cpu_s),
        least_device_ms=point.least_device_ms,
        only_seen=point.only_seen,
        longest_loss_s=_longest_loss_s(engine),
        system=point.system,
        cautions=(*calibrated.cautions, *((WITHOUT,) if calibrated.other_s else ())),
        setting=shown(calibrated.today, today),
        today=today,
        measured=[
            {
                "setting": shown(setting, item.scenario),
                "levels": asdict(item.scenario),
                "quantities": quantities,
            }
            for setting, item in calibrated.measured.items()
            if (quantities := measured_of(calibrated, item.scenario))
        ],
        sweep=[_swept(calibrated, scenario, record) for scenario in _sweep(today, scenarios)],
    )


def _levels(scenario: Scenario) -> dict[str, str]:
    """The levels that make the name of a calibration's setting."""
    return {
        "sessions": str(scenario.sessions),
        "rows_per_commit": str(scenario.rows_per_commit),
        "commit_wait": scenario.commit_wait,
    }


def _errors(record: Sequence[Score], system: str) -> Iterator[tuple[str, str, list[float]]]:
    """The model's errors on one system by family and quantity, in the order of the record.

    The explorer has a record for each system, so families are without its name there.
    """
    from redolab.forecast.track_record import log_ratios, without_system

    scores = [score for score in record if score.model == MODEL]
    for family, quantity in dict.fromkeys((score.family, score.quantity) for score in scores):
        plain = without_system(family, system)
        if plain is not None:
            yield plain, quantity, list(log_ratios(scores, MODEL, family, quantity))


def _longest_loss_s(engine: str) -> float | None:
    """Under the delay of the WAL writer with which `nowait` is forecast."""
    losses = dialect_of(engine).losses
    delay = f"{1e3 * _core.WAL_WRITER_DELAY_S:.0f}ms"
    nowait = {"synchronous_commit": "off", "wal_writer_delay": delay}
    found = () if losses is None else losses(nowait)
    return next((loss.window_s for loss in found if loss.crash == "server"), None)


def _sweep(today: Scenario, measured: Sequence[Scenario]) -> Iterator[Scenario]:
    """Today's setting with numbers of sessions that double, as loops."""
    most = min(max(_FEWEST_TO, 2 * max(item.sessions for item in measured)), _MOST)
    numbers = {2**power for power in range(most.bit_length()) if 2**power <= most} | {today.sessions}
    for sessions in sorted(numbers):
        yield replace(today, sessions=sessions, arrival_rate_per_s=None)


def _swept(calibrated: RunCosts, scenario: Scenario, record: Sequence[Score]) -> Swept:
    try:
        return Swept(scenario, predict(point_forecast(calibrated, scenario), record))
    except (NoSteadyStateError, SimulationTooLongError):
        return Swept(scenario, {})

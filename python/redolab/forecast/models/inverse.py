"""Questions the other way round: which value of a factor gives a wanted result.

The crate redolab-forecast simulates the model again and again while it halves an interval of values. The same
is done with every resampled calibration, and the middle 90 % of those answers are the answer's interval. It
holds what the calibration leaves open, and not the model's own error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from redolab import _core
from redolab._core import NoAnswerError
from redolab.forecast.costs.costs import Costs, Scenario
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models.scenario_forecast import extrapolated, of_replicates
from redolab.forecast.track_record import LEVEL
from redolab.stats.estimates import Estimate
from redolab.units import duration

__all__ = ["ELBOW", "Answer", "NoAnswerError", "elbow", "keep_p95_under", "rows_for"]

ELBOW = _core.ELBOW
"""The part of the best throughput that is enough."""
OF_OTHER_WAITS = (
    "{other} of a transaction's mean time are waits that are neither CPU time nor the log; their "
    "distribution is not known, so the 95th percentile of the response time is not known"
)


@dataclass(frozen=True)
class Answer:
    """A value of a factor, or why there is none."""

    question: str
    """`elbow`, `keep_p95_under` or `rows_for`."""
    wanted: float
    """The share of the best throughput or of the benefit, or the milliseconds."""
    factor: str
    value: Estimate | None
    refused: str = ""
    brings: Mapping[str, float] = field(default_factory=dict)
    """Figures that belong to the answer, by name."""
    extrapolated: Sequence[Mapping[str, Any]] = ()
    """Factors outside of what was measured, with the answer in force."""

    def as_json(self) -> dict[str, Any]:
        """The answer as the results object has it."""
        return {
            "question": self.question,
            "wanted": self.wanted,
            "factor": self.factor,
            "value": None if self.value is None else self.value.as_json(),
            "brings": dict(self.brings),
            "extrapolated": [dict(item) for item in self.extrapolated],
            "refused": self.refused or None,
        }


def elbow(calibrated: RunCosts, scenario: Scenario) -> Answer:
    """The fewest sessions that give 95 % of the best throughput that any number of them gives.

    They loop: arrivals are left out. The answer also has `bounds_elbow`, where the asymptotic bounds of
    throughput meet when every commit has a flush of its own: group commit goes far beyond it.
    """
    looping = replace(scenario, arrival_rate_per_s=None)
    bounds = _core.bounds_elbow(calibrated.point, looping)
    try:
        found = _core.elbow(calibrated.point, looping)
    except NoAnswerError as error:
        return Answer("elbow", ELBOW, "sessions", None, str(error), {"bounds_elbow": bounds})
    point, throughput_per_s, best, best_throughput_per_s = found
    brings = {
        "throughput_per_s": throughput_per_s,
        "best_sessions": float(best),
        "best_throughput_per_s": best_throughput_per_s,
        "bounds_elbow": bounds,
    }
    again = of_replicates(calibrated, lambda item: _core.elbow_near(item, looping, found))
    return Answer(
        "elbow", ELBOW, "sessions", _estimate(point, again), "", brings,
        extrapolated(calibrated, replace(looping, sessions=point)),
    )  # fmt: skip


def keep_p95_under(calibrated: RunCosts, scenario: Scenario, limit_ms: float) -> Answer:
    """The largest arrival rate at which 95 % of the transactions end within `limit_ms` of their arrival.

    Arrivals are random (Poisson); the scenario's sessions are there for them, and do not think.
    """
    open_load = replace(scenario, think_time_ms=0.0, arrival_rate_per_s=None)
    question, factor = "keep_p95_under", "arrival_rate_per_s"
    if other_ms := calibrated.other_ms(scenario):
        return Answer(question, limit_ms, factor, None, OF_OTHER_WAITS.format(other=duration(other_ms / 1e3)))

    def largest(calibration: Costs) -> float:
        return _core.largest_arrival_rate(calibration, open_load, limit_ms, again=True)[0]

    try:
        point, p95_ms, looping_throughput_per_s = _core.largest_arrival_rate(
            calibrated.point, open_load, limit_ms, again=False
        )
    except NoAnswerError as error:
        return Answer(question, limit_ms, factor, None, str(error))
    brings = {
        "response_time_ms_p95": p95_ms,
        "looping_throughput_per_s": looping_throughput_per_s,
    }
    again = of_replicates(calibrated, _or_none(largest))
    return Answer(
        question, limit_ms, factor, _estimate(point, again), "", brings,
        extrapolated(calibrated, replace(open_load, arrival_rate_per_s=point)),
    )  # fmt: skip


def rows_for(calibrated: RunCosts, scenario: Scenario, share: float) -> Answer:
    """The fewest rows per commit that save `share` (0 to 1) of the time per row that very many save.

    Very many are 4,096, compared with one. Sessions loop: arrivals are left out.

    Raises:
        ValueError: the share is not between 0 and 1, or the run does not know the cost of a row.
    """
    looping = replace(scenario, arrival_rate_per_s=None)
    question, factor = "rows_for", "rows_per_commit"

    def fewest(calibration: Costs) -> int:
        return _core.fewest_rows(calibration, looping, share, again=True)[0]

    try:
        point, *rows_per_s = _core.fewest_rows(calibrated.point, looping, share, again=False)
    except NoAnswerError as error:
        return Answer(question, share, factor, None, str(error))
    names = ("rows_per_s", "rows_per_s_of_one", "rows_per_s_of_many")
    again = of_replicates(calibrated, _or_none(fewest))
    return Answer(
        question, share, factor, _estimate(point, again), "", dict(zip(names, rows_per_s, strict=True)),
        extrapolated(calibrated, replace(looping, rows_per_commit=point)),
    )  # fmt: skip


def _or_none(answer: Callable[[Costs], float]) -> Callable[[Costs], float | None]:
    """The same, with None for what has no answer."""

    def asked(calibration: Costs) -> float | None:
        try:
            return answer(calibration)
        except NoAnswerError:
            return None

    return asked


def _estimate(point: float, replicates: Sequence[float | None]) -> Estimate:
    """The middle of the answers that there are; what a replicate could not answer is left out."""
    known = [value for value in replicates if value is not None]
    ends = _core.answer_interval(point, known)
    if ends is None:
        return Estimate(float(point), None, None, LEVEL)
    return Estimate(float(point), *ends, LEVEL)

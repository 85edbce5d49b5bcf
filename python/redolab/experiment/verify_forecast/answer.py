"""The answer of verify-forecast: the errors of the forecasts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from types import MappingProxyType
from typing import Any

from redolab import units
from redolab.analysis.compared import Compared
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict, joined
from redolab.errors import UsageError
from redolab.forecast.checks.checked import Checked, Scoring, score_run, tables
from redolab.forecast.models.quantities import RATIOS
from redolab.records.run import Run

_MOVED = 0.1
"""Largest change of throughput of today's setting, measured again, without a warning."""


def analyse(run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a verify-forecast run, finished or not; plain JSON types only.

    Args:
        run: the stored run.
        compared: the same, compared.

    Raises:
        UsageError: its sealed forecast is gone or cannot be read.
    """
    scoring = score_run(run)
    if scoring is None:
        raise UsageError(f"The run {run.path} has no sealed forecast, so it cannot have checked a forecast.")
    found = results(
        compared,
        _verdict(compared, scoring, compared.labels),
        tables=tables(scoring, compared.labels),
        warnings=_warnings(scoring),
    )
    return {**found, "forecast": scoring.as_json()}


def _warnings(scoring: Scoring) -> list[str]:
    moved = scoring.moved
    if moved is None or abs(moved - 1) <= _MOVED:
        return []
    return [
        f"Today's setting, measured again, had {units.significant(moved)} times the throughput that it had "
        "in the run of the forecast. The server or the machine has changed since, and the forecast's errors "
        "include that change: calibrate anew to judge the model alone."
    ]


def _verdict(
    compared: Compared, scoring: Scoring, labels: Mapping[str, str] = MappingProxyType({})
) -> Verdict:
    """The errors of the changes, or of throughput where an old forecast has no changes; those inside."""
    own = [item for item in scoring.checked if item.score.model == scoring.model]
    if not own:
        text = (
            "The sealed forecast was not compared with a measurement, because the run that was to check it "
            "did not finish. Run the check again."
        )
        return Verdict(text, "undecided", compared.baseline, None, "unscored")
    rates = [item for item in own if item.score.quantity == "throughput_per_s"]
    changes = [item for item in own if item.score.quantity == RATIOS["throughput_per_s"]]
    inside = sum(item.score.inside is True for item in own)
    judged = changes or rates
    hit = all(item.score.inside for item in judged)
    if len(rates) > 1:
        of_what = "changes of throughput" if changes else "throughput"
        sentences = _several(judged, hit, of_what, labels)
    else:
        of_one = _absolute if changes else _one
        sentences = [*(_change(changes[0]) if changes else ()), *of_one(rates[0], labels)]
    sentences.append(f"{inside} of {len(own)} forecast quantities were measured inside their intervals.")
    if min(item.verified for item in own) == 0:
        sentences.append(
            "A forecast of this kind was never checked before, so its intervals were assumptions."
        )
    return Verdict(
        joined(sentences),
        "equivalent" if hit else "worse",
        compared.baseline,
        None,
        "inside" if hit else "outside",
    )


def _change(change: Checked) -> list[str]:
    measured, said = change.measured, change.forecast
    return [
        f"{_advice(change)}: throughput became {measured.text()} times today's.",
        f"For throughput, the forecast was {units.with_interval(said.point, said.low, said.high, ' times')}.",
    ]


def _absolute(rate: Checked, labels: Mapping[str, str]) -> list[str]:
    return [
        f"In commits per second, the forecast was off by {units.change(1 + rate.error)}{_around(rate)}.",
        _did(rate, labels),
    ]


def _one(rate: Checked, labels: Mapping[str, str]) -> list[str]:
    where = "inside" if rate.score.inside else "outside"
    off = f"throughput was off by {units.change(1 + rate.error)}{_around(rate)}, {where} of its interval."
    return [f"{_advice(rate)}: {off}", _did(rate, labels)]


def _advice(item: Checked) -> str:
    return "You may trust this forecast" if item.score.inside else "Calibrate anew before you trust it"


def _did(rate: Checked, labels: Mapping[str, str]) -> str:
    forecast, observed = units.significant(rate.score.forecast), units.significant(rate.score.observed)
    setting = labels.get(rate.setting, rate.setting)
    return f"{setting}: {forecast} commits per second were forecast, and {observed} were measured."


def _around(rate: Checked) -> str:
    """The errors that the interval allowed."""
    low, high, said = rate.score.low, rate.score.high, rate.score.forecast
    if not low or not high:
        return ""
    least, most = units.changes(said / high, said / low)
    return f" ({least} to {most} was allowed)"


def _several(judged: Sequence[Checked], hit: bool, of_what: str, labels: Mapping[str, str]) -> list[str]:
    inside = sum(item.score.inside is True for item in judged)
    most = max(judged, key=lambda item: abs(item.error))
    off = median(abs(item.error) for item in judged)
    advice = "You may trust these forecasts" if hit else "Calibrate anew before you trust them"
    return [
        f"{advice}: {inside} of {len(judged)} forecasts of {of_what} were inside their intervals.",
        f"The median error of these forecasts was {100 * off:.1f} %.",
        f"The largest error was {units.change(1 + most.error)} ({labels.get(most.setting, most.setting)}).",
    ]

"""The answer of verify-forecast: how far what was forecast was off."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from redolab import units
from redolab.analysis.compared import Compared
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict, joined
from redolab.errors import UsageError
from redolab.forecast.checks.checked import Checked, Scoring, score_run, tables
from redolab.records.run import Run

_MOVED = 0.1
"""By how much of its throughput today's setting may differ when measured again, before that is said."""


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
        raise UsageError(
            f"{run.path} has no sealed forecast, so there is nothing that it could have checked."
        )
    found = results(
        compared, _verdict(compared, scoring), tables=tables(scoring), warnings=_warnings(scoring)
    )
    return {**found, "forecast": scoring.as_json()}


def _warnings(scoring: Scoring) -> list[str]:
    moved = scoring.moved
    if moved is None or abs(moved - 1) <= _MOVED:
        return []
    return [
        f"Today's setting, measured again, did {units.significant(moved)} times what it did in the run that "
        "the forecast came from. The server or the machine is not what it was then, and the errors contain "
        "that: calibrate anew to judge the model alone."
    ]


def _verdict(compared: Compared, scoring: Scoring) -> Verdict:
    """How far throughput and commit time were off, and what was inside."""
    own = [item for item in scoring.checked if item.score.model == scoring.model]
    if not own:
        text = "Check again: the sealed forecast is unscored. The run that was to check it did not finish."
        return Verdict(text, "undecided", compared.baseline, None, "unscored")
    rates = [item for item in own if item.score.quantity == "throughput_per_s"]
    inside = sum(item.score.inside is True for item in own)
    hit = all(item.score.inside for item in rates)
    sentences = _one(rates[0]) if len(rates) == 1 else _several(rates, hit)
    sentences.append(f"Of {len(own)} quantities {inside} came out inside their intervals.")
    if min(item.verified for item in own) == 0:
        sentences.append("Such a forecast was never checked before, so the intervals were guesses.")
    return Verdict(
        joined(sentences),
        "equivalent" if hit else "worse",
        compared.baseline,
        None,
        "inside" if hit else "outside",
    )


def _one(rate: Checked) -> list[str]:
    advice = "You may trust this forecast" if rate.score.inside else "Calibrate anew before you trust it"
    where = "inside" if rate.score.inside else "outside"
    return [
        f"{advice}: throughput was off by {_percent(rate.error)}{_around(rate)}, {where} of its interval.",
        f"{rate.setting} was forecast to do {units.significant(rate.score.forecast)} commits per second and "
        f"did {units.significant(rate.score.observed)}.",
    ]


def _around(rate: Checked) -> str:
    """The errors that the interval allowed."""
    low, high, said = rate.score.low, rate.score.high, rate.score.forecast
    if not low or not high:
        return ""
    return f" ({_percent(said / high - 1)} to {_percent(said / low - 1)} was allowed)"


def _several(rates: Sequence[Checked], hit: bool) -> list[str]:
    inside = sum(item.score.inside is True for item in rates)
    most = max(rates, key=lambda item: abs(item.error))
    off = median(abs(item.error) for item in rates)
    advice = "You may trust these forecasts" if hit else "Calibrate anew before you trust them"
    return [
        f"{advice}: of {len(rates)} forecasts of throughput {inside} came out inside their intervals.",
        f"They were off by {100 * off:.1f} % in the median.",
        f"The worst was off by {_percent(most.error)} ({most.setting}).",
    ]


def _percent(error: float) -> str:
    return f"{100 * error:+.1f} %".replace("-", "−")

"""verify-forecast: does what was forecast and sealed come true? A forecast's own settings, measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from redolab import units
from redolab.experiment.base import Experiment, Levels, Size, Wish
from redolab.experiment.calibrate.plan import check_load, setting_name
from redolab.forecast.costs.costs import Scenario
from redolab.records.load import Inserts
from redolab.records.store import Run

if TYPE_CHECKING:
    from redolab.analysis.compared import Compared
    from redolab.analysis.verdict import Verdict
    from redolab.forecast.checks.checked import Checked, Scoring

NAME = "verify-forecast"
"""The experiment of every run of `redolab verify-forecast`; `redolab run` does not know it."""
NOT_HERE: Mapping[str, str] = {
    "cpus": "this machine has the CPUs it has",
    "think_time_ms": "the sessions of the check loop without a pause",
}
"""Factors that can be forecast and not checked, and why."""
_MOVED = 0.1
"""By how much of its throughput today's setting may differ when measured again, before that is said."""
_SIZE = Size(blocks=5, seconds=2.0, warmup_s=0.4)


def levels_of(scenarios: Mapping[str, Scenario], device_ms: float | None) -> dict[str, Levels]:
    """Settings to measure, by the names they are given here: their levels joined.

    Commit delay and log device are levels where a setting has them, and then of all; arrivals are a level of
    the settings that have them, the sessions of all others loop.

    Args:
        scenarios: by any key; the keys of the result are the names, in the same order.
        device_ms: flush time of the emulated device under which the others are measured; None for none.
    """
    delays = any(item.commit_delay_us for item in scenarios.values())
    devices = any(item.log_device_ms is not None for item in scenarios.values())
    found: dict[str, Levels] = {}
    for item in scenarios.values():
        levels = {
            "sessions": str(item.sessions),
            "rows_per_commit": str(item.rows_per_commit),
            "commit_wait": item.commit_wait,
        }
        if delays:
            levels["commit_delay_us"] = str(item.commit_delay_us)
        if devices:
            levels["log_device_ms"] = (
                f"{item.log_device_ms if item.log_device_ms is not None else device_ms or 0:g}"
            )
        if item.arrival_rate_per_s is not None:
            levels["arrival_rate_per_s"] = f"{item.arrival_rate_per_s:.12g}"
        found[setting_name(levels)] = levels
    return found


def checking(settings: Mapping[str, Levels], today: str, client: bool) -> Experiment:
    """The experiment that measures a forecast's settings beside today's.

    Args:
        settings: name to levels, today's among them.
        today: the name of today's.
        client: whether the loop runs in a client.
    """

    def load(wish: Wish, chosen: Mapping[str, Levels]) -> Inserts:  # noqa: ARG001
        return check_load(max(int(levels["sessions"]) for levels in chosen.values()), client)

    return Experiment(
        name=NAME,
        question="Does what was forecast come true?",
        unit="commit",
        record="sample",
        needs=frozenset({"inserts", "client_sessions"}),
        options=frozenset(),
        combine=lambda wish: settings,  # noqa: ARG005
        defaults=lambda wish, possible: possible,  # noqa: ARG005
        baseline=lambda chosen: today,  # noqa: ARG005
        quick=_SIZE,
        full=_SIZE,
        null_pair=True,
        load=load,
        analyse=analyse,
    )


def analyse(run: Run) -> dict[str, Any]:
    """The results object of a run that checked a forecast.

    Raises:
        UsageError: its sealed forecast is gone or cannot be read.
    """
    from redolab.analysis.compared import compare_run, results
    from redolab.errors import UsageError
    from redolab.forecast.checks.checked import score_run, tables

    scoring = score_run(run)
    if scoring is None:
        raise UsageError(
            f"{run.path} has no sealed forecast, so there is nothing that it could have checked."
        )
    compared = compare_run(run)
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
    from redolab.analysis.verdict import Verdict

    own = [item for item in scoring.checked if item.score.model == scoring.model]
    if not own:
        text = "The sealed forecast is unscored: the run that was to check it did not finish."
        return Verdict(text, "undecided", compared.baseline, None, "unscored")
    rates = [item for item in own if item.score.quantity == "throughput_per_s"]
    inside = sum(item.score.inside is True for item in own)
    text = _one(rates[0]) if len(rates) == 1 else _several(rates)
    text += f" Of {len(own)} quantities {inside} came out inside their intervals."
    if min(item.verified for item in own) == 0:
        text += " Such a forecast was never checked before, so the intervals were guesses."
    hit = all(item.score.inside for item in rates)
    return Verdict(
        text,
        "equivalent" if hit else "worse",
        compared.baseline,
        None,
        "inside" if hit else "outside",
    )


def _one(rate: Checked) -> str:
    where = "inside" if rate.score.inside else "outside"
    return (
        f"{rate.setting} was forecast to do {units.significant(rate.score.forecast)} commits per second and "
        f"did {units.significant(rate.score.observed)}: the forecast was off by {_percent(rate.error)}, "
        f"{where} of its interval."
    )


def _several(rates: Sequence[Checked]) -> str:
    from statistics import median

    inside = sum(item.score.inside is True for item in rates)
    most = max(rates, key=lambda item: abs(item.error))
    off = median(abs(item.error) for item in rates)
    return (
        f"Of {len(rates)} forecasts of throughput {inside} came out inside their intervals: they were off by "
        f"{100 * off:.1f} % in the median, and by {_percent(most.error)} at the most ({most.setting})."
    )


def _percent(error: float) -> str:
    return f"{100 * error:+.1f} %".replace("-", "−")

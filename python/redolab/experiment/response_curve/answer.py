"""The answer of response-curve: how much may arrive, what it takes there, and how sure the curve is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redolab import units
from redolab.analysis.compared import Compared
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict, joined, rests_on
from redolab.experiment.response_curve.beside import INSIDE, NOT_JUDGED, OUTSIDE, Beside, beside
from redolab.experiment.response_curve.curve import curves
from redolab.experiment.response_curve.figures import figures
from redolab.experiment.response_curve.tables import SOURCE, tables
from redolab.forecast.costs.of_run import costs_or_why
from redolab.records.run import Run

_MEASURED, _NOT_MEASURED = "measured", "not measured"
LITTLE_MARGIN = 0.03
"""Largest error of Little's law in a sample without a warning."""


def analyse(run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a response-curve run, finished or not; plain JSON types only.

    Args:
        run: the stored run.
        compared: the same, compared.
    """
    calibrated, why = costs_or_why(run)
    missing = [f"The points are shown without a forecast. {why[:1].upper()}{why[1:]}"] if why else []
    found = [beside(curve, calibrated, compared.seed) for curve in curves(compared)]
    return results(
        compared,
        _verdict(compared, found),
        tables=tables(found) if found else (),
        figures=figures(found),
        sources=(SOURCE,),
        warnings=[*missing, *_warnings(found)],
    )


def _verdict(compared: Compared, found: Sequence[Beside]) -> Verdict:
    so_far = rests_on(compared.blocks_done, compared.blocks_planned)
    bent = [one for one in found if one.elbow is not None]
    if not bent:
        text = joined(
            [
                "Measure again: at too few arrival rates the server kept up with the load, so there is "
                "no curve.",
                so_far,
            ]
        )
        return Verdict(text, "undecided", compared.baseline, None, _NOT_MEASURED)
    first, *others = bent
    text = joined([*_keep(first), so_far, *_around(first), *map(_other, others)])
    return Verdict(text, "undecided", compared.baseline, None, _MEASURED)


def _keep(one: Beside) -> list[str]:
    """The rate that may arrive, and why."""
    assert one.elbow is not None, "it has one"
    elbow, rate = one.elbow
    capacity = one.curve.capacity_per_s
    keep = f"Let up to {rate.text()} transactions per second arrive at {one.curve.words}"
    why = (
        "Up to this rate, which is the elbow of the curve or less, response time grows slower than the load"
        if elbow.at_end
        else "Beyond this rate, the elbow of the curve, response time grows faster than the load"
    )
    return [
        f"{keep}.",
        f"{why}.",
        f"The elbow is at {rate.scaled(100 / (capacity.point or 1.0)).text(' %')} of capacity.",
        f"Response time (R) at the elbow is {units.duration(1e-3 * elbow.response_ms)}.",
        f"Capacity, what the same sessions do without a pause, is {capacity.text()} commits per second.",
    ]


def _around(one: Beside) -> list[str]:
    """Forecasts of the elbow and of a little less service time, and how certain all of it is."""
    sentences = []
    if one.forecast is not None and one.forecast.elbow is not None and one.elbow is not None:
        simulated = one.forecast.elbow[0]
        rate = units.significant(simulated.rate_per_s)
        sentences.append(f"The forecast puts the elbow at {rate} transactions per second.")
        less = one.forecast.less_service(one.elbow[0].rate_per_s)
        if less is not None:
            times = less[1].text()
            sentences.append(
                "By the forecast, with 5 % less CPU time per transaction response time at the elbow would be "
                f"{times} times as long."
            )
    judged = [text for _, _, text in one.pairs]
    inside, outside = judged.count(INSIDE), judged.count(OUTSIDE)
    if inside + outside:
        sentences.append(
            f"{inside} of {inside + outside} forecasts that were judged have the measured value inside their "
            "interval."
        )
    if NOT_JUDGED in judged:
        number = units.counted(judged.count(NOT_JUDGED), "forecast")
        sentences.append(
            f"Where arrivals keep the CPUs nearly full, Redolab did not judge the forecast ({number})."
        )
    capacity = one.curve.capacity_per_s.point or 0.0
    below = [point for point in one.curve.points if point.asked_per_s < capacity]
    repeats = [(point.repeat, point.share) for point in below if point.repeat is not None]
    if repeats:
        factor, share = max(repeats)
        sentences.append(
            "Repeated samples of the same arrival rate differed in response time by a factor of up to "
            f"{units.significant(factor)} (at {units.percent(share, 0)} of capacity)."
        )
    return sentences


def _other(one: Beside) -> str:
    assert one.elbow is not None, "it has one"
    elbow, rate = one.elbow
    sign = " or beyond" if elbow.at_end else ""
    return f"With {one.curve.words} the elbow is at {rate.text()} transactions per second{sign}."


def _warnings(found: Sequence[Beside]) -> list[str]:
    """Where the client's account and the server's do not agree."""
    warnings = []
    for one in found:
        off = [item for item in one.curve.little if abs(item.off) > LITTLE_MARGIN]
        if off:
            worst = max(off, key=lambda item: abs(item.off))
            warnings.append(
                f"In {len(off)} of {units.counted(len(one.curve.little), 'sample')} of the curve of "
                f"{one.curve.words}, the number of busy sessions by the server's account differs from "
                f"arrival rate times response time (L × R) by more than {units.percent(LITTLE_MARGIN, 0)}, "
                f"at most by {units.percent(worst.off)}. The rest of the response time passes in the client, "
                "or on the way between client and server."
            )
    return warnings

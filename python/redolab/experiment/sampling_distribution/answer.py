"""Every figure of a sampling-distribution run: what the means of groups of drawn values do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from redolab.analysis import envelope
from redolab.analysis.reading import read_draws
from redolab.experiment.sampling_distribution.tables import Coverage, figures, published, tables
from redolab.records.sample import Draw
from redolab.records.store import Run
from redolab.stats.estimates import Estimate, exact_share, mean_estimate
from redolab.stats.normality import normality
from redolab.stats.plus_and_minus import (
    Floats,
    normal_coverage,
    normal_inside,
    plus_and_minus,
    prediction_interval,
    simulated_coverage,
)

Answer = Literal["enough", "not enough", "undecided"]

MARGIN = 0.02
"""Means are normal enough when mean +- 2 sd holds the same part of them to within 2 of 100."""
FEW = 5
"""Means that the published bet was made from."""
BET_LEVEL = 0.9
"""What the bet took two standard deviations of five means for."""
_SIMULATED = 100_000
_COUNTS = (3, 5, 10, 20, 30)
_OUTCOMES: Mapping[Answer, tuple[str, str | None]] = {
    "enough": ("equivalent", "normal enough"),
    "not enough": ("worse", "not normal enough"),
    "undecided": ("undecided", None),
}
"""The outcome, and its words."""


@dataclass(frozen=True)
class Repetition:
    """What one set of values says."""

    means: Floats
    mean: float
    """Of the means."""
    sd: float
    """Of the means."""
    inside: int
    """Means within mean +- 2 sd."""
    means_pvalue: float | None
    """Of the test of normality."""
    values_pvalue: float | None
    two_sd_of_five: float
    """Part of the further means within mean +- 2 sd of the first five."""
    t_of_five: float
    """Part of them within the 90 % prediction interval of the first five."""


@dataclass(frozen=True)
class Found:
    """What all repetitions of one setting say; an estimate's interval is over the repetitions."""

    setting: str
    groups: int
    size: int
    repetitions: int
    spoiled: int
    mean: Estimate
    sd: Estimate
    next_mean: Estimate
    """Where the mean of one further repetition lies in 99 of 100."""
    next_sd: Estimate
    inside: Estimate
    next_inside: Estimate
    inside_share: Estimate
    normal_share: float
    """Part of so many normal means within mean +- 2 sd of themselves."""
    means_rejected: Estimate
    values_rejected: Estimate
    two_sd_of_five: Estimate
    t_of_five: Estimate
    answer: Answer
    means: Sequence[Floats]
    """Of each repetition."""

    def as_json(self) -> dict[str, Any]:
        """The setting as the results object has it."""
        return {
            "groups": self.groups,
            "size": self.size,
            "samples": self.repetitions,
            "spoiled": self.spoiled,
            "mean_of_means": self.mean.as_json(),
            "sd_of_means": self.sd.as_json(),
            "inside": self.inside.as_json(),
            "inside_share": self.inside_share.as_json(),
            "normal_share": self.normal_share,
            "means_rejected": self.means_rejected.as_json(),
            "values_rejected": self.values_rejected.as_json(),
            "two_sd_of_five": self.two_sd_of_five.as_json(),
            "t_of_five": self.t_of_five.as_json(),
            "answer": self.answer,
        }


def analyse(run: Run, verdict: Callable[[Sequence[Found]], str]) -> dict[str, Any]:
    """The results object of a sampling-distribution run, finished or not; plain JSON types only.

    The outcome is `equivalent` when under every setting mean +- 2 sd holds as much of the means as
    of normal ones, to within 2 of 100; `worse` when under one it clearly does not; else `undecided`.

    Args:
        run: the run.
        verdict: the words for what was found, setting by setting.
    """
    manifest = run.manifest
    draws = read_draws(run)
    found = [_found(declared["name"], draws) for declared in manifest["settings"]]
    outcome, outcome_text = _OUTCOMES[_worst(found)]
    covered = [_covered(count, int(manifest["design"]["seed"])) for count in _COUNTS]
    text = verdict(found)
    if manifest["status"] != "finished":
        text = f"The run was not finished. {text}"
    first = next((draw for draw in draws if draw.spoiled is None), None)
    return envelope.heading(run) | {
        "verdict": {
            "text": text,
            "outcome": outcome,
            "outcome_text": outcome_text,
            "baseline": manifest["design"]["baseline"],
            "best": None,
        },
        "settings": [
            {
                "name": declared["name"],
                "levels": dict(declared["levels"]),
                "tier": declared["tier"],
                "tier_text": declared["tier_text"],
                "parameters": dict(declared["parameters"]),
                **item.as_json(),
            }
            for declared, item in zip(manifest["settings"], found, strict=True)
        ],
        "coverage": [item.as_json() for item in covered],
        "tables": [table.as_json() for table in tables(found, covered)],
        "figures": [figure.as_json() for figure in figures(found, covered, first)],
        "published": [finding.as_json() for finding in published(found)],
        "diagnostics": [],
        "timeline": [_timeline(draw) for draw in draws],
        "method": envelope.method(manifest),
        "warnings": [str(text) for text in manifest.get("conditions", ())],
    }


def repetition(draw: Draw) -> Repetition:
    """What one set of values says: its means, their plus and minus, their normality."""
    values = np.asarray(draw.values)
    means = values.reshape(draw.groups, -1).mean(axis=1)
    found = plus_and_minus(means)
    few, further = means[:FEW], means[FEW:]
    bet = plus_and_minus(few)
    return Repetition(
        means=means,
        mean=found.mean,
        sd=found.standard_deviation,
        inside=found.inside,
        means_pvalue=normality(means).pvalue,
        values_pvalue=normality(values).pvalue,
        two_sd_of_five=_part(further, Estimate(bet.mean, bet.low, bet.high)),
        t_of_five=_part(further, prediction_interval(few, BET_LEVEL)),
    )


def _found(setting: str, draws: Sequence[Draw]) -> Found:
    mine = [draw for draw in draws if draw.setting == setting]
    good = [draw for draw in mine if draw.spoiled is None]
    groups, size = (int(part) for part in setting.split("x"))
    done = [repetition(draw) for draw in good]
    share = mean_estimate(item.inside / groups for item in done)
    return Found(
        setting=setting,
        groups=groups,
        size=size,
        repetitions=len(done),
        spoiled=len(mine) - len(good),
        mean=mean_estimate(item.mean for item in done),
        sd=mean_estimate(item.sd for item in done),
        next_mean=prediction_interval([item.mean for item in done], 0.99),
        next_sd=prediction_interval([item.sd for item in done], 0.99),
        inside=mean_estimate(item.inside for item in done),
        next_inside=prediction_interval([item.inside for item in done], 0.99),
        inside_share=share,
        normal_share=normal_inside(groups),
        means_rejected=_rejected([item.means_pvalue for item in done]),
        values_rejected=_rejected([item.values_pvalue for item in done]),
        two_sd_of_five=mean_estimate(item.two_sd_of_five for item in done),
        t_of_five=mean_estimate(item.t_of_five for item in done),
        answer=_answer(share, normal_inside(groups)),
        means=[item.means for item in done],
    )


def _answer(share: Estimate, expected: float) -> Answer:
    if share.low is None or share.high is None:
        return "undecided"
    if expected - MARGIN < share.low and share.high < expected + MARGIN:
        return "enough"
    clear = share.high < expected - MARGIN or share.low > expected + MARGIN
    return "not enough" if clear else "undecided"


def _worst(found: Sequence[Found]) -> Answer:
    answers = {item.answer for item in found}
    order: Sequence[Answer] = ("not enough", "undecided", "enough")
    return next((answer for answer in order if answer in answers), "undecided")


def _timeline(draw: Draw) -> dict[str, Any]:
    return {
        "sample": draw.sample,
        "block": draw.block,
        "position": draw.position,
        "setting": draw.setting,
        "start_s": draw.start_s,
        "elapsed_s": draw.elapsed_s,
        "spoiled": draw.spoiled,
    }


def _rejected(pvalues: Sequence[float | None]) -> Estimate:
    known = [pvalue for pvalue in pvalues if pvalue is not None and math.isfinite(pvalue)]
    return exact_share(sum(pvalue <= 0.05 for pvalue in known), len(known))


def _part(means: Floats, ends: Estimate) -> float:
    low, high = ends.low or 0.0, ends.high or 0.0
    return float(((means >= low) & (means <= high)).mean())


def _covered(count: int, seed: int) -> Coverage:
    return Coverage(
        count=count,
        normal=normal_coverage(count),
        exponential=exact_share(*simulated_coverage(count, 1, "exponential", _SIMULATED, seed)),
        means_of_30=exact_share(*simulated_coverage(count, 30, "exponential", _SIMULATED, seed)),
    )

"""The means of groups of drawn values: their plus and minus, and their normality."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from redolab.records.draw import Draw
from redolab.stats.estimates import Estimate, exact_share, mean_estimate
from redolab.stats.normality import normality
from redolab.stats.plus_and_minus import Floats, normal_inside, plus_and_minus, prediction_interval

Answer = Literal["enough", "not enough", "undecided"]
MARGIN = 0.02
"""Means are normal enough when mean +- 2 sd holds the same part of them to within 2 of 100."""
FEW = 5
"""Means that the published bet was made from."""
BET_LEVEL = 0.9
"""The share that the bet expected two standard deviations of five means to hold."""


@dataclass(frozen=True)
class Repetition:
    """Figures of one set of values."""

    means: Floats
    mean: float
    """Mean of the means."""
    sd: float
    """Standard deviation of the means."""
    inside: int
    """Means within mean +- 2 sd."""
    means_pvalue: float | None
    """p of the test of normality."""
    values_pvalue: float | None
    two_sd_of_five: float
    """Part of the further means within mean +- 2 sd of the first five."""
    t_of_five: float
    """Part of the further means within the 90 % prediction interval of the first five."""


@dataclass(frozen=True)
class SettingMeans:
    """Figures of all repetitions of one setting; an estimate's interval is over the repetitions."""

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
    """Means of each repetition."""

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


def repetition(draw: Draw) -> Repetition:
    """Figures of one set of values: its means, their plus and minus, their normality."""
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


def found_of(setting: str, draws: Sequence[Draw]) -> SettingMeans:
    """Figures of all draws of one setting that count."""
    mine = [draw for draw in draws if draw.setting == setting]
    good = [draw for draw in mine if draw.spoiled is None]
    groups, size = (int(part) for part in setting.split("x"))
    done = [repetition(draw) for draw in good]
    share = mean_estimate(item.inside / groups for item in done)
    return SettingMeans(
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


def _rejected(pvalues: Sequence[float | None]) -> Estimate:
    known = [pvalue for pvalue in pvalues if pvalue is not None and math.isfinite(pvalue)]
    return exact_share(sum(pvalue <= 0.05 for pvalue in known), len(known))


def _part(means: Floats, ends: Estimate) -> float:
    low, high = ends.low or 0.0, ends.high or 0.0
    return float(((means >= low) & (means <= high)).mean())


@dataclass(frozen=True)
class Coverage:
    """How probably the next mean lies within two standard deviations of the mean of so many."""

    count: int
    normal: float
    """Exact, for normal means."""
    exponential: Estimate
    """Simulated, for single exponential values."""
    means_of_30: Estimate
    """Simulated, for means of 30 exponential values."""

    def as_json(self) -> dict[str, Any]:
        """The probabilities as the results object has them."""
        return {
            "count": self.count,
            "normal": self.normal,
            "exponential": self.exponential.as_json(),
            "means_of_30": self.means_of_30.as_json(),
        }

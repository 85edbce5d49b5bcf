"""sampling-distribution: are the means of groups of values normal enough for a plus and minus?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from redolab import units
from redolab.experiment.base import Experiment, Levels, Size, Wish, combinations_of
from redolab.records.load import Draws
from redolab.records.store import Run

if TYPE_CHECKING:
    from redolab.experiment.sampling_distribution.answer import Found
    from redolab.stats.estimates import Estimate

MEAN = 5.0
"""Of the exponential distribution that the values are drawn from, as published."""
_SETTINGS = combinations_of(groups=("10x10", "30x30", "90x90"))
_PUBLISHED = ("30x30", "90x90")
_ANSWERS = {
    "enough": "are normal enough",
    "not enough": "are not normal enough",
    "undecided": "may or may not be normal enough",
}


def _analyse(run: Run) -> dict[str, Any]:
    from redolab.experiment.sampling_distribution.answer import analyse

    return analyse(run, _verdict)


def _verdict(settings: Sequence[Found]) -> str:
    """The answer: of the means, of their normality, of a range from few of them."""
    found = [item for item in settings if item.repetitions]
    if not found:
        return "Nothing was drawn, so nothing can be said."
    sentences = [
        f"Means of {item.size} values {_ANSWERS[item.answer]} for a plus and minus: in "
        f"{item.repetitions:,} repetitions mean ± 2 sd held {_percent(item.inside_share)} of the "
        f"{item.groups} means, and would hold {units.percent(item.normal_share)} of normal ones."
        for item in found
    ]
    rejected = " and ".join(units.percent(item.means_rejected.point or 0.0, 0) for item in found)
    values = " and ".join(
        dict.fromkeys(units.percent(item.values_rejected.point or 0.0, 0) for item in found)
    )
    sentences.append(
        f"Normality was rejected for the means in {rejected} of the repetitions (5 % if they were normal), "
        f"for the values themselves in {values}."
    )
    last = found[-1]
    sentences.append(
        f"A range from five means is another matter: mean ± 2 sd of five held "
        f"{_percent(last.two_sd_of_five)} of further means, Student's 90 % prediction interval "
        f"{_percent(last.t_of_five)}."
    )
    return " ".join(sentences)


def _percent(share: Estimate) -> str:
    if share.point is None:
        return "an unknown part"
    if share.low is None or share.high is None:
        return units.percent(share.point)
    return f"{units.percent(share.point)} ({100 * share.low:.1f} to {100 * share.high:.1f})"


def _possible(wish: Wish) -> Mapping[str, Levels]:  # noqa: ARG001
    return _SETTINGS


def _defaults(wish: Wish, possible: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001
    return _PUBLISHED


def _load(wish: Wish, settings: Mapping[str, Levels]) -> Draws:  # noqa: ARG001
    return Draws("exponential", 1, wish.scope, MEAN)


EXPERIMENT = Experiment(
    name="sampling-distribution",
    question="Are means of groups of values normal enough for a plus and minus, where the values are not?",
    unit="repetition",
    record="draw",
    needs=frozenset({"draws"}),
    options=frozenset(),
    combine=_possible,
    defaults=_defaults,
    baseline=lambda settings: settings[0],
    quick=Size(blocks=100, seconds=0.01, warmup_s=0, units=1),
    full=Size(blocks=400, seconds=0.01, warmup_s=0, units=1),
    null_pair=False,
    load=_load,
    analyse=_analyse,
)

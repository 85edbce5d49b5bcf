"""sampling-distribution: are the means of groups of values normal enough for a plus and minus?"""

from __future__ import annotations

from collections.abc import Mapping

from redolab.experiment.base import Experiment, Levels, Size, Wish, combinations_of
from redolab.records.capability import Capability
from redolab.records.load import Draws

MEAN = 5.0
"""Mean of the exponential distribution that the values are drawn from, as published."""
_SETTINGS = combinations_of(groups=("10x10", "30x30", "90x90"))
_PUBLISHED = ("30x30", "90x90")


class SamplingDistribution(Experiment):
    """Values drawn from an exponential distribution, in groups."""

    name = "sampling-distribution"
    question = "Are means of groups of values normal enough for a plus and minus, where the values are not?"
    unit = "repetition"
    record = "draw"
    needs: frozenset[Capability] = frozenset({"draws"})
    quick = Size(blocks=100, seconds=0.01, warmup_s=0, units=1)
    full = Size(blocks=400, seconds=0.01, warmup_s=0, units=1)
    null_pair = False

    def combine(self, _wish: Wish, /) -> Mapping[str, Levels]:
        """How many groups of how many values."""
        return _SETTINGS

    def defaults(self, _wish: Wish, _possible: tuple[str, ...], /) -> tuple[str, ...]:
        """The published ones."""
        return _PUBLISHED

    def load(self, wish: Wish, _settings: Mapping[str, Levels], /) -> Draws:
        """Exponential values."""
        return Draws("exponential", 1, wish.scope, MEAN)


EXPERIMENT = SamplingDistribution()

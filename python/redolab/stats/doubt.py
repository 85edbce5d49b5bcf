"""What a difference of the baseline from itself could explain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from redolab.stats.blocks import Comparison, NullTest, outcome_of
from redolab.stats.estimates import Estimate


def doubted(comparisons: Sequence[Comparison], null: NullTest, margin: float) -> tuple[Comparison, ...]:
    """Comparisons of a run whose A/A pair differed; as they are where it did not.

    The intervals are widened by the greatest difference that the A/A pair's interval holds, to either side.
    An outcome that does not stand any more is withheld: a ratio of 10 is not doubted because the baseline
    came out 3.5 % faster than itself, and one of 1.03 is.
    """
    if null.passed is not False:
        return tuple(comparisons)
    reach = max((abs(math.log(end)) for end in (null.ratio.low, null.ratio.high) if end), default=math.inf)
    return tuple(_doubted(item, reach, margin) for item in comparisons)


def _doubted(item: Comparison, reach: float, margin: float) -> Comparison:
    wider = replace(item, ratio=_widened(item.ratio, reach), ratio_90=_widened(item.ratio_90, reach))
    detected = item.detected and wider.excludes_equal
    outcome = outcome_of(wider, margin, detected=detected)
    stands = outcome == item.outcome and outcome != "undecided"
    return replace(wider, detected=detected, outcome=outcome if stands else "withheld", blocks_needed=None)


def _widened(ratio: Estimate, reach: float) -> Estimate:
    if ratio.low is None or ratio.high is None or not math.isfinite(reach):
        return replace(ratio, low=None, high=None)
    return replace(ratio, low=ratio.low * math.exp(-reach), high=ratio.high * math.exp(reach))

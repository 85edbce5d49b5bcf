"""Comparisons of a run that ends as soon as it knows enough (`redolab.stats.evidence`).

Intervals and p-values hold however many blocks there are and why there are no more. Outcome and interval come
from the same evidence: a difference is detected where the interval leaves out 1, and nowhere else.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from redolab.stats.blocks import (
    ALPHA,
    POWER,
    BlockValues,
    Comparison,
    Metric,
    NullTest,
    nothing_known,
    null_pairs,
    outcome_of,
    rows_of,
)
from redolab.stats.estimates import MISSING, Estimate, ratio_of
from redolab.stats.evidence import BETS, log_evidence, pvalue, shift_interval
from redolab.stats.families import holm

Floats = npt.NDArray[np.float64]
_LEAST_EFFECT = 1e-3
"""A distance in standard deviations that no run can be long enough for."""
NULL_ALPHA = 0.01
"""Level of the A/A pair's test: one run in a hundred is doubted although nothing is wrong."""


def compare_sequentially(
    blocks: BlockValues, pairs: Sequence[tuple[str, str]], metric: Metric, *, margin: float
) -> tuple[Comparison, ...]:
    """Compare the first setting of each pair with the second on one metric, by the evidence so far.

    Blocks count as in `blocks.compare_pairs`. Holm's adjustment is over all pairs. The level of an interval
    is the one at which Holm tests that pair, and at least 95 %. Equivalence is tested at 5 % over the number
    of pairs.

    Source: S. Holm, Scandinavian Journal of Statistics 6, 1979; D. J. Schuirmann 1987 (two one-sided tests).
    """
    measured = [rows_of(blocks, setting, reference)[0] for setting, reference in pairs]
    differences = [pair_differences(rows) for rows in measured]
    raw = [1.0 if each is None else pvalue(each) for each in differences]
    levels = _levels(raw)
    found = []
    for (setting, reference), rows, logs, own, adjusted, alpha in zip(
        pairs, measured, differences, raw, holm(raw), levels, strict=True
    ):
        nothing = nothing_known(setting, reference, metric, len(rows))
        if logs is None:
            found.append(nothing)
            continue
        item = replace(
            nothing,
            ratio=ratio_of(shift_interval(logs, 1 - alpha)),
            ratio_90=ratio_of(shift_interval(logs, 1 - 2 * ALPHA / len(pairs))),
            pvalue=own,
            pvalue_adjusted=adjusted,
        )
        detected = own <= alpha and item.excludes_equal
        outcome = outcome_of(item, margin, detected=detected)
        needed = blocks_to_find(logs, math.log1p(margin), alpha) if outcome == "undecided" else None
        found.append(replace(item, detected=detected, outcome=outcome, blocks_needed=needed))
    return tuple(found)


def evidence_by_block(blocks: BlockValues, setting: str, reference: str) -> list[float]:
    """The greatest evidence so far that a setting differs from its reference, by block that counts."""
    logs = pair_differences(rows_of(blocks, setting, reference)[0])
    return [] if logs is None else np.exp(np.maximum.accumulate(log_evidence(logs))).tolist()


def watch_null(blocks: BlockValues, baseline: str) -> NullTest:
    """Compare the baseline with itself by the evidence so far: A' against A, at `NULL_ALPHA`.

    Whether it passed is not known while the blocks are too few for any difference to show.
    """
    pairs = null_pairs(blocks, baseline)
    logs = pair_differences([list(pair) for pair in pairs])
    if logs is None or len(pairs) < 2:
        return NullTest(None, None, MISSING, None, len(pairs))
    chance = pvalue(logs)
    ratio = ratio_of(shift_interval(logs, 1 - NULL_ALPHA))
    able = chance <= NULL_ALPHA or ratio.low is not None
    return NullTest(chance > NULL_ALPHA if able else None, chance, ratio, None, len(pairs))


def doubted(comparisons: Sequence[Comparison], null: NullTest, margin: float) -> tuple[Comparison, ...]:
    """Comparisons of a run whose A/A pair differed; as they are where it did not.

    The intervals are widened by the greatest difference that the A/A pair's interval holds, to either side.
    An outcome that does not hold any more is withheld: a ratio of 10 is not doubted because the baseline
    came out 3.5 % faster than itself, and one of 1.03 is.
    """
    reach = allowance(null)
    return tuple(_doubted(item, reach, margin) if reach else item for item in comparisons)


def allowance(null: NullTest) -> float:
    """The log ratio by which every interval of a run is widened, to either side, for its A/A pair.

    It is the greatest difference that the interval of the A/A pair holds, where that pair differed, and
    infinite where that interval is not known; else 0.
    """
    if null.passed is not False:
        return 0.0
    return max((abs(math.log(end)) for end in (null.ratio.low, null.ratio.high) if end), default=math.inf)


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


def pair_differences(rows: Sequence[Sequence[float]]) -> Floats | None:
    """The first value of each block less each other one: a row for each of these, a column for each block."""
    if not rows:
        return None
    treatment, *references = np.array(rows).T
    return np.array([treatment - reference for reference in references])


def _levels(pvalues: Sequence[float]) -> list[float]:
    """The level at which Holm tests each: 5 % over the number of those that it has not rejected yet."""
    levels, tested = [0.0] * len(pvalues), ALPHA / max(len(pvalues), 1)
    rejecting = True
    for place, index in enumerate(sorted(range(len(pvalues)), key=lambda index: pvalues[index])):
        if rejecting:
            tested = ALPHA / (len(pvalues) - place)
            rejecting = pvalues[index] <= tested
        levels[index] = tested
    return levels


def blocks_to_find(logs: Floats, distance: float, alpha: float) -> int:
    """Blocks still missing to rule out a shift at such a distance four times in five, if the noise stays.

    The logarithm of the evidence grows like that of the likelihood ratio of a normal shift: a Brownian motion
    with drift m^2 / 2 and variance m^2 a block, where m is the margin in standard deviations of a block. It
    reaches a line after a time of inverse Gaussian distribution.

    Source: D. Siegmund, Sequential Analysis, 1985, III; SciPy, `invgauss`.
    """
    from scipy import stats

    means, done = logs.mean(axis=0), int(logs.shape[1])
    fewest = next(blocks for blocks in itertools.count(1) if pvalue(np.ones((1, blocks))) <= alpha)
    spread = float(np.std(means, ddof=1)) if done > 1 else 0.0
    if spread == 0:
        return max(1, fewest - done)
    effect = max(distance / spread, _LEAST_EFFECT)
    line = math.log(2 * len(BETS) / alpha)
    mean, shape = 2 * line / effect**2, (line / effect) ** 2
    total = float(stats.invgauss.ppf(POWER, mean / shape, scale=shape))
    return max(1, max(fewest, math.ceil(total)) - done)

"""Is a setting really different from the baseline, and by how much?

Settings are compared inside blocks, where drift and slow noise hit all alike. A p-value comes from
shuffling the labels inside each block, as the design itself did, so it holds whatever the noise is.
The ratio and its interval come from one log ratio per block.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from redolab.stats.estimates import MISSING, Estimate, ratio_estimate
from redolab.stats.families import holm

Floats = npt.NDArray[np.float64]
Metric = Literal["throughput_per_s", "response_time_ms"]
Outcome = Literal["better", "worse", "equivalent", "undecided", "withheld"]
BlockValues = Mapping[int, Mapping[tuple[str, str], float]]
"""Natural logarithm of a metric by block, then by setting and role."""

METRICS: tuple[Metric, ...] = ("throughput_per_s", "response_time_ms")
ALPHA = 0.05
POWER = 0.8
RESAMPLES = 9999


@dataclass(frozen=True)
class Comparison:
    """One setting against the baseline, on one metric."""

    setting: str
    baseline: str
    metric: Metric
    blocks: int
    """Blocks in which both could be used."""
    ratio: Estimate
    """Setting over baseline, 95 % interval."""
    ratio_90: Estimate
    """The ratio with its 90 % interval: inside the margin means equivalent (two one-sided tests at 5 %)."""
    pvalue: float | None
    pvalue_adjusted: float | None
    """p adjusted by Holm over the settings compared on this metric."""
    outcome: Outcome
    detected: bool
    """Whether a difference was found at 5 %, whatever its size."""
    blocks_needed: int | None
    """When undecided: more blocks that would settle a difference of the margin, or the measured difference
    where its interval excludes equality and only the number of blocks keeps p high."""

    @property
    def excludes_equal(self) -> bool:
        """Whether the 95 % interval of the ratio leaves out 1."""
        low, high = self.ratio.low, self.ratio.high
        return low is not None and high is not None and not low <= 1 <= high

    def as_json(self) -> dict[str, Any]:
        """The comparison as the results object has it."""
        return {
            "a": self.setting,
            "b": self.baseline,
            "metric": self.metric,
            "blocks": self.blocks,
            "ratio": self.ratio.as_json(),
            "ratio_90": self.ratio_90.as_json(),
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "outcome": self.outcome,
            "detected": self.detected,
            "blocks_needed": self.blocks_needed,
        }


@dataclass(frozen=True)
class NullTest:
    """The baseline against itself (A and A'): the result of the run when nothing differs."""

    passed: bool | None
    """None when fewer than two blocks have both."""
    pvalue: float | None
    ratio: Estimate
    """A' over A."""
    minimum_detectable_ratio: float | None
    """The smallest gain this run would find four times in five, judged by its own noise."""
    blocks: int

    def as_json(self) -> dict[str, Any]:
        """The test as the results object has it."""
        return {
            "passed": self.passed,
            "pvalue": self.pvalue,
            "ratio": self.ratio.as_json(),
            "minimum_detectable_ratio": self.minimum_detectable_ratio,
            "blocks": self.blocks,
        }


def within_block_pvalue(
    treatment: npt.ArrayLike,
    references: Sequence[npt.ArrayLike],
    seed: int,
    resamples: int = RESAMPLES,
) -> Floats:
    """Two-sided p-value for `treatment` against the mean of `references`, shuffled inside blocks.

    Arrays hold one value per block along their last axis; further axes are separate tests. With n
    blocks and k arrays there are k!^n ways to shuffle; all are tried when that is at most
    `resamples`, else that many at random. With one reference p is at least 2/2^n, with two 2/3^n.

    Source: SciPy, `scipy.stats.permutation_test` with `permutation_type="samples"`.
    """
    from scipy import stats

    def difference(first: Floats, *others: Floats, axis: int = -1) -> Floats:
        reference = sum(other.mean(axis=axis) for other in others) / len(others)
        return np.asarray(first.mean(axis=axis) - reference)

    result = stats.permutation_test(
        tuple(np.asarray(values, dtype=float) for values in (treatment, *references)),
        difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        alternative="two-sided",
        axis=-1,
        rng=np.random.default_rng(abs(seed)),
    )
    return np.asarray(result.pvalue, dtype=float)


def null_test(blocks: BlockValues, baseline: str, seed: int, resamples: int = RESAMPLES) -> NullTest:
    """Compare the baseline with itself: A' against A inside blocks, at 5 %.

    Fewer than six blocks cannot give a p below 0.05, so such a run always passes; its
    `minimum_detectable_ratio` then shows how little that means.
    """
    pairs = null_pairs(blocks, baseline)
    if len(pairs) < 2:
        return NullTest(None, None, MISSING, None, len(pairs))
    second, first = np.array(pairs).T
    pvalue = float(within_block_pvalue(second, [first], seed, resamples))
    return NullTest(
        passed=pvalue >= ALPHA,
        pvalue=pvalue,
        ratio=ratio_estimate(second - first),
        minimum_detectable_ratio=_detectable_ratio(second - first),
        blocks=len(pairs),
    )


def compare(
    blocks: BlockValues,
    settings: Sequence[str],
    baseline: str,
    metric: Metric,
    *,
    margin: float,
    seed: int,
    resamples: int = RESAMPLES,
) -> tuple[Comparison, ...]:
    """Compare every setting with the baseline on one metric; Holm over the settings.

    Blocks count as in `compare_pairs`.
    """
    pairs = [(setting, baseline) for setting in settings if setting != baseline]
    return compare_pairs(blocks, pairs, metric, margin=margin, seed=seed, resamples=resamples)


def compare_pairs(
    blocks: BlockValues,
    pairs: Sequence[tuple[str, str]],
    metric: Metric,
    *,
    margin: float,
    seed: int,
    resamples: int = RESAMPLES,
) -> tuple[Comparison, ...]:
    """Compare the first setting of each pair with the second on one metric; Holm over the pairs.

    A block counts for a pair when the first setting and every sample that the design has of the second are in
    it. Samples of the baseline are A and A', or A alone where no block of the run has an A'.
    """
    found = [rows_of(blocks, setting, reference) for setting, reference in pairs]
    chances = _pvalues([rows for rows, _ in found], seed, resamples)
    raw = [
        _measured(nothing_known(setting, reference, metric, len(rows)), rows, margin, pvalue)
        for (setting, reference), (rows, _), pvalue in zip(pairs, found, chances, strict=True)
    ]
    return _adjusted(raw, margin, [_fewest_blocks(len(pairs), labels) for _, labels in found])


def rows_of(blocks: BlockValues, setting: str, reference: str) -> tuple[list[list[float]], int]:
    """The blocks that count for a pair, in their order: the setting's value, then each of its reference.

    And how many values each block has.
    """
    roles = _roles(blocks, reference)
    rows = [
        [values[setting, "treatment"], *(values[reference, role] for role in roles)]
        for _, values in sorted(blocks.items())
        if (setting, "treatment") in values and all((reference, role) in values for role in roles)
    ]
    return rows, len(roles) + 1


def null_pairs(blocks: BlockValues, baseline: str) -> list[tuple[float, float]]:
    """The baseline's second sample and its first, of each block that has both, in their order."""
    return [
        (values[baseline, "baseline_b"], values[baseline, "baseline_a"])
        for _, values in sorted(blocks.items())
        if (baseline, "baseline_a") in values and (baseline, "baseline_b") in values
    ]


def nothing_known(setting: str, reference: str, metric: Metric, blocks: int) -> Comparison:
    """A comparison before anything is computed."""
    return Comparison(
        setting, reference, metric, blocks, MISSING, replace(MISSING, level=0.9),
        None, None, "undecided", detected=False, blocks_needed=None,
    )  # fmt: skip


def _roles(blocks: BlockValues, setting: str) -> tuple[str, ...]:
    """The roles of a setting in a block."""
    found = {role for values in blocks.values() for name, role in values if name == setting}
    if "treatment" in found:
        return ("treatment",)
    return ("baseline_a", "baseline_b") if "baseline_b" in found else ("baseline_a",)


def friedman(blocks: BlockValues, settings: Sequence[str]) -> tuple[float, float] | None:
    """Friedman's test over all settings inside complete blocks: statistic and p-value.

    The baseline enters with its first sample (A), so that every setting is one sample per block.
    None with fewer than three settings or two blocks, or when nothing varies.

    Source: SciPy, `scipy.stats.friedmanchisquare`.
    """
    from scipy import stats

    rows = []
    for _, values in sorted(blocks.items()):
        by_name = {name: value for (name, role), value in values.items() if role != "baseline_b"}
        if all(name in by_name for name in settings):
            rows.append([by_name[name] for name in settings])
    table = np.array(rows)
    if len(settings) < 3 or len(rows) < 2 or bool(np.all(np.ptp(table, axis=1) == 0)):
        return None
    result = stats.friedmanchisquare(*table.T)
    return float(result.statistic), float(result.pvalue)


def _pvalues(pairs: Sequence[Sequence[Sequence[float]]], seed: int, resamples: int) -> list[float | None]:
    """The p-value of each pair's blocks; None for fewer than two.

    Pairs of equal shape are shuffled together: each is shuffled in the same ways as it would be alone.
    """
    found: list[float | None] = [None] * len(pairs)
    alike: dict[tuple[int, ...], list[int]] = {}
    for place, rows in enumerate(pairs):
        if len(rows) >= 2:
            alike.setdefault((len(rows), len(rows[0])), []).append(place)
    for places in alike.values():
        treatment, *references = np.array([pairs[place] for place in places]).transpose(2, 0, 1)
        chances = within_block_pvalue(treatment, references, seed, resamples)
        for place, pvalue in zip(places, chances, strict=True):
            found[place] = float(pvalue)
    return found


def _measured(
    nothing: Comparison, rows: Sequence[Sequence[float]], margin: float, pvalue: float | None
) -> Comparison:
    if pvalue is None:
        return nothing
    treatment, *references = np.array(rows).T
    logs = treatment - np.mean(references, axis=0)
    return replace(
        nothing,
        ratio=ratio_estimate(logs),
        ratio_90=ratio_estimate(logs, 0.9),
        pvalue=pvalue,
        blocks_needed=_blocks_needed(logs, margin),
    )


def _adjusted(
    raw: Sequence[Comparison], margin: float, fewest_blocks: Sequence[int]
) -> tuple[Comparison, ...]:
    judged = []
    adjusted = holm([item.pvalue for item in raw])
    for item, pvalue, fewest in zip(raw, adjusted, fewest_blocks, strict=True):
        detected = pvalue is not None and pvalue < ALPHA
        outcome = outcome_of(item, margin, detected=detected)
        needed = item.blocks_needed if outcome == "undecided" else None
        if outcome == "undecided" and item.excludes_equal and item.blocks < fewest:
            needed = fewest - item.blocks
        judged.append(
            replace(
                item,
                pvalue_adjusted=pvalue,
                detected=detected,
                outcome=outcome,
                blocks_needed=needed,
            )
        )
    return tuple(judged)


def outcome_of(item: Comparison, margin: float, *, detected: bool) -> Outcome:
    """The outcome of a comparison: equal by its narrower interval, or different, or neither.

    Args:
        item: the comparison, with its intervals.
        margin: ratios within 1 +- margin count as equivalent.
        detected: whether a difference was found.
    """
    low, high = item.ratio_90.low, item.ratio_90.high
    if low is not None and high is not None and 1 - margin < low and high < 1 + margin:
        return "equivalent"
    if not detected or item.ratio.point is None:
        return "undecided"
    more_is_better = item.metric == "throughput_per_s"
    return "better" if (item.ratio.point > 1) == more_is_better else "worse"


def _blocks_needed(logs: Floats, margin: float) -> int | None:
    """Blocks still missing for a t-test to find a difference of the margin four times in five."""
    spread = float(np.std(logs, ddof=1))
    if spread == 0:
        return None
    # Beyond five standard deviations the solver fails, and a handful of blocks is enough anyway.
    effect = min(math.log1p(margin) / spread, 5.0)
    needed = _solve_power(effect_size=effect)
    return None if needed is None else max(1, math.ceil(needed) - len(logs))


def _fewest_blocks(family: int, labels: int) -> int:
    """Blocks below which shuffling `labels` labels cannot reach p < 5 % after Holm, however clear."""
    return math.floor(math.log(2 * max(family, 1) / ALPHA, labels)) + 1


def _detectable_ratio(null_logs: Floats) -> float | None:
    """The gain found four times in five by comparing with the mean of A and A', at 5 %."""
    spread = float(np.std(null_logs, ddof=1))
    effect = _solve_power(nobs=len(null_logs))
    if effect is None:
        return None
    # A' - A varies with twice the variance of one sample, a setting less the mean of A and A'
    # with one and a half times.
    log_ratio = effect * spread * math.sqrt(1.5 / 2)
    return math.exp(log_ratio) if log_ratio < 700 else None


def _solve_power(effect_size: float | None = None, nobs: float | None = None) -> float | None:
    from statsmodels.stats.power import TTestPower

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solved = TTestPower().solve_power(
            effect_size=effect_size, nobs=nobs, alpha=ALPHA, power=POWER, alternative="two-sided"
        )
    # The solver takes the test for two-sided, so an effect that it finds below zero is the same above it.
    value = abs(float(np.squeeze(solved)))
    return value if math.isfinite(value) else None

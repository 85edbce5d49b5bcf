"""Whether a run that went on with a new private server measured the same there."""

from __future__ import annotations

import math
from collections.abc import Sequence

from redolab import units
from redolab.analysis.checks.diagnostic import Diagnostic, signed_percent
from redolab.analysis.time_based import units_of_work
from redolab.records.sample import Sample

_FEWEST = 4
"""Fewest samples of the baseline on either side of a seam that can be compared."""
_DIFFERENT = 0.01


def seams(samples: Sequence[Sample], baseline: str) -> tuple[Diagnostic, ...]:
    """The baseline before and after each seam; nothing for a run without one.

    Source: SciPy, `mannwhitneyu`.

    Args:
        samples: those that count.
        baseline: the setting that is compared.
    """
    number = max((sample.seam or 0 for sample in samples), default=0)
    return tuple(_seam(samples, baseline, seam) for seam in range(1, number + 1))


def _seam(samples: Sequence[Sample], baseline: str, seam: int) -> Diagnostic:
    name = "new server"
    sides = [[item for item in samples if (item.seam or 0) == side] for side in (seam - 1, seam)]
    first = min((item.sample for item in sides[1]), default=None)
    place = "" if first is None else f" from sample {first:,} on"
    text = f"The run went on with a new private server of the same version{place}."
    shared = sorted({item.block for item in sides[0]} & {item.block for item in sides[1]})
    if shared:
        text += f" Block {units.listed([str(block) for block in shared])} was measured on both servers."
    before, after = (
        [math.log(units_of_work(item) / item.elapsed_s) for item in side if item.setting == baseline]
        for side in sides
    )
    if min(len(before), len(after)) < _FEWEST:
        return Diagnostic(
            name, "not_available", f"{text} There are too few samples to compare the two servers."
        )
    from scipy import stats

    moved = math.expm1(math.fsum(after) / len(after) - math.fsum(before) / len(before))
    pvalue = float(stats.mannwhitneyu(before, after).pvalue)
    text += (
        f" On the new server, the throughput of {baseline} was {signed_percent(moved)} (p = {pvalue:.2g})."
    )
    if pvalue >= _DIFFERENT:
        return Diagnostic(name, "passed", text)
    return Diagnostic(
        name,
        "warning",
        f"{text} Comparisons inside blocks (passes over all settings) allow for this change.",
    )

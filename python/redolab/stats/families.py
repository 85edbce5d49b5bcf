"""P-values of a family of comparisons, adjusted for how many there are."""

from __future__ import annotations

from collections.abc import Sequence


def holm(pvalues: Sequence[float | None]) -> list[float | None]:
    """Every p-value adjusted by Holm over those that are known; None stays None and does not belong to the
    family.

    Source: Holm 1979; statsmodels, `multipletests`.
    """
    from statsmodels.stats.multitest import multipletests

    known = [pvalue for pvalue in pvalues if pvalue is not None]
    adjusted = iter(multipletests(known, method="holm")[1] if known else ())
    return [None if pvalue is None else float(next(adjusted)) for pvalue in pvalues]

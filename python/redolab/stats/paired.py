"""Do two columns that were measured together differ?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from redolab.stats.estimates import finite
from redolab.stats.normality import constant
from redolab.stats.published_tests import ALPHA

Floats = npt.NDArray[np.float64]
NORMAL_TEST, RANK_TEST = "paired t", "Wilcoxon signed-rank"
_FEWEST = 2


@dataclass(frozen=True)
class Paired:
    """One test of differences against zero."""

    test: str
    pvalue: float | None
    """None where nothing can be tested: fewer than two differences, or equal ones."""

    @property
    def differ(self) -> bool | None:
        """Whether no difference is rejected at 5 %; None where it could not be tested."""
        return None if self.pvalue is None else self.pvalue <= ALPHA

    def as_json(self) -> dict[str, Any]:
        """The test as the results object has it."""
        return {"test": self.test, "pvalue": self.pvalue, "differ": self.differ}


def paired(differences: Floats, normal: bool | None) -> Paired:
    """Test whether differences of pairs lie around zero.

    By Student's t where they are normal or too few to be tested for it, else by Wilcoxon's signed ranks,
    which assume a symmetric distribution.

    Args:
        differences: the difference of each pair, finite.
        normal: whether they are normal; None where that could not be tested.

    Source: SciPy, `ttest_1samp`, `wilcoxon`.
    """
    from scipy import stats

    test = RANK_TEST if normal is False else NORMAL_TEST
    if differences.size < _FEWEST or constant(differences):
        return Paired(test, None)
    if test == RANK_TEST:
        return Paired(test, finite(float(stats.wilcoxon(differences).pvalue)))
    return Paired(test, finite(float(stats.ttest_1samp(differences, 0.0).pvalue)))

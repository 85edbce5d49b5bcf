"""Noise of throughput without the effect of settings: is it correlated, does it drift, or jump?"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from redolab import units
from redolab.analysis.checks.diagnostic import Diagnostic, signed_percent
from redolab.analysis.time_based import units_of_work
from redolab.records.sample import Sample

_FEWEST = 8
"""Fewest samples from which the noise can be judged."""


_FEWEST_AFTER = 4
"""Fewest samples after a setting that can show an effect of that setting."""
_CARRIED = 0.01


@dataclass(frozen=True)
class Noise:
    """Log throughput of the samples that count, less their setting's mean, in time order."""

    start_s: tuple[float, ...]
    residual: tuple[float, ...]
    settings: int


def residual_noise(samples: Sequence[Sample]) -> Noise:
    """The logarithm of throughput less the mean of its setting."""
    logs: defaultdict[str, list[float]] = defaultdict(list)
    for sample in samples:
        logs[sample.setting].append(math.log(units_of_work(sample) / sample.elapsed_s))
    means = {name: statistics.fmean(values) for name, values in logs.items()}
    ordered = sorted(samples, key=lambda sample: sample.start_s)
    return Noise(
        tuple(sample.start_s for sample in ordered),
        tuple(
            math.log(units_of_work(sample) / sample.elapsed_s) - means[sample.setting] for sample in ordered
        ),
        len(means),
    )


def lag1_autocorrelation(noise: Noise) -> float | None:
    """Correlation of one sample with the next; None for few samples or no variation.

    Source: statsmodels, `acf`.
    """
    if not _speaks(noise):
        return None
    from statsmodels.tsa.stattools import acf

    return float(acf(noise.residual, nlags=1, fft=False)[1])


def autocorrelation(noise: Noise) -> Diagnostic:
    """Lag-1 autocorrelation and the number of independent samples the run is worth."""
    name = "autocorrelation"
    lag1 = lag1_autocorrelation(noise)
    if lag1 is None:
        return _too_few(name, noise)
    count = len(noise.residual)
    worth = min(float(count), count * (1 - lag1) / (1 + lag1)) if lag1 > -1 else float(count)
    text = (
        f"Successive samples resemble each other (correlation {lag1:.2f}): the {count} samples are worth "
        f"about {worth:.0f} independent samples."
    )
    if lag1 < 2 / math.sqrt(count):
        return Diagnostic(name, "passed", text)
    return Diagnostic(
        name,
        "warning",
        text
        + (
            " Comparisons inside blocks (passes over all settings) allow for this correlation; the intervals "
            "of single settings and the published tests do not."
        ),
    )


def drift(noise: Noise) -> Diagnostic:
    """A straight line through the noise over time.

    Source: SciPy, `linregress`.
    """
    name = "drift"
    if not _speaks(noise):
        return _too_few(name, noise)
    from scipy import stats

    line = stats.linregress(noise.start_s, noise.residual)
    change = math.expm1(float(line.slope) * (noise.start_s[-1] - noise.start_s[0]))
    pvalue = float(line.pvalue)
    text = f"Throughput moved by {signed_percent(change)} over the run (p = {pvalue:.2g})."
    if pvalue >= 0.05:
        return Diagnostic(name, "passed", text)
    return Diagnostic(
        name,
        "warning",
        text + (" Comparisons inside blocks (passes over all settings) allow for this change."),
    )


def regimes(noise: Noise) -> Diagnostic:
    """Whether the noise jumped from one level to another.

    Source: statsmodels, `breaks_cusumolsresid`.
    """
    name = "two regimes"
    if not _speaks(noise):
        return _too_few(name, noise)
    import numpy as np
    from statsmodels.stats.diagnostic import breaks_cusumolsresid

    pvalue = float(breaks_cusumolsresid(np.array(noise.residual), ddof=noise.settings)[1])
    if pvalue >= 0.05:
        return Diagnostic(name, "passed", f"No jump between two levels was found (p = {pvalue:.2g}).")
    sums = np.abs(np.cumsum(noise.residual))
    place = noise.start_s[min(int(sums.argmax()) + 1, len(noise.start_s) - 1)]
    return Diagnostic(
        name,
        "warning",
        f"Throughput changed its level about {units.clock(place)} into the run (p = {pvalue:.2g}): "
        "the machine or the server was not the same before and after.",
    )


def carry_over(samples: Sequence[Sample], labels: Mapping[str, str] = MappingProxyType({})) -> Diagnostic:
    """Whether throughput depends on the setting that was measured just before.

    The comparisons assume that it does not. Settings follow each other at random, so a setting that leaves
    something behind shows in the samples after it.

    Source: SciPy, `kruskal`.
    """
    name = "carry-over"
    noise = residual_noise(samples)
    ordered = sorted(samples, key=lambda sample: sample.start_s)
    after: defaultdict[str, list[float]] = defaultdict(list)
    for earlier, sample, residual in zip(ordered, ordered[1:], noise.residual[1:], strict=False):
        if sample.sample == earlier.sample + 1:
            after[earlier.setting].append(residual)
    groups = {before: values for before, values in after.items() if len(values) >= _FEWEST_AFTER}
    if len(groups) < 2 or not _speaks(noise):
        return Diagnostic(name, "not_available", "Not checked: too few samples came after the same setting.")
    from scipy import stats

    pvalue = float(stats.kruskal(*groups.values()).pvalue)
    middle = {before: statistics.median(values) for before, values in groups.items()}
    most = max(middle, key=lambda before: abs(middle[before]))
    text = f"Throughput does not depend on the setting measured before (p = {pvalue:.2g})."
    if pvalue >= _CARRIED:
        return Diagnostic(name, "passed", text)
    return Diagnostic(
        name,
        "warning",
        f"Throughput depends on the setting measured before (p = {pvalue:.2g}): after "
        f"{labels.get(most, most)} it differs by {signed_percent(math.expm1(middle[most]))} from its "
        "setting's mean. In longer samples (--seconds) the setting before matters less.",
    )


def _speaks(noise: Noise) -> bool:
    # Residuals of equal values are rounding error, whose pattern means nothing.
    return len(noise.residual) >= _FEWEST and max(map(abs, noise.residual)) > 1e-9


def _too_few(name: str, noise: Noise) -> Diagnostic:
    count = len(noise.residual)
    why = f"{count} samples are too few" if count < _FEWEST else "throughput did not vary"
    return Diagnostic(name, "not_available", f"Not checked: {why}.")

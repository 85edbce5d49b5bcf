"""Evidence that may be looked at after every block: differences of pairs against any shift.

In a block the order of a setting and the baseline is drawn at random. Under a shift that is the true one,
what is left of their difference is symmetric about zero, whatever the drift, the autocorrelation or the tails
of the noise. Then the product over the blocks of exp(l z) / cosh(l z) is a test martingale for every l, where
z is a difference over the scale of the differences before it. The evidence is the mean of such products over
some l of both signs, and over the samples of the baseline. The chance that it ever reaches 1 / a is at most
a, so a run may end as soon as it does.

Source: V. de la Pena, "A general class of exponential inequalities for martingales and ratios", Annals of
Probability 27, 1999; A. Ramdas, P. Gruenwald, V. Vovk, G. Shafer, "Game-theoretic statistics and safe
anytime-valid inference", Statistical Science 38, 2023.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from redolab.stats.estimates import Estimate

Floats = npt.NDArray[np.float64]

BETS = (0.5, 1.0, 2.0, 4.0)
"""The l of both signs: small ones find small differences in many blocks, great ones great differences in
few."""
_STEPS = 96
_HALVINGS = 36
_FAR, _NEAR = 1e3, 1e-7
"""Shifts this many times the differences' reach away are beyond any that they allow; the nearest that is
looked at, as a part of that."""


def log_evidence(differences: Floats, shifts: npt.ArrayLike = 0.0) -> Floats:
    """The natural logarithm of the evidence against shifts, after each block.

    Args:
        differences: of shape (samples of the baseline, blocks), the logarithm of a setting less that of the
            baseline's sample, in the order of measuring.
        shifts: of any shape; equal settings have the shift 0.

    Returns:
        Shape (blocks, *shape of `shifts`). It may fall again: what counts is the greatest so far.
    """
    at = np.asarray(shifts, dtype=float)
    left = differences.reshape(*differences.shape, *(1,) * at.ndim) - at
    count = np.arange(1, differences.shape[1] + 1).reshape(-1, *(1,) * at.ndim)
    scale = np.sqrt(np.cumsum(left**2, axis=1) / count)
    before = np.concatenate([np.zeros_like(scale[:, :1]), scale[:, :-1]], axis=1)
    # Before the first difference there is no scale, so its sign is all that counts.
    z = np.where(before > 0, left / np.where(before > 0, before, 1.0), np.sign(left))
    bets = np.array(BETS).reshape(-1, *(1,) * z.ndim)
    steps = math.log(2) - np.logaddexp(0.0, -2 * bets * z)
    products = np.cumsum(np.concatenate([steps, steps - 2 * bets * z]), axis=2)
    together = np.logaddexp.reduce(products, axis=(0, 1))
    return np.asarray(together - math.log(len(products) * len(differences)), dtype=float)


def pvalue(differences: Floats) -> float:
    """A p-value of no difference that holds whenever the run ended: 1 over the greatest evidence so far.

    Args:
        differences: as `log_evidence` takes them, of at least one block.
    """
    return min(1.0, math.exp(-float(log_evidence(differences).max())))


def shift_interval(differences: Floats, level: float) -> Estimate:
    """The median shift with the interval of all shifts against which the evidence never reached
    1 / (1 - level).

    In at least `level` of all runs the true shift is never outside of it, whenever the run ends. It leaves
    out 0 where `pvalue` is at most 1 - level. Both ends are missing while the blocks are too few to rule out
    far shifts, and where every shift is ruled out: then the shift itself changed meanwhile.

    Args:
        differences: as `log_evidence` takes them, of at least one block.
        level: of the interval, 0 to 1.
    """
    middle = float(np.median(differences.mean(axis=0)))
    bound = -math.log1p(-level)
    reach = _FAR * max(float(np.abs(differences - middle).max()), abs(middle), 1e-9)

    def kept(shifts: Floats) -> npt.NDArray[np.bool_]:
        return np.asarray(log_evidence(differences, shifts).max(axis=0) < bound)

    away = reach * np.geomspace(_NEAR, 1.0, _STEPS)
    shifts = np.concatenate([middle - away[::-1], [middle], middle + away])
    inside = np.flatnonzero(kept(shifts))
    if not inside.size or inside[0] == 0 or inside[-1] == shifts.size - 1:
        return Estimate(middle, None, None, level)
    inner, outer = shifts[inside[[0, -1]]], shifts[inside[[0, -1]] + [-1, 1]]
    for _ in range(_HALVINGS):
        between = (inner + outer) / 2
        stays = kept(between)
        inner, outer = np.where(stays, between, inner), np.where(stays, outer, between)
    low, high = (float(end) for end in outer)
    return Estimate(min(max(middle, low), high), low, high, level)

"""The interval of a share that was estimated from looks, from the errors of single ticks.

The variance of a share shows how many independent looks the ticks are worth, more or fewer than were taken.
That number gives the limits, here those of Jeffreys, which hold their level more closely than others.

Source: Korn and Graubard, "Confidence intervals for proportions with small expected number of positive counts
estimated from survey data", Survey Methodology 24, 1998.

Source: Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16,
2001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

LEVEL = 0.95


def limits(
    share: Floats, reach: Floats, second: Floats, fourth: Floats, n: Floats | float, fallback: Floats
) -> tuple[Floats, Floats]:
    """The interval of shares at `LEVEL`, from the second and fourth moments of their errors.

    `reach` is the largest value a share can have. `second` and `fourth` are sums over `n` ticks of each
    tick's addition to the error, to that power. `fallback` is the number of independent looks where the
    moments show nothing: where all looks agree except for less than half of one.

    The lower limit is conditional on the row having been seen, for only then is it shown: without
    that, the rarest rows would lie above their truth whenever they appear. The fourth moment beyond a
    binomial's shows how well the variance itself is known, and with it the degrees of freedom.
    """
    import numpy as np
    from scipy import special

    part = np.clip(ratio(share, reach), 0.0, 1.0)
    spread = part * (1 - part)
    variance = ratio(second, reach**2)
    known = (variance > 0) & ((1 - part) * fallback >= 0.5)
    independent = np.where(known, ratio(spread, variance), fallback)
    degrees = _degrees(second, fourth, ratio(1 - 3 * spread, independent * spread), n)
    tail = (1 - LEVEL) / 2
    widening = (special.stdtrit(degrees, 1 - tail) / special.ndtri(1 - tail)) ** 2
    independent = np.maximum(independent / widening, 1e-6)
    seen = part * independent
    a, b = seen + 0.5, independent - seen + 0.5
    low = special.betaincinv(a, b, tail)
    few = (seen < 10) & (seen > 1)
    for _ in range(8 if few.any() else 0):
        shown = -np.expm1(independent[few] * np.log1p(-low[few]))
        low[few] = special.betaincinv(a[few], b[few], tail * shown)
    low = np.where(seen > 1, low, 0.0)
    high = np.where(part < 1, special.betaincinv(a, b, 1 - tail), 1.0)
    return np.minimum(low * reach, share), np.maximum(high * reach, share)


def _degrees(second: Floats, fourth: Floats, expected: Floats, n: Floats | float) -> Floats:
    """Degrees of freedom of a variance from its own relative variance, as Satterthwaite has them.

    `expected` is the relative fourth moment that the limits allow for by themselves. A third of the moment
    beyond it counts: share and variance err together, and with all of it the simulations hold the truth too
    often.
    """
    import numpy as np

    beyond = np.maximum(ratio(fourth, second**2) - expected, 0.0)
    return np.maximum(1 / (beyond / 6 + 1 / (n - 1)), np.ones_like(second))


def ratio(above: Floats, below: Floats | float) -> Floats:
    """`above / below`, and 0 where there is nothing below."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.greater(below, 0), np.divide(above, below), 0.0)

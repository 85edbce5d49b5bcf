"""Dividing blocked time by looks, with intervals that keep their level.

How long a process was blocked is known exactly: its elapsed time less its CPU and run queue. What it
waited for meanwhile is known from looks at ticks alone. A process's blocked time is divided among the
events its own looks found; the shares of a group are ratios of such sums.

The interval is design-based. Ticks come at Poisson times that do not depend on the load, so what is
seen at one tick is an independent draw of the time-average, however the processes move together
within it (one flush wakes many). The variance is that of a ratio estimate linearised over ticks
(Cochran, "Sampling Techniques", 3rd ed. 1977, chapter 6 and 9A). It gives the number of independent
looks the ticks are worth, which may be more or less than were taken, and that number gives the
limits (Korn and Graubard, "Confidence intervals for proportions with small expected number of
positive counts estimated from survey data", Survey Methodology 24, 1998), here Jeffreys' (Brown, Cai
and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16, 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

LEVEL = 0.95
POOLED_BELOW = 20
"""Processes of a group with fewer looks than this share theirs: a few looks divide nothing."""
_CELLS = 4_000_000
"""Ticks times processes held at once."""


@dataclass(frozen=True)
class Blocked:
    """What is known of processes' blocked time. P processes, C columns (what a look can find)."""

    elapsed_s: Floats
    """P: life inside the observation."""
    blocked_s: Floats
    """P: of it, neither on CPU nor in the run queue; negative when the accounts overlap."""
    counts: Floats
    """P x C: looks that found the process blocked, by what they found."""
    first_tick: Integers
    last_tick: Integers
    """P: ticks at which each could be looked at."""
    unnamed: Floats
    """P: the part of the ticks without a look below at which it idled; it stands for column 0 or,
    where `in_main_loop`, for column 1."""
    in_main_loop: npt.NDArray[np.bool_]
    pool: Integers
    """P: processes of one pool share their looks where they have few."""
    tick: Integers
    process: Integers
    column: Integers
    """Every look, in parallel: column -1 where it found the process awake."""
    ticks: int


@dataclass(frozen=True)
class Division:
    """Blocked time divided among columns: arrays (C,) for a group, (P, C) for every process by itself.

    Shares are of busy time, those of the idle columns 0 and 1 of elapsed time.
    """

    elapsed_s: Floats
    busy_s: Floats
    """Elapsed time less that of the idle columns."""
    time_s: Floats
    low: Floats
    high: Floats
    """The interval of `time_s / busy_s` at `LEVEL`; a column with no look has low 0."""
    busy_spread: Floats
    """Half-width of the interval of the busy time, as a part of it."""
    unseen_s: Floats
    """Blocked time at which nobody looked."""
    excess_s: Floats
    """The negative rest of processes whose accounts exceed their life."""


def divide_each(blocked: Blocked) -> Division:
    """Divide every process's time by its own looks."""
    import numpy as np

    looks = blocked.counts.sum(1)
    time = np.maximum(blocked.blocked_s, 0.0)
    part = _ratio(blocked.counts, looks[:, None])
    found = time[:, None] * part
    unseen = np.where(looks == 0, time, 0.0)
    excess = np.minimum(blocked.blocked_s, 0.0)
    elapsed = blocked.elapsed_s
    busy = elapsed - found[:, :2].sum(1)
    share = _ratio(found, busy[:, None])
    # One look per tick: what a tick adds to the error has three values, by what the look found.
    weight = _ratio(time, looks) * _by_one_less(looks)
    idle = part[:, :2].sum(1, keepdims=True)
    in_column, idling = blocked.counts, looks[:, None] * idle
    center = -part - share * idle
    errors = [
        (center + 1.0, in_column),
        (center + share, idling),
        (center, looks[:, None] - in_column - idling),
    ]
    scale = _ratio(weight, busy)[:, None]
    second = sum(times * (scale * error) ** 2 for error, times in errors)
    fourth = sum(times * (scale * error) ** 4 for error, times in errors)
    # The idle columns are shares of elapsed time, and so plain proportions.
    second[:, :2], fourth[:, :2] = _binomial(part[:, :2], looks[:, None], _ratio(weight, elapsed)[:, None])
    idle_second, idle_fourth = _binomial(idle[:, 0], looks, scale[:, 0])
    n = np.maximum(looks, 2.0)
    reach = _ratio(time, time + np.maximum(elapsed - time, 0.0))[:, None] * np.ones_like(share)
    share[:, :2] = _ratio(found[:, :2], elapsed[:, None])
    low, high = limits(share, reach, second, fourth, n[:, None], n[:, None])
    return Division(elapsed, busy, found, low, high, _half_width(idle_second, idle_fourth, n), unseen, excess)


def divide_group(blocked: Blocked, members: Integers, also_awake_s: float = 0.0) -> Division:
    """Divide the time of a group of processes, each by its own looks, those with few by their pool's.

    `also_awake_s` is CPU of processes that are not among the members any more.
    """
    import numpy as np

    counts = blocked.counts[members]
    looks = counts.sum(1)
    # Every process is a stratum of its own, but for those with few looks.
    own = looks >= POOLED_BELOW
    pools = np.unique(blocked.pool[members][~own], return_inverse=True)[1]
    stratum = np.arange(len(members))
    stratum[~own] = len(members) + pools
    strata = len(members) + (int(pools.max()) + 1 if len(pools) else 0)
    time = np.bincount(stratum, blocked.blocked_s[members], strata)
    found_looks = np.zeros((strata, counts.shape[1]))
    np.add.at(found_looks, stratum, counts)
    stratum_looks = found_looks.sum(1)
    part = _ratio(found_looks, stratum_looks[:, None])
    divided = np.where(stratum_looks > 0, np.maximum(time, 0.0), 0.0)
    found = divided @ part
    elapsed = float(blocked.elapsed_s[members].sum()) + also_awake_s
    busy = elapsed - float(found[:2].sum())
    share = _ratio(found, busy)
    weight = _ratio(divided, stratum_looks) * _by_one_less(stratum_looks)
    second, fourth, n = _errors(blocked, members, weight[stratum], part[stratum], share, busy, elapsed)
    # Where ticks agree in everything, half a look might still have been another.
    one_look = ((part > 0) * _ratio(weight, busy)[:, None]).max(0, initial=0.0) ** 2
    second[2:-1] = np.maximum(second[2:-1], one_look[2:] / 2)
    # A column can at most take all blocked time of the strata that found it.
    most = divided @ (part > 0)
    reach = _ratio(most, most + max(elapsed - float(np.maximum(time, 0.0).sum()), 0.0))
    reach[:2], share[:2] = _ratio(most[:2], elapsed), _ratio(found[:2], elapsed)
    fallback = np.minimum(n, stratum_looks @ (part > 0))
    # What no look found could be anywhere that was looked at.
    nowhere = found <= 0
    reach = np.where(nowhere, _ratio(divided.sum(), elapsed), reach)
    fallback = np.where(nowhere, min(n, float(stratum_looks.sum())), fallback)
    low, high = limits(share, reach, second[:-1], fourth[:-1], n, fallback)
    return Division(
        elapsed_s=np.asarray(elapsed),
        busy_s=np.asarray(busy),
        time_s=found,
        low=low,
        high=high,
        busy_spread=_half_width(second[-1:], fourth[-1:], n)[0],
        unseen_s=np.asarray(np.maximum(time, 0.0).sum() - divided.sum()),
        excess_s=np.asarray(np.minimum(time, 0.0).sum()),
    )


def limits(
    share: Floats, reach: Floats, second: Floats, fourth: Floats, n: Floats | float, fallback: Floats
) -> tuple[Floats, Floats]:
    """The interval of shares at `LEVEL`, from the second and fourth moments of their errors.

    `reach` is the largest value a share can have; `second` and `fourth` are sums over `n` ticks of
    what each tick adds to the error, to that power; `fallback` is the number of independent looks
    where the ticks all agree and the moments say nothing.

    The lower limit is conditional on the row having been seen, for only then is it shown: without
    that, the rarest rows would lie above their truth whenever they appear. The fourth moment beyond
    a binomial's tells how well the variance itself is known, and with it the degrees of freedom.
    """
    import numpy as np
    from scipy import special

    part = np.clip(_ratio(share, reach), 0.0, 1.0)
    spread = part * (1 - part)
    variance = _ratio(second, reach**2)
    known = (variance > 0) & (spread > 1e-9)
    independent = np.where(known, _ratio(spread, variance), fallback)
    degrees = _degrees(second, fourth, _ratio(1 - 3 * spread, independent * spread), n)
    tail = (1 - LEVEL) / 2
    widening = (special.stdtrit(degrees, 1 - tail) / special.ndtri(1 - tail)) ** 2
    independent = np.maximum(independent / widening, 1e-6)
    seen = part * independent
    a, b = seen + 0.5, independent - seen + 0.5
    low = special.betaincinv(a, b, tail)
    few = (seen < 10) & (seen > 1)
    for _ in range(8):
        shown = -np.expm1(independent[few] * np.log1p(-low[few]))
        low[few] = special.betaincinv(a[few], b[few], tail * shown)
    low = np.where(seen > 1, low, 0.0)
    high = np.where(part < 1, special.betaincinv(a, b, 1 - tail), 1.0)
    return np.minimum(low * reach, share), np.maximum(high * reach, share)


def _errors(
    blocked: Blocked,
    members: Integers,
    weight: Floats,
    part: Floats,
    share: Floats,
    busy: float,
    elapsed: float,
) -> tuple[Floats, Floats, float]:
    """Sums over ticks of what each tick adds to the error of a share, squared and to the fourth power.

    One per column and last one for the busy time; and the number of ticks at which a member could be
    looked at.
    """
    import numpy as np

    columns = part.shape[1]
    place = np.full(len(blocked.elapsed_s), -1)
    place[members] = np.arange(len(members))
    mine = place[blocked.process] >= 0
    tick, who, column = blocked.tick[mine], place[blocked.process[mine]], blocked.column[mine]
    first, last = blocked.first_tick[members], blocked.last_tick[members]
    idle_column = blocked.in_main_loop[members].astype(np.int64)
    idle_weight = np.zeros((len(members), 2))
    idle_weight[np.arange(len(members)), idle_column] = weight
    second, fourth, present = np.zeros(columns + 1), np.zeros(columns + 1), 0
    step = max(1, _CELLS // max(1, len(members)))
    for begin in range(0, blocked.ticks, step):
        end = min(begin + step, blocked.ticks)
        ticks = np.arange(begin, end)[:, None]
        there = (first <= ticks) & (ticks < last)
        present += int(there.any(1).sum())
        chunk = slice(*np.searchsorted(tick, (begin, end)))
        at, by, what = tick[chunk] - begin, who[chunk], column[chunk]
        looked = there * blocked.unnamed[members]
        looked[at, by] = 0.0
        idle = looked @ idle_weight
        asleep = what >= 0
        looked[at[asleep], by[asleep]] = 1.0
        error = -looked @ (weight[:, None] * part)
        error[:, :2] += idle
        np.add.at(error, (at[asleep], what[asleep]), weight[by[asleep]])
        outside = error[:, :2].sum(1, keepdims=True)
        scaled = _ratio(error + share * outside, busy)
        scaled[:, :2] = _ratio(error[:, :2], elapsed)
        scaled = np.hstack([scaled, _ratio(outside, busy)])
        squared = scaled**2
        second += squared.sum(0)
        fourth += (squared**2).sum(0)
    return second, fourth, float(max(present, 2))


def _by_one_less(looks: Floats) -> Floats:
    """What makes a sum of squares about the mean of so many looks an unbiased variance."""
    import numpy as np

    factor: Floats = np.sqrt(looks / np.maximum(looks - 1, 1.0))
    return factor


def _binomial(part: Floats, n: Floats, scale: Floats) -> tuple[Floats, Floats]:
    spread = part * (1 - part)
    return scale**2 * n * spread, scale**4 * n * spread * (1 - 3 * spread)


def _half_width(second: Floats, fourth: Floats, n: Floats | float) -> Floats:
    import numpy as np
    from scipy import special

    degrees = _degrees(second, fourth, np.zeros_like(second), n)
    return np.sqrt(second) * special.stdtrit(degrees, (1 + LEVEL) / 2)


def _degrees(second: Floats, fourth: Floats, expected: Floats, n: Floats | float) -> Floats:
    """Degrees of freedom of a variance from its own relative variance, as Satterthwaite has them.

    `expected` is the relative fourth moment that the limits allow for by themselves. Of what is
    beyond it half counts: share and variance err together, and with all of it the simulations
    hold the truth too often.
    """
    import numpy as np

    beyond = np.maximum(_ratio(fourth, second**2) - expected, 0.0)
    return np.maximum(1 / (beyond / 4 + 1 / (n - 1)), np.ones_like(second))


def _ratio(above: Floats, below: Floats | float) -> Floats:
    """`above / below`, and 0 where there is nothing below."""
    import numpy as np

    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    return np.divide(above, below, out=np.zeros(shape), where=np.broadcast_to(np.asarray(below) > 0, shape))

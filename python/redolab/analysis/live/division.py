"""Dividing blocked time by looks, with intervals that keep their level.

How long a process was blocked is known exactly: its elapsed time less its CPU and run queue. What it
waited for meanwhile is known from looks at ticks alone. A process's blocked time is divided among the
events its own looks found; the shares of a group are ratios of such sums.

The interval is design-based. Ticks come at Poisson times that do not depend on the load, so what is
seen at one tick is an independent draw of the time-average, however the processes move together
within it (one flush wakes many). The variance is that of ratio estimates summed over strata, the
processes, and linearised over ticks (Cochran, "Sampling Techniques", 3rd edition, 1977, chapter 6).
`share_limits` makes the interval of it. What the server itself accounts for is added and widens nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redolab.stats.share_limits import limits, ratio

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

POOLED_BELOW = 20
"""Processes of a group with fewer looks than this share theirs: a few looks divide nothing."""
_CELLS = 4_000_000
"""Ticks times processes held at once."""


@dataclass(frozen=True)
class Blocked:
    """Blocked time of processes as far as it is known. P processes, C columns (the results of a look)."""

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
    """P: the part of the ticks without a look below at which it idled; it counts for column 0 or, where
    `in_main_loop`, for column 1."""
    in_main_loop: npt.NDArray[np.bool_]
    pool: Integers
    """P: processes of one pool share their looks where they have few."""
    tick: Integers
    process: Integers
    column: Integers
    """Every look, in parallel: column -1 where it found the process awake."""
    ticks: int
    exact_s: Floats
    """P x C: seconds that are known without a look; they are not in `blocked_s`."""


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
    """The 95 % interval of `time_s / busy_s`; a column with no look has low 0."""
    idle_low: Floats
    idle_high: Floats
    """The 95 % interval of the idle columns together, as a share of elapsed time."""
    unseen_s: Floats
    """Blocked time without a look."""
    excess_s: Floats
    """The negative rest of processes whose accounts exceed their life."""


def divide_each(blocked: Blocked) -> Division:
    """Divide every process's time by its own looks."""
    import numpy as np

    looks = blocked.counts.sum(1)
    time = np.maximum(blocked.blocked_s, 0.0)
    part = ratio(blocked.counts, looks[:, None])
    divided = time[:, None] * part
    found = divided + blocked.exact_s
    elapsed = blocked.elapsed_s
    busy = elapsed - found[:, :2].sum(1)
    share = ratio(found, busy[:, None])
    # One look per tick: what a tick adds to the error has three values, by what the look found.
    weight = ratio(time, looks) * _by_one_less(looks)
    idle = part[:, :2].sum(1, keepdims=True)
    in_column, idling = blocked.counts, looks[:, None] * idle
    center = -part - share * idle
    errors = [
        (center + 1.0, in_column),
        (center + share, idling),
        (center, looks[:, None] - in_column - idling),
    ]
    scale = ratio(weight, busy)[:, None]
    second = sum(times * (scale * error) ** 2 for error, times in errors)
    fourth = sum(times * (scale * error) ** 4 for error, times in errors)
    # Where looks agree in everything, half a look might still have been another.
    second = np.where(divided > 0, np.maximum(second, scale**2 / 2), second)
    # Idling is a share of elapsed time, and so a plain proportion: each way of it, and both last.
    idling_part = np.hstack([part[:, :2], idle])
    spread = looks[:, None] * idling_part * (1 - idling_part)
    to_elapsed = ratio(weight, elapsed)[:, None]
    half_look = np.where(idling_part > 0, 0.5, 0.0)
    second = np.hstack([second, second[:, :1]])
    fourth = np.hstack([fourth, fourth[:, :1]])
    second[:, [0, 1, -1]] = to_elapsed**2 * np.maximum(spread, half_look)
    fourth[:, [0, 1, -1]] = to_elapsed**4 * spread * (1 - 3 * idling_part * (1 - idling_part))
    share = ratio(divided, busy[:, None])
    share = np.hstack([share, share[:, :1]])
    share[:, [0, 1, -1]] = ratio(time, elapsed)[:, None] * idling_part
    n = np.maximum(looks, 2.0)[:, None]
    fallback = np.maximum(looks[:, None] - idling, 1.0) * np.ones_like(share)
    fallback[:, [0, 1, -1]] = n
    reach = ratio(time, elapsed)[:, None] * np.ones_like(share)
    reach[blocked.exact_s.any(1)] = 0.0
    low, high = limits(share, reach, second, fourth, n, fallback)
    known = _known_shares(blocked.exact_s, busy[:, None], elapsed[:, None])
    low, high = low + known, high + known
    return Division(
        elapsed_s=elapsed,
        busy_s=busy,
        time_s=found,
        low=low[:, :-1],
        high=high[:, :-1],
        idle_low=low[:, -1],
        idle_high=high[:, -1],
        unseen_s=np.where(looks == 0, time, 0.0),
        excess_s=np.minimum(blocked.blocked_s, 0.0),
    )


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
    part = ratio(found_looks, stratum_looks[:, None])
    divided = np.where(stratum_looks > 0, np.maximum(time, 0.0), 0.0)
    by_looks = divided @ part
    exact = blocked.exact_s[members].sum(0)
    found = by_looks + exact
    elapsed = float(blocked.elapsed_s[members].sum()) + also_awake_s
    busy = elapsed - float(found[:2].sum())
    share = ratio(found, busy)
    weight = ratio(divided, stratum_looks) * _by_one_less(stratum_looks)
    second, fourth, n = _errors(blocked, members, weight[stratum], part[stratum], share, busy, elapsed)
    # Where ticks agree in everything, half a look might still have been another.
    one_look = ((part > 0) * ratio(weight, busy)[:, None]).max(0, initial=0.0)
    one_idle = (part[:, :2].any(1) * ratio(weight, elapsed)).max(initial=0.0)
    second[2:] = np.maximum(second[2:], np.append(one_look[2:], one_idle) ** 2 / 2)
    # A column can at most take all blocked time of the strata that found it, and what no look found
    # could be anywhere. Last the idle columns together.
    finding = np.where(by_looks > 0, part > 0, True)
    finding = np.hstack([finding, part[:, :2].any(1, keepdims=True)])
    most = divided @ finding
    awake = max(elapsed - float(np.maximum(time, 0.0).sum()), 0.0)
    reach = ratio(most, most + awake)
    share = np.append(ratio(by_looks, busy), 0.0)
    idle = [0, 1, -1]
    reach[idle] = ratio(most[idle], elapsed)
    share[idle] = ratio(np.append(by_looks[:2], by_looks[:2].sum()), elapsed)
    working = stratum_looks - found_looks[:, :2].sum(1)
    fallback = np.maximum(np.minimum(n, working @ finding), 1.0)
    fallback[:2] = np.minimum(n, stratum_looks @ finding[:, :2])
    # Idle processes idle each for itself.
    fallback[-1] = max(float(stratum_looks @ finding[:, -1]), 1.0)
    low, high = limits(share, reach, second, fourth, n, fallback)
    known = _known_shares(exact, busy, elapsed)
    low, high = low + known, high + known
    return Division(
        elapsed_s=np.asarray(elapsed),
        busy_s=np.asarray(busy),
        time_s=found,
        low=low[:-1],
        high=high[:-1],
        idle_low=low[-1],
        idle_high=high[-1],
        unseen_s=np.asarray(np.maximum(time, 0.0).sum() - divided.sum()),
        excess_s=np.asarray(np.minimum(time, 0.0).sum()),
    )


def _known_shares(exact_s: Floats, busy_s: Floats | float, elapsed_s: Floats | float) -> Floats:
    """Shares known without a look: of busy time, those of the idle columns (and both) of elapsed time."""
    import numpy as np

    share = np.concatenate([ratio(exact_s, busy_s), exact_s[..., :1]], axis=-1)
    idle = exact_s[..., :2]
    both = np.concatenate([idle, idle.sum(-1, keepdims=True)], axis=-1)
    share[..., [0, 1, -1]] = ratio(both, elapsed_s)
    return share


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

    One per column and last one for the idle columns together; and the number of ticks at which a
    member could be looked at.
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
        scaled = ratio(error + share * outside, busy)
        scaled[:, :2] = ratio(error[:, :2], elapsed)
        scaled = np.hstack([scaled, ratio(outside, elapsed)])
        squared = scaled**2
        second += squared.sum(0)
        fourth += (squared**2).sum(0)
    return second, fourth, float(max(present, 2))


def _by_one_less(looks: Floats) -> Floats:
    """The factor that makes a sum of squares about the mean of so many looks an unbiased variance."""
    import numpy as np

    factor: Floats = np.sqrt(looks / np.maximum(looks - 1, 1.0))
    return factor

"""Sessions against throughput: the profile of a session, timed events, and the size of a pool."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redolab.analysis.profile import ON_CPU, ON_CPU_OR_UNKNOWN, RUN_QUEUE, STEAL, UNACCOUNTED, Times
from redolab.dialect.log_waits import is_client_wait, is_log_sync
from redolab.stats.blocks import RESAMPLES, BlockValues
from redolab.stats.estimates import MISSING, Estimate, ratio_estimate

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

TOTAL, LOG_SYNC, CLIENT, OTHER = "TOTAL_TIME", "log sync", "message from client", "other waits"
UNACCOUNTED_TIME = "UNACCOUNTED_TIME"
_TITLES = {ON_CPU: "CPU", RUN_QUEUE: "run queue", STEAL: "steal", ON_CPU_OR_UNKNOWN: "CPU or unknown"}
TOP = 5
_ROUNDING = 1e-9


@dataclass(frozen=True)
class TimeSource:
    """One row of the published session profile."""

    name: str
    seconds: float
    share: float
    """Share of the total, 0 to 1."""


@dataclass(frozen=True)
class TimedEvent:
    """One row of the published top timed events."""

    event: str
    wait_class: str
    time_s: float
    waits: float | None
    """Number of waits; None where the server does not count them."""
    looks: int | None = None
    """Ticks of the wait sampler that found a session in it; None for what is not sampled."""
    waited_s: float | None = None
    """Time in the waits that were counted, where they are not the sessions' alone."""

    @property
    def average_ms(self) -> float | None:
        """Mean length of a wait, milliseconds."""
        time_s = self.time_s if self.waited_s is None else self.waited_s
        return 1e3 * time_s / self.waits if self.waits else None


def session_profile(total_s: float, parts: Mapping[str, float]) -> list[TimeSource]:
    """The total, its parts by their size, and what they leave unaccounted, which may be negative.

    Args:
        total_s: elapsed time, seconds; greater than 0.
        parts: name to seconds, as far as known.
    """
    rest = math.fsum((total_s, *(-seconds for seconds in parts.values())))
    # Parts that were themselves divided so as to add up leave rounding, not time.
    rows = {**parts, UNACCOUNTED_TIME: rest if abs(rest) > _ROUNDING * total_s else 0.0}
    largest_first = sorted(rows.items(), key=lambda row: -row[1])
    return [
        TimeSource(TOTAL, total_s, 1.0),
        *(TimeSource(name, seconds, seconds / total_s) for name, seconds in largest_first),
    ]


def time_sources(times: Times) -> dict[str, float]:
    """Seconds of a sample by published time source, without the total and what is unaccounted."""
    found: dict[str, float] = {}
    for row, seconds in times.items():
        if row != UNACCOUNTED:
            name = _TITLES.get(row) or _wait_title(row)
            found[name] = found.get(name, 0.0) + seconds
    return found


def top_events(events: Sequence[TimedEvent]) -> tuple[TimedEvent, ...]:
    """The five events with most time."""
    return tuple(sorted(events, key=lambda event: -event.time_s)[:TOP])


def rates_by_block(blocks: BlockValues, names: Mapping[int, str]) -> tuple[tuple[int, ...], Floats]:
    """Logarithms of throughput in complete blocks: the numbers of sessions, and a row for each of them.

    A setting that was measured twice in a block counts with the mean of both.

    Args:
        blocks: logarithms of throughput by block, setting and role.
        names: sessions to setting.
    """
    import numpy as np

    sessions = tuple(sorted(names))
    rows = []
    for _, values in sorted(blocks.items()):
        mine = {
            number: [value for (setting, _), value in values.items() if setting == names[number]]
            for number in sessions
        }
        if all(mine.values()):
            rows.append([math.fsum(mine[number]) / len(mine[number]) for number in sessions])
    return sessions, np.array(rows, float).reshape(len(rows), len(sessions)).T


def pool_size(
    sessions: Sequence[int], rates: Floats, margin: float, seed: int, resamples: int = RESAMPLES
) -> Estimate:
    """The fewest sessions whose throughput is at most `margin` below the best, of those measured.

    Throughput is the geometric mean over the blocks. The 95 % interval is a bootstrap over whole blocks
    (the number in each resample, and the quantiles of those numbers), so its ends are numbers of sessions
    that were measured; with fewer than two blocks there is none.

    Args:
        sessions: their numbers, in rising order.
        rates: logarithms of throughput, a row for each number and a column for each block.
        margin: largest loss that does not count as worse.
        seed: of the bootstrap.
        resamples: of the blocks.

    Source: SciPy, `scipy.stats.bootstrap` with paired samples.
    """
    import numpy as np
    from scipy import stats

    if rates.size == 0:
        return MISSING
    numbers = np.array(sessions, float)

    def fewest(*samples: Floats, axis: int = -1) -> Any:
        means = np.array([sample.mean(axis=axis) for sample in samples])
        enough = means >= means.max(axis=0) + math.log1p(-margin)
        return numbers[enough.argmax(axis=0)]

    point = float(fewest(*rates))
    if rates.shape[1] < 2:
        return Estimate(point, None, None)
    drawn = stats.bootstrap(
        tuple(rates), fewest, paired=True, vectorized=True, n_resamples=resamples, method="percentile",
        rng=np.random.default_rng(abs(seed)),
    ).bootstrap_distribution  # fmt: skip
    low, high = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf")
    return Estimate(point, float(low), float(high))


def throughput_ratio(sessions: Sequence[int], rates: Floats, number: int, against: int) -> Estimate:
    """Throughput with `number` sessions over that with `against`, paired by block."""
    if rates.size == 0:
        return MISSING
    return ratio_estimate(rates[sessions.index(number)] - rates[sessions.index(against)])


def _wait_title(row: str) -> str:
    if is_client_wait(row):
        return CLIENT
    return LOG_SYNC if is_log_sync(row) else OTHER

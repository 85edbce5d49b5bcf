"""How long one wait lasts on average: from the server's own clock, else from the rate at which waits end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from redolab.records.observation import TimedWaits, WaitEnds
from redolab.stats.estimates import MISSING, Estimate

_FOR_CERTAIN_BELOW = 3.0
"""None seen where 3 were to be expected has a chance of 5 %."""


@dataclass(frozen=True)
class WaitLength:
    """The average length of one kind of wait."""

    average_s: Estimate
    count: int | None
    """Waits as the server counted them; None where it did not."""
    source: str | None
    """`server`, `sampled`, or None where nothing is known."""


UNKNOWN_LENGTH = WaitLength(MISSING, None, None)


def timed_length(waits: Iterable[TimedWaits]) -> WaitLength | None:
    """The average of waits that the server itself timed; None where it timed none."""
    known = [item for item in waits if item.time_s is not None and item.count > 0]
    if not known:
        return None
    count = sum(item.count for item in known)
    average = sum(item.time_s or 0.0 for item in known) / count
    return WaitLength(Estimate(average, average, average), count, "server")


def sampled_length(ends: Iterable[WaitEnds]) -> WaitLength:
    """The average from how often waits ended while they were being looked at.

    Ends come at the rate (waits) / (time spent in them), so the average is exposure over ends,
    with the exact interval of a Poisson count. Where no end was seen only a lower limit is known.

    Source: Garwood, "Fiducial limits for the Poisson distribution", Biometrika 28, 1936.
    """
    from scipy import special

    known = list(ends)
    exposure = sum(item.exposure_s for item in known)
    count = sum(item.ends for item in known)
    if exposure <= 0:
        return UNKNOWN_LENGTH
    if count == 0:
        return WaitLength(Estimate(None, exposure / _FOR_CERTAIN_BELOW, None), None, "sampled")
    most = float(special.gammaincinv(count + 1, 0.975))
    least = float(special.gammaincinv(count, 0.025))
    return WaitLength(Estimate(exposure / count, exposure / most, exposure / least), None, "sampled")

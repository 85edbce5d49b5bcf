"""How long each wait for the log took, over all stretches: the buckets of each added up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from redolab.analysis.observed.exhibits import Cumulative
from redolab.analysis.observed.watch.stretches import Stretches, read_counts
from redolab.records.run import Run
from redolab.records.watched import LOG_SYNC, LOG_WRITE


def read_waits(run: Run, stretches: Stretches) -> tuple[Cumulative, Cumulative]:
    """Shares of the waits for the log, and of its writes, that took less than each upper end that one has."""
    syncs, writes = (buckets(run, section, stretches) for section in (LOG_SYNC, LOG_WRITE))
    ends = sorted(end for end in {*syncs, *writes} if math.isfinite(end))
    return _shares(syncs, ends), _shares(writes, ends)


def buckets(run: Run, section: str, stretches: Stretches) -> dict[float, float]:
    """Waits of one kind by the upper end of their bucket in ms, which may be infinite."""
    counts = read_counts(run, section, stretches)
    ends = ((_end(name), max(count, 0.0)) for name, count in counts.items())
    return {end: count for end, count in ends if not math.isnan(end)}


def _shares(counts: Mapping[float, float], ends: Sequence[float]) -> dict[float, float]:
    whole = math.fsum(counts.values())
    if not whole > 0:
        return {}
    return {
        end / 1e3: min(1.0, math.fsum(count for at, count in counts.items() if at <= end) / whole)
        for end in ends
    }


def _end(name: str) -> float:
    try:
        end = float(name)
    except ValueError:
        return math.nan
    return end if end > 0 else math.nan

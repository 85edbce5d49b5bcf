"""The tables of the published commit-write experiment, same columns.

Source: Craig Shallahamer, OraPub, "Speed Sometimes Means Changing The Rules" (21 February 2012).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from redolab.analysis.profile import log_sync_share_of_wait, session_times
from redolab.analysis.reading import Sightings
from redolab.analysis.time_based import (
    UnitOfWork,
    host_cpu_share,
    instance_blocked_s,
    log_write_share,
)
from redolab.analysis.waits import NOTHING
from redolab.records.sample import Sample
from redolab.stats.estimates import mean_estimate

SOURCES = (
    "Craig Shallahamer, OraPub, Speed Sometimes Means Changing The Rules, 21 February 2012 "
    "(commit-write facility: overview, unit of work, normality test before comparison)",
    "Craig Shallahamer, OraPub, Altering insert commit batch size, parts 1-4, May-June 2010 "
    "(response-time curve with M solved from measured points)",
)


def unit_of_work(accounts: Mapping[str, Sequence[UnitOfWork]], baseline: str) -> list[dict[str, Any]]:
    """Averages of L, CPU, wait and response time per commit, with % change against the baseline."""
    rows = {name: _averages(items) for name, items in accounts.items()}
    base = rows.get(baseline, {})
    columns = (
        ("arrival_rate_per_s", "arrival_rate_change_pct"),
        ("cpu_ms", "cpu_change_pct"),
        ("wait_ms", "wait_change_pct"),
        ("response_ms", "response_change_pct"),
    )
    return [
        {
            "setting": name,
            "samples": len(accounts[name]),
            **row,
            **{change: _change(row[column], base.get(column)) for column, change in columns},
        }
        for name, row in rows.items()
    ]


def overview(
    samples: Mapping[str, Sequence[Sample]], sightings: Sightings, write_flushes: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Commits per second, CPU %, log sync and log write as % of the non-idle wait, per setting.

    CPU % is the machine's, whoever used it. Log sync is the sessions' waiting for their flush;
    log write is the time in write and flush calls of whichever process made them. In PostgreSQL
    a session that flushes does both at once, so the two overlap and log write can pass 100 %.

    Args:
        samples: of each setting.
        sightings: by sample.
        write_flushes: settings on servers where one call writes the log and flushes it.
    """
    return [
        {
            "setting": name,
            "commits_per_s": _mean(sample.commits / sample.elapsed_s for sample in items),
            "cpu_pct": _percent(host_cpu_share(sample) for sample in items),
            "log_sync_pct": _percent(_log_sync(sample, sightings) for sample in items),
            "log_write_pct": _percent(
                log_write_share(
                    sample, sightings.get(sample.sample, NOTHING), write_flushes=name in write_flushes
                )
                for sample in items
            ),
        }
        for name, items in samples.items()
    ]


def _log_sync(sample: Sample, sightings: Sightings) -> float | None:
    seen = sightings.get(sample.sample, NOTHING)
    return log_sync_share_of_wait(session_times(sample, seen), instance_blocked_s(sample, seen))


def _averages(items: Sequence[UnitOfWork]) -> dict[str, float | None]:
    return {
        "arrival_rate_per_s": _mean(item.arrival_rate for item in items),
        "cpu_ms": _scaled(_mean(item.service_time for item in items), 1e3),
        "wait_ms": _scaled(_mean(item.queue_time for item in items), 1e3),
        "response_ms": _scaled(_mean(item.response_time for item in items), 1e3),
    }


def _mean(values: Any) -> float | None:
    return mean_estimate(values).point


def _percent(values: Any) -> float | None:
    return _scaled(_mean(values), 100.0)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _change(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else 100 * (value / base - 1)

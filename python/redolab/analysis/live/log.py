"""The log in a live profile: commits per flush, and the lengths of log syncs and log writes."""

from __future__ import annotations

from collections.abc import Collection

from redolab.analysis.live.episodes import counted_histogram, histogram
from redolab.analysis.live.group import Json
from redolab.analysis.waits import event_name
from redolab.dialect.log_waits import is_log_sync, is_log_write
from redolab.records.observation import Observation


def log(observation: Observation) -> Json:
    """Figures of the log by the server's counters and the followed waits; `why_null` gives a reason for each
    null.
    """
    counters, elapsed = observation.counters, observation.elapsed_s
    transactions, flushes = counters.get("transactions"), counters.get("log_flushes")
    time = counters.get("log_flush_time_s")
    why = {
        "transactions": "the server's count of transactions was not available",
        "flushes": "the server's count of flushes was not available",
        "flush_time_ms": "the server did not time its flushes",
    }
    figures = {
        "transactions": transactions,
        "flushes": flushes,
        "commits_per_flush": transactions / flushes if transactions is not None and flushes else None,
        "flush_time_ms": 1e3 * time / flushes if time is not None and flushes else None,
    }
    why["commits_per_flush"] = (
        why["transactions"] if transactions is None else why["flushes"] if flushes is None else "no flush"
    )
    if flushes == 0:
        why["flush_time_ms"] = "no flush"
    sync, write = lengths(observation)
    return {
        **figures,
        "transactions_per_s": None if transactions is None else transactions / elapsed,
        "flushes_per_s": None if flushes is None else flushes / elapsed,
        "why_null": {name: why[name] for name, value in figures.items() if value is None},
        "log_sync": sync,
        "log_write": write,
        "text": _sync_against_write(sync, write),
    }


def lengths(observation: Observation) -> tuple[Json | None, Json | None]:
    """Lengths of log syncs and of log writes: as they were followed, or as the server itself counted them."""
    if not observation.wait_buckets:
        return histogram(observation.log_sync), histogram(observation.log_write)
    writes = {place for place, event in enumerate(observation.events) if is_log_write(event_name(*event))}
    syncs = {place for place, event in enumerate(observation.events) if is_log_sync(event_name(*event))}
    of_each = [
        {
            bucket.below_s: bucket.count
            for bucket in observation.wait_buckets
            if bucket.event in events and bucket.count
        }
        for events in (syncs - writes, writes)
    ]
    edges = sorted({below for counts in of_each for below in counts})
    found = [
        counted_histogram(counts, edges, _total_s(observation, events), observation.elapsed_s)
        for counts, events in zip(of_each, (syncs - writes, writes), strict=True)
    ]
    return found[0], found[1]


def _total_s(observation: Observation, events: Collection[int]) -> tuple[int, float]:
    """Waits for some events in the whole instance, as the server counted and timed them."""
    timed = [item for item in observation.timed if item.process is None and item.event in events]
    return sum(item.count for item in timed), sum(item.time_s or 0.0 for item in timed)


def _sync_against_write(sync: Json | None, write: Json | None) -> str | None:
    if sync is None or write is None or None in (sync["mean_ms"], write["mean_ms"]):
        return None
    return (
        f"The average log sync ({sync['mean_ms']:.3g} ms) must not be compared with the average log write "
        f"({write['mean_ms']:.3g} ms): one long write counts once as a write and once "
        "for every session that waits for it."
    )

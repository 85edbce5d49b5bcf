"""Whole scans in a loop of Redolab's own, for engines that have no loop inside the server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from redolab.errors import InterruptedRunError
from redolab.records.load import Amount
from redolab.records.sample import Work


def scan(
    amount: Amount, stop: threading.Event, query: Callable[[], int], expected: int, versions: int | None
) -> Work:
    """Run `query` until the amount is done.

    Args:
        amount: how often, or for how long.
        stop: when set, no further query is begun.
        query: a whole scan; returns the sum that it found.
        expected: the sum of what it may see; another one counts as failed.
        versions: how many row versions lie in its way; None where that means nothing.

    Raises:
        InterruptedRunError: `stop` was set.
    """
    done = failed = 0
    first_s: float | None = None
    begun = time.perf_counter()
    while done < amount.units if amount.units is not None else time.perf_counter() - begun < amount.seconds:
        failed += query() != expected
        done += 1
        first_s = time.perf_counter() - begun if first_s is None else first_s
        if stop.is_set():
            raise InterruptedRunError("The run was interrupted during a sample.")
    elapsed_s = time.perf_counter() - begun
    return Work(
        commits=0,
        rows=0,
        failed=failed,
        session_elapsed_s=elapsed_s,
        session_elapsed_max_s=elapsed_s,
        units=done,
        first_unit_s=first_s,
        row_versions=None if versions is None else versions * done,
    )

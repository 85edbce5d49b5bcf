"""Statements that take long, and end soon when the run is to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import TypeVar

from redolab.errors import InterruptedRunError

_POLL_S = 0.05
_GRACE_S = 30.0
_Result = TypeVar("_Result")


def unless_stopped(
    stop: threading.Event,
    statement: Callable[[], _Result],
    cancel: Callable[[], None],
    pool: ThreadPoolExecutor | None = None,
    *,
    abandon: Callable[[], None] = lambda: None,
) -> _Result:
    """Wait for `statement` in another thread; when `stop` is set, `cancel` it.

    Args:
        stop: set when the run is to stop.
        statement: ends by itself, by an error, or soon after `cancel`.
        cancel: may be called while `statement` runs.
        pool: whose thread it is; a new one when left out.
        abandon: ends a statement that went on after `cancel`.

    Raises:
        InterruptedRunError: `stop` was set before the statement had ended.
    """
    if pool is None:
        with ThreadPoolExecutor(1, thread_name_prefix="statement") as own:
            return unless_stopped(stop, statement, cancel, own, abandon=abandon)
    if stop.is_set():  # Many short statements: none of them may be waited for long enough to see it.
        raise InterruptedRunError("The run was interrupted between two statements.")
    future: Future[_Result] = pool.submit(statement)
    while not future.done():
        wait_for([future], timeout=_POLL_S)
        if stop.is_set() and not future.done():
            cancel()
            wait_for([future], timeout=_GRACE_S)
            if not future.done():
                abandon()
            raise InterruptedRunError("The run was interrupted in the middle of a statement.")
    return future.result()

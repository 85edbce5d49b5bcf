"""Waiting for loops inside a server: a thread for each session does nothing but wait for its answer."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import TypeVar

from redolab.errors import InterruptedRunError

GRACE_S = 30.0
"""Time after their deadline in which sessions may end by themselves, seconds."""
LATE = f"the sessions did not end within {GRACE_S:.0f} s of their deadline"
"""The error of a sample whose sessions had to be ended."""
_POLL_S = 0.05
_Result = TypeVar("_Result")


def await_loops(
    working: Collection[Future[_Result]],
    seconds: float | None,
    stop: threading.Event,
    end: Callable[[set[Future[_Result]]], None],
) -> bool:
    """Wait for the sessions; True when they had to be ended because they were late.

    Args:
        working: a future for each session.
        seconds: until their deadline; None for a fixed amount of work, which takes as long as it takes.
        stop: once it is set, they are ended.
        end: ends those that are still at work, and waits for them.

    Raises:
        InterruptedRunError: `stop` was set.
    """
    give_up_s = math.inf if seconds is None else time.monotonic() + seconds + GRACE_S
    pending = set(working)
    while pending:
        pending = wait_for(pending, timeout=_POLL_S).not_done
        late = time.monotonic() > give_up_s
        if pending and (stop.is_set() or late):
            end(pending)
            if stop.is_set():
                raise InterruptedRunError("The run was interrupted during a sample.")
            return True
    return False

"""Calls that may hang in a driver run in a thread of their own, so that signals are heard and limits hold."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import TypeVar

_POLL_S = 0.05
_AFTER_STOP_S = 1.0
_Result = TypeVar("_Result")


class NotDoneError(Exception):
    """A call did not end in time, or not within a second of the user's interruption; the text says which."""


def waited_for(
    do: Callable[[], _Result],
    *,
    stop: threading.Event | None = None,
    limit_s: float | None = None,
    check: Callable[[], None] = lambda: None,
    late: Callable[[_Result], object] = lambda result: None,  # noqa: ARG005
) -> _Result:
    """The result of `do`; it is waited for until a limit, whatever it waits for itself.

    Args:
        do: goes on in its thread when it is given up, and does not keep the process alive.
        stop: once it is set, a second is left.
        limit_s: for the whole, seconds; None for no limit.
        check: is asked many times a second; what it raises gives up.
        late: takes what `do` returned after it was given up.

    Raises:
        NotDoneError: it was given up.
        BaseException: what `do` or `check` raised.
    """
    future: Future[_Result] = Future()

    def attempt() -> None:
        try:
            future.set_result(do())
        except BaseException as error:  # noqa: BLE001  raised again where it is waited for
            future.set_exception(error)

    threading.Thread(target=attempt, name="waited for", daemon=True).start()
    try:
        _wait(future, stop, limit_s, check)
    except BaseException:
        future.add_done_callback(lambda done: None if done.exception() else late(done.result()))
        raise
    return future.result()


def _wait(
    found: Future[_Result], stop: threading.Event | None, limit_s: float | None, check: Callable[[], None]
) -> None:
    give_up_s = None if limit_s is None else time.monotonic() + limit_s
    reason = f"did not end within {limit_s:g} s" if limit_s is not None else ""
    stopping = False
    while not found.done():
        wait_for([found], timeout=_POLL_S)
        if found.done():
            return
        check()
        if stop is not None and stop.is_set() and not stopping:
            stopping, reason = True, "did not end after the interruption"
            give_up_s = min(give_up_s or float("inf"), time.monotonic() + _AFTER_STOP_S)
        if give_up_s is not None and time.monotonic() > give_up_s:
            raise NotDoneError(reason)

"""A connection to PostgreSQL that does not wait for ever for an answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import psycopg
from psycopg.abc import PQGen

from redolab.engine.connecting import NotDoneError, waited_for

_AFTER_STOP_S = 1.0
_Row = TypeVar("_Row")
_Result = TypeVar("_Result")


class NoAnswerError(psycopg.OperationalError):
    """The server did not answer in time, or not within a second of the user's interruption."""


class Patience(Protocol):
    """Watches over a statement that may take long, reports what it waits for, and cancels it."""

    def over(self, connection: psycopg.Connection[Any], statement: PQGen[_Result]) -> PQGen[_Result]:
        """The same steps, watched."""
        ...


class LimitedConnection(psycopg.Connection[_Row]):
    """Gives up, and closes itself, when a statement is not answered in time.

    The limit is the client's own: a server or a pooler that hangs keeps no limit of its own.
    """

    limit_s: float | None = None
    """Seconds for each statement; None where it may take as long as it takes."""
    stop: threading.Event | None = None
    """Once it is set, a statement with a limit has a second left."""

    patience: Patience | None = None
    """The patience that watches over statements without a limit."""

    def wait(self, gen: PQGen[_Result], *args: Any, **kwargs: Any) -> _Result:
        """Wait for a statement's answer.

        Raises:
            NoAnswerError: there was none in time; the connection is closed.
        """
        if self.limit_s is None:
            watched = gen if self.patience is None else self.patience.over(self, gen)
            return super().wait(watched, *args, **kwargs)
        try:
            return super().wait(_limited(gen, self.limit_s, self.stop), *args, **kwargs)
        except NoAnswerError:
            self.close()
            raise


def _limited(gen: PQGen[_Result], limit_s: float, stop: threading.Event | None) -> PQGen[_Result]:
    """The same steps, until the limit; whoever waits resumes them ten times a second without news."""
    give_up, stopping = time.monotonic() + limit_s, False
    try:
        wanted = next(gen)
        while True:
            news = yield wanted
            if stop is not None and stop.is_set() and not stopping:
                stopping, give_up = True, min(give_up, time.monotonic() + _AFTER_STOP_S)
            if not news and time.monotonic() > give_up:
                limit = "after the interruption" if stopping else f"within {limit_s:g} s"
                raise NoAnswerError(f"no answer {limit}")
            wanted = gen.send(news)
    except StopIteration as ended:
        answer: _Result = ended.value
        return answer


def opened(connect: Callable[[], LimitedConnection[_Row]], stop: threading.Event) -> LimitedConnection[_Row]:
    """The connection that `connect` opens; once `stop` is set, it is waited for no longer than a second.

    Raises:
        NoAnswerError: it was not there by then.
        psycopg.Error: it could not be opened.
    """
    try:
        return waited_for(connect, stop=stop, late=lambda made: made.close())
    except NotDoneError as error:
        raise NoAnswerError("no answer after the interruption") from error

"""The driver's errors, turned into those that the rest of Redolab knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from redolab.errors import ConnectionLostError, EngineError


@contextmanager
def as_engine_errors() -> Iterator[None]:
    """Turn the driver's errors into `EngineError`; it encloses all that others ask of the engine.

    Raises:
        ConnectionLostError: a connection was lost, or the server broke a statement off.
        EngineError: the server or the driver refused something else.
    """
    try:
        yield
    except psycopg.OperationalError as error:
        raise ConnectionLostError(in_one_line(error)) from error
    except psycopg.Error as error:
        raise EngineError(in_one_line(error)) from error


def in_one_line(error: Exception) -> str:
    """The text of an error, or its name where it has no text."""
    return " ".join(str(error).split()) or type(error).__name__

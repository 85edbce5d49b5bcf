"""The driver's errors, turned into those that the rest of Redolab knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pymysql

from redolab.engine.mariadb.connection import error_text
from redolab.errors import EngineError


@contextmanager
def as_engine_errors() -> Iterator[None]:
    """Turn the driver's errors into `EngineError`; it encloses all that others ask of the engine.

    A private server that is gone is not started again, so a lost connection is not a `ConnectionLostError`.

    Raises:
        EngineError: the server or the driver refused something.
    """
    try:
        yield
    except pymysql.Error as error:
        raise EngineError(error_text(error)) from error

"""psycopg's errors as the rest of Redolab knows them."""

from __future__ import annotations

import psycopg
import pytest

from redolab.engine.postgres.connecting.driver_errors import as_engine_errors
from redolab.errors import ConnectionLostError, EngineError, InterruptedRunError


@pytest.mark.parametrize(
    ("raised", "lost"),
    [
        (psycopg.OperationalError("server closed the connection\n\tunexpectedly\n"), True),
        (psycopg.errors.AdminShutdown("server closed the connection unexpectedly"), True),
        (psycopg.errors.UndefinedTable("server closed the connection unexpectedly"), False),
        (psycopg.InterfaceError("server closed the connection unexpectedly"), False),
    ],
)
def test_a_lost_connection_is_told_from_the_rest(raised: psycopg.Error, lost: bool) -> None:
    with pytest.raises(EngineError) as told, as_engine_errors():
        raise raised
    assert isinstance(told.value, ConnectionLostError) == lost
    assert told.value.cause == "server closed the connection unexpectedly"
    assert told.value.__cause__ is raised


def test_an_error_without_words_has_its_name() -> None:
    with pytest.raises(EngineError, match="ended the run: InterfaceError"), as_engine_errors():
        raise psycopg.InterfaceError


def test_errors_of_redolabs_own_pass() -> None:
    with pytest.raises(InterruptedRunError), as_engine_errors():
        raise InterruptedRunError("x")

"""pymysql's errors as the rest of Redolab knows them."""

from __future__ import annotations

import pymysql
import pytest

from redolab.engine.mariadb.driver_errors import as_engine_errors
from redolab.errors import ConnectionLostError, EngineError


@pytest.mark.parametrize(
    ("raised", "cause"),
    [
        (pymysql.OperationalError(2013, "Lost connection to MySQL server during query"),
         "Lost connection to MySQL server during query"),
        (pymysql.ProgrammingError(1146, "Table 'a.b' doesn't exist."), "Table 'a.b' doesn't exist"),
        (pymysql.InterfaceError(0, ""), "InterfaceError"),
    ],
)  # fmt: skip
def test_they_end_the_run_in_plain_words(raised: pymysql.Error, cause: str) -> None:
    with pytest.raises(EngineError) as told, as_engine_errors():
        raise raised
    # A private server that is gone is not started again: there is nothing to try.
    assert not isinstance(told.value, ConnectionLostError)
    assert told.value.cause == cause
    assert str(told.value).startswith(f"The database ended the run: {cause}. Look at the server's log")

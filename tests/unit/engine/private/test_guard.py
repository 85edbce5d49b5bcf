"""The guard imports what recovers a database by the name it is told, and no other module."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.private.guard import Guard
from redolab.engine.server.kept import Kept
from redolab.errors import RefusedError

POSTGRES = "redolab.engine.postgres.own.guard_database"


@pytest.fixture
def guard() -> Iterator[Guard]:
    it = Guard()
    yield it
    it.close()


@pytest.mark.parametrize(
    "module",
    [
        "this",  # It would print a poem in the place of an answer.
        "redolab.engine.postgres.engine",
        "redolab.engine.postgres.own.recovery",
        f"{POSTGRES}.recover",
        f"x.{POSTGRES}",
        f"{POSTGRES}\n",
        "redolab.engine..own.guard_database",
        "redolab.engine.postgres.private.own.guard_database",
        "redolab.engine.oracledb.own.guard_database",
        None,
    ],
)
def test_no_other_module_is_imported(guard: Guard, module: str | None) -> None:
    answer = guard.ask({"database": {"host": "nowhere"}, "module": module})
    assert answer == {"error": f"The guard cannot recover a database by {str(module)!r}."}
    assert guard.ask({"mark": "nobody's"}) == {}, "the guard goes on"


def test_what_it_cannot_recover_is_refused() -> None:
    with pytest.raises(
        RefusedError, match=r"guard cannot connect: The guard cannot recover a database by 'this'\."
    ):
        Guard.for_database("this", {}, Kept(), print)


def test_the_module_is_imported_and_connects(guard: Guard) -> None:
    answer = guard.ask({"database": Connector("host=/nowhere dbname=x").parameters, "module": POSTGRES})
    assert answer["error"].startswith("No connection to PostgreSQL at /nowhere:5432, database x: ")


def test_signals_do_not_end_it_even_while_it_starts(guard: Guard) -> None:
    os.kill(guard.pid, signal.SIGINT)
    os.kill(guard.pid, signal.SIGTERM)
    assert guard.ask({"hold": True}) == {}
    os.kill(guard.pid, signal.SIGINT)
    assert guard.ask({"hold": True}) == {}
    status = Path(f"/proc/{guard.pid}/status").read_text()
    assert re.search(r"^SigBlk:\t0+$", status, re.MULTILINE), "what it starts begins without a mask"


def test_it_knows_no_database_until_it_is_told() -> None:
    asked = (
        "import sys, redolab.engine.private.guard; "
        "print([m for m in sys.modules if m.startswith(('psycopg', 'pymysql')) or '.own' in m])"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

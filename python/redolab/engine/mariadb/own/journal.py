"""The journal of what must be put back, in tables of the database `redolab`; each row has Redolab's seal.

Neither MariaDB nor MySQL says who owns a database: whoever may write to it could plant a row, and whoever
cleans up would execute it with the rights of a run. So a row counts only if it was sealed with the mark,
which this machine keeps and the server never sees.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping

from redolab.engine.mariadb.connection import Connection, ask
from redolab.engine.server.kept import Changed
from redolab.errors import RefusedError
from redolab.files.documents import parse_json

JOURNAL = "parameter_journal"
LISTS: Mapping[str, str] = {
    JOURNAL: "parameter varchar(64) not null primary key, value_before longtext not null, "
    "values_set longtext not null, seal char(64) not null",
    "teardown": "number int not null auto_increment primary key, statement longtext not null, "
    "seal char(64) not null",
    "session": "connection bigint unsigned not null primary key, server_started bigint not null",
}
"""The tables for whoever cleans up when the run and its guard are gone, and their columns."""


_VALUES = "the column values_set of redolab.parameter_journal"


def seal(mark: str, *words: str) -> str:
    """Proof that somebody who knows the mark wrote these words; 64 hexadecimal digits."""
    text = "\0".join(words).encode(errors="surrogateescape")
    return hmac.new(bytes.fromhex(mark), text, hashlib.sha256).hexdigest()


class Journal:
    """Notes what will be put back, before anything is changed."""

    def __init__(self, mark: str) -> None:
        """Take the mark of the run."""
        self._mark = mark

    def note(self, control: Connection, changed: Changed) -> None:
        """Note a parameter, committed on return; the first note of a parameter is kept."""
        values = json.dumps(changed.ours)
        ask(
            control,
            "insert ignore into redolab.parameter_journal values (%s, %s, %s, %s)",
            changed.name,
            changed.value,
            values,
            seal(self._mark, changed.name, changed.value, values),
        )

    def note_teardown(self, control: Connection, statements: str) -> None:
        """Note what a user's own list wants executed at the end, by whoever cleans up."""
        ask(
            control,
            "insert into redolab.teardown (statement, seal) values (%s, %s)",
            statements,
            seal(self._mark, statements),
        )


def read_changed(control: Connection, mark: str) -> tuple[Changed, ...]:
    """The parameters that the run has changed.

    Raises:
        RefusedError: somebody else wrote one of the rows.
    """
    return tuple(_changed(row, mark) for row in ask(control, "select * from redolab.parameter_journal"))


def _changed(row: Mapping[str, str], mark: str) -> Changed:
    # A run of an older version noted no values of its own.
    given = [row["values_set"]] if "values_set" in row else []
    _check(row["seal"], mark, row["parameter"], row["value_before"], *given)
    ours = tuple(map(str, parse_json(given[0].encode(), _VALUES))) if given else ()
    return Changed(row["parameter"], row["value_before"], row["value_before"], ours)


def read_teardown(control: Connection, mark: str) -> str:
    """The statements that a user's own list wants executed at the end.

    Raises:
        RefusedError: somebody else wrote one of the rows.
    """
    rows = ask(control, "select statement, seal from redolab.teardown order by number")
    for row in rows:
        _check(row["seal"], mark, row["statement"])
    return ";\n".join(row["statement"].rstrip().rstrip(";") for row in rows)


def _check(found: str, mark: str, *words: str) -> None:
    if not hmac.compare_digest(found, seal(mark, *words)):
        raise RefusedError(
            "Redolab could not put everything back: somebody changed Redolab's lists in the database redolab "
            f"({words[0]!r}), so Redolab executes nothing from these lists. Find out which values the "
            "server's parameters should have, set these values, and DROP DATABASE redolab."
        )

"""Loads of single-row writes, in a loop inside the server or in a client: their statements as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from redolab.engine.client_job import ClientJob, ClientStatements
from redolab.engine.postgres.connecting.connection import Connection, run_script
from redolab.engine.postgres.loads.base import Call, PostgresLoad, Turn, call
from redolab.records.load import Inserts, OwnRows, Updates, pause_of, rows_per_commit_of, turns_of

_FROM_CLIENTS = ClientStatements(
    "insert into redolab.item values ($1, $2, $3)",
    "update redolab.account set value = value + 1 where id = $1::bigint",
    # The function is evaluated once, for the one row.
    "update redolab.account set value = value + 1 + redolab.turns($1::text::int) where id = $2::bigint",
)


@dataclass(frozen=True)
class _Written:
    """One such load."""

    script: str
    """Makes its tables and its loop."""
    fills: tuple[tuple[str, tuple[int, ...]], ...]
    """The statements that are executed after it, each with its values."""
    settles: str
    """Brings the tables to the same state before every sample."""
    loop: Callable[[Turn, Mapping[str, str]], Call]
    """The call that a session executes for its part, under such levels."""


def _inserts(load: Inserts) -> _Written:
    """An empty table without an index; every sample extends the same file from its beginning."""

    def loop(turn: Turn, levels: Mapping[str, str]) -> Call:
        rows, pause_s = rows_per_commit_of(levels), pause_of(levels)
        part = (turn.number, rows, turn.share, turn.deadline, load.padding_bytes)
        return call("insert_loop", *part, *turn.sets, load.timed, pause_s)

    return _Written("create_inserts", (), "truncate redolab.item", loop)


def _own_rows(load: OwnRows) -> _Written:
    """A table of one row, and a loop over it, for each session."""
    tables = ", ".join(f"redolab.own_{number}" for number in range(load.sessions))
    return _Written(
        "create_own_rows",
        (("call redolab.make_own_rows(%s)", (load.sessions,)),),
        f"vacuum {tables}",
        lambda turn, _: call(f"own_{turn.number}", turn.share, turn.deadline, *turn.sets),
    )


def _updates(load: Updates) -> _Written:
    """One table with a key range for each session."""
    ids = load.rows_per_session
    filling = "insert into redolab.account select n, 0, repeat('x', %s) from generate_series(0, %s) n"

    def loop(turn: Turn, levels: Mapping[str, str]) -> Call:
        part = (turn.number * ids, ids, turn.share, turn.deadline)
        return call("update_loop", *part, *turn.sets, turns_of(levels))

    return _Written(
        "create_updates",
        (
            (filling, (load.padding_bytes, load.sessions * ids - 1)),
            ("alter table redolab.account add primary key (id)", ()),
            ("vacuum analyze redolab.account", ()),
        ),
        "vacuum redolab.account",
        loop,
    )


class PostgresWrites(PostgresLoad):
    """`Inserts`, `OwnRows` or `Updates` on PostgreSQL."""

    def __init__(self, load: Inserts | OwnRows | Updates) -> None:
        self._load = load
        match load:
            case Inserts():
                self._written = _inserts(load)
            case OwnRows():
                self._written = _own_rows(load)
            case Updates():
                self._written = _updates(load)

    def create(self, control: Connection) -> None:
        """The tables and the loop."""
        run_script(control, self._written.script)
        for statement, values in self._written.fills:
            control.execute(statement.encode(), values or None)

    def settle(self, control: Connection) -> None:
        """Empty the table, or remove the dead versions of rows."""
        control.execute(self._written.settles.encode())

    def call(self, turn: Turn) -> Call:
        """The loop."""
        return self._written.loop(turn, self.levels)

    def client_job(self) -> ClientJob:
        """The same writes, each by a statement of its own."""
        return _FROM_CLIENTS.job(self._load, self.levels)

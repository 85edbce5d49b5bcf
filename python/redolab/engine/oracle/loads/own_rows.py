"""Updates of the one row of a table of each session's own."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.loads.base import Block, OracleLoad, Turn
from redolab.engine.oracle.settings import mode_of
from redolab.records.load import OwnRows


class OracleOwnRows(OracleLoad):
    """`OwnRows` on Oracle."""

    def __init__(self, load: OwnRows) -> None:
        self._sessions = load.sessions
        self._levels: Mapping[str, str] = {}

    def create(self, control: Statements) -> None:
        """A table with one row for each session."""
        for number in range(self._sessions):
            words = {"number": str(number)}
            control.run("create_own", words)
            control.run("insert_own", words)
            control.commit()

    def apply(self, control: Statements, levels: Mapping[str, str]) -> None:
        """Take the mode of commits."""
        self._levels = levels

    def block(self, turn: Turn) -> Block:
        """The updates of the session's own row."""
        words = {"number": str(turn.number), "mode": mode_of(self._levels)}
        return Block("run_own_rows", words, {"quota": turn.quota, "seconds": turn.amount.seconds})

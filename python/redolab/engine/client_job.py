"""The statements that a session of a client repeats, whatever the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from redolab._core import ClientArgument
from redolab.records.load import (
    Inserts,
    Load,
    Updates,
    arrival_rate_of,
    pause_of,
    rows_per_commit_of,
    turns_of,
)


@dataclass(frozen=True)
class ClientJob:
    """One statement for every row, or the user's own statements, committed each time."""

    statement: str
    """Text with the placeholders of the database's protocol; `{session}` is the session's number, from 0."""
    arguments: tuple[ClientArgument, ...] = ()
    """The values of the placeholders."""
    rows_per_commit: int = 1
    """A lone row is a transaction of its own, without BEGIN and COMMIT."""
    arrival_rate_per_s: float | None = None
    """Transactions asked for per second, at random; None where each session begins its next by itself."""
    pause_s: float = 0.0
    """Pause of a session after each commit; none where transactions are asked for."""
    text: bool = False
    """Whether the text is several statements, executed between BEGIN and COMMIT as one unit."""


@dataclass(frozen=True)
class ClientStatements:
    """The statements of Redolab's own writes, in the placeholders of a database's protocol."""

    insert: str
    """The insert of one row, from the session's number, the row's and the filler."""
    update: str
    """The update of one row, by its key."""
    update_and_work: str
    """The same update after CPU work, by the turns of the CPU work and the key."""

    def job(self, load: Load, levels: Mapping[str, str]) -> ClientJob:
        """The job of each session under such levels; `load` is one of such writes."""
        match load:
            case Inserts():
                filler = ClientArgument.text("x" * load.padding_bytes)
                return ClientJob(
                    self.insert,
                    (ClientArgument.session(), ClientArgument.row(), filler),
                    rows_per_commit=rows_per_commit_of(levels),
                    arrival_rate_per_s=arrival_rate_of(levels),
                    pause_s=pause_of(levels),
                )
            case Updates():
                key, turns = ClientArgument.key(load.rows_per_session), turns_of(levels)
                if turns:
                    return ClientJob(self.update_and_work, (ClientArgument.text(str(turns)), key))
                return ClientJob(self.update, (key,))
        return ClientJob("update redolab.own_{session} set a = a + 1")

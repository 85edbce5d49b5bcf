"""The interface of a load that Oracle can do: its tables, and the loop of its sessions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from redolab.engine.oracle.clients.task import ClientTask
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.server.load import ServerLoad
from redolab.records.load import Amount

_ROWS_AT_ONCE = 10_000
_RATE = 16_807
_PERIOD = 2_147_483_647


@dataclass(frozen=True)
class Turn:
    """One session's part of a sample."""

    number: int
    """Number of the session, from 0."""
    sessions: int
    amount: Amount
    seed: int

    @property
    def quota(self) -> int:
        """Units of work that this session does; 0 where it works for a time."""
        if self.amount.units_each is not None:
            return self.amount.units_each
        return self.amount.share(self.number, self.sessions) or 0

    @property
    def state(self) -> int:
        """Where the session's own numbers begin: never 0, from which they would not move."""
        return (self.seed * _RATE + self.number * 7_919 + 1) % (_PERIOD - 1) + 1


@dataclass(frozen=True)
class Block:
    """A loop that one session executes, in PL/SQL."""

    name: str
    """Name of the statement."""
    words: Mapping[str, str] = field(default_factory=dict)
    """The words for the places of its text."""
    values: Mapping[str, int | float] = field(default_factory=dict)


@runtime_checkable
class ClientLoad(Protocol):
    """A load whose sessions can be clients."""

    def client_task(self) -> ClientTask:
        """The task that each of them repeats, under the levels applied last."""
        ...


class OracleLoad(ServerLoad[Statements]):
    """One kind of load, with tables in the user's own schema."""

    scans = False
    """Whether the one session executes queries, and no block."""

    @abstractmethod
    def block(self, turn: Turn) -> Block:
        """The block that a session executes, under the levels applied last."""


def fill(control: Statements, name: str, rows: int, values: Mapping[str, int] | None = None) -> None:
    """Fill a table in steps, each committed."""
    for first in range(0, rows, _ROWS_AT_ONCE):
        count = min(_ROWS_AT_ONCE, rows - first)
        control.run(name, values={"first_id": first, "row_count": count, **(values or {})})
        control.commit()

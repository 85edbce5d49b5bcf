"""The interface of a load that PostgreSQL can do: its tables, its settings, and each session's call."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from redolab.engine.postgres.connecting.connection import Connection
from redolab.engine.server.load import ServerLoad
from redolab.records.load import Amount


@dataclass(frozen=True)
class Turn:
    """One session's part in one interval of work."""

    number: int
    """Number of the session, from 0."""
    sessions: int
    """How many work."""
    amount: Amount
    deadline: Any
    """When to stop, on the server's clock; None where the amount is units of work."""
    parameters: Mapping[str, str]
    """Parameters that each transaction sets for itself."""

    @property
    def share(self) -> int | None:
        """Units of work of this session; None where there is a deadline."""
        return self.amount.share(self.number, self.sessions)

    @property
    def sets(self) -> tuple[list[str], list[str]]:
        """Names and values of `parameters`, as the loops take them."""
        return list(self.parameters), list(self.parameters.values())


@dataclass(frozen=True)
class Call:
    """The call that a session executes; its one row has units, commits, rows, failed and elapsed_s."""

    statement: bytes
    arguments: tuple[Any, ...]


def call(loop: str, *arguments: Any) -> Call:
    """The call of one of the schema's loops; a list is one of texts."""
    places = ", ".join("%s::text[]" if isinstance(each, list) else "%s" for each in arguments)
    return Call(f"call redolab.{loop}({places})".encode(), arguments)


class PostgresLoad(ServerLoad[Connection]):
    """One kind of load on one server, inside the schema `redolab`."""

    @abstractmethod
    def call(self, turn: Turn) -> Call:
        """The call that a session executes for its part."""

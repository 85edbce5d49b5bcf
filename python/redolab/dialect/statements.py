"""Statements that put a measured setting in force on a server, and statements that undo it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RoleValue:
    """A value that a role had of its own before (PostgreSQL's ALTER ROLE ... SET)."""

    role: str
    value: str
    database: str = ""
    """The one database in which it holds; empty for all."""


@dataclass(frozen=True)
class Assignment:
    """One parameter of a setting, as a run measured it."""

    parameter: str
    value: str
    scope: str
    """How far the run's own change reached: `transaction`, `session` or `system`."""
    before: str | None
    """The server's value before the run; None where it is not known."""
    altered: bool | None = None
    """Whether the server keeps the former value by a statement (PostgreSQL's ALTER SYSTEM); None where that
    is not known."""
    of_roles: tuple[RoleValue, ...] | None = None
    """Values that roles had of their own; None where that is not known."""


@dataclass(frozen=True)
class Way:
    """One way to put every parameter of a setting in force, and how to undo it."""

    scope: str
    """`server`, `role`, `session` or `commit`: for whom it holds."""
    reach: str
    """For whom it holds, from when on, and what it needs; in sentences."""
    set: tuple[str, ...]
    """Statements, or lines of an option file, each complete."""
    undo: tuple[str, ...]
    """The same, which bring back what was before."""
    restart: bool = False
    """Whether the server must be restarted before it holds."""
    lasts: bool = True
    """Whether it still holds after a restart of the server."""
    language: str = "SQL"
    """The language of the lines: `SQL` or `my.cnf`."""
    look: tuple[str, ...] = ()
    """Statements that show, before the change, what the undo does not know; empty where it knows all."""

    def as_json(self) -> dict[str, Any]:
        """The way as the results object has it."""
        return {
            **dataclasses.asdict(self),
            "set": list(self.set),
            "undo": list(self.undo),
            "look": list(self.look),
        }


Ways = Callable[[Sequence[Assignment]], tuple[Way, ...]]
"""Every way to set all of some parameters; the first one needs no name to be filled in."""

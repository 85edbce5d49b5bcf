"""Somebody's database in the charge of a guard: the guard, and the mark of what is Redolab's there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.engine.private.guard import Guard
from redolab.engine.private.marks import Marks, new_mark

NO_MARK = (
    "The mark of Redolab's schema could not be kept on this machine. If this run and its guard are both "
    "killed, the server is to be put back by hand (docs/guide/own-server.md)."
)
"""What a reader is told where no mark was kept."""


class Charge:
    """A new mark, and the guard that is told of it."""

    def __init__(self, module: str, marks: Marks) -> None:
        """Draw a mark; there is no guard yet.

        Args:
            module: of the engine's that recovers its databases, for the guard.
            marks: where those of this kind of server are kept.
        """
        self.mark = new_mark()
        self.mark_kept = True
        """Whether this machine knows the schema as Redolab's own when the run and its guard are gone."""
        self._module, self._marks, self._place = module, marks, ""
        self._guard: Guard | None = None
        self._pid: int | None = None

    def give(self, parameters: Mapping[str, Any], place: str) -> None:
        """Let a guard hold the server, and keep the mark.

        Args:
            parameters: of the connection.
            place: where the schema will be, for the mark.

        Raises:
            RefusedError: the guard cannot connect.
        """
        self._place = place
        self._guard = Guard.for_database(self._module, parameters)
        self._pid = self._guard.ask({"mark": self.mark}).get("pid")
        self.mark_kept = self._marks.keep(self.mark, place)

    def proofs(self) -> Mapping[str, str]:
        """The marks that prove a schema to be Redolab's own, each with its place."""
        return {**self._marks.kept(), self.mark: self._place}

    def pids(self, hold: bool = False) -> list[int]:
        """The server process of the guard's connection; made anew where a restart ended it, with `hold`."""
        if hold and self._guard:
            self._pid = self._guard.ask({"hold": True}).get("pid")
        return [] if self._pid is None else [self._pid]

    def release(self) -> None:
        """Nothing is left to do for the guard."""
        if self._guard:
            self._guard.release()

    def leave_to_guard(self) -> None:
        """Let the guard put back what is left to, and do not wait for it."""
        if self._guard:
            self._guard.leave_to_it()

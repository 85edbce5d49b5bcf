"""Somebody's database in the charge of a guard: the guard, and the mark of what is Redolab's there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.console import say
from redolab.engine.private.guard import Guard
from redolab.engine.private.marks import Marks, new_mark
from redolab.engine.server.kept import Kept, Memory
from redolab.errors import RedolabError, RefusedError

NO_MARK = (
    "The mark by which Redolab recognises its own schema could not be kept on this machine. If this run and "
    "its guard (the process that cleans up) are both killed, the server must be put back by hand "
    "(docs/guide/own-server.md)."
)
"""The warning where no mark was kept."""
_ALONE = (
    "If this run is killed before its end too, the next run on that server, from this user and machine, puts "
    "everything back."
)


class GuardedMark(Memory):
    """A new mark, and the guard, which gets everything that is kept."""

    def __init__(self, module: str, marks: Marks) -> None:
        """Draw a mark; there is no guard yet.

        Args:
            module: of the engine's that recovers its databases, for the guard.
            marks: where those of this kind of server are kept.
        """
        super().__init__()
        self.kept = Kept(mark=new_mark())
        self.mark_kept = True
        """Whether this machine knows the schema as Redolab's own when the run and its guard are gone."""
        self._module, self._marks, self._place = module, marks, ""
        self._guard: Guard | None = None
        self._noted = self.kept
        self._parameters: Mapping[str, Any] = {}
        self._pid: int | None = None

    @property
    def mark(self) -> str:
        """The mark that proves the schema to be this run's."""
        return self.kept.mark

    def give(self, parameters: Mapping[str, Any], place: str) -> None:
        """Let a guard hold the server, and keep the mark.

        Args:
            parameters: of the connection.
            place: where the schema will be, for the mark.

        Raises:
            RefusedError: the guard cannot connect.
        """
        self._place, self._parameters = place, parameters
        try:
            self._start()
        except RefusedError as error:
            raise RefusedError(f"{error} Nothing was changed.") from error
        self.mark_kept = self._marks.keep(self.mark, place)

    def foresee(self, kept: Kept) -> None:
        """Write down next to the mark what will be kept, which takes the longest of keeping it."""
        if self._guard and self.mark_kept and kept != self._noted:
            self._marks.note(kept)
            self._noted = kept

    def keep(self, kept: Kept) -> None:
        """Take this in place of what was kept, and let the guard do so; called before a change."""
        changed = kept != self.kept
        super().keep(kept)
        self.renew()
        self.foresee(kept)
        if self._guard and changed:
            self._guard.keep(kept)

    def renew(self) -> None:
        """Start the guard anew where somebody ended it, and say so."""
        if self._guard is None or not self._guard.is_gone:
            return
        ended, self._pid = f"The guard of this run, process {self._guard.pid}, {self._guard.end}", None
        self._guard.close()
        try:
            self._start()
        except RedolabError as error:
            # The one that is gone stays in its place, so that each look tries again.
            if not self._missed:
                say(f"redolab: {ended}. {error} {_ALONE}")
            self._missed = True
            return
        self._missed = False
        self.pids(hold=True)
        say(f"redolab: {ended}; a new one took over.")

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
            if self._guard.is_gone:
                say(f"redolab: The guard of this run, process {self._guard.pid}, {self._guard.end}.")
            self._guard.release()
            self._guard = None

    def leave_to_guard(self) -> None:
        """Let the guard put back what is left to, and do not wait for it."""
        self.renew()
        if self._guard:
            self._guard.leave_to_it()

    _missed = False
    """Whether a guard that was ended could not be started anew."""

    def _start(self) -> None:
        self._guard = Guard.for_database(self._module, self._parameters, self.kept, say)
        self._pid = self._guard.connection

"""Putting a server back, in the same steps for every database: by a run, by its guard, by a later run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from redolab.engine.server.kept import Kept
from redolab.engine.server.putting_back import PutBack, ServerParameters, put_back


@dataclass(frozen=True)
class Finished:
    """What came of it."""

    parameters: PutBack
    removal: str = ""
    """Why something of Redolab's is still there, and how it goes; empty where nothing is."""
    complaint: str = ""
    """What went wrong beside that, and cannot be mended by trying again."""

    @property
    def undone(self) -> bool:
        """Whether something is left that a later try may put back."""
        return bool(self.parameters.left or self.removal)

    @property
    def text(self) -> str:
        """All that the user must know, in whole sentences; empty where everything is as before."""
        of_parameters = self.parameters.sentences
        if self.removal and not of_parameters:
            of_parameters = ("Every parameter is put back.",)
        return " ".join(filter(None, (*of_parameters, self.removal, self.complaint)))


class Recovery(ABC):
    """One server that is put back."""

    parameters: ServerParameters
    """Its parameters."""

    def finish(self, kept: Kept) -> Finished:
        """Put everything back from memory, and remove what the run made.

        The list of parameters in the database goes last, and stays while one of them is not put back.
        """
        self.end_sessions(kept)
        told = put_back(self.parameters, kept.changed)
        if told.left:
            return Finished(told, self.why_kept(kept))
        complaint = self.tear_down(kept) if kept.teardown else ""
        return Finished(told, self.remove(kept), complaint)

    @abstractmethod
    def end_sessions(self, kept: Kept) -> None:
        """End those of the run's sessions that still work; nothing that goes wrong is raised."""

    @abstractmethod
    def tear_down(self, kept: Kept) -> str:
        """Execute the teardown of a user's own list; returns what went wrong, as sentences."""

    @abstractmethod
    def remove(self, kept: Kept) -> str:
        """Drop what the run made, and look whether it is gone; returns what is left and why, as sentences."""

    @abstractmethod
    def why_kept(self, kept: Kept) -> str:
        """What stays in the database while a parameter is not put back, as sentences."""

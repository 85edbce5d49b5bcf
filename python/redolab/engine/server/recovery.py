"""Putting a server back, in the same steps for every database: by a run, by its guard, by a later run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace

from redolab.console import say
from redolab.engine.private.marks import Left, Marks
from redolab.engine.server.kept import Kept
from redolab.engine.server.putting_back import PutBack, ServerParameters, put_back
from redolab.errors import RedolabError, RefusedError, sentence


@dataclass(frozen=True)
class Finished:
    """The outcome of putting a server back."""

    parameters: PutBack
    removal: str = ""
    """Why something of Redolab's is still there, and how to remove it; empty where nothing is."""
    complaint: str = ""
    """Other faults, which cannot be mended by trying again."""

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

    def of_killed(self) -> str:
        """The text for the user of the next run, in whole sentences."""
        restored = self.parameters.restored
        values = ", ".join(f"{name} = {value}" for name, value in restored.items())
        if self.parameters.left:
            done = "An earlier run left parameters changed."
        elif restored:
            done = f"An earlier run had left parameters changed, and they are put back: {values}."
        elif self.removal:
            done = "An earlier run left something on this server."
        else:
            done = "The remains of an earlier run were removed."
        return f"{done} {self.text}".rstrip()


LEFT = (
    "An earlier run left something on this server. The next run puts this back before it begins; until then "
    "parameters are as the earlier run left them."
)
"""The notice about a server before anything is asked."""


def tell_of_copies(left: Left) -> None:
    """Report the addresses of servers with the same identity that have parameters left changed."""
    for address in left.elsewhere:
        say(
            f"redolab: An earlier run left parameters changed on a server that it reached at {address}. That "
            "server has the same identity as the server of this run. If both are the same server, start a "
            "run with that address first: it puts the parameters back. Redolab changes nothing of the "
            "earlier run here."
        )


def tell_of_killed(finished: Finished | None, *, in_the_way: bool = True) -> None:
    """Report what became of a killed run.

    Args:
        finished: what came of putting it back; None where there was nothing.
        in_the_way: whether no other run may begin while something is left that it made.

    Raises:
        RefusedError: something could not be put back.
    """
    if finished is None:
        return
    left = finished.parameters.left or finished.complaint or (finished.removal and in_the_way)
    if left:
        raise RefusedError(finished.of_killed())
    say(f"redolab: {finished.of_killed()}")


class Recovery(ABC):
    """One server that is put back."""

    parameters: ServerParameters
    """Its parameters."""
    marks: Marks
    """The notes of what runs changed on such servers."""

    def finish(self, kept: Kept) -> Finished:
        """Put everything back from memory, and remove what the run made.

        The list of parameters in the database goes last, and stays while one of them is not put back.
        """
        if self.restarted(kept):
            # By now these numbers are somebody else's.
            self.end_sessions(replace(kept, sessions=()))
        else:
            self.end_sessions(kept)
        outcome = self.finish_parameters(kept)
        if outcome.left:
            return Finished(outcome, self.why_kept(kept))
        complaint = self.tear_down(kept) if kept.teardown else ""
        return Finished(outcome, self.remove(kept), complaint)

    def finish_parameters(self, kept: Kept) -> PutBack:
        """Put back the parameters alone, and note which are settled."""
        outcome = put_back(self.parameters, kept.changed, self.restarted(kept))
        self.marks.settle(kept.settling([one.name for one in kept.changed if one.name not in outcome.left]))
        return outcome

    def restarted(self, kept: Kept) -> bool:  # noqa: ARG002
        """Whether a restart has since reset what the run had set."""
        return False

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
        """The objects that stay in the database while a parameter is not put back, as sentences."""


@dataclass(frozen=True)
class Standing:
    """A schema with Redolab's name, and the evidence that it is Redolab's own."""

    mark: str | None
    """The mark that it bears, if any; where a seal replaces it, one that is in no doubt."""
    doubt: str | None
    """Why it does not count as Redolab's own; None where it does."""
    looks_made: bool
    """Whether its comment says that a Redolab made it, which proves nothing."""
    name: str = "redolab"
    """Its name by now."""
    made: str = ""
    """The server's number of it, whatever its name and comment become; empty without one."""
    lists: Collection[str] = ()
    """Which lists it has, where that is looked at; a run that was killed in making them leaves a part."""
    odd: str | None = None
    """Why its lists are not read, although it is Redolab's own."""

    @property
    def readable(self) -> bool:
        """Whether it is Redolab's own, and its lists are."""
        return not (self.doubt or self.odd)


class SchemaRecovery(Recovery):
    """One server, and the schema `redolab` on it, which is proved to be Redolab's own by a mark."""

    kind: str
    """The server's word for such a schema."""
    within: str
    """Where the next run must be to find it."""
    journal: str
    """The list of parameters in it, in words."""
    afterwards = ""
    """A further fact that the user must know while a parameter is not put back, as a sentence."""

    @abstractmethod
    def find(self, kept: Kept) -> Standing | None:
        """The schema and whether it is Redolab's own; None where there is no schema."""

    @abstractmethod
    def drop_statement(self, name: str) -> str:
        """The statement by which an administrator drops it."""

    @abstractmethod
    def drop(self, standing: Standing) -> None:
        """Drop it, its journal last."""

    @abstractmethod
    def listed(self, standing: Standing) -> Kept:
        """The run's notes in it."""

    def forget(self, kept: Kept) -> None:
        """Forget the marks of which nothing is left; without a mark in `kept` those of the whole server."""
        self.marks.forget(kept.mark, kept.address)

    def remove(self, kept: Kept) -> str:
        """Drop the schema, whatever it is called by now, where it is proved to be Redolab's own."""
        name = "redolab"
        try:
            standing = self.find(kept)
            if standing is not None:
                name = standing.name
                if standing.doubt is None:
                    if name != "redolab":
                        say(
                            f"redolab: Somebody has renamed the {self.kind} redolab to {name}. Its mark "
                            "shows that Redolab made it, so it is dropped with all that is in it."
                        )
                    self.drop(standing)
                    standing = self.find(kept)
            # Somebody else's may have its name by now.
            gone = kept.made and standing and standing.made != kept.made and standing.mark != kept.mark
            if standing is None or gone:
                self.forget(kept)
                return ""
            left = standing.doubt or "it is there again"
        except self._foreseen as error:
            left = self.parameters.words(error)
        return (
            f"The {self.kind} {name} is still there: {left}. The next run {self.within}, from this user and "
            f"machine, drops it first where it can. To drop it by hand: {self.drop_statement(name)};"
        )

    def why_kept(self, kept: Kept) -> str:
        """The list of parameters, where it is still there."""
        with suppress(*self.parameters.errors):
            standing = self.find(kept)
            if standing is not None and standing.readable:
                return (
                    f"The {self.kind} {standing.name} remains until the next run, with the list in "
                    f"{self.journal}: the next run {self.within}, from this user and machine, puts "
                    f"everything back first. {self.afterwards}"
                ).rstrip()
        return self.afterwards

    def finish_noted(self, noted: Kept) -> Finished:
        """Put back what this machine noted of a killed run, with what its lists there have in addition."""
        # What is known is put back, whoever changed the lists.
        with suppress(*self._foreseen):
            standing = self.find(noted)
            if standing and standing.mark == noted.mark and standing.readable:
                noted = noted.joined(self.listed(standing))
        return self.finish(noted)

    def recover(self) -> Finished | None:
        """Put back what a killed run noted in its schema, and drop that, where this machine did not note it.

        Nothing is touched where the schema is not proved to be Redolab's own. Safe to run again after any
        interruption: the journal goes last.

        Returns what came of it; None where there was nothing to put back.

        Raises:
            RefusedError: the lists cannot be read.
        """
        try:
            standing = self.find(Kept())
            if standing is None:
                # Killed between the last two steps, or somebody else dropped it.
                self.forget(Kept())
            if standing is None or not standing.readable:
                return None
            kept = self.listed(standing)
        except self.parameters.errors as error:
            raise RefusedError(
                f"Redolab could not put everything back: {sentence(self.parameters.words(error))}"
            ) from error
        return self.finish(kept)

    @property
    def _foreseen(self) -> tuple[type[Exception], ...]:
        return (*self.parameters.errors, RedolabError)

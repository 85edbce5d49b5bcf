"""How far a command is, on stderr: a bar with time left on a terminal, about ten lines anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from redolab.console import say, terminal
from redolab.printable import printable
from redolab.units import clock


class ProgressLines:
    """Progress as plain lines."""

    def __init__(self, doing: str, things: str) -> None:
        self.doing, self.things = doing, things
        self.total = self.done = 0

    def begin(self, total: int, seconds: float | None = None) -> None:
        """So many things are about to be done, of so much load where it is known."""
        self.total = total
        if seconds is not None:
            say(f"{self.doing} {total} {self.things}, {clock(seconds)} of load")

    def advance(self, name: str) -> None:
        """One more is done."""
        self.done += 1
        if self.done * 10 // self.total > (self.done - 1) * 10 // self.total:
            say(f"{self.done} of {self.total} {self.things} ({printable(name)})")

    def news(self, text: str) -> None:
        """Something is known that the user may want at once."""
        say(printable(text))


class ProgressBar:
    """Progress as a bar with time left, scaled by the things done so far."""

    def __init__(self, bar: Progress, doing: str) -> None:
        self.bar, self.doing = bar, doing
        self.task = bar.add_task("preparing", total=None)

    def begin(self, total: int, seconds: float | None = None) -> None:  # noqa: ARG002
        """So many things are about to be done."""
        self.bar.reset(self.task, total=total, description=self.doing)

    def advance(self, name: str) -> None:
        """One more is done."""
        self.bar.update(self.task, advance=1, description=f"{printable(name):<16}")

    def news(self, text: str) -> None:
        """Something is known that the user may want at once."""
        self.bar.console.print(printable(text), markup=False, highlight=False)


@contextmanager
def shown(doing: str, things: str) -> Iterator[ProgressLines | ProgressBar]:
    """Progress of what is done with `things`, as `measuring` and `samples`."""
    console = terminal(stderr=True)
    if not console.is_terminal:
        yield ProgressLines(doing, things)
        return
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as bar:
        yield ProgressBar(bar, doing)

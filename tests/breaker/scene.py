"""One run or watch with its server, and what others have changed there meanwhile."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from tests.breaker.lab import Lab
from tests.breaker.somebody import Somebody, StatementError

WATCH, RUN = "watch", "run"


class NotYetError(Exception):
    """What the moment is about is not there now."""


@dataclass
class Lift:
    """A hindrance, and when it ends."""

    at_s: float
    """On the monotonic clock; infinite for the end of the run."""
    end: Callable[[], None]
    outlasts: bool = False
    """Whether the end of the run does not end it."""


@dataclass(frozen=True)
class Theirs:
    """What somebody set, and between which times of the clock of the day."""

    value: str
    from_s: float
    to_s: float


@dataclass
class Scene:
    """What a moment may use and what it leaves for the judge."""

    what: str
    """`run` or `watch`."""
    server: Somebody
    lab: Lab
    draw: random.Random
    expected: dict[tuple[str, str], str] = field(default_factory=dict)
    """What others set, which must stand at the end."""
    theirs: dict[str, Theirs] = field(default_factory=dict)
    """Parameters of the run's that others set."""
    lifts: list[Lift] = field(default_factory=list)
    killed_guards: set[int] = field(default_factory=set)
    struck: list[str] = field(default_factory=list)
    """The kinds of moments that came about, in order."""

    def sql(self, *statements: str) -> None:
        """Execute as the administrator; a statement behind a question mark must find a row.

        Raises:
            NotYetError: what it is about is not there, or is held by somebody.
        """
        questions = [statement[1:] for statement in statements if statement.startswith("?")]
        try:
            if not all(self.server.execute(question) for question in questions):
                raise NotYetError("there are no rows")
            self.server.execute(*(statement for statement in statements if not statement.startswith("?")))
        except StatementError as error:
            raise NotYetError(str(error)) from error

    def lift_later(self, end: Callable[[], None], often: float = 0.5) -> None:
        """End a hindrance after a while, so often, or else only when the run is over."""
        short = self.draw.random() < often
        wait_s = self.draw.uniform(0.3, 3.0)
        self.lifts.append(Lift(time.monotonic() + wait_s if short else float("inf"), end))

    def lift_within(self, end: Callable[[], None], longest_s: float) -> None:
        """End a hindrance after a while, the end of the run or not."""
        self.lifts.append(Lift(time.monotonic() + self.draw.uniform(0, longest_s), end, outlasts=True))

    def lift_due(self, over: bool = False) -> None:
        """End the hindrances whose time has come; once the run is over, all that do not outlast it."""
        now = time.monotonic()
        for lift in [lift for lift in self.lifts if lift.at_s <= now or (over and not lift.outlasts)]:
            self.lifts.remove(lift)
            with suppress(StatementError):
                lift.end()

    def restarted(self) -> None:
        """Note that the server went back to its configuration."""
        self.expected = {key: value for key, value in self.expected.items() if not self.server.forgets(key)}
        self.theirs = {
            name: it for name, it in self.theirs.items() if not self.server.forgets(("parameter", name))
        }

"""commit-scaling: do commits grow with the sessions, and does the log or the CPU limit them?"""

from __future__ import annotations

from collections.abc import Mapping

from redolab.experiment.base import Experiment, Levels, Size, Wish, combinations_of, numbers_once
from redolab.records.capability import Capability
from redolab.records.load import OwnRows

_PUBLISHED = (1, 2, 5, 10, 20)


class CommitScaling(Experiment):
    """Sessions that update rows of their own, more and more of them."""

    name = "commit-scaling"
    question = "How do commits grow with the sessions here, and does the log or the CPU limit them?"
    unit = "commit"
    needs: frozenset[Capability] = frozenset({"own_rows"})
    options = frozenset({"sessions"})
    quick = Size(blocks=10, seconds=1.2, warmup_s=0.3)
    full = Size(blocks=32, seconds=60, warmup_s=5)
    sequential = True

    def combine(self, wish: Wish, /) -> Mapping[str, Levels]:
        """A setting per number of sessions."""
        sessions = numbers_once("--sessions", wish.sessions or _PUBLISHED)
        return combinations_of(sessions=tuple(map(str, sessions)))

    def baseline(self, settings: tuple[str, ...], /) -> str:
        """The fewest sessions."""
        return min(settings, key=int)

    def load(self, wish: Wish, settings: Mapping[str, Levels], /) -> OwnRows:
        """Each session updates rows that no other does."""
        return OwnRows("own rows", max(map(int, settings)), wish.scope, loop=wish.loop)


EXPERIMENT = CommitScaling()

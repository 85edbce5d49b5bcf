"""Settings of wait/nowait and immediate/batch, for every question about how a commit is written."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.experiment.base import Experiment, Levels, Wish, combinations_of

DEFAULT_SESSIONS = 5
_BOTH = combinations_of(commit_wait=("wait", "nowait"), commit_logging=("immediate", "batch"))
COMMIT_MODES: Mapping[str, Levels] = {**_BOTH, **combinations_of(commit_wait=("wait", "nowait"))}
"""Both factors together, and the first of them alone."""


class CommitModes(Experiment):
    """A question whose settings are commit modes."""

    def combine(self, _wish: Wish, /) -> Mapping[str, Levels]:
        """Both factors together, and the first of them alone."""
        return COMMIT_MODES

    def defaults(self, _wish: Wish, possible: tuple[str, ...], /) -> tuple[str, ...]:
        """Both factors together."""
        return tuple(name for name in _BOTH if name in possible)

    def baseline(self, settings: tuple[str, ...], /) -> str:
        """wait/immediate where it is measured: the default of a server."""
        return "wait/immediate" if "wait/immediate" in settings else settings[0]

"""commit-mode: what do wait/nowait and immediate/batch do to commits, and why?"""

from __future__ import annotations

from collections.abc import Mapping

from redolab.errors import UsageError
from redolab.experiment.base import Levels, Size, Wish, one_number
from redolab.experiment.commit_modes import DEFAULT_SESSIONS, CommitModes
from redolab.records.capability import Capability
from redolab.records.load import Updates

# `cpu`: 1,000 rows fit in a few dozen pages. `io`: a row of 1,000 bytes in half-filled pages makes
# 10,000 rows span 2,500 pages per session, each of which goes whole into the log after a checkpoint.
_LOADS = {"cpu": (1_000, 10), "io": (10_000, 1_000)}


class CommitMode(CommitModes):
    """Sessions that update their own rows and commit each update."""

    name = "commit-mode"
    question = "What do wait/nowait and immediate/batch do to commits here, and why?"
    unit = "commit"
    needs: frozenset[Capability] = frozenset({"updates", "commit_modes"})
    options = frozenset({"sessions", "load", "scope"})
    quick = Size(blocks=10, seconds=1.5, warmup_s=0.3)
    full = Size(blocks=32, seconds=90, warmup_s=10)

    def load(self, wish: Wish, _settings: Mapping[str, Levels], /) -> Updates:
        """Updates of rows that are small and cached, or of rows that make the log grow."""
        name = wish.load or "cpu"
        if name not in _LOADS:
            raise UsageError(f"There is no load {name!r}. Use --load {' or --load '.join(_LOADS)}.")
        rows, padding_bytes = _LOADS[name]
        return Updates(name, one_number(wish, DEFAULT_SESSIONS), wish.scope, rows, padding_bytes)


EXPERIMENT = CommitMode()

"""durability: how many acknowledged commits does a hard kill of the server lose?"""

from __future__ import annotations

from collections.abc import Mapping

from redolab.experiment.base import Levels, Size, Wish, one_number
from redolab.experiment.commit_modes import DEFAULT_SESSIONS, CommitModes
from redolab.records.capability import Capability
from redolab.records.load import Ledger


class Durability(CommitModes):
    """Sessions that write down each acknowledged commit until the server is killed."""

    name = "durability"
    question = "How many acknowledged commits does a hard kill of the server lose?"
    unit = "commit"
    record = "kill"
    needs: frozenset[Capability] = frozenset({"commit_modes", "hard_kill"})
    options = frozenset({"sessions", "scope"})
    quick = Size(blocks=10, seconds=1.6, warmup_s=0)
    full = Size(blocks=40, seconds=3, warmup_s=0)
    null_pair = False
    side_by_side = True

    def load(self, wish: Wish, _settings: Mapping[str, Levels], /) -> Ledger:
        """A ledger of numbered commits."""
        return Ledger("ledger", one_number(wish, DEFAULT_SESSIONS), wish.scope, loop=wish.loop)


EXPERIMENT = Durability()

"""calibrate: what do a commit, a row and a flush cost here? What a forecast needs, in under a minute."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.errors import UsageError
from redolab.experiment.base import Experiment, Levels, Size, Wish, setting_name
from redolab.experiment.forecast_load import check_load
from redolab.machine.machine import describe_machine
from redolab.records.capability import Capability
from redolab.records.load import Inserts

_PER_CPU, _TIMES = 16, 2
"""Sessions of today's setting for each CPU, and how many times as many are measured beyond it."""
_ROWS, _FEWER_PER_CPU = 32, 4
PAUSES_MS = (1, 8, 50)
"""How long the log device has idled when a lone session commits again."""


def _paused(pause_ms: int) -> Levels:
    """A lone session inside the server, whatever the others are: there it can pause on its CPU."""
    alone = {"sessions": "1", "rows_per_commit": "1", "commit_wait": "wait"}
    return {**alone, "loop": "server", "pause_ms": str(pause_ms)}


class Calibrate(Experiment):
    """Inserts and commits, alone and together, waiting and not, with pauses."""

    name = "calibrate"
    question = "What do a commit, a row and a flush cost here, for forecasts?"
    unit = "commit"
    needs: frozenset[Capability] = frozenset({"inserts", "client_sessions"})
    options = frozenset({"sessions", "client"})
    quick = Size(blocks=3, seconds=0.5, warmup_s=0.15)
    full = Size(blocks=6, seconds=0.4, warmup_s=0.15)

    def combine(self, wish: Wish, /) -> Mapping[str, Levels]:
        """Today's sessions first, then a lone one, twice as many, and many with several rows.

        Commits that do not wait tell the CPU time of a commit and of a row from that of waiting. Twice as
        many sessions tell how both grow beyond today's. A lone session that pauses lets the device idle.
        """
        if len(wish.sessions) > 1:
            raise UsageError("calibrate takes one number with --sessions: that of today.")
        cpus = describe_machine()["cpus"] or 1
        busy = wish.sessions[0] if wish.sessions else _PER_CPU * cpus
        if busy < 2:
            raise UsageError("--sessions is 1; calibrate compares a lone session with several: at least 2.")
        fewer, more = str(min(busy, _FEWER_PER_CPU * cpus)), str(_TIMES * busy)
        return {
            setting_name(levels): levels
            for levels in (
                {"sessions": str(busy), "rows_per_commit": "1", "commit_wait": "wait"},
                {"sessions": "1", "rows_per_commit": "1", "commit_wait": "wait"},
                {"sessions": more, "rows_per_commit": "1", "commit_wait": "wait"},
                {"sessions": str(busy), "rows_per_commit": str(_ROWS), "commit_wait": "wait"},
                {"sessions": "1", "rows_per_commit": "1", "commit_wait": "nowait"},
                {"sessions": str(busy), "rows_per_commit": "1", "commit_wait": "nowait"},
                {"sessions": more, "rows_per_commit": "1", "commit_wait": "nowait"},
                {"sessions": fewer, "rows_per_commit": str(_ROWS), "commit_wait": "nowait"},
                *map(_paused, PAUSES_MS),
            )
        }

    def load(self, wish: Wish, settings: Mapping[str, Levels], /) -> Inserts:
        """What forecasts are about."""
        return check_load(max(int(levels["sessions"]) for levels in settings.values()), wish.client)


EXPERIMENT = Calibrate()

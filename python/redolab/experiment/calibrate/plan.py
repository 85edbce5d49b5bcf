"""calibrate: what do a commit, a row and a flush cost here? A forecast needs these costs."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.errors import UsageError
from redolab.experiment.base import Experiment, Levels, Size, Wish
from redolab.experiment.forecast_load import PER_CPU, calibration_settings, check_load
from redolab.machine.machine import describe_machine
from redolab.records.capability import Capability
from redolab.records.load import Inserts


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
        """Today's sessions, and the settings from which the costs of its commits are read."""
        if len(wish.sessions) > 1:
            raise UsageError("calibrate takes one number with --sessions: today's number of sessions.")
        cpus = describe_machine()["cpus"] or 1
        busy = wish.sessions[0] if wish.sessions else PER_CPU * cpus
        if busy < 2:
            raise UsageError(
                "--sessions is 1, but calibrate compares one session with several sessions: give 2 or more."
            )
        return calibration_settings(busy, cpus, wish.ways.timed)

    def load(self, wish: Wish, settings: Mapping[str, Levels], /) -> Inserts:
        """The load that forecasts are about."""
        return check_load(
            max(int(levels["sessions"]) for levels in settings.values()), wish.timed_loop, wish.scope
        )


EXPERIMENT = Calibrate()

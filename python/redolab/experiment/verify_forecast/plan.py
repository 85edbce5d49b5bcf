"""verify-forecast: does a sealed forecast come true? A forecast's own settings, measured."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.experiment.base import Experiment, Levels, Size, Wish
from redolab.experiment.forecast_load import check_load
from redolab.records.capability import Capability
from redolab.records.load import Inserts

NAME = "verify-forecast"
"""The experiment of every run of `redolab verify-forecast`; `redolab run` does not know it."""
NOT_HERE: Mapping[str, str] = {
    "cpus": "the number of this machine's CPUs cannot be changed",
    "think_time_ms": "the sessions of the check loop without a pause",
    "cpu_factor": "the CPU time of a transaction cannot be changed",
}
"""Factors that can be forecast and not checked, and why."""


class VerifyForecast(Experiment):
    """The settings of a forecast, and today's."""

    name = NAME
    question = "Does what was forecast come true?"
    unit = "commit"
    needs: frozenset[Capability] = frozenset({"inserts", "client_sessions"})
    quick = full = Size(blocks=5, seconds=2.0, warmup_s=0.4)

    def __init__(self, settings: Mapping[str, Levels], today: str, loop: str) -> None:
        """The settings to measure.

        Args:
            settings: name to levels, today's among them.
            today: the name of today's.
            loop: where it runs, `server` or `client`.
        """
        self._settings, self._today, self._loop = settings, today, loop

    def combine(self, _wish: Wish, /) -> Mapping[str, Levels]:
        """The forecast's settings."""
        return self._settings

    def baseline(self, _settings: tuple[str, ...], /) -> str:
        """Today's."""
        return self._today

    def load(self, wish: Wish, settings: Mapping[str, Levels], /) -> Inserts:
        """The load that forecasts are about."""
        most = max(int(levels["sessions"]) for levels in settings.values())
        return check_load(most, self._loop, wish.scope)

"""response-curve: how long do transactions take as more of them arrive, and where is the elbow?"""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping
from dataclasses import replace

from redolab.errors import RefusedError, UsageError
from redolab.experiment.base import Experiment, Levels, Pilot, Plan, Size, Wish, numbers_once, setting_name
from redolab.experiment.forecast_load import PER_CPU, calibration_settings, check_load, looping
from redolab.machine.machine import describe_machine
from redolab.records.capability import Capability
from redolab.records.load import Amount, Inserts

SHARE = "share_of_capacity"
"""The factor whose level is the part of capacity at which transactions arrive."""
_PERCENTS = (10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95, 100, 110)
# The ends, the elbow of a log that groups commits, and the points that forecasts are judged by.
_FEW_PERCENTS = (10, 30, 50, 60, 70, 80, 90, 95, 110)
_CURVE = re.compile(r"([1-9]\d{0,2})/([1-9]\d{0,3})/(wait|nowait)")
_PILOT_S, _PILOTS = 0.7, 3


class ResponseCurve(Experiment):
    """Transactions that a client asks for at random moments, from a tenth of capacity to beyond it."""

    name = "response-curve"
    question = "How long do transactions take as more of them arrive, and where is the elbow?"
    unit = "commit"
    needs: frozenset[Capability] = frozenset({"inserts", "client_sessions"})
    options = frozenset({"sessions"})
    quick = Size(blocks=4, seconds=1.0, warmup_s=0.15)
    full = Size(blocks=12, seconds=4.0, warmup_s=0.5)

    def combine(self, wish: Wish, /) -> Mapping[str, Levels]:
        """Settings from which costs are read; for each curve its sessions without a pause, which show
        capacity, and the shares of capacity at which transactions arrive.
        """
        cpus = describe_machine()["cpus"] or 1
        curves = _curves(wish, PER_CPU * cpus)
        pool = int(curves[0]["sessions"])
        busy = pool if pool > 1 else PER_CPU * cpus
        found = dict(calibration_settings(busy, cpus, wish.ways.timed))
        for levels in curves:
            found[setting_name(levels)] = levels
            for percent in _FEW_PERCENTS if wish.quick else _PERCENTS:
                point = {**levels, SHARE: f"{percent}%"}
                found[setting_name(point)] = point
        return found

    def choose(self, _wish: Wish, possible: tuple[str, ...], /) -> tuple[str, ...]:
        """All of them: the user asks for curves, each of several settings."""
        return possible

    def load(self, wish: Wish, settings: Mapping[str, Levels], /) -> Inserts:
        """The load that forecasts are about, from a client."""
        return check_load(max(int(levels["sessions"]) for levels in settings.values()), "client", wish.scope)

    def fit(self, plan: Plan, pilot: Pilot, /) -> Plan:
        """Arrivals per second as shares of capacity: the rate of the same sessions that begin at once.

        Where more is asked for than can be done, no session of the pool is ever free, so they work as those
        sessions do.

        Raises:
            RefusedError: the pilot committed nothing.
        """
        capacity = {}
        for levels in plan.combinations.values():
            name = curve_of(levels)
            if SHARE in levels and name not in capacity:
                capacity[name] = _capacity(name, pilot)
        combinations = {
            name: {**levels, "arrival_rate_per_s": f"{share_of(levels) * capacity[curve_of(levels)]:.4g}"}
            if SHARE in levels
            else levels
            for name, levels in plan.combinations.items()
        }
        return replace(plan, combinations=combinations)


def curve_of(levels: Levels) -> str:
    """The name of the curve that a setting with such levels belongs to: that of its sessions looping."""
    return setting_name({factor: levels[factor] for factor in looping(1, 1, "wait")})


def share_of(levels: Levels) -> float:
    """The part of capacity at which transactions arrive under such levels, 1.0 for all of it."""
    return float(levels[SHARE].removesuffix("%")) / 100


def _capacity(name: str, pilot: Pilot) -> float:
    """Commits per second of sessions that begin at once: the median of several short works."""
    works = [pilot(name, Amount(_PILOT_S)) for _ in range(_PILOTS)]
    per_s = statistics.median(work.commits / max(work.session_elapsed_max_s, _PILOT_S) for work in works)
    if not per_s:
        raise RefusedError(
            f"The first short test of {name} (the pilot) committed nothing in {_PILOT_S:g} s. Run again."
        )
    return per_s


def _curves(wish: Wish, sessions: int) -> list[Levels]:
    """The levels of each curve that was asked for; by default one curve of waiting commits of one row.

    Raises:
        UsageError: a name is not the name of a curve, or is given twice.
    """
    if not wish.settings:
        pools = numbers_once("--sessions", wish.sessions or (sessions,))
        return [looping(pool, 1, "wait") for pool in pools]
    if wish.sessions:
        raise UsageError(
            "--settings names whole curves with their sessions, so leave out --sessions. An example of a "
            f"curve's name is {sessions}/1/wait."
        )
    found = [_CURVE.fullmatch(name) for name in wish.settings]
    wrong = [name for name, curve in zip(wish.settings, found, strict=True) if curve is None]
    if wrong:
        raise UsageError(
            f"response-curve has no curve {', '.join(map(repr, wrong))}. A curve is named by its sessions, "
            f"rows per commit and commit mode, as in {sessions}/1/wait or {sessions}/32/nowait."
        )
    if len(set(wish.settings)) != len(wish.settings):
        raise UsageError(f"A curve is named twice in {','.join(wish.settings)}. Name each curve once.")
    return [looping(int(curve[1]), int(curve[2]), curve[3]) for curve in found if curve is not None]


EXPERIMENT = ResponseCurve()

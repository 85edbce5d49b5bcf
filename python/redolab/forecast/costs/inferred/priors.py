"""Costs from calibrations elsewhere, for costs that a watch does not show.

`priors.json` next to this module has them, made by `benches/priors.py` from stored calibrations. CPU times
are in seconds: flushing, sleeping and waking up cost the same whatever a transaction does. Times of the log
device are in units of the mean time of a flush. All come from one kind of machine, which shows nothing of how
much they differ between machines: so each may be off by up to a factor of two either way.
"""

from __future__ import annotations

import functools
import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from redolab.forecast.costs.costs import LEAST_S, Costs, Curve, SecondCosts
from redolab.forecast.costs.logs import Logs

FILE = "priors.json"
_QUANTILES = 41
_FLUSH_S = 1e-3
# Of a normal distribution, the ends of the middle 95 %.
_NORMAL_95 = 1.96
PerCpu = tuple[tuple[float, float], ...]
"""Sessions for each CPU, and a cost with so many; the first is a lone session, whatever the CPUs."""


@dataclass(frozen=True)
class Prior:
    """How the costs of one system are to each other."""

    engine: str
    """Its name in a manifest."""
    logs: int
    """Logs that a commit waits for."""
    loop: str
    """`server` or `client`."""
    calibrations: int
    """So many it was learned from."""
    spread: float
    """By what factor a cost may differ on another machine, either way, in 95 of 100 cases."""
    one_machine: bool
    """Whether all were made on one kind of machine, so that `spread` is a guess."""
    transaction_s: PerCpu
    row_s: PerCpu
    served_s: PerCpu
    client_s: PerCpu
    flush_cpu_s: float
    wake_s: float
    client_wake_s: float
    cold_s: float
    exit_s: float
    row_bytes: float
    """Log of a row, by that of a transaction of one row."""
    flush: tuple[float, ...]
    """Times of flushes as quantiles, by their mean."""
    per_byte: float
    """Time of the device for the log of a transaction of one row, by the mean of a flush."""
    second_flush: float
    """Mean time of a flush of the second log by that of the first."""
    second_flush_shape: tuple[float, ...]
    late: float
    """How late after a flush of the second log its process is there, by that time."""
    available: float
    available_waiting: float

    def shape(self, logs: Logs, cpus: int, one_interrupt: bool = False) -> Costs:
        """Costs as in the prior, on a log device that takes a millisecond.

        Args:
            logs: of the server.
            cpus: of its machine.
            one_interrupt: whether one CPU hears of all that the log's disk has done.
        """
        grouping = logs.grouping
        second = SecondCosts(
            flush_cpu_s=self.flush_cpu_s,
            flush_s=tuple(_FLUSH_S * self.second_flush * value for value in self.second_flush_shape),
            own_device=logs.own_devices,
            late_s=_FLUSH_S * self.second_flush * self.late,
            in_groups=grouping is not None and grouping.in_groups,
        )
        commit_bytes = 200.0
        return Costs(
            loop=self.loop,
            cpus=cpus,
            transaction_cpu_s=_by_sessions(self.transaction_s, cpus),
            row_cpu_s=_by_sessions(self.row_s, cpus),
            flush_cpu_s=self.flush_cpu_s,
            wake_s=self.wake_s,
            commit_bytes=max(1.0, commit_bytes * (1 - self.row_bytes)),
            row_bytes=commit_bytes * self.row_bytes,
            flush_s=tuple(_FLUSH_S * value for value in self.flush),
            device_s_per_byte=_FLUSH_S * self.per_byte / commit_bytes,
            client_s=_by_sessions(self.client_s, cpus),
            client_wake_s=self.client_wake_s,
            hand_over_exit_s=self.exit_s,
            served_s=_by_sessions(self.served_s, cpus),
            available=self.available,
            available_waiting=self.available_waiting,
            cold_s=self.cold_s,
            one_interrupt=one_interrupt,
            handed_on=grouping is not None and grouping.handed_on,
            second=second if len(logs.columns) > 1 else None,
            only_seen=True,
        )

    @property
    def client_part(self) -> float:
        """The clients' part of the CPU time that is not the server's, with many
        sessions.

        The kernel has the rest, for flushes.
        """
        most = [points[-1][1] for points in (self.transaction_s, self.served_s, self.client_s)]
        server, client = most[0] + most[1] + self.wake_s, most[2]
        kernel = (1 / self.available_waiting - 1) * (server + client)
        return client / (client + kernel) if client else 0.0

    def drawn(self, rng: random.Random) -> Prior:
        """The same on another machine: every cost off by a factor of its own, lognormal."""

        def off() -> float:
            return math.exp(rng.gauss(0.0, math.log(self.spread) / _NORMAL_95))

        return replace(
            self,
            transaction_s=_steeper(self.transaction_s, off()),
            row_s=_steeper(_scaled(self.row_s, off()), off()),
            served_s=_scaled(self.served_s, off()),
            client_s=_steeper(self.client_s, off()),
            flush_cpu_s=off() * self.flush_cpu_s,
            wake_s=off() * self.wake_s,
            client_wake_s=off() * self.client_wake_s,
            cold_s=off() * self.cold_s,
            exit_s=off() * self.exit_s,
            row_bytes=min(0.95, off() * self.row_bytes),
            per_byte=off() * self.per_byte,
            second_flush=off() * self.second_flush,
            late=min(0.9, off() * self.late),
            # What others take of the CPUs is off, and not what they leave.
            available=1 - min(0.9, off() * (1 - self.available)),
            available_waiting=1 - min(0.9, off() * (1 - self.available_waiting)),
        )


def prior_costs(costs: Costs) -> dict[str, Any]:
    """Costs in the form of a prior, without engine and loop.

    Args:
        costs: as `redolab.forecast.costs.direct.calibrating` reads them from a run.
    """
    flush_s = costs.flush_mean_s
    second = costs.second

    def curve(points: Curve) -> list[list[float]]:
        return [[sessions / costs.cpus, cost_s] for sessions, cost_s in points]

    def shape(values_s: Sequence[float]) -> list[float]:
        import numpy as np

        mean_s = math.fsum(values_s) / len(values_s)
        found = np.quantile(np.array(values_s), np.linspace(0, 1, _QUANTILES)) / mean_s
        return [float(value) for value in found]

    log_bytes = costs.commit_bytes + costs.row_bytes
    return {
        "transaction_s": curve(costs.transaction_cpu_s),
        "row_s": curve(costs.row_cpu_s),
        "served_s": curve(costs.served_s),
        "client_s": curve(costs.client_s),
        "flush_cpu_s": costs.flush_cpu_s,
        "wake_s": costs.wake_s,
        "client_wake_s": costs.client_wake_s,
        "cold_s": costs.cold_s,
        "exit_s": costs.hand_over_exit_s,
        "row_bytes": costs.row_bytes / log_bytes,
        "flush": shape(costs.flush_s),
        "per_byte": costs.device_s_per_byte * log_bytes / flush_s,
        "second_flush": 1.0 if second is None else second.flush_mean_s / flush_s,
        "second_flush_shape": shape(costs.flush_s if second is None else second.flush_s),
        "late": 0.0 if second is None else second.late_s / second.flush_mean_s,
        "available": costs.available,
        "available_waiting": costs.available_waiting,
    }


def quantiles_of(counts: Mapping[float, float], enough: float = 0.0) -> tuple[float, ...]:
    """The quantiles at equal steps of times in buckets, in seconds; the times in one spread evenly.

    Args:
        counts: by the upper end of a bucket in milliseconds, the last of which may be infinite.
        enough: times that there must be; with fewer there are no quantiles.
    """
    import numpy as np

    if math.fsum(counts.values()) < enough:
        return ()
    ends, reached, before = [0.0], [0.0], 0.0
    for upper_ms, count in sorted(counts.items()):
        if not before:
            # Nothing is known of the shortest: from half of it on.
            ends[0] = upper_ms / 2 if math.isfinite(upper_ms) else 1.0
        before = upper_ms if math.isfinite(upper_ms) else 2 * max(ends[-1], 1.0)
        ends.append(max(before, ends[-1]))
        reached.append(reached[-1] + count)
    shares = np.linspace(0, reached[-1], _QUANTILES)
    return tuple(float(value) / 1e3 for value in np.interp(shares, reached, ends))


def between(found: Sequence[Any]) -> Any:
    """The geometric mean of several ratios, or of lists of them place by place; 0 where one is 0.

    Args:
        found: of several calibrations, of one form.
    """
    if isinstance(found[0], list):
        return [between(places) for places in zip(*found, strict=True)]
    if any(value <= 0 for value in found):
        # What one calibration found to be nothing is small in all, and has no logarithm.
        return math.fsum(found) / len(found)
    return math.exp(math.fsum(map(math.log, found)) / len(found))


@dataclass(frozen=True)
class Found:
    """A prior for a system, and whether it is of that system itself."""

    prior: Prior
    own: bool
    """Whether it was learned of that database and as many logs; else it is of another."""


def prior_of(engine: str, logs: int, loop: str = "client") -> Found:
    """The prior of a system; the nearest where there is none of it.

    Args:
        engine: its name in a manifest.
        logs: that a commit waits for.
        loop: where the loop runs.
    """
    known = _priors()
    name = "postgresql" if engine.lower() == "embedded" else engine.lower()

    def far(prior: Prior) -> tuple[bool, bool, bool]:
        # One database of a family commits like the other; how many logs there are counts more than which it
        # is.
        return (prior.loop != loop, prior.logs != logs, prior.engine != name)

    nearest = min(known, key=far)
    return Found(nearest, not any(far(nearest)))


@functools.cache
def _priors() -> tuple[Prior, ...]:
    text = resources.files("redolab.forecast.costs.inferred").joinpath(FILE).read_text()
    stored = json.loads(text)
    return tuple(_prior(item, stored) for item in stored["priors"])


def _prior(item: Mapping[str, Any], stored: Mapping[str, Any]) -> Prior:
    def fixed(value: Any) -> Any:
        return tuple(map(fixed, value)) if isinstance(value, list) else value

    values = {name: fixed(value) for name, value in item.items()}
    return Prior(**values, spread=float(stored["spread"]), one_machine=bool(stored["one_machine"]))


def _by_sessions(points: PerCpu, cpus: int) -> Curve:
    """A cost by sessions on a machine with so many CPUs."""
    (_, alone), *more = points
    curve = {1: alone}
    for per_cpu, cost_s in more:
        curve[max(1, round(per_cpu * cpus))] = max(cost_s, LEAST_S if cost_s else 0.0)
    return tuple(sorted(curve.items()))


def _scaled(points: PerCpu, factor: float) -> PerCpu:
    return tuple((sessions, factor * cost) for sessions, cost in points)


def _steeper(points: PerCpu, factor: float) -> PerCpu:
    """The cost with the part that more sessions add multiplied by `factor`."""
    (_, alone), *_ = points
    return tuple((sessions, max(alone + factor * (cost - alone), 0.1 * alone)) for sessions, cost in points)

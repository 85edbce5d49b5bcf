"""What forecasts start from: the costs of a commit, as measured; and the scenario that is asked about.

A `Calibration` holds what a run measured directly (`redolab.analysis.calibrating` reads it from one).
`parameters` turns it, for a `Scenario`, into what the group-commit model needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from redolab.load import COMMIT_SIBLINGS, arrival_rate_of
from redolab.model.distribution import Distribution, constant, exponential, gamma, quantiles
from redolab.model.group_commit import Arrivals, GroupCommitParameters

CPU_CV = 0.3
"""Coefficient of variation of the CPU time of a transaction of equal statements."""


@dataclass(frozen=True)
class Scenario:
    """A setting that is asked about, measured or not."""

    sessions: int
    """Sessions that work; with arrivals, those that there are for them."""
    rows_per_commit: int = 1
    commit_wait: str = "wait"
    """`wait` or `nowait`."""
    commit_delay_us: int = 0
    log_device_ms: float | None = None
    """Time of a flush on another log device; None for the one that was measured."""
    cpus: float | None = None
    """Effective CPUs; None for those that were measured."""
    think_time_ms: float = 0.0
    """From the end of a transaction to the beginning of the session's next, exponential."""
    arrival_rate_per_s: float | None = None
    """Commits asked for per second, at random, whatever becomes of them; None where sessions loop."""

    def __post_init__(self) -> None:
        for name, least in (("sessions", 1), ("rows_per_commit", 1), ("commit_delay_us", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        if self.commit_wait not in ("wait", "nowait"):
            raise ValueError(f"commit_wait is {self.commit_wait!r}; it is wait or nowait")
        for name in ("cpus", "arrival_rate_per_s"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise ValueError(f"{name} is {value:g}; it must be greater than 0")
        for name in ("think_time_ms", "log_device_ms"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise ValueError(f"{name} is {value:g}; it must be 0 or more")
        if self.arrival_rate_per_s is not None and self.think_time_ms:
            raise ValueError("arrival_rate_per_s and think_time_ms exclude each other: arrivals do not think")


FACTORS: tuple[str, ...] = tuple(field.name for field in fields(Scenario))
"""What a forecast can be asked about."""


@dataclass(frozen=True)
class Calibration:
    """What a commit, a row and a flush cost on one server, from one kind of loop. Seconds and bytes."""

    loop: str
    """`server` or `client`: where the loop runs that was measured."""
    cpus: float
    """Effective CPUs that server and load had."""
    commit_cpu_s: float
    """CPU time of a transaction beside its rows, without flush and waiting."""
    row_cpu_s: float
    """CPU time of a row; None would be unknown, see `row_known`."""
    flush_cpu_s: float
    """CPU time of a flush, the leader's going to sleep and waking up in it."""
    wake_s: float
    """CPU time of waiting for somebody else's flush: going to sleep and waking up."""
    background_cpu_s: float
    """CPU time per commit of processes that no session waits for."""
    commit_bytes: float
    """Log per transaction beside its rows."""
    row_bytes: float
    """Log per row."""
    flush_s: tuple[float, ...]
    """Time of a flush on the device as quantiles at equal steps, without its CPU time."""
    device_s_per_byte: float
    """Time of the device per byte flushed."""
    row_known: bool = True
    """Whether the run had settings with several rows per commit, so that a row's cost is known."""

    @property
    def flush_mean_s(self) -> float:
        """Mean time of a flush on the device."""
        return quantiles(self.flush_s).mean_s


def parameters(calibration: Calibration, scenario: Scenario) -> GroupCommitParameters:
    """What the group-commit model needs for `scenario`.

    Another log device is taken to need the same time for every flush.

    Raises:
        ValueError: something that cannot be, named; or rows per commit whose cost was not measured.
    """
    if scenario.rows_per_commit > 1 and not calibration.row_known:
        raise ValueError(
            "the run measured one row per commit alone, so the cost of a row is not known: "
            "calibrate with several (`redolab run calibrate`)"
        )
    arrivals = (
        None
        if scenario.arrival_rate_per_s is None
        else Arrivals(exponential(1 / scenario.arrival_rate_per_s))
    )
    device: Distribution = (
        quantiles(calibration.flush_s)
        if scenario.log_device_ms is None
        else constant(max(scenario.log_device_ms / 1e3, min(calibration.flush_s)))
    )
    return GroupCommitParameters(
        sessions=scenario.sessions,
        cpus=scenario.cpus or calibration.cpus,
        commit_cpu=gamma(calibration.commit_cpu_s, CPU_CV),
        row_cpu=gamma(calibration.row_cpu_s, CPU_CV),
        rows=scenario.rows_per_commit,
        device=device,
        think=exponential(scenario.think_time_ms / 1e3) if scenario.think_time_ms else constant(0.0),
        arrivals=arrivals,
        background_cpu_s=calibration.background_cpu_s,
        wake_s=calibration.wake_s,
        flush_cpu_s=calibration.flush_cpu_s,
        device_s_per_byte=calibration.device_s_per_byte,
        row_bytes=calibration.row_bytes,
        commit_bytes=calibration.commit_bytes,
        commit_delay_s=scenario.commit_delay_us / 1e6,
        commit_siblings=COMMIT_SIBLINGS,
        asynchronous=scenario.commit_wait == "nowait",
        writer_interval_s=0.2 if scenario.commit_wait == "nowait" else 0.0,
        writer_bytes=1 << 20 if scenario.commit_wait == "nowait" else 0,
    )


def scenario_of(levels: Mapping[str, str], sessions: int) -> Scenario:
    """The scenario that a measured setting is; levels that are no factor of a forecast are left out.

    Args:
        levels: of the setting.
        sessions: working sessions, where no level says.
    """
    return Scenario(
        sessions=int(levels.get("sessions", sessions)),
        rows_per_commit=int(levels.get("rows_per_commit", 1)),
        commit_wait=levels.get("commit_wait", "wait"),
        commit_delay_us=int(levels.get("commit_delay_us", 0)),
        arrival_rate_per_s=arrival_rate_of(levels),
    )

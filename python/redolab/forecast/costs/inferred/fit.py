"""Costs of a commit inferred from a server at work, with a prior for costs that cannot be seen.

A prior (`redolab.forecast.costs.inferred.priors`) gives the shape of a `Costs`. A few scales are solved
so that today's setting, simulated, gives what was seen:

- one for what a transaction does in the server, so that a commit needs the CPU time that it needed;
- one for those of the client, where its CPU time was seen;
- the time of a flush: as the server timed it, or else so that a session is busy as long per commit as it was.

What a session is away from the server longer than its client works is its think time, by Little's law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from redolab import _core
from redolab.forecast.costs.costs import LEAST_S, Costs, Curve, Scenario, parameters, statements_of
from redolab.model.allowance import Allowance
from redolab.model.distribution import quantiles
from redolab.model.group_commit import simulate

MOST_SESSIONS, MOST_CPUS, MOST_ROWS = 4096, 1024, 65_536
"""Beyond these a forecast takes minutes."""
ROUNDS, COMMITS = 10, 8_000
"""Rounds of a fit, and the commits that are simulated in each."""
_LONGEST_S = 3600.0
_SEED = 1
# Think time below this share of the time of a transaction counts as zero.
_THINKS = 0.02
# So does think time below this part of the clients' work, which is known only from a prior.
_OF_CLIENT = 0.5
# Share of a session's busy time from which on waits that are neither CPU nor log are counted.
_OTHER = 0.10
_MOST_STEP = 4.0
# By the server's clock flushes of two logs on one device differ by this at most (`Workload.apart` says why).
_ONE_DEVICE = 2.0
# By so much CPU time of all kinds may differ from machine to machine. What is more is the transaction's own.
_SLOWER = 2.0


@dataclass(frozen=True)
class Workload:
    """Figures of a server at work, per commit unless noted otherwise. Seconds and bytes."""

    sessions: int
    """Sessions that worked."""
    cpus: int
    """CPUs of the machine."""
    commits_per_s: float
    rows_per_commit: int
    server_cpu_s: float
    """CPU time of sessions."""
    client_cpu_s: float | None
    """CPU time of the clients; None where they are elsewhere."""
    busy_s: float
    """How long a session was busy: not waiting for its client."""
    flush_s: float | None
    """Mean time of a write and flush of the first log, by the server's clock; None where it is not timed."""
    second_flush_s: float | None = None
    """The same time for the second log. It is not used where the first log is not timed."""
    flush_shape: tuple[float, ...] = ()
    """Times of flushes as quantiles at equal steps, where they were seen as a distribution."""
    waiting_s: float | None = None
    """How long a session waited for the flush of its commit; None where that wait is not distinguished."""
    commits_per_flush: float | None = None
    """Commits per flush of the first log."""
    log_bytes: float | None = None
    others: float = 0.0
    """CPUs that processes keep busy which are neither the server's nor its clients'."""
    available: float | None = None
    """The part of all CPU time that is used by the server and its clients; None for the prior's."""
    commit_wait: str = "wait"
    """`wait` or `nowait`; of two logs also the one that is waited for."""
    rows_counted: bool = True
    """Whether `rows_per_commit` was counted; else one is assumed."""

    @property
    def away_s(self) -> float:
        """How long a session is not busy, by Little's law."""
        return max(self.sessions / self.commits_per_s - self.busy_s, 0.0)

    @property
    def apart(self) -> bool:
        """Whether two logs lie on devices of their own. On one device a flush of either log waits for the
        other's, so by the server's clock none takes more than twice as long as the other.
        """
        if self.flush_s is None or self.second_flush_s is None or self.commit_wait == "binlog":
            return False
        return not 1 / _ONE_DEVICE <= self.second_flush_s / self.flush_s <= _ONE_DEVICE

    @property
    def beyond(self) -> str:
        """Figures beyond what can be forecast, or impossible ones, in words; empty without any."""
        counts = {
            "sessions": (self.sessions, MOST_SESSIONS),
            "CPUs": (self.cpus, MOST_CPUS),
            "rows per commit": (self.rows_per_commit, MOST_ROWS),
        }
        text = "{:,} {} (1 to {:,} can be forecast)"
        found = [text.format(n, name, most) for name, (n, most) in counts.items() if not 1 <= n <= most]
        times = (1 / self.commits_per_s, self.server_cpu_s, self.busy_s, self.client_cpu_s, self.flush_s)
        if not all(0 < time_s < _LONGEST_S for time_s in times if time_s is not None):
            found.append("a time or a rate is zero, or impossible for a server")
        return "; ".join(found)

    def scenario(self, think_s: float = 0.0) -> Scenario:
        """Today's setting."""
        return Scenario(
            sessions=self.sessions,
            rows_per_commit=self.rows_per_commit,
            commit_wait=self.commit_wait,
            think_time_ms=float(f"{1e3 * think_s:.4g}"),
        )


@dataclass(frozen=True)
class Simulated:
    """The same as the model has it, per commit. Seconds."""

    commits_per_s: float
    server_cpu_s: float
    client_cpu_s: float
    on_cpu_s: float
    """On a CPU or waiting for one."""
    waiting_s: float
    """Waiting for a log."""
    client_s: float
    """How long a session waits for its client's work."""
    flush_s: float | None
    commits_per_flush: float | None


@dataclass(frozen=True)
class Fitted:
    """Costs with which today's setting gives what was seen."""

    calibration: Costs
    think_s: float
    """Think time, with `other_s` in it."""
    other_s: float
    """The part of it that is waits inside the server that are neither CPU nor log."""
    simulated: Simulated
    """Today's setting with these costs."""

    @property
    def flush_s(self) -> float:
        """Time of a flush of the first log, with its CPU time."""
        return self.calibration.flush_mean_s + self.calibration.flush_cpu_s


def fit(
    seen: Workload,
    shape: Costs,
    rounds: int = ROUNDS,
    commits: int = COMMITS,
    think_s: float | None = None,
    allowance: Allowance | None = None,
) -> Fitted:
    """Costs in the shape of `shape` with which today's setting, simulated, gives what was seen.

    Args:
        seen: what was seen.
        shape: the prior's costs; its device and client times do not matter.
        rounds: of nearing, each a simulation or two.
        commits: that are simulated in each.
        think_s: how long sessions think, where that is known.
        allowance: the limit of the simulations.

    Raises:
        ValueError: such a setting cannot be, or they take more.
    """
    costs, thinks_s, other_s = _beginning(seen, shape), think_s or 0.0, 0.0
    for _ in range(rounds):
        said = simulated_today(costs, seen.scenario(thinks_s), commits, allowance)
        costs = _nearer(costs, shape, seen, said)
        if think_s is None:
            other_s = _other_s(seen, said)
            thinks_s = _think_s(seen, said) + other_s
    said = simulated_today(costs, seen.scenario(thinks_s), commits, allowance)
    return Fitted(costs, thinks_s, other_s, said)


def simulated_today(
    costs: Costs, scenario: Scenario, commits: int, allowance: Allowance | None = None
) -> Simulated:
    """A setting as the model has it with such costs.

    CPU time is that of a simulation in which CPUs that idle are there at once: no process has that time.
    """
    needs = parameters(costs, scenario)
    many = _core.commits_simulated(needs, simulated_commits(commits, scenario.sessions))
    found = simulate(needs, _SEED, many, allowance)
    at_once = needs.replaced(idle_exit_s=0.0, halt_exit_s=0.0, hand_over_exit_s=0.0)
    working = simulate(at_once, _SEED, many, allowance)
    cpu_s = working.cpu_utilization.point * at_once.cpus / working.throughput_per_s.point
    sent = needs.statements + (1 if needs.statements and scenario.think_time_ms else 0)
    client_s = sent * needs.client_s + working.client_wakes_per_commit.point * needs.client_wake_s
    rate = found.throughput_per_s.point
    time_s = {name: state.point / rate for name, state in found.sessions_by_state.items()}
    return Simulated(
        commits_per_s=rate,
        server_cpu_s=max(cpu_s - client_s, LEAST_S),
        client_cpu_s=client_s,
        on_cpu_s=time_s["on_cpu"] + time_s["run_queue"],
        waiting_s=time_s["log_wait"] + time_s["device"] + time_s["delay"],
        client_s=time_s["client"],
        flush_s=None if found.flush_time_s is None else found.flush_time_s.point,
        commits_per_flush=None if found.commits_per_flush is None else found.commits_per_flush.point,
    )


def simulated_commits(commits: int, sessions: int) -> int:
    """So many, or as many more as so many sessions need."""
    return max(commits, 25 * sessions)


def _work_s(costs: Costs, seen: Workload) -> float:
    """CPU time of what a transaction does in the server, its statements with it."""
    sent = statements_of(seen.rows_per_commit) if costs.loop == "client" else 0
    more = max(seen.rows_per_commit, sent) - 1
    return costs.transaction_with(seen.sessions) + more * costs.row_with(seen.sessions)


def _beginning(seen: Workload, shape: Costs) -> Costs:
    """Costs to begin with: the CPU time all a transaction's, and flushes as long as they were or may be."""
    costs = with_work(shape, shape, seen.server_cpu_s / _work_s(shape, seen))
    sent = statements_of(seen.rows_per_commit)
    client_s = costs.client_with(seen.sessions)
    if seen.client_cpu_s is None:
        costs = with_client_cpu(costs, 0.0)
    elif client_s > 0:
        costs = with_client_cpu(costs, seen.client_cpu_s / (sent * client_s))
    # A waiting session waits 1.5 flushes of each log on average.
    waiting_s = seen.busy_s if seen.waiting_s is None else seen.waiting_s
    flush_s = seen.flush_s or waiting_s / (1.5 if costs.second is None else 3.0)
    # Where all want the CPUs, each process has as much as any other.
    left = max(1 - seen.others / seen.cpus, seen.sessions / (seen.sessions + seen.others))
    waiting = costs.available_waiting if seen.available is None else min(1.0, seen.available)
    costs = replace(costs, available=left * costs.available, available_waiting=left * waiting)
    costs = replace(costs, second=costs.second and replace(costs.second, own_device=seen.apart))
    return _with_bytes(with_flush(costs, flush_s - costs.flush_cpu_s, shape=seen.flush_shape), seen)


def _nearer(costs: Costs, shape: Costs, seen: Workload, said: Simulated) -> Costs:
    work_s, before = _work_s(costs, seen), costs.transaction_cpu_s[0][1] / shape.transaction_cpu_s[0][1]
    step = _step(seen.server_cpu_s, said.server_cpu_s)
    if before > _SLOWER:
        # Only what a transaction does changes: by as much more as it is a part of all CPU time.
        step = _step(step ** min(said.server_cpu_s / work_s, _MOST_STEP), 1.0)
    costs = with_work(costs, shape, before * step)
    if seen.client_cpu_s is not None and said.client_cpu_s > 0:
        costs = with_client_cpu(costs, _step(seen.client_cpu_s, said.client_cpu_s))
    return with_flush(costs, *_devices_s(costs, seen, said), shape=seen.flush_shape)


def _devices_s(costs: Costs, seen: Workload, said: Simulated) -> tuple[float, float | None]:
    """Mean times of flushes of the two logs, without CPU time, nearer to what was seen; None for a second
    log whose time changes with the first's.
    """
    device_s, first_s, second_s = costs.flush_mean_s, seen.flush_s, seen.second_flush_s
    if first_s is None:
        waits = seen.commit_wait != "nowait"
        return (device_s * _step(_waited_s(seen, said), said.waiting_s) if waits else device_s), None
    if second_s is not None and seen.commit_wait == "binlog":
        # Commits wait for the second log alone, and the first is flushed now and then: neither clock has
        # another log's flush in it.
        return first_s - costs.flush_cpu_s, second_s - costs.flush_cpu_s
    if said.flush_s is not None:
        # Two logs on one device wait for each other: all that a flush takes grows with its device's time.
        device_s *= _step(first_s, said.flush_s)
    if second_s is None:
        return device_s, None
    return device_s, second_s - costs.flush_cpu_s if seen.apart else device_s * second_s / first_s


def _waited_s(seen: Workload, said: Simulated) -> float:
    """How long a session waited for the logs: its busy time without CPU, or less where that was seen."""
    left_s = max(seen.busy_s - said.on_cpu_s, LEAST_S)
    if seen.waiting_s is None or seen.waiting_s > (1 - _OTHER) * left_s:
        return left_s
    return max(seen.waiting_s, LEAST_S)


def _other_s(seen: Workload, said: Simulated) -> float:
    """Waits inside the server that are neither CPU nor log, where they are worth mentioning."""
    # Log waits that were seen are not part of these, where the model has less of them.
    left_s = seen.busy_s - said.on_cpu_s - max(said.waiting_s, seen.waiting_s or 0.0)
    return left_s if left_s > _OTHER * seen.busy_s else 0.0


def _think_s(seen: Workload, said: Simulated) -> float:
    """How long a session is away beyond what its client works for it."""
    left_s = seen.away_s - said.client_s
    least_s = max(_THINKS * seen.sessions / seen.commits_per_s, _OF_CLIENT * said.client_s)
    return left_s if left_s > least_s else 0.0


def _step(wanted: float, found: float) -> float:
    """By how much to go on."""
    if found <= 0 or not math.isfinite(wanted / found):
        return 1.0
    return min(max(wanted / found, 1 / _MOST_STEP), _MOST_STEP)


def with_work(costs: Costs, shape: Costs, factor: float) -> Costs:
    """The costs with so many times the CPU time of `shape` for what a transaction does.

    On a machine on which it takes up to twice as much, or less, all CPU time does. What is beyond that is the
    transaction's own: flushes and waking up take what they take whatever it does.

    Args:
        costs: in the shape of the prior; whatever is not the server's CPU time stays.
        shape: the prior.
        factor: of transaction and rows.
    """
    quicker = with_server_cpu(shape, min(_SLOWER, factor))
    return replace(
        costs,
        transaction_cpu_s=_times(shape.transaction_cpu_s, factor),
        row_cpu_s=_times(shape.row_cpu_s, factor),
        flush_cpu_s=quicker.flush_cpu_s,
        wake_s=quicker.wake_s,
        served_s=quicker.served_s,
        cold_s=quicker.cold_s,
        second=costs.second and replace(costs.second, flush_cpu_s=quicker.flush_cpu_s),
    )


def with_server_cpu(costs: Costs, factor: float) -> Costs:
    """The costs with so many times the CPU time in the server."""
    second = costs.second
    return replace(
        costs,
        transaction_cpu_s=_times(costs.transaction_cpu_s, factor),
        row_cpu_s=_times(costs.row_cpu_s, factor),
        flush_cpu_s=factor * costs.flush_cpu_s,
        wake_s=factor * costs.wake_s,
        served_s=_times(costs.served_s, factor),
        cold_s=factor * costs.cold_s,
        second=second and replace(second, flush_cpu_s=factor * second.flush_cpu_s),
    )


def with_client_cpu(costs: Costs, factor: float) -> Costs:
    """The costs with so many times the CPU time of the client."""
    return replace(costs, client_s=_times(costs.client_s, factor), client_wake_s=factor * costs.client_wake_s)


def with_flush(
    costs: Costs, device_s: float, second_s: float | None = None, shape: tuple[float, ...] = ()
) -> Costs:
    """The costs with another mean time of the log device; that of a second log changes with it.

    Args:
        costs: of a server.
        device_s: mean time of a flush of the first log, without its CPU time.
        second_s: that of the second log, where it is known by itself.
        shape: how times of flushes of the first log are distributed; without, as they were.
    """
    mean_s = costs.flush_mean_s
    device_s = max(device_s, 10 * LEAST_S)
    factor = device_s / mean_s
    flush_s = _to_mean(shape or costs.flush_s, device_s)
    second = costs.second
    if second is not None:
        other = factor if second_s is None else max(second_s, 10 * LEAST_S) / second.flush_mean_s
        second = replace(
            second,
            flush_s=tuple(other * value for value in second.flush_s),
            late_s=other * second.late_s,
        )
    return replace(costs, flush_s=flush_s, device_s_per_byte=factor * costs.device_s_per_byte, second=second)


def _with_bytes(costs: Costs, seen: Workload) -> Costs:
    """With the log that a commit wrote, divided between transaction and rows as in the prior."""
    if not seen.log_bytes:
        return costs
    unit = costs.commit_bytes + seen.rows_per_commit * costs.row_bytes
    factor = seen.log_bytes / unit
    return replace(
        costs,
        commit_bytes=max(1.0, factor * costs.commit_bytes),
        row_bytes=factor * costs.row_bytes,
        # So that a flush of as many commits takes as much of its time for their volume.
        device_s_per_byte=costs.device_s_per_byte / factor,
    )


def _to_mean(values_s: tuple[float, ...], mean_s: float) -> tuple[float, ...]:
    scale = mean_s / quantiles(values_s).mean_s
    return tuple(scale * value for value in values_s)


def _times(curve: Curve, factor: float) -> Curve:
    return tuple((sessions, factor * cost_s) for sessions, cost_s in curve)

"""Group commit without a simulation: a fixed point, for answers in a few milliseconds.

How far it is from the simulation is tested over a grid (tests/unit/model/test_group_commit.py); results that
it does not have, such as percentiles, are left to the simulation.

Derivation, for N sessions that loop. A flush takes T and serves all commits that wait: so when it begins with
k commits, the other N - k sessions are all away from the log. Let p be the probability that a session that is
away comes back within T. The next flush then serves (N - k) p commits on average, or one, which comes later,
if none came back, with probability (1 - p)^(N - k):

    k = (N - k) p + (1 - p)^(N - k)        X = k / (T + c (1 - p)^(N - k) / N)

c is the time away: CPU, its queue, think time. A session is back after ceil(c / T) flushes, so
p = 1 / E[ceil(c / T)] = 1 / sum of P(c > j T) over j = 0, 1, 2 ..., with a gamma c. For one session, for a
log that takes no time, and for one so slow that two groups take turns (k = N / 2) this is exact.

The queue for a CPU is that of approximate mean value analysis: Schweitzer (1979) and Bard (1979), with
several servers split after Seidmann, Schweitzer and Shalev-Oren (1987), Performance Evaluation 7.

A session that comes during a flush waits for its end and is woken. Unless it leads the next flush it waits
once more. Each wait costs going to sleep, being woken and waking up.

Left out of everything here, and so of the figures for its error, is

- a CPU's own queue: `own_queues`, `spread_below`, `fetch_below`, `balance_s`;
- the time until an idle CPU is awake (`idle_exit_s`, `halt_exit_s`, `halt_after_s`), and `quantum_s`;
- the CPU that a flush needs between its write and the flush proper (`device_write_s`), for which an emulated
  device does not wait (`device_paced`);
- how much longer a device takes that has idled (`device_after_idle_s`), and its interrupts (`interrupt_s`);
- that a client's threads work for one session at a time;
- that a session may have the log again before the sessions that it woke.

Cold caches (`cold_s`) and hand-overs
(`hand_over_exit_s`) count where there is a CPU for each session.

Open arrivals at rate L: the log is a queue that serves all who wait at once. It is busy with probability B
= L T / (L T + z), where z is the probability of no arrival during a flush. Busy periods are 1 / z flushes
long on average, and idle ones 1 / L. A commit that comes in a busy period waits for the rest of that flush, T
(1 + v^2) / 2 with v its coefficient of variation, and for one more. For the CPUs Erlang C, times the mean of
1 and the squared coefficient of variation of a visit (Allen and Cunneen, in Allen (1990), section 5.3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from redolab._core import GroupCommitParameters
from redolab.model.erlang import NoSteadyStateError, open_queue

ROUNDS = 2_000
DAMPING = 0.3
SETTLED = 1e-9
LEAST_FLUSHES = 1e-3


@dataclass(frozen=True)
class ApproximateGroupCommit:
    """The approximate steady state."""

    throughput_per_s: float
    """Commits per second."""
    commit_time_s: float
    """Mean, from the request to commit to its acknowledgement."""
    response_time_s: float
    """Mean, from the arrival, or the end of the think time, to the acknowledgement."""
    cpu_utilization: float
    """Share of the CPUs' time that they are busy, 0 to 1."""
    device_utilization: float
    """Share of the time that the log device is busy, 0 to 1."""
    commits_per_flush: float


@dataclass
class _State:
    """The state in the search for the fixed point."""

    per_flush: float = 1.0
    """Commits per flush."""
    wait: float = 0.0
    """In the queue for a CPU, per visit."""
    running: float = 1.0
    """Mean number of sessions on a CPU or in its queue."""
    late: float = 1.0
    """How often a session that was served is not back before the next flush ends."""
    none_waits: float = 1.0
    """How often no commit waits when a flush ends."""
    throughput: float = 0.0

    def towards(self, other: _State) -> None:
        """Go a part of the way."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + DAMPING * (value - getattr(self, name)))


@dataclass(frozen=True)
class _Commit:
    """Average costs of one commit; CPU time in elapsed time on a server."""

    session_cpu_s: float
    """CPU time of its session, flush and waking included."""
    all_cpu_s: float
    """With the log writer's."""
    visits: float
    """Number of times a CPU takes up a session."""
    flush_s: float
    """From the beginning of one flush to that of the next if commits wait, without queues for a CPU."""
    device_s: float
    flush_visits: float
    """Visits to a CPU in that time that meet its queue."""


def approximate(parameters: GroupCommitParameters) -> ApproximateGroupCommit:
    """The steady state, approximately.

    Raises:
        ValueError: without group commit (`redolab.model.closed` is exact there), with a second log, or
            asynchronous commits in an open load.
        NoSteadyStateError: more arrives than can be done.
        ArithmeticError: the fixed point was not found.

    Source: see the module.
    """
    if not parameters.group_commit:
        raise ValueError("without group commit the log is an ordinary station: use exact_mva")
    if parameters.second is not None:
        raise ValueError("the fixed point knows one log, and commits wait for two here")
    if parameters.arrivals is None:
        return _closed(parameters)
    if parameters.asynchronous:
        raise ValueError("asynchronous commits in an open load are a CPU queue alone: use open_queue")
    return _open(parameters, parameters.arrivals.rate_per_s)


def _closed(parameters: GroupCommitParameters) -> ApproximateGroupCommit:
    sessions, think = parameters.sessions, parameters.think.mean_s
    state = _State()
    for _ in range(ROUNDS):
        others = state.running * (sessions - 1) / sessions
        work = _slow(parameters) * (parameters.transaction_cpu_s + parameters.contention_s * others)
        commit = _commit(parameters, work, state)
        if parameters.asynchronous:
            away = think + state.wait + work
            following = _State(1.0, 0.0, 0.0, 1.0, 1.0, sessions / away)
        else:
            flush = commit.flush_s + commit.flush_visits * _meets(parameters, commit, state) * state.wait
            following = _batch(parameters, work, state, flush)
        following.running = min(
            float(sessions), state.throughput * (commit.session_cpu_s + commit.visits * state.wait)
        )
        following.wait = _cpu_wait(parameters, commit, following)
        moved = abs(following.throughput - state.throughput) / following.throughput
        moved += abs(following.wait - state.wait) / (state.wait + commit.session_cpu_s + commit.flush_s)
        state.towards(following)
        if moved < SETTLED:
            break
    else:
        raise ArithmeticError(f"the approximation did not settle after {ROUNDS} rounds for {parameters}")
    response = sessions / state.throughput - think
    if parameters.asynchronous:
        commit_time, per_flush = 0.0, _writer_commits(parameters, state.throughput)
    else:
        commit_time, per_flush = response - work - _begins(parameters) * state.wait, state.per_flush
    return ApproximateGroupCommit(
        throughput_per_s=state.throughput,
        commit_time_s=commit_time,
        response_time_s=response,
        cpu_utilization=state.throughput * commit.all_cpu_s / _servers(parameters),
        device_utilization=state.throughput * commit.device_s / per_flush,
        commits_per_flush=per_flush,
    )


def _servers(parameters: GroupCommitParameters) -> int:
    return math.ceil(float(parameters.cpus))


def _slow(parameters: GroupCommitParameters) -> float:
    """Elapsed time per CPU time on one of the servers."""
    return _servers(parameters) / float(parameters.cpus)


def _commit(parameters: GroupCommitParameters, work: float, state: _State) -> _Commit:
    slow = _slow(parameters)
    flush_cpu, wake = slow * parameters.flush_cpu_s, slow * parameters.wake_s
    begins = _begins(parameters)
    if parameters.asynchronous:
        per_flush = _writer_commits(parameters, state.throughput)
        device = 0.0 if math.isinf(per_flush) else parameters.device.mean_s + per_flush * _bytes_s(parameters)
        return _Commit(work, work + (flush_cpu + 2 * wake) / per_flush, 1.0, 0.0, device, 0.0)
    delays = _delays(parameters, state.throughput)
    wakes = 1.0 if wake > 0 else 0.0
    leads = 1.0 - state.none_waits if wake + flush_cpu > 0 else 0.0
    # The leader after its flush, or after its delay. Not the next leader: all waiting sessions are woken, and
    # sessions that are on a CPU may come before them. If waking takes no time, the leader is there.
    flush_visits = wakes * (1.0 + delays) + (1.0 - wakes) * leads
    visits = wakes + begins + (wakes * delays + leads) / state.per_flush
    device = parameters.device.mean_s + state.per_flush * _bytes_s(parameters)
    flush = device + flush_cpu + (wakes * (1.0 + delays) + leads) * wake
    delay = delays * parameters.commit_delay_s
    # A session that comes during another's flush, and not in a delay, also wakes at its end, in vain;
    # sessions that the flush serves cannot come meanwhile.
    come = min(state.per_flush - 1.0, max(0.0, parameters.sessions - state.per_flush))
    vain = come / state.per_flush * flush / (flush + delay) if flush > 0 else 0.0
    visits += wakes * vain
    session = work + (visits - begins) * wake + flush_cpu / state.per_flush
    waits = 1.0 - 1.0 / state.per_flush + vain + leads / state.per_flush
    session += waits * slow * parameters.post_s
    session += (1.0 - 1.0 / state.per_flush) * slow * parameters.served_s
    return _Commit(session, session, visits, flush + delay, device, flush_visits)


def _bytes_s(parameters: GroupCommitParameters) -> float:
    return float(parameters.device_s_per_byte) * parameters.transaction_bytes


def _delays(parameters: GroupCommitParameters, throughput: float) -> float:
    """1 if enough transactions are under way for a leader to sleep its commit delay."""
    active = parameters.sessions - throughput * parameters.think.mean_s
    return 1.0 if parameters.commit_delay_s > 0 and active > parameters.commit_siblings else 0.0


def _writer_commits(parameters: GroupCommitParameters, throughput: float) -> float:
    """Commits per flush of the log writer; infinite without one."""
    by_time = throughput * parameters.writer_interval_s if parameters.writer_interval_s > 0 else math.inf
    volume = parameters.writer_bytes / parameters.transaction_bytes
    by_volume = volume if parameters.writer_bytes > 0 else math.inf
    return max(1.0, min(by_time, by_volume))


def _begins(parameters: GroupCommitParameters) -> float:
    """Whether a transaction begins in the queue for a CPU: 0 if its session is still on one, else 1."""
    stays = parameters.think.mean_s == 0 and parameters.arrivals is None
    return 0.0 if stays and (parameters.wake_s > 0 or parameters.asynchronous) else 1.0


def _away(parameters: GroupCommitParameters, work: float, state: _State) -> tuple[float, float]:
    """From the end of a flush to the next commit of its leader, who is awake, and of another it served."""
    wake = _slow(parameters) * parameters.wake_s
    leader = parameters.think.mean_s + _begins(parameters) * state.wait + work
    return leader, leader + (wake + state.wait if wake > 0 else 0.0)


def _away_cv(parameters: GroupCommitParameters, work: float, state: _State) -> float:
    """Its coefficient of variation: independent parts, a queue as variable as an exponential."""
    rows = parameters.row_cpu.mean_s * parameters.row_cpu.cv
    variance = (
        (parameters.commit_cpu.mean_s * parameters.commit_cpu.cv) ** 2
        + parameters.rows * rows**2
        + (parameters.think.mean_s * parameters.think.cv) ** 2
        + state.wait**2
    )
    away = _away(parameters, work, state)[1]
    return math.sqrt(variance) / away if away > 0 else 0.0


def _batch(parameters: GroupCommitParameters, work: float, state: _State, flush: float) -> _State:
    """How the log divides the sessions while a flush takes `flush`."""
    sessions = parameters.sessions
    cv = _away_cv(parameters, work, state)
    leader, other = _away(parameters, work, state)
    away = leader / state.per_flush + other * (1 - 1 / state.per_flush)
    late = none_waits = per_flush = 1.0
    if sessions > 1 and flush > 0:
        # A session that commits before the next leader has woken up, and slept its delay, is served by its
        # flush.
        grace = _slow(parameters) * parameters.wake_s
        grace += _delays(parameters, state.throughput) * parameters.commit_delay_s
        flushes = _flushes_away(leader, flush, grace, cv) / state.per_flush
        flushes += _flushes_away(other, flush, grace, cv) * (1 - 1 / state.per_flush)
        late = max(0.0, 1 - 1 / flushes)
        low, high = 1.0, float(sessions)
        for _ in range(60):
            middle = (low + high) / 2
            served = (sessions - middle) / flushes + late ** (sessions - middle)
            low, high = (middle, high) if served > middle else (low, middle)
        per_flush, none_waits = low, late ** (sessions - low)
    throughput = per_flush / (flush + none_waits * away / sessions)
    return _State(per_flush, 0.0, 0.0, late, none_waits, throughput)


def _flushes_away(away: float, flush: float, grace: float, cv: float) -> float:
    """E[ceil((c - grace) / T)], not below 0, for a gamma c of mean `away`."""
    if away == 0:
        return 1.0
    if cv < 0.01:
        return max(float(math.ceil((away - grace) / flush)), LEAST_FLUSHES)
    if away > 100 * flush:
        return away / flush + 0.5
    import numpy as np
    from scipy.special import gammaincc

    shape = 1 / cv**2
    ends = grace + flush * np.arange(math.ceil(20 * away / flush) + 20)
    return max(float(gammaincc(shape, shape * ends / away).sum()), LEAST_FLUSHES)


def _meets(parameters: GroupCommitParameters, commit: _Commit, state: _State) -> float:
    """The part of the CPUs' queue that a session meets when it flushes.

    Sessions queue when a flush has ended, and with a log that is slow enough all of them are gone by the time
    its next flush ends. The square of the utilization is not derived: it fits the simulation.
    """
    utilization = min(1.0, state.throughput * commit.all_cpu_s / _servers(parameters))
    return max(state.late, utilization**2)


def _cpu_wait(parameters: GroupCommitParameters, commit: _Commit, state: _State) -> float:
    """Mean time in the queue for a CPU, per visit."""
    sessions, servers = parameters.sessions, _servers(parameters)
    if sessions <= servers:
        return 0.0
    visit = commit.all_cpu_s / commit.visits / servers
    # The others are there independently of one another ...
    alone = visit * _beyond(sessions - 1, state.running / sessions, servers - 1)
    # ... or come all at once, when a flush ends.
    batch = max(0.0, state.per_flush - servers)
    together = visit * batch * (batch + 1) / (2 * state.per_flush)
    return max(alone, together)


def _beyond(count: int, share: float, free: int) -> float:
    """Mean of the amount by which a binomial number exceeds `free`."""
    from scipy.special import bdtr

    if share >= 1:
        return float(count - free)
    # E[(A - f)+] = E[A] - f + the sum of P(A <= j) over j below f.
    below = math.fsum(float(bdtr(there, count, share)) for there in range(min(free, count)))
    return max(0.0, count * share - free + below + max(0, free - count))


def _open(parameters: GroupCommitParameters, rate: float) -> ApproximateGroupCommit:
    servers, work = _servers(parameters), _slow(parameters) * parameters.transaction_cpu_s
    state = _State(throughput=rate)
    for _ in range(ROUNDS):
        commit = _commit(parameters, work, state)
        wait = open_queue(rate * commit.visits, commit.all_cpu_s / commit.visits, servers).queue_time
        flush = commit.flush_s + commit.flush_visits * wait
        cv = parameters.device.mean_s * parameters.device.cv / flush
        none = _no_arrival(rate * flush, cv)
        busy = rate * flush / (rate * flush + none)
        moved = abs(rate * flush / busy - state.per_flush)
        state = _State(rate * flush / busy, wait, 0.0, 1.0, none, rate)
        if moved < SETTLED:
            break
    else:
        raise ArithmeticError(f"the approximation did not settle after {ROUNDS} rounds for {parameters}")
    per_flush = state.per_flush
    commit_time = flush + busy * flush * (1 + cv**2) / 2
    response = wait + work + commit_time
    if rate * response >= parameters.sessions:
        raise NoSteadyStateError(
            f"no steady state: {rate:g} units per second keep {rate * response:.3g} sessions busy, and there "
            f"are {parameters.sessions}"
        )
    return ApproximateGroupCommit(
        rate,
        commit_time,
        response,
        rate * commit.all_cpu_s / servers,
        rate * commit.device_s / per_flush,
        per_flush,
    )


def _no_arrival(arrivals: float, cv: float) -> float:
    """Probability of no arrival during a gamma time in which `arrivals` are expected."""
    if cv < 1e-6:
        return math.exp(-arrivals)
    return math.exp(-math.log1p(arrivals * cv**2) / cv**2)

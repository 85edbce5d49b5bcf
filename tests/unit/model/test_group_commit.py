"""The simulation of group commit: closed forms, conservation laws, the effects it is there for."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redolab import _core
from redolab._core import GroupCommitParameters
from redolab.forecast.costs.costs import POST_SHARE, SERVED_SHARE, WAKE_SHARE
from redolab.model.closed import Station, exact_mva
from redolab.model.distribution import (
    Distribution,
    constant,
    exponential,
    gamma,
    lognormal,
    quantiles,
    two_valued,
)
from redolab.model.erlang import NoSteadyStateError, open_queue
from redolab.model.group_commit import Arrivals, Interval, ratio_of_sums, simulate
from redolab.model.group_commit_approximation import approximate

MS = 1e-3
US = 1e-6
LONG = 3600.0
SEEDS = range(20)


def covered(intervals: list[Interval], truth: float) -> int:
    return sum(interval.low <= truth <= interval.high for interval in intervals)


def poisson(rate_per_s: float) -> Arrivals:
    return Arrivals(exponential(1 / rate_per_s))


# Closed forms. Of 20 intervals at 95 % six or more miss the truth in 3 of 10,000 tests, and in 1 of 100 if
# they are at 90 %: the batches of a queue are not quite independent.


@pytest.mark.parametrize(("servers", "rate"), [(1, 500.0), (1, 700.0), (2, 1400.0), (3, 2000.0), (8, 6000.0)])
def test_open_queues(servers: int, rate: float) -> None:
    exact = open_queue(rate, MS, servers)
    parameters = GroupCommitParameters(
        sessions=2000, cpus=servers, commit_cpu=exponential(MS), arrivals=poisson(rate), asynchronous=True,
        quantum_s=LONG,
    )  # fmt: skip
    results = [simulate(parameters, seed, 40_000) for seed in SEEDS]
    assert covered([one.response_time.mean_s for one in results], exact.response_time) >= 15
    assert covered([one.cpu_utilization for one in results], exact.utilization) >= 15
    for share, name in ((0.50, "p50_s"), (0.95, "p95_s"), (0.99, "p99_s")):
        intervals = [getattr(one.response_time, name) for one in results]
        assert covered(intervals, exact.response_time_quantile(share)) >= 15, name


@pytest.mark.parametrize("sessions", [1, 3, 10, 30])
@pytest.mark.parametrize("servers", [1, 2, 4])
def test_the_machine_repairman(sessions: int, servers: int) -> None:
    exact = exact_mva([Station(MS, servers)], sessions, 5 * MS)
    parameters = GroupCommitParameters(
        sessions=sessions, cpus=servers, commit_cpu=exponential(MS), think=exponential(5 * MS),
        asynchronous=True, quantum_s=LONG,
    )  # fmt: skip
    results = [simulate(parameters, seed, 10_000) for seed in SEEDS]
    assert covered([one.throughput_per_s for one in results], exact.throughput) >= 15
    assert covered([one.response_time.mean_s for one in results], exact.response_time) >= 15


@pytest.mark.parametrize(("sessions", "servers"), [(1, 1), (4, 2), (12, 2), (12, 3)])
def test_without_group_commit_the_log_is_a_station_of_its_own(sessions: int, servers: int) -> None:
    exact = exact_mva([Station(MS, servers), Station(0.7 * MS)], sessions, 2 * MS)
    parameters = GroupCommitParameters(
        sessions=sessions, cpus=servers, commit_cpu=exponential(MS), device=exponential(0.7 * MS),
        think=exponential(2 * MS), group_commit=False, quantum_s=LONG,
    )  # fmt: skip
    results = [simulate(parameters, seed, 10_000) for seed in SEEDS]
    assert covered([one.throughput_per_s for one in results], exact.throughput) >= 15
    assert covered([one.commit_time.mean_s for one in results], exact.residence_times[1]) >= 15
    assert covered([one.device_utilization for one in results], exact.utilizations[1]) >= 15


@pytest.mark.parametrize("load", [0.2, 1.0, 5.0])
def test_a_log_that_serves_all_who_wait(load: float) -> None:
    """Poisson arrivals at L, flushes exponential at m, one flush for all who wait (M/M/1, bulk service).

    In balance the number n that waits during a flush has probability q (L / (L + m))^n, and the idle log
    q m / L. They add up to 1 with q (m / L + (L + m) / m) = 1; the mean number that waits is
    q (L / m) (L + m) / m. By Little the mean wait is that over L, and a flush follows it.
    """
    rate, flush = load * 1000.0, MS
    weight = 1 / (1 / load + load + 1)
    commit = weight * (load + 1) * flush + flush
    parameters = GroupCommitParameters(
        sessions=2000, cpus=1, arrivals=poisson(rate), device=exponential(flush)
    )
    results = [simulate(parameters, seed, 40_000) for seed in SEEDS]
    assert covered([one.commit_time.mean_s for one in results], commit) >= 15
    assert covered([one.device_utilization for one in results], 1 - weight / load) >= 15


def moments_s(sum_ns: int, classes: list[tuple[int, int]]) -> tuple[float, float]:
    """Mean and standard deviation of durations, from their sum and their histogram."""
    count = sum(times for _, times in classes)
    mean = sum_ns / count
    variance = sum(times * (value - mean) ** 2 for value, times in classes) / count
    return mean / 1e9, math.sqrt(variance) / 1e9


@pytest.mark.parametrize(
    "described",
    [
        constant(2 * MS),
        exponential(2 * MS),
        gamma(2 * MS, 0.3),
        gamma(2 * MS, 2.0),
        lognormal(2 * MS, 0.8),
        two_valued(MS, 11 * MS, 0.1),
        quantiles([MS, 1.5 * MS, 1.6 * MS, 4 * MS]),
    ],
    ids=lambda described: described.shape,
)
def test_draws_have_the_moments_of_their_description(described: Distribution) -> None:
    parameters = GroupCommitParameters(sessions=1, cpus=1, device=described)
    seen = _core.simulate_group_commit(parameters, 1, 10_000, 20, 5_000)
    mean_s, deviation_s = moments_s(seen.commit_time[0], seen.commit_times)
    error = described.mean_s * described.cv / math.sqrt(100_000)
    assert mean_s == pytest.approx(described.mean_s, abs=4 * error + 1e-9)
    assert deviation_s / described.mean_s == pytest.approx(described.cv, rel=0.03, abs=1e-3)


def test_rows_are_drawn_one_by_one_though_at_once() -> None:
    parameters = GroupCommitParameters(
        sessions=1, cpus=1, rows=16, row_cpu=exponential(MS), asynchronous=True, quantum_s=LONG
    )
    seen = _core.simulate_group_commit(parameters, 1, 5_000, 20, 2_500)
    mean_s, deviation_s = moments_s(seen.response_time[0], seen.response_times)
    assert mean_s == pytest.approx(16 * MS, rel=0.01)
    assert deviation_s == pytest.approx(4 * MS, rel=0.03)


# Conservation laws


times_ns = st.integers(0, 2_000_000).map(lambda ns: ns / 1e9)
durations = st.one_of(
    times_ns.map(constant),
    times_ns.map(exponential),
    st.tuples(times_ns, st.floats(0.1, 2.0)).map(lambda drawn: gamma(*drawn)),
)


@given(
    sessions=st.integers(1, 20),
    cpus=st.floats(0.3, 5.0),
    commit_cpu=durations,
    row_cpu=durations,
    rows=st.integers(1, 20),
    device=durations,
    think=durations,
    quantum_s=st.sampled_from([10 * US, MS, LONG]),
    overhead=times_ns,
    row_bytes=st.sampled_from([0.0, 100.0]),
    commit_delay_s=st.sampled_from([0.0, 300 * US]),
    writer_interval_s=st.sampled_from([0.0, 5 * MS]),
    asynchronous=st.booleans(),
    group_commit=st.booleans(),
    own_queues=st.booleans(),
    device_paced=st.booleans(),
    device_write_s=times_ns,
    interrupt_s=times_ns,
    spread_below=st.sampled_from([0.0, 0.6]),
    fetch_below=st.sampled_from([0.0, 0.5]),
    balance_s=st.sampled_from([0.0, MS]),
    halt_after_s=times_ns,
    statements=st.integers(0, 3),
    seed=st.integers(0, 2**64 - 1),
)
@settings(max_examples=150, deadline=None)
def test_time_is_conserved(overhead: float, seed: int, **drawn: Any) -> None:
    small = overhead / 50
    parameters = GroupCommitParameters(
        wake_s=small, flush_cpu_s=small, contention_s=small,
        post_s=small, idle_exit_s=small, halt_exit_s=overhead, served_s=small,
        device_s_per_byte=1e-9, commit_bytes=60.0, **(drawn | {
            "commit_cpu": constant(US) if drawn["commit_cpu"].mean_s == 0 else drawn["commit_cpu"]
        }),
    )  # fmt: skip
    seen = _core.simulate_group_commit(parameters, seed, 100, 4, 200)
    longest = seen.response_times[-1][0] + 1
    for batch in seen.batches:
        states = (
            batch.idle_ns, batch.on_cpu_ns, batch.run_queue_ns, batch.log_wait_ns, batch.device_ns,
            batch.delay_ns,
        )  # fmt: skip
        # Each session is always somewhere, and no CPU or device is busy longer than there is time.
        assert sum(states) == parameters.sessions * batch.elapsed_ns
        assert batch.on_cpu_ns <= batch.cpu_busy_ns <= math.ceil(parameters.cpus) * batch.elapsed_ns
        assert batch.device_ns <= batch.device_busy_ns <= batch.elapsed_ns
        assert batch.delay_ns <= batch.elapsed_ns
        # N = X (R + Z), but for transactions that reach across an end of the stretch. Who neither thinks
        # nor waits for the log can keep another's transaction off the CPU for all of it. Nor is one that no
        # other's flush serves ever sure of the log: one session can be passed by for all of it.
        spent = parameters.sessions * batch.elapsed_ns - batch.idle_ns
        if parameters.group_commit and not parameters.asynchronous:
            assert abs(batch.response_time[0] - spent) <= 2 * parameters.sessions * longest
        assert abs(batch.commits - batch.arrivals) <= parameters.sessions
        assert batch.commit_time[0] <= batch.response_time[0]
        assert batch.flushes <= batch.commits + parameters.sessions or parameters.writer_interval_s > 0
    assert sum(count for _, count in seen.commit_times) == 800


@given(rate=st.floats(100, 3000), burst=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_little_holds_for_arrivals(rate: float, burst: int, seed: int) -> None:
    parameters = GroupCommitParameters(
        sessions=20, cpus=2, commit_cpu=exponential(0.2 * MS), device=constant(0.5 * MS),
        arrivals=Arrivals(exponential(burst / rate), burst),
    )  # fmt: skip
    seen = simulate(parameters, seed, 20_000)
    busy = parameters.sessions - seen.sessions_by_state["idle"].point + seen.backlog.point
    assert seen.throughput_per_s.point * seen.response_time.mean_s.point == pytest.approx(busy, rel=0.02)


# What it is there for


def test_sessions_on_a_slow_log_take_turns_in_two_groups() -> None:
    """The counts of a planning study on PostgreSQL 18.6 with an emulated 1 ms log (2 CPUs).

    CPU per commit from its 15,300 commits/s of 8 sessions without a slow log, less waking; its other
    figures as measured there. Its flushes took longer with more sessions, which is not known here, so
    throughput comes out too high, but below N / 2 flush times.
    """
    measured = {2: (835.0, 1.00), 8: (2938.0, 0.25), 32: (10149.0, 0.07)}
    for sessions, (throughput, flushes_per_commit) in measured.items():
        parameters = GroupCommitParameters(
            sessions=sessions, cpus=2, commit_cpu=gamma(100 * US, 0.3), device=constant(1.032 * MS),
            flush_cpu_s=14 * US, wake_s=27 * US,
        )  # fmt: skip
        seen = simulate(parameters, 1, 20_000)
        assert seen.commits_per_flush is not None
        assert 1 / seen.commits_per_flush.point == pytest.approx(flushes_per_commit, abs=0.01)
        assert 0.95 * throughput < seen.throughput_per_s.point < sessions / (2 * 1.032 * MS)


def test_one_long_write_makes_the_average_sync_twice_the_average_write() -> None:
    """Ten short writes and a long one: who commits, mostly commits during the long one. CPUs are idle."""
    ratios = {}
    for name, device in {
        "one long": two_valued(MS, 10 * MS, 1 / 11),
        "all alike": constant(20 / 11 * MS),
    }.items():
        parameters = GroupCommitParameters(
            sessions=500, cpus=2, commit_cpu=constant(10 * US), device=device, arrivals=poisson(2000)
        )
        seen = simulate(parameters, 1, 100_000)
        assert device.mean_s == pytest.approx(20 / 11 * MS)
        assert seen.cpu_utilization.high < 0.02
        assert seen.sessions_by_state["run_queue"].point < 0.01
        ratios[name] = seen.commit_time.mean_s.point / device.mean_s
    # Writes follow each other without a pause; a commit waits for the rest of one and for all of the next.
    squares = (10 * 1**2 + 1 * 10**2) / 11
    assert ratios["one long"] == pytest.approx(squares / (2 * (20 / 11) ** 2) + 1, abs=0.05)
    assert ratios["one long"] > 2
    assert ratios["all alike"] == pytest.approx(1.5, abs=0.05)


def test_the_published_sync_of_3_7_ms_over_writes_of_1_8_ms() -> None:
    """Some 580 commits per second are enough for it; fewer meet the long write more rarely."""
    times = {}
    for rate in (50, 580):
        parameters = GroupCommitParameters(
            sessions=500,
            cpus=2,
            commit_cpu=constant(10 * US),
            device=two_valued(MS, 10 * MS, 1 / 11),
            arrivals=poisson(rate),
        )
        seen = simulate(parameters, 1, 100_000)
        assert seen.cpu_utilization.high < 0.01
        assert seen.sessions_by_state["run_queue"].point < 0.01
        times[rate] = seen.commit_time.mean_s.point
    assert parameters.device.mean_s == pytest.approx(1.8 * MS, rel=0.02)
    assert times[580] == pytest.approx(3.7 * MS, rel=0.02)
    assert times[50] < 2.2 * MS


def test_a_client_that_takes_no_time_leaves_its_server_on_the_cpu() -> None:
    parameters = GroupCommitParameters(
        sessions=3, cpus=2, commit_cpu=constant(100 * US), asynchronous=True, statements=2, client_threads=2,
        own_queues=True, balance_s=MS, quantum_s=4 * MS,
    )  # fmt: skip
    seen = simulate(parameters, 1, 2_000)
    assert seen.cpu_utilization.point == pytest.approx(1.0, abs=0.02)
    assert seen.throughput_per_s.point == pytest.approx(2 / (100 * US), rel=0.02)


def test_a_commit_delay_hurts_where_few_sessions_commit_on_a_fast_log() -> None:
    """As measured, on PostgreSQL 18 with a log of some 20 us: 8 sessions keep 0.27, 32 keep 1.03.

    With costs as calibrated there, without the flushes that took far longer than usual: 14 us of CPU time for
    a flush and 26 per commit for waiting, 1.5 times, divided as `redolab.forecast.costs.costs` divides it.
    """
    kept, wait_s, served_s = {}, (1 - SERVED_SHARE) * 26 / 1.5 * US, SERVED_SHARE * 26 * US
    for sessions in (8, 32):
        base = GroupCommitParameters(
            sessions=sessions, cpus=2, commit_cpu=gamma(9 * US, 0.5), device=constant(20 * US),
            flush_cpu_s=14 * US - WAKE_SHARE * wait_s, wake_s=WAKE_SHARE * wait_s,
            post_s=POST_SHARE * wait_s, served_s=served_s, idle_exit_s=6 * US,
            halt_exit_s=30 * US, halt_after_s=0.2 * MS, own_queues=True,
            balance_s=4 * MS, quantum_s=4 * MS,
        )  # fmt: skip
        delayed = base.replaced(commit_delay_s=500 * US)
        one, other = (simulate(each, 1, 20_000).throughput_per_s.point for each in (base, delayed))
        kept[sessions] = other / one
    assert kept[8] == pytest.approx(0.27, abs=0.06)
    assert kept[32] == pytest.approx(1.0, abs=0.06)


def test_past_saturation_contention_lets_throughput_fall() -> None:
    def throughput(sessions: int, contention_s: float) -> float:
        parameters = GroupCommitParameters(
            sessions=sessions, cpus=2, commit_cpu=exponential(100 * US), device=constant(50 * US),
            flush_cpu_s=14 * US, wake_s=25 * US, contention_s=contention_s,
        )  # fmt: skip
        return simulate(parameters, 1, 20_000).throughput_per_s.point

    assert throughput(96, 0.0) > 0.98 * throughput(32, 0.0)
    assert throughput(96, US) < 0.9 * throughput(32, US)


def test_large_batches_delay_small_commits_by_their_turns() -> None:
    """A commit beside large batches waits for their turns to end, and the shorter these, the less."""

    def response(quantum_s: float) -> float:
        # One in fifty transactions is large: 10 ms, the others 100 us.
        parameters = GroupCommitParameters(
            sessions=500, cpus=1, commit_cpu=two_valued(100 * US, 10 * MS, 0.02), arrivals=poisson(1000),
            asynchronous=True, quantum_s=quantum_s,
        )  # fmt: skip
        return simulate(parameters, 1, 100_000).response_time.p95_s.point

    assert response(LONG) > 2 * response(100 * US)


# The same everywhere; refusals


def test_the_same_seed_gives_the_same_result() -> None:
    parameters = GroupCommitParameters(
        sessions=8, cpus=1.9, commit_cpu=gamma(60 * US, 0.5), device=lognormal(MS, 0.4), wake_s=25 * US
    )
    one = simulate(parameters, 7)
    assert one == simulate(parameters, 7)
    assert one != simulate(parameters, 8)
    # Known to the nanosecond; the crate's own test has the hash of everything.
    assert (one.elapsed_s, one.events) == (50.739562502, 692041)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sessions": 0}, "sessions: there must be between 1 and 100,000"),
        ({"sessions": -1}, "sessions is -1"),
        ({"cpus": 0.0}, "CPUs: there must be at least 0.001"),
        ({"cpus": math.nan}, "CPUs: there must be at least 0.001"),
        ({"rows": -3}, "rows is -3"),
        ({"commit_cpu": constant(-1.0)}, "CPU time per commit: -1000000000 ns is no duration"),
        ({"commit_cpu": gamma(1.0, 0.0)}, "a coefficient of variation of 0 is not above 0"),
        ({"row_cpu": lognormal(1e-6, 1.0), "rows": 2}, "must be constant, exponential or gamma"),
        ({"device": two_valued(1.0, 2.0, 1.5)}, "device time: a share of 1.5 is not between 0 and 1"),
        ({"device": quantiles([2.0, 1.0])}, "quantiles must lie between 0 and an hour and not fall"),
        ({"device": quantiles([2.0])}, "at least two quantiles"),
        ({"device": Distribution("weibull", (1.0,))}, 'no distribution "weibull" of 1 values'),
        ({"device": exponential(math.inf)}, "inf ns is no duration"),
        ({"quantum_s": 0.0}, "the quantum must be above 0"),
        *(
            ({name: -1e-6}, f"{name}: -0.000001 s is not between 0 and an hour")
            for name in (
                "wake_s", "post_s", "idle_exit_s", "halt_exit_s", "halt_after_s", "served_s",
                "balance_s", "commit_delay_s",
            )
        ),
        ({"halt_after_s": math.nan}, "halt_after_s: NaN s is not between 0 and an hour"),
        ({"balance_s": 4000.0}, "balance_s: 4000 s is not between 0 and an hour"),
        ({"balance_s": 1e-9}, "the interval at which CPUs balance: 1 ns is neither 0 nor at least"),
        ({"writer_interval_s": 5e-8}, "the log writer's interval: 50 ns is neither 0 nor at least"),
        ({"device_after_idle_s": ((2e-3, 0.0), (1e-3, 1e-4))}, "the times that a device idled must rise"),
        ({"device_after_idle_s": ((1e-3, -1e-4),)}, "device_after_idle_s: -0.0001 s is not between 0"),
        ({"statements": 2**32}, "statements is 4294967296; it must be 0 or more, and below"),
        ({"contention_s": -1e-6}, "contention: -1000 is not 0 or more"),
        ({"commit_bytes": 0.0}, "at least one byte of log"),
        ({"commit_cpu": constant(0.0), "device": constant(0.0)}, "a transaction must take some time"),
        ({"commit_cpu": constant(0.0), "asynchronous": True}, "a transaction must take some time"),
        ({"arrivals": Arrivals(constant(0.0))}, "a gap above 0"),
        ({"arrivals": Arrivals(constant(1.0), 0)}, "a burst of 0 arrivals"),
        ({"arrivals": Arrivals(constant(1.0)), "think": constant(1.0)}, "do not think"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    sound: dict[str, Any] = {"sessions": 4, "cpus": 2.0, "commit_cpu": constant(MS), "device": constant(MS)}
    GroupCommitParameters(**sound)
    with pytest.raises(ValueError, match=reason):
        GroupCommitParameters(**(sound | changes))


def test_too_little_is_refused() -> None:
    parameters = GroupCommitParameters(sessions=100, cpus=2, commit_cpu=constant(MS))
    with pytest.raises(ValueError, match="at least 2000"):
        simulate(parameters, 1, 1999)
    with pytest.raises(ValueError, match="the seed is -1"):
        simulate(parameters, -1)


@pytest.mark.parametrize(
    ("sessions", "rate", "reason"),
    [(50, 2100.0, "ask for 2.1 CPUs of 2"), (1, 700.0, "still had no session at the end")],
)
def test_more_than_can_be_done_has_no_steady_state(sessions: int, rate: float, reason: str) -> None:
    parameters = GroupCommitParameters(
        sessions=sessions, cpus=2, commit_cpu=exponential(MS), device=constant(MS), arrivals=poisson(rate)
    )
    with pytest.raises(NoSteadyStateError, match=reason):
        simulate(parameters, 1, 20_000)


def test_a_ratio_of_sums_and_its_interval() -> None:
    # Deviations from 2 are 1, 0, -1, 0: their standard error is sqrt(2 / 3 / 4), by a mean of 2 below.
    seen = ratio_of_sums([5.0, 4.0, 3.0, 4.0], [2.0, 2.0, 2.0, 2.0])
    half = 3.182446305284263 * math.sqrt(2 / 3 / 4) / 2
    assert seen.point == 2
    assert seen.low == pytest.approx(2 - half)
    assert seen.high - seen.point == pytest.approx(half)


# The approximation


@pytest.mark.parametrize("sessions", [1, 2, 7, 8, 50])
def test_the_approximation_is_exact_where_its_derivation_is(sessions: int) -> None:
    alone = approximate(
        GroupCommitParameters(
            sessions=1, cpus=2, commit_cpu=constant(MS), device=constant(2 * MS), think=constant(MS),
            wake_s=0.1 * MS, flush_cpu_s=0.2 * MS,
        )
    )  # fmt: skip
    assert 1 / alone.throughput_per_s == pytest.approx(4.3 * MS)
    slow = approximate(
        GroupCommitParameters(sessions=sessions, cpus=sessions, commit_cpu=constant(MS), device=constant(5.0))
    )
    together = 5.0 + MS if sessions == 1 else 10.0
    assert slow.throughput_per_s == pytest.approx(sessions / together, rel=1e-6)
    quick = approximate(
        GroupCommitParameters(
            sessions=sessions, cpus=sessions, commit_cpu=exponential(MS), device=constant(1e-9)
        )
    )
    assert quick.throughput_per_s == pytest.approx(sessions / MS, rel=1e-4)


def distances(grid: list[GroupCommitParameters]) -> tuple[list[float], list[float]]:
    """How far the approximation is from the simulation, in throughput and in mean commit time."""
    pairs = [(approximate(each), simulate(each, 1, 20_000)) for each in grid]
    throughput = [near.throughput_per_s / seen.throughput_per_s.point for near, seen in pairs]
    commit = [near.commit_time_s / seen.commit_time.mean_s.point for near, seen in pairs]
    return sorted(abs(one - 1) for one in throughput), sorted(abs(one - 1) for one in commit)


def test_how_far_the_approximation_is_from_the_simulation() -> None:
    grid = [
        GroupCommitParameters(
            sessions=sessions, cpus=2, commit_cpu=gamma(cpu, 0.5), device=lognormal(device, 0.3),
            flush_cpu_s=15 * US, wake_s=wake, think=think,
        )
        for sessions, device, cpu, think, wake in itertools.product(
            (1, 2, 4, 8, 16, 32, 64),
            (20 * US, 100 * US, MS, 5 * MS),
            (30 * US, 200 * US),
            (constant(0.0), exponential(MS)),
            (0.0, 25 * US),
        )
    ]  # fmt: skip
    throughput, commit = distances(grid)
    assert statistics.median(throughput) < 0.01
    assert throughput[int(0.9 * len(grid))] < 0.07
    # Farthest where a session often has the log again before those it woke, which is left out.
    assert throughput[-1] < 0.15
    assert statistics.median(commit) < 0.02
    assert commit[int(0.9 * len(grid))] < 0.18
    assert commit[-1] < 0.45


def test_how_far_it_is_with_everything_else() -> None:
    base = GroupCommitParameters(
        sessions=16, cpus=2, commit_cpu=gamma(60 * US, 0.5), device=lognormal(0.3 * MS, 0.3),
        flush_cpu_s=15 * US, wake_s=25 * US,
    )  # fmt: skip
    changes: list[dict[str, Any]] = [
        {"cpus": 1.9},
        {"cpus": 3.3, "sessions": 40},
        {"wake_s": 13 * US, "post_s": 12 * US},
        {"contention_s": US},
        {"rows": 30, "row_cpu": gamma(3 * US, 1.0), "row_bytes": 150.0, "device_s_per_byte": 2e-9},
        {"rows": 30, "row_cpu": gamma(3 * US, 1.0), "row_bytes": 150.0},
        {"commit_delay_s": 200 * US},
        {"asynchronous": True, "writer_interval_s": 10 * MS},
        {"asynchronous": True, "writer_bytes": 500, "think": exponential(0.2 * MS)},
    ]
    for change in changes:
        parameters = base.replaced(**change)
        seen, near = simulate(parameters, 1, 20_000), approximate(parameters)
        assert near.throughput_per_s == pytest.approx(seen.throughput_per_s.point, rel=0.15), change
        assert near.cpu_utilization == pytest.approx(seen.cpu_utilization.point, rel=0.15), change


@pytest.mark.parametrize("utilization", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("device_s", [0.1 * MS, 3 * MS])
def test_how_far_it_is_for_arrivals(utilization: float, device_s: float) -> None:
    parameters = GroupCommitParameters(
        sessions=1000, cpus=2, commit_cpu=exponential(MS), device=lognormal(device_s, 0.5),
        arrivals=poisson(utilization * 2000),
    )  # fmt: skip
    seen, near = simulate(parameters, 1), approximate(parameters)
    assert near.response_time_s == pytest.approx(seen.response_time.mean_s.point, rel=0.06)
    assert near.commit_time_s == pytest.approx(seen.commit_time.mean_s.point, rel=0.12)
    assert near.commits_per_flush == pytest.approx(seen.commits_per_flush.point, rel=0.12)  # type: ignore[union-attr]


def test_the_approximation_refuses_what_it_is_not_for() -> None:
    base = GroupCommitParameters(sessions=4, cpus=2, commit_cpu=exponential(MS), device=constant(MS))
    with pytest.raises(ValueError, match="use exact_mva"):
        approximate(base.replaced(group_commit=False))
    with pytest.raises(ValueError, match="use open_queue"):
        approximate(base.replaced(asynchronous=True, arrivals=poisson(100)))
    with pytest.raises(NoSteadyStateError, match="sessions busy, and there are 4"):
        approximate(base.replaced(arrivals=poisson(1900)))
    with pytest.raises(NoSteadyStateError, match="reaches the 2 servers"):
        approximate(base.replaced(arrivals=poisson(2100)))

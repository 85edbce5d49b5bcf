"""Closed forms against textbook values and against each other."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redolab.model.closed import (
    Station,
    approximate_mva,
    exact_mva,
    sessions_at_elbow,
)
from redolab.model.erlang import NoSteadyStateError, erlang_b, erlang_c, open_queue
from redolab.model.scalability import Scalability, fit_scalability


def exact_erlang_b(servers: int, offered: Fraction) -> Fraction:
    """The definition: (a^m / m!) / sum of a^k / k!, in whole fractions."""
    terms = [offered**k / math.factorial(k) for k in range(servers + 1)]
    return terms[-1] / sum(terms)


# Erlang B tables give 0.1 % blocking at these loads (ITU-T E.520 and every traffic table since).
@pytest.mark.parametrize(
    ("servers", "offered"), [(1, 0.001), (2, 0.0458), (5, 0.762), (10, 3.09), (20, 9.41), (50, 32.5)]
)
def test_erlang_b_has_the_tables_loads_for_one_in_a_thousand(servers: int, offered: float) -> None:
    assert erlang_b(servers, offered) == pytest.approx(0.001, rel=0.01)


@pytest.mark.parametrize("servers", [1, 2, 3, 8, 40])
@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(1, 2), Fraction(19, 20)])
def test_erlang_b_and_c_are_their_definitions_to_twelve_digits(servers: int, share: Fraction) -> None:
    offered = share * servers
    blocked = exact_erlang_b(servers, offered)
    assert erlang_b(servers, float(offered)) == pytest.approx(float(blocked), rel=1e-12)
    waits = blocked / (1 - share * (1 - blocked))
    assert erlang_c(servers, float(offered)) == pytest.approx(float(waits), rel=1e-12)


def test_one_server() -> None:
    queue = open_queue(arrival_rate=0.8, service_time=1.0)
    assert queue.response_time == pytest.approx(5.0, rel=1e-12)
    assert queue.waiting_probability == pytest.approx(0.8, rel=1e-12)
    # The response time of M/M/1 is exponential.
    assert queue.response_time_quantile(0.95) == pytest.approx(-5 * math.log(0.05), rel=1e-9)
    # Commit scalability as published: 1.2 million writes an hour of 1 ms are 33 % busy.
    assert open_queue(1.2e6 / 3600, 0.001).utilization == pytest.approx(1 / 3)


def test_two_servers() -> None:
    # Kleinrock: with two servers R = S / (1 - (L S / 2)^2).
    queue = open_queue(arrival_rate=1.2, service_time=1.0, servers=2)
    assert queue.response_time == pytest.approx(1 / (1 - 0.36), rel=1e-12)
    assert queue.queue_time == pytest.approx(1 / (1 - 0.36) - 1, rel=1e-9)


@pytest.mark.parametrize("servers", [1, 2, 5])
def test_quantiles_invert_the_distribution_whose_mean_is_the_response_time(servers: int) -> None:
    queue = open_queue(0.7 * servers, 1.0, servers)
    steps = 20_000
    mean = sum(queue.response_time_quantile((i + 0.5) / steps) for i in range(0, steps, 20)) * 20 / steps
    assert mean == pytest.approx(queue.response_time, rel=0.01)


@pytest.mark.parametrize("wrong", [(1.0, 0.0, 1), (1.0, -1.0, 1), (-1.0, 1.0, 1), (1.0, 1.0, 0)])
def test_nonsense_is_refused(wrong: tuple[float, float, int]) -> None:
    with pytest.raises(ValueError, match=r"must be"):
        open_queue(*wrong)


@pytest.mark.parametrize(("rate", "servers"), [(1.0, 1), (5.0, 1), (2.0, 2)])
def test_a_full_queue_has_no_steady_state(rate: float, servers: int) -> None:
    with pytest.raises(NoSteadyStateError, match="no steady state"):
        open_queue(rate, 1.0, servers)


# Lazowska et al., Quantitative System Performance (1984), section 6.4.1: CPU 0.605 s, disks 2.1 and
# 1.35 s, think time 15 s; the printed table has four digits.
BOOK = (Station(0.605), Station(2.1), Station(1.35))


@pytest.mark.parametrize(("sessions", "throughput"), [(1, 0.0525), (2, 0.1031), (3, 0.1515)])
def test_mva_has_the_books_throughputs(sessions: int, throughput: float) -> None:
    assert exact_mva(BOOK, sessions, 15.0).throughput == pytest.approx(throughput, abs=6e-5)


def machine_repair(machines: int, servers: int, think: float, service: float) -> float:
    """Throughput of M/M/m//N from its birth and death balance: the other road to the same network."""
    weights = [1.0]
    for there in range(1, machines + 1):
        birth, death = (machines - there + 1) / think, min(there, servers) / service
        weights.append(weights[-1] * birth / death)
    whole = math.fsum(weights)
    return math.fsum(w * min(k, servers) / service for k, w in enumerate(weights)) / whole


@pytest.mark.parametrize("servers", [1, 2, 4])
@pytest.mark.parametrize("machines", [1, 2, 3, 10, 60])
def test_mva_is_the_repairman_to_nine_digits(machines: int, servers: int) -> None:
    network = exact_mva((Station(0.3, servers),), machines, think_time=1.0)
    assert network.throughput == pytest.approx(machine_repair(machines, servers, 1.0, 0.3), rel=1e-9)


@given(
    st.lists(st.floats(0.001, 10), min_size=1, max_size=4),
    st.integers(1, 40),
    st.floats(0, 20),
    st.integers(1, 4),
)
def test_laws_hold(demands: list[float], sessions: int, think: float, servers: int) -> None:
    stations = [Station(demand, servers) for demand in demands]
    exact, near = exact_mva(stations, sessions, think), approximate_mva(stations, sessions, think)
    assert sessions == pytest.approx(exact.throughput * (exact.response_time + think), rel=1e-9)
    assert sessions == pytest.approx(near.throughput * (near.response_time + think), rel=1e-6)
    # The asymptotic bounds: no queueing at all, and the slowest station.
    alone = sessions / (think + sum(demands))
    assert exact.throughput <= min(alone, servers / max(demands)) * (1 + 1e-9)
    assert all(0 <= share <= 1 + 1e-9 for share in exact.utilizations)
    if servers == 1:
        assert near.throughput == pytest.approx(exact.throughput, rel=0.12)


def test_the_elbow_is_where_the_bounds_meet() -> None:
    assert sessions_at_elbow(BOOK, 15.0) == pytest.approx((15 + 4.055) / 2.1)


@pytest.mark.parametrize(
    ("stations", "sessions", "think"),
    [((), 1, 0.0), (BOOK, 0, 0.0), (BOOK, 1, -1.0), ((Station(-1.0),), 1, 0.0), ((Station(0.0),), 1, 0.0),
     ((Station(1.0, 0),), 1, 0.0), ((Station(math.nan),), 1, 0.0)],
)  # fmt: skip
def test_a_network_that_cannot_be_is_refused(
    stations: tuple[Station, ...], sessions: int, think: float
) -> None:
    for solve in (exact_mva, approximate_mva):
        with pytest.raises(ValueError):  # noqa: PT011  the reasons differ
            solve(stations, sessions, think)


def test_the_scalability_law_comes_back_from_its_own_points() -> None:
    law = Scalability(1000.0, 0.03, 0.0005)
    counts = [1.0, 2, 4, 8, 16, 32]
    found = fit_scalability(counts, [law.throughput(n) for n in counts])
    assert (found.rate, found.contention, found.coherency) == pytest.approx((1000.0, 0.03, 0.0005), rel=1e-4)
    with pytest.raises(ValueError, match="at least three"):
        fit_scalability([1, 2], [1, 2])

"""Elbows of curves whose elbow is known, and Little's law in samples worked out by hand."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from redolab.experiment.response_curve.curve import Point, little_of, repeat_factor
from redolab.experiment.response_curve.elbow import elbow_of, elbow_rate_interval, measured_elbow
from redolab.model.erlang import open_queue
from redolab.model.queueing import response_time_cpu, response_time_single
from redolab.records.sample import Sample
from redolab.stats.estimates import MISSING, Estimate

SERVICE_S = 0.002


def sample(block: int, commits: int, response_s: float, **known: float) -> Sample:
    values: dict[str, Any] = {field.name: None for field in fields(Sample)}
    values |= {"sample": block, "block": block, "setting": "60%", "elapsed_s": 2.0, "commits": commits}
    return Sample(**(values | {"response_s": response_s} | known))


def point(rate_per_s: float, responses_ms: list[float]) -> Point:
    """A point of as many blocks as response times, each of 100 commits."""
    samples = [sample(block, 100, 0.1 * ms) for block, ms in enumerate(responses_ms, start=1)]
    middle = float(np.median(responses_ms))
    return Point(
        f"{rate_per_s:g}", 0.5, rate_per_s, True, samples, MISSING, Estimate(middle, None, None), None,
        MISSING, MISSING, None, (),
    )  # fmt: skip


@pytest.mark.parametrize("shares", [np.linspace(0.05, 0.95, 19), np.linspace(0.1, 0.9, 9)])
def test_one_server_bends_at_half_its_capacity(shares: Any) -> None:
    rates = [share / SERVICE_S for share in shares]
    found = elbow_of(rates, [1e3 * response_time_single(SERVICE_S, rate) for rate in rates])
    assert found is not None
    # R / L = S / (L (1 - S L)) is least at S L = 1/2, and R is twice S there.
    assert found.rate_per_s == pytest.approx(0.5 / SERVICE_S, rel=0.01)
    assert found.response_ms == pytest.approx(2e3 * SERVICE_S, rel=0.01)
    assert not found.at_end


@pytest.mark.parametrize("servers", [2.0, 8.0, 24.0])
def test_the_published_curve_bends_where_its_slope_says(servers: float) -> None:
    rates = [share * servers / SERVICE_S for share in np.linspace(0.02, 0.98, 49)]
    found = elbow_of(rates, [1e3 * response_time_cpu(SERVICE_S, rate, servers) for rate in rates])
    assert found is not None
    # The derivative of L (1 - u^M) is 0 where (M + 1) u^M = 1.
    expected = (1 / (servers + 1)) ** (1 / servers)
    assert found.rate_per_s * SERVICE_S / servers == pytest.approx(expected, rel=0.01)


def test_more_servers_bend_later() -> None:
    bends = []
    for servers in (1, 2, 8):
        rates = [share * servers / SERVICE_S for share in np.linspace(0.05, 0.95, 37)]
        found = elbow_of(rates, [1e3 * open_queue(rate, SERVICE_S, servers).response_time for rate in rates])
        assert found is not None
        bends.append(found.rate_per_s * SERVICE_S / servers)
    assert bends == sorted(bends)
    # A line from the origin touches the curve of eight servers at 76 % of their capacity.
    assert bends[-1] == pytest.approx(0.76, abs=0.02)


def test_a_flat_curve_has_its_elbow_at_its_end_or_beyond() -> None:
    found = elbow_of([100.0, 200.0, 300.0], [5.0, 5.0, 5.0])
    assert found is not None
    assert found.at_end
    assert found.rate_per_s == 300.0


def test_two_points_are_no_curve() -> None:
    assert elbow_of([100.0, 200.0], [5.0, 6.0]) is None
    assert measured_elbow([point(100, [5.0]), point(200, [6.0])], seed=1) is None


def test_the_interval_of_an_elbow_comes_from_whole_blocks() -> None:
    rates = [share / SERVICE_S for share in (0.2, 0.35, 0.5, 0.65, 0.8)]
    exact = [1e3 * response_time_single(SERVICE_S, rate) for rate in rates]
    same = [point(rate, [response] * 3) for rate, response in zip(rates, exact, strict=True)]
    interval = elbow_rate_interval(same, seed=1)
    assert interval is not None
    # Blocks that slow all points alike leave the elbow where it is.
    drifting = [point(r, [ms, 2 * ms, 5 * ms]) for r, ms in zip(rates, exact, strict=True)]
    assert elbow_rate_interval(drifting, seed=1) == pytest.approx(interval, rel=1e-3)
    rng = np.random.default_rng(2)
    noisy = [point(r, list(ms * rng.lognormal(0, 0.2, 6))) for r, ms in zip(rates, exact, strict=True)]
    wider = elbow_rate_interval(noisy, seed=1)
    assert wider is not None
    assert wider[1] - wider[0] > interval[1] - interval[0]
    assert wider == elbow_rate_interval(noisy, seed=1)


def test_a_block_that_lacks_a_point_has_no_part_in_the_interval() -> None:
    points = [point(100, [1.0, 1.0]), point(200, [1.1, 1.1]), point(300, [9.0])]
    assert elbow_rate_interval(points, seed=1) is None
    found = measured_elbow(points, seed=1)
    assert found is not None
    assert found[1] == Estimate(found[0].rate_per_s, None, None)


def test_littles_law_by_two_accounts() -> None:
    # 500 commits in 2 s that take 8 ms each: 7 in a session, 6 of them in a statement.
    of = sample(1, 500, 4.0, database_busy_s=3.0)
    times = {7_000.0: 500}
    found = little_of(of, times, {}, rows_per_commit=1)
    assert found is not None
    assert found.expected == pytest.approx(500 / 2 * 0.008)
    assert found.present == pytest.approx((3.0 + 0.5) / 2)
    assert found.off == pytest.approx(-0.125)


def test_an_answer_lies_as_long_as_a_request_does() -> None:
    # Of the 500 a fifth found a session free, and began after 0.8 or 1.2 ms.
    of = sample(1, 500, 4.0, database_busy_s=3.0, arrivals_waited=400)
    found = little_of(of, {7_000.0: 500}, {800.0: 50, 1_200.0: 50}, rows_per_commit=1)
    assert found is not None
    assert found.present == pytest.approx((3.0 + 0.5 + 500 * 0.001) / 2)
    assert found.off == pytest.approx(0.0)


def test_littles_law_where_the_client_does_not_tell_the_time_in_a_session() -> None:
    at_once = sample(1, 500, 4.0, database_busy_s=3.6, arrivals_waited=0)
    found = little_of(at_once, {100.0: 500}, {200.0: 500}, rows_per_commit=32)
    assert found is not None
    # The client took 0.2 ms to begin, and as long to notice the answer.
    assert found.off == pytest.approx(-0.05)
    waited = sample(1, 500, 4.0, database_busy_s=3.9, arrivals_waited=3)
    assert little_of(waited, {100.0: 500}, {}, rows_per_commit=32) is None
    assert little_of(sample(1, 500, 4.0), {}, {}, rows_per_commit=1) is None


def test_two_samples_of_a_point_differ_by_the_scatter_of_their_logarithms() -> None:
    twice = [sample(1, 100, 1.0), sample(2, 100, math.e)]
    # The SD of 0 and 1 is 1 / sqrt(2).
    assert repeat_factor(twice) == pytest.approx(math.e)
    assert repeat_factor([sample(n, 100, 1.0) for n in (1, 2, 3)]) == pytest.approx(1.0)
    assert repeat_factor(twice[:1]) is None

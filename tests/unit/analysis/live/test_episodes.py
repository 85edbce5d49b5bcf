"""Histograms of whole waits."""

from __future__ import annotations

import pytest

from redolab.analysis.live.episodes import histogram
from tests.unit.analysis.observations import make_episodes


def test_doubling_buckets_hold_their_upper_end() -> None:
    found = histogram(make_episodes([0.05, 0.125, 0.2, 0.9, 1.0, 3.0]))
    assert found is not None
    buckets = {(item["from_ms"], item["to_ms"]): item["count"] for item in found["buckets"]}
    assert buckets == {
        (0.0, 0.125): 2, (0.125, 0.25): 1, (0.25, 0.5): 0, (0.5, 1.0): 2, (1.0, 2.0): 0, (2.0, 4.0): 1,
        (4.0, None): 0,
    }  # fmt: skip
    assert [item["share"] for item in found["buckets"]] == pytest.approx(
        [2 / 6, 1 / 6, 0, 2 / 6, 0, 1 / 6, 0]
    )
    assert found["mean_ms"] == pytest.approx(5.275 / 6)
    assert (found["count"], found["unfinished"], found["longest_ms"]) == (6, 0, 3.0)


def test_percentiles_are_the_first_time_by_which_so_many_had_ended() -> None:
    found = histogram(make_episodes([float(length) for length in range(1, 101)]))
    assert found is not None
    assert [found[name] for name in ("p50_ms", "p95_ms", "p99_ms")] == pytest.approx([50.0, 95.0, 99.0])


def test_a_wait_without_an_end_counts_as_long_as_it_was_seen() -> None:
    # Of four, one leaves at 2 ms; the two left share the rest: 1/4 ends at 1, 3/8 at 3 and at 4.
    found = histogram(make_episodes([1.0, 3.0, 4.0], [2.0]))
    assert found is not None
    shares = {item["to_ms"]: item["share"] for item in found["buckets"]}
    assert shares == pytest.approx({0.125: 0, 0.25: 0, 0.5: 0, 1.0: 0.25, 2.0: 0, 4.0: 0.75, None: 0})
    assert found["mean_ms"] == pytest.approx(1 * 0.25 + 3 * 0.375 + 4 * 0.375)


def test_what_was_not_seen_to_end_has_no_percentile() -> None:
    found = histogram(make_episodes([1.0], [5.0, 5.0, 5.0]))
    assert found is not None
    assert (found["p50_ms"], found["unfinished"]) == (None, 3)
    assert found["buckets"][-1]["share"] == pytest.approx(0.75)


def test_only_waits_without_an_end() -> None:
    found = histogram(make_episodes([], [5.0, 6.0]))
    assert found is not None
    assert (found["count"], found["p50_ms"], found["longest_ms"]) == (0, None, 6.0)


def test_a_bucket_below_the_resolution_is_incomplete() -> None:
    found = histogram(make_episodes([0.3, 0.7]))
    assert found is not None
    # Read every 0.05 ms: the first bucket lacks the shortest waits.
    assert [item["incomplete"] for item in found["buckets"]] == [True, False, False, False, False]


def test_nothing_followed_is_no_histogram() -> None:
    assert histogram(None) is None
    assert histogram(make_episodes([])) is None

"""Amdahl's bounds, worked out by hand."""

from __future__ import annotations

import pytest

from redolab.analysis.amdahl import (
    CPU_TOGETHER,
    LOG_TOGETHER,
    Bound,
    bound,
    bounds_of_profile,
    bounds_of_times,
)
from redolab.stats.estimates import Estimate


def by_name(found: tuple[Bound, ...]) -> dict[str, Bound]:
    return {item.name: item for item in found}


def test_a_share_of_12_percent_gives_no_more_than_1_14() -> None:
    most = bound(Estimate(0.12, 0.10, 0.20))
    # 1 / 0.88, 1 / 0.9, 1 / 0.8.
    assert (most.point, most.low, most.high) == pytest.approx((1.1363636, 1.1111111, 1.25))


def test_all_of_the_time_has_no_limit_and_an_end_there_has_none_either() -> None:
    assert bound(Estimate(1.0, 1.0, 1.0)).point is None
    near = bound(Estimate(0.75, 0.5, 1.02))
    assert (near.point, near.low, near.high) == (4.0, 2.0, None)


@pytest.mark.parametrize("cpu", [0.284, 0.1, 0.3, 0.57])
def test_all_of_the_time_in_two_rows_has_no_limit_whatever_their_sum_rounds_to(cpu: float) -> None:
    shares = {"on_cpu": cpu, "run_queue": 1 - cpu - 2**-50, "unaccounted": 0.0}
    rows = [
        {"row": name, "share": {"point": share, "low": None, "high": None, "level": 0.95}}
        for name, share in shares.items()
    ]
    found = by_name(bounds_of_profile(rows, {"point": 0.0, "low": None, "high": None, "level": 0.95}))
    assert found[CPU_TOGETHER].most.point is None


def test_the_sentence_is_the_one_of_the_glossary() -> None:
    share = Estimate(0.12, 0.10, 0.20)
    said = Bound("log sync", "log", ("IO:WalSync",), share, bound(share)).sentence("response time")
    assert said == (
        "log sync is 12.0 % (10.0 to 20.0) of response time: without this time, and with all else unchanged, "
        "work is at most 1.14× (1.11 to 1.25) as fast"
    )


def test_a_sentence_without_interval_and_one_without_limit() -> None:
    lone = Estimate(0.5, None, None)
    assert Bound("on CPU", "cpu", ("on_cpu",), lone, bound(lone)).sentence("busy time") == (
        "on CPU is 50.0 % of busy time: without this time, and with all else unchanged, work is at most "
        "2.00× as fast"
    )
    wide = Estimate(0.75, 0.5, 1.02)
    assert (
        Bound("on CPU", "cpu", ("on_cpu",), wide, bound(wide))
        .sentence("busy time")
        .endswith("at most 4.00× (2.00 to no limit) as fast")
    )
    whole = Estimate(1.0, 0.9, 1.0)
    assert (
        Bound("on CPU", "cpu", ("on_cpu",), whole, bound(whole))
        .sentence("busy time")
        .endswith("the gain from removing it has no upper limit")
    )


TIMES = {"on_cpu": 1.0, "run_queue": 1.0, "IO:WalSync": 2.0, "LWLock:WALWrite": 3.0, "Lock:tuple": 2.0,
         "unaccounted": 1.0}  # fmt: skip


def test_every_row_of_a_run_has_its_bound_and_rows_that_go_together_have_one_more() -> None:
    found = bounds_of_times([TIMES])
    assert [(item.name, item.kind, item.share.point, item.most.point) for item in found] == [
        (LOG_TOGETHER, "log", 0.5, 2.0),
        ("log sync by another", "log", 0.3, pytest.approx(1 / 0.7)),
        (CPU_TOGETHER, "cpu", 0.2, 1.25),
        ("log sync", "log", 0.2, 1.25),
        ("row lock queue", "wait", 0.2, 1.25),
        ("on CPU", "cpu", 0.1, pytest.approx(1 / 0.9)),
        ("run queue", "run_queue", 0.1, pytest.approx(1 / 0.9)),
    ]


def test_the_interval_of_a_sum_comes_from_the_sums_of_the_samples() -> None:
    # The rows scatter against each other, so that together they do not scatter at all.
    samples = [
        {"IO:WalSync": 2.0, "LWLock:WALWrite": 4.0, "on_cpu": 4.0},
        {"IO:WalSync": 4.0, "LWLock:WALWrite": 2.0, "on_cpu": 4.0},
    ]
    found = by_name(bounds_of_times(samples))
    together, alone = found[LOG_TOGETHER], found["log sync"]
    assert (together.share.low, together.share.point, together.share.high) == (0.6, 0.6, 0.6)
    assert together.most.point == pytest.approx(2.5)
    # Student's t with one degree of freedom: 0.3 ± 12.706 * 0.1; an end beyond all of the time has no limit.
    assert (alone.share.low, alone.share.high) == pytest.approx((0.3 - 1.2706, 0.3 + 1.2706), abs=1e-4)
    assert alone.most.high is None


def test_what_is_negative_or_unnamed_or_nothing_has_no_bound() -> None:
    found = bounds_of_times([{"on_cpu": 3.0, "run_queue": 0.0, "unaccounted": -1.0}])
    assert [item.name for item in found] == ["on CPU"]
    assert bounds_of_times([]) == bounds_of_times([{}]) == ()


def share(point: float, low: float, high: float) -> dict[str, float]:
    return {"point": point, "low": low, "high": high, "level": 0.95}


def test_a_live_profile_has_the_bounds_of_its_rows() -> None:
    rows = [
        {"row": "on_cpu", "share": share(0.20, 0.19, 0.21)},
        {"row": "run_queue", "share": share(0.05, 0.04, 0.06)},
        {"row": "IO:WalSync", "share": share(0.10, 0.05, 0.15)},
        {"row": "LWLock:WALWrite", "share": share(0.60, 0.55, 0.65)},
        {"row": "unaccounted", "share": share(0.05, 0.04, 0.06)},
    ]
    found = bounds_of_profile(rows, share(0.70, 0.68, 0.72))
    named = by_name(found)
    assert [item.share.point for item in found] == pytest.approx([0.7, 0.6, 0.25, 0.2, 0.1, 0.05])
    # The log's rows together have an interval of their own; those of the CPU have their ends added.
    assert (named[LOG_TOGETHER].most.low, named[LOG_TOGETHER].most.high) == pytest.approx(
        (1 / 0.32, 1 / 0.28)
    )
    assert (named[CPU_TOGETHER].most.low, named[CPU_TOGETHER].most.high) == pytest.approx(
        (1 / 0.77, 1 / 0.73)
    )

"""Effective CPUs and what limits them: exact cases worked out by hand, and simulated noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from redolab.experiment.cpu_capacity import figures
from redolab.experiment.cpu_capacity import tables as cpu_shown
from redolab.experiment.cpu_capacity.capacity import (
    Jump,
    Room,
    Spun,
    capacity,
    elapsed_ratios,
    facts,
    first_jump,
    overstated,
    power,
    power_at,
    quota_use,
    throttled_share,
    utilisation_matrix,
)
from redolab.stats.estimates import MISSING, Estimate

TWO = Room(cores=2, threads=2)
SPEED = 300.0
"""Spins per CPU second."""


def spun(
    processes: int, room: Room = TWO, block: int = 1, *, gives: float | None = None, others: float = 0.0,
    steal: float = 0.0, each_s: float = 1.0, periods: int | None = None,
) -> Spun:  # fmt: skip
    """A sample on a machine that gives `gives` CPUs of which others and the hypervisor took some."""
    left = (room.threads if gives is None else gives) - others - steal
    cpu_s = processes * each_s
    elapsed_s = cpu_s / min(processes, left)
    return Spun(
        block=block,
        processes=processes,
        elapsed_s=elapsed_s,
        spins=round(SPEED * cpu_s),
        cpu_s=cpu_s,
        run_queue_s=processes * elapsed_s - cpu_s,
        busy_s=cpu_s + others * elapsed_s,
        idle_s=max(0.0, room.threads * elapsed_s - cpu_s - (others + steal) * elapsed_s),
        steal_s=steal * elapsed_s,
        throttled_periods=periods,
    )


def blocks(make: Callable[[int, int], Spun], most: int = 4, number: int = 5) -> list[Spun]:
    return [make(n, block) for block in range(1, number + 1) for n in range(1, most + 1)]


def test_an_idle_machine_gives_its_cpus_exactly() -> None:
    found = capacity(blocks(lambda n, block: spun(n, block=block)), TWO)
    for estimate in (found.measured, found.alone, found.without_steal):
        assert estimate.point == pytest.approx(2.0)
        assert (estimate.low, estimate.high) == pytest.approx((2.0, 2.0))


def test_what_others_took_is_allowed_for_and_steal_apart() -> None:
    samples = blocks(lambda n, block: spun(n, block=block, others=0.5, steal=0.2))
    found = capacity(samples, TWO)
    assert found.measured.point == pytest.approx(1.3)
    assert found.alone.point == pytest.approx(1.8)
    assert found.without_steal.point == pytest.approx(2.0)
    shown = facts(samples, TWO)
    assert shown.others.point == pytest.approx(0.25)
    assert shown.steal.point == pytest.approx(0.1)


def test_under_a_quota_nothing_is_corrected() -> None:
    room = Room(2, 2, quota=1.5, period_s=0.1)
    samples = blocks(lambda n, block: spun(n, room, block, gives=2.0, others=0.5, periods=10 * (n > 1)))
    found = capacity(samples, room)
    assert found.alone.point == found.measured.point == pytest.approx(1.5)
    assert quota_use(samples, room).point == pytest.approx(1.0)
    # Ten periods of 0.1 s ran out in samples of 4/3, 2 and 8/3 seconds.
    assert throttled_share(samples, room).point == pytest.approx((0.75 + 0.5 + 0.375) / 3)


def test_a_quota_below_one_cpu_slows_one_process_too() -> None:
    room = Room(2, 2, quota=0.5, period_s=0.1)
    samples = blocks(lambda n, block: spun(n, room, block, gives=0.5, periods=9))
    assert capacity(samples, room).measured.point == pytest.approx(0.5)


def test_threads_that_slow_each_other_count_less() -> None:
    room = Room(cores=2, threads=4)

    def sample(n: int, block: int) -> Spun:
        # Beyond the cores two threads share one, each at 0.6 of its speed.
        each_s = 1.0 if n <= 2 else 1 / 0.6
        return replace(spun(n, room, block, each_s=each_s), spins=round(SPEED * n))

    found = facts(blocks(sample, most=8), room)
    assert found.capacity.measured.point == pytest.approx(2.4)
    assert found.power == "cores"
    assert found.jump == Jump(2, 3)


def test_without_one_process_or_a_full_machine_there_is_no_estimate() -> None:
    assert capacity([], TWO).alone == MISSING
    assert capacity([spun(1), spun(1, block=2)], TWO).alone == MISSING
    assert capacity([spun(2), spun(3, block=2)], TWO).alone == MISSING
    alone = capacity([spun(1), spun(2)], TWO).alone
    assert alone.point == pytest.approx(2.0)
    assert alone.low is None


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Blocks that are fast or slow as a whole, and noise of 5 % in each sample."""
    rng = np.random.default_rng(11)
    inside, runs = 0, 600
    for _ in range(runs):
        samples = []
        for block in range(10):
            whole = rng.normal(0, 0.2)
            for n in (1, 2, 3, 4):
                exact = spun(n, block=block)
                own = rng.normal(0, 0.05)
                samples.append(
                    replace(
                        exact,
                        elapsed_s=exact.elapsed_s * np.exp(whole + own),
                        cpu_s=exact.cpu_s * np.exp(whole + own),
                    )
                )
        found = capacity(samples, TWO).measured
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 2.0 <= found.high
    # 95 % of 600 is 570; the binomial range of five standard deviations is 543 to 597.
    assert 543 <= inside <= 597


def test_elapsed_is_compared_inside_blocks() -> None:
    samples = [
        replace(spun(n, block=block), elapsed_s=spun(n).elapsed_s * block) for block in (1, 5) for n in (1, 3)
    ]
    ratio = elapsed_ratios(samples)[3]
    assert ratio.point == pytest.approx(1.5)
    assert ratio.low == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("elapsed", "expected"),
    [
        ({1: 30, 2: 30, 3: 45, 4: 60}, Jump(2, 3)),
        ({1: 30, 2: 31, 3: 29, 4: 33}, None),
        # With gaps it lies between the two settings.
        ({1: 10, 8: 10.4, 16: 11, 32: 20}, Jump(16, 32)),
        # A quota of 1.5 CPUs: two processes take a third longer, which is nearer to none than to twice.
        ({1: 10, 2: 13.3, 3: 20}, Jump(2, 3)),
        ({1: 10, 2: 20}, Jump(1, 2)),
        ({1: 10}, None),
        ({}, None),
    ],
)
def test_the_first_jump(elapsed: dict[int, float], expected: Jump | None) -> None:
    assert first_jump(elapsed) == expected


def test_power_by_room() -> None:
    assert power_at(2.4, cores=2, threads=4) == "cores"
    assert power_at(3.2, cores=2, threads=4) == "threads"
    assert power_at(1.7, cores=2, threads=4) == "less"
    assert power_at(2.1, cores=2, threads=2) == "cores"


def test_power_needs_the_whole_interval() -> None:
    smt = Room(cores=2, threads=4)
    assert power(Estimate(2.4, 2.2, 2.6), smt, MISSING) == "cores"
    assert power(Estimate(2.8, 2.6, 3.0), smt, MISSING) == "undecided"
    assert power(MISSING, smt, MISSING) == "undecided"


def test_a_quota_is_believed_when_it_ran_out() -> None:
    room = Room(cores=2, threads=2, quota=1.5, period_s=0.1)
    often, seldom = Estimate(0.9, 0.8, 1.0), Estimate(0.05, 0.0, 0.1)
    assert power(Estimate(1.5, 1.45, 1.55), room, often) == "quota"
    assert power(Estimate(0.6, 0.5, 0.8), room, seldom) == "undecided"
    roomy = Room(cores=2, threads=2, quota=4.0, period_s=0.1)
    assert power(Estimate(2.0, 1.95, 2.05), roomy, seldom) == "cores"


def test_the_matrix_is_right_where_units_agree() -> None:
    uses = {(use.required, use.capacity): use for use in utilisation_matrix(6.0, 10.0, cores=1, threads=2)}
    assert uses["threads", "threads"].utilization == pytest.approx(0.3)
    assert uses["cores", "cores"].utilization == pytest.approx(0.3)
    assert uses["threads", "cores"].utilization == pytest.approx(0.6)
    assert uses["cores", "threads"].utilization == pytest.approx(0.15)
    assert {pair for pair, use in uses.items() if use.right} == {("cores", "cores"), ("threads", "threads")}


def test_more_than_everything_is_said_loudly() -> None:
    smt = Room(cores=2, threads=4)
    (text,) = overstated(blocks(lambda n, block: spun(n, smt, block), most=8), smt)
    assert text.startswith(
        "UTILISATION ABOVE 100 %: busy time counted in threads divided by a capacity counted in cores gives "
        "200 %"
    )
    assert overstated(blocks(lambda n, block: spun(n, block=block)), TWO) == []
    quota = Room(2, 2, quota=1.5, period_s=0.1)
    (text,) = overstated(blocks(lambda n, block: spun(n, quota, block, gives=2.0)), quota)
    assert "used 133 % of their quota of 1.5 CPUs" in text
    assert overstated([], quota) == []


def test_tables_and_figures_of_a_quota() -> None:
    room = Room(2, 2, quota=1.5, period_s=0.1)
    samples = blocks(lambda n, block: spun(n, room, block, gives=1.5, periods=10 * (n > 1)))
    table = cpu_shown.elapsed_table(samples, room).as_json()
    assert [column["key"] for column in table["columns"]].count("by_quota") == 1
    row = table["rows"][3]
    assert row["processes"] == 4
    assert row["elapsed_ratio"]["point"] == pytest.approx(4 / 1.5)
    assert row["by_quota"]["point"] == pytest.approx(1.0)
    assert row["run_queue"]["point"] == pytest.approx(4.0)
    assert row["waiting"]["point"] == pytest.approx(4.0 - 1.5)
    names = [series["name"] for series in figures.throughput_figure(samples, room).as_json()["series"]]
    assert names == ["measured", "2 cores", "quota of 1.5 CPUs"]
    rows = cpu_shown.throttling_table(samples, room).as_json()["rows"]
    # Ten periods of 0.1 s ran out while two processes took 4/3 s.
    assert [rows[0]["periods"]["point"], rows[1]["periods"]["point"]] == pytest.approx([0.0, 0.75])


def test_effective_cpus_are_shown_corrected_but_under_a_quota() -> None:
    samples = blocks(lambda n, block: spun(n, block=block, others=0.5, steal=0.2))
    rows = cpu_shown.capacity_table(capacity(samples, TWO), TWO).as_json()["rows"]
    assert [row["effective"]["point"] for row in rows] == pytest.approx([1.8, 1.3, 2.0])
    assert rows[0]["per_core"]["point"] == pytest.approx(0.9)
    quota = Room(2, 2, quota=1.5, period_s=0.1)
    (row,) = cpu_shown.capacity_table(capacity(samples, quota), quota).as_json()["rows"]
    assert row["effective"]["point"] == pytest.approx(1.3)


def test_the_ideal_curves_of_cores_and_threads() -> None:
    room = Room(cores=2, threads=4)
    samples = blocks(lambda n, block: spun(n, room, block), most=5)
    curves = {series.name: list(series.y) for series in figures.elapsed_figure(samples, room).series}
    assert curves["2 cores, in turns (as published)"] == pytest.approx([1, 1, 2, 2, 3])
    assert curves["4 threads, in turns (as published)"] == pytest.approx([1, 1, 1, 1, 2])
    assert curves["2 cores, time shared"] == pytest.approx([1, 1, 1.5, 2, 2.5])
    assert curves["measured"] == pytest.approx([1, 1, 1, 1, 1.25])


def test_nothing_measured_shows_nothing() -> None:
    assert cpu_shown.elapsed_table([], TWO).rows == []
    assert [list(series.y) for series in figures.elapsed_figure([], TWO).series] == [[]]
    assert {finding.agreement for finding in cpu_shown.findings([], TWO, None, ())} == {"not comparable"}


def test_a_run_that_ended_before_one_process_was_alone_has_no_scale() -> None:
    samples = [spun(4), spun(3)]
    (measured,) = figures.elapsed_figure(samples, TWO).series
    assert list(measured.y) == pytest.approx([1.5, 2.0])
    points, *ideal = figures.throughput_figure(samples, TWO).series
    assert (list(points.y), [series.name for series in ideal]) == ([], ["2 cores"])
    rows = cpu_shown.elapsed_table(samples, TWO).rows
    assert rows[0]["elapsed_ratio"] == MISSING


def test_findings_beside_the_published() -> None:
    room = Room(cores=2, threads=4)
    samples = blocks(lambda n, block: spun(n, room, block, gives=2.0), most=8)
    found = facts(samples, room)
    uses = utilisation_matrix(8.0, 2.0, room.cores, room.threads)
    jump, step, mixed = cpu_shown.findings(samples, room, found.jump, uses)
    assert jump.agreement == "agrees"
    assert jump.ours is not None
    assert jump.ours.point == 2
    # Time is shared, so three on two cores take 1.5 times as long, where the published ideal has 2.
    assert step.agreement == "differs"
    assert step.ours is not None
    assert step.ours.point == pytest.approx(1.5)
    assert mixed.agreement == "agrees"

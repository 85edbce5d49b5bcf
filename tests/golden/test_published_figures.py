"""Figures printed in the literature, recomputed by Redolab's own functions."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from redolab.experiment.commit_scaling.growth import PublishedWait
from redolab.experiment.cpu_capacity.capacity import Unit, first_jump, power_at, utilisation_matrix
from redolab.experiment.rows_per_commit.saving import collected, fit_decay, reached, saving, worst_misfit
from redolab.model.queueing import response_time_cpu, response_time_single, solve_servers, utilization
from redolab.stats.normality import normality
from redolab.stats.plus_and_minus import normal_coverage, plus_and_minus, prediction_interval

DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a data file; its first line is the citation."""
    with (DATA / name).open(newline="") as file:
        assert file.readline().startswith(("# Craig Shallahamer, OraPub", "# Bobby Durrett"))
        return list(csv.DictReader(file))


def test_thirty_means_of_samples() -> None:
    found = plus_and_minus([float(row["child_mean"]) for row in rows("clt_child_means.csv")])
    assert found.mean == pytest.approx(5.343, abs=0.0005)
    assert found.standard_deviation == pytest.approx(0.892, abs=0.0005)
    assert (found.low, found.high) == pytest.approx((3.56, 7.12), abs=0.015)
    assert (found.inside, found.count) == (29, 30)


def test_five_means_bound_nine_of_ten_more() -> None:
    values = rows("wanna_bet.csv")
    found = plus_and_minus([float(row["value"]) for row in values if row["set"] == "initial"])
    assert found.mean == pytest.approx(40.0, abs=0.05)
    assert found.standard_deviation == pytest.approx(3.6, abs=0.05)
    # The lower bound is 32.8; the post prints 43.8 in one place. It used 40.0 and 3.6, rounded.
    assert (found.low, found.high) == pytest.approx((32.8, 47.2), abs=0.06)
    bets = [float(row["value"]) for row in values if row["set"] == "bet"]
    assert sum(found.low <= value <= found.high for value in bets) == 9


def test_the_normality_of_the_thirty_means() -> None:
    # Published: p = 0.185, the test not named. None of the usual ones gives it from the printed means.
    found = normality(np.array([float(row["child_mean"]) for row in rows("clt_child_means.csv")]))
    assert found.normal is True
    assert found.pvalue == pytest.approx(0.232, abs=0.0005)


def test_what_the_bet_should_have_used() -> None:
    values = rows("wanna_bet.csv")
    initial = [float(row["value"]) for row in values if row["set"] == "initial"]
    found = prediction_interval(initial, 0.9)
    assert (found.low, found.high) == pytest.approx((31.6, 48.5), abs=0.06)
    # Two standard deviations of five means were taken for 90 %.
    assert normal_coverage(5) == pytest.approx(0.858, abs=0.0005)


def test_one_mean_has_no_plus_and_minus() -> None:
    with pytest.raises(ValueError, match="at least two"):
        plus_and_minus([1.0])


@pytest.mark.parametrize("row", rows("utilisation_matrix.csv"), ids=lambda row: str(row["case"]))
def test_utilisation_by_cores_and_by_threads(row: dict[str, str]) -> None:
    busy, interval = float(row["busy_s"]), float(row["interval_s"])
    by_core = utilization(busy, interval, float(row["cores"]))
    by_thread = utilization(busy, interval, float(row["threads"]))
    assert round(100 * by_core) == int(row["published_core_pct"])
    assert round(100 * by_thread) == int(row["published_thread_pct"])


@pytest.mark.parametrize("row", rows("utilisation_matrix.csv"), ids=lambda row: str(row["case"]))
def test_the_matrix_has_both_published_utilisations(row: dict[str, str]) -> None:
    cores, threads = int(row["cores"]), int(row["threads"])
    busy_s = float(row["busy_s"])
    published = float(row["published_core_pct"]), float(row["published_thread_pct"])
    # The first case counts its busy time in cores, as its name says; the kernel counts in threads.
    counted: Unit = "cores" if "core" in row["case"] else "threads"
    in_threads = busy_s * threads / cores if counted == "cores" else busy_s
    uses = {
        use.capacity: use
        for use in utilisation_matrix(in_threads, float(row["interval_s"]), cores, threads)
        if use.required == counted
    }
    found = uses["cores"].utilization, uses["threads"].utilization
    assert [round(100 * value) for value in found] == [round(value) for value in published]
    assert uses[counted].right


@pytest.mark.parametrize("case", dict.fromkeys(row["case"] for row in rows("core_threads.csv")))
def test_what_carried_the_power_in_the_published_cases(case: str) -> None:
    mine = [row for row in rows("core_threads.csv") if row["case"] == case]
    jump = first_jump({int(row["processes"]): float(row["elapsed_s"]) for row in mine})
    assert jump is not None
    cores, threads = int(mine[0]["cores"]), int(mine[0]["threads"])
    assert jump.flat == (threads if mine[0]["published_power"] == "threads" else cores)
    assert power_at(jump.flat, cores, threads) == mine[0]["published_power"]


def test_servers_of_the_published_batch_curve() -> None:
    (row,) = rows("batch_curve.csv")
    arrival, service, response = (
        float(row[name]) for name in ("arrival_rate_per_ms", "service_time_ms", "response_time_ms")
    )
    servers = solve_servers(service, arrival, response)
    assert servers is not None
    assert round(servers, 4) == float(row["servers"])
    assert response_time_cpu(service, arrival, servers) == pytest.approx(response)


def test_both_published_commit_write_loads_are_closed() -> None:
    facts = {row["quantity"]: float(row["value"]) for row in rows("commit_write.csv")}
    # L R stays the number of sessions: 25 times the commits in 0.04 of the time.
    assert facts["throughput_ratio"] * facts["response_time_ratio"] == pytest.approx(1.0)


ELAPSED = {int(row["rows_per_commit"]): float(row["elapsed_s"]) for row in rows("batch_elapsed.csv")}


@pytest.mark.parametrize("row", rows("batch_elapsed.csv"), ids=lambda row: str(row["rows_per_commit"]))
def test_elapsed_by_rows_per_commit(row: dict[str, str]) -> None:
    each = {number: {1: elapsed / 900_000} for number, elapsed in ELAPSED.items()}
    number = int(row["rows_per_commit"])
    if number > 1:
        saved = saving({1: each[1], number: each[number]}).point
        assert saved is not None
        assert round(-100 * saved, 2) == float(row["change_pct_printed"])


def test_what_few_rows_bring_of_the_published_saving() -> None:
    # Two equal blocks, so that there is an interval (of no width).
    times = {number: {1: elapsed, 2: elapsed} for number, elapsed in ELAPSED.items()}
    assert collected(times, 32).point == pytest.approx(0.9514, abs=5e-5)
    assert reached(times, 0.9).point == 32
    assert reached(times, 0.99).point == 16384


def test_a_curve_through_three_published_points_misses_the_others_by_little() -> None:
    measured = {number: ELAPSED[number] for number in (1, 8, 64)}
    found = fit_decay(measured)
    assert found is not None
    assert worst_misfit(found, measured) < 1e-6
    others = {number: elapsed for number, elapsed in ELAPSED.items() if number not in measured}
    misses = [worst_misfit(found, {number: elapsed}) for number, elapsed in others.items()]
    assert sum(misses) / len(misses) == pytest.approx(0.0112, abs=5e-5)
    assert max(misses) == pytest.approx(0.0163, abs=5e-5)
    assert found.power == pytest.approx(0.798, abs=5e-4)


def test_no_curve_tells_where_99_percent_of_the_published_saving_is() -> None:
    """Fitted to all points it misses one by 1.4 %, where 1 % of the saving is 0.5 % of the elapsed time."""
    found = fit_decay(ELAPSED)
    assert found is not None
    assert worst_misfit(found, ELAPSED) == pytest.approx(0.0141, abs=5e-5)
    assert 0.01 * (ELAPSED[1] - ELAPSED[32768]) / ELAPSED[1] == pytest.approx(0.0048, abs=5e-5)


@pytest.mark.parametrize("row", rows("commit_scalability.csv"), ids=lambda row: str(row["wait_event"]))
def test_the_published_report_of_commits(row: dict[str, str]) -> None:
    waits, average_ms = int(row["waits"]), float(row["avg_wait_ms"])
    event = PublishedWait(row["wait_event"], float(row["elapsed_s"]), waits, waits * average_ms / 1000)
    assert round(event.per_hour, 2) == float(row["waits_per_hour"])
    assert event.per_second == pytest.approx(float(row["waits_per_s"]), rel=1e-8)
    assert event.average_ms == pytest.approx(average_ms)


def test_published_commits_share_log_writes() -> None:
    write, sync = rows("commit_scalability.csv")
    assert int(sync["waits"]) / int(write["waits"]) == pytest.approx(1.7635, abs=5e-5)


def test_published_prediction_of_the_log() -> None:
    """1.2 million writes of 1 ms an hour keep a log 33 % busy; at 3.6 million a single server has no end."""
    busy = PublishedWait("log write", 3600, 1.2e6, 1200).busy
    assert busy is not None
    assert round(100 * busy) == 33
    assert response_time_single(0.001, 1.2e6 / 3600) == pytest.approx(0.0015)
    with pytest.raises(ValueError, match="below 1"):
        response_time_single(0.001, 3.6e6 / 3600)

"""The accounting of a live profile, worked out by hand."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from redolab.analysis.live.profile import profile_observation
from redolab.records.observation import Observed, TimedWaits, WaitEnds
from tests.unit.analysis.observations import (
    Look,
    make_background,
    make_episodes,
    make_observation,
    make_process,
)


def looks(process: int, ticks: range, event: str, state: str = "asleep") -> list[Look]:
    return [(tick, process, event, state) for tick in ticks]


def times(group: dict[str, Any]) -> dict[str, float]:
    return {row["row"]: row["time_s"] for row in group["profile"]}


def shares(group: dict[str, Any]) -> dict[str, float]:
    return {row["row"]: row["share"]["point"] for row in group["profile"]}


def adds_up(group: dict[str, Any]) -> None:
    assert math.fsum(row["time_s"] for row in group["profile"]) == pytest.approx(group["busy_s"], abs=1e-12)
    assert math.fsum(shares(group).values()) == pytest.approx(1.0, abs=1e-12)


def one_session(found: list[Look], **fields: Any) -> dict[str, Any]:
    results = profile_observation(make_observation([make_process(7, **fields)], found))
    (session,) = results["sessions"]
    return dict(session)


# A session


BUSY = looks(0, range(10), "", "on_cpu") + looks(0, range(10, 40), "IO:WalSync") + looks(0, range(40, 50), "")


def test_blocked_time_is_divided_by_the_looks_that_found_it_asleep() -> None:
    session = one_session(BUSY, cpu_s=0.15, run_queue_s=0.05)
    # 0.8 s blocked: 30 looks in the flush, 10 with nothing posted.
    assert times(session) == pytest.approx(
        {"on_cpu": 0.15, "run_queue": 0.05, "IO:WalSync": 0.6, "unaccounted": 0.2}
    )
    assert session["busy_s"] == pytest.approx(1.0)
    adds_up(session)
    assert [row["exact"] for row in session["profile"]] == [True, True, False, False]


def test_rows_come_as_cpu_run_queue_waits_by_time_unaccounted() -> None:
    found = looks(0, range(10), "Lock:tuple") + looks(0, range(10, 50), "IO:WalSync")
    assert list(times(one_session(found, cpu_s=0.1))) == [
        "on_cpu", "run_queue", "IO:WalSync", "Lock:tuple", "unaccounted",
    ]  # fmt: skip


def test_waiting_for_the_client_is_no_load_and_no_part_of_the_whole() -> None:
    found = looks(0, range(5), "", "on_cpu") + looks(0, range(5, 15), "IO:WalSync")
    session = one_session(found, cpu_s=0.1, polls_idle=3, polls_in_transaction=1)
    # 0.9 s blocked, 45 looks of it: 10 in the flush, 35 idle, which is no look of their own.
    assert times(session) == pytest.approx(
        {"on_cpu": 0.1, "run_queue": 0.0, "IO:WalSync": 0.2, "unaccounted": 0.0}
    )
    assert session["busy_s"] == pytest.approx(0.3)
    assert session["busy_share"] == pytest.approx(0.3)
    wait = session["client_wait"]
    assert wait["share_of_elapsed"]["point"] == pytest.approx(0.7)
    assert wait["share_of_elapsed"]["low"] < 0.7 < wait["share_of_elapsed"]["high"]
    assert wait["idle_share"] == pytest.approx(0.525)
    assert wait["in_transaction_share"] == pytest.approx(0.175)
    adds_up(session)


def test_a_look_in_which_the_event_changed_counts_for_the_event() -> None:
    found = looks(0, range(20), "IO:WalSync", "unknown") + looks(0, range(20, 50), "", "unknown")
    # With nothing posted at first it began to wait meanwhile: it was on CPU.
    assert times(one_session(found, cpu_s=0.6))["IO:WalSync"] == pytest.approx(0.4)


def test_a_woken_process_in_the_run_queue_does_not_wait_twice() -> None:
    found = looks(0, range(25), "IO:WalSync", "runnable") + looks(0, range(25, 50), "Lock:tuple")
    session = one_session(found, run_queue_s=0.5)
    assert times(session) == pytest.approx(
        {"on_cpu": 0.0, "run_queue": 0.5, "Lock:tuple": 0.5, "unaccounted": 0.0}
    )
    assert session["joint"]["posted"] == pytest.approx({"on_cpu": 0.0, "run_queue": 0.5, "asleep": 0.5})


def test_accounts_that_exceed_the_elapsed_time_leave_a_negative_rest() -> None:
    session = one_session(looks(0, range(50), "", "on_cpu"), cpu_s=1.02)
    assert times(session) == pytest.approx({"on_cpu": 1.02, "run_queue": 0.0, "unaccounted": -0.02})
    assert session["profile"][-1]["share"]["low"] == pytest.approx(-0.02)
    adds_up(session)


def test_blocked_time_at_which_nobody_looked_is_unaccounted() -> None:
    session = one_session(looks(0, range(50), "", "on_cpu"), cpu_s=0.97)
    row = session["profile"][-1]
    assert row["time_s"] == pytest.approx(0.03)
    assert row["share"]["low"] == 0.0
    assert row["share"]["high"] >= 0.03


def test_skipped_ticks_do_not_pass_for_idle() -> None:
    session = one_session(looks(0, range(30), "Lock:tuple"), skipped=20)
    assert times(session)["Lock:tuple"] == pytest.approx(1.0)
    assert session["client_wait"]["share_of_elapsed"]["point"] == 0.0


def test_a_session_that_did_nothing_has_no_rows() -> None:
    session = one_session([])
    assert (session["busy_s"], session["profile"], session["joint"]) == (0.0, [], None)
    assert session["client_wait"]["share_of_elapsed"]["point"] == 1.0


def test_what_was_not_seen_can_still_be_there() -> None:
    row = one_session(looks(0, range(50), "Lock:tuple"))["profile"]
    assert [item["row"] for item in row] == ["on_cpu", "run_queue", "Lock:tuple", "unaccounted"]
    assert row[2]["share"]["low"] == pytest.approx(0.95, abs=0.02)
    assert row[2]["share"]["high"] == 1.0
    assert row[3]["share"]["point"] == 0.0
    assert 0.02 < row[3]["share"]["high"] < 0.08


# The instance


def instance() -> dict[str, Any]:
    session = make_process(1, cpu_s=0.2)
    writer = make_background(2, cpu_s=0.1)
    silent = make_background(3, "logger")
    found = looks(0, range(50), "IO:WalSync") + looks(1, range(10), "IO:WalSync") + looks(2, range(50), "")
    return profile_observation(make_observation([session, writer, silent], found, ended_cpu_s=0.05))


def test_main_loops_are_idle_and_so_is_a_process_without_events_asleep() -> None:
    found = instance()["instance"]
    # The session's 0.8 s and a fifth of the writer's 0.9 s in the flush; CPU of those that ended too.
    assert times(found) == pytest.approx(
        {"on_cpu": 0.35, "run_queue": 0.0, "IO:WalSync": 0.98, "unaccounted": 0.0}
    )
    assert found["idle_s"] == pytest.approx(1.72)
    assert found["elapsed_s"] == pytest.approx(3.05)
    assert found["busy_s"] + found["idle_s"] == pytest.approx(found["elapsed_s"])
    adds_up(found)


def test_the_sessions_view_has_the_sessions_alone() -> None:
    results = instance()
    assert times(results["all_sessions"]) == pytest.approx(
        {"on_cpu": 0.2, "run_queue": 0.0, "IO:WalSync": 0.8, "unaccounted": 0.0}
    )
    assert results["all_sessions"]["log_sync_share"]["point"] == pytest.approx(0.8)
    assert [item["pid"] for item in results["sessions"]] == [1]


def test_kinds_are_sums_of_their_sessions_and_few_looks_are_pooled() -> None:
    # 3 s blocked together, of which the looks saw a third in the row lock.
    processes = [make_process(pid, elapsed_s=1.0, first_tick=0, last_tick=10) for pid in (1, 2, 3)]
    found = looks(0, range(10), "Lock:tuple") + looks(1, range(10), "IO:WalSync")
    found += looks(2, range(10), "IO:WalSync")
    other = make_process(4, application="batch", cpu_s=1.0)
    results = profile_observation(make_observation([*processes, other], found))
    web, batch = results["kinds"]
    assert (web["user"], web["application"], web["sessions"]) == ("app", "web", 3)
    assert times(web)["Lock:tuple"] == pytest.approx(1.0)
    assert times(batch)["on_cpu"] == 1.0
    assert times(results["all_sessions"])["Lock:tuple"] == pytest.approx(1.0)


def test_time_the_hypervisor_took_is_a_row_of_its_own() -> None:
    observation = make_observation(
        [make_process(cpu_s=0.4)], looks(0, range(50), "Lock:tuple"), host_busy_s=1.6, host_steal_s=0.4
    )
    found = profile_observation(observation)["instance"]
    assert times(found) == pytest.approx(
        {"on_cpu": 0.4, "run_queue": 0.0, "Lock:tuple": 0.5, "steal": 0.1, "unaccounted": 0.0}
    )
    assert found["joint"] is None, "no look told on CPU from run queue"
    adds_up(found)


# Without the kernel's accounts


def without_accounts(found: list[Look], *more: Observed) -> dict[str, Any]:
    process = make_process(cpu_s=None, run_queue_s=None)
    return profile_observation(make_observation([process, *more], found, ended_cpu_s=None))


def test_without_accounts_all_time_is_divided_by_looks() -> None:
    found = looks(0, range(10), "", "unknown") + looks(0, range(10, 40), "Lock:tuple", "unknown")
    idle = make_background(2, "checkpointer", cpu_s=None, run_queue_s=None)
    results = without_accounts([*found, *looks(1, range(50), "", "unknown")], idle)
    assert times(results["sessions"][0]) == pytest.approx(
        {"on_cpu_or_unknown": 0.2, "Lock:tuple": 0.6, "unaccounted": 0.0}
    )
    assert times(results["instance"]) == times(results["sessions"][0])
    assert results["instance"]["idle_s"] == pytest.approx(1.0)
    assert results["instance"]["joint"] is None
    adds_up(results["sessions"][0])


# Waits


def with_lengths(**fields: Any) -> dict[str, Any]:
    found = looks(0, range(40), "IO:WalSync") + looks(0, range(40, 50), "IO:WalSync", "runnable")
    observation = make_observation([make_process(run_queue_s=0.2)], found, **fields)
    (top,) = profile_observation(observation)["sessions"][0]["top_events"]
    return dict(top)


def test_an_average_wait_is_exposure_over_ends() -> None:
    top = with_lengths(wait_ends=(WaitEnds(0, 2, 0.02, 10),))
    assert (top["event"], top["class"], top["source"]) == ("IO:WalSync", "IO", "sampled")
    assert top["average_wait_ms"]["point"] == pytest.approx(2.0)
    # 20 ms over the limits of a Poisson count of 10: 4.795 and 18.39.
    assert top["average_wait_ms"]["low"] == pytest.approx(1.0875, rel=1e-3)
    assert top["average_wait_ms"]["high"] == pytest.approx(4.171, rel=1e-3)
    # It was posted for the whole second, the run queue in it.
    assert top["waits"] == pytest.approx(500)


def test_a_wait_whose_end_was_never_seen_has_a_least_length_alone() -> None:
    top = with_lengths(wait_ends=(WaitEnds(0, 2, 0.3, 0),))
    assert top["average_wait_ms"] == {"point": None, "low": pytest.approx(100.0), "high": None, "level": 0.95}
    assert top["waits"] is None


def test_the_servers_own_times_come_first() -> None:
    top = with_lengths(wait_ends=(WaitEnds(0, 2, 0.3, 1),), timed=(TimedWaits(0, 2, 200, 0.4),))
    assert top["source"] == "server"
    assert top["average_wait_ms"]["point"] == pytest.approx(2.0)
    assert (top["waits"], top["waits_per_s"]) == (200, 200.0)


def test_without_any_sign_of_length_there_is_none() -> None:
    assert with_lengths()["average_wait_ms"] is None


def test_top_five_are_the_five_largest() -> None:
    found = [
        look
        for place, share in enumerate((3, 5, 7, 9, 11, 15))
        for look in looks(0, range(place * 20, place * 20 + share), f"Lock:l{share}")
    ]
    results = profile_observation(make_observation([make_process()], found, ticks=120))
    assert [item["event"] for item in results["instance"]["top_events"]] == [
        "Lock:l15", "Lock:l11", "Lock:l9", "Lock:l7", "Lock:l5",
    ]  # fmt: skip


# The rest


def test_awake_without_being_told_which_is_no_wait_and_divides_no_column() -> None:
    found = looks(0, range(5), "IO:WalSync", "runnable") + looks(0, range(5, 10), "", "on_cpu")
    found += looks(0, range(10, 25), "", "awake") + looks(0, range(25, 50), "IO:WalSync")
    results = profile_observation(make_observation([make_process(cpu_s=0.25, run_queue_s=0.25)], found))
    session = results["sessions"][0]
    assert times(session)["IO:WalSync"] == pytest.approx(0.5)
    assert session["joint"]["posted"] == pytest.approx({"on_cpu": 0.0, "run_queue": 0.25, "asleep": 0.5})
    assert results["warnings"] == []


def logging(**fields: Any) -> dict[str, Any]:
    return dict(profile_observation(make_observation([], elapsed_s=2.0, **fields))["log"])


def test_commits_per_flush() -> None:
    counters = {"transactions": 300.0, "log_flushes": 100.0, "log_flush_time_s": 0.5}
    log = logging(counters=counters)
    assert (log["transactions_per_s"], log["flushes_per_s"], log["commits_per_flush"]) == (150.0, 50.0, 3.0)
    assert log["flush_time_ms"] == 5.0
    assert log["why_null"] == {}


def test_what_the_server_does_not_count_is_null_with_the_reason() -> None:
    log = logging(counters={"transactions": 300.0, "log_flushes": None})
    assert log["commits_per_flush"] is None
    assert set(log["why_null"]) == {"flushes", "commits_per_flush", "flush_time_ms"}
    idle = logging(counters={"transactions": 0.0, "log_flushes": 0.0, "log_flush_time_s": 0.0})
    assert idle["why_null"] == {"commits_per_flush": "no flush", "flush_time_ms": "no flush"}


def test_the_averages_of_sync_and_write_stand_beside_each_other_with_a_warning() -> None:
    log = logging(log_sync=make_episodes([2.0, 4.0]), log_write=make_episodes([1.0]))
    assert log["text"].startswith("The average log sync (3 ms) must not be compared")
    assert "log write (1 ms)" in log["text"]


def test_a_sampler_that_was_kept_from_running_is_named() -> None:
    starved = make_observation([make_process(cpu_s=0.7)], looks(0, range(50), "Lock:tuple"))
    (caution,) = profile_observation(starved)["warnings"]
    assert "awake in 0 %" in caution
    assert "70 %" in caution


def test_an_empty_observation_is_a_result_too() -> None:
    results = profile_observation(make_observation())
    assert (results["instance"]["profile"], results["sessions"]) == ([], [])
    json.dumps(results, allow_nan=False)


def test_without_a_tick_blocked_time_is_unaccounted() -> None:
    results = profile_observation(make_observation([make_process(cpu_s=0.25)], ticks=0))
    assert times(results["instance"]) == {"on_cpu": 0.25, "run_queue": 0.0, "unaccounted": 0.75}
    json.dumps(results, allow_nan=False)


def test_results_are_plain_json() -> None:
    rng = np.random.default_rng(1)
    found = [
        (tick, int(process), event, state)
        for tick in range(200)
        for process in rng.permutation(12)[:6]
        for event, state in [(rng.choice(["IO:WalSync", "Lock:tuple", ""]), rng.choice(["asleep", "on_cpu"]))]
    ]  # fmt: skip
    processes = [make_process(pid, elapsed_s=4.0, cpu_s=rng.random()) for pid in range(12)]
    results = profile_observation(make_observation(processes, found, ticks=200, elapsed_s=4.0))
    assert json.loads(json.dumps(results, allow_nan=False)) == results
    for group in (results["instance"], results["all_sessions"], *results["kinds"], *results["sessions"]):
        adds_up(group)
        joint = group["joint"]
        assert sum(sum(part.values()) for part in joint.values()) == pytest.approx(1.0)

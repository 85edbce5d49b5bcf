"""Sessions that nobody looked at, whose waits the server's own account tells."""

from __future__ import annotations

import math
from typing import Any

import pytest

from redolab.analysis.live.profile import profile_observation
from redolab.records.observation import Observation, TimedWaits, WaitBucket, join
from redolab.report.tables.profile_tables import log_waits
from tests.unit.analysis.observations import make_background, make_observation, make_process

EVENTS = (
    ("", "idle"), ("", ""), ("Commit", "log file sync"), ("User I/O", "db file sequential read"),
    ("Idle", "SQL*Net message from client"), ("Idle", "rdbms ipc message"),
    ("System I/O", "log file parallel write"),
)  # fmt: skip
SYNC, READ, CLIENT, MAIN, WRITE = 2, 3, 4, 5, 6


def observed(**fields: Any) -> Observation:
    """One second of a session: 0.4 s log sync, 0.1 s reads, 0.2 s client, 0.2 s CPU; and of a log writer."""
    account: dict[str, Any] = {
        "accounted": True, "run_queue_s": None, "first_tick": 0, "last_tick": 0,
    }  # fmt: skip
    timed = (
        TimedWaits(0, SYNC, 40, 0.4), TimedWaits(0, READ, 100, 0.1), TimedWaits(0, CLIENT, 10, 0.2),
        TimedWaits(1, WRITE, 50, 0.3), TimedWaits(1, MAIN, 30, 0.6), TimedWaits(None, SYNC, 40, 0.4),
        TimedWaits(None, WRITE, 50, 0.3),
    )  # fmt: skip
    return make_observation(
        [
            make_process(7, cpu_s=0.2, **account | fields),
            make_background(2, "LGWR", cpu_s=0.05, **account),
        ],
        ticks=1,
        events=EVENTS,
        timed=timed,
        wait_buckets=(
            WaitBucket(SYNC, 0.008192, 30), WaitBucket(SYNC, 0.016384, 10), WaitBucket(WRITE, 0.004096, 45),
            WaitBucket(WRITE, 0.008192, 4), WaitBucket(WRITE, math.inf, 1),
        ),
    )  # fmt: skip


def rows(group: dict[str, Any]) -> dict[str, float]:
    return {row["row"]: row["time_s"] for row in group["profile"]}


def test_the_account_of_a_session_adds_up_without_a_look() -> None:
    results = profile_observation(observed())
    (session,) = results["sessions"]
    assert rows(session) == pytest.approx(
        {
            "on_cpu": 0.2, "Commit:log file sync": 0.4, "User I/O:db file sequential read": 0.1,
            "unaccounted": 0.1,
        }
    )  # fmt: skip
    assert session["busy_s"] == pytest.approx(0.8)
    assert session["client_wait"]["share_of_elapsed"]["point"] == pytest.approx(0.2)
    shares = {row["row"]: row["share"] for row in session["profile"]}
    sync = shares["Commit:log file sync"]
    # The server's own account has no scatter of looks.
    assert (sync["low"], sync["point"], sync["high"]) == pytest.approx((0.5, 0.5, 0.5))
    assert results["all_sessions"]["log_sync_share"]["point"] == pytest.approx(0.5)
    assert session["joint"] is None


def test_a_log_writer_idles_in_its_main_loop() -> None:
    instance = profile_observation(observed())["instance"]
    assert instance["idle_s"] == pytest.approx(0.6)
    assert rows(instance)["System I/O:log file parallel write"] == pytest.approx(0.3)
    (top,) = [each for each in instance["top_events"] if each["event"] == "Commit:log file sync"]
    assert (top["waits"], top["average_wait_ms"]["point"], top["source"]) == (
        40,
        pytest.approx(10.0),
        "server",
    )


def test_cpu_that_may_have_been_published_late_widens_its_row_and_the_rest() -> None:
    (session,) = profile_observation(observed(cpu_late_s=0.1))["sessions"]
    shares = {row["row"]: row["share"] for row in session["profile"]}
    assert shares["on_cpu"]["low"] == pytest.approx(0.125, abs=0.02)
    assert shares["on_cpu"]["high"] == pytest.approx(0.375, abs=0.02)
    assert shares["unaccounted"]["high"] == pytest.approx(0.25, abs=0.02)
    assert shares["Commit:log file sync"]["high"] == pytest.approx(0.5)


def test_joined_accounts_add_up() -> None:
    results = profile_observation(join([observed(), observed(cpu_late_s=0.1)]))
    (session,) = results["sessions"]
    assert rows(session)["Commit:log file sync"] == pytest.approx(0.8)
    assert session["elapsed_s"] == pytest.approx(2.0)
    assert results["log"]["log_sync"]["count"] == 80


def test_the_servers_own_histogram_is_shown_as_it_is() -> None:
    results = profile_observation(observed())
    sync, write = results["log"]["log_sync"], results["log"]["log_write"]
    assert [(each["to_ms"], each["count"]) for each in sync["buckets"]] == [
        (4.096, 0), (8.192, 30), (16.384, 10), (None, 0),
    ]  # fmt: skip
    assert (sync["count"], sync["mean_ms"], sync["p50_ms"], sync["p95_ms"]) == (
        40, pytest.approx(10.0), 8.192, 16.384,
    )  # fmt: skip
    assert (write["p50_ms"], write["p99_ms"], write["longest_ms"]) == (4.096, None, None)
    assert "one long write counts once" in results["log"]["text"]
    table = log_waits(results)
    assert table is not None
    assert "counted by the server" in table.note
    assert [row[0].text for row in table.rows][:4] == ["4.096", "8.192", "16.384", "> 16.384"]

"""The counters of a live server between two readings, worked out by hand."""

from __future__ import annotations

from typing import Any

from redolab.engine.postgres.observer.counters import UNKNOWN, counted

BEFORE: dict[str, Any] = {
    "epoch": "Monday",
    "in_recovery": False,
    "transactions": 1000.0,
    "commits": 5000.0,
    "log_writes": 40.0,
    "log_flushes": 30.0,
    "log_write_time_s": 0.5,
    "log_flush_time_s": 1.5,
    "log_bytes": 8192.0,
    "rows_written": 9000.0,
}
AFTER = {
    "epoch": "Monday",
    "in_recovery": False,
    "transactions": 1200.0,
    "commits": 5230.0,
    "log_writes": 60.0,
    "log_flushes": 40.0,
    "log_write_time_s": 0.75,
    "log_flush_time_s": 2.5,
    "log_bytes": 16384.0,
    "rows_written": 9640.0,
}
LEFT_OUT = dict.fromkeys(
    ["commits", "rows_written", "log_writes", "log_flushes", "log_write_time_s", "log_flush_time_s"]
)
QUIET = [{"pid": 1, "inside_call": False}]


def test_differences_are_without_redolabs_own_transactions() -> None:
    counters, warnings = counted(BEFORE, AFTER, QUIET, own=20, io_timed=True)
    assert counters == {
        "transactions": 200.0,
        "commits": 210.0,
        "log_writes": 20.0,
        "log_flushes": 10.0,
        "log_write_time_s": 0.25,
        "log_flush_time_s": 1.0,
        "log_bytes": 8192.0,
        "rows_written": 640.0,
    }
    assert warnings == ()
    assert counters.keys() == UNKNOWN.keys()


def test_times_that_the_server_does_not_take_are_none() -> None:
    counters, _ = counted(BEFORE, AFTER, QUIET, own=0, io_timed=False)
    assert counters["log_flush_time_s"] is counters["log_write_time_s"] is None
    assert counters["log_flushes"] == 10.0


def test_a_reset_leaves_what_moves_on() -> None:
    counters, (warning,) = counted(BEFORE, {**AFTER, "epoch": "Tuesday"}, QUIET, own=0, io_timed=True)
    assert counters == {"transactions": 200.0, "log_bytes": 8192.0, **LEFT_OUT}
    assert "reset" in warning


def test_a_procedure_that_loops_keeps_its_counts() -> None:
    rows = [*QUIET, {"pid": 2, "inside_call": True}]
    counters, (warning,) = counted(BEFORE, AFTER, rows, own=0, io_timed=True)
    assert counters == {"transactions": 200.0, "log_bytes": 8192.0, **LEFT_OUT}
    assert "procedure" in warning


def test_ids_that_move_far_more_than_commits_show_counts_held_back() -> None:
    held_back = {**AFTER, "transactions": 1561.0}
    counters, (warning,) = counted(BEFORE, held_back, QUIET, own=0, io_timed=True)
    assert counters == {"transactions": 561.0, "log_bytes": 8192.0, **LEFT_OUT}
    assert "transaction ids advanced far more" in warning
    _, warnings = counted(BEFORE, {**AFTER, "transactions": 1560.0}, QUIET, own=0, io_timed=True)
    assert warnings == ()


def test_a_standby_commits_nothing_and_does_not_count_its_log() -> None:
    """Its transaction ids are those of its primary that it replays; its sessions only read."""
    before, after = ({**row, "in_recovery": True, "log_bytes": None} for row in (BEFORE, AFTER))
    counters, warnings = counted(before, {**after, "rows_written": 9000.0}, QUIET, own=20, io_timed=True)
    assert counters == {
        **dict.fromkeys(UNKNOWN), "transactions": 0.0, "commits": 210.0, "rows_written": 0.0,
    }  # fmt: skip
    assert warnings == ()


def test_of_the_time_in_which_a_standby_was_promoted_nothing_is_known() -> None:
    counters, (warning,) = counted({**BEFORE, "in_recovery": True}, AFTER, QUIET, own=0, io_timed=True)
    assert counters == dict.fromkeys(UNKNOWN)
    assert "promoted" in warning

"""Short labels say which part of a setting's name means what."""

from __future__ import annotations

import pytest

from redolab.analysis.statements.labels import label, label_of, labels


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        ({"commit_wait": "nowait", "commit_logging": "batch"}, "nowait/batch"),
        ({"commit_wait": "wait"}, "wait"),
        ({"sessions": "1", "rows_per_commit": "32", "commit_wait": "nowait"}, "1 session, 32 rows, nowait"),
        ({"sessions": "64", "commit_wait": "nowait", "commit_logging": "batch"}, "64 sessions, nowait/batch"),
        ({"rows_per_commit": "64", "sessions": "16", "loop": "client"}, "64 rows, 16 sessions, client loop"),
        ({"sessions": "1", "loop": "server", "pause_ms": "50"}, "1 session, server loop, 50 ms pause"),
        ({"sessions": "32", "share_of_capacity": "95%", "arrival_rate_per_s": "5778"},
         "32 sessions, 95 % of capacity"),
        ({"sessions": "4", "arrival_rate_per_s": "1500"}, "4 sessions, 1,500 arrivals per s"),
        ({"sessions": "8", "commit_delay_us": "2500"}, "8 sessions, 2,500 µs delay"),
        ({"sessions": "8", "log_device_ms": "2.5"}, "8 sessions, 2.5 ms log device"),
        ({"sessions": "8", "server_process": "shared"}, "8 sessions, shared server processes"),
        ({"processes": "2"}, "2 processes"),
        ({"rounds": "1"}, "1 round"),
        ({"groups": "30x30"}, "30 groups of 30"),
        ({"sync_binlog": "sync_binlog=10"}, "sync_binlog=10"),
        ({"key": "uuid v4"}, "uuid v4"),
        ({"how": "1000 inserts"}, "1000 inserts"),
        ({"fillfactor": "70"}, "fillfactor 70"),
        ({"fill_factor": "70", "key": "uuid v4"}, "fill factor 70, key uuid v4"),
        ({"sessions": "many"}, "many"),
        ({"server": "old", "commit_wait": "wait", "commit_logging": "immediate"}, "wait/immediate on old"),
        ({"server": "old", "sessions": "2"}, "2 sessions on old"),
        ({}, ""),
    ],
)  # fmt: skip
def test_levels_in_few_words(levels: dict[str, str], text: str) -> None:
    assert label(levels) == text


def test_only_what_the_name_joins_is_in_the_label() -> None:
    levels = {"sessions": "8", "rows_per_commit": "1", "commit_wait": "wait", "loop": "client"}
    assert label_of("8/1/wait", levels) == "8 sessions, 1 row, wait"
    assert label_of("8/1/wait/client", levels) == "8 sessions, 1 row, wait, client loop"
    assert label_of("watched", levels) == "watched"
    assert label_of("8/1/wait", {}) == "8/1/wait"


def test_a_label_that_two_settings_would_share_is_not_given() -> None:
    settings = [
        {"name": name, "levels": {"sessions": level}}
        for name, level in (("4", "4"), ("04", "04"), ("8", "8"))
    ]
    assert labels(settings) == {"4": "4", "04": "04", "8": "8 sessions"}
    assert labels([{"name": "old"}]) == {"old": "old"}

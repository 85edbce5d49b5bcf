"""What the first screen says of a server that was watched and of reports, by their shares and times."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.analysis.observed import verdict
from redolab.analysis.observed.watch.answer import analyse
from tests.unit import watched


@pytest.mark.parametrize(
    ("busy", "said"), [(None, False), (0.33, False), (0.84, False), (0.85, True), (1.2, True)]
)
def test_a_log_is_saturated_from_85_percent_on(busy: float | None, said: bool) -> None:
    assert bool(verdict.saturated(busy, 0.167, 1.12)) == said
    assert bool(verdict.log_first(busy)) == said


def test_what_is_not_known_of_a_saturated_log_is_not_said() -> None:
    assert verdict.saturated(0.94, None, None) == [
        "The log is saturated: it was written for 94.0 % of the time."
    ]


@pytest.mark.parametrize(
    ("sync_s", "write_s", "said"),
    [
        (3.42e-3, 0.56e-3, True),
        (42.3e-3, 11e-3, True),
        (2.28e-3, 1.82e-3, False),
        (0.9e-3, 0.6e-3, False),
        (None, 1e-3, False),
        (5e-3, None, False),
        (5e-3, 0.0, False),
    ],
)
def test_it_is_not_the_disk_where_syncs_far_exceed_writes(
    sync_s: float | None, write_s: float | None, said: bool
) -> None:
    assert bool(verdict.not_the_disk(0.3, write_s, sync_s)) == said
    assert bool(verdict.not_the_disk(None, write_s, sync_s)) == said
    # What commits queue for is then the writes.
    assert verdict.not_the_disk(0.94, write_s, sync_s) == []


def test_waits_for_row_locks_are_waits_for_commits_where_the_log_is_saturated() -> None:
    assert verdict.row_locks(0.05, "DB time", 0.94) == []
    assert "wait for the log as well" in verdict.row_locks(0.87, "DB time", 0.94)[1]
    assert "wait for the log" not in verdict.row_locks(0.87, "DB time", 0.2)[1]


def test_a_watch_names_row_locks_and_the_largest_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = ("IO:WalSync", "LWLock:WALWrite", "Lock:transactionid")
    monkeypatch.setattr(watched, "_EVENTS", {**watched._EVENTS, "postgresql": events})
    # Of 0.352 ms a commit is busy, 0.2 are CPU and 0.09 the wait for rows.
    stretches = [watched.Seen(60.0 * at, 1, 500, 1e-6) for at in range(6)]
    text = analyse(watched.watched_run(tmp_path / "run", stretches))["verdict"]["text"]
    assert text.startswith("Look elsewhere first")
    assert "on CPU takes 56.8 %" in text
    assert "Waits for row locks are 25.6 % of the sessions' busy time." in text


def test_what_is_not_known_keeps_its_capitals(tmp_path: Path) -> None:
    stretches = [watched.Seen(60.0 * at, 1, 0, 1e-6) for at in range(6)]
    text = analyse(watched.watched_run(tmp_path / "run", stretches))["verdict"]["text"]
    assert "Not known: CPU per commit, other time per commit, R = S + Q" in text

"""What `redolab watch` says while it is under way: one line on a terminal, a few sentences elsewhere."""

from __future__ import annotations

import dataclasses
import io
from typing import Any

import pytest
from rich.console import Console

from redolab.commands import watch
from redolab.records.watched import Watched
from tests.unit.records.test_watch_writer import stretch

BUSY: dict[str, Any] = {
    "elapsed_s": 10.0, "transactions": 123_456, "busy_s": 300.0, "log_sync_s": 120.0, "log_flushes": 1000,
    "log_flush_time_s": 1.5,
}  # fmt: skip


def row(**changes: Any) -> Watched:
    return dataclasses.replace(stretch(1), **{**BUSY, **changes})


def test_a_stretch_in_a_few_words() -> None:
    assert watch.last_text(row()) == "12,346 transactions/s, log sync 40 %, flush 1.50 ms"
    assert watch.last_text(row(log_flush_time_s=None)) == "12,346 transactions/s, log sync 40 %"
    assert watch.last_text(row(log_flushes=0, busy_s=0.0)) == "12,346 transactions/s"
    assert watch.last_text(row(transactions=None, log_sync_s=None, log_flushes=None)) == "no figures"
    assert watch.last_text(row(spoiled="the connection was lost", elapsed_s=0.0)).startswith("spoiled: ")


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_line_is_one_line_and_is_drawn_only_when_it_changes(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=True, width=width, markup=False)
    monkeypatch.setattr(watch, "terminal", lambda **_: console)
    with watch._progress(None) as progress:
        progress.begin("127.0.0.1:5432")
        progress.stored(row())
        before = drawn.getvalue()
        assert "1 stretch, 0:00:10: 12,346" in before
        progress.lost("No connection to PostgreSQL: " + "why " * 100 + "\x1b[31m")
        after = drawn.getvalue()[len(before) :]
    assert "trying again: " in after
    assert "\x1b[31m" not in after
    assert "…" in after
    assert "\n" not in after


def test_elsewhere_a_loss_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    with watch._progress(60.0) as progress:
        progress.begin("somewhere")
        for _ in range(3):
            progress.stored(row())
            progress.lost("No connection.")
            progress.lost("No connection.")
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "watching somewhere for 60 s"
    assert said.count("trying to reach the server again: No connection.") == 3
    assert said.count("the server is watched again") == 2

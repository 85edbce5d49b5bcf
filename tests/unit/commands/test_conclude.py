"""What a run or a watch ends with that just ended and has nothing to show."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.commands import report
from redolab.errors import InterruptedRunError, RedolabError, RefusedError
from redolab.measure.runner import Outcome
from redolab.records.writing.watch_writer import WatchWriter
from tests.unit.records.test_watch_writer import MANIFEST, stretch


@pytest.mark.parametrize(
    ("error", "expected", "words"),
    [
        (None, RefusedError, "no figure can be computed: the server was gone"),
        (InterruptedRunError("Interrupted."), InterruptedRunError, "Interrupted"),
    ],
)
def test_a_watch_of_a_server_that_was_never_there_was_asked_for_nothing_wrong(
    error: RedolabError | None,
    expected: type[RedolabError],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(report, "end_when_interrupted", lambda *_: None)
    writer = WatchWriter(tmp_path / "watch", MANIFEST)
    writer.add(stretch(1, spoiled="the server was gone"), [])
    run = writer.finish("finished", finished_at="2026-11-26T03:01:00+00:00", error=None)
    with pytest.raises(expected, match=words) as raised:
        report.conclude(Outcome(run, error), json=False, kept="")
    assert raised.value.exit_code in (3, 130)

"""The ledger: sealed forecasts and scores that outlive crashes, two writers and sharing."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from redolab import ledger
from redolab.errors import RefusedError, UsageError
from redolab.ledger import Imported, Verified
from redolab.model.record import Score, Silence
from redolab.sealed import seal

SCORE = Score("group commit, simulated", "single rows", "throughput_per_s", 100.0, 104.0, 90.0, 111.0)
SILENCE = Silence("USL", "single rows", "three numbers of sessions")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def here() -> Verified:
    return next(part for part in ledger.read_ledger() if part.origin == "here")


def imported() -> Verified:
    return next(part for part in ledger.read_ledger() if part.origin == "imported")


def note(number: int, scored: bool = True) -> dict[str, Any]:
    sealed = seal({"number": number})
    ledger.note_seal(sealed)
    if scored:
        ledger.note_scores(sealed["sha256"], [SCORE], [SILENCE])
    return sealed


def test_an_empty_ledger_says_nothing() -> None:
    assert here() == Verified("here", 0, 0, (), ())


def test_what_is_written_is_read_and_unscored_forecasts_are_told() -> None:
    note(1)
    note(2, scored=False)
    assert here() == Verified("here", 1, 1, (SCORE,), (SILENCE,))
    assert SCORE in ledger.scores_of(ledger.read_ledger())


def test_a_forecast_counts_once() -> None:
    sealed = note(1)
    ledger.note_scores(sealed["sha256"], [SCORE, SCORE], [])
    assert here().scores == (SCORE,)


def test_a_torn_last_line_is_passed_over_and_the_next_one_is_whole() -> None:
    note(1)
    path = ledger.own_path()
    path.write_bytes(path.read_bytes() + b'{"kind": "scored", "sha2')
    assert here().forecasts == 1
    note(2)
    assert (here().forecasts, here().unscored) == (2, 0)


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b"7",
        b"\xff\xfe",
        b'{"kind": "sealed", "sha256": "0"}',
        b'{"kind": "scored", "sha256": "0", "scores": [{"model": 1}], "silences": []}',
        b'{"kind": "scored", "sha256": "0", "silences": [], "scores": [{"model": "m", "family": "f", '
        b'"quantity": "q", "forecast": -1, "observed": 1}]}',
    ],
)
def test_what_is_no_line_of_a_ledger_is_passed_over(line: bytes) -> None:
    note(1)
    with ledger.own_path().open("ab") as file:
        file.write(line + b"\n")
    assert (here().forecasts, here().unscored) == (1, 0)


def _write_many(first: int) -> None:
    for number in range(first, first + 25):
        note(number)


def test_two_writers_at_once_lose_nothing() -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_many, args=(first,)) for first in (0, 1000)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    assert (here().forecasts, here().unscored) == (50, 0)
    assert len(ledger.own_path().read_bytes().splitlines()) == 100


def test_no_child_process_inherits_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    write = os.write

    def watched(file: int, data: bytes) -> int:
        seen.append(os.get_inheritable(file))
        return write(file, data)

    monkeypatch.setattr(os, "write", watched)
    note(1)
    assert seen == [False, False]


def test_a_shared_ledger_is_told_apart_and_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(1)
    note(2)
    assert ledger.export_ledger(tmp_path / "shared.jsonl") == 4
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another"))
    note(3)
    assert ledger.import_ledger(tmp_path / "shared.jsonl") == Imported(4, 0, 0)
    assert ledger.import_ledger(tmp_path / "shared.jsonl") == Imported(0, 4, 0)
    assert (here().forecasts, imported().forecasts) == (1, 2)
    # What comes home again is known.
    ledger.export_ledger(tmp_path / "own.jsonl")
    assert ledger.import_ledger(tmp_path / "own.jsonl") == Imported(0, 2, 0)


def test_what_was_changed_or_never_sealed_is_not_taken_in(tmp_path: Path) -> None:
    note(1)
    path = tmp_path / "shared.jsonl"
    ledger.export_ledger(path)
    sealed, scored = (json.loads(line) for line in path.read_bytes().splitlines())
    sealed["forecast"]["number"] = 7
    path.write_text(json.dumps(sealed) + "\n" + json.dumps(scored) + "\nnonsense\n")
    assert ledger.import_ledger(path) == Imported(0, 0, 3)


def test_what_cannot_be_read_or_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        ledger.import_ledger(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="cannot be written"):
        ledger.export_ledger(tmp_path / "none" / "out.jsonl")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(RefusedError, match="XDG_DATA_HOME"):
        note(1)

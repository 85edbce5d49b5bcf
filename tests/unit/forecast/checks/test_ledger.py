"""The ledger: sealed forecasts and scores that outlive crashes, two writers and sharing."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from redolab.errors import RefusedError, UsageError
from redolab.forecast.checks import ledger
from redolab.forecast.checks.ledger import Imported, Verified
from redolab.forecast.track_record import Score, Silence, log_ratios, prediction_interval
from redolab.records.sealed import seal
from tests.conftest import Redolab

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


def forged(path: Path, lines: int = 1, **changes: Any) -> Path:
    """A file of well sealed lines whose scores say what `changes` says."""
    texts = []
    for number in range(lines):
        sealed = seal({"number": 1000 + number})
        score = {
            "model": SCORE.model, "family": SCORE.family, "quantity": SCORE.quantity,
            "forecast": 100.0, "observed": 104.0, "low": 90.0, "high": 111.0, **changes,
        }  # fmt: skip
        scored = {"kind": "scored", "sha256": sealed["sha256"], "scores": [score], "silences": []}
        texts += [json.dumps({"kind": "sealed", **sealed}), json.dumps(scored)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(texts) + "\n")
    return path


ABSURD: list[dict[str, Any]] = [
    {"forecast": 10**400},
    {"observed": 10**400},
    {"low": 10**400},
    {"forecast": 10**16},
    {"forecast": 5e-324, "observed": 1.7e308},
    {"forecast": 1e-9, "observed": 1e9},
    {"forecast": 0},
    {"forecast": True},
    {"forecast": "1"},
    {"forecast": None},
    {"forecast": float("nan")},
    {"observed": float("inf")},
    {"model": "m" * 300},
    {"family": ["f"]},
    {"quantity": {}},
    {"another": 1},
]


@pytest.mark.parametrize("changes", ABSURD, ids=lambda changes: str(changes)[:30])
def test_a_well_sealed_line_of_absurd_numbers_is_refused_and_counted(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    # What holds no score is still a sealed forecast.
    assert ledger.import_ledger(forged(tmp_path / "f.jsonl", **changes)) == Imported(1, 0, 1)
    assert (imported().forecasts, imported().scores) == (0, ())


@pytest.mark.parametrize("changes", ABSURD, ids=lambda changes: str(changes)[:30])
def test_such_a_line_that_was_taken_in_before_is_passed_over(
    tmp_path: Path, redolab: Redolab, changes: dict[str, Any]
) -> None:
    note(1)
    forged(ledger.imported_path(), **changes)
    ended = redolab("league", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = {item["record"]: item["forecasts"] for item in json.loads(ended.out)["ledger"]}
    assert (found["here"], found["imported"]) == (1, 0)


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"kind": "sealed", "sha256": ' + b"[" * 100_000,
        b'{"kind": "scored", "sha256": "0", "scores": [], "silences": []}',
        b'{"kind": "scored", "sha256": "' + b"0" * 64 + b'", "scores": {}, "silences": 7}',
        b'{"kind": ' + b"9" * 5000 + b"}",
        b"x" * (5 << 20),
    ],
    ids=lambda line: str(line[:40]),
)
def test_a_hostile_line_is_refused_and_passed_over(tmp_path: Path, line: bytes) -> None:
    path = forged(tmp_path / "f.jsonl")
    path.write_bytes(line + b"\n" + path.read_bytes())
    assert ledger.import_ledger(path) == Imported(2, 0, 1)
    ledger.imported_path().write_bytes(path.read_bytes())
    assert imported().forecasts == 1


def test_forty_absurd_lines_leave_intervals_finite(tmp_path: Path, redolab: Redolab) -> None:
    forged(ledger.imported_path(), 40, forecast=5e-324, observed=1.7e308)
    ratios = log_ratios(ledger.scores_of(ledger.read_ledger()), SCORE.model, SCORE.family, SCORE.quantity)
    found = prediction_interval(100.0, [], ratios)
    assert 0 < found.low < found.high < math.inf
    # The worst that is taken in still gives numbers.
    forged(ledger.imported_path(), 2000, forecast=1e-3, observed=9e2)
    ratios = log_ratios(ledger.scores_of(ledger.read_ledger()), SCORE.model, SCORE.family, SCORE.quantity)
    found = prediction_interval(1e9, [], ratios, extrapolated=True)
    assert 0 < found.low < found.high < math.inf


def test_names_of_models_are_not_without_end(tmp_path: Path) -> None:
    ledger.imported_path().parent.mkdir(parents=True)
    many = []
    for number in range(200):
        sealed = seal({"number": number})
        score = {"model": f"m{number}", "family": "f", "quantity": "q", "forecast": 1.0, "observed": 1.0}
        scored = {"kind": "scored", "sha256": sealed["sha256"], "scores": [score], "silences": []}
        many += [{"kind": "sealed", **sealed}, scored]
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in many))
    with pytest.raises(UsageError, match="64 models"):
        ledger.import_ledger(path)
    ledger.imported_path().write_bytes(path.read_bytes())
    assert imported().forecasts == 64


def test_own_scores_too_far_off_are_left_out_and_the_rest_is_kept() -> None:
    sealed = seal({"number": 1})
    ledger.note_seal(sealed)
    ledger.note_scores(sealed["sha256"], [SCORE, replace(SCORE, forecast=1e-9, observed=1e9)], [SILENCE])
    assert here() == Verified("here", 1, 0, (SCORE,), (SILENCE,))


def test_an_import_can_be_taken_back(tmp_path: Path, redolab: Redolab) -> None:
    note(1)
    path = forged(tmp_path / "f.jsonl", 3)
    assert redolab("league", "--import", path, "--json").err == f"{path}: 6 lines imported, 0 already here.\n"
    assert imported().forecasts == 3
    ended = redolab("league", "--forget", "--json")
    assert (ended.code, ended.err) == (0, "6 imported lines removed. This machine's own are kept.\n")
    assert (here().forecasts, imported().forecasts) == (1, 0)
    assert redolab("league", "--forget", "--json").err.startswith("0 imported lines removed")
    # In one command it is put in place of what was there.
    for _ in range(2):
        assert "6 lines imported" in redolab("league", "--forget", "--import", path, "--json").err
    assert imported().forecasts == 3


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

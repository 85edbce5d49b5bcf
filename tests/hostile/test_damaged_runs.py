"""Damaged runs end in a sentence and an exit code; the thousands of them are `make long`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.asked import Answer, ask_command, ask_here
from tests.hostile.runs import make_runs

_RUNS = ("commit-mode", "durability", "session-count", "sampling-distribution", "calibrate", "watched",
         "still-watched", "verify-forecast", "side-by-side", "killed", "killed-format-1")  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_runs(tmp_path_factory.mktemp("hostile"), _RUNS)


def _faults(answers: list[Answer]) -> list[str]:
    return [
        f"seed {answer.seed}: {answer.fault}: {answer.done}\n{answer.said}"
        for answer in answers
        if answer.fault
    ]


def test_damaged_runs_end_in_a_sentence(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    answers = [ask_here(runs, seed, tmp_path) for seed in range(1, 81)]
    assert _faults(answers) == []
    assert {answer.code for answer in answers} >= {0, 1, 2}


def test_damaged_runs_by_the_real_command(runs: dict[str, Path], tmp_path: Path) -> None:
    answers = [ask_command(runs, seed, tmp_path) for seed in range(1, 4)]
    assert _faults(answers) == []

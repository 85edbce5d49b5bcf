"""The ledger: every sealed forecast of this machine and its scores, a JSON line each, and what others shared.

`forecasts.jsonl` is written here alone, `imported.jsonl` holds lines of other machines; both in
`redolab.places.data_directory()`. A line is either sealed (a forecast, as `redolab.sealed` seals it) or
scored (what became of it, under the hash of its seal). Nothing in a line names a host, a path, a database or
a user, so a ledger can be given away as it is. Several processes may write at once. A line that a crash left
torn is passed over, and the next one begins on a line of its own.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from redolab.directories import make_directories
from redolab.errors import RefusedError, UsageError
from redolab.files import open_to_append, write_file
from redolab.model.record import Score, Silence, shipped_record
from redolab.places import data_directory
from redolab.sealed import canonical, digest, is_whole

Origin = Literal["shipped", "here", "imported"]
"""Where a record was made: with Redolab, on this machine, on another whose ledger was imported."""
ORIGINS: Mapping[Origin, str] = {
    "shipped": "shipped with Redolab",
    "here": "this machine's ledger",
    "imported": "imported ledgers",
}


@dataclass(frozen=True)
class Verified:
    """Forecasts that were checked, from one place."""

    origin: Origin
    forecasts: int
    """Sealed forecasts that were scored."""
    unscored: int
    """Sealed forecasts that were not: interrupted, refused, or still under way."""
    scores: tuple[Score, ...]
    silences: tuple[Silence, ...]


@dataclass(frozen=True)
class Imported:
    """What came of an import."""

    taken: int
    """Lines that were new."""
    known: int
    """Lines that were here already."""
    refused: int
    """Lines that are none of a ledger, or whose seal does not hold."""


def own_path() -> Path:
    """The ledger of this machine."""
    return data_directory() / "forecasts.jsonl"


def imported_path() -> Path:
    """Lines of other machines."""
    return data_directory() / "imported.jsonl"


def note_seal(sealed: Mapping[str, Any]) -> None:
    """Write a sealed forecast down; on disk when this returns.

    Raises:
        RefusedError: the ledger cannot be written.
    """
    _append(own_path(), [{"kind": "sealed", **sealed}])


def note_scores(sha256: str, scores: Iterable[Score], silences: Iterable[Silence]) -> None:
    """Write down what became of a sealed forecast; on disk when this returns.

    Args:
        sha256: of its seal.
        scores: of every model and quantity.
        silences: models that said nothing.

    Raises:
        RefusedError: the ledger cannot be written.
    """
    line = {
        "kind": "scored",
        "format": 1,
        "sha256": sha256,
        "scored_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "scores": [asdict(score) for score in scores],
        "silences": [asdict(silence) for silence in silences],
    }
    _append(own_path(), [line])


def read_ledger() -> tuple[Verified, ...]:
    """What was verified, by where: shipped, here, imported. A forecast counts once, wherever it stands."""
    here, imported = _read(own_path()), _read(imported_path())
    known = {line["sha256"] for line in here if line["kind"] == "scored"}
    others = [line for line in imported if line["sha256"] not in known]
    return (_shipped(), _verified("here", here), _verified("imported", others))


def scores_of(verified: Iterable[Verified]) -> tuple[Score, ...]:
    """All scores, wherever they come from."""
    return tuple(score for part in verified for score in part.scores)


def export_ledger(path: Path) -> int:
    """Write this machine's ledger to a file for others; returns the number of lines.

    Raises:
        UsageError: the file cannot be written.
    """
    lines = _read(own_path())
    try:
        write_file(path, b"".join(canonical(line) + b"\n" for line in lines))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}. Name another file.") from error
    return len(lines)


def import_ledger(path: Path) -> Imported:
    """Take in the lines of another machine's ledger that are not here yet.

    A scored line is taken with the sealed one before it: what was not sealed is no forecast.

    Raises:
        UsageError: the file cannot be read.
        RefusedError: the ledger cannot be written.
    """
    try:
        texts = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}. Name a file of `redolab league --export`."
        ) from error
    lines = [line for line in map(_line, texts) if line is not None]
    sealed = {line["sha256"] for line in lines if line["kind"] == "sealed"}
    lines = [line for line in lines if line["sha256"] in sealed]
    with _locked(imported_path()) as file:
        seen = {digest(line) for line in (*_read(own_path()), *_parsed(file))}
        new = {digest(line): line for line in lines if digest(line) not in seen}
        _write(file, list(new.values()))
    return Imported(len(new), len(lines) - len(new), len(texts) - len(lines))


def _shipped() -> Verified:
    scores, silences = shipped_record()
    # Of the model that forecasts, a setting has a score of throughput.
    forecasts = sum((item.model, item.quantity) == (scores[0].model, scores[0].quantity) for item in scores)
    return Verified("shipped", forecasts, 0, scores, silences)


def _verified(origin: Origin, lines: Sequence[Mapping[str, Any]]) -> Verified:
    sealed = {line["sha256"] for line in lines if line["kind"] == "sealed"}
    # The first scores of a forecast are its scores.
    scored: dict[str, Mapping[str, Any]] = {}
    for line in lines:
        if line["kind"] == "scored":
            scored.setdefault(line["sha256"], line)
    return Verified(
        origin,
        len(scored),
        len(sealed - scored.keys()),
        tuple(Score(**item) for line in scored.values() for item in line["scores"]),
        tuple(Silence(**item) for line in scored.values() for item in line["silences"]),
    )


def _append(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    with _locked(path) as file:
        _write(file, lines)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file for one writer at a time; closed on exec, so that no child holds the lock."""
    try:
        make_directories(path.parent)
        file = open_to_append(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)
    except OSError as error:
        raise RefusedError(
            f"The ledger of forecasts {path} cannot be written: {error.strerror}. Set XDG_DATA_HOME to a "
            "directory that can be."
        ) from error


def _write(file: int, lines: Sequence[Mapping[str, Any]]) -> None:
    content = b"".join(canonical(line) + b"\n" for line in lines)
    end = os.fstat(file).st_size
    if end and os.pread(file, 1, end - 1) != b"\n":
        content = b"\n" + content
    while content:
        content = content[os.write(file, content) :]
    os.fsync(file)


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RefusedError(f"The ledger of forecasts {path} cannot be read: {error.strerror}.") from error
    try:
        fcntl.flock(file, fcntl.LOCK_SH)
        return _parsed(file)
    finally:
        os.close(file)


def _parsed(file: int) -> list[dict[str, Any]]:
    content = os.pread(file, os.fstat(file).st_size, 0)
    return [line for line in map(_line, content.splitlines()) if line is not None]


def _line(text: bytes) -> dict[str, Any] | None:
    """A line of a ledger; None for anything else."""
    try:
        line = json.loads(text)
        if line["kind"] == "sealed":
            return line if is_whole({key: line[key] for key in line if key != "kind"}) else None
        if line["kind"] == "scored" and isinstance(line["sha256"], str):
            scores = [Score(**item) for item in line["scores"]]
            silences = [Silence(**item) for item in line["silences"]]
            fit = all(map(_is_score, scores)) and all(isinstance(item.model, str) for item in silences)
            return line if fit else None
    except (ValueError, KeyError, TypeError):
        return None
    return None


def _is_score(score: Score) -> bool:
    ends = (score.low, score.high)
    return all(isinstance(name, str) for name in (score.model, score.family, score.quantity)) and all(
        _is_positive(value)
        for value in (score.forecast, score.observed, *(end for end in ends if end is not None))
    )


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < math.inf

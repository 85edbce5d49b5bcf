"""The ledger: every sealed forecast of this machine and its scores, a JSON line each, and what others shared.

`forecasts.jsonl` is written here alone, `imported.jsonl` holds lines of other machines; both in
`redolab.files.places.data_directory()`. A line is either sealed (a forecast, as `redolab.records.sealed`
seals it) or scored (what became of it, under the hash of its seal). Nothing in a line names a host, a path, a
database or a user, so a ledger can be given away as it is. Several processes may write at once. A line that a
crash left torn is passed over, and the next one begins on a line of its own. So is a line that no Redolab
wrote: one with text for numbers, forecasts further off than any model was, or more scores than a check can
have.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from redolab.errors import RefusedError, UsageError
from redolab.files import system
from redolab.files.documents import parse_json_object
from redolab.files.folder import Folder, write_all, write_file
from redolab.files.foreign import open_regular, read_regular
from redolab.files.places import data_directory
from redolab.forecast.track_record import Score, Silence, shipped_record
from redolab.records.sealed import canonical, digest, is_whole

Origin = Literal["shipped", "here", "imported"]
"""Where a record was made: with Redolab, on this machine, on another whose ledger was imported."""
ORIGINS: Mapping[Origin, str] = {
    "shipped": "shipped with Redolab",
    "here": "this machine's ledger",
    "imported": "imported ledgers",
}

_MOST_LINE_BYTES = 4 << 20
_MOST_SCORES = 10_000
"""The most scores of one forecast: 20 settings, of each of which each model says ten quantities."""
_MOST_OWN_BYTES = 256 << 20
_MOST_IMPORTED_BYTES = 64 << 20
_MOST_MODELS = 64
"""Names of models in all that was imported: each has rows in the tables of the league."""
_MOST_NAME, _MOST_REASON = 200, 2000
_LARGEST = 1e15
_LARGEST_END = 1e30
"""The largest end of an interval, which may be far wider than the values."""
_MOST_OFF = 1e6
"""The largest ratio of forecast and observed, either way round. The record that comes with Redolab has 206,
of models that know nothing of group commit."""
_HASH = re.compile(r"[0-9a-f]{64}")


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
    """The result of an import."""

    taken: int
    """Lines that were new."""
    known: int
    """Lines that were here already."""
    refused: int
    """Lines that are not a ledger's, or whose seal does not match."""


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
        scores: of every model and quantity; those too far off to be compared are left out.
        silences: models without a forecast.

    Raises:
        RefusedError: the ledger cannot be written.
    """
    line = {
        "kind": "scored",
        "format": 1,
        "sha256": sha256,
        "scored_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "scores": [asdict(score) for score in scores if _is_score(score)],
        "silences": [asdict(silence) for silence in silences],
    }
    _append(own_path(), [line])


def read_ledger() -> tuple[Verified, ...]:
    """Verified forecasts, by origin: shipped, here, imported. A forecast counts once."""
    here, imported = _own(), _few_models(_read(imported_path(), _MOST_IMPORTED_BYTES))
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
    lines = _own()
    try:
        write_file(path, b"".join(canonical(line) + b"\n" for line in lines))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}. Name another file.") from error
    return len(lines)


def import_ledger(path: Path) -> Imported:
    """Import the lines of another machine's ledger that are not here yet.

    A scored line is imported with the sealed one before it: without a seal a line does not count as a
    forecast.

    Raises:
        UsageError: the file cannot be read, or has more in it than is taken in.
        RefusedError: the ledger cannot be written.
    """
    try:
        texts = read_regular(path, _MOST_IMPORTED_BYTES, pipes=True).splitlines()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}. Name a file of `redolab league --export`."
        ) from error
    lines = [line for line in map(_line, texts) if line is not None]
    sealed = {line["sha256"] for line in lines if line["kind"] == "sealed"}
    lines = [line for line in lines if line["sha256"] in sealed]
    with _locked(imported_path()) as file:
        before = _parsed(file, _MOST_IMPORTED_BYTES)
        digests = {digest(line) for line in (*_own(), *before)}
        new = {digest(line): line for line in lines if digest(line) not in digests}
        lines_now = [*before, *new.values()]
        size = os.fstat(file).st_size + sum(len(canonical(line)) + 1 for line in new.values())
        if size > _MOST_IMPORTED_BYTES or len(_few_models(lines_now)) < len(lines_now):
            raise UsageError(
                f"{path} was not imported: with this file there would be more than "
                f"{_MOST_IMPORTED_BYTES >> 20} MB of imported lines, or more than {_MOST_MODELS} models in "
                "these lines. `redolab league --forget` removes the lines that were imported before."
            )
        _write(file, list(new.values()))
    return Imported(len(new), len(lines) - len(new), len(texts) - len(lines))


def forget_imported() -> int:
    """Remove what was imported; returns the number of lines.

    Raises:
        RefusedError: the ledger cannot be written.
    """
    if not imported_path().exists():
        return 0
    with _locked(imported_path()) as file:
        lines = _content(file, os.fstat(file).st_size).count(b"\n")
        os.ftruncate(file, 0)
        os.fsync(file)
    return lines


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
        with Folder.to_write(path.parent, 0o700) as folder:
            file = folder.append(path.name)
        try:
            system.lock(file)
            yield file
        finally:
            os.close(file)
    except OSError as error:
        raise RefusedError(
            f"The ledger of forecasts {path} cannot be written: {error.strerror}. Set XDG_DATA_HOME to a "
            "directory that can be written."
        ) from error


def _write(file: int, lines: Sequence[Mapping[str, Any]]) -> None:
    content = b"".join(canonical(line) + b"\n" for line in lines)
    end = os.fstat(file).st_size
    if end and system.read_at(file, 1, end - 1) != b"\n":
        content = b"\n" + content
    write_all(file, content)
    os.fsync(file)


def _own() -> list[dict[str, Any]]:
    path = own_path()
    if path.exists() and path.stat().st_size > _MOST_OWN_BYTES:
        raise RefusedError(
            f"The ledger of forecasts {path} has more than {_MOST_OWN_BYTES >> 20} MB. Move that file away; "
            "the next check of a forecast begins a new ledger."
        )
    return _read(path, _MOST_OWN_BYTES)


def _read(path: Path, most: int) -> list[dict[str, Any]]:
    try:
        file = open_regular(path)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RefusedError(f"The ledger of forecasts {path} cannot be read: {error.strerror}.") from error
    try:
        system.lock(file, shared=True)
        return _parsed(file, most)
    except OSError as error:
        raise RefusedError(f"The ledger of forecasts {path} cannot be read: {error.strerror}.") from error
    finally:
        os.close(file)


def _parsed(file: int, most: int) -> list[dict[str, Any]]:
    lines = _content(file, most).splitlines()
    return [line for line in map(_line, lines) if line is not None]


def _content(file: int, most: int) -> bytes:
    content, size = bytearray(), min(os.fstat(file).st_size, most)
    # The kernel gives no more than 2 GB at a time.
    while len(content) < size and (part := system.read_at(file, size - len(content), len(content))):
        content += part
    return bytes(content)


def _few_models(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the lines that bring more names of models than there can be."""
    names: set[str] = set()
    kept = []
    for line in lines:
        said = {item["model"] for key in ("scores", "silences") for item in line.get(key, ())}
        if line["kind"] == "scored":
            if len(names | said) > _MOST_MODELS:
                continue
            names |= said
        kept.append(line)
    return kept


def _line(text: bytes) -> dict[str, Any] | None:
    """A line of a ledger; None for anything else."""
    if len(text) > _MOST_LINE_BYTES:
        return None
    try:
        line = parse_json_object(text, "a line")
        if not _HASH.fullmatch(line["sha256"]):
            return None
        if line["kind"] == "sealed":
            return line if is_whole({key: line[key] for key in line if key != "kind"}) else None
        if line["kind"] != "scored" or len(line["scores"]) + len(line["silences"]) > _MOST_SCORES:
            return None
        fit = all(_is_score(Score(**item)) for item in line["scores"]) and all(
            _is_silence(Silence(**item)) for item in line["silences"]
        )
    except (UsageError, ValueError, KeyError, TypeError):
        return None
    return line if fit else None


def _is_score(score: Score) -> bool:
    ends = (score.low, score.high)
    return (
        all(_is_text(name, _MOST_NAME) for name in (score.model, score.family, score.quantity))
        and all(_is_between(value, _LARGEST) for value in (score.forecast, score.observed))
        and all(_is_between(end, _LARGEST_END) for end in ends if end is not None)
        and 1 / _MOST_OFF <= score.forecast / score.observed <= _MOST_OFF
        and isinstance(score.extrapolated, bool)
    )


def _is_silence(silence: Silence) -> bool:
    return (
        _is_text(silence.model, _MOST_NAME)
        and _is_text(silence.family, _MOST_NAME)
        and _is_text(silence.reason, _MOST_REASON)
    )


def _is_text(value: object, most: int) -> bool:
    return isinstance(value, str) and len(value) <= most


def _is_between(value: object, largest: float) -> bool:
    """Whether it is a number from 1 / `largest` to `largest`."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 1 / largest <= value <= largest

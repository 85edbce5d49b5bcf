"""The run directory as it is read: all measurements, without any database, and complete after a crash.

    manifest.json     design, order, machine, server, parameters changed, hashes
    samples.parquet   one row per sample (fields and units: `redolab.records.sample`)
    waits.parquet     ticks per sample, wait event and scheduler state
    profile.parquet   CPU and run queue per sample and server process
    overhead.parquet  throughput with the wait sampler on and off, in pairs
    latency.parquet   histograms of commit and response times per sample, where they were noted
    entries.parquet   figures of reports that were imported, or of a watch; such runs also have samples
    results.json      every figure of the report
    report.html       the report

A run that was killed is read from its parts (`redolab.records.writing.writer`). Tables and their columns:
`redolab.records.schema`.
"""

from __future__ import annotations

import hashlib
import os
import typing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from redolab.bounds import MOST_JSON_BYTES, MOST_TABLE_BYTES
from redolab.errors import UsageError
from redolab.files.documents import parse_json_object
from redolab.files.folder import Folder
from redolab.files.tables import parse_table
from redolab.records.manifest import MOST_SAMPLES, wrong_in_manifest, wrong_in_sealed
from redolab.records.parts import Span, parts_to_read
from redolab.records.run import Run
from redolab.records.sample import Sample
from redolab.records.schema import (
    DATA,
    FORMATS,
    HASHED,
    LATER_TABLES,
    MOST_ROWS_OF_A_SAMPLE,
    RECORDS,
    TABLES,
    empty_table,
    later_columns,
    most_rows,
    sample_record,
    schema,
    table_record,
    tables_written,
    type_hints,
)
from redolab.records.sealed import FILE as SEALED

__all__ = [
    "MANIFEST", "PARTS", "Run", "list_parts", "manifest_in", "open_folder", "open_run", "read_document",
    "read_manifest", "read_parts", "read_results", "run_in",
]  # fmt: skip
MANIFEST, PARTS = "manifest.json", "parts"
"""In a run directory: the manifest, and the directory with the small files of a run that is not closed."""
_MEND = "give the directory that `redolab run` printed"
_ATTEMPTS = 100
_CHANGED = "The file was changed after the run, or another version of Redolab wrote it."
_VERIFY = "`redolab verify` lists what is wrong with the run"


def read_document(run: Run, name: str) -> dict[str, Any] | None:
    """A JSON file in the run directory; None where the run does not have a file of that name.

    Raises:
        UsageError: it is listed and gone, or cannot be read.
    """
    if name not in run.manifest["hashes"]:
        return None
    mend = "the run is not whole; `redolab verify` lists what is wrong"
    with open_folder(run.path, name, mend) as folder:
        found = _read_json(folder, name, mend)
    wrong = wrong_in_sealed(found) if name == SEALED else None
    if wrong is not None:
        raise UsageError(f"{run.path / name} is not a sealed forecast: {wrong}. {_CHANGED}")
    return found


def read_results(run: Run) -> dict[str, Any]:
    """The figures stored with the run (`results.json`).

    Raises:
        UsageError: the run was never analysed; `redolab report` does it.
    """
    mend = "`redolab report` writes it again"
    with open_folder(run.path, "results.json", mend) as folder:
        return _read_json(folder, "results.json", mend)


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The manifest of the run at `path`; no table of it is read.

    Raises:
        UsageError: there is no run, another version of Redolab wrote it, or its manifest is not valid.
    """
    with open_folder(Path(path)) as folder:
        return manifest_in(folder)


def manifest_in(folder: Folder) -> dict[str, Any]:
    """The same, of a run directory that is open.

    Raises:
        UsageError: as `read_manifest`.
    """
    place, manifest = folder.path, _read_json(folder, MANIFEST, _MEND)
    if not _is_read(manifest.get("format")):
        raise UsageError(
            f"{place} has format {str(manifest.get('format'))[:60]!r}; this version of Redolab reads the "
            f"formats {' and '.join(map(str, FORMATS))}. Read it with the version named in its manifest.json."
        )
    wrong = wrong_in_manifest(manifest, HASHED)
    if wrong is None and manifest.get("record", "sample") not in RECORDS:
        wrong = f"record is {str(manifest['record'])[:60]!r}, but must be one of {', '.join(RECORDS)}"
    if wrong is not None:
        raise UsageError(f"{place / 'manifest.json'} is not as Redolab writes it: {wrong}. {_CHANGED}")
    return manifest


def open_run(path: str | os.PathLike[str]) -> Run:
    """Read a stored run; its tables are Arrow tables (`run.samples.to_pandas()` gives a frame).

    Raises:
        UsageError: there is no run at `path`, another version of Redolab wrote it, or a file of it is not
            as Redolab writes it.
    """
    with open_folder(Path(path)) as folder:
        return run_in(folder)


def run_in(folder: Folder) -> Run:
    """The same, of a run directory that is open.

    Raises:
        UsageError: as `open_run`.
    """
    manifest = manifest_in(folder)
    record = sample_record(manifest)
    run = Run(folder.path, manifest, *_read_tables(folder, record, manifest["format"]))
    _check_samples(run)
    return run


@contextmanager
def open_folder(path: Path, name: str = MANIFEST, mend: str = _MEND) -> Iterator[Folder]:
    """A run directory, open to be read as long as the `with` block takes.

    Args:
        path: as the user named it.
        name: the file that is read from it, for the refusal.
        mend: the remedy where the file is not there.

    Raises:
        UsageError: there is no directory that can be read.
    """
    try:
        folder = Folder.to_read(path)
    except OSError as error:
        raise _unread(path, name, error, mend) from error
    with folder:
        yield folder


def _is_read(found: object) -> bool:
    """Whether this version reads that format; Redolab writes only plain numbers."""
    return isinstance(found, int) and not isinstance(found, bool) and found in FORMATS


def _read_tables(folder: Folder, record: type, stored: int) -> list[pa.Table]:
    """Every table, all of the same samples; read again where a run under way joined its parts meanwhile."""
    attempts = 0
    while True:
        attempts += 1
        with _parts_of(folder) as parts:
            spans = list_parts(parts)
            try:
                return [_read_data(folder, parts, kind, record, stored, spans) for kind in DATA]
            except UsageError as error:
                failed = error
        with _parts_of(folder) as parts:
            gone = isinstance(failed.__cause__, FileNotFoundError) and list_parts(parts) != spans
        if not gone or attempts == _ATTEMPTS:
            raise failed


def _read_data(
    folder: Folder, parts: Folder | None, kind: str, record: type, stored: int, spans: Sequence[Span]
) -> pa.Table:
    if kind not in tables_written(record):
        return empty_table(table_record(kind, record))
    name = f"{kind}.parquet"
    if folder.has(name):
        return _read_table(folder, name, kind, record, stored)
    return read_parts(parts, kind, record, stored, spans)


@contextmanager
def _parts_of(folder: Folder) -> Iterator[Folder | None]:
    """The directory of parts of a run, open; None for a closed run, which does not have parts."""
    try:
        parts = folder.inner(PARTS)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise _unread_part(folder.path / PARTS, error) from error
    with parts:
        yield parts


def list_parts(parts: Folder | None) -> list[Span]:
    """The parts of a run that was not closed, each sample once; empty without a directory of parts.

    Raises:
        UsageError: their directory cannot be read.
    """
    if parts is None:
        return []
    try:
        return parts_to_read(parts.names(2 * len(DATA) * MOST_SAMPLES))
    except OSError as error:
        raise _unread_part(parts.path, error) from error


def read_parts(
    parts: Folder | None,
    kind: str,
    record: type,
    stored: int,
    spans: Sequence[Span],
    own: Mapping[str, bytes] = MappingProxyType({}),
) -> pa.Table:
    """A table out of the parts of a run that was not closed.

    Args:
        parts: their directory; None where it does not exist.
        kind: of table: one of `schema.DATA`.
        record: of a row of `samples`.
        stored: the format that the parts have.
        spans: which of them, as `list_parts` has them.
        own: SHA-256 of the files that the caller wrote itself, by name. A file that is still as it was
            written is only decoded: its rows are checked when the whole table is read.

    Raises:
        UsageError: the parts cannot be read, or are not as Redolab writes them.
    """
    found = [empty_table(table_record(kind, record))]
    for file in [span.file(kind) for span in spans]:
        assert parts is not None, "there are parts"
        # A run stored before a table or a column existed does not have it.
        if kind not in LATER_TABLES or parts.has(file):
            found.append(_read_table(parts, file, kind, record, stored, own.get(file)))
    table = pa.concat_tables(found, promote_options="default")
    if table.num_rows > most_rows(kind):
        place = parts.path if parts is not None else PARTS
        raise UsageError(f"{place} cannot be read: it has {table.num_rows:,} rows. {_CHANGED}")
    return table


def _read_table(
    folder: Folder, name: str, kind: str, record: type, stored: int, own: bytes | None = None
) -> pa.Table:
    kept, place = table_record(kind, record), folder.path / name
    try:
        content = folder.read(name, MOST_TABLE_BYTES)
    except OSError as error:
        raise _unread_part(place, error) from error
    if own == hashlib.sha256(content).digest():
        return pq.read_table(pa.BufferReader(content), use_threads=False)
    wanted = schema(kept)
    old = FORMATS[stored] if kept is Sample else {}
    as_stored = pa.schema([field.with_name(old.get(field.name, field.name)) for field in wanted])
    later = [old.get(column, column) for column in later_columns(kept)]
    table = parse_table(content, str(place), as_stored, later, most_rows(kind), _VERIFY)
    new = {then: now for now, then in old.items()}
    return table.rename_columns([new.get(column, column) for column in table.column_names])


def _check_samples(run: Run) -> None:
    """Make sure that the rows belong to the run of the manifest.

    Raises:
        UsageError: a sample was not planned, appears twice, or has a setting that the run does not have.
    """
    numbers = run.samples.column("sample").to_pylist()
    settings = set(run.samples.column("setting").to_pylist())
    unknown = settings - {setting["name"] for setting in run.manifest["settings"]}
    planned = run.manifest.get("order")
    wrong: str | None
    if unknown:
        wrong = f"a sample has the setting {min(unknown)[:60]!r}, which is not a setting of the run"
    elif len(set(numbers)) != len(numbers):
        wrong = "a sample appears twice"
    elif planned is not None and not set(numbers) <= {trial["sample"] for trial in planned}:
        wrong = "a sample is not in the plan"
    else:
        wrong = _odd_row(run)
    if wrong is not None:
        raise UsageError(f"The samples of {run.path} are not as Redolab writes them: {wrong}. {_CHANGED}")


def _odd_row(run: Run) -> str | None:
    """The first row of a table that fits no sample, or has a text that its record does not allow."""
    tables = {"samples": sample_record(run.manifest), **TABLES}
    for kind, record in tables.items():
        table = getattr(run, kind)
        if table.num_rows > MOST_ROWS_OF_A_SAMPLE * run.samples.num_rows:
            return f"{kind} has {table.num_rows:,} rows for only {run.samples.num_rows:,} samples"
        known = pc.is_in(table["sample"].unique(), run.samples["sample"].unique())
        if pc.any(pc.invert(known)).as_py():
            return f"a row of {kind} belongs to no sample"
        for name, hint in type_hints(record).items():
            if typing.get_origin(hint) is typing.Literal and name in table.column_names:
                odd = set(table.column(name).unique().to_pylist()) - {*typing.get_args(hint), None}
                if odd:
                    return (
                        f"{kind} has {min(odd)[:60]!r} in the column {name}, which is not one of its values"
                    )
    return None


def _read_json(folder: Folder, name: str, mend: str) -> dict[str, Any]:
    try:
        content = folder.read(name, MOST_JSON_BYTES)
    except OSError as error:
        raise _unread(folder.path, name, error, mend) from error
    return parse_json_object(content, str(folder.path / name), mend)


def _unread(path: Path, name: str, error: OSError, mend: str) -> UsageError:
    if isinstance(error, FileNotFoundError):
        return UsageError(f"{path / name} does not exist, so {path} holds no stored run; {mend}.")
    return UsageError(f"{path / name} cannot be read ({error.strerror}); {mend}.")


def _unread_part(place: Path, error: OSError) -> UsageError:
    return UsageError(f"{place} cannot be read: {error.strerror}. {_CHANGED}")

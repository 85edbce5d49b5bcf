"""The run directory as it is read: what was measured, without any database, and all of it after a crash.

    manifest.json     design, order, machine, server, parameters changed, hashes
    samples.parquet   one row per sample (fields and units: `redolab.records.sample`)
    waits.parquet     ticks per sample, wait event and scheduler state
    profile.parquet   CPU and run queue per sample and server process
    overhead.parquet  throughput with the wait sampler on and off, in pairs
    latency.parquet   histograms of commit and response times per sample, where they were noted
    entries.parquet   figures of reports that were imported, or of a watch; such runs have samples beside it
    results.json      every figure of the report
    report.html       the report

A run that was killed is read from its parts (`redolab.records.writer`). Tables and their columns:
`redolab.records.schema`.
"""

from __future__ import annotations

import os
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from redolab.bounds import MOST_JSON_BYTES, MOST_TABLE_BYTES
from redolab.errors import UsageError
from redolab.files.documents import parse_json_object
from redolab.files.foreign import names_inside, read_inside
from redolab.files.tables import parse_table
from redolab.records.manifest import MOST_SAMPLES, wrong_in_manifest, wrong_in_sealed
from redolab.records.parts import Span, standing
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
    later_columns,
    most_rows,
    sample_record,
    schema,
    table_record,
    tables_written,
    type_hints,
)
from redolab.records.sealed import FILE as SEALED

__all__ = ["Run", "list_parts", "open_run", "read_document", "read_manifest", "read_parts", "read_results"]
_ATTEMPTS = 100
_CHANGED = "It was changed after the run, or another version wrote it."


def read_document(run: Run, name: str) -> dict[str, Any] | None:
    """A file of JSON beside the tables; None where the run has none of that name.

    Raises:
        UsageError: it is listed and gone, or cannot be read.
    """
    if name not in run.manifest["hashes"]:
        return None
    found = _read_json(run.path, name, "the run is not whole; `redolab verify` says more")
    wrong = wrong_in_sealed(found) if name == SEALED else None
    if wrong is not None:
        raise UsageError(f"{run.path / name} is no sealed forecast: {wrong}.")
    return found


def read_results(run: Run) -> dict[str, Any]:
    """The figures stored with the run (`results.json`).

    Raises:
        UsageError: the run was never analysed; `redolab report` does it.
    """
    return _read_json(run.path, "results.json", "redolab report writes it anew")


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What the run at `path` says of itself; no table of it is read.

    Raises:
        UsageError: there is no run, another version of Redolab wrote it, or it says what no run can.
    """
    place = Path(path)
    manifest = _read_json(place, "manifest.json", "give the directory that `redolab run` printed")
    if not _is_read(manifest.get("format")):
        raise UsageError(
            f"{place} has format {str(manifest.get('format'))[:60]!r}; "
            f"this Redolab reads the formats {' and '.join(map(str, FORMATS))}. "
            "Read it with the version named in its manifest.json."
        )
    wrong = wrong_in_manifest(manifest, HASHED)
    if wrong is None and manifest.get("record", "sample") not in RECORDS:
        wrong = f"record is {str(manifest['record'])[:60]!r}, and must be one of {', '.join(RECORDS)}"
    if wrong is not None:
        raise UsageError(f"{place / 'manifest.json'} is not as Redolab writes it: {wrong}. {_CHANGED}")
    return manifest


def open_run(path: str | os.PathLike[str]) -> Run:
    """Read a stored run; its tables are Arrow tables (`run.samples.to_pandas()` gives a frame).

    Raises:
        UsageError: there is no run at `path`, another version of Redolab wrote it, or a file of it is not
            as Redolab writes it.
    """
    place, manifest = Path(path), read_manifest(path)
    record = sample_record(manifest)
    run = Run(place, manifest, *_read_tables(place, record, manifest["format"]))
    _check_samples(run)
    return run


def _is_read(found: object) -> bool:
    """Whether this version reads that format; one that is no plain number was not written by Redolab."""
    return isinstance(found, int) and not isinstance(found, bool) and found in FORMATS


def _read_tables(place: Path, record: type, stored: int) -> list[pa.Table]:
    """Every table, all of the same samples; anew where a run under way joined its parts meanwhile."""
    attempts = 0
    while True:
        parts, attempts = list_parts(place), attempts + 1
        try:
            return [_read_data(place, kind, record, stored, parts) for kind in DATA]
        except UsageError as error:
            gone = isinstance(error.__cause__, FileNotFoundError) and list_parts(place) != parts
            if not gone or attempts == _ATTEMPTS:
                raise


def _read_data(path: Path, kind: str, record: type, stored: int, parts: Sequence[Span]) -> pa.Table:
    if kind not in tables_written(record):
        return schema(table_record(kind, record)).empty_table()
    name = f"{kind}.parquet"
    if os.path.lexists(path / name):
        return _read_table(path, name, kind, record, stored)
    return read_parts(path, kind, record, stored, parts)


def list_parts(path: Path) -> list[Span]:
    """The parts of a run that was not closed, each sample once.

    Raises:
        UsageError: their directory cannot be read.
    """
    try:
        return standing(names_inside(path, "parts", 2 * len(DATA) * MOST_SAMPLES))
    except OSError as error:
        raise UsageError(f"{path / 'parts'} cannot be read: {error.strerror}. {_CHANGED}") from error


def read_parts(path: Path, kind: str, record: type, stored: int, parts: Sequence[Span]) -> pa.Table:
    """A table out of the parts of a run that was not closed.

    Args:
        path: of the run directory.
        kind: of table: one of `schema.DATA`.
        record: of a row of `samples`.
        stored: the format that the parts have.
        parts: which of them, as `list_parts` has them.

    Raises:
        UsageError: the parts cannot be read, or are not as Redolab writes them.
    """
    # A run stored before a table or a column existed has none.
    files = [f"parts/{span.file(kind)}" for span in parts]
    tables = [
        _read_table(path, file, kind, record, stored)
        for file in files
        if kind not in LATER_TABLES or os.path.lexists(path / file)
    ]
    shape = schema(table_record(kind, record))
    found = pa.concat_tables([shape.empty_table(), *tables], promote_options="default")
    if found.num_rows > most_rows(kind):
        raise UsageError(f"{path / 'parts'} cannot be read: it has {found.num_rows:,} rows. {_CHANGED}")
    return found


def _read_table(path: Path, name: str, kind: str, record: type, stored: int) -> pa.Table:
    kept = table_record(kind, record)
    try:
        content = read_inside(path, name, MOST_TABLE_BYTES)
    except OSError as error:
        raise UsageError(f"{path / name} cannot be read: {error.strerror}. {_CHANGED}") from error
    wanted = schema(kept)
    old = FORMATS[stored] if kept is Sample else {}
    as_stored = pa.schema([field.with_name(old.get(field.name, field.name)) for field in wanted])
    later = [old.get(column, column) for column in later_columns(kept)]
    table = parse_table(
        content, str(path / name), as_stored, later, most_rows(kind), "`redolab verify` says more"
    )
    new = {then: now for now, then in old.items()}
    return table.rename_columns([new.get(column, column) for column in table.column_names])


def _check_samples(run: Run) -> None:
    """Make sure that the rows are those of the run that the manifest tells of.

    Raises:
        UsageError: a sample that was not planned or stands there twice, or of a setting that is none.
    """
    numbers = run.samples.column("sample").to_pylist()
    settings = set(run.samples.column("setting").to_pylist())
    unknown = settings - {setting["name"] for setting in run.manifest["settings"]}
    planned = run.manifest.get("order")
    wrong: str | None
    if unknown:
        wrong = f"a sample is of {min(unknown)[:60]!r}, which is no setting of the run"
    elif len(set(numbers)) != len(numbers):
        wrong = "a sample stands there twice"
    elif planned is not None and not set(numbers) <= {trial["sample"] for trial in planned}:
        wrong = "a sample is none that was planned"
    else:
        wrong = _odd_row(run)
    if wrong is not None:
        raise UsageError(f"The samples of {run.path} are not as Redolab writes them: {wrong}. {_CHANGED}")


def _odd_row(run: Run) -> str | None:
    """What in a table fits no sample, or none of the few texts that its record has to choose from."""
    tables = {"samples": sample_record(run.manifest), **TABLES}
    for kind, record in tables.items():
        table = getattr(run, kind)
        if table.num_rows > MOST_ROWS_OF_A_SAMPLE * run.samples.num_rows:
            return f"{kind} has {table.num_rows:,} rows of {run.samples.num_rows:,} samples"
        known = pc.is_in(table["sample"].unique(), run.samples["sample"].unique())
        if pc.any(pc.invert(known)).as_py():
            return f"a row of {kind} belongs to no sample"
        for name, hint in type_hints(record).items():
            if typing.get_origin(hint) is typing.Literal and name in table.column_names:
                odd = set(table.column(name).unique().to_pylist()) - {*typing.get_args(hint), None}
                if odd:
                    return f"{name} is {min(odd)[:60]!r} in {kind}"
    return None


def _read_json(path: Path, name: str, mend: str) -> dict[str, Any]:
    place = path / name
    try:
        content = read_inside(path, name, MOST_JSON_BYTES)
    except FileNotFoundError as error:
        raise UsageError(f"{place} does not exist, so {path} holds no stored run; {mend}.") from error
    except OSError as error:
        raise UsageError(f"{place} cannot be read ({error.strerror}); {mend}.") from error
    return parse_json_object(content, str(place), mend)

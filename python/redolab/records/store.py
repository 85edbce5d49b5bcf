"""The run directory: what was measured, readable without Redolab and complete after a crash.

    manifest.json     design, order, machine, server, parameters changed, hashes
    samples.parquet   one row per sample (fields and units: `redolab.records.sample`)
    waits.parquet     ticks per sample, wait event and scheduler state
    profile.parquet   CPU and run queue per sample and server process
    overhead.parquet  throughput with the wait sampler on and off, in pairs
    latency.parquet   histograms of commit and response times per sample, where they were noted
    results.json      every figure of the report
    report.html       the report

While a run is under way each sample is a small Parquet file of its own under `parts/`, complete
on disk before the next sample starts; closing the run joins them. A run that was killed is read
from its parts.
"""

from __future__ import annotations

import dataclasses
import errno
import fcntl
import functools
import hashlib
import os
import time
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from redolab.errors import RefusedError, UsageError
from redolab.files.directories import empty_directory, make_directories, remove_tree
from redolab.files.foreign import (
    MOST_JSON_BYTES,
    MOST_TABLE_BYTES,
    names_inside,
    parse_json_object,
    parse_table,
    read_inside,
)
from redolab.files.writing import write_file, write_json
from redolab.records.manifest import MOST_SAMPLES, wrong_in_manifest, wrong_in_sealed
from redolab.records.sample import Draw, Kill, LatencyRow, OverheadRow, ProcessTime, Sample, WaitRow
from redolab.records.sealed import FILE as SEALED

FORMAT = 2
_RENAMED: Mapping[int, Mapping[str, str]] = {
    1: {
        "log_bytes": "wal_bytes",
        "log_full_page_images": "wal_full_page_images",
        "log_writes": "wal_writes",
        "log_write_time_s": "wal_write_time_s",
        "log_flushes": "wal_flushes",
        "log_flush_time_s": "wal_flush_time_s",
    },
    FORMAT: {},
}
"""Every format that is read: columns of `Sample`, and the names that they had in it."""
RECORDS: Mapping[str, type] = {"sample": Sample, "kill": Kill, "draw": Draw}
_TABLES: Mapping[str, type] = {
    "waits": WaitRow,
    "profile": ProcessTime,
    "overhead": OverheadRow,
    "latency": LatencyRow,
}
"""The tables beside `samples`, and their records."""
_LATER = ("overhead", "latency")
"""Those that runs stored before them do not have."""
_DATA = ("samples", *_TABLES)
_DOCUMENTS = ("results.json", "league.json", "forecast.json")
HASHED = (*(f"{kind}.parquet" for kind in _DATA), *_DOCUMENTS)
"""The files whose hashes a manifest may have."""
_MOST_ROWS: Mapping[str, int] = {"samples": MOST_SAMPLES}
_MOST_OTHER_ROWS = 5_000_000
_MOST_ROWS_OF_A_SAMPLE = 100_000
_LOCK_S = 5.0
"""How long another writer of the same directory is waited for; each needs it for milliseconds."""
_ARROW = {
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bool: pa.bool_(),
    tuple[float, ...]: pa.list_(pa.float64()),
}


@dataclass(frozen=True)
class Run:
    """A stored run, read without any database."""

    path: Path
    manifest: dict[str, Any]
    samples: pa.Table
    waits: pa.Table
    profile: pa.Table
    overhead: pa.Table
    latency: pa.Table

    def document(self, name: str) -> dict[str, Any] | None:
        """A file of JSON beside the tables; None where this run has none of that name.

        Raises:
            UsageError: it is listed and gone, or cannot be read.
        """
        if name not in self.manifest["hashes"]:
            return None
        found = _read_json(self.path, name, "the run is not whole; `redolab verify` says more")
        wrong = wrong_in_sealed(found) if name == SEALED else None
        if wrong is not None:
            raise UsageError(f"{self.path / name} is no sealed forecast: {wrong}.")
        return found

    def results(self) -> dict[str, Any]:
        """The figures stored with the run (`results.json`).

        Raises:
            UsageError: the run was never analysed; `redolab report` does it.
        """
        return _read_json(self.path, "results.json", "redolab report writes it anew")


@functools.cache
def schema(record: type) -> pa.Schema:
    """The Arrow schema of a record: its fields, their types, and their documentation as metadata."""
    hints = _hints(record)
    fields = []
    for item in dataclasses.fields(record):
        plain, nullable = _plain_type(hints[item.name])
        doc = item.metadata.get("doc")
        fields.append(pa.field(item.name, _ARROW[plain], nullable, {"doc": doc} if doc else None))
    return pa.schema(fields)


# They are written as text, and each reading compiles it.
_hints = functools.cache(typing.get_type_hints)


class RunWriter:
    """Writes one run; every record is on disk when `append` returns."""

    def __init__(
        self,
        path: Path,
        manifest: Mapping[str, Any],
        documents: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Make the run directory.

        Args:
            path: where.
            manifest: what the run says of itself.
            documents: what stands in it from the beginning on, by file name, as JSON.

        Raises:
            UsageError: the directory exists and is not empty, or the place cannot be written.
        """
        check_free(path)
        try:
            make_directories(path / "parts", 0o777)
            # Whatever becomes of the name meanwhile, what is removed at the end is in this directory.
            self._directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError(
                f"The run directory {path} cannot be made: {error.strerror}. "
                "Give --out a place you may write to."
            ) from error
        self.path = path
        self.samples = 0
        """How many are on disk."""
        self.record = RECORDS[manifest.get("record", "sample")]
        self.manifest: dict[str, Any] = {
            "format": FORMAT,
            **manifest,
            "status": "running",
            "hashes": {},
        }
        with _naming_the_disk(path):
            for name, content in (documents or {}).items():
                write_json(path / name, content)
                self.manifest["hashes"][name] = file_hash(path / name)
        self.save_manifest()

    def append(
        self,
        record: Sample | Kill | Draw,
        waits: Sequence[WaitRow] = (),
        profile: Sequence[ProcessTime] = (),
        overhead: Sequence[OverheadRow] = (),
        latency: Sequence[LatencyRow] = (),
    ) -> None:
        """Store one sample with its waits, its process times, its on/off pairs and its commit times."""
        tables: Mapping[str, Sequence[Any]] = {
            "waits": waits,
            "profile": profile,
            "overhead": overhead,
            "latency": latency,
            "samples": (record,),
        }
        with _naming_the_disk(self.path):
            for kind, rows in tables.items():
                part = self.path / "parts" / f"{kind}-{record.sample:06d}.parquet"
                _write_table(_table(_record_type(kind, self.record), rows), part)
        self.samples += 1

    def discard(self) -> None:
        """Remove a run without samples: it has nothing to tell, and would only block its place."""
        empty_directory(self._directory)
        os.close(self._directory)
        with suppress(OSError):
            self.path.rmdir()

    def save_manifest(self, **updates: Any) -> None:
        """Write the manifest with `updates`; the file is always whole."""
        self.manifest.update(updates)
        with _naming_the_disk(self.path), _alone_in(self.path):
            write_json(self.path / "manifest.json", self.manifest)

    def finish(self, status: str, **updates: Any) -> Run:
        """Join the parts and close the run with `status` (`finished`, `interrupted` or `failed`)."""
        with _naming_the_disk(self.path):
            hashes = dict(self.manifest["hashes"])
            for kind in _DATA:
                table = _read_parts(self.path, kind, self.record, FORMAT)
                _write_table(table, self.path / f"{kind}.parquet")
                hashes[f"{kind}.parquet"] = file_hash(self.path / f"{kind}.parquet")
        self.save_manifest(status=status, hashes=hashes, **updates)
        remove_tree("parts", self._directory)
        os.close(self._directory)
        return open_run(self.path)


def check_free(path: Path) -> None:
    """Make sure that a run may be stored at `path`.

    Raises:
        UsageError: something is there already, or the place cannot be looked at.
    """
    try:
        free = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be looked at: {error.strerror}. Give --out a place you may write to."
        ) from error
    if not free:
        raise UsageError(
            f"{path} exists already, and a run never overwrites another. "
            "Give --out a new directory, or remove that one first."
        )


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
            f"this Redolab reads the formats {' and '.join(map(str, _RENAMED))}. "
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
    record = RECORDS[manifest.get("record", "sample")]
    run = Run(place, manifest, *(_read_data(place, kind, record, manifest["format"]) for kind in _DATA))
    _check_samples(run)
    return run


def write_results(run: Run, results: Mapping[str, Any]) -> None:
    """Store the figures of a run and their hash."""
    write_document(run, "results.json", results)


def write_document(run: Run, name: str, content: Mapping[str, Any]) -> None:
    """Store a file of JSON beside the tables of a run, and its hash.

    Of the manifest that now stands there nothing but this hash is changed.

    Raises:
        UsageError: the run has gone on since it was read.
        RefusedError: the directory cannot be written.
    """
    with _naming_the_disk(run.path), _alone_in(run.path):
        manifest = _still(run)
        write_json(run.path / name, content)
        hashed = {name: file_hash(run.path / name)}
        run.manifest["hashes"].update(hashed)
        manifest["hashes"].update(hashed)
        write_json(run.path / "manifest.json", manifest)


def write_report(run: Run, page: str) -> None:
    """Store the page of a run.

    Raises:
        UsageError: the run has gone on since it was read.
        RefusedError: the directory cannot be written.
    """
    with _naming_the_disk(run.path), _alone_in(run.path):
        _still(run)
        write_file(run.path / "report.html", page.encode())


def file_hash(path: Path) -> str:
    """SHA-256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _plain_type(hint: Any) -> tuple[type, bool]:
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        return _plain_type(members[0])[0], True
    if typing.get_origin(hint) is typing.Literal:
        return str, False
    return hint, False


def _table(record: type, rows: Iterable[Any]) -> pa.Table:
    return pa.Table.from_pylist([dataclasses.asdict(row) for row in rows], schema=schema(record))


def _write_table(table: pa.Table, path: Path) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_file(path, sink.getvalue().to_pybytes())


def _record_type(kind: str, record: type) -> type:
    return _TABLES.get(kind, record)


def _is_read(found: object) -> bool:
    """Whether this version reads that format; one that is no plain number was not written by Redolab."""
    return isinstance(found, int) and not isinstance(found, bool) and found in _RENAMED


def _read_data(path: Path, kind: str, record: type, stored: int) -> pa.Table:
    name = f"{kind}.parquet"
    if os.path.lexists(path / name):
        return _read_table(path, name, kind, record, stored)
    return _read_parts(path, kind, record, stored)


def _read_parts(path: Path, kind: str, record: type, stored: int) -> pa.Table:
    try:
        names = names_inside(path, "parts", 2 * len(_DATA) * MOST_SAMPLES)
    except OSError as error:
        raise UsageError(f"{path / 'parts'} cannot be read: {error.strerror}. {_CHANGED}") from error
    # A sample counts from the moment its row stands on disk; its other tables went before it.
    parts = [
        f"parts/{name.replace('samples-', f'{kind}-', 1)}"
        for name in names
        if name.startswith("samples-") and name.endswith(".parquet")
    ]
    # A run stored before a table or a column existed has none.
    tables = [
        _read_table(path, part, kind, record, stored)
        for part in parts
        if kind not in _LATER or os.path.lexists(path / part)
    ]
    shape = schema(_record_type(kind, record))
    found = pa.concat_tables([shape.empty_table(), *tables], promote_options="default")
    if found.num_rows > _most_rows(kind):
        raise UsageError(f"{path / 'parts'} cannot be read: it has {found.num_rows:,} rows. {_CHANGED}")
    return found


def _read_table(path: Path, name: str, kind: str, record: type, stored: int) -> pa.Table:
    kept = _record_type(kind, record)
    later = [item.name for item in dataclasses.fields(kept) if item.default is not dataclasses.MISSING]
    try:
        content = read_inside(path, name, MOST_TABLE_BYTES)
    except OSError as error:
        raise UsageError(f"{path / name} cannot be read: {error.strerror}. {_CHANGED}") from error
    wanted = schema(kept)
    old = _RENAMED[stored] if kept is Sample else {}
    as_stored = pa.schema([field.with_name(old.get(field.name, field.name)) for field in wanted])
    table = parse_table(
        content, str(path / name), as_stored, later, _most_rows(kind), "`redolab verify` says more"
    )
    new = {then: now for now, then in old.items()}
    return table.rename_columns([new.get(column, column) for column in table.column_names])


def _most_rows(kind: str) -> int:
    return _MOST_ROWS.get(kind, _MOST_OTHER_ROWS)


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
    tables = {"samples": RECORDS[run.manifest.get("record", "sample")], **_TABLES}
    for kind, record in tables.items():
        table = getattr(run, kind)
        if table.num_rows > _MOST_ROWS_OF_A_SAMPLE * run.samples.num_rows:
            return f"{kind} has {table.num_rows:,} rows of {run.samples.num_rows:,} samples"
        known = pc.is_in(table["sample"].unique(), run.samples["sample"].unique())
        if pc.any(pc.invert(known)).as_py():
            return f"a row of {kind} belongs to no sample"
        for name, hint in _hints(record).items():
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


_CHANGED = "It was changed after the run, or another version wrote it."


def _still(run: Run) -> dict[str, Any]:
    """The manifest as it now stands on disk, of the same data as the run that was read.

    A run that ends while it is reported writes its own manifest, and what was read is not all of it.
    """
    manifest = read_manifest(run.path)
    seen, now = run.manifest, manifest
    tables = [f"{kind}.parquet" for kind in _DATA]
    if seen["status"] != now["status"] or any(
        seen["hashes"].get(name) != now["hashes"].get(name) for name in tables
    ):
        raise UsageError(
            f"The run {run.path} went on while it was reported, and nothing was written. "
            f"`redolab report {run.path}` reports it as it now is."
        )
    return manifest


@contextmanager
def _alone_in(path: Path) -> Iterator[None]:
    """For one writer of a run directory at a time; where the file system has no locks, for any."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        last = time.monotonic() + _LOCK_S
        while True:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > last:
                    raise RefusedError(
                        f"Another process has held the run directory {path} for {_LOCK_S:g} s. End it, or "
                        "wait until it is done."
                    ) from error
                time.sleep(0.02)
            except OSError:
                break
        yield
    finally:
        os.close(folder)


class _naming_the_disk:  # noqa: N801
    """Turns an operating-system error under the run directory into one that says what to do."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            raise RefusedError(
                f"The run directory {self.path} cannot be written: {error.strerror}. "
                + ("Free some space there, or give --out a place with room. " if full else "")
                + f"Every sample finished before is kept; `redolab report {self.path}` reads them."
            ) from error

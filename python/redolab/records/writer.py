"""The run directory as it is written: every record is on disk before the next sample, every file is whole.

While a run is under way each sample is a small Parquet file of each table under `parts/`; closing the run
joins them. Whoever writes the manifest of a stored run locks its directory.
"""

from __future__ import annotations

import dataclasses
import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from redolab.errors import RefusedError, UsageError
from redolab.files.directories import empty_directory, make_directories, remove_tree
from redolab.files.writing import write_file, write_json
from redolab.records.parts import Span
from redolab.records.report import Entry, Report
from redolab.records.sample import Draw, Kill, LatencyRow, OverheadRow, ProcessTime, Sample, WaitRow
from redolab.records.schema import DATA, FORMAT, sample_record, schema, table_record, tables_written
from redolab.records.store import Run, list_parts, open_run, read_manifest, read_parts
from redolab.records.watched import Watched

_LOCK_S = 5.0
"""How long another writer of the same directory is waited for; each needs it for milliseconds."""


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
        self._take(path, {"format": FORMAT, **manifest, "status": "running", "hashes": {}})
        with naming_the_disk(path):
            for name, content in (documents or {}).items():
                write_json(path / name, content)
                self.manifest["hashes"][name] = file_hash(path / name)
        self.save_manifest()

    def _take(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path, self.manifest, self.record = path, manifest, sample_record(manifest)
        self.samples = 0
        """How many are on disk."""

    def append(
        self,
        record: Sample | Kill | Draw | Report | Watched,
        waits: Sequence[WaitRow] = (),
        profile: Sequence[ProcessTime] = (),
        overhead: Sequence[OverheadRow] = (),
        latency: Sequence[LatencyRow] = (),
        entries: Sequence[Entry] = (),
    ) -> None:
        """Store one sample with its waits, its process times, its on/off pairs and its commit times.

        Of a report that is imported, and of what was watched, there are entries alone.
        """
        tables: Mapping[str, Sequence[Any]] = {
            "waits": waits,
            "profile": profile,
            "overhead": overhead,
            "latency": latency,
            "entries": entries,
            "samples": (record,),
        }
        with naming_the_disk(self.path):
            written = tables_written(self.record)
            for kind, rows in tables.items():
                if kind not in written:
                    continue
                part = self.path / "parts" / Span(record.sample, record.sample).file(kind)
                write_table(_table(table_record(kind, self.record), rows), part)
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
        with naming_the_disk(self.path), _alone_in(self.path):
            write_json(self.path / "manifest.json", self.manifest)

    def finish(self, status: str, **updates: Any) -> Run:
        """Join the parts and close the run with `status` (`finished`, `interrupted` or `failed`)."""
        with naming_the_disk(self.path):
            hashes, parts = dict(self.manifest["hashes"]), list_parts(self.path)
            for kind in tables_written(self.record):
                table = read_parts(self.path, kind, self.record, FORMAT, parts)
                write_table(table, self.path / f"{kind}.parquet")
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
    with naming_the_disk(run.path), _alone_in(run.path):
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
    with naming_the_disk(run.path), _alone_in(run.path):
        _still(run)
        write_file(run.path / "report.html", page.encode())


def file_hash(path: Path) -> str:
    """SHA-256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _table(record: type, rows: Iterable[Any]) -> pa.Table:
    names, kept = [item.name for item in dataclasses.fields(record)], list(rows)
    columns = {name: [getattr(row, name) for row in kept] for name in names}
    return pa.Table.from_pydict(columns, schema=schema(record))


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as a file, whole."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_file(path, sink.getvalue().to_pybytes())


def _still(run: Run) -> dict[str, Any]:
    """The manifest as it now stands on disk, of the same data as the run that was read.

    A run that ends while it is reported writes its own manifest, and what was read is not all of it.
    """
    manifest = read_manifest(run.path)
    seen, now = run.manifest, manifest
    tables = [f"{kind}.parquet" for kind in DATA]
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


class naming_the_disk:  # noqa: N801
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

"""The run directory as it is written: every record is on disk before the next sample, every file is whole.

While a run is under way each sample is a small Parquet file of each table under `parts/`; closing the run
joins them. A process that writes the manifest of a stored run locks its directory.
"""

from __future__ import annotations

import dataclasses
import errno
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
from redolab.files import system
from redolab.files.directories import UnsafeError
from redolab.files.folder import Folder
from redolab.records.draw import Draw
from redolab.records.parts import Span, is_part
from redolab.records.report import Entry, Report
from redolab.records.sample import Kill, LatencyRow, OverheadRow, ProcessTime, Sample, WaitRow
from redolab.records.schema import DATA, FORMAT, sample_record, schema, table_record, tables_written
from redolab.records.store import MANIFEST, PARTS, Run, list_parts, manifest_in, read_parts, run_in
from redolab.records.watched import Watched

_LOCK_S = 5.0
"""Longest wait for another writer of the same directory; each needs it for milliseconds."""


class RunWriter:
    """Writes one run; every record is on disk when `append` returns."""

    _made_here: os.stat_result | None = None
    """The directory, where this writer made it."""

    def __init__(
        self,
        path: Path,
        manifest: Mapping[str, Any],
        documents: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Make the run directory.

        Args:
            path: where.
            manifest: of the run.
            documents: JSON files that it has from the beginning on, by file name.

        Raises:
            UsageError: the directory exists and is not empty, or the place cannot be written.
            RefusedError: root would write where others can, or there is no room.
        """
        check_free(path)
        self._take(path, {"format": FORMAT, **manifest, "status": "running", "hashes": {}})
        self._folder, self._parts = _made(path)
        self._made_here = self._folder.status()
        try:
            with naming_the_disk(path, self.kept):
                for name, content in (documents or {}).items():
                    self._folder.write_json(name, content)
                    self.manifest["hashes"][name] = self._folder.hash(name)
            self.save_manifest()
        except BaseException:
            self.discard()
            raise

    def _take(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path, self.manifest, self.record = path, manifest, sample_record(manifest)
        # Arrow imports what it needs with its first table, and that must not take time between two samples.
        as_parquet(_table(self.record, ()))
        self.samples = 0
        """Samples on disk."""
        self.changes_before: list[dict[str, Any]] = list(manifest.get("parameter_changes", ()))
        """Changes of parameters that the run had before this writer."""
        self._own: dict[str, bytes] = {}
        """SHA-256 of the small parts written here, by file name."""

    @property
    def kept(self) -> str:
        """A sentence on the data that stay on disk whatever happens."""
        if not self.samples:
            return "No sample was finished yet, so none is lost."
        return f"Every sample finished before is kept; `redolab report {self.path}` reads them."

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

        Imported reports and stretches of a watch have only entries.
        """
        tables: Mapping[str, Sequence[Any]] = {
            "waits": waits,
            "profile": profile,
            "overhead": overhead,
            "latency": latency,
            "entries": entries,
            "samples": (record,),
        }
        with naming_the_disk(self.path, self.kept):
            written = tables_written(self.record)
            for kind, rows in tables.items():
                if kind in written:
                    part = Span(record.sample, record.sample).file(kind)
                    content = as_parquet(_table(table_record(kind, self.record), rows))
                    self._parts.write(part, content)
                    self._own[part] = hashlib.sha256(content).digest()
        self.samples += 1

    def discard(self) -> None:
        """Remove a run without results, which would only block its place; `finish` may have failed."""
        tables = (f"{kind}.parquet" for kind in tables_written(self.record))
        with suppress(OSError):
            if self._folder.fileno() < 0 and not self._opened_again():
                return
            self._close_parts()
            self._folder.remove(MANIFEST, *self.manifest["hashes"], *tables)
        self._folder.vanish()

    def _opened_again(self) -> bool:
        """Open the directory that was made here again; whether it is still the one of that name."""
        folder = Folder.to_write(self.path, alone=True)
        if self._made_here is None or not os.path.samestat(folder.status(), self._made_here):
            folder.close()
            return False
        self._folder, self._parts = folder, folder.inner(PARTS)
        return True

    def save_manifest(self, **updates: Any) -> None:
        """Write the manifest with `updates`; the file is always whole."""
        self.manifest.update(updates)
        with naming_the_disk(self.path, self.kept), _alone_in(self._folder):
            self._folder.write_json(MANIFEST, self.manifest)

    def finish(self, status: str, **updates: Any) -> Run:
        """Join the parts and close the run with `status` (`finished`, `interrupted` or `failed`)."""
        with self._folder, self._parts:
            with naming_the_disk(self.path, self.kept):
                hashes, spans = dict(self.manifest["hashes"]), list_parts(self._parts)
                for kind in tables_written(self.record):
                    table = read_parts(self._parts, kind, self.record, FORMAT, spans, self._own)
                    self._folder.write(f"{kind}.parquet", as_parquet(table))
                    hashes[f"{kind}.parquet"] = self._folder.hash(f"{kind}.parquet")
            self.save_manifest(status=status, hashes=hashes, **updates)
            with suppress(OSError):
                self._close_parts()
            return run_in(self._folder)

    def _close_parts(self) -> None:
        with self._parts:
            self._parts.clear(is_part)
            self._folder.remove_inner(self._parts)


def check_free(path: Path) -> None:
    """Make sure that a run may be stored at `path`; nothing is made.

    Raises:
        UsageError: something is there already, or the place cannot be checked.
        RefusedError: root would write where others can.
    """
    try:
        with Folder.to_write(path, alone=True) as folder:
            free = not folder.names()
    except FileNotFoundError:
        free = not os.path.lexists(path)
    except UnsafeError as error:
        raise unsafe(path, error) from error
    except OSError as error:
        # Not a directory: the path itself is a file, unless a part of the way to it is one.
        if not isinstance(error, NotADirectoryError) or not os.path.lexists(path):
            raise UsageError(
                f"{path} cannot be checked: {error.strerror}. Give --out a place that you may write to."
            ) from error
        free = False
    if not free:
        raise UsageError(
            f"{path} exists already, and a run never overwrites another. Give --out a new directory, or "
            "remove this one first."
        )


def _made(path: Path) -> tuple[Folder, Folder]:
    """The directory of a new run and the directory of its parts, both open."""
    try:
        folder = Folder.to_write(path, 0o777, alone=True)
        try:
            # The process that makes this directory first has the place.
            return folder, folder.inner(PARTS, make=True)
        except BaseException:
            folder.close()
            raise
    except UnsafeError as error:
        raise unsafe(path, error) from error
    except OSError as error:
        raise UsageError(
            f"The run directory {path} cannot be made: {error.strerror}. Give --out a place that you may "
            "write to."
        ) from error


def unsafe(path: Path, error: UnsafeError) -> RefusedError:
    """The refusal of a place where root would write and others can."""
    return RefusedError(
        f"Redolab does not store a run at {path} as root: {error.strerror}. Give --out a directory that only "
        "root can write to or replace, or run redolab as the owner of the directory."
    )


def write_results(run: Run, results: Mapping[str, Any]) -> None:
    """Store the figures of a run and their hash."""
    write_document(run, "results.json", results)


def write_document(run: Run, name: str, content: Mapping[str, Any]) -> None:
    """Store a JSON file in the directory of a run, and its hash.

    In the manifest that is on disk, only this hash is changed.

    Raises:
        UsageError: the run has changed since it was read.
        RefusedError: the directory cannot be written.
    """
    with _to_report(run) as folder:
        manifest = _still(run, folder)
        folder.write_json(name, content)
        hashed = {name: folder.hash(name)}
        run.manifest["hashes"].update(hashed)
        manifest["hashes"].update(hashed)
        folder.write_json(MANIFEST, manifest)


def write_report(run: Run, page: str) -> None:
    """Store the page of a run.

    Raises:
        UsageError: the run has changed since it was read.
        RefusedError: the directory cannot be written.
    """
    with _to_report(run) as folder:
        _still(run, folder)
        folder.write("report.html", page.encode())


def _table(record: type, rows: Iterable[Any]) -> pa.Table:
    names, kept = [item.name for item in dataclasses.fields(record)], list(rows)
    columns = {name: [getattr(row, name) for row in kept] for name in names}
    return pa.Table.from_pydict(columns, schema=schema(record))


def as_parquet(table: pa.Table) -> bytes:
    """A table as the bytes of a file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


@contextmanager
def _to_report(run: Run) -> Iterator[Folder]:
    """The directory of a stored run, for this writer alone; links in it cannot lead root out of it."""
    kept = f"All samples are kept; `redolab report {run.path}` reads them."
    with naming_the_disk(run.path, kept), Folder.to_write(run.path) as folder, _alone_in(folder):
        yield folder


def _still(run: Run, folder: Folder) -> dict[str, Any]:
    """The manifest that is now on disk, of the same data as the run that was read.

    A run that ends while it is reported writes its own manifest, and has more samples than were read.
    """
    manifest = manifest_in(folder)
    seen, now = run.manifest, manifest
    tables = [f"{kind}.parquet" for kind in DATA]
    if seen["status"] != now["status"] or any(
        seen["hashes"].get(name) != now["hashes"].get(name) for name in tables
    ):
        raise UsageError(
            f"The run {run.path} changed while it was reported, so nothing was written. Start `redolab "
            f"report {run.path}` again to report it as it is now."
        )
    return manifest


@contextmanager
def _alone_in(folder: Folder) -> Iterator[None]:
    """For one writer of a run directory at a time; without locks in the file system, for several."""
    last = time.monotonic() + _LOCK_S
    while True:
        try:
            system.lock(folder.fileno(), wait=False)
            break
        except BlockingIOError as error:
            if time.monotonic() > last:
                raise RefusedError(
                    f"Another process has locked the run directory {folder.path} for {_LOCK_S:g} s. Wait "
                    "until that process is done, or end it."
                ) from error
            time.sleep(0.02)
        except OSError:
            break
    try:
        yield
    finally:
        with suppress(OSError):
            system.unlock(folder.fileno())


class naming_the_disk:  # noqa: N801
    """Turns an error of the operating system under the run directory into one with its remedy."""

    def __init__(self, path: Path, kept: str) -> None:
        self.path, self.kept = path, kept

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            few = error.errno in (errno.EMFILE, errno.ENFILE)
            mend = (
                "Free some space there, or give --out a place with room. "
                if full
                else "Allow more open files (`ulimit -n`). "
                if few
                else ""
            )
            raise RefusedError(
                f"The run directory {self.path} cannot be written: {error.strerror}. {mend}{self.kept}"
            ) from error

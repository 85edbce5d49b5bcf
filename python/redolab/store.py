"""The run directory: what was measured, readable without Redolab and complete after a crash.

    manifest.json     design, order, machine, server, parameters changed, hashes
    samples.parquet   one row per sample (fields and units: `redolab.sample`)
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
import functools
import hashlib
import json
import os
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from redolab.directories import empty_directory, make_directories, remove_tree
from redolab.errors import RefusedError, UsageError
from redolab.files import write_file, write_json
from redolab.sample import Draw, Kill, LatencyRow, OverheadRow, ProcessTime, Sample, WaitRow

FORMAT = 1
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
        return _read_json(self.path / name, "the run is not whole; `redolab verify` says more")

    def results(self) -> dict[str, Any]:
        """The figures stored with the run (`results.json`).

        Raises:
            UsageError: the run was never analysed; `redolab report` does it.
        """
        return _read_json(self.path / "results.json", "redolab report writes it anew")


@functools.cache
def schema(record: type) -> pa.Schema:
    """The Arrow schema of a record: its fields, their types, and their documentation as metadata."""
    hints = typing.get_type_hints(record)
    fields = []
    for item in dataclasses.fields(record):
        plain, nullable = _plain_type(hints[item.name])
        doc = item.metadata.get("doc")
        fields.append(pa.field(item.name, _ARROW[plain], nullable, {"doc": doc} if doc else None))
    return pa.schema(fields)


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
        with _naming_the_disk(self.path):
            write_json(self.path / "manifest.json", self.manifest)

    def finish(self, status: str, **updates: Any) -> Run:
        """Join the parts and close the run with `status` (`finished`, `interrupted` or `failed`)."""
        with _naming_the_disk(self.path):
            hashes = dict(self.manifest["hashes"])
            for kind in _DATA:
                table = _read_parts(self.path, kind, self.record)
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


def open_run(path: str | os.PathLike[str]) -> Run:
    """Read a stored run; its tables are Arrow tables (`run.samples.to_pandas()` gives a frame).

    Raises:
        UsageError: there is no run at `path`, or another version of Redolab wrote it.
    """
    place = Path(path)
    manifest = _read_json(place / "manifest.json", "give the directory that `redolab run` printed")
    if manifest.get("format") != FORMAT:
        raise UsageError(
            f"{place} has format {manifest.get('format')!r}; this Redolab reads format {FORMAT}. "
            "Read it with the version named in its manifest.json."
        )
    record = RECORDS[manifest.get("record", "sample")]
    return Run(place, manifest, *(_read_data(place, kind, record) for kind in _DATA))


def write_results(run: Run, results: Mapping[str, Any]) -> None:
    """Store the figures of a run and their hash."""
    write_document(run, "results.json", results)


def write_document(run: Run, name: str, content: Mapping[str, Any]) -> None:
    """Store a file of JSON beside the tables of a run, and its hash."""
    with _naming_the_disk(run.path):
        write_json(run.path / name, content)
        run.manifest["hashes"][name] = file_hash(run.path / name)
        write_json(run.path / "manifest.json", run.manifest)


def write_report(run: Run, page: str) -> None:
    """Store the page of a run."""
    with _naming_the_disk(run.path):
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


def _read_data(path: Path, kind: str, record: type) -> pa.Table:
    joined = path / f"{kind}.parquet"
    return pq.read_table(joined) if joined.exists() else _read_parts(path, kind, record)


def _read_parts(path: Path, kind: str, record: type) -> pa.Table:
    # A sample counts from the moment its row stands on disk; its other tables went before it.
    parts = [
        part.with_name(part.name.replace("samples-", f"{kind}-"))
        for part in sorted((path / "parts").glob("samples-*.parquet"))
    ]
    # A run stored before a table or a column existed has none.
    tables = [pq.read_table(part) for part in parts if kind not in _LATER or part.exists()]
    shape = schema(_record_type(kind, record))
    return pa.concat_tables([shape.empty_table(), *tables], promote_options="default")


def _read_json(path: Path, mend: str) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise UsageError(f"{path} does not exist, so {path.parent} holds no stored run; {mend}.") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read ({error}); {mend}.") from error
    return content


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

"""The run directory of a watch as it is written: for days, in few files, and again after its end.

Every stretch is on disk when `append` returns. Each hour its small parts are joined into one. A watch that
was closed, interrupted or killed can be continued: its stretches become the first part. Whenever the process
is killed, no stretch is lost and none is stored twice:

- while the manifest has the status `running`, the parts are whole, and any tables hold the same rows;
- in any other case the tables are whole, and any parts hold the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from redolab.errors import UsageError
from redolab.files.folder import Folder
from redolab.records.manifest import MOST_SAMPLES
from redolab.records.parts import Span, found_in, is_part
from redolab.records.report import Entry
from redolab.records.run import Run
from redolab.records.schema import FORMAT, most_rows, tables_written
from redolab.records.store import MANIFEST, list_parts, manifest_in, read_parts, run_in
from redolab.records.watched import Watched
from redolab.records.writing.reopened import MADE_AFTERWARDS, lock, measured, opened, parts_in
from redolab.records.writing.writer import RunWriter, as_parquet, check_free, naming_the_disk

JOINED = 60
"""Number of small parts that are joined into one."""
_UNNUMBERED = (
    "The stretches of {path} are not numbered 1, 2, 3 ..., so this watch cannot be continued. Give --out a "
    "new directory."
)
_BUSY = (
    "{path} is still being watched by another process. End that process with Ctrl-C first, or give --out a "
    "new directory."
)


class WatchWriter(RunWriter):
    """Writes the stretches of a watch; its directory is this process's alone until it is closed."""

    def __init__(self, path: Path, manifest: Mapping[str, Any] | None) -> None:
        """Make the run directory of a new watch, or open the directory of an earlier one to continue it.

        Results and report of an earlier one are removed, because they do not cover the new stretches.

        Args:
            path: where.
            manifest: of a new watch; None to continue the one that is there.

        Raises:
            UsageError: the place is not free for a new one; or there is no watch to continue, another
                process uses it, or one of its files is not valid.
            RefusedError: it cannot be written.
        """
        self.block, self.watched_s, self._entries, self._small = 1, 0.0, 0, 0
        if manifest is not None:
            super().__init__(path, manifest)
            lock(self._folder, self._parts, _BUSY)
            return
        with ExitStack() as held, naming_the_disk(path, _kept_in(path)):
            self._folder = held.enter_context(opened(path))
            check_watch(self._folder)
            self._parts = held.enter_context(parts_in(self._folder))
            lock(self._folder, self._parts, _BUSY)
            # Only this process uses it from here on, but another one may have used it until just now.
            self._reopen(check_watch(self._folder), run_in(self._folder))
            held.pop_all()

    def add(self, stretch: Watched, entries: Sequence[Entry]) -> None:
        """Store one stretch with its entries.

        Raises:
            RefusedError: the directory cannot be written.
        """
        self.append(stretch, entries=entries)
        self.watched_s = stretch.start_s + stretch.elapsed_s
        self._entries += len(entries)
        self._small += 1
        if self._small >= JOINED:
            with naming_the_disk(self.path, self.kept):
                self._join()

    @property
    def full(self) -> bool:
        """Whether another stretch might exceed what a run can hold to be readable."""
        return self.samples + 1 >= MOST_SAMPLES or self._entries >= 0.99 * most_rows("entries")

    @property
    def kept(self) -> str:
        """A sentence on the data that stay on disk whatever happens."""
        if not self.samples:
            return "No stretch was stored yet, so none is lost."
        return f"Every stretch that was already stored is kept; `redolab report {self.path}` reads them."

    def _reopen(self, manifest: dict[str, Any], run: Run) -> None:
        samples = run.samples
        stretches, self.watched_s = measured(run, _UNNUMBERED)
        self._take(run.path, manifest)
        self.samples = stretches
        self.block = 1 + (pc.max(samples["block"]).as_py() or 0)
        self._entries = run.entries.num_rows
        if manifest["status"] != "running":
            self._parts.clear(is_part)
            if stretches:
                self._write_part(Span(1, self.samples), {"entries": run.entries, "samples": samples})
        self.manifest["hashes"] = {}
        self.save_manifest(status="running", finished_at=None, error=None)
        self._folder.remove(*(f"{kind}.parquet" for kind in tables_written(Watched)), *MADE_AFTERWARDS)
        self._parts.clear()
        self._join()

    def _join(self) -> None:
        """Join the small parts into one; parts that were joined before are removed."""
        spans = list_parts(self._parts)
        small = [span for span in spans if span.first == span.last]
        if len(small) > 1:
            whole = Span(small[0].first, small[-1].last)
            tables = {
                kind: read_parts(self._parts, kind, self.record, FORMAT, small, self._own)
                for kind in ("entries", "samples")
            }
            self._write_part(whole, tables)
            self._own.clear()
        self._small = len(small) if len(small) < 2 else 0
        standing = set(list_parts(self._parts))
        for span in found_in(self._parts.names()):
            if span not in standing:
                # The rows of `samples` go first: without them the others are not read.
                self._parts.remove(*(span.file(kind) for kind in ("samples", "entries")))

    def _write_part(self, span: Span, tables: Mapping[str, Any]) -> None:
        for kind in ("entries", "samples"):
            self._parts.write(span.file(kind), as_parquet(tables[kind]))


def _kept_in(path: Path) -> str:
    return f"The stretches in {path} are kept."


def check_place(path: Path) -> bool:
    """Make sure that a watch may be stored at `path`; whether it continues an earlier one there.

    Raises:
        UsageError: there is something else, or it cannot be read.
        RefusedError: root would write where others can.
    """
    try:
        with Folder.to_read(path) as folder:
            earlier = folder.has(MANIFEST)
    except OSError:
        earlier = False
    if not earlier:
        check_free(path)
        return False
    with naming_the_disk(path, _kept_in(path)), opened(path) as folder:
        check_watch(folder)
    return True


def check_watch(folder: Folder) -> dict[str, Any]:
    """The manifest of an earlier watch that can be continued.

    Raises:
        UsageError: the directory holds something else, or cannot be read.
    """
    path, manifest = folder.path, manifest_in(folder)
    if manifest.get("record") != "watched":
        raise UsageError(
            f"{path} is a run of {manifest['experiment']!r}, not a watch, so it cannot be continued. "
            "Give --out a new directory, or the directory of a watch."
        )
    if manifest["format"] != FORMAT:
        raise UsageError(
            f"{path} has format {manifest['format']}, and a watch can only be continued in format {FORMAT}. "
            "Give --out a new directory."
        )
    try:
        zone = datetime.fromisoformat(manifest.get("started_at") or "").tzinfo
    except ValueError:
        zone = None
    if zone is None:
        raise UsageError(
            f"The manifest of {path} has no valid start time, so this watch cannot be continued. Give --out "
            "a new directory."
        )
    return manifest

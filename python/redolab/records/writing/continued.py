"""The run directory of a stored run that is measured further, also of one that was killed.

As with a watch: while the manifest has the status `running`, the parts are whole, and any tables hold the
same rows; in any other case the tables are whole. So no sample is lost or stored twice whenever the process
is killed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from redolab import __version__
from redolab.errors import UsageError
from redolab.files.folder import Folder
from redolab.records.parts import Span, is_part
from redolab.records.run import Run
from redolab.records.schema import FORMAT, tables_written
from redolab.records.store import manifest_in, run_in
from redolab.records.writing.reopened import MADE_AFTERWARDS, lock, measured, opened, parts_in
from redolab.records.writing.writer import RunWriter, as_parquet, naming_the_disk

_UNNUMBERED = "The samples of {path} are not numbered 1, 2, 3 ..., so this run cannot be continued."
_BUSY = "{path} is being measured by another process. Wait for its end, or end it with Ctrl-C first."


class ContinuedWriter(RunWriter):
    """Writes further samples of a stored run; its directory is this process's alone until it is closed."""

    def __init__(self, path: Path) -> None:
        """Open the directory of a stored run; nothing in it changes before `go_on`.

        Raises:
            UsageError: there is no such run, it cannot be continued, another process uses it, or one of its
                files is not valid.
            RefusedError: it cannot be written.
        """
        with ExitStack() as held, naming_the_disk(path, f"The samples in {path} are kept."):
            self._folder = held.enter_context(opened(path))
            check_continuable(self._folder)
            self._parts = held.enter_context(parts_in(self._folder))
            lock(self._folder, self._parts, _BUSY)
            # Where the run is refused; one that has parts stays.
            held.callback(self._folder.remove_inner, self._parts)
            # Only this process uses it from here on, but another one may have used it until just now.
            self._take(path, check_continuable(self._folder))
            self.run = run_in(self._folder)
            # The second: seconds from the beginning of the run to the end of its last sample.
            self.samples, self.measured_s = measured(self.run, _UNNUMBERED)
            held.pop_all()

    def let_go(self) -> None:
        """Close the directory as it was found, where nothing went on; a closed run is left alone."""
        if self._parts.fileno() >= 0:
            with self._folder, self._parts:
                # One that has parts stays.
                self._folder.remove_inner(self._parts)

    def go_on(self, **updates: Any) -> None:
        """Make ready for further samples: results and page go, because they do not cover those.

        Args:
            updates: of the manifest.
        """
        run, kept = self.run, tables_written(self.record)
        with naming_the_disk(self.path, self.kept):
            if self.manifest["status"] != "running":
                self._parts.clear(is_part)
                if self.samples:
                    self._write_whole(run)
            tables = {f"{kind}.parquet" for kind in kept}
            hashes = self.manifest["hashes"].items()
            documents = {name: of for name, of in hashes if name not in tables | set(MADE_AFTERWARDS)}
            self.manifest["hashes"] = documents
            self.save_manifest(**{"status": "running", "finished_at": None, "error": None, **updates})
            self._folder.remove(*tables, *MADE_AFTERWARDS)

    def _write_whole(self, run: Run) -> None:
        """Every sample as one part; the rows of `samples` last, since the others count from then on."""
        span = Span(1, self.samples)
        kinds = [*(kind for kind in tables_written(self.record) if kind != "samples"), "samples"]
        for kind in kinds:
            self._parts.write(span.file(kind), as_parquet(getattr(run, kind)))


def check_continuable(folder: Folder) -> dict[str, Any]:
    """The manifest of a stored run that can be measured further.

    Raises:
        UsageError: the directory holds something else, or cannot be read.
    """
    manifest = manifest_in(folder)
    if why := _why_not(manifest):
        raise UsageError(f"{folder.path} cannot be continued: {why}.")
    return manifest


def _why_not(manifest: Mapping[str, Any]) -> str | None:
    """Why a run cannot be continued, half a sentence; None where it can."""
    record, version = manifest.get("record", "sample"), manifest.get("redolab_version")
    reasons = (
        (record == "watched", "it is a watch, which `redolab watch URL --out` continues"),
        (record != "sample", f"runs of {manifest['experiment']} are not measured further"),
        (
            manifest["experiment"] == "verify-forecast",
            "it scores a sealed forecast, and whoever continues such a run could wait for a better score",
        ),
        (
            manifest["format"] != FORMAT,
            f"it has format {manifest['format']}, and only format {FORMAT} can be",
        ),
        (
            version != __version__,
            f"redolab {version} measured it, and this is redolab {__version__}: one run must be measured by "
            "one version",
        ),
        (bool(manifest["engine"].get("servers")), "it was measured on several servers side by side"),
        (not manifest.get("order"), "it has no order of measuring"),
    )
    return next((why for holds, why in reasons if holds), None)

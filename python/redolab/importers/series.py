"""Reports of one database as one run directory: a row of `samples` for each, in the order of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import redolab
from redolab.bounds import MOST_INSTANCES
from redolab.errors import UsageError
from redolab.importers.layout import Kind
from redolab.importers.reading import ReadReport, read_reports
from redolab.records.report import Report
from redolab.records.run import Run
from redolab.records.writing.writer import RunWriter, check_free

MOST_REPORTS = 20_000
_NAME = 24
"""Characters of a file's name that progress shows."""
QUESTION = "Where did this database's commit time go?"
_NAMES: Mapping[Kind, str] = {"awr": "AWR", "statspack": "Statspack", "oracle-pack": "Oracle pack"}


class Progress(Protocol):
    """Shows how far the reading is, where there are several reports."""

    def begin(self, reports: int, /) -> None:
        """So many are about to be read."""

    def advance(self, setting: str, /) -> None:
        """One more report is read."""


def import_reports(paths: Sequence[Path], kind: Kind, out: Path, progress: Progress, command: str) -> Run:
    """Read reports and write them as a run directory.

    Files that are refused are named in the run, as long as one is read.

    Args:
        paths: of the files.
        kind: of report that they must be.
        out: the run directory, still free.
        progress: gets each file.
        command: the command line that asked for it.

    Raises:
        UsageError: no file could be read, the files cover several databases, or the directory is not free.
    """
    if len(paths) > MOST_REPORTS:
        raise UsageError(
            f"{len(paths):,} files are too many: one run can hold at most {MOST_REPORTS:,}. Import fewer at "
            "a time."
        )
    check_free(out)
    read, refused = _read_all(paths, kind, progress)
    _check_database(read)
    if len(read) > MOST_REPORTS:
        raise UsageError(
            f"{len(read):,} reports are too many: one run can hold at most {MOST_REPORTS:,}. Import fewer at "
            "a time."
        )
    read.sort(key=lambda item: (item.header.begin, item.header.end, _setting(item)))
    writer = RunWriter(out, _manifest(read, refused, kind, command))
    try:
        for number, (item, spoiled) in enumerate(zip(read, _spoiled(read), strict=True), 1):
            record = _record(number, item, read[0].header.begin, spoiled)
            writer.append(record, entries=[replace(entry, sample=number) for entry in item.entries])
        return writer.finish("finished", finished_at=_now())
    except BaseException:
        # Half a run would block its place.
        writer.discard()
        raise


def _read_all(paths: Sequence[Path], kind: Kind, progress: Progress) -> tuple[list[ReadReport], list[str]]:
    read, refused = [], []
    several = len(paths) > 1
    if several:
        progress.begin(len(paths))
    for path in paths:
        try:
            read += read_reports(path, kind)
        except UsageError as error:
            if not several:
                raise
            refused.append(str(error).encode(errors="replace").decode())
        if several:
            progress.advance(path.name[:_NAME])
    if not read:
        raise UsageError(f"None of the {len(paths)} files can be imported. The first error: {refused[0]}")
    return read, refused


def _check_database(read: Sequence[ReadReport]) -> None:
    numbers = {item.header.database: item.header.database_id for item in read if item.header.database_id}
    databases = {
        # Old AWR-Miner does not print a number: only the name is known then.
        item.header.database_id or numbers.get(item.header.database, item.header.database): item
        for item in read
    }
    if len(databases) > 1:
        named = [
            f"{item.header.database} ({number}, in {item.file})"
            for number, item in list(databases.items())[:3]
        ]
        raise UsageError(
            f"The reports cover {len(databases)} databases: {', '.join(named)}. Import each database by "
            "itself."
        )
    instances = len(set(map(_setting, read)))
    if instances > MOST_INSTANCES:
        raise UsageError(
            f"The reports cover {instances:,} instances, and one run can hold at most {MOST_INSTANCES:,}."
        )


def _spoiled(read: Sequence[ReadReport]) -> list[str | None]:
    """Why a report does not count: where two reports of an instance overlap, only the shorter counts.

    Args:
        read: in the order of their beginnings.
    """
    spoiled: list[str | None] = [None] * len(read)
    last: dict[str, int] = {}
    for place, item in enumerate(read):
        setting = _setting(item)
        before = last.get(setting)
        counts = place
        if before is not None and item.header.begin < read[before].header.end:
            longer, counts = (before, place) if _length(item) < _length(read[before]) else (place, before)
            spoiled[longer] = (
                f"{read[counts].file} covers a part of the same time, and is counted instead of this report"
            )
        last[setting] = counts
    return spoiled


def _length(item: ReadReport) -> timedelta:
    return item.header.end - item.header.begin


def _setting(item: ReadReport) -> str:
    return item.header.of


def _record(number: int, item: ReadReport, first: datetime, spoiled: str | None) -> Report:
    header = item.header
    return Report(
        sample=number,
        block=1,
        position=number,
        setting=_setting(item),
        started_at=header.begin.isoformat(),
        start_s=(header.begin - first).total_seconds(),
        elapsed_s=header.elapsed.value or (header.end - header.begin).total_seconds(),
        spoiled=spoiled,
        file=item.file,
        layout=item.layout,
        release=header.release,
        begin_snapshot=header.begin_snapshot,
        end_snapshot=header.end_snapshot,
    )


def _manifest(read: Sequence[ReadReport], refused: Sequence[str], kind: Kind, command: str) -> dict[str, Any]:
    settings = list(dict.fromkeys(map(_setting, read)))
    return {
        "experiment": kind,
        "record": "report",
        "question": QUESTION,
        "unit": "commit",
        "started_at": _now(),
        "design": {"baseline": settings[0], "blocks": 1, "seed": 0, "margin": 0.0},
        "settings": [{"name": name, "levels": {}, "tier": "", "parameters": {}} for name in settings],
        "order": [
            {
                "sample": number,
                "block": 1,
                "position": number,
                "setting": _setting(item),
                "role": "treatment",
            }
            for number, item in enumerate(read, 1)
        ],
        "load": {},
        "engine": {
            "name": "oracle",
            "version": read[-1].header.release,
            "place": f"{_NAMES[kind]} reports of {read[-1].header.database}",
        },
        "machine": {},
        "sampler": {"source": "none"},
        "conditions": [*(f"Not imported: {text}" for text in refused[:100]), *_unnumbered(read)],
        "redolab_version": redolab.__version__,
        "command": command,
    }


def _unnumbered(read: Sequence[ReadReport]) -> list[str]:
    """The assumption where several files do not print which database they cover."""
    files = {item.file for item in read if not item.header.database_id}
    if not files or len({item.file for item in read}) == 1:
        return []
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return [
        f"{min(files)}{more} does not print the number of its database, so reports with the same database "
        "name count as one database."
    ]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

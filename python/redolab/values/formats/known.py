"""Every program's format that is read, and which of them a file has."""

from __future__ import annotations

import csv
import io

from redolab.bounds import MOST_PIPED_BYTES
from redolab.errors import UsageError
from redolab.values.content import HEAD_BYTES, Content
from redolab.values.formats.drawn import COUNT, Drawn, check_count, is_ruled, read_ruled, read_unaligned
from redolab.values.formats.fio import read_fio
from redolab.values.formats.hgrm import read_hgrm
from redolab.values.formats.hlog import read_hlog
from redolab.values.formats.k6 import read_k6
from redolab.values.formats.pgbench import read_pgbench
from redolab.values.formats.pgbench_progress import read_pgbench_progress
from redolab.values.formats.records import is_expanded, is_timing, read_expanded, read_timing
from redolab.values.formats.sheet import Sheet
from redolab.values.formats.sysbench import read_sysbench
from redolab.values.formats.vmstat import read_vmstat

_READERS = (read_pgbench, read_pgbench_progress, read_vmstat, read_sysbench, read_hgrm, read_hlog, read_fio)


def sheet_of(content: Content, head: str, value: str | None) -> Sheet | None:
    """The file as columns, where it is in a format of its own; else None.

    Args:
        content: of the file.
        head: its first lines.
        value: the column that the user named, which may be one of many metrics.

    Raises:
        UsageError: it is in such a format, and damaged or without values.
    """
    for read in _READERS:
        found = read(content, head)
        if found is not None:
            return found
    return read_k6(content, head, value)


def as_csv(content: Content, head: str) -> Content | None:
    """The cells of tables that psql or mysql drew, as CSV; None where there are none.

    Raises:
        UsageError: a table is not whole, or tables differ in their columns.
    """
    if is_expanded(head):
        return _rewritten(content, read_expanded(content), "records of psql or mysql")
    if is_ruled(head):
        return _rewritten(content, read_ruled(content), "a table of psql or mysql")
    if is_timing(head):
        return _rewritten(content, read_timing(content), "times of psql")
    lines = [line.strip() for line in head.splitlines() if line.strip()]
    if len(lines) > 1 and "|" in lines[0] and COUNT.fullmatch(lines[-1]):
        return _rewritten(content, read_unaligned(content), "a table of psql -A")
    if len(lines) > 1 and len(head) < HEAD_BYTES and (said := COUNT.fullmatch(lines[-1])):
        return _without_count(content, lines, int(said[1] or said[2]))
    return None


def _without_count(content: Content, lines: list[str], said: int) -> Content:
    """A file of `psql -A -F` with another separator, without the count of its rows below them."""
    check_count(content, len(lines), len(lines) - 2, said)
    return content.rewritten("\n".join(lines[:-1]) + "\n")


def _rewritten(content: Content, found: Drawn, kind: str) -> Content:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(found.names)
    writer.writerows(found.rows)
    if text.tell() > MOST_PIPED_BYTES:
        raise UsageError(
            f"{content.place} has more than {MOST_PIPED_BYTES:,} bytes. Write it with psql --csv."
        )
    joined = f"The file has {found.tables:,} tables with the same columns, which are analysed together."
    notes = (*content.notes, joined) if found.tables > 1 else content.notes
    return content.rewritten(text.getvalue(), format=kind, by_machine=True, notes=notes)

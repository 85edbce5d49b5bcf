"""The tables of a run directory: their columns, and the names of the columns in older formats."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from redolab.records.draw import Draw
from redolab.records.manifest import MOST_SAMPLES
from redolab.records.report import Entry, Report
from redolab.records.sample import Kill, LatencyRow, OverheadRow, ProcessTime, Sample, WaitRow
from redolab.records.watched import Watched

FORMAT = 2
"""The format that is written. A format that changes what is read gets an entry below; the old one stays."""
FORMATS: Mapping[int, Mapping[str, str]] = {
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
"""Every format that is read: columns of `Sample`, and their names in it."""
RECORDS: Mapping[str, type] = {
    "sample": Sample,
    "kill": Kill,
    "draw": Draw,
    "report": Report,
    "watched": Watched,
}
TABLES: Mapping[str, type] = {
    "waits": WaitRow,
    "profile": ProcessTime,
    "overhead": OverheadRow,
    "latency": LatencyRow,
    "entries": Entry,
}
"""The tables other than `samples`, and their records."""
LATER_TABLES = ("overhead", "latency")
"""Tables that older runs do not have."""
DATA = ("samples", *TABLES)
"""Every table; each is a Parquet file of that name."""
_DOCUMENTS = ("results.json", "league.json", "forecast.json")
HASHED = (*(f"{kind}.parquet" for kind in DATA), *_DOCUMENTS)
"""The files whose hashes a manifest may have."""
_MOST_OTHER_ROWS = 5_000_000
MOST_ROWS_OF_A_SAMPLE = 100_000
"""Rows in every other table, for each row of `samples`."""
_ARROW = {
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bool: pa.bool_(),
    tuple[float, ...]: pa.list_(pa.float64()),
}


@functools.cache
def type_hints(record: type) -> Mapping[str, Any]:
    """The types of a record's fields; they are written as text, and each reading compiles it."""
    return typing.get_type_hints(record)


@functools.cache
def schema(record: type) -> pa.Schema:
    """The Arrow schema of a record: its fields, their types, and their documentation as metadata."""
    hints = type_hints(record)
    fields = []
    for item in dataclasses.fields(record):
        plain, nullable = _plain_type(hints[item.name])
        doc = item.metadata.get("doc")
        fields.append(pa.field(item.name, _ARROW[plain], nullable, {"doc": doc} if doc else None))
    return pa.schema(fields)


def empty_table(record: type) -> pa.Table:
    """A table of a record without rows."""
    # `Schema.empty_table` imports pandas, which takes longer than reading a run.
    return pa.Table.from_batches([], schema(record))


def sample_record(manifest: Mapping[str, Any]) -> type:
    """The record of a row of `samples` in the run of a manifest."""
    return RECORDS[manifest.get("record", "sample")]


def table_record(kind: str, record: type) -> type:
    """The record of a table, where `record` is the record of `samples`."""
    return TABLES.get(kind, record)


def tables_written(record: type) -> tuple[str, ...]:
    """The tables that a run has on disk, where `record` is the record of `samples`; others are empty."""
    if record in (Report, Watched):
        return ("samples", "entries")
    return tuple(kind for kind in DATA if kind != "entries")


def most_rows(kind: str) -> int:
    """Rows that a table may have."""
    return MOST_SAMPLES if kind == "samples" else _MOST_OTHER_ROWS


def later_columns(record: type) -> list[str]:
    """The columns of a record that older runs do not have."""
    return [item.name for item in dataclasses.fields(record) if item.default is not dataclasses.MISSING]


def _plain_type(hint: Any) -> tuple[type, bool]:
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        return _plain_type(members[0])[0], True
    if typing.get_origin(hint) is typing.Literal:
        return str, False
    return hint, False

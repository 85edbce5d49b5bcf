"""Parquet tables from outside: sizes, columns, types and numbers are checked, the sizes before decoding."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from redolab.bounds import MOST_DECODED_BYTES, MOST_NAME
from redolab.files.parquet_sizes import parquet_sizes
from redolab.files.refusals import one_line, unreadable

LARGEST = 1e18
"""Largest size of a number in a table: squares and sums of such numbers fit a double with room."""
SMALLEST = 1e-30
"""Smallest size of a number in a table that is not zero: the inverses of such numbers fit a double too."""


def parse_table(
    content: bytes, what: str, schema: Any, later: Collection[str], most_rows: int, mend: str
) -> Any:
    """A Parquet table as Redolab writes it; its bounds are checked before it is decoded.

    Args:
        content: the file.
        what: its name, for the error.
        schema: the Arrow schema that it must have.
        later: columns that it need not have, because older versions did not write them.
        most_rows: rows that it may have.
        mend: what to do about a bad one.

    Raises:
        UsageError: it is not a Parquet file, has other columns or types, forbidden nulls, numbers that are
            NaN or too large, or is beyond the bounds.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        _check_size(content, most_rows)
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            _check_columns(file.schema_arrow, schema, later)
            texts = [name for name in file.schema_arrow.names if schema.field(name).type == pa.string()]
        with pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts) as file:
            table = file.read(use_threads=False)
        table = _plain(table, schema)
        table.validate(full=True)
        _check_table(table, schema)
    except (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError) as error:
        raise unreadable(what, one_line(error), mend) from error
    return table


def _check_size(content: bytes, most_rows: int) -> None:
    found = parquet_sizes(content)
    if not 0 <= found.rows <= most_rows:
        raise ValueError(f"it has {found.rows:,} rows by its footer, and can have at most {most_rows:,}")
    if found.decoded_bytes + 8 * found.values > MOST_DECODED_BYTES:
        raise ValueError(f"it takes more than {MOST_DECODED_BYTES >> 20} MB in memory")


def _check_columns(found: Any, schema: Any, later: Collection[str]) -> None:
    import pyarrow as pa

    names = found.names
    twice = {name for name in names if names.count(name) > 1}
    unknown, missing = set(names) - set(schema.names), set(schema.names) - set(names) - set(later)
    for which, wrong in (
        (twice, "it has two columns of the name"),
        (unknown, "this version of Redolab does not know its column"),
        (missing, "it lacks the column"),
    ):
        if which:
            raise ValueError(f"{wrong} {', '.join(sorted(map(repr, which))[:5])}")
    for name in names:
        kind, wanted = found.field(name).type, schema.field(name).type
        # A list's element has another name in each version of the format.
        both_lists = pa.types.is_list(kind) and pa.types.is_list(wanted)
        if kind != wanted and not (both_lists and kind.value_type == wanted.value_type):
            raise ValueError(f"its column {name!r} is {kind}, but must be {wanted}")


def _plain(table: Any, schema: Any) -> Any:
    """The table with its texts spelt out, once it is known how long they all are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    length = 0
    for column in table.columns:
        for chunk in column.chunks if pa.types.is_dictionary(column.type) else ():
            lengths = pc.binary_length(chunk.dictionary)
            if (pc.max(lengths).as_py() or 0) > MOST_NAME:
                raise ValueError(f"a text in it has more than {MOST_NAME:,} bytes")
            length += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    if length > MOST_DECODED_BYTES:
        raise ValueError(f"its texts take more than {MOST_DECODED_BYTES >> 20} MB in memory")
    return table.cast(pa.schema([schema.field(name) for name in table.column_names]))


def _check_table(table: Any, schema: Any) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in table.column_names:
        column, field = table[name], schema.field(name)
        if column.null_count and not field.nullable:
            raise ValueError(f"its column {name!r} has no value in some rows")
        if pa.types.is_list(column.type):
            column = pc.list_flatten(column)
            if column.null_count:
                raise ValueError(f"its column {name!r} has no value in some places")
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            _check_numbers(column, name, pc)


def _check_numbers(column: Any, name: str, pc: Any) -> None:
    if not len(column):
        return
    size = pc.abs(column.cast("float64", safe=False))
    if pc.any(pc.invert(pc.is_finite(size))).as_py():
        raise ValueError(f"its column {name!r} has a NaN or an infinite number")
    # Arrow imports pandas to compare with a number of Python; that takes longer than reading a run.
    ends = pc.min_max(size.filter(size.cast("bool"))).as_py()
    if ends["min"] is not None and (ends["max"] > LARGEST or ends["min"] < SMALLEST):
        raise ValueError(f"its column {name!r} has a number outside {SMALLEST:g} to {LARGEST:g}")

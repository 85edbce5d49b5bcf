"""Bytes from outside, read with bounds: the one place that opens, decodes and refuses them.

A run directory may come from anybody, and so may a ledger, a list file and a column of numbers. Whatever is
refused here ends in a `UsageError` that names the file. Nothing here hangs, follows a link out of a run
directory, or takes more memory than its bounds say.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import tomllib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redolab.errors import RedolabError, UsageError
from redolab.files.parquet_sizes import parquet_sizes

MOST_JSON_BYTES = 64 << 20
MOST_TOML_BYTES = 1 << 20
MOST_TABLE_BYTES = 256 << 20
MOST_DECODED_BYTES = 768 << 20
"""Of one table, in memory."""
MOST_ITEMS = 4_000_000
"""Values in one JSON text."""
MOST_NESTED = 60
"""Objects and arrays inside one another; what Redolab writes has a dozen."""
MOST_NAME = 1 << 16
"""Letters in a text inside a table."""
LARGEST = 1e18
"""Of a number in a table: squares and sums of such fit a double with room."""
SMALLEST = 1e-30
"""Of a number in a table that is not zero: so do their inverses."""
_WHOLE = 1 << 64
_MOST_DIGITS = 20


def read_regular(path: Path, most: int, *, pipes: bool = False) -> bytes:
    """The content of a file that the user named.

    Args:
        path: of the file; links are followed, because the user made them or named them.
        most: bytes that it may have.
        pipes: whether a pipe will do, which is read until its end.

    Raises:
        OSError: it cannot be opened or read.
        UsageError: it is neither a file nor such a pipe, or has more bytes than that.
    """
    mode = path.stat().st_mode
    if pipes and stat.S_ISFIFO(mode):
        with path.open("rb") as file:
            return _bounded(file.read(most + 1), path, most)
    _check_regular(mode, path)
    return _read(os.open(path, _FLAGS), path, most)


def read_inside(directory: Path, name: str, most: int) -> bytes:
    """The content of a file of a run directory; no link in it is followed.

    Args:
        directory: as the user named it.
        name: of the file in it, or in a directory of it (`parts/...`).
        most: bytes that it may have.

    Raises:
        OSError: it cannot be opened or read; a link counts as such.
        UsageError: it is no file, or has more bytes than that.
    """
    with _opened_inside(directory, name) as file:
        return _read(os.dup(file), directory / name, most)


def hash_inside(directory: Path, name: str) -> str:
    """SHA-256 of a file of a run directory, hexadecimal; no link in it is followed.

    Raises:
        OSError: it cannot be opened or read; a link counts as such.
        UsageError: it is no file.
    """
    with _opened_inside(directory, name) as file, os.fdopen(os.dup(file), "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def names_inside(directory: Path, folder: str, most: int) -> list[str]:
    """The names in a directory of a run directory, sorted; none where it is not there.

    Raises:
        OSError: it cannot be read; a link counts as such.
        UsageError: it has more than `most` names.
    """
    parent = os.open(directory, _FOLDER)
    try:
        try:
            inner = os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
        except FileNotFoundError:
            return []
        try:
            with os.scandir(inner) as found:
                names = []
                for entry in found:
                    names.append(entry.name)
                    if len(names) > most:
                        raise UsageError(f"{directory / folder} has more than {most:,} files in it.")
                return sorted(names)
        finally:
            os.close(inner)
    finally:
        os.close(parent)


def parse_json(content: bytes, what: str, mend: str = "") -> Any:
    """JSON within bounds: size, nesting, numbers that a double or 64 bits hold, each key once.

    Args:
        content: the text, UTF-8.
        what: the name of the file, for the error.
        mend: what to do about a bad one.

    Raises:
        UsageError: it is none, or beyond the bounds.
    """
    try:
        if len(content) > MOST_JSON_BYTES:
            raise ValueError(f"it has more than {MOST_JSON_BYTES >> 20} MB")
        if sum(map(content.count, (b",", b"[", b"{"))) > MOST_ITEMS:
            raise ValueError(f"it has more than {MOST_ITEMS:,} values")
        found = json.loads(
            content.decode(),
            parse_int=_whole,
            parse_float=_number,
            parse_constant=_constant,
            object_pairs_hook=_each_once,
        )
        _check_values(found)
    except RecursionError as error:
        raise _unreadable(what, _TOO_DEEP, mend) from error
    except ValueError as error:
        raise _unreadable(what, _one_line(error), mend) from error
    return found


def parse_json_object(content: bytes, what: str, mend: str = "") -> dict[str, Any]:
    """A JSON object within the bounds of `parse_json`.

    Raises:
        UsageError: it is none, or beyond the bounds.
    """
    found = parse_json(content, what, mend)
    if not isinstance(found, dict):
        raise _unreadable(what, "it is no JSON object", mend)
    return found


def parse_toml(text: str, what: str) -> dict[str, Any]:
    """TOML within bounds: size, nesting, numbers that a double or 64 bits hold.

    Args:
        text: the whole file.
        what: its name, for the error.

    Raises:
        UsageError: it is none, or beyond the bounds.
    """
    try:
        if len(text) > MOST_TOML_BYTES:
            raise ValueError(f"it has more than {MOST_TOML_BYTES >> 20} MB")
        found = tomllib.loads(text, parse_float=_number)
        _check_values(found)
    except RecursionError as error:
        raise _unreadable(what, _TOO_DEEP) from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{what} is not valid TOML: {_one_line(error)}.") from error
    except ValueError as error:
        raise _unreadable(what, _one_line(error)) from error
    return found


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file, and its content within the bounds of `parse_toml`.

    Raises:
        UsageError: it cannot be read, is no TOML, or is beyond the bounds.
    """
    try:
        text = read_regular(path, MOST_TOML_BYTES, pipes=True).decode()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text (byte {error.start + 1}).") from error
    return text, parse_toml(text, str(path))


def parse_table(
    content: bytes, what: str, schema: Any, later: Collection[str], most_rows: int, mend: str
) -> Any:
    """A Parquet table as Redolab writes it; its bounds are checked before it is decoded.

    Args:
        content: the file.
        what: its name, for the error.
        schema: the Arrow schema that it must have.
        later: columns that it need not have, because older versions wrote none.
        most_rows: rows that it may have.
        mend: what to do about a bad one.

    Raises:
        UsageError: it is no Parquet file, has other columns or types, nulls where there can be none, numbers
            that are none or too large, or is beyond the bounds.
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
        raise _unreadable(what, _one_line(error), mend) from error
    return table


@contextmanager
def understood(what: Path) -> Iterator[None]:
    """Turns what the analysis of a stored run did not foresee into a sentence with exit code 2.

    The only place that catches everything, because a directory from somebody else can hold anything and 1
    means that a figure differs. A run that was just measured is never analysed inside it. The cause stays
    chained, and the sentence has its type and its place, so that a fault of Redolab's is found with it.

    Args:
        what: the run directory.

    Raises:
        UsageError: anything but a `RedolabError` or an error of the operating system was raised inside.
    """
    try:
        yield
    except (RedolabError, OSError):
        # Files of the run are read before; what the system refuses now is a full disk or a closed pipe.
        raise
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
        raise UsageError(
            f"{what} cannot be analysed: its files can be read, and what they say cannot be "
            f"({type(error).__name__} in {place}: {_one_line(error)}). If it is as Redolab wrote it, this is "
            "a fault of Redolab: report it with this text."
        ) from error


_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY
_TOO_DEEP = f"more than {MOST_NESTED} objects stand inside one another"


@contextmanager
def _opened_inside(directory: Path, name: str) -> Iterator[int]:
    *folders, last = name.split("/")
    if not last or {"", ".", ".."} & {*folders, last}:
        raise UsageError(f"{name!r} is no name of a file in {directory}.")
    opened = [os.open(directory, _FOLDER)]
    try:
        for folder in folders:
            opened.append(os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=opened[-1]))
        # Looked at before it is opened: opening a device or a pipe may do something.
        mode = os.stat(last, dir_fd=opened[-1], follow_symlinks=False).st_mode
        _check_regular(mode, directory / name)
        opened.append(os.open(last, _FLAGS | os.O_NOFOLLOW, dir_fd=opened[-1]))
        _check_regular(os.fstat(opened[-1]).st_mode, directory / name)
        yield opened[-1]
    finally:
        for file in opened:
            os.close(file)


def _check_regular(mode: int, path: Path) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a link, which is not followed inside a run directory"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    kind = next((name for fits, name in kinds if fits(mode)), "a device")
    raise UsageError(f"{path} is {kind}. Redolab reads plain files alone here.")


def _read(file: int, path: Path, most: int) -> bytes:
    with os.fdopen(file, "rb") as opened:
        _check_regular(os.fstat(opened.fileno()).st_mode, path)
        return _bounded(opened.read(most + 1), path, most)


def _bounded(content: bytes, path: Path, most: int) -> bytes:
    if len(content) > most:
        raise UsageError(f"{path} has more than {most:,} bytes, which is more than Redolab writes or reads.")
    return content


def _unreadable(what: str, why: str, mend: str = "") -> UsageError:
    return UsageError(f"{what} cannot be read: {why}{f'; {mend}' if mend else ''}.")


def _one_line(error: BaseException) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text (byte {error.start + 1})"
    if isinstance(error, UnicodeEncodeError):
        return "a text in it is no Unicode"
    text = " ".join(str(error).split()) or type(error).__name__
    return (text if len(text) <= 200 else f"{text[:200]} ...").rstrip(".")


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS + 1:
        raise ValueError(f"a whole number of {len(text)} digits is too large")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:_MOST_DIGITS]} is not finite")
    return value


def _constant(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _check_values(found: Any) -> None:
    """Depth, whole numbers and texts of what was parsed; without recursion, whatever it is."""
    level, items = 0, [found]
    while items:
        if level > MOST_NESTED:
            raise ValueError(_TOO_DEEP)
        inner: list[Any] = []
        for item in items:
            if isinstance(item, dict):
                inner.extend(item.keys())
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
            elif isinstance(item, str):
                if not item.isascii():
                    # Half a pair of surrogates can be written as JSON, and nowhere else.
                    item.encode()
            elif isinstance(item, int) and abs(item) >= _WHOLE:
                raise ValueError("a whole number is larger than 64 bits hold")
        level, items = level + 1, inner


def _check_size(content: bytes, most_rows: int) -> None:
    found = parquet_sizes(content)
    if not 0 <= found.rows <= most_rows:
        raise ValueError(f"it says that it has {found.rows:,} rows, of {most_rows:,} at the most")
    if found.decoded_bytes + 8 * found.values > MOST_DECODED_BYTES:
        raise ValueError(f"it takes more than {MOST_DECODED_BYTES >> 20} MB in memory")


def _check_columns(found: Any, schema: Any, later: Collection[str]) -> None:
    import pyarrow as pa

    names = found.names
    twice = {name for name in names if names.count(name) > 1}
    unknown, missing = set(names) - set(schema.names), set(schema.names) - set(names) - set(later)
    for which, says in (
        (twice, "has twice"),
        (unknown, "has, and this version does not know,"),
        (missing, "lacks"),
    ):
        if which:
            raise ValueError(f"it {says} the column {', '.join(sorted(map(repr, which))[:5])}")
    for name in names:
        kind, wanted = found.field(name).type, schema.field(name).type
        # A list's element has another name in each version of the format.
        both_lists = pa.types.is_list(kind) and pa.types.is_list(wanted)
        if kind != wanted and not (both_lists and kind.value_type == wanted.value_type):
            raise ValueError(f"its column {name!r} is {kind}, and must be {wanted}")


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
        raise ValueError(f"its column {name!r} has a number that is none or infinite")
    odd = pc.or_(pc.greater(size, LARGEST), pc.and_(pc.greater(size, 0.0), pc.less(size, SMALLEST)))
    if pc.any(odd).as_py():
        raise ValueError(f"its column {name!r} has a number outside {SMALLEST:g} to {LARGEST:g}")

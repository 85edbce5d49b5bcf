"""Size of a Parquet file's contents, from its footer and the headers of its pages, with nothing decoded.

Arrow trusts a footer, and some broken footers end its process. So the sizes are read here first, and only a
file whose parts fit together is given to Arrow.

Source: Apache Parquet's format (parquet.thrift) in Thrift's compact protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_MAGIC = b"PAR1"
_CODECS = (0, 1)
"""Uncompressed and Snappy, which Redolab writes. Neither unpacks one byte to more than some 20."""
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_V2 = 0, 2, 3
_MOST_NESTED = 12
_MOST_PARTS = 1_000_000
"""Numbers, texts and structs in footer and page headers together; a page has about ten."""


@dataclass(frozen=True)
class Sizes:
    """Amounts that would be decoded."""

    rows: int
    values: int
    """Values of all columns; a list counts as its elements."""
    decoded_bytes: int
    """Bytes of all pages, decompressed."""


def parquet_sizes(content: bytes) -> Sizes:
    """The sizes of a Parquet file.

    Raises:
        ValueError: it is not a Parquet file as Redolab writes them, or its parts do not fit together.
    """
    if len(content) < 12 or content[:4] != _MAGIC or content[-4:] != _MAGIC:
        raise ValueError("it is not a Parquet file")
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    if end < 4:
        raise ValueError("it is cut off, or not a Parquet file")
    try:
        reader = _Reader(content)
        return _sizes(reader, reader.struct(end), end)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("its footer lacks fields that every Parquet file has") from error


def _sizes(reader: _Reader, footer: dict[int, Any], end: int) -> Sizes:
    values = decoded = rows = 0
    for group in footer[4]:
        rows += group[3]
        for chunk in group[1]:
            if 1 in chunk or chunk.keys() & {8, 9}:
                raise ValueError("it has encrypted columns, or columns in another file")
            column = chunk[3]
            if column[4] not in _CODECS:
                raise ValueError("it is compressed in a way that Redolab never writes")
            if group[3] == column[5] == 0:
                # An empty column has no pages.
                continue
            in_pages, size = _pages(reader, column, end)
            if in_pages != column[5] or group[3] < 0:
                raise ValueError("its footer and its pages have different numbers of values")
            values, decoded = values + in_pages, decoded + size
    if rows != footer[3]:
        raise ValueError("its footer has two different numbers of rows")
    return Sizes(rows, values, decoded)


def _pages(reader: _Reader, column: dict[int, Any], end: int) -> tuple[int, int]:
    """Values and bytes, decompressed, of one column in one group of rows."""
    first = column.get(11) or column[9]
    last = first + column[7]
    if not 4 <= first <= last <= end:
        raise ValueError("its footer names places outside of the file")
    values = decoded = 0
    reader.at = first
    while reader.at < last:
        page = reader.struct(reader.at)
        kind, size = page[1], page[2]
        if min(size, page[3]) < 0 or kind not in (_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_V2):
            raise ValueError("one of its pages has an unknown kind or size")
        if kind != _DICTIONARY_PAGE:
            inside = page[5 if kind == _DATA_PAGE else 8][1]
            if inside < 0:
                raise ValueError("one of its pages has a negative number of values")
            values += inside
        decoded += size
        reader.at += page[3]
    if reader.at != last:
        raise ValueError("its pages end at another place than in its footer")
    return values, decoded


class _Reader:
    """Thrift's compact protocol: structs as their fields by number."""

    def __init__(self, content: bytes) -> None:
        self._content, self.at, self._parts = content, 0, 0

    def struct(self, at: int, depth: int = 0) -> dict[int, Any]:
        """The struct that begins at a place; `at` is then where it ends."""
        self.at = at
        fields: dict[int, Any] = {}
        number = 0
        self._count()
        while head := self._byte():
            delta, kind = head >> 4, head & 15
            number = number + delta if delta else self._signed()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        self._count()
        if depth > _MOST_NESTED:
            raise ValueError("its parts are nested deeper than in any Parquet file")
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 8:
            return self._take(self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 != 15 else self._unsigned()
            inner = head & 15
            return [self._value(inner, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.struct(self.at, depth + 1)
        if kind in (1, 2, 3):
            return self._byte()
        if kind == 7:
            return self._take(8)
        raise ValueError("it has a part of an unknown kind")

    def _count(self) -> None:
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise ValueError(f"it has more than {_MOST_PARTS:,} parts")

    def _byte(self) -> int:
        try:
            byte = self._content[self.at]
        except IndexError:
            raise ValueError("it is cut off") from None
        self.at += 1
        return byte

    def _take(self, count: int) -> bytes:
        taken = self._content[self.at : self.at + count]
        if len(taken) != count:
            raise ValueError("it is cut off")
        self.at += count
        return taken

    def _unsigned(self) -> int:
        value = self._byte()
        # Nearly all numbers are that short, and a run has hundreds of thousands.
        if value < 128:
            return value
        value, shift = value & 127, 7
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a number in it is too long")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

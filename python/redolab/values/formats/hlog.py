"""Logs of HdrHistogram (`.hlog`): a compressed histogram for each interval, in its encodings V1 and V2.

Decoded here: the one library of Python that reads them (`hdrhistogram`) knows V2 alone.

Source: HdrHistogram, `AbstractHistogram.java` and `ZigZagEncoding.java` (public domain).
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from redolab import units
from redolab.errors import UsageError
from redolab.values.content import Content
from redolab.values.formats.counts import expanded
from redolab.values.formats.sheet import Sheet

_NUMBER = r"(\d{1,20}(?:\.\d{0,9})?)"
_ROW = re.compile(rf"(?:Tag=([^,\s]+),)?{_NUMBER},{_NUMBER},{_NUMBER},\"?(HIST[A-Za-z0-9+/=]+)\"?\s*")
_FIRST = re.compile(r"#\[.*Histogram log format version.*|\"?StartTimestamp\"?,.*")
_COMPRESSED = {0x1C849302: 1, 0x1C849304: 2}
_ENCODED = {0x1C849301: 1, 0x1C849303: 2}
_HEADER = struct.Struct(">iiiiqqd")
_MOST_BYTES = 16 << 20
"""Bytes of one histogram; with five digits of 64 bits it has 12 MB."""
_MOST_ALL_BYTES = 512 << 20
"""Bytes of all histograms of a log; the log of a day has 200 MB."""
_MOST_BUCKETS = 2_000_000
"""Buckets of all histograms together that hold anything."""


@dataclass(frozen=True)
class _Histogram:
    counts: dict[float, int]
    """How often each value was counted; the value is the middle of its bucket."""
    largest: float
    """Upper end of its last bucket."""
    digits: int
    size: int
    """Bytes that it was decoded from."""


class _DamagedError(Exception):
    """It is not a histogram."""


def read_hlog(content: Content, head: str) -> Sheet | None:
    """All intervals of the log together; None for a file in another format.

    Raises:
        UsageError: a line of it cannot be decoded.
    """
    lines = head.splitlines()[:40]
    if not any(_FIRST.fullmatch(line) or _ROW.fullmatch(line) for line in lines):
        return None
    counts: dict[str | None, dict[float, int]] = defaultdict(lambda: defaultdict(int))
    digits, intervals, size, ratios = 5, 0, 0, []
    for number, line in enumerate(content.lines(), 1):
        row = _ROW.fullmatch(line)
        if row is None:
            if line.strip() and not line.startswith(("#", '"StartTimestamp', "StartTimestamp")):
                raise UsageError(
                    f"{content.place}, line {number:,}: {line[:60]!r} is not an interval of a log of "
                    "HdrHistogram."
                )
            continue
        try:
            one = _decoded(row[5])
        except (_DamagedError, ValueError, struct.error, zlib.error) as error:
            raise UsageError(
                f"{content.place}, line {number:,} holds a histogram that cannot be read: {error}."
            ) from error
        intervals, size = intervals + 1, size + one.size
        if size > _MOST_ALL_BYTES:
            raise UsageError(
                f"{content.place}, line {number:,}: its histograms have more than {_MOST_ALL_BYTES:,} bytes "
                "so far. Give a log of a shorter time."
            )
        digits = min(digits, one.digits)
        of_tag = counts[row[1]]
        for value, count in one.counts.items():
            of_tag[value] += count
        if sum(map(len, counts.values())) > _MOST_BUCKETS:
            raise UsageError(
                f"{content.place} has more than {_MOST_BUCKETS:,} different values in its histograms."
            )
        if one.counts and float(row[4]):
            ratios.append(one.largest / float(row[4]))
    return _sheet(content, counts, digits, intervals, ratios)


def _sheet(
    content: Content,
    counts: dict[str | None, dict[float, int]],
    digits: int,
    intervals: int,
    ratios: list[float],
) -> Sheet:
    per_unit = _power_of_ten(ratios)
    flat = [
        (value / per_unit, count, tag)
        for tag, of_tag in counts.items()
        for value, count in sorted(of_tag.items())
    ]
    unit = (
        "Values are in the unit of its column Interval_Max"
        + (f", which is {per_unit:,.0f} times the unit inside the histograms" if per_unit > 1 else "")
        + ". The log does not name that unit; in most logs it is ms."
    )
    tags = [tag or "none" for _, _, tag in flat] if set(counts) != {None} else None
    notes = [
        f"The values of {units.counted(intervals, 'interval')} of the log are analysed together. Each value "
        f"is the middle of its bucket, which is exact to {units.counted(digits, 'decimal digit')}.",
        unit,
    ]
    if tags is not None:
        notes.append(
            "The log holds histograms of several tags, which are analysed together; --group tag compares "
            "them."
        )
    values = np.array([value for value, _, _ in flat])
    return expanded(
        content.place,
        "a log of HdrHistogram",
        values,
        [count for _, count, _ in flat],
        None,
        tuple(notes),
        tags,
    )


def _power_of_ten(ratios: list[float]) -> float:
    """How many units of the histograms make one unit of the log; 1 where the ratio is not a power of ten."""
    if not ratios:
        return 1.0
    middle = float(np.median(ratios))
    power = 10.0 ** round(float(np.log10(middle))) if middle > 0 else 1.0
    return power if power >= 1 and abs(middle / power - 1) < 0.05 else 1.0


def _decoded(text: str) -> _Histogram:
    """One histogram."""
    raw = base64.b64decode(text, validate=True)
    cookie, length = struct.unpack_from(">ii", raw)
    if _COMPRESSED.get(cookie & ~0xF0) is None:
        raise _DamagedError("it is in an unknown encoding (V1 and V2 are supported)")
    if not 0 <= length <= len(raw) - 8:
        raise _DamagedError("it ends too early")
    unpacker = zlib.decompressobj()
    payload = unpacker.decompress(raw[8 : 8 + length], _MOST_BYTES)
    if not unpacker.eof:
        raise _DamagedError(f"it ends too early, or holds more than {_MOST_BYTES:,} bytes")
    cookie, size, offset, digits, lowest, _, ratio = _HEADER.unpack_from(payload)
    version = _ENCODED.get(cookie & ~0xF0)
    if version is None or not 0 <= digits <= 5 or lowest < 1 or offset or not ratio > 0:
        raise _DamagedError("its head is not the head of a histogram")
    if not 0 <= size <= len(payload) - _HEADER.size:
        raise _DamagedError("it ends too early")
    body = payload[_HEADER.size : _HEADER.size + size]
    found = _zigzag(body) if version == 2 else _words(body, (cookie & 0xF0) >> 4 & 0xE)
    return _placed(found, digits, lowest, ratio, len(body))


def _words(body: bytes, size: int) -> dict[int, int]:
    """Counts of a fixed size, by the place of their bucket."""
    if size not in (2, 4, 8) or len(body) % size:
        raise _DamagedError("its counts have an unknown size")
    counts = np.frombuffer(body, dtype=f">i{size}")
    if (counts < 0).any():
        raise _DamagedError("it has a count below zero")
    return {int(place): int(counts[place]) for place in np.flatnonzero(counts)}


def _zigzag(body: bytes) -> dict[int, int]:
    """Counts of 1 to 9 bytes each (ZigZag LEB128); one below zero is as many empty buckets."""
    counts: dict[int, int] = {}
    at, place = 0, 0
    while at < len(body):
        number, shift = 0, 0
        while True:
            if at >= len(body):
                raise _DamagedError("it ends too early")
            byte = body[at]
            at += 1
            if shift == 56:
                number |= byte << shift
                break
            number |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        count = (number >> 1) ^ -(number & 1)
        if count < 0:
            place -= count
        else:
            if count:
                counts[place] = count
            place += 1
    return counts


def _placed(found: dict[int, int], digits: int, lowest: int, ratio: float, size: int) -> _Histogram:
    """The value of each bucket: where the halves of ever coarser buckets lie."""
    sub_power = (2 * 10**digits - 1).bit_length()
    half = sub_power - 1
    unit_power = lowest.bit_length() - 1
    counts: dict[float, int] = {}
    largest = 0.0
    for place, count in sorted(found.items()):
        bucket = (place >> half) - 1
        inside = (place & ((1 << half) - 1)) + (1 << half)
        if bucket < 0:
            inside -= 1 << half
            bucket = 0
        shift = bucket + unit_power
        if shift > 64:
            raise _DamagedError("its values are larger than 64 bits")
        begins, width = inside << shift, 1 << shift
        counts[(begins + (width >> 1)) * ratio] = count
        largest = (begins + width - 1) * ratio
    return _Histogram(counts, largest, digits, size)

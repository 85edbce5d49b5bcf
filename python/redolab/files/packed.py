"""Somebody's files as they come: packed by gzip, or in an encoding of two or four bytes a letter."""

from __future__ import annotations

import codecs
import zlib
from typing import BinaryIO

from redolab.errors import UsageError

_GZIP = b"\x1f\x8b"
_PART = 1 << 20
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def unpacked(file: BinaryIO, place: str, most: int, mend: str) -> bytes | None:
    """The content of a file that gzip packed; None where a file is not packed by gzip.

    Args:
        file: the file, from its beginning.
        place: its name, for errors.
        most: bytes that it may unpack to.
        mend: the remedy where it has more bytes, a sentence.

    Raises:
        UsageError: it is damaged, not whole, or unpacks to more bytes.
    """
    if file.read(2) != _GZIP:
        return None
    file.seek(0)
    found = bytearray()
    unpacker = zlib.decompressobj(wbits=31)
    pending = b""
    try:
        while pending or (pending := file.read(_PART)):
            if unpacker.eof:
                # Several members, as `cat` joins them; zeros behind the last are padding.
                if not pending.strip(b"\0"):
                    pending = b""
                    continue
                unpacker = zlib.decompressobj(wbits=31)
            found += unpacker.decompress(pending, _PART)
            pending = unpacker.unconsumed_tail or unpacker.unused_data
            if len(found) > most:
                raise UsageError(f"{place} is packed by gzip and unpacks to more than {most:,} bytes. {mend}")
        found += unpacker.flush()
    except zlib.error as error:
        raise UsageError(
            f"{place} is packed by gzip and damaged: {error}. Copy or create it again."
        ) from error
    if not unpacker.eof:
        raise UsageError(
            f"{place} is packed by gzip and ends too early: it is not whole. Copy or create it again."
        )
    return bytes(found)


def wide_encoding(head: bytes) -> str | None:
    """The encoding of two or four bytes a letter, by a mark at the beginning or by zeros; else None."""
    marked = next((name for mark, name in _BOMS if head.startswith(mark)), None)
    if marked is not None:
        return marked
    if len(head) < 8 or head.count(0) < len(head) // 3:
        return None
    # In ASCII letters every other byte is zero.
    odd, even = head[1::2].count(0), head[0::2].count(0)
    if even == 0:
        return "utf-16-le"
    return "utf-16-be" if odd == 0 else None

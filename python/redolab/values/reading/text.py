"""Files that are packed or not UTF-8, as text in UTF-8."""

from __future__ import annotations

import codecs

from redolab.bounds import MOST_PIPED_BYTES
from redolab.errors import UsageError
from redolab.files.packed import unpacked, wide_encoding
from redolab.values.content import Content

_LOOKED_AT = 1 << 20
_NO_TEXT = (
    (b"PK\x03\x04", "a workbook or another zip file", "Save the sheet as CSV first, or unpack it."),
    (b"\xd0\xcf\x11\xe0", "a workbook of an old spreadsheet", "Save the sheet as CSV first."),
    (b"BZh", "packed by bzip2", "Unpack it first: bzip2 -dc FILE | redolab analyze -"),
    (b"\xfd7zXZ", "packed by xz", "Unpack it first: xz -dc FILE | redolab analyze -"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", "Unpack it first: zstd -dc FILE | redolab analyze -"),
    (b"PAR1", "a Parquet file", "Write its columns as CSV first."),
)
_AMONG = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp932", "euc_jp", "gb18030",
    "big5", "cp949", "koi8_r",
)  # fmt: skip
"""Encodings of spreadsheets. All of them write digits and separators as ASCII does, so that a wrong guess
changes names and no number."""


def as_text(content: Content, encoding: str | None = None) -> Content:
    """The content, unpacked and in UTF-8.

    Args:
        content: as it was found.
        encoding: of its letters, where the user named it.

    Raises:
        UsageError: it is not text, or has more bytes than are held in memory.
    """
    content = _unpacked(content)
    with content.open() as file:
        head = file.read(_LOOKED_AT)
    for magic, what, mend in _NO_TEXT:
        if head.startswith(magic):
            raise UsageError(f"{content.place} is {what}, not text. {mend}")
    if encoding is not None:
        return _decoded(content, encoding, ())
    found = wide_encoding(head)
    if found is not None:
        return _decoded(content, found, ())
    if _is_utf8(head):
        return content
    guess = _guessed(content.place, head)
    note = (
        f"The file is not UTF-8. The letters of the file were read as {guess}, which is a guess. Numbers do "
        "not depend on the encoding; --encoding names another encoding."
    )
    return _decoded(content, guess, (note,))


def _unpacked(content: Content) -> Content:
    with content.open() as file:
        found = unpacked(
            file, content.place, MOST_PIPED_BYTES, "Unpack it, and cut out the columns that matter."
        )
    return content if found is None else content.rewritten(found)


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < _LOOKED_AT)
    except UnicodeDecodeError:
        return False
    return True


def _guessed(place: str, head: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(head, cp_isolation=list(_AMONG), threshold=0.5).best() if b"\0" not in head else None
    if best is None:
        line = head.count(b"\n", 0, _first_wrong(head)) + 1
        raise UsageError(
            f"{place}, line {line}: byte 0x{head[_first_wrong(head)]:02x} is not UTF-8, and Redolab does not "
            "recognise another encoding. Name the encoding with --encoding, for example --encoding latin1."
        )
    return str(best.encoding)


def _first_wrong(head: bytes) -> int:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _decoded(content: Content, encoding: str, notes: tuple[str, ...]) -> Content:
    with content.open() as file:
        raw = file.read(MOST_PIPED_BYTES + 1)
    if len(raw) > MOST_PIPED_BYTES:
        raise UsageError(
            f"{content.place} is not UTF-8 and has more than {MOST_PIPED_BYTES:,} bytes. Convert it first, "
            f"for example: iconv -f {encoding} -t utf-8."
        )
    try:
        text = codecs.decode(raw, encoding)
    except LookupError as error:
        raise UsageError(
            f"--encoding {encoding} is not a known encoding. Name one such as utf-8, latin1, cp1252 or "
            "utf-16."
        ) from error
    except ValueError as error:
        raise UsageError(
            f"{content.place} cannot be read as {encoding}: {error}. Name its encoding with --encoding."
        ) from error
    if not isinstance(text, str):
        raise UsageError(
            f"--encoding {encoding} is not an encoding of text. Name one such as utf-8, latin1, cp1252 or "
            "utf-16."
        )
    return content.rewritten(text.removeprefix("\ufeff"), encoding=encoding, notes=content.notes + notes)

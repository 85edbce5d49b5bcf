"""Files that are packed, in another encoding, or larger than anything that is read."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from redolab import bounds
from redolab.errors import UsageError
from redolab.values.file import ValuesFile, read_values

Read = Callable[..., ValuesFile]
# Without a time in it, so that a test has the same name in every process.
packed = partial(gzip.compress, mtime=0)
TEXT = "n\tms\r\n0\t0.238\r\n1\t1.5\r\n"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads bytes as a file."""

    def reader(content: bytes, **named: str) -> ValuesFile:
        path = tmp_path / "file.csv"
        path.write_bytes(content)
        return read_values(str(path), **named)

    return reader


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (TEXT.encode("utf-16"), "utf-16"),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16"),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("utf-16-be"), "utf-16-be"),
        (TEXT.encode("utf-32"), "utf-32"),
        (TEXT.encode("utf-8-sig"), "UTF-8"),
        (packed(TEXT.encode("utf-16")), "utf-16"),
    ],
)
def test_wide_text_is_read(read: Read, content: bytes, encoding: str) -> None:
    found = read(content)
    assert (found.name, found.values.tolist(), found.encoding) == ("ms", [0.238, 1.5], encoding)
    assert not any("--encoding" in note for note in found.notes)


@pytest.mark.parametrize("encoding", ["cp1252", "cp1250", "cp1251", "shift_jis", "gb18030", "koi8_r"])
def test_a_guess_at_an_encoding_changes_no_number_and_is_said(read: Read, encoding: str) -> None:
    name = {"cp1251": "время", "koi8_r": "время", "shift_jis": "時間", "gb18030": "时间"}.get(
        encoding, "Größe"
    )
    content = f"wo;{name}\nhier;1,5\ndort;2,25\n".encode(encoding)
    guessed = read(content)
    assert guessed.values.tolist() == [1.5, 2.25]
    assert any("a guess. Numbers do not depend on the encoding; --encoding" in note for note in guessed.notes)
    told = read(content, encoding=encoding)
    assert (told.name, told.values.tolist()) == (name, [1.5, 2.25])
    assert not told.notes


@pytest.mark.parametrize(
    ("encoding", "said"),
    [("klingon", "klingon is not a known encoding"), ("base64", "not an encoding of text|cannot be read"),
     ("ascii", "cannot be read as ascii")],
)  # fmt: skip
def test_an_encoding_that_does_not_fit_is_refused(read: Read, encoding: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read("größe\n1\n".encode(), encoding=encoding)


def test_members_of_gzip_and_padding_behind_them(read: Read) -> None:
    members = packed(b"ms\n1.5\n") + packed(b"2.25\n")
    assert read(members + bytes(512)).values.tolist() == [1.5, 2.25]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (packed(b"ms\n1.5\n")[:-6], "ends too early"),
        (packed(b"ms\n1.5\n")[:-8] + bytes(8), "damaged"),
        (packed(b"ms\n1.5\n") + b"and more", "damaged"),
        (bz2.compress(b"ms\n1\n"), "packed by bzip2.*bzip2 -dc FILE"),
        (lzma.compress(b"ms\n1\n"), "packed by xz"),
        (b"PK\x03\x04" + bytes(30), "a workbook or another zip file.*as CSV"),
        (packed(b"PK\x03\x04" + bytes(30)), "a workbook or another zip file.*as CSV"),
    ],
)  # fmt: skip
def test_what_is_no_text_is_named(read: Read, content: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(content)


def test_more_rows_than_memory_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "response-times.csv"
    with place.open("wb") as file:
        file.write(b"ms\n" + b"12345\n" * 400_000)
        file.truncate(6_000_000_000)
    monkeypatch.setattr("redolab.files.system.memory_bytes", lambda: 64_000_000_000)
    with pytest.raises(
        UsageError,
        match=r"about 1,000,00\d,\d{3} rows\. .* about 72.0 GB .* machine has 64\.0\. Take a part",
    ):
        read_values(str(place))


def test_rows_that_fit_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "response-times.csv"
    place.write_bytes(b"ms\n" + b"12345\n" * 1000)
    monkeypatch.setattr("redolab.files.system.memory_bytes", lambda: 1001 * bounds.MEMORY_PER_VALUE)
    assert read_values(str(place)).rows == 1000
    monkeypatch.setattr("redolab.files.system.memory_bytes", lambda: None)
    assert read_values(str(place)).rows == 1000


def test_what_unpacks_to_more_than_is_held_is_refused(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redolab.values.reading.text.MOST_PIPED_BYTES", 1 << 20)
    assert bounds.MOST_PIPED_BYTES > 1 << 20
    with pytest.raises(UsageError, match="unpacks to more than 1,048,576 bytes"):
        read(packed(b"1\n" * (1 << 20)))
    with pytest.raises(UsageError, match="is not UTF-8 and has more than 1,048,576 bytes"):
        read(("1\n" * (1 << 19)).encode("utf-16"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1" * (3 << 20), "line 1 has more than 1,048,576 letters"),
        (b"ms\n1\n" + b"1" * (3 << 20), "more than 1,048,576 letters in line 2 of its values"),
        (b"0 1 3131 0 1499414498 750\n" * 2 + b"1" * (3 << 20), "more than 1,048,576 letters"),
        (b",".join([b"1"] * 20_000) + b"\n", "has 20,000 columns, and Redolab reads at most 16,384"),
        (b",".join([b"1"] * 200_000) + b"\n", "has 200,000 columns"),
        (bytes(3 << 20), "not lines of text"),
    ],
    ids=["first", "later", "log", "columns", "more columns", "zeros"],
)  # fmt: skip
def test_what_is_too_long_or_too_wide_is_refused(read: Read, content: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(content)

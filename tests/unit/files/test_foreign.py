"""Bytes from outside, read with bounds."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import redolab
from redolab.errors import UsageError
from redolab.files.documents import parse_json, parse_json_object, parse_toml, read_toml
from redolab.files.folder import Folder
from redolab.files.foreign import read_regular
from redolab.files.parquet_sizes import parquet_sizes
from redolab.files.tables import parse_table
from redolab.records.draw import Draw
from redolab.records.schema import schema

DRAW = {
    "sample": 1, "block": 1, "position": 1, "setting": "a", "started_at": "2026-11-21T08:00:00Z",
    "start_s": 0.0, "elapsed_s": 1.0, "spoiled": None, "groups": 2, "values": [1.0, 2.0],
}  # fmt: skip


def stored(rows: Sequence[dict[str, Any]], **how: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema(Draw)), sink, **how)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def read(content: bytes, most_rows: int = 1000) -> Any:
    return parse_table(content, "samples.parquet", schema(Draw), (), most_rows, "say more")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"[" * 5000, "inside one another"),
        (b"[" * 200_000 + b"]" * 200_000, "inside one another"),
        (b"[" * 62 + b"]" * 62, "inside one another"),
        (b'{"a":' * 500 + b"1" + b"}" * 500, "inside one another"),
        (b"1" + b"0" * 400, "too large"),
        (b"1" + b"0" * 5000, "too large"),
        (b"99999999999999999999", "64 bits"),
        (b"NaN", "NaN"),
        (b"-Infinity", "Infinity"),
        (b"1e999", "not finite"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b"\xff", "not UTF-8"),
        (b'"\\ud800"', "not Unicode"),
        (b"", "Expecting value"),
        (b"[" + b"1," * 4_000_000 + b"1]", "more than 4,000,000 values"),
        (b" " * (1 << 26) + b"11", "more than 64 MB"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_json_beyond_its_bounds_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(UsageError, match=why) as raised:
        parse_json(text, "a.json", "mend it")
    assert str(raised.value).startswith("a.json cannot be read: ")
    assert str(raised.value).endswith("; mend it.")


def test_json_within_its_bounds_is_read() -> None:
    assert parse_json(b'{"a": [18446744073709551615, -1.5e300, "\\ud83d\\ude00"]}', "a") == {
        "a": [18446744073709551615, -1.5e300, "\U0001f600"]
    }
    with pytest.raises(UsageError, match="not a JSON object"):
        parse_json_object(b"[]", "a")


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 3000 + "]" * 3000, "a = " + "1" * 400, "a = " + "1" * 5000, "a = nan", "a = inf",
     "a = 1e999", "a = ", "a = 1\na = 2", ".".join("a" * 3000) + " = 1"],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_toml_beyond_its_bounds_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^a\.toml "):
        parse_toml(text, "a.toml")


def test_toml_is_read_from_files_and_pipes_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("a = 1")
    assert read_toml(path) == ("a = 1", {"a": 1})
    into, out = os.pipe()
    os.write(out, b"a = 2")
    os.close(out)
    assert read_toml(Path(f"/dev/fd/{into}"))[1] == {"a": 2}
    os.close(into)
    for place, why in (
        (Path("/dev/zero"), "a device"),
        (tmp_path, "a directory"),
        (tmp_path / "no", "No such"),
    ):
        with pytest.raises(UsageError, match=why):
            read_toml(place)
    path.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not UTF-8 text"):
        read_toml(path)


def test_no_link_pipe_or_device_inside_a_directory_is_opened(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"1")
    (tmp_path / "link").symlink_to("plain")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "plain").write_bytes(b"2")
    (tmp_path / "folder").symlink_to("inner")
    os.mkfifo(tmp_path / "pipe")
    with Folder.to_read(tmp_path) as folder:
        assert folder.read("plain", 9) == b"1"
        with folder.inner("inner") as inner:
            assert inner.read("plain", 9) == b"2"
            assert inner.names(9) == ["plain"]
            with pytest.raises(UsageError, match="more than 0 files"):
                inner.names(0)
        for name in ("link", "pipe", "inner", "folder/plain", "../x", "/etc/passwd", "", ".", "inner/"):
            for use in (lambda name: folder.read(name, 9), folder.hash):
                with pytest.raises((UsageError, OSError)):
                    use(name)
        for name in ("folder", "inner/..", ".."):
            with pytest.raises((UsageError, OSError), match=re.escape(name)):
                folder.inner(name)
        with pytest.raises(UsageError, match="more than 0 bytes"):
            folder.read("plain", 0)
    # What the user named may be a link, and is no device.
    assert read_regular(tmp_path / "link", 9) == b"1"
    with pytest.raises(UsageError, match="a device"):
        read_regular(Path("/dev/zero"), 9)


def test_a_table_comes_out_as_it_was_stored() -> None:
    assert read(stored([DRAW])).to_pylist() == [DRAW]
    assert read(stored([])).num_rows == 0


def test_sizes_are_told_without_decoding() -> None:
    found = parquet_sizes(stored([DRAW] * 100))
    assert (found.rows, found.values) == (100, 9 * 100 + 200)
    assert found.decoded_bytes > 0


@pytest.mark.parametrize("codec", ["zstd", "gzip", "brotli", "lz4"])
def test_what_compresses_without_end_is_refused(codec: str) -> None:
    with pytest.raises(UsageError, match="compressed"):
        read(stored([DRAW], compression=codec))


def test_a_footer_that_lies_of_its_pages_is_refused() -> None:
    content = stored([DRAW] * 100, use_dictionary=False)
    with pytest.raises(UsageError, match="100 rows by its footer"):
        read(content, most_rows=99)
    # The number of rows stands in the footer, and in each of its columns as the number of values.
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    hundred = bytes([0xC8, 0x01])
    assert content.count(hundred, end) >= 10
    lying = content[:end] + content[end:].replace(hundred, bytes([0xC8, 0x02]))
    with pytest.raises(UsageError, match="different numbers"):
        read(lying)


def test_pages_without_end_are_refused_soon() -> None:
    # A footer in which one column chunk has a million empty page headers.
    page = bytes([0x15, 0, 0x15, 0, 0x15, 0, 0x2C, 0x15, 0, 0, 0])
    pages = page * 1_000_000
    length = _varint(2 * len(pages))
    column = bytes([0x3C, 0x45, 0]) + bytes([0x15, 0, 0x16, 0]) + bytes([0x16]) + length + bytes([0x26, 8, 0])
    group = bytes([0x19, 0x1C]) + column + bytes([0, 0x26, 2, 0])
    footer = bytes([0x36, 2, 0x19, 0x1C]) + group + bytes([0])
    content = b"PAR1" + pages + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(ValueError, match="more than 1,000,000 parts"):
        parquet_sizes(content)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([DRAW | {"start_s": float("nan")}], "a NaN or an infinite number"),
        ([DRAW | {"values": [1.0, float("inf")]}], "a NaN or an infinite number"),
        ([DRAW | {"start_s": 1e19}], "outside"),
        ([DRAW | {"start_s": 5e-324}], "outside"),
        ([DRAW | {"values": [None]}], "no value"),
        ([DRAW | {"setting": "x" * 70_000}], "more than"),
    ],
    ids=str,
)
def test_values_that_no_analysis_can_take(rows: list[dict[str, Any]], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read(stored(rows))


def test_other_columns_are_refused() -> None:
    table = pa.Table.from_pylist([DRAW], schema=schema(Draw))
    for changed, why in (
        (table.drop_columns(["setting"]), "lacks the column 'setting'"),
        (table.append_column("zzz", pa.array([1])), "does not know its column 'zzz'"),
        (table.append_column("setting", pa.array(["a"])), "two columns of the name"),
        (table.set_column(0, "sample", pa.array(["1"])), "must be int64"),
        (table.set_column(0, "sample", pa.array([[1]])), "must be int64"),
        (table.set_column(0, "sample", pa.array([None], pa.int64())), "null values"),
    ):
        sink = pa.BufferOutputStream()
        pq.write_table(changed, sink)
        with pytest.raises(UsageError, match=why):
            read(sink.getvalue().to_pybytes())


def test_nothing_else_decodes_bytes_from_outside() -> None:
    """One place each reads JSON and Parquet; what else decodes them reads what Redolab wrote itself."""
    own = {
        "files/documents.py",
        "files/tables.py",
        # Parts that have the hash which their writer took of them in this process.
        "records/store.py",
        "forecast/track_record.py",
        "forecast/costs/inferred/priors.py",
        "engine/postgres/waits/events/__init__.py",
        "engine/private/guard.py",
        # From its parent, by a pair of sockets that nobody else has.
        "engine/oracle/clients/host.py",
    }
    root = Path(redolab.__file__).parent
    decodes = re.compile(r"json\.loads?\(|pq\.(read_|ParquetFile)|parquet import|pickle|marshal")
    found = {str(path.relative_to(root)) for path in root.rglob("*.py") if decodes.search(path.read_text())}
    assert found <= own

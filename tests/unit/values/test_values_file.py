from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from redolab.errors import UsageError
from redolab.values.file import ValuesFile, read_values

Read = Callable[..., ValuesFile]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads text, or bytes, as a file."""

    def reader(content: str | bytes, *columns: str, **named: str) -> ValuesFile:
        path = tmp_path / "file.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_values(str(path), *columns, **named)

    return reader


def test_the_only_column_of_numbers_is_taken(read: Read) -> None:
    found = read("when,ms\nmonday,1.5\ntuesday,2\n")
    assert found.name == "ms"
    assert found.values.tolist() == [1.5, 2.0]
    assert (found.groups, found.member.tolist()) == ((), [])


def test_groups_stand_in_order_of_appearance(read: Read) -> None:
    found = read("ms,mode\n1,b\n2,a\n3,b\n", group="mode")
    assert found.groups == ("b", "a")
    assert found.member.tolist() == [0, 1, 0]


def test_numbers_may_be_group_names(read: Read) -> None:
    found = read("ms,sessions\n1,4\n2,32\n", group="sessions")
    assert (found.name, found.groups) == ("ms", ("4", "32"))


def test_what_is_missing_is_counted_and_left_out(read: Read) -> None:
    found = read("ms,g\n1,a\n,a\nNaN,b\ninf,b\n-inf,b\n2,\nNA,c\n", value="ms", group="g")
    assert found.values.tolist() == [1.0]
    assert (found.rows, found.missing, found.not_finite, found.no_group) == (7, 3, 2, 1)
    assert found.groups == ("a", "b", "c")


def test_an_empty_line_is_a_missing_value_where_there_is_one_column(read: Read) -> None:
    assert read("ms\n1\n\n2\n").missing == 1
    assert read("ms,g\n1,a\n\n2,b\n").missing == 0


@pytest.mark.parametrize(
    ("text", "values", "separator", "point"),
    [
        ("ms;n\n1,5;x\n-2,25;y\n", [1.5, -2.25], ";", ","),
        ("ms;n\n1.5;x\n2.25;y\n", [1.5, 2.25], ";", "."),
        ("ms\tn\n1.5\tx\n2\ty\n", [1.5, 2.0], "\t", "."),
        ("﻿ms\r\n1e3\r\n 2 \r\n", [1000.0, 2.0], ",", "."),
        ('"a, b",ms\n"x\ny",1\nz,2\n', [1.0, 2.0], ",", "."),
        ("# source: here\n\n# and there\nms\n1\n2\n", [1.0, 2.0], ",", "."),
    ],
)  # fmt: skip
def test_forms_of_files(read: Read, text: str, values: list[float], separator: str, point: str) -> None:
    found = read(text)
    assert found.values.tolist() == values
    assert (found.separator, found.decimal_point, found.header) == (separator, point, True)


def test_a_first_line_of_numbers_counts_as_values(read: Read) -> None:
    found = read("1\n2\n3\n")
    assert (found.name, found.header, found.values.tolist()) == ("column_1", False, [1.0, 2.0, 3.0])
    assert read("1,7\n2,8\n", value="column_2").values.tolist() == [7.0, 8.0]


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("", {}, "is empty"),
        ("\n \n", {}, "is empty"),
        ("# nothing else\n", {}, "holds only comments"),
        ("ms\n", {}, "no number in the column ms: 0 rows"),
        ("ms\n\n\n", {}, "2 of them without a value"),
        ("ms\n1\n2\nfast\n4\n", {}, "line 4: 'fast' in the column ms is not a number"),
        ('ms,g\n1,"a\nb"\nslow,c\n', {"value": "ms"}, "line 4: 'slow'"),
        ("# x\nms\n1\n1_000\n", {}, "line 4: '1_000'"),
        ("ms\n1\n" + "x" * 100 + "\n", {}, "'" + "x" * 40 + "...'"),
        ("ms,g\n1,a\n2\n", {"value": "ms"}, "line 3 has 1 cell, but the first line has 2"),
        ("a,b\n1,2\n", {}, "has 2 columns of numbers. Choose one with --value: a, b."),
        ("a,b\nx,y\n", {}, "has no column of numbers. Choose one with --value: a, b."),
        ("a,b\n1,2\n", {"value": "c"}, "has no column 'c' for --value. It has: a, b."),
        ("a,b\n1,2\n", {"group": "c"}, "has no column 'c' for --group. It has: a, b."),
        ("a,a\n1,2\n", {"value": "a"}, "has 2 columns named 'a'"),
        ("a,b\n1,2\n", {"value": "a", "group": "a"}, "both name a"),
        ("ms\n1e308\n1\n", {}, "its square does not fit a double"),
        ("ms\n1e-200\n2e-200\n", {}, "its square does not fit a double"),
        (b"ms,g\n1,\x81\x00\n", {}, "line 2: byte 0x81 is not UTF-8"),
        (b"ms\n1\n\0\n", {}, "its bytes are not lines of text"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said_with_its_place(
    read: Read, content: str | bytes, options: dict[str, str], said: str
) -> None:
    import re

    with pytest.raises(UsageError, match=said if "|" in said else re.escape(said)):
        read(content, **options)


def test_bytes_that_are_no_text_far_behind_the_head(read: Read) -> None:
    rows = b"1,a\n" * 300_000
    with pytest.raises(UsageError, match="contains bytes that are not UTF-8"):
        read(b"ms,g\n" + rows + b"2,\xe9\n", group="g")


def test_many_names_are_not_all_said(read: Read) -> None:
    header = ",".join(f"c{number}" for number in range(500))
    with pytest.raises(UsageError, match="c19 and 480 more"):
        read(f"{header}\n" + ",".join(["1"] * 500) + "\n", value="none")


def test_a_directory_and_a_device_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a directory"):
        read_values(str(tmp_path))
    with pytest.raises(UsageError, match="is a device"):
        read_values("/dev/null")
    with pytest.raises(UsageError, match="No such file"):
        read_values(str(tmp_path / "none.csv"))


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("ms\n1\n2\n",))
    writer.start()
    assert read_values(str(path)).values.tolist() == [1.0, 2.0]
    writer.join()


def test_an_error_in_a_pipe_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("ms\n1\nno\n",))
    writer.start()
    with pytest.raises(UsageError, match="line 3: 'no'"):
        read_values(str(path))
    writer.join()


def test_a_long_file_is_read_whole_and_in_order(read: Read) -> None:
    values = np.random.default_rng(1).normal(size=300_000)
    text = "ms,g\n" + "".join(f"{value!r},{'ab'[place % 2]}\n" for place, value in enumerate(values.tolist()))
    found = read(text, group="g")
    assert np.array_equal(found.values, values)
    assert np.array_equal(found.member, np.arange(300_000) % 2)


def test_another_column_is_taken_off_row_by_row(read: Read) -> None:
    found = read("a,b,g\n3,1,x\n5,,x\n,2,y\n4,1.5,y\ninf,inf,x\n", value="a", against="b", group="g")
    assert found.title == "a less b"
    assert found.values.tolist() == [2.0, 2.5]
    assert [found.groups[place] for place in found.member] == ["x", "y"]
    assert (found.rows, found.missing, found.not_finite) == (5, 2, 1)


def test_of_two_columns_of_numbers_the_other_one_is_the_value(read: Read) -> None:
    assert read("a,b\n3,1\n", against="b").values.tolist() == [2.0]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"value": "a", "against": "a"}, "--value and --against both name a"),
        ({"value": "a", "against": "b", "group": "b"}, "--against and --group both name b"),
        ({"value": "a", "against": "c"}, "no column 'c' for --against"),
        ({"value": "a", "against": "b"}, "line 3: 'two' in the column b is not a number"),
    ],
)
def test_a_second_column_that_cannot_be_taken_off(columns: dict[str, str], said: str, read: Read) -> None:
    with pytest.raises(UsageError, match=said):
        read("a,b\n1,1\n2,two\n", **columns)

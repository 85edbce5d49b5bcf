"""Numbers as spreadsheets of any locale write them, and what can be read in two ways."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from redolab.errors import UsageError
from redolab.values.file import ValuesFile, read_values
from redolab.values.reading.numbers import Written, number

Read = Callable[..., ValuesFile]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads text, or bytes, as a file."""

    def reader(content: str | bytes, *columns: str, **named: str) -> ValuesFile:
        path = tmp_path / "file.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_values(str(path), *columns, **named)

    return reader


def rows(*cells: str, head: str = "us") -> str:
    """A file with a column that counts its rows, as spreadsheets of Europe separate it."""
    return f"n;{head}\n" + "".join(f"{place};{cell}\n" for place, cell in enumerate(cells))


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        (rows("934", "1.001"), [934.0, 1.001], [934.0, 1001.0]),
        (rows("934", "1,001"), [934.0, 1001.0], [934.0, 1.001]),
        (rows("1.447", "1.682"), [1.447, 1.682], [1447.0, 1682.0]),
        (rows("-934", "-1.001"), [-934.0, -1.001], [-934.0, -1001.0]),
        ("us\n934\n1.001\n", [934.0, 1.001], [934.0, 1001.0]),
        ("us\n926\n1,058\n", [926.0, 1058.0], [926.0, 1.058]),
        ("us\n1.447\n1.682\n", [1.447, 1.682], [1447.0, 1682.0]),
        ("us\tg\n1.447\ta\n1.682\tb\n", [1.447, 1.682], [1447.0, 1682.0]),
        ("us,g\n934,a\n1.001,b\n", [934.0, 1.001], [934.0, 1001.0]),
        ('us,g\n926,a\n"1,058",b\n', [926.0, 1058.0], [926.0, 1.058]),
        (rows("1.001 ms", "934 ms"), [1.001, 934.0], [1001.0, 934.0]),
        (rows("1.000", "2.000"), [1.0, 2.0], [1000.0, 2000.0]),
        ("us;host\n934;192.168.100.101\n1.001;192.168.100.102\n", [934.0, 1.001], [934.0, 1001.0]),
        ("us;version\n934;18.6.3\n1.001;18.6.3\n", [934.0, 1.001], [934.0, 1001.0]),
    ],
)  # fmt: skip
def test_two_readings_are_both_named_and_an_option_settles_them(
    read: Read, text: str, point: list[float], comma: list[float]
) -> None:
    with pytest.raises(UsageError) as refused:
        read(text, value="us")
    said = str(refused.value)
    assert "column us can be read in two ways" in said
    assert "--decimal . or --decimal ," in said
    (marked,) = {
        number(cell)
        for cell in (said.split("ways: ")[1].split(" is ", maxsplit=1)[0].split(", and ", maxsplit=1)[0],)
    }
    assert marked is not None
    for mark in ".,":
        assert f"{marked.value(mark):g} with a decimal {'point' if mark == '.' else 'comma'}" in said
    assert read(text, value="us", decimal=".").values.tolist() == point
    assert read(text, value="us", decimal=",").values.tolist() == comma


@pytest.mark.parametrize(
    ("text", "values", "mark"),
    [
        # What one cell of the column proves, all its cells are.
        (rows("934", "1.001", "0.934"), [934.0, 1.001, 0.934], "."),
        (rows("934", "1.001", "5,5"), [934.0, 1001.0, 5.5], ","),
        (rows("934", "1.001", "1.234.567"), [934.0, 1001.0, 1234567.0], ","),
        (rows("1.234,5", "1.001"), [1234.5, 1001.0], ","),
        (rows("1,234.5", "1,001"), [1234.5, 1001.0], "."),
        (rows("1.447", "12.5"), [1.447, 12.5], "."),
        (rows("1.447", "1234"), [1.447, 1234.0], "."),
        (rows("1.447", "1e3"), [1.447, 1000.0], "."),
        (rows("1 234,567", "1 001"), [1234.567, 1001.0], ","),
        (rows("1\u202f234,5", "1\u202f001"), [1234.5, 1001.0], ","),
        (rows("1\u00a0234", "934"), [1234.0, 934.0], "."),
        (rows("1'234.5", "1'001"), [1234.5, 1001.0], "."),
        (rows("1’234.5", "934"), [1234.5, 934.0], "."),
        (rows("12,34,567.5", "934"), [1234567.5, 934.0], "."),
        (rows("\u22121.234,5", "934"), [-1234.5, 934.0], ","),
        (rows("١٬٢٣٤٫٥", "٩٣٤"), [1234.5, 934.0], "."),
        # Commas between cells, so a point stands before decimals.
        ("n,us\n0,1.447\n1,1.682\n", [1.447, 1.682], "."),
        # Another column of the file proves it.
        ("us;ms\n934;5,42\n1.001;1,21\n", [934.0, 1001.0], ","),
        ("us;ms\n934;5.42\n1,001;1.21\n", [934.0, 1001.0], "."),
        ("us;ms\n934;0.421\n1.001;1.217\n", [934.0, 1.001], "."),
        ("us;name\n934,5;5.42 or so\n1.001,25;x\n", [934.5, 1001.25], ","),
        # A single column is read as one, whatever marks are in it.
        ("us\n1,5\n2,25\n", [1.5, 2.25], ","),
    ],
)  # fmt: skip
def test_what_a_file_proves_is_read(read: Read, text: str, values: list[float], mark: str) -> None:
    found = read(text, value="us")
    assert found.values.tolist() == values
    assert found.decimal_point == mark


def test_a_mark_far_behind_the_head_counts_too(read: Read) -> None:
    many = "".join(f"{place};{900 + place % 90}\n" for place in range(200_000))
    with pytest.raises(
        UsageError, match=r"Numbers without a mark, such as 900, do not show which mark is the decimal mark"
    ):
        read(f"n;us\n{many}9;1.001\n", value="us")
    assert read(f"n;us\n{many}9;1.001\n9;2,5\n", value="us").values[-2:].tolist() == [1001.0, 2.5]


def test_a_column_that_contradicts_itself_is_refused(read: Read) -> None:
    with pytest.raises(UsageError, match=r"has both 1.5, .* and 2,5"):
        read(rows("1.5", "2,5"), value="us")


def test_a_cell_that_the_option_makes_no_number_is_named_with_its_line(read: Read) -> None:
    with pytest.raises(
        UsageError, match=r"line 3: '1.50' in the column us is not a number with a decimal comma"
    ):
        read(rows("934", "1.50"), value="us", decimal=",")


def test_against_has_the_mark_of_the_file(read: Read) -> None:
    found = read("a;b;c\n1.001;934;0,5\n2.002;935;1,5\n", value="a", against="b")
    assert found.values.tolist() == [67.0, 1067.0]


@pytest.mark.parametrize(
    ("text", "written", "point", "comma"),
    [
        ("934", Written.SHORT, 934.0, 934.0),
        ("1234", Written.LONG, 1234.0, 1234.0),
        ("1.001", Written.EITHER_POINT, 1.001, 1001.0),
        ("0.934", Written.POINT, 0.934, None),
        (".934", Written.POINT, 0.934, None),
        ("1.0010", Written.POINT, 1.001, None),
        ("1234.567", Written.POINT, 1234.567, None),
        ("1.234.567", Written.COMMA, None, 1234567.0),
        ("1,001", Written.EITHER_COMMA, 1001.0, 1.001),
        ("1.5e3", Written.POINT, 1500.0, None),
    ],
)  # fmt: skip
def test_what_one_cell_says(text: str, written: Written, point: float | None, comma: float | None) -> None:
    one = number(text)
    assert one is not None
    assert (one.written, one.value("."), one.value(",")) == (written, point, comma)


@pytest.mark.parametrize(
    "text",
    ["", "x", "1_000", "18.6.3", "10.0.0.1", "2024-01-01", "12:30", "1.2,3.4", "0x1F", "1 23", "1.23.4",
     "1,2.3,4", "--1", "1..2", "1" * 101, "5 ms 3", "1'23", "12.345.67", "10.100.200.255", "1,234,56.7"],
)  # fmt: skip
def test_what_is_no_number(text: str) -> None:
    assert number(text) is None


def test_infinite_values_of_a_german_file_are_left_out(read: Read) -> None:
    found = read(rows("1,5", "inf", "-Infinity", "", "NA"), value="us")
    assert found.values.tolist() == [1.5]
    assert (found.missing, found.not_finite) == (2, 2)
    assert math.isfinite(found.values[0])


# Separators


@pytest.mark.parametrize("first", ["sep=;", "SEP=;", '"sep=;"', "sep=;\r"])
def test_the_line_that_names_the_separator_is_no_row(read: Read, first: str) -> None:
    found = read(f"{first}\nn;ms\n0;1,5\n1;2,25\n", value="ms")
    assert (found.values.tolist(), found.separator, found.rows) == ([1.5, 2.25], ";", 2)


def test_a_named_separator_may_be_any(read: Read) -> None:
    assert read("sep=~\na~ms\nx~1.5\ny~2.25\n").values.tolist() == [1.5, 2.25]


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a|ms\nx|1.5\ny|2.25\n", "|"),
        ("a   ms\nx    1.5\nyy  2.25\n", " "),
        ("when, where; why;ms\nx;u;1.5\ny;v;2.25\n", ";"),
        ("a;b;c, d, e, f;ms\nx;y;z;1.5\nx;y;z;2.25\n", ";"),
    ],
)  # fmt: skip
def test_what_cuts_all_lines_alike_separates(read: Read, text: str, separator: str) -> None:
    found = read(text, value="ms")
    assert (found.values.tolist(), found.separator) == ([1.5, 2.25], separator)


def test_a_file_that_nothing_cuts_alike_says_how_it_was_read(read: Read) -> None:
    with pytest.raises(
        UsageError, match="read as one column, because no comma, semicolon, tab, bar or blank cuts"
    ):
        read("a b c\n1 2\n3 4 5 6\n")
    with pytest.raises(
        UsageError, match=r"line 3 has 1 cell, but the first line has 2.*separated by semicolons"
    ):
        read("a;ms\n1;2\n3\n", value="ms")


# Units


@pytest.mark.parametrize(
    ("cells", "values", "unit"),
    [
        (["1.5ms", "2.25ms"], [1.5, 2.25], "ms"),
        (["1.5 ms", "900 µs", "0"], [1.5, 0.9, 0.0], "ms"),
        (["1.5 ms", "900 us", "0.25 ms"], [1.5, 0.9, 0.25], "ms"),
        (["1.5 ms", "2 s", "3 ms"], [1.5, 2000.0, 3.0], "ms"),
        (["5 %", "7.5 %"], [5.0, 7.5], "%"),
        (["5 MB/s", "7.5 MB/s"], [5.0, 7.5], "MB/s"),
        (["1.5 GiB", "512.5 MiB", "1 GiB"], [1.5, 512.5 / 1024, 1.0], "GiB"),
        (["3 widgets", "4 widgets"], [3.0, 4.0], "widgets"),
    ],
)  # fmt: skip
def test_units_in_cells_are_read(read: Read, cells: list[str], values: list[float], unit: str) -> None:
    found = read("n,lat\n" + "".join(f"{place},{cell}\n" for place, cell in enumerate(cells)))
    assert (found.name, found.unit) == ("lat", unit)
    assert found.values.tolist() == values
    assert found.title == f"lat ({unit})"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1.5 ms", "2"], "numbers with the unit ms and others without a unit"),
        (["1 MB", "900 KB", "2 MB"], "has the units MB and KB"),
        (["1.5 ms", "5 %", "2 ms"], "has the units ms and %"),
        (["1 m", "5 s", "2 m"], "has the units m and s"),
    ],
)
def test_units_that_do_not_fit_are_refused(read: Read, cells: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read("n,lat\n" + "".join(f"{place},{cell}\n" for place, cell in enumerate(cells)), value="lat")


def test_columns_of_two_units_are_subtracted_in_that_of_the_value(read: Read) -> None:
    text = "a,b,c\n1.5 ms,900 us,3\n2.5 ms,400 us,4\n"
    assert read(text, value="a", against="b").values == pytest.approx([0.6, 2.1])
    with pytest.raises(UsageError, match="a is in ms, and c in no unit"):
        read(text, value="a", against="c")


def test_a_first_line_of_units_counts_as_values(read: Read) -> None:
    assert read("1.5ms\n2.25ms\n").values.tolist() == [1.5, 2.25]
    assert read("p,50%\nx,1.5\ny,2.25\n").name == "50%"


# Columns that count rows


def test_a_column_that_counts_rows_is_not_what_is_meant(read: Read) -> None:
    found = read("n,ms\n0,1.5\n1,2.25\n2,1\n")
    assert (found.name, found.values.tolist()) == ("ms", [1.5, 2.25, 1.0])
    assert "n follow each other in equal steps" in found.notes[0]
    assert "This column is ignored" in found.notes[0]


@pytest.mark.parametrize("step", [1, 10, -1])
def test_equal_steps_are_a_clock_or_a_count_whatever_they_are_called(read: Read, step: int) -> None:
    text = "taken,ms\n" + "".join(f"{1000 + step * place},{place % 3}.5\n" for place in range(20))
    assert read(text).name == "ms"
    assert read(text, value="taken").values[1] == 1000 + step


def test_a_count_whose_thousands_are_grouped_is_one_too(read: Read) -> None:
    assert read("n;us\n998;5,5\n999;6,5\n1.000;7,5\n1.001;8,25\n").name == "us"


def test_a_row_number_beside_no_numbers_is_never_analysed_silently(read: Read) -> None:
    with pytest.raises(
        UsageError, match=r"no column of numbers but n, .*lat is ignored, because 'slow' in it"
    ):
        read("n,lat\n0,1.5ms\n1,slow\n2,1.25ms\n")
    alone = read("n\n0\n1\n2\n")
    assert alone.values.tolist() == [0.0, 1.0, 2.0]
    assert "equal steps" in alone.notes[0]


def test_a_column_that_is_nearly_of_numbers_is_said_to_be_left_aside(read: Read) -> None:
    found = read("sessions,ms\n4,1.5\n9,timeout\n16,3\n")
    assert found.name == "sessions"
    assert "ms is ignored, because 'timeout' in it is not a number." in found.notes

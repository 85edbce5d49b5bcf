"""Tables that psql and mysql draw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from redolab.errors import UsageError
from redolab.values.file import ValuesFile, read_values

Read = Callable[..., ValuesFile]

ALIGNED = """\
 mode  |  ms   | bytes
-------+-------+-------
 wait  | 0.608 |   100
 group | 1.860 |
 wait  | 12.5  |   300
(3 rows)
"""
BOXED = """\
+-------+-------+-------+
| mode  | ms    | bytes |
+-------+-------+-------+
| wait  | 0.608 |   100 |
| group | 1.860 |  NULL |
| wait  |  12.5 |   300 |
+-------+-------+-------+
3 rows in set (0.00 sec)
"""
UNICODE = """\
┌───────┬───────┬───────┐
│ mode  │  ms   │ bytes │
├───────┼───────┼───────┤
│ wait  │ 0.608 │   100 │
│ group │ 1.860 │       │
│ wait  │  12.5 │   300 │
└───────┴───────┴───────┘
(3 rows)
"""
BORDERLESS = """\
mode   ms   bytes
----- ----- -----
wait  0.608   100
group 1.860
wait   12.5   300
(3 rows)
"""
UNALIGNED = "mode|ms|bytes\nwait|0.608|100\ngroup|1.860|\nwait|12.5|300\n(3 rows)\n"
MARKDOWN = """\
| mode  | ms    | bytes |
|-------|------:|------:|
| wait  | 0.608 | 100   |
| group | 1.860 |       |
| wait  | 12.5  | 300   |
"""
EXPANDED = """\
-[ RECORD 1 ]
mode  | wait
ms    | 0.608
bytes | 100
-[ RECORD 2 ]
mode  | group
ms    | 1.860
bytes |
-[ RECORD 3 ]
mode  | wait
ms    | 12.5
bytes | 300

"""
EXPANDED_BOX = """\
┌─[ RECORD 1 ]─┐
│ mode  │ wait │
│ ms    │ 0.608│
│ bytes │ 100  │
├─[ RECORD 2 ]─┤
│ mode  │ group│
│ ms    │ 1.860│
│ bytes │      │
├─[ RECORD 3 ]─┤
│ mode  │ wait │
│ ms    │ 12.5 │
│ bytes │ 300  │
└───────┴──────┘
"""
VERTICAL = """\
*************************** 1. row ***************************
 mode: wait
   ms: 0.608
bytes: 100
*************************** 2. row ***************************
 mode: group
   ms: 1.860
bytes: NULL
*************************** 3. row ***************************
 mode: wait
   ms: 12.5
bytes: 300
3 rows in set (0.00 sec)
"""
ALL = [ALIGNED, BOXED, UNICODE, BORDERLESS, UNALIGNED, MARKDOWN, EXPANDED, EXPANDED_BOX, VERTICAL]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads text as a file."""

    def reader(content: str, **named: str) -> ValuesFile:
        path = tmp_path / "file.txt"
        path.write_text(content)
        return read_values(str(path), **named)

    return reader


@pytest.mark.parametrize("text", ALL, ids=lambda text: text.split("\n")[0])
def test_every_way_to_draw_a_table_is_read_alike(read: Read, text: str) -> None:
    found = read(text, value="ms", group="mode")
    assert found.values.tolist() == [0.608, 1.86, 12.5]
    assert [found.groups[place] for place in found.member] == ["wait", "group", "wait"]
    other = read(text, value="bytes")
    assert (other.values.tolist(), other.missing) == ([100.0, 300.0], 1)
    assert "ps" in found.format


def test_what_psql_prints_beside_a_table_is_no_row(read: Read) -> None:
    text = (
        f"Timing is on.\npostgres=# select * from x;\n      Some title\n{ALIGNED}\nTime: 0.512 "
        "ms\npostgres=# \\q\n"
    )
    assert read(text, value="ms").values.tolist() == [0.608, 1.86, 12.5]


def test_numbers_of_psql_have_points_whatever_is_beside_them(read: Read) -> None:
    text = " us    \n-------\n 934   \n 1.001 \n(2 rows)\n"
    assert read(text).values.tolist() == [934.0, 1.001]
    assert read(text, decimal=",").values.tolist() == [934.0, 1001.0]


def test_a_table_again_and_again_is_one(read: Read) -> None:
    found = read(f"{ALIGNED}\n{ALIGNED}\n", value="ms")
    assert found.values.tolist() == [0.608, 1.86, 12.5] * 2
    assert "2 tables with the same columns" in " ".join(found.notes)


def test_a_null_in_the_only_column_is_a_missing_value(read: Read) -> None:
    found = read(" ms  \n-----\n 1.5\n    \n 2.5\n(3 rows)\n")
    assert (found.values.tolist(), found.missing) == ([1.5, 2.5], 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ALIGNED.replace("(3 rows)", "(4 rows)"), "own count is 4 rows, but it has 3 here"),
        (BOXED.replace("3 rows in", "5 rows in"), "own count is 5 rows, but it has 3 here"),
        (VERTICAL.replace("3 rows in", "5 rows in"), "own count is 5 rows, but it has 3 here"),
        (UNALIGNED.replace("(3 rows)", "(2 rows)"), "own count is 2 rows, but it has 3 here"),
        (ALIGNED.replace("group |", "gr|up |"), "line 4 has 4 cells, but its table has 3 columns"),
        (UNALIGNED.replace("group|", "gr|up|"), "line 3 has 4 cells between bars, but the first line has 3"),
        (ALIGNED + "\n" + ALIGNED.replace("bytes", "kilos"), "another table .* mode, ms, kilos"),
        (VERTICAL.replace("   ms: 1.860\n", ""), (
            "another table begins here. The second table has the columns mode, bytes"
        )),
        (BORDERLESS.replace("group", "統計"), "letters of double width"),
    ],
)  # fmt: skip
def test_a_table_that_is_not_whole_is_refused(read: Read, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(text, value="ms")


def test_a_cell_that_is_no_number_is_named_by_its_row(read: Read) -> None:
    with pytest.raises(UsageError, match="row 2: 'slow' in the column ms is not a number"):
        read(ALIGNED.replace("1.860", "slow "), value="ms")


@pytest.mark.parametrize("word", ["Time", "Zeit"])
def test_times_that_psql_prints_are_read(read: Read, word: str) -> None:
    found = read(f"{word}: 0.608 ms\nINSERT 0 1\n{word}: 61234.567 ms (01:01.235)\n")
    assert (found.title, found.values.tolist()) == ("time (ms)", [0.608, 61234.567])
    assert read(f"{word}: 1,447 ms\n{word}: 0,5 ms\n").values.tolist() == [1.447, 0.5]

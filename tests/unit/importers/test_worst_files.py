"""Small files that are the worst for their reader: twice the size takes twice the time, not more."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from redolab.bounds import (
    MOST_CELLS,
    MOST_FIGURES,
    MOST_LINES,
    MOST_NESTED_TABLES,
    MOST_REPORT_BYTES,
    MOST_TABLES,
)
from redolab.errors import UsageError
from redolab.importers.html_grids import html_grids
from redolab.importers.layout import Kind
from redolab.importers.reading import read_reports
from redolab.values.file import read_values
from tests.written_reports.worst import WIDE, WORST, pack, page, plain

_COUNT = 8_000
_TIMES = 3.0
"""What twice the size may take of the time of the size; a square takes four times."""
_FREE_S = 0.05
"""Where the time is that of starting."""
_BYTES_A_BYTE = 400
"""Of memory for each byte of a file."""
_VALUES: dict[str, Callable[[int], str]] = {
    "lines without anything": lambda n: "a;b\n1;2\n" + "\n" * n + "3;4\n",
    "lines of blanks": lambda n: "a;b\n1;2\n" + " \n" * n + "3;4\n",
    "blanks": lambda n: "a;b\n1;2\n" + " " * n + ";4\n",
    "columns": lambda n: ",".join("c" for _ in range(n)) + "\n" + ",".join("1" for _ in range(n)) + "\n",
    "columns and short lines": lambda n: ",".join("c" for _ in range(n)) + "\n" + "1\n" * n,
    "a quote that does not end": lambda n: 'a,b\n1,2\n1,"' + "x,y\n" * n,
    "quotes": lambda n: "a,b\n1,2\n" + '"x\n' * n,
    "a line": lambda n: "a\n" + "1" * n + "\n2\n",
}


def _cpu_s(read: Callable[[], object]) -> float:
    before = time.process_time()
    with suppress(UsageError):
        read()
    return time.process_time() - before


def _once_and_twice(once: Callable[[], object], twice: Callable[[], object]) -> tuple[float, float]:
    """CPU seconds for one reading of each, the least of four that take turns: what disturbs meets both."""
    took = [(_cpu_s(once), _cpu_s(twice)) for _ in range(4)]
    return min(it[0] for it in took), min(it[1] for it in took)


@pytest.mark.parametrize("name", WORST)
def test_twice_the_size_takes_twice_the_time(name: str, tmp_path: Path) -> None:
    kind, content = WORST[name]
    files = [tmp_path / "once", tmp_path / "twice"]
    for times, path in enumerate(files, 1):
        path.write_text(content(times * _COUNT))
    once, twice = _once_and_twice(*(partial(read_reports, path, kind) for path in files))
    assert twice < max(_FREE_S, _TIMES * once)


@pytest.mark.parametrize("name", WORST)
def test_a_small_file_takes_little_memory(name: str, tmp_path: Path) -> None:
    kind, content = WORST[name]
    path = tmp_path / "report"
    path.write_text(content(_COUNT))
    tracemalloc.start()
    try:
        with suppress(UsageError):
            read_reports(path, kind)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # A file is read into as much as any may have.
    assert peak < MOST_REPORT_BYTES + _BYTES_A_BYTE * path.stat().st_size


@pytest.mark.parametrize("name", _VALUES)
def test_twice_as_many_values_take_twice_the_time(name: str, tmp_path: Path) -> None:
    files = [tmp_path / "once.csv", tmp_path / "twice.csv"]
    for times, path in enumerate(files, 1):
        path.write_text(_VALUES[name](times * _COUNT))
    once, twice = _once_and_twice(*(partial(read_values, str(path)) for path in files))
    assert twice < max(_FREE_S, _TIMES * once)


@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        ("awr", lambda: page("<table><td>" * (MOST_NESTED_TABLES + 1)), "inside one another"),
        ("awr", lambda: page("<table></table>" * (MOST_TABLES + 1)), f"{MOST_TABLES:,} tables"),
        ("awr", lambda: plain("\n" * MOST_LINES), f"{MOST_LINES:,} lines"),
        ("awr", lambda: plain(WIDE + "x\n" * (MOST_CELLS // 64 + 1)), f"{MOST_CELLS:,} cells"),
        (
            "oracle-pack",
            lambda: pack("".join(f"P|begin|{n}|x\n" for n in range(MOST_FIGURES + 1))),
            f"{MOST_FIGURES:,} figures",
        ),
    ],
)
def test_what_no_database_writes_is_refused(
    kind: Kind, content: Callable[[], str], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "report"
    path.write_text(content())
    with pytest.raises(UsageError, match=said):
        read_reports(path, kind)


@pytest.mark.parametrize(
    ("markup", "rows"),
    [
        ("<table><tr><td>a<td>b<tr><td>c</table>", (("a", "b"), ("c", ""))),
        ("<TABLE><TR><TD>a</TD></TR></TABLE>", (("a",),)),
        ("<table><td title='a > b'>a</td>", (("a",),)),
        ("<table><td title=a>a</td\n><td/>b", (("a", "b"),)),
        ("<table><td>a<!-- <td>b --></td>", (("a",),)),
        ("<table><td>a<script>'<td>b'</script></td>", (("a",),)),
        ("<table><td>1 < 2 &lt; 3&nbsp;&amp; &#65;<b>B</b>C", (("1 < 2 < 3 & ABC",),)),
        ("<table><td>a</th>b</td>", (("ab",),)),
        ("<table>x<tr>y<td>a", (("a",),)),
        ("<table><td>a<td <td>b", (("a", "b"),)),
        ('<table><td>a<td>b<td title="c', (("a", "b"),)),
    ],
)
def test_markup_that_is_not_whole_is_repaired(markup: str, rows: tuple[tuple[str, ...], ...]) -> None:
    assert html_grids(markup.encode())[0].rows == rows


def test_a_table_inside_another_one_is_one_of_its_own() -> None:
    outer, inner = html_grids(b"<h3>T</h3><table><td>a<table summary=s><td>b</table>c<td>d")
    assert (outer.title, outer.rows) == ("t | ", (("abc", "d"),))
    assert (inner.title, inner.rows) == ("t | s", (("b",),))

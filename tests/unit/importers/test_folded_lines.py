"""Reports whose lines were cut at one width, or folded by SQL*Plus between columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from redolab.importers.folded_lines import unfolded
from redolab.importers.layout import Kind
from redolab.importers.reading import read_reports
from tests.written_reports import Truth, awr_text, statspack, truth

_WRITERS: Mapping[str, Callable[[Truth, str], str]] = {"statspack": statspack, "awr": awr_text}
_Figures = dict[tuple[str, str, str], float | str | None]


def _figures(place: Path, text: str, kind: Kind) -> _Figures:
    file = place / "report.txt"
    file.write_text(text)
    (report,) = read_reports(file, kind)
    return {
        (item.section, item.name, item.measure): item.value if item.text is None else item.text
        for item in report.entries
    }


def _cut(text: str, width: int, *, trimmed: bool) -> str:
    """Every line cut at one width, as a mail or a terminal does; perhaps without blanks at the ends."""
    parts = [line[at : at + width] for line in text.split("\n") for at in range(0, max(1, len(line)), width)]
    return "\n".join(part.rstrip() if trimmed else part for part in parts)


def _folded(text: str, width: int) -> str:
    """Every table wider than that with its further columns below the first ones, as SQL*Plus prints it."""
    lines, found = text.split("\n"), list[str]()
    edge = 0
    for line in lines:
        is_dashes = re.fullmatch("-+( -+)+", line) is not None
        if is_dashes and len(line) > width:
            edge = max(end.start() for end in re.finditer(" ", line[: width + 1]))
            heads = list[str]()
            while found[-1] and not found[-1].startswith("->"):
                heads.insert(0, found.pop())
            for part in (slice(0, edge), slice(edge + 1, None)):
                found += [head[part].rstrip() for head in heads if head[part].strip()] + [line[part]]
        elif edge and line and line.strip(" -"):
            found += [line[:edge].rstrip(), line[edge + 1 :].rstrip()]
        else:
            edge = 0
            found.append(line)
    return "\n".join(found)


@pytest.mark.parametrize(
    ("kind", "version", "width", "trimmed"),
    [
        ("statspack", "9.2", 78, True),
        ("statspack", "10.2", 76, False),
        ("statspack", "11.2", 79, True),
        ("statspack", "11.2", 72, False),
        ("statspack", "11.2", 64, True),
        ("awr", "11.2", 70, True),
        ("awr", "12.1", 76, True),
        ("awr", "19c", 79, False),
    ],
)
def test_a_report_whose_lines_were_cut_has_all_figures(
    tmp_path: Path, kind: Kind, version: str, width: int, trimmed: bool
) -> None:
    whole = _WRITERS[kind](truth(), version)
    assert _figures(tmp_path, _cut(whole, width, trimmed=trimmed), kind) == _figures(tmp_path, whole, kind)


@pytest.mark.parametrize(("kind", "version"), [("statspack", "9.2"), ("statspack", "11.2"), ("awr", "19c")])
def test_tables_that_sqlplus_folded_have_all_figures(tmp_path: Path, kind: Kind, version: str) -> None:
    whole = _WRITERS[kind](truth(), version)
    folded = _folded(whole, 72)
    assert folded != whole
    expected = {key: value for key, value in _figures(tmp_path, whole, kind).items() if key[0] != "histogram"}
    found = _figures(tmp_path, folded, kind)
    assert {key: value for key, value in found.items() if key[0] != "histogram"} == expected
    assert all(found[key] == value for key, value in _figures(tmp_path, whole, kind).items() if key in found)


def test_a_report_cut_too_narrow_says_no_wrong_figure(tmp_path: Path) -> None:
    whole = _figures(tmp_path, statspack(truth(), "11.2"), "statspack")
    found = _figures(tmp_path, _cut(statspack(truth(), "11.2"), 60, trimmed=True), "statspack")
    assert found["statistic", "user commits", "total"] == whole["statistic", "user commits", "total"]
    assert all(value is None or value == whole[key] for key, value in found.items())


@pytest.mark.parametrize("kind", ["statspack", "awr"])
def test_lines_that_are_whole_stay_as_they_are(kind: Kind) -> None:
    lines = [line.replace("\f", "") for line in _WRITERS[kind](truth(), "11.2").split("\n")]
    assert unfolded(lines) == lines


def test_a_table_without_rows_is_not_joined_with_what_follows() -> None:
    lines = [
        "Event      Waits",
        "---------- -----",
        "",
        "Name       Total",
        "---------- -----",
        "a              1",
    ]
    assert unfolded(lines) == lines
    closed = [
        "Event      Waits",
        "---------- -----",
        "          -------------",
        "",
        "Name  Total",
        "----- -----",
    ]
    assert unfolded(closed) == closed

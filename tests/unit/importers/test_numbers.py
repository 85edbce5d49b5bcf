"""Numbers in any way that Oracle's sessions print them, and what a report does not decide."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from redolab.importers.layout import Kind
from redolab.importers.numbers import BINARY, Numbers, PrintedNumber
from redolab.importers.reading import read_reports
from redolab.records.report import Entry
from tests.imported_reports import imported, results_of
from tests.written_reports import awr_html, awr_text, statspack, truth

_TOKEN = re.compile(r"(?<![\w.,:-])[-+]?[\d.,]*\d(?![\w.,]*[.,]\d)")
_MARKS = {"points": (".", ","), "blanks": (" ", ","), "hard blanks": ("\u00a0", ","), "quotes": ("'", ".")}
_LAYOUTS: dict[str, tuple[Kind, Callable[..., str], str]] = {
    "page": ("awr", awr_html, "19c"),
    "old page": ("awr", awr_html, "11.2"),
    "text": ("awr", awr_text, "19c"),
    "old text": ("awr", awr_text, "11.2"),
    "Statspack": ("statspack", statspack, "11.2"),
}


def printed_with(text: str, group: str, decimal: str) -> str:
    """A report as a session with other marks prints it; releases have points everywhere."""
    marks = str.maketrans({",": group, ".": decimal})
    release = re.compile(r"\d+\.\d+\.\d+\.\d+\.\d+")
    return _TOKEN.sub(lambda found: found[0] if release.search(found[0]) else found[0].translate(marks), text)


def read(place: Path, text: str, kind: Kind = "awr") -> dict[tuple[str, str, str], Entry]:
    path = place / "report.txt"
    path.write_text(text, newline="")
    (report,) = read_reports(path, kind)
    return {(item.section, item.name, item.measure): item for item in report.entries}


@pytest.mark.parametrize("marks", _MARKS)
@pytest.mark.parametrize("layout", _LAYOUTS)
def test_a_report_says_the_same_with_any_marks(layout: str, marks: str, tmp_path: Path) -> None:
    kind, writer, version = _LAYOUTS[layout]
    text = writer(truth(), version)
    other = printed_with(text, *_MARKS[marks])
    assert other != text
    expected, found = read(tmp_path, text, kind), read(tmp_path, other, kind)
    numbers = {key: item.value for key, item in expected.items() if key[0] != "parameter"}
    assert {key: item.value for key, item in found.items() if key[0] != "parameter"} == numbers
    assert sum(value is not None for value in numbers.values()) > 100


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("61.3K", 61_300.0),
        ("3426.2K", 3_426_200.0),
        ("3,426.2K", 3_426_200.0),
        ("1.5 M", 1_500_000.0),
        (".2G", 2e8),
        ("1T", 1e12),
        ("9,223,372,036,854,775,807", 2.0**63),
        ("18446744073709551616", 2.0**64),
        ("1.2345E-05", 1.2345e-5),
        ("-.5", -0.5),
    ],
)
def test_counts_and_times_may_be_abbreviated(text: str, value: float) -> None:
    numbers = Numbers([PrintedNumber("", "0.5")])
    assert numbers.count(text).value == pytest.approx(value)
    assert numbers.seconds(text, 1e-3).value == pytest.approx(value / 1e3)
    assert numbers.count("2.5K", "", BINARY).value == 2_560
    assert numbers.seconds("4.96ms", 1.0).value == pytest.approx(0.00496)


def test_the_rounding_is_that_of_the_last_place_printed() -> None:
    numbers = Numbers([PrintedNumber("", "0,5")])
    assert numbers.count("61,3K").rounding == pytest.approx(50)
    assert numbers.count("1.234,56").rounding == pytest.approx(0.005)
    assert numbers.count("1.234").rounding == 0.5
    assert numbers.count("1,5E+03").rounding == pytest.approx(50)


@pytest.mark.parametrize("text", ["1.2.3", "1,2,3", "12 34", "0,123.5", "5q", "1..2", "'1", "1K5", "1E+300"])
def test_what_is_no_number_is_not_known(text: str) -> None:
    found = Numbers([PrintedNumber("", "0.5"), PrintedNumber("", text)]).count(text)
    assert found.value is None
    assert found.reason is not None


def test_a_count_with_decimals_is_not_known(tmp_path: Path) -> None:
    page = re.sub(r"(>user commits</td><td[^>]*>)[^<]*", r"\g<1>412.345", awr_html(truth(), "19c"))
    assert read(tmp_path, page)["statistic", "user commits", "total"].value is None
    assert Numbers().count("1.5K", whole=True).value == 1_500


def test_a_column_that_shows_its_marks_is_read_where_others_differ() -> None:
    samples = [("a", "1,234.5"), ("a", "1,234"), ("b", "12,5"), ("b", "1,234"), ("c", "1,234")]
    numbers = Numbers([PrintedNumber(*item) for item in samples])
    assert not numbers.agree
    assert numbers.count("1,234", "a").value == 1_234
    assert numbers.count("1,234", "b").value == pytest.approx(1.234)
    assert numbers.count("1,234", "c").value is None
    assert "can be read in two ways: 1.234 or 1234" in (numbers.count("1,234", "c").reason or "")


def test_one_cell_that_is_wrong_costs_no_other(tmp_path: Path) -> None:
    page = awr_html(truth(), "19c")
    broken = re.sub(r"(>USER_TIME</td><td[^>]*>)[^<]*", r"\g<1>12,5", page)
    assert broken != page
    expected, found = read(tmp_path, page), read(tmp_path, broken)
    assert {key for key, item in found.items() if item.value != expected[key].value} == {
        ("os", "USER_TIME", "value")
    }


def test_what_counts_something_has_no_decimals(tmp_path: Path) -> None:
    # Decimals with the mark that separates thousands elsewhere: both in one report.
    page = re.sub(r"(?<=>)([\d,]*)\.(\d+)(?=<)", r"\1,\2", awr_html(truth(), "19c"))
    page = re.sub(r"(?<=>)\d{1,3}(?:,\d{3}){2,}(?=<)", "99", page)
    facts, found = truth(), read(tmp_path, page)
    assert found["statistic", "user commits", "total"].value == facts.commits
    assert found["time model", "DB CPU", "seconds"].value is None


@pytest.mark.parametrize("limit", ["9,223,372,036,854,775,807", "18,446,744,073,709,551,615", "9" * 40])
def test_a_limit_of_the_system_spoils_nothing_else(limit: str, tmp_path: Path) -> None:
    page = awr_html(truth(), "19c")
    broken = re.sub(r"(>PHYSICAL_MEMORY_BYTES</td><td[^>]*>)[^<]*", rf"\g<1>{limit}", page)
    found = read(tmp_path, broken)["os", "PHYSICAL_MEMORY_BYTES", "value"]
    assert found.value is None
    assert "1e+18" in (found.reason or "")
    assert results_of(tmp_path / "run", [page, broken])["settings"][0]["reports"] == 1


def test_times_in_thousands_of_seconds_are_read(tmp_path: Path) -> None:
    page = re.sub(
        r"(>log file sync</td><td[^>]*>[^<]*</td><td[^>]*>)[^<]*", r"\g<1>61.3K", awr_html(truth(), "19c")
    )
    found = read(tmp_path, page)["top event", "log file sync", "seconds"]
    assert found.value == pytest.approx(61_300)
    assert found.rounding == pytest.approx(50)


def test_bytes_are_abbreviated_by_powers_of_1024(tmp_path: Path) -> None:
    page = re.sub(r"(>redo size</td><td[^>]*>)[^<]*", r"\g<1>3.9G", awr_html(truth(), "19c"))
    found = read(tmp_path, page)["statistic", "redo size", "total"]
    assert found.value == pytest.approx(3.9 * 2**30)
    page = re.sub(r"(>user calls</td><td[^>]*>)[^<]*", r"\g<1>5.2M", awr_html(truth(), "19c"))
    assert read(tmp_path, page)["statistic", "user calls", "total"].value == pytest.approx(5.2e6)


@pytest.mark.parametrize("step", ["importers.series._record", "records.writing.writer.read_parts"])
def test_no_broken_directory_stays_where_a_run_cannot_be_written(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Entry:
        raise ValueError("a fault")

    monkeypatch.setattr(f"redolab.{step}", fails)
    with pytest.raises(ValueError, match="a fault"):
        imported(tmp_path, [awr_html(truth(), "19c")])
    assert not (tmp_path / "run").exists()


def test_a_file_whose_name_is_no_text_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "caf\udce9.html"
    path.write_text(awr_html(truth(), "19c"))
    (report,) = read_reports(path, "awr")
    assert report.file == "caf?.html"

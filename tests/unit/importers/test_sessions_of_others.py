"""Reports of sessions with another language, of pluggable databases, and several in one file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from redolab.errors import UsageError
from redolab.importers.layout import Kind
from redolab.importers.moments import UnreadMomentError, moments_of
from redolab.importers.months import UnknownMonthError, months_of
from redolab.importers.reading import read_reports
from tests.imported_reports import imported, results_of
from tests.written_reports import awr_html, awr_miner, awr_text, statspack, truth
from tests.written_reports.pack import oracle_pack

GERMAN = ("Jan", "Feb", "Mrz", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez")
FRENCH = ("JANV.", "FÉVR.", "MARS", "AVR.", "MAI", "JUIN", "JUIL.", "AOÛT", "SEPT.", "OCT.", "NOV.", "DÉC.")
SPANISH = ("ENE", "FEB", "MAR", "ABR", "MAY", "JUN", "JUL", "AGO", "SEP", "OCT", "NOV", "DIC")
PORTUGUESE = ("JAN", "FEV", "MAR", "ABR", "MAI", "JUN", "JUL", "AGO", "SET", "OUT", "NOV", "DEZ")
ITALIAN = ("GEN", "FEB", "MAR", "APR", "MAG", "GIU", "LUG", "AGO", "SET", "OTT", "NOV", "DIC")
TURKISH = ("OCA", "ŞUB", "MAR", "NİS", "MAY", "HAZ", "TEM", "AĞU", "EYL", "EKİ", "KAS", "ARA")
RUSSIAN = ("ЯНВ", "ФЕВ", "МАР", "АПР", "МАЙ", "ИЮН", "ИЮЛ", "АВГ", "СЕН", "ОКТ", "НОЯ", "ДЕК")
JAPANESE = tuple(f"{number}月" for number in range(1, 13))
DUTCH = ("JAN", "FEB", "MRT", "APR", "MEI", "JUN", "JUL", "AUG", "SEP", "OKT", "NOV", "DEC")


@pytest.mark.parametrize(
    "names", [GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, TURKISH, RUSSIAN, JAPANESE, DUTCH]
)
def test_months_are_read_in_the_languages_of_oracle(names: tuple[str, ...]) -> None:
    for number, name in enumerate(names, 1):
        assert months_of([name]) == [number]
        assert months_of([name.lower()]) == [number]


def test_a_letter_that_was_lost_and_an_accent_that_was_left_out_do_not_matter() -> None:
    assert months_of(["F\ufffdVR."]) == [2]
    assert months_of(["AO?T"]) == [8]
    assert months_of(["FEVR"]) == [2]


def test_a_name_that_languages_differ_in_is_decided_by_another_date() -> None:
    # Srpen is August in Czech, srpanj July in Croatian.
    with pytest.raises(UnknownMonthError, match="Srp"):
        months_of(["Srp"])
    assert months_of(["Srp", "Ruj"]) == [7, 9]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("12-Dec-23 17:00:31", "2023-12-12T17:00:31"),
        ("01-MAI  -25 09:00:12", "2025-05-01T09:00:12"),
        ("2025-02-04 09:00:12", "2025-02-04T09:00:12"),
        ("2025-02-04T09:00:12.345", "2025-02-04T09:00:12"),
        ("2025/02/04 09:00", "2025-02-04T09:00:00"),
        ("04.02.2025 09:00:12", "2025-02-04T09:00:12"),
        ("04-Thg 2-25 09:00:12", "2025-02-04T09:00:12"),
    ],
)
def test_moments_are_read_as_they_are_printed(text: str, moment: str) -> None:
    assert [found.isoformat() for found in moments_of([text])] == [moment]


@pytest.mark.parametrize("text", ["02/04/25 09:00:12", "31-Feb-25 09:00", "1-13月-25 09:00", "", "x" * 100])
def test_a_moment_that_is_not_read_is_named(text: str) -> None:
    with pytest.raises(UnreadMomentError, match="NLS_LANGUAGE"):
        moments_of([text])


WRITERS: dict[str, tuple[Kind, Callable[..., str], str]] = {
    "page": ("awr", awr_html, "19c"),
    "text": ("awr", awr_text, "19c"),
    "old text": ("awr", awr_text, "11.2"),
    "Statspack": ("statspack", statspack, "11.2"),
}


@pytest.mark.parametrize("layout", WRITERS)
@pytest.mark.parametrize("month", ["MRZ", "MARS", "3月 ", "MAALIS", "Mrt"])
def test_a_report_of_any_language_has_its_interval(month: str, layout: str, tmp_path: Path) -> None:
    kind, writer, version = WRITERS[layout]
    path = tmp_path / "report"
    path.write_text(writer(truth(), version).replace("-Mar-25", f"-{month}-25"))
    (report,) = read_reports(path, kind)
    assert (report.header.begin, report.header.end) == (truth().begin, truth().end)


@pytest.mark.parametrize("layout", WRITERS)
def test_a_month_of_no_language_is_named_with_what_to_do(layout: str, tmp_path: Path) -> None:
    kind, writer, version = WRITERS[layout]
    path = tmp_path / "report"
    path.write_text(writer(truth(), version).replace("-Mar-25", "-Xqz-25"))
    with pytest.raises(UsageError, match=r"month 'Xqz' cannot be read.*NLS_LANGUAGE = 'AMERICAN'"):
        read_reports(path, kind)


@pytest.mark.parametrize("layout", [*WRITERS, "Miner", "pack"])
def test_two_reports_in_one_file_are_refused(layout: str, tmp_path: Path) -> None:
    others: dict[str, tuple[Kind, str]] = {
        "Miner": ("awr", awr_miner([truth()])),
        "pack": ("oracle-pack", oracle_pack(truth())),
    }
    if layout in others:
        kind, text = others[layout]
    else:
        kind, writer, version = WRITERS[layout]
        text = writer(truth(), version) + writer(truth(database="OTHER", dbid=7), version)
    path = tmp_path / "report"
    path.write_text(text if layout not in others else text + text)
    with pytest.raises(
        UsageError, match=r"holds 2 reports, one after the other\. Save each report in its own file"
    ):
        read_reports(path, kind)


def test_a_title_above_a_report_is_no_second_report(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text(f"Workload Repository Report\n{awr_html(truth(), '19c')}")
    assert len(read_reports(path, "awr")) == 1


@pytest.mark.parametrize("writer", [awr_html, awr_text])
def test_pluggable_databases_are_series_of_their_own(writer: Callable[..., str], tmp_path: Path) -> None:
    pages = [
        writer(truth(container=name, commits=commits), "19c", pdb=True)
        for name, commits in (("SALES", 360_000), ("STOCK", 36_000))
    ]
    results = results_of(tmp_path, [*pages, writer(truth(), "19c")])
    rates = {item["name"]: item["figures"]["arrival_rate_per_s"]["point"] for item in results["settings"]}
    assert rates == {
        "ORDERS/orders1": pytest.approx(truth().commits / 3600, rel=1e-3),
        "ORDERS/orders1/SALES": pytest.approx(100, rel=1e-3),
        "ORDERS/orders1/STOCK": pytest.approx(10, rel=1e-3),
    }
    assert all(item["spoiled"] == 0 for item in results["settings"])


def test_the_root_is_the_whole_database(tmp_path: Path) -> None:
    page = awr_html(truth(container="CDB$ROOT"), "19c", pdb=True)
    assert [item["name"] for item in imported(tmp_path, [page]).manifest["settings"]] == ["ORDERS/orders1"]


def test_a_series_of_miner_needs_no_number_of_its_database(tmp_path: Path) -> None:
    text = "".join(
        line
        for line in awr_miner([truth()]).splitlines(keepends=True)
        if not line.startswith(("DBID", "INSTANCES"))
    )
    named, unnamed = tmp_path / "awr-hist-1234567890-ORDERS-1-2.out", tmp_path / "mine.out"
    for path in (named, unnamed):
        path.write_text(text)
    assert read_reports(named, "awr")[0].header.database_id == "1234567890"
    assert read_reports(unnamed, "awr")[0].header.database_id == ""
    expected = read_reports(named, "awr")[0].entries
    assert read_reports(unnamed, "awr")[0].entries == expected
    assert any(item.value for item in expected)


def test_databases_without_a_number_are_those_of_their_name(tmp_path: Path) -> None:
    text = "".join(
        line for line in awr_miner([truth()]).splitlines(keepends=True) if not line.startswith("DBID")
    )
    later = awr_html(truth(begin=truth().begin + timedelta(hours=1), begin_snapshot=5_000), "19c")
    run = imported(tmp_path / "one", [text, later])
    assert any("count as one database" in item for item in run.manifest["conditions"])
    with pytest.raises(UsageError, match="cover 2 databases"):
        imported(tmp_path / "two", [text.replace("ORDERS", "OTHER"), later])
    with pytest.raises(UsageError, match="cover 2 databases"):
        imported(tmp_path / "three", [text.replace("ORDERS", "OTHER"), text])


def test_decimal_commas_of_miner_are_decimals(tmp_path: Path) -> None:
    text = awr_miner([replace(truth(), commits=412_345)])
    path = tmp_path / "mine.out"
    path.write_text(text)
    expected = read_reports(path, "awr")[0].entries
    begin, end = text.index("~~BEGIN-MAIN"), text.index("~~END-MAIN")
    rest = text.index("~~BEGIN-AVERAGE")
    path.write_text(
        text[:begin] + text[begin:end].replace(".", ",") + text[end:rest] + text[rest:].replace(".", ",")
    )
    assert read_reports(path, "awr")[0].entries == expected
    assert any(item.value and not item.value.is_integer() for item in expected)

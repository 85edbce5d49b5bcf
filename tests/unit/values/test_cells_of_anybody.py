"""Cells with more than a number in them, first lines that may be values, and progress of pgbench."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from redolab.errors import UsageError
from redolab.values.file import ValuesFile, read_values

Read = Callable[..., ValuesFile]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The column of a file with that text."""

    def read_text(text: str, **options: str) -> ValuesFile:
        file = tmp_path / "values.txt"
        file.write_text(text)
        return read_values(str(file), **options)

    return read_text


@pytest.mark.parametrize(
    ("cell", "value", "unit"),
    [
        ("$1,500.25", 1500.25, "$"),
        ("€ 1.50", 1.5, "€"),
        ("CHF 1'234.50", 1234.5, "CHF"),
        ("-$5.25", -5.25, "$"),
        ("$-5.25", -5.25, "$"),
        ("($5.25)", -5.25, "$"),
        ("US$12.75", 12.75, "US$"),
        ("kr 12.75", 12.75, "kr"),
        ("%12.75", 12.75, "%"),
        ("(1,234.50)", -1234.5, None),
        ("( 1.50 )", -1.5, None),
        ("1,234.50-", -1234.5, None),
        ("(0.25 ms)", -0.25, "ms"),
        ("00:00:01.5", 1.5, "s"),
        ("1:02:03.250", 3723.25, "s"),
        ("100:00:00", 360000.0, "s"),
        ("-00:00:01.25", -1.25, "s"),
        ("1 day 02:03:04.5", 93784.5, "s"),
        ("2 days -01:00:00.5", 169199.5, "s"),
        ("01:30.5", 90.5, "s"),
        ("00:00:01,5", 1.5, "s"),
        ("1m2.5s", 62.5, "s"),
        ("1h2m3s", 3723.0, "s"),
        ("1 h 5 min", 3900.0, "s"),
        ("1s 250ms", 1.25, "s"),
        ("PT1M2.5S", 62.5, "s"),
        ("P1DT1S", 86401.0, "s"),
        ("2 days", 2.0, "days"),
        ("2.5 ms", 2.5, "ms"),
    ],
)
def test_a_cell_is_read_as_it_is_meant(read: Read, cell: str, value: float, unit: str | None) -> None:
    found = read(f"what;took\na;{cell}\nb;{cell}\n", value="took")
    assert (found.values.tolist(), found.unit) == ([value, value], unit)


@pytest.mark.parametrize(
    "cell",
    ["$", "()", "-(5)", "(-5)", "$5 ms", "5$-", "1:2:3", "00:61:00", "1 day", "m", "PT", "P", "1m2", "--5"],
)
def test_what_is_no_number_stays_none(read: Read, cell: str) -> None:
    if cell == "1 day":
        assert read(f"took\n{cell}\n2 days\n").values.tolist() == [1.0, 2.0]
        return
    with pytest.raises(UsageError, match="is not a number"):
        read(f"what;took\na;1.5\nb;{cell}\n", value="took")


def test_minutes_or_hours_are_named_both(read: Read) -> None:
    with pytest.raises(UsageError, match="can be minutes and seconds, or hours and minutes"):
        read("what,took\na,01:30\nb,02:30\n", value="took")


def test_a_time_of_day_is_not_what_is_meant(read: Read) -> None:
    text = "at,ms\n10:00:01,1.5\n10:00:02,2.25\n10:00:04,3.5\n"
    assert read(text).name == "ms"
    found = read(text, value="at")
    assert found.values.tolist() == [36001.0, 36002.0, 36004.0]
    assert found.notes == ("Times in at, such as 10:00:01, were read as durations in s.",)
    with pytest.raises(UsageError, match="took has times such as 00:00:01, which are read as durations"):
        read("what,took\na,00:00:01\nb,00:00:02.5\n")


def test_a_sign_around_a_number_is_said(read: Read) -> None:
    found = read("what,change\na,(1.50)\nb,-2.5\nc,4\n")
    assert found.values.tolist() == [-1.5, -2.5, 4.0]
    assert found.notes == ("Cells in change such as (1.50) were read as negative numbers.",)


@pytest.mark.parametrize("nothing", ["-", "--", "–", "\\N", "(null)", "[NULL]", "<null>", "∅", "¤", "Null"])
def test_what_users_set_for_null_is_missing(read: Read, nothing: str) -> None:
    found = read(f"what,ms\na,1.5\nb,{nothing}\nc,2.5\n")
    assert (found.values.tolist(), found.missing) == ([1.5, 2.5], 1)
    boxed = f" what | ms\n------+-----\n a    | 1.5\n b    | {nothing}\n c    | 2.5\n(3 rows)\n"
    found = read(boxed)
    assert (found.values.tolist(), found.missing) == ([1.5, 2.5], 1)


@pytest.mark.parametrize(
    "text", ["1 | 21.79 | g1\n2 | 20.5 | g2\n4 | 1.5 | g3\n", "g1,21.79\ng2,20.5\ng3,1.5\n"]
)
def test_a_first_line_of_values_is_not_lost(read: Read, text: str) -> None:
    with pytest.raises(
        UsageError, match=r"its first line can be names of columns, or values: (1|21\.79) is a"
    ):
        read(text)
    assert read(text, value="column_2").values.tolist() == [21.79, 20.5, 1.5]
    assert read(text, value="21.79").values.tolist() == [20.5, 1.5]


def test_a_year_and_a_percentile_are_names(read: Read) -> None:
    assert read("region,2020\nn,5.5\ns,6.5\n").name == "2020"
    assert read("host,99%\nn,5.5\ns,6.5\n").name == "99%"


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_a_count_below_is_no_row(read: Read, separator: str) -> None:
    rows = "".join(f"{name}{separator}{value}\n" for name, value in (("what", "ms"), ("a", 1.5), ("b", 2.25)))
    assert read(f"{rows}(2 rows)\n").values.tolist() == [1.5, 2.25]
    with pytest.raises(UsageError, match="own count is 3 rows, but it has 2 here"):
        read(f"{rows}(3 rows)\n")


def test_records_without_a_border_are_read(read: Read) -> None:
    records = "".join(
        f"* Record {number}     \nid         {number}\nlatency_ms{value}\nmode       a b\n"
        for number, value in ((1, " 29.54"), (2, ""), (3, " 10.85"))
    )
    found = read(records, value="latency_ms")
    assert (found.values.tolist(), found.missing) == ([29.54, 10.85], 1)


PROGRESS = (
    "pgbench (18.0)\nstarting vacuum...end.\n"
    "progress: 1.0 s, 111.0 tps, lat 28.845 ms stddev 11.964, 0 failed, lag 11.933 ms, 92 skipped\n"
    "progress: 2.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed, lag 0.000 ms, 12 skipped\n"
    "pgbench: error: client 1 script 0 aborted in command 5\n"
    "progress: 3.0 s, 99.5 tps, lat 20.067 ms stddev 9.5, 1 failed, lag 2.5 ms, 0 skipped\n"
)
SUMMARY = (
    "transaction type: <builtin: TPC-B (sort of)>\nscaling factor: 1\n"
    "latency average = 24.536 ms\nlatency stddev = 12.674 ms\n"
    "tps = 136.445595 (without initial connection time)\n"
)


def test_progress_of_pgbench_is_read(read: Read) -> None:
    found = read(PROGRESS + SUMMARY)
    assert (found.titled, found.format, found.in_time) == (
        "latency_mean (ms)",
        "progress of pgbench -P",
        True,
    )
    # An interval without a transaction has no latency, whatever is printed for it.
    assert (found.values.tolist(), found.missing) == ([28.845, 20.067], 1)
    assert "latency average = 24.536 ms; latency stddev = 12.674 ms; tps = 136.445595." in found.notes[-1]
    assert read(PROGRESS, value="tps").values.tolist() == [111.0, 0.0, 99.5]
    assert read(PROGRESS, value="skipped").values.tolist() == [92.0, 12.0, 0.0]
    assert read(PROGRESS, value="lag").values.tolist() == [11.933, 2.5]


@pytest.mark.parametrize(
    ("line", "latencies"),
    [
        ("progress: 5.0 s, 1500.2 tps, lat 0.666 ms stddev 0.123", [0.666]),
        ("progress: 1795799477.250 s, 9.0 tps, lat 2.5 ms stddev 0.1, 0 failed", [2.5]),
        ("progress: 1.0 s, 9.0 tps, lat 2.5 ms stddev 0.1, lag 0.1 ms", [2.5]),
        ("progress: 1.0 s, 9.0 tps, lat 2.5 ms stddev 0.1, 0 failed, 3 retried, 4 retries", [2.5]),
    ],
)
def test_progress_of_each_version_is_read(read: Read, line: str, latencies: list[float]) -> None:
    assert read(f"{line}\n").values.tolist() == latencies


def test_progress_that_is_not_whole_and_a_summary_are_refused(read: Read) -> None:
    with pytest.raises(UsageError, match=r"line 7: .* is not a complete progress line of pgbench"):
        read(f"{PROGRESS}progress: 4.0 s, 12")
    with pytest.raises(UsageError, match=r"not single values \(latency average = 24\.536 ms; .* -P 1"):
        read(SUMMARY)


FIO = """{
  "fio version" : "fio-3.33",
  "jobs" : [{"jobname" : "t", "write" : {"clat_ns" : {"N" : 3, "bins" : {"1000000" : 2, "4000000" : 1}}}}]
}
"""


@pytest.mark.parametrize("before", ["", "fio: this platform does not support it, {forcing} threads.\n"])
@pytest.mark.parametrize(
    "after", ["", "\nt: (groupid=0, jobs=1): err= 0: pid=1: Fri Nov 27\n  write: IOPS=1\n"]
)
def test_what_fio_prints_around_its_json_does_not_matter(read: Read, before: str, after: str) -> None:
    assert read(before + FIO + after).values.tolist() == [1.0, 1.0, 4.0]


@pytest.mark.parametrize(
    "text",
    [
        "3;fio-3.33;t;0;0;1984;76307;19076;26;0;0\n",
        "t: (g=0): rw=randrw, bs=(R) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\nStarting 1 process\n",
    ],
)
def test_summaries_of_fio_are_refused_with_what_to_do(read: Read, text: str) -> None:
    with pytest.raises(UsageError, match=r"fio's summary, not single values.*json\+"):
        read(text)

"""Reports in every layout, read and compared with the truth that they were written from."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from redolab.analysis.observed.awr.shares import cumulative
from redolab.errors import UsageError
from redolab.importers.layout import Kind
from redolab.importers.reading import ReadReport, read_reports
from redolab.records.report import Entry
from tests.written_reports import RELEASES, Event, Truth, awr_html, awr_text, statspack, truth
from tests.written_reports.truth import BOUNDS, all_events

LAYOUTS: list[tuple[str, str, dict[str, bool]]] = [
    *(("html", version, {}) for version in ("11.2", "12.1", "12.2", "19c")),
    *(("html", "19c", {option: True}) for option in ("tbody", "preamble", "pdb")),
    ("html", "11.2", {"tbody": True}),
    *(("text", version, {}) for version in ("11.2", "19c")),
    *(("text", "19c", {option: True}) for option in ("paged", "pdb")),
    *(("statspack", version, {}) for version in ("9.2", "10.2", "11.2")),
]
WRITERS: dict[str, Callable[..., str]] = {"html": awr_html, "text": awr_text, "statspack": statspack}


def written(place: Path, layout: str, version: str, options: dict[str, bool], facts: Truth) -> ReadReport:
    text = WRITERS[layout](facts, version, **options)
    path = place / "report.txt"
    path.write_text(text, newline="")
    kind: Kind = "statspack" if layout == "statspack" else "awr"
    return read_reports(path, kind)[0]


def entry(report: ReadReport, section: str, name: str, measure: str) -> Entry | None:
    found = [
        item for item in report.entries if (item.section, item.name, item.measure) == (section, name, measure)
    ]
    assert len(found) <= 1
    return found[0] if found else None


def assert_is(found: Entry | None, true: float) -> None:
    """What was read is the truth, to within what its rounding says."""
    assert found is not None
    assert found.value is not None
    assert found.rounding is not None
    assert abs(found.value - true) <= 1.001 * found.rounding


def assert_not_wrong(found: Entry | None, true: float) -> None:
    if found is not None and found.value is not None:
        assert_is(found, true)


@pytest.mark.parametrize(("layout", "version", "options"), LAYOUTS)
def test_every_figure_of_a_report_is_read(
    layout: str, version: str, options: dict[str, bool], tmp_path: Path
) -> None:
    facts = truth(release=RELEASES[version])
    report = written(tmp_path, layout, version, options, facts)
    header = report.header
    assert (header.database, header.instance, header.release) == ("ORDERS", "orders1", RELEASES[version])
    assert (header.begin_snapshot, header.end_snapshot) == (facts.begin_snapshot, facts.end_snapshot)
    assert header.begin == facts.begin
    assert header.elapsed.value == pytest.approx(facts.elapsed_s, abs=0.31)
    assert not [item for item in report.entries if item.section == "contradiction"]
    for name, true in (
        ("user commits", facts.commits),
        ("redo size", facts.redo_bytes),
        ("redo writes", facts.redo_writes),
        ("user calls", facts.user_calls),
    ):
        if not (options.get("pdb") and name == "redo writes"):
            assert_is(entry(report, "statistic", name, "total"), true)
    # Before 10g there was neither a time model nor any figure of the operating system.
    if version == "9.2":
        assert not [item for item in report.entries if item.section in ("time model", "os", "host")]
        return
    assert_is(entry(report, "time model", "DB time", "seconds"), facts.db_time_s)
    assert_is(entry(report, "time model", "DB CPU", "seconds"), facts.db_cpu_s)
    assert_is(entry(report, "time model", "background cpu time", "seconds"), facts.background_cpu_s)
    if not options.get("pdb"):
        assert_is(entry(report, "os", "BUSY_TIME", "value"), facts.busy_cs)
        assert_is(entry(report, "os", "IDLE_TIME", "value"), facts.idle_cs)
    assert_is(entry(report, "host", "cpus", "value"), facts.cpus)
    parameter = entry(report, "parameter", "commit_logging", "begin")
    assert parameter is not None
    assert parameter.text == facts.parameters["commit_logging"]


@pytest.mark.parametrize(("layout", "version", "options"), LAYOUTS)
def test_every_wait_event_is_read(
    layout: str, version: str, options: dict[str, bool], tmp_path: Path
) -> None:
    facts = truth(release=RELEASES[version])
    report = written(tmp_path, layout, version, options, facts)
    scopes: list[tuple[str, tuple[Event, ...]]] = [("background event", facts.background)]
    # Older ones print sessions and background together, and the background apart.
    if layout != "statspack" or version == "11.2":
        scopes.append(("foreground event", facts.foreground))
    seen = 0
    for section, events in scopes:
        for event in events:
            found = {
                measure: entry(report, section, event.name[:26], measure)
                or entry(report, section, event.name, measure)
                for measure in ("waits", "seconds", "mean_s")
            }
            seen += found["waits"] is not None
            assert_not_wrong(found["waits"], event.waits)
            assert_not_wrong(found["seconds"], event.seconds)
            assert_not_wrong(found["mean_s"], event.seconds / event.waits)
    # Of a pluggable database no background is printed.
    assert seen >= (len(facts.foreground) if options.get("pdb") else len(facts.background)) - 1


@pytest.mark.parametrize(("layout", "version"), [("html", "11.2"), ("html", "19c"), ("statspack", "11.2")])
def test_shares_of_waits_are_told_up_to_every_bound(layout: str, version: str, tmp_path: Path) -> None:
    facts = truth(release=RELEASES[version])
    report = written(tmp_path, layout, version, {}, facts)
    shares = cumulative(
        [item for item in report.entries if item.section == "histogram" and item.name == "log file sync"]
    )
    # Sessions and background are in it together; a share is printed with one decimal.
    every = next(event for event in all_events(facts) if event.name == "log file sync")
    for bound, label in ((0.001, "<1ms"), (0.008, "<8ms"), (0.032, "<32ms")):
        true = sum(
            share for name, share in every.histogram.items() if BOUNDS.index(name) <= BOUNDS.index(label)
        )
        assert shares[bound] == pytest.approx(true / 100, abs=0.005)
    assert list(shares.values()) == sorted(shares.values())


def test_cpus_that_have_less_time_than_there_was_are_told(tmp_path: Path) -> None:
    report = written(tmp_path, "html", "19c", {}, truth(idle_cs=1_000_000))
    told = [item.text or "" for item in report.entries if item.section == "contradiction"]
    assert len(told) == 1
    assert told[0].startswith("Busy and idle time of the CPUs add up to")


@pytest.mark.parametrize("statistic", ["redo size", "user calls"])
def test_a_total_that_is_not_its_rate_times_the_time_is_told(statistic: str, tmp_path: Path) -> None:
    page = awr_html(truth(), "19c")
    # The total alone: per second and per transaction stay as they are.
    place = page.index(f">{statistic}</td>")
    start = page.index(">", page.index("<td", place)) + 1
    end = page.index("<", start)
    path = tmp_path / "changed.html"
    path.write_text(page[:start] + "1" + page[start:end] + page[end:])
    report = read_reports(path, "awr")[0]
    told = [item.text or "" for item in report.entries if item.section == "contradiction"]
    assert any(f"the total of {statistic}" in text for text in told)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x1f\x8b\x08", "packed by gzip and ends too early"),
        (gzip.compress(b"hello" * 100, mtime=0)[:-9], "packed by gzip and ends too early"),
        (gzip.compress(b"\0" * (1 << 27), mtime=0), "unpacks to more than"),
        (b"PK\x03\x04", "archive"),
        (b"<html><title>ASH Report</title></html>", "ASH"),
        (b"          ADDM Report for Task 'TASK_1'", "ADDM"),
        (b"<h1>WORKLOAD REPOSITORY COMPARE PERIOD REPORT</h1>", "two periods"),
        (b"<head><title>AWR RAC Report for DB: X</title>", "all instances of a cluster"),
        (b"<h1>Workload Diagnosis Report</h1>", "another database"),
        (b"hello", "not an AWR report"),
        (b"", "not an AWR report"),
        (b"STATSPACK report for\n", "redolab import statspack"),
        (b"WORKLOAD REPOSITORY report for\x00", "not text"),
        (b"WORKLOAD REPOSITORY report for\nEnd of Report", "snapshots"),
    ],
)
def test_what_is_no_report_is_refused_in_a_sentence(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said):
        read_reports(path, "awr")


@pytest.mark.parametrize("kind", ["awr", "statspack"])
@pytest.mark.parametrize(
    "written",
    [
        lambda text: gzip.compress(text.encode()),
        lambda text: text.encode("utf-16"),
        lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
        lambda text: text.encode("utf-16-le"),
        lambda text: gzip.compress(text.replace("\n", "\r\n").encode("utf-16")),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("\n", "\r").encode(),
    ],
)
def test_a_report_is_read_however_it_was_kept(
    kind: Kind, written: Callable[[str], bytes], tmp_path: Path
) -> None:
    text = awr_html(truth(), "19c") if kind == "awr" else statspack(truth(), "11.2")
    plain, kept = tmp_path / "plain", tmp_path / "kept"
    plain.write_text(text)
    kept.write_bytes(written(text))
    assert read_reports(kept, kind)[0].entries == read_reports(plain, kind)[0].entries


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_report_that_was_cut_off_is_refused(part: float, tmp_path: Path) -> None:
    for page in (awr_html(truth(), "19c"), awr_text(truth(), "19c")):
        path = tmp_path / "cut"
        path.write_text(page[: math.floor(part * (page.rindex("End of Report") - 1))])
        with pytest.raises(UsageError, match=r"not whole|not an AWR report"):
            read_reports(path, "awr")


def test_a_look_alike_without_a_release_of_oracles_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "look-alike.html"
    path.write_text(awr_html(truth(release="V008R006"), "19c"))
    with pytest.raises(UsageError, match="Other products"):
        read_reports(path, "awr")


def test_a_clock_that_was_set_back_is_a_contradiction(tmp_path: Path) -> None:
    begin, end = "14-Mar-25 10:00:07", "14-Mar-25 11:00:07"
    path = tmp_path / "report.html"
    path.write_text(awr_html(truth(), "19c").replace(begin, "@").replace(end, begin).replace("@", end))
    told = [
        item.text or "" for item in read_reports(path, "awr")[0].entries if item.section == "contradiction"
    ]
    assert told[0] == "The last snapshot is not later than the first: the database's clock was set back."

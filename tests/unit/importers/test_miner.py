"""AWR-Miner's series of snapshots, read and compared with the truths that it was written from."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from redolab.errors import UsageError
from redolab.importers.miner import Snapshot, snapshots_of
from redolab.importers.reading import read_reports
from redolab.records.report import Entry
from tests.imported_reports import results_of, table
from tests.written_reports import Truth, awr_miner, truth
from tests.written_reports.truth import all_events

HOURS = 4


def hours(count: int = HOURS, **changes: object) -> list[Truth]:
    first = truth()
    return [
        replace(
            truth(elapsed_s=3600.0, **changes),
            begin=first.begin + timedelta(hours=number),
            begin_snapshot=first.begin_snapshot + number,
            end_snapshot=first.begin_snapshot + number + 1,
            commits=360_000 + 20_000 * number,
        )
        for number in range(count)
    ]


def value(snapshot: Snapshot, section: str, name: str, measure: str) -> Entry:
    return next(
        item
        for item in snapshot.entries
        if (item.section, item.name, item.measure) == (section, name, measure)
    )


def test_every_snapshot_is_a_report_with_its_interval() -> None:
    truths = hours()
    found = snapshots_of(awr_miner(truths), "file")
    # Times are printed to the minute.
    begins = [each.begin.replace(second=0) for each in truths]
    assert [item.header.begin for item in found] == begins
    assert [item.header.end for item in found] == [begin + timedelta(hours=1) for begin in begins]
    assert [item.header.end_snapshot for item in found] == [each.end_snapshot for each in truths]
    # The snapshot before the first is not printed.
    assert [item.header.begin_snapshot for item in found] == [
        None,
        *(each.end_snapshot for each in truths[:-1]),
    ]
    assert {(item.header.database, item.header.instance) for item in found} == {("ORDERS", "1")}


def test_every_figure_is_the_truth_to_within_its_rounding() -> None:
    truths = hours()
    for snapshot, facts in zip(snapshots_of(awr_miner(truths), "file"), truths, strict=True):
        waits = {event.name: event for event in all_events(facts)}
        expected = {
            ("statistic", "user commits", "total"): facts.commits,
            ("statistic", "redo size", "total"): facts.redo_bytes,
            ("statistic", "CPU used by this session", "total"): 100
            * (facts.db_cpu_s + facts.background_cpu_s),
            ("time model", "DB time", "seconds"): facts.db_time_s,
            ("time model", "DB CPU", "seconds"): facts.db_cpu_s,
            ("os", "BUSY_TIME", "value"): facts.busy_cs,
            ("host", "cpus", "value"): facts.cpus,
            ("host", "cores", "value"): facts.cores,
            ("top event", "log file sync", "seconds"): waits["log file sync"].seconds,
            ("top event", "log file sync", "waits"): waits["log file sync"].waits,
        }
        for key, true in expected.items():
            entry = value(snapshot, *key)
            assert entry.value is not None
            assert entry.rounding is not None
            # A wait that fell between two shares of the written histogram may be missing.
            assert abs(entry.value - true) <= entry.rounding + (2 if key[2] == "waits" else 1e-6)


def test_an_interval_printed_too_long_does_not_reach_into_the_one_before() -> None:
    longer = awr_miner(hours()).replace("         60 25/", "         61 25/")
    found = snapshots_of(longer, "file")
    assert [item.header.begin for item in found[1:]] == [item.header.end for item in found[:-1]]
    assert found[0].header.end - found[0].header.begin == timedelta(minutes=61)


def test_of_several_instances_only_what_is_printed_of_each_is_read() -> None:
    truths = [each for one in hours() for each in (one, replace(one, instance_number=2, commits=100_000))]
    found = snapshots_of(awr_miner(truths), "file")
    assert [item.header.instance for item in found] == ["1", "2"] * HOURS
    assert {entry.section for item in found[:-1] for entry in item.entries} == {
        "statistic", "time model", "os", "host",
    }  # fmt: skip
    assert value(found[0], "time model", "DB CPU", "seconds").value is None
    second = value(found[1], "statistic", "user commits", "total")
    assert second.value == pytest.approx(100_000, abs=second.rounding)


def test_a_series_tells_what_a_commit_costs_and_what_it_does_not_know(tmp_path: Path) -> None:
    results = results_of(tmp_path, [awr_miner(hours())])
    assert results["settings"][0]["reports"] == HOURS
    figures = results["settings"][0]["figures"]
    assert figures["arrival_rate_per_s"]["point"] == pytest.approx(390_000 / 3600, abs=0.05)
    assert figures["log_sync_s"]["point"] == pytest.approx(942.1 / 413_250, rel=0.01)
    for key in ("queue_time_s", "response_time_s", "servers"):
        assert figures[key]["point"] is None
        assert key in results["settings"][0]["missing"]
    rows = {row["row"]: row["seconds"] for row in table(results, "account-1")}
    assert rows["CPU"] == pytest.approx(HOURS * truth().db_cpu_s, rel=0.001)
    assert rows["UNACCOUNTED"] is None
    assert len(table(results, "hours-1")) == HOURS


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("~~END-MAIN-METRICS~~", ""), "not whole"),
        (("DB_NAME", "DX_NAME"), "does not name its DB_NAME"),
        (("ORDERS", "<b>"), "does not name its DB_NAME"),
        (("MAIN-METRICS", "MAIN-METRICX"), "not whole"),
        (("25/03/", "25/33/"), "no snapshot"),
        (("dur_m", "dur_x"), "no snapshot"),
    ],
)
def test_what_is_no_whole_file_is_refused(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    path = tmp_path / "awr-hist.out"
    path.write_text(awr_miner(hours()).replace(*change))
    with pytest.raises(UsageError, match=said):
        read_reports(path, "awr")


def test_it_is_no_statspack_report(tmp_path: Path) -> None:
    path = tmp_path / "awr-hist.out"
    path.write_text(awr_miner(hours()))
    with pytest.raises(UsageError, match="redolab import awr"):
        read_reports(path, "statspack")


def test_a_number_that_cannot_be_read_is_not_known() -> None:
    text = awr_miner(hours())
    found = snapshots_of(text.replace("commits_s", "commits_x"), "file")
    assert {value(item, "statistic", "user commits", "total").value for item in found} == {None}

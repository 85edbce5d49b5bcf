"""Many reports as one run: their order, what counts, what is refused, and what is stored."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from redolab.analysis.observed.figures import AWR
from redolab.commands.verify import verify_run
from redolab.errors import UsageError
from redolab.experiment.answers import analyse
from redolab.importers.series import import_reports
from redolab.records.store import open_run
from redolab.records.writing.writer import write_report, write_results
from redolab.report.page.html import render
from tests.imported_reports import Silent, imported, results_of, table
from tests.written_reports import Truth, awr_html, truth


def hour(number: int, hours: int = 1, **changes: object) -> Truth:
    first = truth()
    return truth(
        begin=first.begin + timedelta(hours=number),
        begin_snapshot=first.begin_snapshot + number,
        end_snapshot=first.begin_snapshot + number + hours,
        elapsed_s=3600.0 * hours,
        **changes,
    )


def test_reports_are_put_in_the_order_of_time(tmp_path: Path) -> None:
    run = imported(tmp_path, [awr_html(hour(number), "19c") for number in (2, 0, 1)])
    rows = run.samples.to_pylist()
    assert [row["sample"] for row in rows] == [1, 2, 3]
    assert [row["start_s"] for row in rows] == [0, 3600, 7200]
    assert [row["file"] for row in rows] == ["report_002.html", "report_003.html", "report_001.html"]
    assert {row["setting"] for row in rows} == {"ORDERS/orders1"}
    assert set(run.entries["sample"].to_pylist()) == {1, 2, 3}


def test_a_mean_over_reports_has_its_plus_and_minus(tmp_path: Path) -> None:
    commits = (360_000, 400_000, 440_000)
    pages = [awr_html(hour(number, commits=count), "19c") for number, count in enumerate(commits)]
    found = results_of(tmp_path, pages)["settings"][0]["figures"]["arrival_rate_per_s"]
    assert found["point"] == pytest.approx(400_000 / 3600, rel=1e-4)
    # Student's t with two degrees of freedom, 4.3027, times the standard error.
    assert found["high"] - found["point"] == pytest.approx(4.3027 * (40_000 / 3600) / 3**0.5, rel=1e-3)
    assert found["level"] == 0.95


def test_a_series_is_told_by_hour_by_day_and_by_use_of_the_cpus(tmp_path: Path) -> None:
    # Two days at the same hours; of the 8 threads' time 10 and 60 % are busy.
    pages = [
        awr_html(hour(at, busy_cs=round(share * 8 * 360_000)), "19c")
        for at, share in ((0, 0.1), (1, 0.6), (24, 0.1), (25, 0.6))
    ]
    results = results_of(tmp_path, pages)
    assert [(row["group"], row["reports"]) for row in table(results, "hours-1")] == [("10h", 2), ("11h", 2)]
    assert [row["group"] for row in table(results, "days-1")] == ["Friday", "Saturday"]
    use = table(results, "use-1")
    assert [row["level"] for row in use] == ["0 to 25 %", "50 to 75 %"]
    # Four cores have eight threads.
    assert use[1]["threads"]["point"] == pytest.approx(0.6, abs=1e-3)
    assert use[1]["cores"]["point"] == pytest.approx(1.2, abs=1e-3)
    assert [
        text for text in results["warnings"] if "120.0 % of the time of all cores, which cannot be" in text
    ]


def test_what_two_reports_cover_is_counted_once(tmp_path: Path) -> None:
    pages = [awr_html(hour(*item), "19c") for item in ((0, 1), (0, 2), (1, 1), (1, 1))]
    rows = imported(tmp_path, pages).samples.to_pylist()
    counted = {row["file"] for row in rows if row["spoiled"] is None}
    assert counted == {"report_001.html", "report_003.html"}
    assert all("is counted" in row["spoiled"] for row in rows if row["spoiled"] is not None)


def test_instances_of_a_cluster_are_told_apart(tmp_path: Path) -> None:
    pages = [awr_html(hour(0, instance=f"orders{n}", instance_number=n, rac=True), "19c") for n in (1, 2)]
    results = results_of(tmp_path, pages)
    assert [item["name"] for item in results["settings"]] == ["ORDERS/orders1", "ORDERS/orders2"]
    assert [item["reports"] for item in results["settings"]] == [1, 1]


def test_reports_of_two_databases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cover 2 databases: ORDERS"):
        imported(tmp_path, [awr_html(hour(0), "19c"), awr_html(hour(1, dbid=7), "19c")])
    assert not (tmp_path / "run").exists()


def test_a_file_that_is_refused_is_named_beside_those_that_are_read(tmp_path: Path) -> None:
    results = results_of(tmp_path, [awr_html(hour(0), "19c"), "nothing"])
    assert any("report_002.html is not an AWR report" in text for text in results["warnings"])


def test_nothing_is_written_where_no_file_is_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="None of the 2 files"):
        imported(tmp_path, ["nothing", "nothing"])
    with pytest.raises(UsageError, match="cannot be read"):
        import_reports([tmp_path / "gone"], "awr", tmp_path / "run", Silent(), "")
    assert not (tmp_path / "run").exists()


def test_another_run_is_never_overwritten(tmp_path: Path) -> None:
    imported(tmp_path, [awr_html(hour(0), "19c")])
    with pytest.raises(UsageError, match="exists already"):
        imported(tmp_path, [awr_html(hour(0), "19c")])


def test_an_imported_run_verifies(tmp_path: Path) -> None:
    run = imported(tmp_path, [awr_html(hour(number), "19c") for number in range(3)])
    results = analyse(run)
    write_results(run, results)
    write_report(run, render(results))
    assert verify_run(open_run(run.path)) == []
    (run.path / "entries.parquet").write_bytes(b"")
    assert any("entries.parquet was changed" in text for text in verify_run(run))


def test_a_run_of_an_older_version_verifies_without_the_figures_that_came_later(tmp_path: Path) -> None:
    run = imported(tmp_path, [awr_html(hour(0), "19c")])
    results = analyse(run)
    later = {"redo_wastage_share", "written_per_log_write"}
    names = {AWR[key].name for key in later}
    older = {**results, "wording": results["wording"] - 1, "warnings": []}
    for setting in older["settings"]:
        setting["figures"] = {key: value for key, value in setting["figures"].items() if key not in later}
    for shown in older["tables"]:
        shown["rows"] = [row for row in shown["rows"] if row.get("figure") not in names]
    write_results(run, older)
    write_report(run, render(older))
    assert verify_run(open_run(run.path)) == []
    older["settings"][0]["figures"]["log_sync_s"]["point"] = 7.0
    write_results(run, older)
    assert any("log_sync_s" in text for text in verify_run(open_run(run.path)))


def test_no_markup_of_a_report_reaches_the_page(tmp_path: Path) -> None:
    script = "<script>alert(1)</script>"
    page = awr_html(hour(0, parameters={"log_archive_dest_1": script, "commit_wait": script}), "19c")
    results = results_of(tmp_path, [page])
    assert script in str(results)
    assert script not in render(results)

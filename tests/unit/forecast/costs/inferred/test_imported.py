"""Costs from reports that were written from one truth: what they say, and what they lack."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redolab.experiment.answers import analyse
from redolab.forecast.costs.inferred.imported import _write_shape
from redolab.forecast.costs.of_run import costs_of, costs_within
from redolab.forecast.costs.run_costs import Effort, NoCostsError, RunCosts
from redolab.forecast.models.anticipation import ANTICIPATION
from redolab.forecast.models.scenario_forecast import forecast
from tests.imported_reports import imported
from tests.written_reports import Truth, awr_html, truth

FACTS: Truth = truth()


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> RunCosts:
    return costs_of(imported(tmp_path_factory.mktemp("reports"), [awr_html(FACTS, "19c")]))


def test_todays_setting_is_what_the_report_says(seen: RunCosts) -> None:
    today = seen.measured[seen.today]
    rate = FACTS.commits / FACTS.elapsed_s
    assert today.quantities["throughput_per_s"].point == pytest.approx(rate, rel=0.01)
    assert today.scenario.sessions == max(1, round(FACTS.db_time_s / FACTS.elapsed_s))
    assert today.scenario.rows_per_commit == 1
    assert seen.point.cpus == FACTS.cpus
    assert seen.point.only_seen
    assert not seen.point.prior_holds
    # Nothing of a client is known, so none has CPU time.
    assert all(cost == 0 for _, cost in seen.point.client_s)


def test_a_forecast_lists_what_was_taken_for_granted(seen: RunCosts) -> None:
    today = seen.measured[seen.today].scenario
    results = forecast(seen, today, ())
    text = " ".join(results["warnings"])
    for words in (
        "Redolab has no calibration of Oracle Database",
        "in which PostgreSQL's commits share flushes",
        "do not count the rows",
        "No forecast for settings of the family",
    ):
        assert words in text, words
    assert results["asked"]["levels"] == results["today"]["levels"]


def test_the_published_curve_is_one_of_the_models(seen: RunCosts) -> None:
    today = seen.measured[seen.today].scenario
    for asked in ({"cpu_factor": 0.5}, {"rows_per_commit": 8}, {"cpus": 2.0 * FACTS.cpus}):
        said = forecast(seen, type(today)(**{**vars(today), **asked}), ())
        answered = {**said["models"], **said["models_refused"]}
        assert "published curve" in said["models"], said["models_refused"]
        assert ANTICIPATION in answered
    refused = forecast(seen, type(today)(**{**vars(today), "log_device_ms": 1.0}), ())["models_refused"]
    assert "log_device_ms" in refused[ANTICIPATION]


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"commits": 0}, "user commits"),
        ({"commits": 40}, "40 commits in all"),
        ({"db_cpu_s": 0.0}, "DB CPU"),
        ({"background": ()}, "log file parallel write"),
    ],
)
def test_a_report_that_lacks_something_is_refused_by_name(
    tmp_path: Path, changed: dict[str, object], missing: str
) -> None:
    run = imported(tmp_path, [awr_html(truth(**changed), "19c")])
    with pytest.raises(NoCostsError, match=missing):
        costs_of(run)


def test_the_advice_ranks_changes_and_says_what_would_make_it_surer(tmp_path: Path) -> None:
    run = imported(tmp_path, [awr_html(FACTS, "19c")])
    advice = analyse(run)["advice"]
    # Sessions that are active are no knob, and how many rows a commit has is not in a report.
    assert {item["factor"] for item in advice["changes"]} == {"commit_wait", "log_device", "cpus"}
    assert "Rows per commit: the rows of today's commits" in " ".join(advice["not_forecast"])
    lost = [item for item in advice["changes"] if item["factor"] == "commit_wait"]
    assert [(item["tier_before"], item["tier_after"]) for item in lost] == [("disk", "memory")]
    for item in advice["changes"]:
        assert item["gain"]["low"] < item["gain"]["point"] <= item["gain"]["high"]
        assert item["measure"].startswith("two reports")
        assert item["extrapolated"]
    assert advice["assumptions"]


def of_sync(share: float, **changes: Any) -> Truth:
    """A report with so much of DB time in log file sync."""
    facts = truth(**changes)
    sync = share * facts.db_time_s
    listed = tuple(
        replace(event, seconds=sync) if event.name == "log file sync" else event for event in facts.foreground
    )
    return replace(facts, foreground=listed)


def advice_of(place: Path, facts: Truth) -> dict[str, Any]:
    found: dict[str, Any] = analyse(imported(place, [awr_html(facts, "19c")]))["advice"]
    return found


@pytest.mark.parametrize("share", [0.12, 0.176, 0.7])
def test_no_forecast_saves_more_of_the_log_than_was_waited_for(share: float, tmp_path: Path) -> None:
    changes = advice_of(tmp_path, of_sync(share))["changes"]
    of_log = [item for item in changes if item["factor"] in ("commit_wait", "log_device")]
    assert len(of_log) == 3
    for item in of_log:
        assert item["time"]["low"] >= (1 - share) * 0.999
        assert item["gain"]["high"] <= 1.001 / (1 - share)
        assert item["time"]["low"] <= item["time"]["point"] <= item["time"]["high"]


def test_where_commits_are_not_the_matter_nothing_is_forecast_of_them(tmp_path: Path) -> None:
    advice = advice_of(tmp_path / "little", of_sync(0.02))
    assert (advice["changes"], advice["lines"]) == ([], [])
    assert "log is only 2 % of DB time" in advice["why_no_forecast"].replace("2.0 %", "2 %")
    without = tuple(event for event in FACTS.foreground if event.name != "log file sync")
    advice = advice_of(tmp_path / "none", truth(foreground=without))
    assert (advice["changes"], advice["lines"]) == ([], [])
    assert "the time that commits wait for the log is not known" in advice["why_no_forecast"]


@pytest.mark.parametrize(
    "facts",
    [
        of_sync(0.5, db_time_s=1022 * 3600.0),
        of_sync(0.3, commits=500, db_cpu_s=5000.0, db_time_s=9000.0),
    ],
    ids=["1,022 sessions", "much CPU for each of few commits"],
)
def test_a_load_that_takes_too_long_to_simulate_costs_no_figure(facts: Truth, tmp_path: Path) -> None:
    run = imported(tmp_path, [awr_html(facts, "19c")])
    results = analyse(run, clock=False)
    assert results["settings"][0]["figures"]["log_sync_share"]["point"] is not None
    (line,) = results["advice"]["lines"]
    assert line.startswith("No forecast: to simulate this load takes more than")
    # By the number of events, which is the same on every machine.
    assert not results["advice"]["by_clock"]
    assert analyse(run, clock=False)["advice"] == results["advice"]


def test_the_advice_has_the_first_replicates_of_a_forecast(tmp_path: Path) -> None:
    run = imported(tmp_path, [awr_html(FACTS, "19c")])
    few = costs_within(run, Effort(3))
    assert few.replicates == costs_of(run).replicates[:3]
    assert few.point == costs_of(run).point


def test_the_tables_of_a_histogram_are_not_added_up(tmp_path: Path) -> None:
    """Each further table has everything shorter in its first column."""
    write = next(event for event in FACTS.background if event.name == "log file parallel write")
    shape = _write_shape(imported(tmp_path, [awr_html(FACTS, "19c")]), {1})
    at = np.linspace(0, 1, len(shape))
    below, bounds = 0.0, {"<1ms": 1.0, "<2ms": 2.0, "<4ms": 4.0, "<8ms": 8.0, "<16ms": 16.0, "<32ms": 32.0}
    for bound, percent in write.histogram.items():
        below += percent / 100
        # A quantile is a fortieth of the waits: the last of them lie too far apart.
        if bound in bounds and below < 0.97:
            assert 1e3 * np.interp(below, at, shape) == pytest.approx(bounds[bound], rel=0.15), bound


def test_an_hour_without_syncs_does_not_hide_those_of_the_others(tmp_path: Path) -> None:
    # So short are its syncs that commits do not wait.
    first = of_sync(0.001)
    quiet = truth(
        begin=first.begin + timedelta(hours=1),
        begin_snapshot=first.end_snapshot,
        end_snapshot=first.end_snapshot + 1,
        foreground=tuple(event for event in first.foreground if event.name != "log file sync"),
        commits=200,
        db_time_s=60.0,
        db_cpu_s=30.0,
    )
    for facts in ([first], [first, quiet]):
        found = costs_of(imported(tmp_path / str(len(facts)), [awr_html(item, "19c") for item in facts]))
        assert found.measured[found.today].scenario.commit_wait == "nowait"

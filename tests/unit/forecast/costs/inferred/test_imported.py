"""Costs from reports that were written from one truth: what they say, and what they lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.experiment.answers import analyse
from redolab.forecast.costs.calibrated import Calibrated, NoCostsError
from redolab.forecast.costs.of_run import costs_of
from redolab.forecast.models.anticipation import ANTICIPATION
from redolab.forecast.models.outlook import forecast
from tests.imported_reports import imported
from tests.written_reports import Truth, awr_html, truth

FACTS: Truth = truth()


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Calibrated:
    return costs_of(imported(tmp_path_factory.mktemp("reports"), [awr_html(FACTS, "19c")]))


def test_todays_setting_is_what_the_report_says(seen: Calibrated) -> None:
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


def test_a_forecast_lists_what_was_taken_for_granted(seen: Calibrated) -> None:
    today = seen.measured[seen.today].scenario
    results = forecast(seen, today, ())
    text = " ".join(results["warnings"])
    for words in (
        "There is no calibration of Oracle Database",
        "as PostgreSQL's share flushes",
        "do not count the rows",
        "No forecast of the family",
    ):
        assert words in text, words
    assert results["asked"]["levels"] == results["today"]["levels"]


def test_the_published_curve_is_one_of_the_models(seen: Calibrated) -> None:
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
    assert {"rows_per_commit", "commit_wait", "log_device", "cpus"} <= {
        item["factor"] for item in advice["changes"]
    }
    # Sessions that are active are no knob.
    assert not any(item["factor"] == "sessions" for item in advice["changes"])
    lost = [item for item in advice["changes"] if item["factor"] == "commit_wait"]
    assert [(item["tier_before"], item["tier_after"]) for item in lost] == [("disk", "memory")]
    for item in advice["changes"]:
        assert item["gain"]["low"] < item["gain"]["point"] < item["gain"]["high"]
        assert item["measure"].startswith("two reports")
        assert item["extrapolated"]
    assert advice["assumptions"]

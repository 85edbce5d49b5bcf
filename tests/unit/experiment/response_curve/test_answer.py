"""Whole stored runs of a curve that is known, with the forecast beside it and without."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redolab.experiment.answers import analyse
from redolab.experiment.response_curve.plan import SHARE
from redolab.forecast.costs import of_run
from redolab.model.queueing import response_time_cpu
from redolab.records.design import Design
from redolab.records.run import Run
from redolab.records.sample import LatencyRow
from redolab.records.writing.writer import RunWriter
from tests.forecasts import make_calibrated
from tests.unit.analysis.synthetic import Behaviour, design, manifest, one_sample

CAPACITY, SERVICE_S = 3_000.0, 0.004
SERVERS = SERVICE_S * CAPACITY
PERCENTS = (2, 20, 40, 60, 70, 75, 80, 85, 90, 95, 110)
ELBOW = (1 / (SERVERS + 1)) ** (1 / SERVERS)
"""Of the curve that the points follow, in parts of capacity."""


def stored(
    path: Path, noise: float = 0.0, busy: float = 0.3, backlog: int | None = None, answer_s: float = 0.0
) -> Run:
    """A run of eight sessions whose response times follow the published curve.

    Args:
        path: of the run.
        noise: SD of the logarithm of R.
        busy: share of the CPUs in use.
        backlog: the share of capacity in percent at which a part of what was asked for is left.
        answer_s: of R, the time in which the server has done its part already.
    """
    levels: dict[str, dict[str, str]] = {
        "8/1/wait": {"sessions": "8", "rows_per_commit": "1", "commit_wait": "wait"}
    }
    for percent in PERCENTS:
        levels[f"8/1/wait/{percent}%"] = {
            **levels["8/1/wait"],
            SHARE: f"{percent}%",
            "arrival_rate_per_s": f"{percent / 100 * CAPACITY:g}",
        }
    plan = Design(tuple(levels), "8/1/wait", 6, 10.0, 0.1, seed=3)
    content = manifest(design()) | {
        "design": asdict(plan) | {"settings": list(levels)},
        "order": [asdict(trial) for trial in plan.order()],
        "experiment": "response-curve",
        "unit": "commit",
        "settings": [
            {"name": name, "levels": mine, "parameters": {}, "tier": "disk", "tier_text": ""}
            for name, mine in levels.items()
        ],
        "mapping": [],
        "load": {"kind": "inserts", "name": "inserts", "sessions": 8, "scope": "session", "loop": "client"},
    }
    rng = np.random.default_rng(5)
    writer = RunWriter(path, content)
    for trial in plan.order():
        asked = float(levels[trial.setting].get("arrival_rate_per_s", CAPACITY))
        done = min(asked, CAPACITY)
        commits = round(10 * done)
        slower = math.exp(noise * rng.standard_normal())
        response_s = slower * response_time_cpu(SERVICE_S, min(asked, 0.99 * CAPACITY), SERVERS)
        sample, seen, processes = one_sample(trial, Behaviour(response_s, 2e-5), elapsed_s=10.0)
        open_load = SHARE in levels[trial.setting]
        left = round(10 * (asked - done)) + (commits // 5 if trial.setting == f"8/1/wait/{backlog}%" else 0)
        sample = replace(
            sample,
            sessions=8,
            commits=commits,
            rows=commits,
            units=commits,
            session_elapsed_s=80.0,
            host_busy_s=20 * busy,
            response_s=commits * response_s if open_load else None,
            arrivals_waited=0 if open_load else None,
            arrivals_unserved=left if open_load else None,
            database_busy_s=commits * (response_s - answer_s),
        )
        rows = [LatencyRow(sample.sample, 1e6 * response_s, commits)]
        if open_load:
            rows.append(LatencyRow(sample.sample, 1e6 * response_s, commits, "response"))
        writer.append(sample, seen, processes, (), rows)
    return writer.finish("finished")


def found_in(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(analyse(run), allow_nan=False))
    return found


def table(found: dict[str, Any], key: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = next(item for item in found["tables"] if item["key"] == key)["rows"]
    return rows


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The costs of a log of 1 ms stand for those that the run's other settings would tell."""
    monkeypatch.setattr(of_run, "costs_of", lambda _: make_calibrated())


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is said of a run without noise, whose costs nobody knows."""
    return found_in(stored(tmp_path_factory.mktemp("exact") / "run"))


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return stored(tmp_path_factory.mktemp("noisy") / "run", noise=0.1)


def test_the_published_curve_goes_through_points_that_follow_it(exact: dict[str, Any]) -> None:
    found = exact
    rows = table(found, "response-curve-1")
    assert [row["share"] for row in rows] == list(PERCENTS)
    for row in rows[:-1]:
        assert row["formula_0"] == pytest.approx(row["response_time_ms"]["point"], rel=1e-3)
        assert row["judged"] == "no forecast"
    assert rows[0]["response_time_ms"]["point"] == pytest.approx(1e3 * SERVICE_S, rel=1e-6)
    measured, published, servers = table(found, "elbow-1")
    assert measured["share"]["point"] == pytest.approx(ELBOW, rel=0.02)
    assert published["share"]["point"] == pytest.approx(ELBOW, rel=0.01)
    assert servers["of"] == f"M/M/{SERVERS:.0f}"
    # With 5 % less S the curve is 0.95 S / (1 - (0.95 u)^M) instead of S / (1 - u^M), and u^M is 1 / (M + 1).
    part = 1 / (SERVERS + 1)
    expected = 0.95 * (1 - part) / (1 - 0.95**SERVERS * part)
    assert published["less_service"]["point"] == pytest.approx(expected, rel=0.01)
    assert measured["less_service"] is None
    assert any("The points are shown without a forecast" in text for text in found["warnings"])


def test_capacity_and_elbow_are_said_in_words(exact: dict[str, Any]) -> None:
    text = exact["verdict"]["text"]
    assert text.startswith("Let up to 2,4")
    assert (
        "per second arrive at 8 sessions, 1 row per commit, commits wait. Beyond this rate, the elbow "
        "of the curve, " in text
    )
    assert (
        "Capacity, what the same sessions do without a pause, is 3,000 (3,000 to 3,000) commits per second."
    ) in text
    assert (
        "Repeated samples of the same arrival rate differed in response time by a factor of up to 1.00"
        in text
    )


def test_what_more_is_asked_for_than_can_be_done_is_no_point_of_the_curve(exact: dict[str, Any]) -> None:
    found = exact
    row = table(found, "response-curve-1")[-1]
    assert (row["response_time_ms"], row["judged"]) == (None, "unsteady")
    assert table(found, "response-samples-1")[-1]["left"]["point"] == pytest.approx(0.1 / 1.1)
    _, _, measured, beyond, _ = found["figures"][0]["series"]
    assert (len(measured["x"]), beyond["x"]) == (len(PERCENTS) - 1, [3_300.0])


def test_where_a_backlog_grew_the_curve_ends(tmp_path: Path) -> None:
    found = found_in(stored(tmp_path / "run", backlog=60))
    judged = {row["share"]: row["judged"] for row in table(found, "response-curve-1")}
    assert [share for share, word in judged.items() if word == "unsteady"] == list(PERCENTS[3:])
    assert (
        "Up to this rate, which is the elbow of the curve or less, response time grows slower than the load"
    ) in found["verdict"]["text"]
    assert table(found, "elbow-1")[0]["of"] == "measured, or beyond"


def test_littles_law_holds_in_every_sample_or_is_told(exact: dict[str, Any], tmp_path: Path) -> None:
    found = exact
    for row in table(found, "response-samples-1"):
        assert row["off"] == pytest.approx(0.0, abs=1e-9)
        assert row["present"] == pytest.approx(row["expected"])
    assert not [text for text in found["warnings"] if "L × R" in text]
    late = found_in(stored(tmp_path / "late", answer_s=0.0004))
    assert table(late, "response-samples-1")[0]["off"] == pytest.approx(-10.0, rel=0.01)
    (warning,) = (text for text in late["warnings"] if "L × R" in text)
    assert (
        "of the curve of 8 sessions, 1 row per commit, commits wait, the number of busy sessions by the "
        "server's account" in warning
    )


@pytest.mark.usefixtures("costs")
def test_forecasts_stand_beside_the_points_and_are_judged(noisy: Run) -> None:
    found = found_in(noisy)
    rows = table(found, "response-curve-1")
    for row in rows[:4]:
        said, measured = row["forecast_ms"], row["response_time_ms"]["point"]
        assert said["low"] < said["point"] < said["high"]
        assert row["judged"] == ("inside" if said["low"] <= measured <= said["high"] else "outside")
    bends = {row["of"]: row for row in table(found, "elbow-1")}
    assert bends["forecast"]["share"]["low"] <= bends["forecast"]["share"]["point"]
    assert 0.9 < bends["forecast"]["less_service"]["point"] < 1.05
    judged = sum(row["judged"] in ("inside", "outside") for row in rows)
    inside = sum(row["judged"] == "inside" for row in rows)
    text = found["verdict"]["text"]
    assert (
        f"{inside} of {judged} forecasts that were judged have the measured value inside their interval."
    ) in text
    assert "with 5 % less CPU time per transaction response time at the elbow would be " in text
    drawn = [series["name"] for series in found["figures"][0]["series"]]
    assert drawn[2:] == [
        "forecast", "its interval at the points", "measured", "beyond capacity: grows with a sample", "elbow",
    ]  # fmt: skip


@pytest.mark.usefixtures("costs")
def test_near_cpu_bound_capacity_forecasts_are_drawn_and_not_judged(tmp_path: Path) -> None:
    found = found_in(stored(tmp_path / "run", noise=0.4, busy=0.8))
    judged = {row["judged"] for row in table(found, "response-curve-1")}
    assert judged == {"drawn", "unsteady"}
    text = found["verdict"]["text"]
    assert (
        f"Where arrivals keep the CPUs nearly full, Redolab did not judge the forecast ({len(PERCENTS) - 1} "
        "forecasts)."
    ) in text
    assert "have the measured value inside their interval" not in text
    factors = [row["repeat"] for row in table(found, "response-samples-1")[:-1]]
    assert (
        "Repeated samples of the same arrival rate differed in response time by a factor of up to "
        f"{max(factors):.2f}" in text
    )
    assert max(factors) > 1.2


def test_the_same_run_gives_the_same_object(noisy: Run) -> None:
    assert found_in(noisy) == found_in(noisy)

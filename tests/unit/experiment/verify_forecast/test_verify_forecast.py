"""A sealed forecast and the run that checks it, on the fake engine: every figure worked out by hand."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from redolab.commands.verify import verify_run
from redolab.engine.fake import FakeEngine, FakeScript
from redolab.errors import InterruptedRunError, RefusedError, UsageError
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.experiment.verify_forecast.levels import levels_of
from redolab.experiment.verify_forecast.plan import VerifyForecast
from redolab.forecast.checks.checked import forecast_of, score, score_run
from redolab.forecast.costs.costs import Scenario
from redolab.forecast.track_record import Score
from redolab.measure import runner
from redolab.records.sealed import FILE, seal
from redolab.records.store import Run, open_run, read_results
from redolab.records.writing.writer import write_report, write_results
from redolab.report.page.html import render
from redolab.stats.estimates import Estimate
from tests.forecasts import make_calibrated

TODAY, ASKED = Scenario(8), Scenario(16)
LEVELS = levels_of({"today": TODAY, "16": ASKED}, None)
SYNC = ("IO", "WalSync")
# 2,125 us a commit: 8 sessions do 3,764.7 per second, 16 of them 7,529.4.
SCRIPTS = dict.fromkeys(
    LEVELS, FakeScript(cpu_ns=100_000, run_queue_ns=25_000, waits_ns={SYNC: 2_000_000}, commits_per_flush=8)
)


class NoProgress:
    """Nobody watches."""

    def begin(self, samples: int, seconds: float) -> None:
        """Nothing."""

    def news(self, text: str) -> None: ...

    def advance(self, setting: str) -> None:
        """Nothing."""


def sealed_forecast() -> dict[str, Any]:
    return seal(forecast_of(make_calibrated(4), "8/1/wait", {"16/1/wait": ASKED}, ()))


def check(
    place: Path, sealed: dict[str, Any], interrupt_after: int | None = None, refuses: bool = False
) -> runner.Outcome:
    experiment = VerifyForecast(LEVELS, "8/1/wait", "server")
    plan = dataclasses.replace(experiment.plan(Wish(blocks=3, seconds=1.0, seed=1)), documents={FILE: sealed})
    engine = FakeEngine(SCRIPTS, interrupt_after)
    if refuses:

        def refuse(*arguments: object) -> None:
            raise RefusedError("no work today")

        engine.work = refuse  # type: ignore[method-assign, assignment]
    return runner.run(experiment, plan, engine, place, NoProgress(), "redolab", engine.clock)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run that checked its forecast and was reported."""
    outcome = check(tmp_path / "run", sealed_forecast())
    assert outcome.error is None
    return publish(outcome.run)


def publish(run: Run) -> Run:
    results = analyse(run)
    write_results(run, results)
    write_report(run, render(results))
    return open_run(run.path)


def test_settings_are_named_by_their_levels() -> None:
    assert list(LEVELS) == ["8/1/wait", "16/1/wait"]
    mixed = levels_of(
        {"today": TODAY, "a": Scenario(8, commit_delay_us=500), "b": Scenario(8, log_device_ms=2.5)}, 1.0
    )
    assert list(mixed) == ["8/1/wait/0/1", "8/1/wait/500/1", "8/1/wait/0/2.5"]
    assert mixed["8/1/wait/0/2.5"]["log_device_ms"] == "2.5"


def test_the_forecast_is_scored_by_hand(run: Run) -> None:
    told = analyse(run)["forecast"]
    assert told["scored"]
    scores = {(item["model"], item["quantity"]): item for item in told["scores"]}
    own = scores["group commit, simulated", "throughput_per_s"]
    assert own["measured"]["point"] == pytest.approx(16 / 2_125e-6, rel=1e-9)
    assert own["error"] == pytest.approx(own["forecast"]["point"] / (16 / 2_125e-6) - 1, rel=1e-9)
    assert own["inside"] is (own["forecast"]["low"] <= 16 / 2_125e-6 <= own["forecast"]["high"])
    assert own["verified"] == 0
    response = scores["exact MVA", "response_time_ms"]
    assert response["measured"]["point"] == pytest.approx(2.125, rel=1e-9)
    assert scores["exact MVA", "commits_per_flush"]["error"] == pytest.approx(1 / 8 - 1, rel=1e-9)
    # Twice the sessions, each as quick as before.
    change = scores["group commit, simulated", "throughput_ratio"]
    assert change["measured"] == {
        "point": pytest.approx(2),
        "low": pytest.approx(2),
        "high": pytest.approx(2),
        "level": 0.95,
    }
    assert change["error"] == pytest.approx(change["forecast"]["point"] / 2 - 1, rel=1e-9)
    assert scores["exact MVA", "response_time_ratio"]["measured"]["point"] == pytest.approx(1)
    # Two numbers of sessions with one row: no law goes through them, and that is counted.
    assert [item["model"] for item in told["silences"]] == ["USL"]
    # No client and no timed loop, so no commit times: nothing is made up.
    assert not [item for item in told["scores"] if item["quantity"].startswith("commit_time")]


def test_the_verdict_says_how_far_off_and_where_the_page_shows_it(run: Run) -> None:
    results = read_results(run)
    assert "throughput became 2.00 (2.00 to 2.00) times today's" in results["verdict"]["text"]
    assert "16 sessions, 1 row, wait: " in results["verdict"]["text"]
    assert "16/1/wait" not in json.dumps(results["verdict"])
    assert {table["caption"].partition(":")[0] for table in results["tables"]} == {
        "16 sessions, 1 row, wait", "Forecasts of every model",
    }  # fmt: skip
    assert results["verdict"]["outcome_text"] == "inside"
    assert "never checked before" in results["verdict"]["text"]
    assert results["tables"][0]["key"] == "forecast-1"
    assert "what was forecast" in (run.path / "report.html").read_text()


def test_a_whole_run_verifies(run: Run) -> None:
    assert verify_run(run) == []


def rewrite(run: Run, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Run:
    """Change the sealed forecast, and the manifest's hash of it, as a careful forger would."""
    path = run.path / FILE
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    manifest = json.loads((run.path / "manifest.json").read_text())
    manifest["hashes"].pop("results.json")
    from tests.hashes import file_hash

    manifest["hashes"][FILE] = file_hash(path)
    (run.path / "manifest.json").write_text(json.dumps(manifest))
    return open_run(run.path)


def better(sealed: dict[str, Any]) -> dict[str, Any]:
    sealed["forecast"]["settings"][0]["models"][0]["quantities"]["throughput_per_s"]["point"] *= 1.01
    return sealed


def test_a_changed_forecast_does_not_verify(run: Run) -> None:
    found = verify_run(rewrite(run, better))
    assert any("seal is broken" in text for text in found)
    assert any(text.startswith("forecast.") for text in found)


def test_a_changed_file_does_not_verify(run: Run) -> None:
    (run.path / FILE).write_text(json.dumps(better(json.loads((run.path / FILE).read_text()))))
    assert any(f"{FILE} was changed (its hash differs)" in text for text in verify_run(open_run(run.path)))
    (run.path / FILE).unlink()
    found = verify_run(open_run(run.path))
    assert found[0] == f"{FILE} is missing"
    assert len(found) > 1


def test_a_forecast_sealed_after_the_first_sample_does_not_verify(run: Run) -> None:
    def later(sealed: dict[str, Any]) -> dict[str, Any]:
        again = seal(sealed["forecast"])
        from redolab.records.sealed import digest

        again["sealed_at"] = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
        return {**again, "sha256": digest({key: again[key] for key in again if key != "sha256"})}

    assert any("after the first sample began" in text for text in verify_run(rewrite(run, later)))


def test_an_interrupted_check_leaves_the_forecast_unscored(tmp_path: Path) -> None:
    outcome = check(tmp_path / "run", sealed_forecast(), interrupt_after=6)
    assert isinstance(outcome.error, InterruptedRunError)
    scoring = score_run(outcome.run)
    assert scoring is not None
    assert not scoring.scored
    results = read_results(publish(outcome.run))
    assert results["forecast"]["scored"] is False
    assert results["forecast"]["scores"] == []
    assert results["verdict"]["outcome_text"] == "unscored"
    assert verify_run(open_run(outcome.run.path)) == []


def test_a_check_without_a_sample_leaves_the_sealed_forecast(tmp_path: Path) -> None:
    sealed = sealed_forecast()
    with pytest.raises(RefusedError, match="no work today"):
        check(tmp_path / "run", sealed, refuses=True)
    assert json.loads((tmp_path / "run" / FILE).read_text()) == sealed


def test_a_run_without_its_forecast_says_so(run: Run) -> None:
    manifest = json.loads((run.path / "manifest.json").read_text())
    del manifest["hashes"][FILE]
    (run.path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match="no sealed forecast"):
        analyse(open_run(run.path))


def test_what_was_measured_as_nothing_is_no_score() -> None:
    nothing = {"throughput_per_s": Estimate(0.0, None, None), "response_time_ms": Estimate(None, None, None)}
    found = score(sealed_forecast(), {"16/1/wait": nothing})
    assert found.checked == ()
    assert score(sealed_forecast(), {}).silences == ()


def test_a_model_errs_as_it_did_before() -> None:
    def record(model: str) -> list[Score]:
        return [Score(model, "single rows", "throughput_per_s", 100.0, 101.0 + n) for n in range(9)]

    known = [*record("exact MVA"), *record("group commit, simulated")]
    near = {"4/1/wait": Scenario(4)}
    for said in forecast_of(make_calibrated(0), "today", near, known)["settings"][0]["models"]:
        if said["silent"] is None:
            told = said["quantities"]["throughput_per_s"]
            assert told["verified"] == (9 if said["model"] in ("exact MVA", "group commit, simulated") else 0)
            if told["verified"]:
                assert told["high"] / told["point"] == pytest.approx(1.09, rel=1e-9)


def test_a_forecast_of_before_has_no_changes_and_is_judged_by_throughput(tmp_path: Path) -> None:
    sealed = sealed_forecast()
    content = {key: value for key, value in sealed.items() if key not in ("format", "sealed_at", "sha256")}
    for said in sealed["forecast"]["settings"][0]["models"]:
        for name in list(said["quantities"]):
            if name.endswith("_ratio"):
                del said["quantities"][name]
    run = publish(check(tmp_path / "run", seal(sealed["forecast"])).run)
    results = read_results(run)
    assert not [item for item in results["forecast"]["scores"] if item["quantity"].endswith("_ratio")]
    assert ": throughput was off by" in results["verdict"]["text"]
    assert content.keys() == {"forecast"}
    assert verify_run(run) == []

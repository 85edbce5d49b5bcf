"""The key `advice`: from runs with costs and without, and from live profiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from redolab.dialect.durability import TIER_TEXT
from redolab.engine import OFFERS
from redolab.errors import UsageError
from redolab.experiment import EXPERIMENTS
from redolab.experiment.listed.plan import Listed
from redolab.forecast.advice import advice
from redolab.forecast.costs import of_run
from redolab.forecast.costs.run_costs import RunCosts
from redolab.records.capability import OFFERED
from redolab.records.run import Run
from tests.forecasts import TODAY, make_calibrated, make_scores
from tests.screens import profiles
from tests.unit.analysis.synthetic import BASELINE, LOG_BOUND, build_run, design

TIMES = {
    BASELINE: [{"on_cpu": 1.0, "IO:WalSync": 3.0, "unaccounted": 4.0}, {"on_cpu": 2.0, "IO:WalSync": 6.0}]
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return build_run(tmp_path / "run", LOG_BOUND, design(blocks=2))


def tells_costs(monkeypatch: pytest.MonkeyPatch, today: str) -> None:
    made = make_calibrated(replicates=2)
    measured = {today: made.measured[TODAY], **made.measured}
    found = RunCosts(made.point, made.replicates, measured, today)
    monkeypatch.setattr(of_run, "costs_of", lambda _: found)


def tells_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(run: Run) -> RunCosts:
        raise UsageError("It has one session. `redolab run calibrate` measures more.")

    monkeypatch.setattr(of_run, "costs_of", refuse)


def test_a_run_without_costs_has_bounds_and_the_reason(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    tells_none(monkeypatch)
    found = advice.of_run(run, BASELINE, TIMES)
    assert (found["of"], found["whole"], found["model"], found["changes"]) == (
        BASELINE, "response time", None, [],
    )  # fmt: skip
    # 3/8 and 6/8 of the time; the unaccounted half of the first sample has no bound.
    sync, cpu = found["bounds"]
    assert (sync["name"], sync["share"]["point"], sync["most"]["point"]) == (
        "log sync", 0.5625, pytest.approx(1 / 0.4375),
    )  # fmt: skip
    assert (sync["measure"], cpu["measure"]) == (
        "redolab run commit-mode", "redolab run cpu-capacity, on the machine of the server",
    )  # fmt: skip
    assert found["lines"][2] == ("No forecast. It has one session. `redolab run calibrate` measures more.")
    assert found["lines"][0].startswith("Log sync is 56.2 %")
    assert len(found["lines"]) == 3


def test_a_run_with_costs_has_ranked_changes_and_what_they_promise(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tells_costs(monkeypatch, BASELINE)
    found = advice.of_run(run, BASELINE, TIMES)
    assert found["why_no_forecast"] is None
    by_factor = {(item["factor"], item["to"]): item for item in found["changes"]}
    nowait, rows = by_factor["commit_wait", "nowait"], by_factor["rows_per_commit", "32"]
    assert (nowait["tier_before"], nowait["tier_after"], nowait["tier_text"]) == (
        "disk", "memory", TIER_TEXT["memory"],
    )  # fmt: skip
    assert (rows["tier_before"], rows["tier_after"]) == ("disk", "disk")
    assert rows["measure"] == "redolab verify-forecast RUN --set rows_per_commit=32"
    ranks = [item["durability"] for item in found["changes"] if item["outcome"] == "more work"]
    assert ranks == sorted(ranks, key=["kept", "lost", "limit"].index)
    assert ranks[0] == "kept"


def test_the_record_that_comes_with_redolab_narrows_the_intervals(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tells_costs(monkeypatch, BASELINE)

    def fewer() -> dict[str, Any]:
        found = advice.of_run(run, BASELINE, TIMES)["changes"]
        return next(item for item in found if (item["factor"], item["to"]) == ("sessions", "4"))

    monkeypatch.setattr(advice, "shipped_record", lambda: ((), ()))
    unknown = fewer()
    scores = make_scores("single rows", "throughput_per_s", (0.01,) * 9)
    monkeypatch.setattr(advice, "shipped_record", lambda: (scores, ()))
    known = fewer()
    assert (unknown["verified"], known["verified"]) == (0, 9)
    assert unknown["extrapolated"] == "no forecast of single rows has been verified before"
    assert known["extrapolated"] == ""
    assert unknown["gain"]["point"] == known["gain"]["point"]
    assert unknown["gain"]["high"] > 1.3 * known["gain"]["point"] > known["gain"]["high"]


def test_the_short_list_tells_the_price_of_what_gives_up_durability(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tells_costs(monkeypatch, BASELINE)
    found = advice.of_run(run, BASELINE, TIMES)
    first, second, third = found["lines"]
    # 32 x 3,000 / 3,400, as the run measured it.
    assert (
        first == "32 rows per commit instead of 1: 28.2× (27.4 to 29.0) the rows per second (measured here)."
    )
    assert second.startswith("Commits that do not wait for the log (nowait): ")
    place = [item["durability"] for item in found["changes"]].index("lost") + 1
    assert second.endswith(
        "(extrapolation), but a crash of the server loses commits that were acknowledged. This change is "
        f"number {place} in the table, after the changes that keep every commit."
    )
    assert place > 2
    assert third.startswith("Log sync is 56.2 %")


def test_where_nothing_is_shown_to_help_the_short_list_says_so() -> None:
    item = {
        "change": "4 sessions instead of 8", "factor": "sessions", "outcome": "not shown to help",
        "durability": "kept", "gain": {"point": 1.2, "low": 0.8, "high": 1.8, "level": 0.9},
    }  # fmt: skip
    limit = item | {"durability": "limit", "outcome": "more work"}
    found: dict[str, Any] = {"changes": [item, limit], "bounds": [], "why_no_forecast": None}
    assert advice.lines(found) == ["No change that was tried is shown to help."]
    shorter = item | {
        "outcome": "shorter times", "basis": "forecast", "extrapolated": "",
        "time": {"point": 0.5, "low": 0.4, "high": 0.6, "level": 0.9},
    }  # fmt: skip
    (line,) = advice.lines(found | {"changes": [shorter]})
    assert line == (
        "4 sessions instead of 8: 0.500× (0.400 to 0.600) the time of a transaction, with about as many "
        "commits (forecast)."
    )


def test_without_a_time_account_and_without_costs_there_is_nothing_to_say(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tells_none(monkeypatch)
    found = advice.of_run(run, BASELINE, {})
    assert (found["bounds"], found["changes"], found["lines"]) == ([], [], [])


def test_a_live_profile_has_bounds_and_no_forecast() -> None:
    results = profiles.busy()
    found = results["advice"]
    assert (found["of"], found["changes"], found["model"]) == ("all sessions", [], None)
    shares = {row["row"]: row["share"]["point"] for row in results["all_sessions"]["profile"]}
    bounds = {tuple(item["rows"]): item for item in found["bounds"]}
    assert {rows for rows in bounds if len(rows) == 1} == {(row,) for row in shares if row != "unaccounted"}
    assert bounds["on_cpu",]["most"]["point"] == pytest.approx(1 / (1 - shares["on_cpu"]))
    log = next(item for rows, item in bounds.items() if len(rows) == 2 and "IO:WalSync" in rows)
    assert log["share"] == results["all_sessions"]["log_sync_share"]
    assert log["measure"] == "redolab run commit-mode --engine URL"
    assert bounds["Lock:transactionid",]["measure"].startswith("redolab run --list FILE --engine URL")
    assert found["not_measured"] == ["the costs of a commit, a row and a flush, and the gain of a change"]
    assert "redolab run calibrate --engine URL" in found["lines"][-1]
    assert len(found["lines"]) == 3


def test_a_live_profile_says_what_could_not_be_seen() -> None:
    found = profiles.remote()["advice"]
    assert any(
        text.startswith("CPU, run queue: the server is on another machine") for text in found["not_measured"]
    )
    (unknown,) = [item for item in found["bounds"] if item["name"] == "on CPU or unknown"]
    assert unknown["measure"] == "the same profile, before and after a change"


def test_where_nobody_was_busy_there_is_no_advice() -> None:
    found = profiles.quiet()["advice"]
    assert (found["bounds"], found["lines"]) == ([], [])


def test_no_experiment_is_named_for_a_server_it_cannot_run_on() -> None:
    results = profiles.busy()
    found = advice.of_profile(results | {"engine": {"name": "sqlite"}})
    assert {item["measure"] for item in found["bounds"]} == {"the same profile, before and after a change"}
    for engine in ("mariadb", "oracle", "postgresql"):
        there = advice.of_profile(results | {"engine": {"name": engine}})
        assert "redolab run commit-mode --engine URL" in {item["measure"] for item in there["bounds"]}
        # Lists of statements do not run on Oracle.
        lists = any("--list" in item["measure"] for item in there["bounds"])
        assert lists == (engine != "oracle")


def test_what_settles_a_bound_needs_what_its_experiment_needs() -> None:
    for command, needs in (*advice._SETTLES.values(), advice._CALIBRATE):
        name = command.removeprefix("redolab run ").partition("{")[0].partition(",")[0]
        of_machine = name == "cpu-capacity"
        expected = (
            frozenset() if of_machine else (Listed if name.startswith("--list") else EXPERIMENTS[name]).needs
        )
        assert needs == expected, command


def test_what_servers_offer_is_what_their_engines_do() -> None:
    for name, offered in OFFERED.items():
        offers = [offer for offer in OFFERS if name == offer.name or name in offer.schemes]
        assert offers, name
        for offer in offers:
            assert offered == offer.capabilities - {"watch", "hard_kill", "log_device"}, offer.name

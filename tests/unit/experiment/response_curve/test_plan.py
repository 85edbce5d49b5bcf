"""What a response-curve run measures, and at how many arrivals."""

from __future__ import annotations

import pytest

from redolab.errors import RefusedError, UsageError
from redolab.experiment.base import Levels, Wish
from redolab.experiment.forecast_load import PAUSES_MS, calibration_settings
from redolab.experiment.response_curve.plan import EXPERIMENT, SHARE, curve_of, share_of
from redolab.records.load import Amount
from redolab.records.sample import Work

CAPACITY = {"4/1/wait": 1_000.0, "8/32/nowait": 250.0}


def pilot_of(commits_per_s: dict[str, float]) -> tuple[list[str], object]:
    """A pilot of sessions that begin at once, and what it was asked for; every third work is slow."""
    asked: list[str] = []

    def pilot(setting: str, amount: Amount, levels: Levels | None = None, /) -> Work:
        assert levels is None
        asked.append(setting)
        slower = 2 if len(asked) % 3 == 1 else 1
        commits = round(commits_per_s[setting] * amount.seconds / slower)
        return Work(commits, commits, 0, amount.seconds, amount.seconds, commits)

    return asked, pilot


def test_a_curve_is_what_costs_are_read_from_and_shares_of_capacity() -> None:
    plan = EXPERIMENT.plan(Wish(quick=True, sessions=(4,)))
    points = {name: levels for name, levels in plan.combinations.items() if SHARE in levels}
    assert [share_of(levels) for levels in points.values()] == [
        0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.1,
    ]  # fmt: skip
    assert next(iter(points)) == "4/1/wait/10%"
    assert {curve_of(levels) for levels in points.values()} == {"4/1/wait"} <= plan.combinations.keys()
    others = {name: levels for name, levels in plan.combinations.items() if name not in points}
    assert others.keys() - {"8/1/wait", "8/1/nowait"} >= {"1/1/wait", "1/1/nowait", "4/32/wait"}
    assert sum("pause_ms" in levels for levels in others.values()) == len(PAUSES_MS)
    assert plan.design.baseline == "4/1/wait"
    assert plan.load.sessions == 8
    assert plan.load.loop == "client"


def test_a_full_run_has_more_points_and_every_one_of_a_quick_run() -> None:
    few, many = (
        set(EXPERIMENT.plan(Wish(quick=quick, sessions=(4,))).combinations) for quick in (True, False)
    )
    assert few < many
    assert {f"4/1/wait/{percent}%" for percent in (10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110)} <= many


def test_commit_modes_rows_and_pools_can_be_asked_for() -> None:
    plan = EXPERIMENT.plan(Wish(quick=True, settings=("4/1/wait", "8/32/nowait", "1/1/wait")))
    curves = {curve_of(levels) for levels in plan.combinations.values() if SHARE in levels}
    assert curves == {"4/1/wait", "8/32/nowait", "1/1/wait"}
    levels = plan.combinations["8/32/nowait/60%"]
    assert dict(levels) == {
        "sessions": "8", "rows_per_commit": "32", "commit_wait": "nowait", SHARE: "60%",
    }  # fmt: skip
    # A pool of one is measured, and costs need several sessions.
    lone = EXPERIMENT.plan(Wish(quick=True, settings=("1/1/wait",)))
    assert int(lone.combinations[lone.design.baseline]["sessions"]) > 1


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        (
            Wish(settings=("wait/1",)),
            "A curve is named by its sessions, rows per commit and commit mode, as in",
        ),
        (Wish(settings=("0/1/wait",)), "no curve '0/1/wait'"),
        (Wish(settings=("4/1/wait", "4/1/wait")), "named twice"),
        (Wish(settings=("4/1/wait",), sessions=(8,)), "leave out --sessions"),
        (Wish(sessions=(8, 8)), "names a number twice"),
        (Wish(rows=10), "does not take the option --rows"),
    ],
)
def test_what_is_no_curve_is_refused(wish: Wish, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        EXPERIMENT.plan(wish)


def test_arrivals_are_shares_of_what_sessions_do_that_begin_at_once() -> None:
    asked, pilot = pilot_of(CAPACITY)
    plan = EXPERIMENT.plan(Wish(quick=True, settings=tuple(CAPACITY)))
    fitted = EXPERIMENT.fit(plan, pilot)  # type: ignore[arg-type]
    # The median of three leaves out one slow work.
    assert asked == ["4/1/wait"] * 3 + ["8/32/nowait"] * 3
    for levels in fitted.combinations.values():
        if SHARE in levels:
            wanted = share_of(levels) * CAPACITY[curve_of(levels)]
            assert float(levels["arrival_rate_per_s"]) == pytest.approx(wanted, rel=1e-3)
        else:
            assert "arrival_rate_per_s" not in levels
    assert fitted.design == plan.design


def test_a_pilot_that_commits_nothing_ends_the_run_in_a_sentence() -> None:
    _, pilot = pilot_of(dict.fromkeys(CAPACITY, 0.0))
    plan = EXPERIMENT.plan(Wish(quick=True, settings=tuple(CAPACITY)))
    with pytest.raises(
        RefusedError, match=r"The first short test of 4/1/wait \(the pilot\) committed nothing"
    ):
        EXPERIMENT.fit(plan, pilot)  # type: ignore[arg-type]


def test_costs_are_read_from_the_settings_of_a_calibration() -> None:
    names = list(calibration_settings(32, 2, ("server", "client")))
    assert names == [
        "32/1/wait", "1/1/wait", "64/1/wait", "32/32/wait", "1/1/nowait", "32/1/nowait", "64/1/nowait",
        "8/32/nowait", "1/1/wait/server/1", "1/1/wait/server/8", "1/1/wait/server/50",
    ]  # fmt: skip

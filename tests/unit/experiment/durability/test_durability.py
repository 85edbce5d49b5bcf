from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from redolab.experiment.durability.answer import analyse
from redolab.records.design import Design
from redolab.records.run import Run
from redolab.records.sample import Kill
from redolab.records.writing.writer import RunWriter
from redolab.report.tables import to_set
from redolab.stats.estimates import exact_share
from tests.unit.analysis.synthetic import manifest


def kill_run(path: Path, missing: dict[str, int], blocks: int = 10, spoil: tuple[int, ...] = ()) -> Run:
    plan = Design(tuple(missing), "wait/immediate", blocks, 1.0, 0.0, 3, null_pair=False)
    content = manifest(plan) | {"experiment": "durability", "record": "kill"}
    writer = RunWriter(path, content)
    for trial in plan.order():
        lost = missing[trial.setting] * (trial.block % 2)
        writer.append(
            Kill(
                sample=trial.sample,
                block=trial.block,
                position=trial.position,
                setting=trial.setting,
                started_at="2026-11-21T08:00:01Z",
                start_s=2.0 * trial.sample,
                elapsed_s=1.0,
                spoiled="the server was down already" if trial.sample in spoil else None,
                sessions=5,
                acknowledged=1000,
                missing=lost,
                unacknowledged=2,
                loss_window_s=0.15 if lost else None,
                recovery_s=0.4,
            )
        )
    return writer.finish("finished")


def test_every_setting_has_its_statements_and_the_one_to_rely_on_comes_first(tmp_path: Path) -> None:
    found = analyse(kill_run(tmp_path, {"wait/immediate": 0, "nowait/immediate": 31}))
    first, other = found["statements"]
    assert (first["setting"], first["purpose"]) == ("wait/immediate", "recommended")
    assert (other["setting"], other["purpose"]) == ("nowait/immediate", "measured")
    assert first["ways"][0]["set"][0] == "ALTER SYSTEM SET synchronous_commit = on;"
    assert other["ways"][0]["set"][0] == "ALTER SYSTEM SET synchronous_commit = off;"
    assert other["ways"][0]["undo"]
    assert first["price"] == []
    assert other["price"][0]["window_s"] is not None
    shown = to_set.recommended(found)
    assert shown is not None
    assert shown.title == "What to set: commits wait, the log is written at once (wait/immediate)."
    assert shown.more.endswith("the other settings that were measured")
    assert [item.title for item in to_set.others(found)] == [
        "Measured too: commits do not wait, the log is written at once (nowait/immediate)."
    ]


@pytest.mark.parametrize(
    ("missing", "blocks", "recommended"),
    [
        ({"wait/immediate": 0, "nowait/immediate": 0}, 9, None),
        ({"wait/immediate": 5, "nowait/immediate": 0}, 10, None),
        ({"wait/immediate": 5, "wait/batch": 0, "nowait/immediate": 0}, 10, "wait/batch"),
    ],
)
def test_a_setting_is_recommended_where_it_kept_its_promise(
    tmp_path: Path, missing: dict[str, int], blocks: int, recommended: str | None
) -> None:
    entries = analyse(kill_run(tmp_path, missing, blocks))["statements"]
    assert {item["setting"] for item in entries} == set(missing)
    advised = [item["setting"] for item in entries if item["purpose"] == "recommended"]
    assert advised == ([] if recommended is None else [recommended])


def settings(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in found["settings"]}


def test_wait_keeps_everything_and_nowait_does_not(tmp_path: Path) -> None:
    found = analyse(kill_run(tmp_path / "run", {"wait/immediate": 0, "nowait/batch": 40}))
    assert found["verdict"]["outcome"] == "equivalent"
    assert found["verdict"]["text"] == (
        "Rely on commits that wait for their flush: wait/immediate lost none of 10,000 acknowledged commits "
        "in 10 hard kills of the server. nowait/batch lost 200 of 10,000 acknowledged commits, in 5 of 10 "
        "kills, the oldest 150 ms before the kill. With 95 % confidence, at most 30.8 % of kills like these "
        "would make wait/immediate lose commits."
    )
    nowait = settings(found)["nowait/batch"]
    assert (nowait["kills_with_loss"], nowait["missing"]) == (5, 200)
    assert nowait["worst_kill"]["missing"] == 40
    assert nowait["missing_per_kill"]["point"] == 20
    assert nowait["loss_window_max_s"] == 0.15
    wait = settings(found)["wait/immediate"]
    assert wait["promise_kept"] is True
    # No loss in 10 kills rules out, at 95 %, a probability above 1 - 0.025^(1/10).
    assert wait["loss_probability"]["high"] == pytest.approx(1 - 0.025**0.1)
    assert any("not a power cut" in text for text in found["warnings"])
    json.dumps(found, allow_nan=False)


def test_the_report_shows_what_was_lost(tmp_path: Path) -> None:
    found = analyse(kill_run(tmp_path / "run", {"wait/immediate": 0, "nowait/batch": 40}, spoil=(4,)))
    losses, rates, kills = found["tables"]
    assert [table["first"] for table in (losses, rates, kills)] == [True, False, False]
    assert [row["promise"] for row in losses["rows"]] == ["kept", "none"]
    for row, setting in zip(losses["rows"], found["settings"], strict=True):
        assert (row["acknowledged"], row["missing"]) == (setting["acknowledged"], setting["missing"])
    assert [row["window_ms"] for row in losses["rows"]] == [None, 150.0]
    assert rates["rows"][1]["loss_probability"] == settings(found)["nowait/batch"]["loss_probability"]
    assert len(kills["rows"]) == 20
    assert kills["rows"][3]["spoiled"] == "the server was down already"
    (figure,) = found["figures"]
    drawn = {series["name"]: series for series in figure["series"]}
    assert sum(drawn["nowait/batch"]["y"]) == settings(found)["nowait/batch"]["missing"]
    assert 4 not in [x for series in figure["series"] for x in series["x"]]


def test_a_broken_promise_is_a_failure(tmp_path: Path) -> None:
    found = analyse(kill_run(tmp_path / "run", {"wait/immediate": 1, "nowait/batch": 0}))
    assert found["verdict"]["outcome"] == "worse"
    assert found["verdict"]["text"].startswith(
        "Do not trust wait/immediate: 5 of 10,000 acknowledged commits were lost"
    )
    assert settings(found)["wait/immediate"]["promise_kept"] is False
    assert found["verdict"]["outcome_text"] == "a promise was BROKEN"
    assert found["tables"][0]["rows"][0]["promise"] == "broken"


def test_too_few_kills_conclude_nothing(tmp_path: Path) -> None:
    found = analyse(kill_run(tmp_path / "run", {"wait/immediate": 0}, spoil=(4,)))
    assert found["verdict"]["outcome"] == "undecided"
    assert settings(found)["wait/immediate"]["spoiled"] == 1
    assert "Undecided: one setting has only 9 valid kills" in found["verdict"]["text"]


def test_no_kills_at_all(tmp_path: Path) -> None:
    found = analyse(kill_run(tmp_path / "run", {"wait/immediate": 0}, blocks=1, spoil=(1,)))
    assert found["verdict"]["outcome"] == "undecided"
    assert settings(found)["wait/immediate"]["worst_kill"] is None
    json.dumps(found, allow_nan=False)


def test_exact_share() -> None:
    assert exact_share(0, 0).point is None
    found = exact_share(5, 10)
    assert (found.point, found.low, found.high) == pytest.approx((0.5, 0.18709, 0.81291), abs=1e-5)

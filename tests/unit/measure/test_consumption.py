"""What a run uses up at most: counted where work is fixed, a stated rate times the time elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from redolab.experiment import EXPERIMENTS
from redolab.experiment.base import Plan, Wish
from redolab.measure.consumption import NOT_WAITING_PER_S, WAITING_PER_S, Consumption, consumption
from redolab.records.design import Design
from redolab.records.load import Inserts, LevelScript, Load, Scans, Script, Updates

UPDATES = Updates("cpu", 5, "session", 1_000, 10)
WAIT, NOWAIT = {"commit_wait": "wait"}, {"commit_wait": "nowait"}


def used(
    load: Load, combinations: Mapping[str, Mapping[str, str]], blocks: int = 2, seconds: float = 3.0,
    warmup_s: float = 1.0, units: int | None = None,
) -> Consumption:  # fmt: skip
    names = tuple(combinations)
    design = Design(names, names[0], blocks, seconds, warmup_s, 1, null_pair=False, units=units)
    return consumption(design, load, combinations)


def of_plan(plan: Plan) -> Consumption:
    return consumption(plan.design, plan.load, plan.combinations)


def test_seconds_times_the_stated_rate_of_each_setting() -> None:
    found = used(UPDATES, {"wait": WAIT, "nowait": NOWAIT})
    # Two samples of each, 3 s after 1 s and half a second to spare; one second of each to size them.
    per_setting_s = 2 * 4.5 + 1
    ids = per_setting_s * (WAITING_PER_S + NOT_WAITING_PER_S) + 4 * 100 + 1_000
    assert found.transaction_ids == ids
    assert found.log_bytes is not None
    # At least a commit's record and a row's for each.
    assert found.log_bytes > per_setting_s * (WAITING_PER_S + NOT_WAITING_PER_S) * 200


def test_a_fixed_amount_of_work_is_counted() -> None:
    load = Inserts("inserts", 4, "session", 10)
    by_rows = {rows: {"rows_per_commit": rows} for rows in ("1", "900")}
    found = used(load, by_rows, blocks=3, warmup_s=0, units=90_000)
    # Each session does whole commits: up to one more each. To spare there is 0.5 s of every sample and 1 s of
    # every setting, at the rate of commits or of 500,000 rows a second.
    work = 3 * (90_000 + 4) + 3 * (100 + 4)
    spare = 3 * 0.5 * 40_000 + 3 * 278 + 40_000 + 556
    assert found.transaction_ids == work + spare + 6 * 100 + 1_000


def test_a_full_commit_mode_run_as_it_was_seen_is_within_the_bound() -> None:
    found = of_plan(EXPERIMENTS["commit-mode"].plan(Wish(full=True)))
    # 112,773 and 104,899 commits a second of those that do not wait took 8.0e8 ids in all.
    assert 8.0e8 < found.transaction_ids < 1.5e9
    assert found.text == (
        "at most 1,351 million transaction ids and 284.6 GB of log, at 150,000 commits a second, 40,000 "
        "where they wait for the log"
    )


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_more_blocks_and_seconds_use_up_more(name: str) -> None:
    first, second = (of_plan(EXPERIMENTS[name].plan(Wish(quick=True, blocks=n))) for n in (4, 8))
    assert first.transaction_ids < second.transaction_ids
    assert 0 < (first.log_bytes or 0) < (second.log_bytes or 0)


def test_scans_commit_nothing_but_write_their_updates() -> None:
    load = Scans("scans", 1, "session", 10_000, 1_000, 50)
    found = used(load, {"0": {"rounds": "0"}, "50": {"rounds": "50"}})
    assert found.transaction_ids == 4 + 4 * 100 + 1_000
    updates = 2 * 50 * 2 * 1_000
    assert found.log_bytes is not None
    assert found.log_bytes > updates * (150 + 2 * 48)


@pytest.mark.parametrize("value", ["off", "OFF", "false", "0", "no"])
def test_a_list_whose_levels_do_not_wait(value: str) -> None:
    quick = LevelScript(parameters={"synchronous_commit": value})
    load = Script(
        "mine", 2, "session", "mine.toml", "", "select 1", "", "", {"how": {"quick": quick}}, {}
    )  # fmt: skip
    # A factor of the user's own may be called as one of Redolab's, and its levels are any text.
    found = used(load, {"safe": {"how": "safe", "rows_per_commit": "many"}, "quick": {"how": "quick"}})
    assert found.transaction_ids == 10 * (WAITING_PER_S + NOT_WAITING_PER_S) + 1_400
    assert found.log_bytes is None
    assert "the log that your statements generate" in found.text

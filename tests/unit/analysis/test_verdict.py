from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from redolab.analysis.at_risk import AtRisk, Price, at_risk, prices
from redolab.analysis.verdict import Circumstances, ratio_text, regime, verdict
from redolab.dialect.postgres import longest_loss_s
from redolab.stats.blocks import Comparison, NullTest
from redolab.stats.estimates import MISSING, Estimate

BASE = "wait/immediate"
PASSED = NullTest(True, 0.4, Estimate(1.001, 0.99, 1.01), 1.02, 10)
FASTER = Comparison(
    "nowait/batch", BASE, "throughput_per_s", 10, Estimate(25.3, 24.1, 26.6),
    Estimate(25.3, 24.3, 26.3, 0.9), 0.0002, 0.0006, "better", True, None,
)  # fmt: skip
AROUND = Circumstances(
    BASE, 10, 10, None, {BASE: "disk", "nowait/batch": "memory", "wait/batch": "disk"}, 0.05,
    "commits", "committed",
)  # fmt: skip
EMULATED = replace(AROUND, log_device_ms=5.0)
PRICE = " The price: with nowait/batch commits that were acknowledged may be lost when the server crashes."


def share(point: float | None) -> Estimate:
    return MISSING if point is None else Estimate(point, point, point)


def test_log_bound() -> None:
    found = verdict(regime(share(0.93), share(0.05), BASE, None), PASSED, [FASTER], AROUND)
    assert found.text == (
        "Use nowait/batch if a crash may lose acknowledged commits: it commits 25.3 times as fast (24.1 to "
        "26.6) as wait/immediate." + PRICE + " Commits here wait for the log: under wait/immediate 93 % of a "
        "session's commit time is log sync."
    )
    assert (found.outcome, found.best) == ("better", "nowait/batch")


def test_an_emulated_device_is_named_in_the_first_sentence() -> None:
    found = verdict(regime(share(0.93), share(0.05), BASE, 5.0), PASSED, [FASTER], EMULATED)
    first, rest = found.text.split(". ", 1)
    assert "on an emulated log device it commits 25.3 times as fast" in first
    assert " Commits here wait for an emulated 5 ms log device: under" in rest


def test_cpu_bound_and_a_small_gain() -> None:
    small = replace(FASTER, ratio=Estimate(1.021, 1.003, 1.039))
    found = verdict(regime(share(0.06), share(0.9), BASE, None), PASSED, [small], AROUND)
    assert found.text == (
        "Expect little: nowait/batch, the best setting, commits only 2.1 % faster (0.3 to 3.9) than "
        "wait/immediate."
        + PRICE
        + " Commits here are bound by CPU, not by the log: log sync is 6 % of commit "
        "time."
    )


def test_equivalent_though_found() -> None:
    same = replace(FASTER, ratio=Estimate(1.021, 1.003, 1.039), outcome="equivalent")
    found = verdict(regime(share(0.06), share(0.9), BASE, None), PASSED, [same], AROUND)
    assert found.text.startswith("Keep wait/immediate: nowait/batch, the best other setting, commits 2.1 %")
    assert "The difference was found, but it lies inside the 5 % that count as equal." in found.text
    assert (found.outcome, found.best) == ("equivalent", "nowait/batch")


def test_mixed_and_as_durable_as_before() -> None:
    other = replace(FASTER, setting="wait/batch", ratio=Estimate(1.4, 1.2, 1.6))
    found = verdict(regime(share(0.4), share(0.45), BASE, 5.0), PASSED, [other], EMULATED)
    assert found.text == (
        "Use wait/batch: on an emulated log device it commits 40.0 % faster (20.0 to 60.0) than "
        "wait/immediate. The commits of this setting are as durable as those of wait/immediate. Commits here "
        "do not wait for one thing alone: under wait/immediate 40 % of a session's commit time is log sync "
        "(on an emulated 5 ms log device), and 45 % is CPU and the queue for it."
    )


def test_undecided_says_what_would_settle_it() -> None:
    open_ = replace(
        FASTER, ratio=Estimate(1.03, 0.9, 1.2), outcome="undecided", detected=False,
        blocks_needed=12,
    )  # fmt: skip
    found = verdict(regime(share(0.7), share(0.1), BASE, None), PASSED, [open_], AROUND)
    assert found.text.startswith(
        "Measure longer (more blocks): nowait/batch committed 3.0 % faster (-10.0 to 20.0) than "
        "wait/immediate, which is not conclusive. "
    )
    assert "12 more blocks would settle whether there is a difference of 5 %" in found.text
    assert (found.outcome, found.best) == ("undecided", None)


def test_worse_keeps_the_baseline() -> None:
    slow = replace(FASTER, ratio=Estimate(0.5, 0.4, 0.6), outcome="worse")
    found = verdict(regime(share(0.7), share(0.1), BASE, None), PASSED, [slow], AROUND)
    assert "No other setting is faster than wait/immediate." in found.text
    assert "50.0 % slower (40.0 to 60.0)" in found.text
    assert (found.outcome, found.best) == ("worse", BASE)


def test_withheld_when_the_baseline_differs_from_itself() -> None:
    failed = NullTest(False, 0.004, Estimate(1.1, 1.05, 1.15), 1.02, 10)
    doubtful = replace(FASTER, outcome="withheld")
    found = verdict(regime(share(0.93), share(0.05), BASE, None), failed, [doubtful], AROUND)
    assert "wait/immediate measured against itself came out" in found.text
    assert "so the verdict is withheld" in found.text
    assert "25.3" not in found.text
    assert (found.outcome, found.best) == ("withheld", None)


def test_a_great_effect_stands_though_the_baseline_differs_from_itself() -> None:
    failed = NullTest(False, 0.004, Estimate(1.035, 1.01, 1.06, 0.99), None, 10)
    found = verdict(regime(share(0.93), share(0.05), BASE, None), failed, [FASTER], AROUND)
    assert (found.outcome, found.best) == ("better", "nowait/batch")
    assert found.text.startswith("Use nowait/batch")
    assert "wait/immediate measured against itself came out 3.5 % faster (1.0 to 6.0): every interval" in (
        found.text
    )


def test_interrupted_runs_say_how_much_they_rest_on() -> None:
    around = replace(AROUND, blocks_done=4)
    found = verdict(regime(share(0.93), share(0.05), BASE, None), PASSED, [FASTER], around)
    assert (
        "as wait/immediate. This result rests on 4 of 10 blocks (passes over all settings). The price"
    ) in found.text


def test_nothing_measured() -> None:
    nothing = NullTest(None, None, MISSING, None, 0)
    around = replace(AROUND, blocks_done=0)
    found = verdict(regime(MISSING, MISSING, BASE, None), nothing, [], around)
    assert found.text == (
        "Nothing can be compared yet: measure again, and let one block (a pass over all settings) finish. "
        "This result rests on 0 of 10 blocks (passes over all settings). It is not known what commits here "
        "wait for, because no wait events were sampled."
    )
    assert (found.outcome, found.best) == ("undecided", None)


@pytest.mark.parametrize(
    ("sync", "cpu", "name"),
    [
        (0.5, 0.4, "log-bound"),
        (0.49, 0.5, "mixed"),
        (0.24, 0.5, "cpu-bound"),
        (0.3, 0.3, "mixed"),
        (0.3, None, "mixed"),
        (None, 0.9, "cpu-bound"),
        (None, 0.2, "unknown"),
        (None, None, "unknown"),
    ],
)
def test_regimes(sync: float | None, cpu: float | None, name: str) -> None:
    assert regime(share(sync), share(cpu), BASE, None).name == name


def test_ratios_in_words() -> None:
    assert ratio_text(MISSING) == "unknown"
    assert ratio_text(Estimate(3.0, None, None)) == "3.00 times as fast"
    assert ratio_text(Estimate(0.99, 0.97, 1.01)) == "1.0 % slower (-1.0 to 3.0)"


@pytest.mark.parametrize(
    ("commits", "said"), [(35_833, "36,000"), (9, "9"), (99, "99"), (101, "110"), (1_000_000, "1,000,000")]
)
def test_the_price_is_a_number_of_commits_where_it_is_known(commits: int, said: str) -> None:
    around = replace(AROUND, prices={"nowait/batch": (Price("server", 0.03, commits=commits),)})
    found = verdict(regime(share(0.93), share(0.05), BASE, None), PASSED, [FASTER], around)
    assert found.price == (
        f"The price: with nowait/batch a crash of the server may lose up to {said} acknowledged commits, "
        "those of the last 30.0 ms."
    )
    assert found.price in found.text


def test_a_setting_as_durable_as_the_baseline_has_no_price() -> None:
    as_safe = replace(FASTER, setting="wait/batch")
    found = verdict(regime(share(0.93), share(0.05), BASE, None), PASSED, [as_safe], AROUND)
    assert found.price is None
    assert "as durable" in found.text


def risk(
    declared: dict[str, Any], commits_per_s: float | None = 1_000.0, name: str = "embedded"
) -> AtRisk | None:
    return at_risk(prices({"name": name}, declared, commits_per_s))


def test_what_may_be_lost_is_three_rounds_of_the_wal_writer() -> None:
    declared = {"tier": "memory", "parameters": {"wal_writer_delay": "200ms"}}
    found_risk = risk(declared)
    assert found_risk is not None
    assert found_risk.window_s == pytest.approx(0.6)
    assert found_risk.commits == 600
    assert risk(declared | {"tier": "disk"}) is None
    assert risk(declared | {"parameters": {}}) is None
    assert risk(declared, None) is None
    assert risk(declared, name="nobody's") is None
    for written, seconds in (("1s", 3.0), ("10 ms", 0.03), ("500", 1.5), ("100us", 0.0003), ("x", None)):
        found = longest_loss_s({"wal_writer_delay": written})
        assert found == (None if seconds is None else pytest.approx(seconds))

"""A run that ends when every comparison is decided, from plan to page, on the fake engine."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from redolab.commands.verify import verify_run
from redolab.engine.fake import FakeEngine, FakeScript
from redolab.errors import InterruptedRunError
from redolab.experiment import find_experiment
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.files.folder import write_file
from redolab.measure import runner
from redolab.records.store import open_run
from redolab.records.writing.writer import write_results
from redolab.report.page.html import render
from redolab.report.tables.method import in_words
from redolab.report.tables.tables import null_test

EXPERIMENT = find_experiment("commit-mode")
SYNC = ("IO", "WalSync")


def script(waits_ns: int) -> FakeScript:
    return FakeScript(cpu_ns=20_000, run_queue_ns=5_000, waits_ns={SYNC: waits_ns}, flush_ns=40_000)


APART = {
    "wait/immediate": script(75_000),
    "wait/batch": script(100_000),
    "nowait/immediate": script(0),
    "nowait/batch": script(1_000),
}
ALIKE = dict.fromkeys(APART, script(75_000))


class Heard:
    """Keeps what a run says."""

    def __init__(self) -> None:
        self.samples, self.news_after = 0, list[tuple[int, str]]()

    def begin(self, samples: int, seconds: float) -> None: ...

    def advance(self, setting: str) -> None:  # noqa: ARG002
        self.samples += 1

    def news(self, text: str) -> None:
        self.news_after.append((self.samples, text))


def measured(
    place: Path, scripts: dict[str, FakeScript], wish: Wish, after: int | None = None
) -> tuple[runner.Outcome, Heard]:
    engine, heard = FakeEngine(scripts, after), Heard()
    plan = EXPERIMENT.plan(wish)
    return runner.run(EXPERIMENT, plan, engine, place, heard, "redolab run", engine.clock), heard


def outcomes(results: dict[str, Any], metric: str = "throughput_per_s") -> dict[str, str]:
    return {item["a"]: item["outcome"] for item in results["comparisons"] if item["metric"] == metric}


def test_it_ends_with_the_block_that_decides_the_last(tmp_path: Path) -> None:
    outcome, heard = measured(tmp_path / "run", APART, Wish(quick=True, seed=7))
    assert outcome.error is None
    # Blocks that are all alike double the evidence: eight decide the first of three, and after nine the A/A
    # pair could have failed.
    assert heard.samples == 9 * 5
    assert [samples for samples, _ in heard.news_after] == [40, 40, 40]
    assert heard.news_after[0][1].startswith("nowait/immediate is decided after 8 blocks: 4.00 times as fast")
    results = analyse(outcome.run)
    expected = {"wait/batch": "worse", "nowait/immediate": "better", "nowait/batch": "better"}
    assert outcomes(results) == expected
    assert results["status"] == "finished"
    assert "of 23 blocks" not in results["verdict"]["text"]
    ratio = next(item for item in results["comparisons"] if item["a"] == "nowait/immediate")["ratio"]
    assert ratio["point"] == pytest.approx(4)
    assert ratio["low"] == pytest.approx(4)
    assert ratio["high"] == pytest.approx(4)


def test_the_page_says_how_it_ended_and_shows_the_evidence(tmp_path: Path) -> None:
    outcome, _ = measured(tmp_path / "run", APART, Wish(quick=True, seed=7))
    results = analyse(outcome.run)
    assert null_test(results).startswith("A/A check passed: the baseline against itself 1")
    assert (
        "The run ends as soon as every comparison is decided, or after 2 min: it has 9 blocks (passes over "
        "all settings)."
    ) in (in_words(results))
    (figure,) = [item for item in results["figures"] if item["key"] == "evidence"]
    assert [len(series["y"]) for series in figure["series"]] == [9, 9, 9, 2]
    first = figure["series"][0]["y"]
    assert all(later <= 2.000001 * earlier for earlier, later in itertools.pairwise(first))
    assert figure["series"][-1]["y"] == pytest.approx([60, 60])
    assert first[-3] < 60 <= first[-2]
    write_results(outcome.run, results)
    write_file(tmp_path / "run" / "report.html", render(results).encode())
    assert verify_run(open_run(tmp_path / "run")) == []


def test_equal_settings_are_found_equal(tmp_path: Path) -> None:
    outcome, heard = measured(tmp_path / "run", ALIKE, Wish(quick=True, seed=7))
    assert set(outcomes(analyse(outcome.run)).values()) == {"equivalent"}
    assert len(heard.news_after) == 3
    assert heard.samples < 12 * 5


@pytest.mark.parametrize("at_most_s", [10, 20])
def test_it_ends_when_its_time_is_over(tmp_path: Path, at_most_s: float) -> None:
    """Whatever is undecided then, and without a block that could not end in time."""
    outcome, heard = measured(tmp_path / "run", APART, Wish(at_most_s=at_most_s, seed=7))
    results = analyse(outcome.run)
    assert outcome.error is None
    assert heard.samples == at_most_s / 0.5
    assert set(outcomes(results).values()) == ({"undecided"} if at_most_s == 10 else {"better", "worse"})
    assert null_test(results).endswith("too few for a difference of the baseline from itself to show.")
    assert "This result rests on" not in results["verdict"]["text"]


def test_the_first_block_is_measured_however_long_it_takes(tmp_path: Path) -> None:
    outcome, heard = measured(tmp_path / "run", APART, Wish(at_most_s=0.1, seed=7))
    assert outcome.error is None
    assert heard.samples == 5


def test_an_interrupted_one_is_judged_by_what_it_has(tmp_path: Path) -> None:
    outcome, _ = measured(tmp_path / "run", APART, Wish(quick=True, seed=7), after=46)
    assert isinstance(outcome.error, InterruptedRunError)
    results = analyse(outcome.run)
    assert set(outcomes(results).values()) == {"undecided"}
    text = results["verdict"]["text"]
    rests = (
        f"This result rests on 4 of {outcome.run.manifest['design']['blocks']} blocks (passes over all "
        "settings). "
    )
    assert "is not conclusive. 4 more blocks would" in text.replace(rests, "")


def test_a_fixed_number_of_blocks_says_nothing_before_the_end(tmp_path: Path) -> None:
    outcome, heard = measured(tmp_path / "run", APART, Wish(blocks=9, seconds=0.4, seed=7))
    results = analyse(outcome.run)
    assert (heard.samples, heard.news_after) == (45, [])
    assert not [item for item in results["figures"] if item["key"] == "evidence"]
    assert "carry-over" not in {item["name"] for item in results["diagnostics"]}


def test_an_odd_baseline_is_allowed_for_and_said(tmp_path: Path) -> None:
    """By a hand that changes the results: the baseline is 3 % slower than itself."""
    outcome, _ = measured(tmp_path / "run", APART, Wish(at_most_s=60, until_settled=False, seed=7))
    results = analyse(outcome.run)
    failed = {
        "passed": False,
        "pvalue": 0.001,
        "ratio": {"point": 0.97, "low": 0.95, "high": 0.99},
        "blocks": 12,
    }
    text = null_test(results | {"null_test": failed})
    assert text.startswith(
        "A/A check FAILED: the baseline against itself 0.970× (0.950 – 0.990), p = 0.0010."
    )
    assert text.endswith(
        "Every interval allows for this difference of the baseline from itself, and an outcome that the "
        "difference could explain is withheld."
    )
    gone = results | {"null_test": failed, "verdict": results["verdict"] | {"outcome": "withheld"}}
    assert null_test(gone).endswith("so no verdict is given.")

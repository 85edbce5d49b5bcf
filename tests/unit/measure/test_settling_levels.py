"""Sweeps that end when the number to recommend is settled, from plan to page, on the fake engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from redolab.analysis.levels import one_step, span
from redolab.commands.continue_run import ContinueOptions, _design
from redolab.commands.verify import verify_run
from redolab.engine.fake import FakeEngine, FakeScript
from redolab.errors import InterruptedRunError
from redolab.experiment import find_experiment
from redolab.experiment.answers import analyse, levels_of
from redolab.experiment.base import Plan, Wish
from redolab.files.folder import write_file
from redolab.measure import runner
from redolab.records.load import load_of
from redolab.records.manifest import MOST_SAMPLES
from redolab.records.run import Run
from redolab.records.store import open_run
from redolab.records.writing.continued import ContinuedWriter
from redolab.records.writing.writer import write_results
from redolab.report.page.html import render
from redolab.report.tables.method import in_words
from redolab.stats.estimates import MISSING, Estimate
from tests.docs.pages import ROOT, inline_code
from tests.unit.measure.test_going_on import rows
from tests.unit.measure.test_settling import Heard

SYNC = ("IO", "WalSync")
SWEEPS = ("rows-per-commit", "session-count", "commit-scaling")
SESSIONS = (1, 2, 4, 8)
Whole = Callable[[str], tuple[runner.Outcome, Heard]]
SOME = ("1", "8", "64", "512", "32768")


def script(unit_ns: float, units: int = 1) -> FakeScript:
    """Commits of so many units, each of which takes such a time."""
    wait = round(unit_ns * units / 2)
    return FakeScript(cpu_ns=wait, run_queue_ns=0, waits_ns={SYNC: wait}, flush_ns=40_000)


APART = {
    # A commit costs as much as 20 rows; sessions share the log until there are four.
    "rows-per-commit": {rows: script(4_000 * (1 + 20 / int(rows)), int(rows)) for rows in SOME},
    "session-count": {str(n): script(80_000 * max(1, n / 4)) for n in SESSIONS},
    "commit-scaling": {str(n): script(80_000 * max(1, n / 4)) for n in SESSIONS},
}
ALIKE = {
    "rows-per-commit": {rows: script(4_000, int(rows)) for rows in SOME},
    "session-count": {str(n): script(80_000 * n) for n in SESSIONS},
    "commit-scaling": {str(n): script(80_000 * n) for n in SESSIONS},
}


def wish_of(name: str, **changes: Any) -> Wish:
    chosen: dict[str, Any] = {"settings": SOME} if name == "rows-per-commit" else {"sessions": SESSIONS}
    return Wish(**{"quick": True, "seed": 7, **chosen, **changes})


def measured(
    place: Path, name: str, given: Mapping[str, FakeScript], wish: Wish, after: int | None = None
) -> tuple[runner.Outcome, Heard]:
    experiment, engine, heard = find_experiment(name), FakeEngine(given, after), Heard()
    plan = experiment.plan(wish)
    return runner.run(experiment, plan, engine, place, heard, "redolab run", engine.clock), heard


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A run of an experiment that ended when it was settled, measured once."""
    kept: dict[str, tuple[runner.Outcome, Heard]] = {}

    def of(name: str) -> tuple[runner.Outcome, Heard]:
        if name not in kept:
            kept[name] = measured(tmp_path_factory.mktemp(name) / "run", name, APART[name], wish_of(name))
        return kept[name]

    return of


def levels(results: Mapping[str, Any]) -> dict[str, tuple[float | None, float | None, bool]]:
    return {
        item["key"]: (item["estimate"]["low"], item["estimate"]["high"], item["settled"])
        for item in results["levels"]
    }


@pytest.mark.parametrize(
    ("name", "found", "said"),
    [
        (
            "rows-per-commit",
            {":0.9": (64, 64, True), ":0.99": (512, 512, True)},
            ["90 % of the saving needs 64 rows per commit", "99 % of the saving needs 512 rows per commit"],
        ),
        ("session-count", {"sessions": (4, 4, True)}, ["4 sessions are enough"]),
        ("commit-scaling", {"sessions": (4, 4, True)}, ["4 sessions are enough"]),
    ],
)
def test_it_ends_with_the_block_that_settles_the_level(
    whole: Whole, name: str, found: dict[str, Any], said: list[str]
) -> None:
    outcome, heard = whole(name)
    assert outcome.error is None
    results = analyse(outcome.run)
    # Blocks that are all alike settle the level after eight; after nine the A/A pair could have failed.
    assert heard.samples == 9 * (len(APART[name]) + 1)
    assert [text for _, text in heard.news_after] == [f"{text}: settled after 8 blocks." for text in said]
    assert levels(results) == found
    documented = inline_code(ROOT / "docs" / "reference" / "json.md")
    assert {f"levels[].{key}" for item in results["levels"] for key in item} <= documented
    text = results["verdict"]["text"]
    assert results["verdict"]["outcome"] == "better"
    assert results["verdict"]["best"] == ("512" if name == "rows-per-commit" else "4")
    assert not any(word in text for word in ("more block", "ot settled", "undecided", "not conclusive"))
    assert "as soon as the recommended numbers are settled, or after 2 min: it has 9 blocks" in in_words(
        results
    )
    assert "evidence" not in {item["key"] for item in results["figures"]}
    if name == "rows-per-commit":
        write_results(outcome.run, results)
        write_file(outcome.run.path / "report.html", render(results).encode())
        assert verify_run(open_run(outcome.run.path)) == []


@pytest.mark.parametrize("name", ["rows-per-commit", "session-count"])
def test_it_ends_with_its_time_and_says_what_is_open_and_how_to_go_on(tmp_path: Path, name: str) -> None:
    samples = len(APART[name]) + 1
    wish = wish_of(name, seconds=1.0, at_most_s=5 * samples * 1.1)
    outcome, heard = measured(tmp_path / "run", name, APART[name], wish)
    assert outcome.error is None
    assert samples <= heard.samples <= 6 * samples
    assert heard.news_after == []
    results = analyse(outcome.run)
    assert not any(item["settled"] for item in results["levels"])
    verdict = results["verdict"]
    assert (verdict["outcome"], verdict["best"]) == ("undecided", None)
    assert f"Not settled after {heard.samples // samples} blocks: " in verdict["text"]
    assert "`redolab continue RUN --until-settled` measures further blocks." in verdict["text"]


@pytest.mark.parametrize("name", ["rows-per-commit", "session-count"])
def test_where_more_bring_nothing_the_fewest_are_named(tmp_path: Path, name: str) -> None:
    outcome, heard = measured(tmp_path / "run", name, ALIKE[name], wish_of(name))
    results = analyse(outcome.run)
    assert heard.samples == 9 * (len(ALIKE[name]) + 1)
    assert all(item["settled"] for item in results["levels"])
    assert results["verdict"]["outcome"] == "equivalent"
    first = "Keep 1 row to a commit" if name == "rows-per-commit" else "Let 1 session"
    assert results["verdict"]["text"].startswith(first)
    assert "undecided" not in results["verdict"]["text"]


def gone_on(place: Path, name: str) -> Run:
    """The run at a place, measured further on a fake server whose clock goes on where the run ended."""
    writer, engine = ContinuedWriter(place), FakeEngine(APART[name])
    engine._ns = round(writer.measured_s * 1e9)
    try:
        design, ends = _design(ContinueOptions(place), writer)
        combinations = {item["name"]: item["levels"] for item in writer.manifest["settings"]}
        plan = Plan(design, combinations, load_of(writer.manifest["load"]))
        experiment = find_experiment(name)
        outcome = runner.go_on(experiment, plan, engine, writer, Heard(), ends=ends, clock=engine.clock)
    finally:
        writer.let_go()
    assert outcome.error is None
    return outcome.run


@pytest.mark.parametrize("name", ["rows-per-commit", "commit-scaling"])
def test_an_interrupted_one_becomes_what_it_would_have_been(whole: Whole, tmp_path: Path, name: str) -> None:
    uncut, _ = whole(name)
    cut, _ = measured(tmp_path / "run", name, APART[name], wish_of(name), 31)
    assert isinstance(cut.error, InterruptedRunError)
    assert 0 < cut.run.samples.num_rows < uncut.run.samples.num_rows
    assert rows(gone_on(tmp_path / "run", name)) == rows(uncut.run)


@pytest.mark.parametrize("name", SWEEPS)
def test_the_design(name: str) -> None:
    experiment = find_experiment(name)
    quick, patient, endless, fixed, full = (
        experiment.plan(wish).design
        for wish in (
            Wish(quick=True), Wish(), Wish(until_settled=True), Wish(quick=True, blocks=7), Wish(full=True)
        )
    )  # fmt: skip
    # The A/A pair needs nine blocks before it can fail.
    assert quick.blocks >= 9
    assert quick.at_most_s == 120
    assert quick.load_time() <= 120
    assert patient.at_most_s == 900
    assert patient.load_time() <= 900
    assert endless.blocks * (len(endless.settings) + 1) <= MOST_SAMPLES
    # Where a pilot fixes the work of a sample, every block has the same.
    assert bool(quick.lengths) == (name == "commit-scaling")
    assert (fixed.blocks, fixed.seconds, fixed.at_most_s) == (7, experiment.quick.seconds, None)
    assert (full.blocks, full.units, full.at_most_s) == (experiment.full.blocks, experiment.full.units, None)


def test_every_experiment_says_what_settles_it() -> None:
    assert [levels_of(name) is not None for name in (*SWEEPS, "commit-mode", "list")] == [True] * 3 + [
        False
    ] * 2


def test_one_step_is_a_number_or_two_that_follow_each_other() -> None:
    numbers = [1, 2, 5]
    ends = [(1, 1), (1, 2), (2, 5), (1, 5)]
    assert [one_step(Estimate(1, *pair), numbers) for pair in ends] == [True, True, True, False]
    assert not one_step(MISSING, numbers)
    # Of two numbers an interval that holds both says nothing.
    assert [one_step(Estimate(1, 1, high), [1, 2]) for high in (1, 2)] == [True, False]
    assert [span(Estimate(2, 2, 2)), span(Estimate(2, 1, 2)), span(Estimate(2, None, None))] == [
        "2", "2 (1 to 2)", "2"
    ]  # fmt: skip

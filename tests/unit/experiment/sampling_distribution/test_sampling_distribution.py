"""The experiment sampling-distribution, run on its generator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redolab.commands.verify import verify_run
from redolab.engine import open_engine
from redolab.engine.generator.engine import GeneratorEngine
from redolab.errors import UsageError
from redolab.experiment import find_experiment
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.experiment.sampling_distribution.answer import read_draws
from redolab.measure import runner
from redolab.records.load import Ledger
from redolab.records.store import Run, open_run
from redolab.records.writing.writer import write_report, write_results
from redolab.report.page.html import render

EXPERIMENT = find_experiment("sampling-distribution")


class Quiet:
    def begin(self, samples: int, seconds: float) -> None: ...

    def news(self, text: str) -> None: ...

    def advance(self, setting: str) -> None: ...


def drawn(place: Path, seed: int, blocks: int = 60, settings: tuple[str, ...] = ()) -> Run:
    plan = EXPERIMENT.plan(Wish(quick=True, blocks=blocks, seed=seed, settings=settings))
    engine = open_engine("generator", plan.load, 0, (), seed)
    outcome = runner.run(EXPERIMENT, plan, engine, place, Quiet(), "redolab run sampling-distribution")
    assert outcome.error is None
    return outcome.run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return drawn(tmp_path_factory.mktemp("draws") / "run", 1)


@pytest.fixture(scope="module")
def results(run: Run) -> dict[str, Any]:
    return analyse(run)


def test_the_values_are_stored_and_are_those_of_the_seed(run: Run) -> None:
    draws = read_draws(run)
    assert len(draws) == 120
    first = draws[0]
    groups, size = (int(part) for part in first.setting.split("x"))
    expected = np.random.default_rng([1, 1]).exponential(5, groups * size)
    assert (first.groups, list(first.values)) == (groups, expected.tolist())


def test_the_same_seed_draws_the_same_and_another_seed_other_values(run: Run, tmp_path: Path) -> None:
    again = drawn(tmp_path / "again", 1, blocks=2)
    other = drawn(tmp_path / "other", 2, blocks=2)
    values = [list(draw.values) for draw in read_draws(again)]
    assert values == [list(draw.values) for draw in read_draws(run)][:4]
    assert all(list(draw.values) not in values for draw in read_draws(other))


def test_the_figures_are_those_that_theory_gives(results: dict[str, Any]) -> None:
    small, large = results["settings"]
    assert (small["name"], large["name"]) == ("30x30", "90x90")
    for setting, size in ((small, 30), (large, 90)):
        assert setting["samples"] == 60
        assert setting["mean_of_means"]["point"] == pytest.approx(5, abs=0.1)
        assert setting["sd_of_means"]["point"] == pytest.approx(5 / size**0.5, rel=0.05)
        assert setting["inside_share"]["point"] == pytest.approx(setting["normal_share"], abs=0.012)
        assert setting["values_rejected"]["point"] == 1
        assert setting["means_rejected"]["point"] < 0.35
        assert setting["two_sd_of_five"]["high"] > 0.858 > setting["two_sd_of_five"]["low"] - 0.02
        assert setting["t_of_five"]["point"] == pytest.approx(0.9, abs=0.05)
    assert results["verdict"]["outcome"] == "equivalent"
    assert "are normal enough" in results["verdict"]["text"]


def test_two_standard_deviations_of_five_means(results: dict[str, Any]) -> None:
    (five,) = [item for item in results["coverage"] if item["count"] == 5]
    assert five["normal"] == pytest.approx(0.858, abs=0.0005)
    assert five["means_of_30"]["low"] < five["normal"] < five["means_of_30"]["high"]


def test_every_published_finding_is_there(results: dict[str, Any]) -> None:
    found = {item["key"]: item for item in results["published"]}
    assert found.keys() == {
        "sampling-30-mean", "sampling-30-sd", "sampling-30-inside", "sampling-30-normality",
        "sampling-90-mean", "sampling-90-inside", "sampling-90-normality", "sampling-bet",
    }  # fmt: skip
    assert found["sampling-30-inside"]["theirs"] == "29 of 30"
    assert found["sampling-30-inside"]["agreement"] == "agrees"
    assert found["sampling-bet"]["ours"]["low"] < 85.8 < found["sampling-bet"]["ours"]["high"]


def test_two_seeds_agree(results: dict[str, Any], tmp_path: Path) -> None:
    other = analyse(drawn(tmp_path / "run", 7))
    assert other["verdict"]["outcome"] == results["verdict"]["outcome"]
    for mine, theirs in zip(results["settings"], other["settings"], strict=True):
        for key in ("mean_of_means", "sd_of_means", "inside_share", "two_sd_of_five", "t_of_five"):
            assert mine[key]["low"] < theirs[key]["high"]
            assert theirs[key]["low"] < mine[key]["high"]


def test_the_run_verifies_and_a_changed_value_does_not(run: Run) -> None:
    results = analyse(run)
    write_results(run, results)
    write_report(run, render(results))
    assert verify_run(open_run(run.path)) == []
    write_results(run, results | {"coverage": results["coverage"][:-1]})
    assert any("coverage" in text for text in verify_run(open_run(run.path)))


def test_few_repetitions_are_undecided_and_say_so(tmp_path: Path) -> None:
    results = analyse(drawn(tmp_path / "run", 1, blocks=2, settings=("10x10", "30x30")))
    assert results["verdict"]["outcome"] == "undecided"
    assert "may or may not be normal enough" in results["verdict"]["text"]


def test_another_load_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot do the load ledger; leave --engine out"):
        GeneratorEngine(1).prepare(Ledger("", 1, "session"), [])

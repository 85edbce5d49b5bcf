"""Whole runs on two fakes side by side: every figure is worked out here by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from redolab.commands.verify import verify
from redolab.engine.base import Engine
from redolab.engine.fake import FakeEngine, FakeScript
from redolab.engine.side_by_side import SideBySide as EnginesBeside
from redolab.errors import InterruptedRunError, RefusedError, UsageError
from redolab.experiment import find_experiment
from redolab.experiment.answers import analyse
from redolab.experiment.base import Levels, Missing, Wish
from redolab.experiment.side_by_side import SideBySideExperiment
from redolab.forecast.costs.direct.settings import sampled_settings
from redolab.forecast.costs.logs import Logs
from redolab.measure import runner
from redolab.records.load import Amount
from redolab.records.run import Run
from redolab.records.sample import Setting, Work
from redolab.records.store import open_run
from redolab.records.writing.writer import write_report, write_results
from redolab.report.page.html import render
from redolab.report.screen.terminal import print_terminal
from redolab.report.tables import tables

SYNC = ("IO", "WalSync")
# A commit of a session takes so many microseconds; five sessions work.
OLD = {
    "wait/immediate": FakeScript(cpu_ns=20_000, run_queue_ns=0, waits_ns={SYNC: 80_000}),
    "wait/batch": FakeScript(cpu_ns=20_000, run_queue_ns=0, waits_ns={SYNC: 105_000}),
    "nowait/immediate": FakeScript(cpu_ns=20_000, run_queue_ns=5_000),
    "nowait/batch": FakeScript(cpu_ns=20_000, run_queue_ns=0),
}
# 100 us become 80, and 20 become 25; the others stay.
NEW = OLD | {
    "wait/immediate": FakeScript(cpu_ns=20_000, run_queue_ns=0, waits_ns={SYNC: 60_000}),
    "nowait/batch": FakeScript(cpu_ns=20_000, run_queue_ns=5_000),
}
BLOCKS = 9
"""Of fewer no shuffling of two labels reaches p < 5 % among ten comparisons."""
QUESTION = find_experiment("commit-mode")


class NoProgress:
    """Nobody watches."""

    def begin(self, samples: int, seconds: float) -> None:
        """Nothing."""

    def news(self, text: str) -> None: ...

    def advance(self, setting: str) -> None:
        """Nothing."""


def everything(_levels: Levels) -> str | None:
    """Of a server that has every setting."""
    return None


def no_pause(levels: Levels) -> str | None:
    """Of a server without a binary log."""
    paused = (levels["commit_wait"], levels["commit_logging"]) == ("wait", "batch")
    return "without a binary log there is no pause" if paused else None


def run_servers(
    place: Path,
    engines: Mapping[str, FakeEngine],
    across_tiers: bool = False,
    blocks: int = BLOCKS,
    lacks: Mapping[str, Missing] | None = None,
) -> Run:
    missing = dict.fromkeys(engines, everything) | dict(lacks or {})
    experiment, wish = (
        SideBySideExperiment(QUESTION, missing, across_tiers),
        Wish(blocks=blocks, seconds=1.0, seed=7),
    )
    plan = experiment.plan(wish)
    engine = EnginesBeside(engines, experiment.lacking(wish))
    outcome = runner.run(
        experiment, plan, engine, place, NoProgress(), "redolab run",
        lambda: sum(each.clock() for each in engines.values()),
    )  # fmt: skip
    assert all(each.closed for each in engines.values())
    assert outcome.error is None
    return outcome.run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    place = tmp_path_factory.mktemp("beside") / "run"
    return run_servers(place, {"old": FakeEngine(OLD), "new": FakeEngine(NEW)})


@pytest.fixture(scope="module")
def results(run: Run) -> dict[str, Any]:
    return analyse(run)


def pair(results: dict[str, Any], a: str, b: str) -> dict[str, Any] | None:
    """The comparison of throughput of these two."""
    return next(
        (
            item
            for item in results["comparisons"]
            if (item["a"], item["b"], item["metric"]) == (a, b, "throughput_per_s")
        ),
        None,
    )


def test_every_block_holds_every_setting_of_both_servers(run: Run) -> None:
    names = {f"{server}/{name}" for server in ("old", "new") for name in OLD}
    for block in range(1, BLOCKS + 1):
        order = [trial["setting"] for trial in run.manifest["order"] if trial["block"] == block]
        assert sorted(order) == sorted([*names, "old/wait/immediate"])
    assert {item["name"] for item in run.manifest["settings"]} == names
    assert {item["levels"]["server"] for item in run.manifest["settings"]} == {"old", "new"}


def test_a_setting_is_measured_on_its_own_server(results: dict[str, Any]) -> None:
    rates = {item["name"]: item["throughput_per_s"]["point"] for item in results["settings"]}
    assert rates == {
        "old/wait/immediate": 50_000, "old/wait/batch": 40_000,
        "old/nowait/immediate": 200_000, "old/nowait/batch": 250_000,
        "new/wait/immediate": 62_500, "new/wait/batch": 40_000,
        "new/nowait/immediate": 200_000, "new/nowait/batch": 200_000,
    }  # fmt: skip


def test_each_setting_against_its_own_servers_baseline(results: dict[str, Any]) -> None:
    assert results["baselines"] == {"old": "old/wait/immediate", "new": "new/wait/immediate"}
    for server, ratio in (("old", 5.0), ("new", 3.2)):
        found = pair(results, f"{server}/nowait/batch", f"{server}/wait/immediate")
        assert found is not None
        assert found["ratio"]["point"] == pytest.approx(ratio)
        assert found["outcome"] == "better"
    assert pair(results, "new/nowait/batch", "old/wait/immediate") is None
    assert tables.baseline_of(results, "new/wait/batch") == "new/wait/immediate"


def test_servers_are_compared_under_the_same_levels(results: dict[str, Any]) -> None:
    expected = {"wait/immediate": 1.25, "wait/batch": 1.0, "nowait/immediate": 1.0, "nowait/batch": 0.8}
    outcomes = {}
    for name, ratio in expected.items():
        found = pair(results, f"new/{name}", f"old/{name}")
        assert found is not None
        assert found["ratio"]["point"] == pytest.approx(ratio)
        outcomes[name] = found["outcome"]
    assert outcomes == {
        "wait/immediate": "better", "wait/batch": "equivalent",
        "nowait/immediate": "equivalent", "nowait/batch": "worse",
    }  # fmt: skip
    # Holm over all ten comparisons of throughput: three within each server, four between the two.
    assert sum(item["metric"] == "throughput_per_s" for item in results["comparisons"]) == 10


def test_the_answer_names_the_server_and_what_it_promises(results: dict[str, Any]) -> None:
    verdict = results["verdict"]
    assert (verdict["outcome"], verdict["best"]) == ("better", "new/wait/immediate")
    assert verdict["text"].startswith(
        "Use new: where commits wait and the log is written at once (wait/immediate), it commits 25.0 % "
        "faster (25.0 to 25.0) than old. Both servers promise the same: a commit is acknowledged once "
        "flushed to disk; survives a crash and a power cut. nowait/batch on new commits 20.0 % slower (20.0 "
        "to 20.0) than nowait/batch on old. The servers count as equal under wait/batch, nowait/immediate. "
        "Use nowait/batch on old if a crash may lose acknowledged commits: it commits 5.00 times as fast "
        "(5.00 to 5.00) as wait/immediate on old."
    )
    assert "Commits on new wait for the log: under wait/immediate on new 75 %" in verdict["text"]
    assert not any(item["name"] in verdict["text"] for item in results["settings"])


def test_tables_tell_promises_and_the_servers_ratios(results: dict[str, Any]) -> None:
    between, promised = results["tables"]
    assert between["caption"] == "new against old"
    assert [(row["levels"], row["outcome"]) for row in between["rows"]] == [
        ("wait/immediate", "better"), ("wait/batch", "equivalent"),
        ("nowait/immediate", "equivalent"), ("nowait/batch", "worse"),
    ]  # fmt: skip
    assert promised["rows"][0] == {
        "setting": "old/wait/immediate", "server": "fake 0", "tier": "disk",
        "parameters": "fake = wait/immediate",
    }  # fmt: skip
    assert "memory: acknowledged before it is written" in promised["note"]


def test_published_tests_stay_within_a_server(results: dict[str, Any]) -> None:
    pairs = [(item["a"], item["b"]) for item in results["as_published"]["tests"] if item["a"]]
    assert len(pairs) == 6
    assert all(a.split("/")[0] == b.split("/")[0] for a, b in pairs)
    changes = {
        item["setting"]: item["arrival_rate_change_pct"]
        for item in results["as_published"]["unit_of_work"]["session"]
    }
    assert changes["new/wait/immediate"] == 0
    assert changes["new/nowait/batch"] == pytest.approx(220)
    assert results["curve"]["equal_workload"] is None


def test_the_manifest_has_the_record_of_each_server(run: Run) -> None:
    engine = run.manifest["engine"]
    assert engine["name"] == "side by side"
    assert {name: record["name"] for name, record in engine["servers"].items()} == {
        "old": "fake",
        "new": "fake",
    }
    # What both say stands once, and changes have the name that their setting has here.
    assert run.manifest["conditions"] == ["The engine is a fake: these figures were scripted, not measured."]
    assert {change["setting"] for change in run.manifest["parameter_changes"]} == {
        item["name"] for item in run.manifest["settings"]
    }


def test_the_run_verifies_and_is_shown(run: Run, results: dict[str, Any]) -> None:
    write_results(run, results)
    write_report(run, render(results))
    assert verify(run.path).differences == []
    said = StringIO()
    print_terminal(results, run.path / "report.html", Console(file=said, width=80))
    assert "new against old" in said.getvalue()
    assert "against the baseline of its server" in said.getvalue()
    assert max(map(len, said.getvalue().splitlines()[:-2])) <= 80


def test_costs_are_those_of_the_first_server(run: Run) -> None:
    assert set(sampled_settings(run, None, Logs())) == {f"old/{name}" for name in OLD}


def test_a_manifest_with_a_setting_of_no_server_is_not_read(run: Run, tmp_path: Path) -> None:
    manifest = json.loads((run.path / "manifest.json").read_text())
    manifest["settings"][0]["levels"]["server"] = "another"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match=r"settings has an entry whose server is not in engine\.servers"):
        open_run(tmp_path)


def test_equal_servers_are_said_to_be_equal(tmp_path: Path) -> None:
    results = analyse(run_servers(tmp_path / "run", {"a": FakeEngine(OLD), "b": FakeEngine(OLD)}))
    assert (results["verdict"]["outcome"], results["verdict"]["best"]) == ("equivalent", None)
    assert results["verdict"]["text"].startswith(
        "Take any server: where commits wait and the log is written at once (wait/immediate), b commits 0.0 %"
    )
    assert (
        "The servers count as equal under wait/batch, nowait/immediate, nowait/batch."
        in results["verdict"]["text"]
    )


def test_unequal_promises_are_not_compared(tmp_path: Path) -> None:
    engines = {"old": FakeEngine(OLD), "new": FakeEngine(NEW, fsync=False)}
    results = analyse(run_servers(tmp_path / "run", engines))
    assert pair(results, "new/wait/immediate", "old/wait/immediate") is None
    assert pair(results, "new/nowait/batch", "old/nowait/batch") is not None
    assert (results["verdict"]["outcome"], results["verdict"]["best"]) == ("undecided", None)
    assert results["verdict"]["text"].startswith(
        "Do not compare servers where commits wait and the log is written at once (wait/immediate): their "
        "commits promise different durability. Under wait/immediate on old a commit is acknowledged once "
        "flushed to disk; survives a crash and a power cut. Under wait/immediate on new a commit is "
        "acknowledged once handed to the operating system; lost in a power cut."
    )
    assert (
        "The servers are not compared under wait/batch, because their commits promise different "
        "durability." in results["verdict"]["text"]
    )
    between = results["tables"][0]
    assert [row["levels"] for row in between["rows"]] == ["nowait/immediate", "nowait/batch"]
    assert (
        "wait/batch on new with wait/batch on old (os, disk). With --across-tiers these are compared too."
        in between["note"]
    )


def test_across_tiers_each_sentence_says_what_was_promised(tmp_path: Path) -> None:
    engines = {"old": FakeEngine(OLD), "new": FakeEngine(NEW, fsync=False)}
    results = analyse(run_servers(tmp_path / "run", engines, across_tiers=True))
    assert results["verdict"]["text"].startswith(
        "Use new if durability to the tier os is enough: where commits wait and the log is written at once "
        "(wait/immediate), it commits 25.0 % faster (25.0 to "
        "25.0) than old. Under wait/immediate on new a commit is acknowledged once handed to the "
        "operating system; lost in a power cut. Under wait/immediate on old a commit is acknowledged once "
        "flushed to disk;"
    )
    assert {row["tier"] for row in results["tables"][0]["rows"]} == {"os, disk", "memory"}


def test_among_equals_the_firmer_promise_is_advised(tmp_path: Path) -> None:
    engines = {"lax": FakeEngine(OLD, fsync=False), "firm": FakeEngine(OLD)}
    text = analyse(run_servers(tmp_path / "run", engines, across_tiers=True))["verdict"]["text"]
    assert text.startswith("Use firm, which promises more: where commits wait and the log is written at once")


def test_three_servers_are_compared_pair_by_pair(tmp_path: Path) -> None:
    engines = {"a": FakeEngine(OLD), "b": FakeEngine(OLD), "c": FakeEngine(NEW)}
    results = analyse(run_servers(tmp_path / "run", engines, blocks=11))
    for setting, reference, ratio in (("c", "a", 1.25), ("c", "b", 1.25), ("b", "a", 1.0)):
        found = pair(results, f"{setting}/wait/immediate", f"{reference}/wait/immediate")
        assert found is not None
        assert found["ratio"]["point"] == pytest.approx(ratio)
    assert results["verdict"]["best"] == "c/wait/immediate"
    assert [column["key"] for column in results["tables"][0]["columns"]][:3] == [
        "levels",
        "server",
        "reference",
    ]


def test_a_server_lacks_a_setting_and_says_why(tmp_path: Path) -> None:
    engines = {"old": FakeEngine(OLD), "new": FakeEngine(NEW)}
    run = run_servers(tmp_path / "run", engines, blocks=2, lacks={"new": no_pause})
    names = [item["name"] for item in run.manifest["settings"]]
    assert "new/wait/batch" not in names
    assert "old/wait/batch" in names
    assert run.manifest["not_measured"][0] == "new/wait/batch: without a binary log there is no pause."
    assert len(run.manifest["order"]) == 2 * 8


def test_a_server_without_the_baseline_is_refused() -> None:
    servers = {"old": everything, "new": lambda levels: f"it has no {levels['commit_wait']}"}
    with pytest.raises(UsageError, match="new does not have wait/immediate, the baseline of all comparisons"):
        SideBySideExperiment(QUESTION, servers, across_tiers=False).plan(Wish())


def test_a_load_is_sized_once_for_all_servers() -> None:
    experiment = SideBySideExperiment(QUESTION, {"old": everything, "new": everything}, across_tiers=False)
    plan = experiment.plan(Wish(load="cpu", blocks=2, seconds=1.0))
    asked: list[str] = []

    def pilot(setting: str, _amount: Amount, levels: Levels | None = None, /) -> Work:
        """A turn takes 1 us on the old server, 2 us on the new one, beside 1 ms."""
        asked.append(setting)
        each_s = 1e-3 + int((levels or {})["cpu_turns"]) * (1e-6 if setting.startswith("old/") else 2e-6)
        return Work(5, 5, 0, 5 * each_s, each_s, 5)

    fitted = experiment.fit(plan, pilot)
    turns = {levels["cpu_turns"] for levels in fitted.combinations.values()}
    # Twelve times 1 ms and 4 ms, what a flush waits for a CPU, by the slower one: 60 ms, 1 without turns.
    assert turns == {"29500"}
    assert set(asked) == {"old/wait/immediate", "new/wait/immediate"}
    assert fitted.design == plan.design
    assert list(fitted.combinations) == list(plan.combinations)


def test_the_server_that_worked_is_brought_to_rest_before_another_works() -> None:
    done: list[str] = []

    class Noting(FakeEngine):
        def __init__(self, name: str) -> None:
            super().__init__(OLD)
            self._name = name

        def apply(self, setting: Setting) -> None:
            assert "server" not in setting.levels
            done.append(f"apply {self._name} {setting.name}")
            super().apply(setting)

        def settle(self) -> None:
            done.append(f"settle {self._name}")

    engine = EnginesBeside({"a": Noting("a"), "b": Noting("b")})
    wish = Wish(settings=("wait/immediate", "nowait/batch"))
    plan = SideBySideExperiment(QUESTION, {"a": everything, "b": everything}, across_tiers=False).plan(wish)
    settings = engine.prepare(plan.load, list(plan.combinations.values()))
    assert [setting.name for setting in settings] == list(plan.combinations)
    for setting in (settings[0], settings[1], settings[2]):
        engine.apply(setting)
    assert done == [
        "apply a wait/immediate", "apply a nowait/batch", "settle a", "apply b wait/immediate",
    ]  # fmt: skip


def test_every_server_is_closed_whatever_another_raises() -> None:
    class Stubborn(FakeEngine):
        def close(self) -> None:
            super().close()
            raise RefusedError("wal_writer_delay could not be put back.")

    engines: dict[str, Engine] = {"a": Stubborn(OLD), "b": FakeEngine(OLD), "c": Stubborn(OLD)}
    with pytest.raises(RefusedError, match=r"^a: wal_writer_delay could .* c: wal_writer_delay"):
        EnginesBeside(engines).close()
    assert all(engine.closed for engine in engines.values() if isinstance(engine, FakeEngine))


def test_an_interrupted_run_keeps_what_was_measured_on_both(tmp_path: Path) -> None:
    engines = {"old": FakeEngine(OLD, interrupt_after=12), "new": FakeEngine(NEW)}
    experiment = SideBySideExperiment(QUESTION, dict.fromkeys(engines, everything), across_tiers=False)
    plan = experiment.plan(Wish(blocks=4, seconds=1.0, seed=7))
    plan = replace(plan, design=replace(plan.design, warmup_s=0.0))
    outcome = runner.run(
        experiment, plan, EnginesBeside(engines), tmp_path / "run", NoProgress(), "redolab run",
        lambda: sum(each.clock() for each in engines.values()),
    )  # fmt: skip
    assert isinstance(outcome.error, InterruptedRunError)
    assert all(each.closed for each in engines.values())
    assert analyse(outcome.run)["verdict"]["text"]


def test_questions_that_compare_within_one_server_say_so() -> None:
    with pytest.raises(UsageError, match="rows-per-commit compares settings within one server"):
        SideBySideExperiment(
            find_experiment("rows-per-commit"), {"a": everything, "b": everything}, across_tiers=False
        )

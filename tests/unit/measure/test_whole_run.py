"""A whole run on the fake engine: every figure is worked out here by hand, to the last decimal."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from redolab.commands.verify import command as verify_command
from redolab.commands.verify import verify, verify_run
from redolab.engine.fake import FakeEngine, FakeScript
from redolab.errors import CheckFailedError, InterruptedRunError
from redolab.experiment import find_experiment
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.files.folder import write_file
from redolab.measure import runner
from redolab.records.store import open_run
from redolab.records.writing.writer import write_results
from redolab.report.page.html import render

EXPERIMENT = find_experiment("commit-mode")
SYNC, LOCK = ("IO", "WalSync"), ("LWLock", "WALWrite")

# One commit of a session under wait/immediate takes 20 + 5 + 50 + 25 = 100 us: 10,000 per second and
# session. Under nowait/batch it takes 20 us: 50,000 per second.
SCRIPTS = {
    "wait/immediate": FakeScript(
        cpu_ns=20_000, run_queue_ns=5_000, waits_ns={SYNC: 50_000, LOCK: 25_000},
        background_cpu_ns=2_000, log_bytes=200, commits_per_flush=4, flush_ns=40_000,
        sampling_loss=0.02,
    ),
    "wait/batch": FakeScript(
        cpu_ns=20_000, run_queue_ns=5_000, waits_ns={SYNC: 50_000, ("", ""): 50_000},
        commits_per_flush=5, flush_ns=40_000,
    ),
    "nowait/immediate": FakeScript(cpu_ns=20_000, run_queue_ns=5_000, commits_per_flush=100),
    "nowait/batch": FakeScript(cpu_ns=16_000, run_queue_ns=4_000, commits_per_flush=1000),
}  # fmt: skip


class NoProgress:
    """Nobody watches."""

    def begin(self, samples: int, seconds: float) -> None:
        """Nothing."""

    def news(self, text: str) -> None: ...

    def advance(self, setting: str) -> None:
        """Nothing."""


def run_fake(place: Path, interrupt_after: int | None = None) -> runner.Outcome:
    engine = FakeEngine(SCRIPTS, interrupt_after)
    plan = EXPERIMENT.plan(Wish(blocks=6, seconds=1.0, seed=7))
    plan = dataclasses.replace(plan, design=dataclasses.replace(plan.design, warmup_s=0.5))
    outcome = runner.run(EXPERIMENT, plan, engine, place, NoProgress(), "redolab run", engine.clock)
    assert engine.closed
    return outcome


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    outcome = run_fake(tmp_path_factory.mktemp("whole") / "run")
    assert outcome.error is None
    return analyse(outcome.run)


def setting(results: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(s for s in results["settings"] if s["name"] == name)
    return found


def exactly(value: float) -> dict[str, float]:
    """An estimate without any spread."""
    return {"point": value, "low": value, "high": value, "level": 0.95}


def test_unit_of_work_of_the_sessions(results: dict[str, Any]) -> None:
    baseline = setting(results, "wait/immediate")
    assert baseline["samples"] == 12
    assert baseline["spoiled"] == 0
    assert baseline["throughput_per_s"] == exactly(50_000.0)
    assert baseline["service_time_ms"] == pytest.approx(exactly(0.020), rel=1e-12)
    assert baseline["run_queue_time_ms"] == pytest.approx(exactly(0.005), rel=1e-12)
    assert baseline["queue_time_ms"] == pytest.approx(exactly(0.080), rel=1e-12)
    assert baseline["response_time_ms"] == pytest.approx(exactly(0.100), rel=1e-12)
    assert setting(results, "nowait/batch")["response_time_ms"] == pytest.approx(exactly(0.020))


def test_unit_of_work_of_the_instance(results: dict[str, Any]) -> None:
    instance = setting(results, "wait/immediate")["instance"]
    assert instance["service_time_ms"] == pytest.approx(exactly(0.022), rel=1e-12)
    assert instance["queue_time_ms"] == pytest.approx(exactly(0.080), rel=1e-12)
    assert instance["response_time_ms"] == pytest.approx(exactly(0.102), rel=1e-12)


def test_the_log(results: dict[str, Any]) -> None:
    baseline = setting(results, "wait/immediate")
    assert baseline["commits_per_flush"] == exactly(4.0)
    assert baseline["flush_time_ms"] == pytest.approx(exactly(0.040), rel=1e-12)
    assert baseline["wal_bytes_per_commit"] == exactly(200.0)


def test_profile_adds_up_and_has_the_scripted_shares(results: dict[str, Any]) -> None:
    rows = {r["row"]: r["share"]["point"] for r in setting(results, "wait/immediate")["profile"]}
    assert sum(rows.values()) == pytest.approx(1, rel=1e-12)
    assert rows["on_cpu"] == pytest.approx(0.20, rel=1e-12)
    assert rows["run_queue"] == pytest.approx(0.05, rel=1e-12)
    assert rows["IO:WalSync"] == pytest.approx(0.50, rel=1e-12)
    assert rows["LWLock:WALWrite"] == pytest.approx(0.25, rel=1e-12)
    assert rows["unaccounted"] == pytest.approx(0, abs=1e-12)
    silent = {r["row"]: r["share"]["point"] for r in setting(results, "wait/batch")["profile"]}
    assert silent["unaccounted"] == pytest.approx(50 / 125, rel=1e-12)


def test_the_effect_of_sampling(results: dict[str, Any]) -> None:
    card = results["instrument"]
    # 2 of 5 samples of a block are of the baseline, where the sampler costs 2 %: 0.98 to the power 2/5.
    assert card["overhead"]["point"] == pytest.approx(0.98**0.4, rel=1e-12)
    # A sample of 1 s is 4 slices of 0.225 s: 2 pairs in each of 30 samples.
    assert card["pairs"] == 60
    assert card["sampled_s"] == pytest.approx(30 * 0.55)
    assert "Sampling wait events changed throughput by −0.8 % (" in card["text"]
    assert "(60 on/off pairs in this run)." in card["text"]


def test_the_stored_pairs(tmp_path: Path) -> None:
    run = run_fake(tmp_path / "run").run
    baseline = {row["sample"] for row in run.samples.to_pylist() if row["setting"] == "wait/immediate"}
    pairs = [row for row in run.overhead.to_pylist() if row["sample"] in baseline]
    assert [row["pair"] for row in pairs] == [1, 2] * 12
    assert {row["on_first"] for row in pairs} == {True, False}
    assert [row["on_per_s"] for row in pairs] == pytest.approx([49_000.0] * 24, rel=1e-12)
    assert [row["off_per_s"] for row in pairs] == pytest.approx([50_000.0] * 24, rel=1e-12)


def test_the_joint_matrix(results: dict[str, Any]) -> None:
    assert setting(results, "wait/immediate")["joint"] == {
        "posted": pytest.approx({"on_cpu": 0, "run_queue": 0, "asleep": 0.75}, rel=1e-12),
        "not_posted": pytest.approx({"on_cpu": 0.2, "run_queue": 0.05, "asleep": 0}, rel=1e-12),
    }
    silent = setting(results, "wait/batch")["joint"]
    assert silent["not_posted"]["asleep"] == pytest.approx(50 / 125, rel=1e-12)


def test_unaccounted_time_under_commit_delay_is_explained(results: dict[str, Any]) -> None:
    text = setting(results, "wait/batch")["unaccounted_text"]
    assert text.startswith("the session that leads a group commit sleeps commit_delay")
    assert setting(results, "wait/immediate")["unaccounted_text"] is None


def test_verdict(results: dict[str, Any]) -> None:
    assert results["regime"]["name"] == "log-bound"
    assert results["regime"]["log_sync_share"]["point"] == pytest.approx(0.75, rel=1e-12)
    assert results["verdict"]["best"] == "nowait/batch"
    ratios = {
        c["a"]: c["ratio"]["point"]
        for c in results["comparisons"] if c["metric"] == "throughput_per_s"
    }  # fmt: skip
    assert ratios == pytest.approx({"wait/batch": 0.8, "nowait/immediate": 4.0, "nowait/batch": 5.0})
    assert results["null_test"]["ratio"]["point"] == pytest.approx(1.0, rel=1e-12)


def test_the_stored_run_holds_every_sample_in_the_designed_order(tmp_path: Path) -> None:
    run = run_fake(tmp_path / "run").run
    order = [(t["sample"], t["block"], t["position"], t["setting"]) for t in run.manifest["order"]]
    rows = run.samples.to_pylist()
    assert [(r["sample"], r["block"], r["position"], r["setting"]) for r in rows] == order
    assert [r["commits"] for r in rows if r["setting"] == "wait/immediate"] == [50_000] * 12
    # Warm-up and sample, 1.5 s each time, on the virtual clock.
    assert rows[1]["start_s"] - rows[0]["start_s"] == pytest.approx(1.5, rel=1e-9)
    assert run.manifest["status"] == "finished"


def test_equal_seeds_give_equal_figures(tmp_path: Path) -> None:
    first, second = (analyse(run_fake(tmp_path / name).run) for name in ("one", "two"))
    for results in (first, second):
        for key in ("run", "method"):
            results.pop(key)
    assert first == second


def test_an_interrupted_run_keeps_what_it_measured(tmp_path: Path) -> None:
    outcome = run_fake(tmp_path / "run", interrupt_after=14)
    assert isinstance(outcome.error, InterruptedRunError)
    assert outcome.run.manifest["status"] == "interrupted"
    # The 14th work is the 7th sample's load: six are complete.
    assert outcome.run.samples.num_rows == 6
    assert analyse(outcome.run)["status"] == "interrupted"


def test_a_run_stored_before_the_sampler_had_turns_is_read(tmp_path: Path) -> None:
    run = run_fake(tmp_path / "run").run
    (run.path / "overhead.parquet").unlink()
    new = ["sampled_s", "looks", "looks_torn", "sampler_realtime"]
    pq.write_table(run.samples.drop_columns(new), run.path / "samples.parquet")
    card = analyse(open_run(run.path))["instrument"]
    assert (card["overhead"], card["pairs"], card["looks"], card["realtime"]) == (None, 0, None, None)
    assert card["sampled_s"] == pytest.approx(30.0)
    assert card["text"].endswith("The effect of sampling on throughput was not measured in this run.")


def test_a_run_that_was_never_reported_is_not_called_changed(tmp_path: Path) -> None:
    run = run_fake(tmp_path / "run").run
    with pytest.raises(CheckFailedError) as refused:
        verify_command(run.path)
    assert str(refused.value) == (
        f"{run.path} does not verify: results.json is missing. The run was never reported, or somebody "
        f"removed the file. redolab report {run.path} makes it."
    )
    write_results(run, analyse(run))
    (run.path / "results.json").unlink()
    with pytest.raises(
        CheckFailedError, match=r"verify: results\.json is missing\. The run was never reported"
    ):
        verify_command(run.path)
    (run.path / "samples.parquet").unlink()
    with pytest.raises(CheckFailedError, match=r"samples\.parquet is missing.*The files were changed"):
        verify_command(run.path)


def test_verify_finds_a_changed_figure_and_a_changed_file(tmp_path: Path) -> None:
    run = run_fake(tmp_path / "run").run
    results = analyse(run)
    write_results(run, results)
    write_file(run.path / "report.html", render(results).encode())
    assert verify_run(open_run(run.path)) == []

    stored = json.loads((run.path / "results.json").read_text())
    stored["settings"][0]["throughput_per_s"]["point"] += 1
    (run.path / "results.json").write_text(json.dumps(stored))
    found = verify_run(open_run(run.path))
    assert any(text.startswith("results.json was changed") for text in found)
    assert any("throughput_per_s.point" in text for text in found)

    pairs = run.overhead.to_pylist()
    pairs[0]["on_per_s"] *= 1.1
    changed = dataclasses.replace(
        open_run(run.path), overhead=pa.Table.from_pylist(pairs, schema=run.overhead.schema)
    )
    assert any("instrument.overhead.point" in text for text in verify_run(changed))

    (run.path / "samples.parquet").write_bytes((run.path / "profile.parquet").read_bytes())
    assert "samples.parquet was changed (its hash differs)" in verify(run.path).differences

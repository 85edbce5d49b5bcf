"""A stored run that is measured further: the same order, the same figures, on the same machine and server."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from redolab.commands.continue_run import ContinueOptions, _design
from redolab.commands.verify import compare, verify_run
from redolab.engine.fake import FakeEngine
from redolab.errors import InterruptedRunError, UsageError
from redolab.experiment import find_experiment
from redolab.experiment.answers import analyse
from redolab.experiment.base import Plan, Wish
from redolab.files.folder import write_file
from redolab.measure import runner
from redolab.records.load import load_of
from redolab.records.plain import plain
from redolab.records.run import Run
from redolab.records.schema import DATA
from redolab.records.store import open_run
from redolab.records.writing.continued import ContinuedWriter
from redolab.records.writing.writer import RunWriter, write_results
from redolab.report.page.html import render
from redolab.report.tables.method import in_words
from tests.unit.measure.test_settling import APART, Heard, measured

EXPERIMENT = find_experiment("commit-mode")
SHORT = Wish(quick=True, seed=7)
FIXED = Wish(blocks=6, seconds=1.0, seed=7)
_DRAWN = ("started_at", "on_first")


def gone_on(place: Path, **asked: Any) -> tuple[runner.Outcome, Heard]:
    """The run at a place, measured further on a fake server whose clock goes on where the run ended."""
    writer, engine, heard = ContinuedWriter(place), FakeEngine(APART), Heard()
    engine._ns = round(writer.measured_s * 1e9)
    try:
        design, ends = _design(ContinueOptions(place, **asked), writer)
        combinations = {item["name"]: item["levels"] for item in writer.manifest["settings"]}
        plan = Plan(design, combinations, load_of(writer.manifest["load"]))
        return runner.go_on(EXPERIMENT, plan, engine, writer, heard, ends=ends, clock=engine.clock), heard
    finally:
        writer.let_go()


def rows(run: Run) -> Mapping[str, list[dict[str, Any]]]:
    """Every row of a run, without the time of day and the sampler's own turns.

    A server that was started later has counters that begin later, so their differences are rounded elsewhere.
    """
    tables = {kind: getattr(run, kind).to_pylist() for kind in DATA}
    return {
        kind: [
            {
                key: float(f"{value:.9g}") if isinstance(value, float) else value
                for key, value in row.items()
                if key not in _DRAWN
            }
            for row in found
        ]
        for kind, found in tables.items()
    }


@pytest.mark.parametrize("wish", [FIXED, SHORT], ids=["fixed", "settled"])
@pytest.mark.parametrize("after", [1, 4, 7, 46])
def test_an_interrupted_run_becomes_what_it_would_have_been(tmp_path: Path, wish: Wish, after: int) -> None:
    whole, _ = measured(tmp_path / "whole", APART, wish)
    if after == 1:
        with pytest.raises(InterruptedRunError):
            measured(tmp_path / "run", APART, wish, 1)
        return
    cut, _ = measured(tmp_path / "run", APART, wish, after)
    assert isinstance(cut.error, InterruptedRunError)
    outcome, heard = gone_on(tmp_path / "run")
    assert outcome.error is None
    assert heard.samples == whole.run.samples.num_rows - cut.run.samples.num_rows
    assert rows(outcome.run) == rows(whole.run)
    first, again = (analyse(run) for run in (whole.run, outcome.run))
    for key in ("verdict", "comparisons", "null_test", "settings"):
        assert compare(first[key], again[key], "") == []
    assert first["method"]["order"] == again["method"]["order"]
    assert outcome.run.manifest["status"] == "finished"
    (noted,) = outcome.run.manifest["continued"]
    assert (noted["sample"], noted["server"]) == (cut.run.samples.num_rows + 1, "the same server")


def test_a_killed_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = measured(tmp_path / "whole", APART, FIXED)

    def killed(*_: object, **__: object) -> None:
        raise SystemExit(9)

    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "finish", killed)
        with pytest.raises(SystemExit):
            measured(tmp_path / "run", APART, FIXED, 30)
    assert open_run(tmp_path / "run").manifest["status"] == "running"
    outcome, _ = gone_on(tmp_path / "run")
    assert rows(outcome.run) == rows(whole.run)
    assert not (tmp_path / "run" / "parts").exists()


def test_more_blocks_than_planned_are_judged_by_evidence_and_verify(tmp_path: Path) -> None:
    first, _ = measured(tmp_path / "run", APART, FIXED)
    write_results(first.run, analyse(first.run))
    outcome, heard = gone_on(tmp_path / "run", blocks=5)
    assert heard.samples == 5 * 5
    run = outcome.run
    assert [row["sample"] for row in run.samples.to_pylist()] == list(range(1, 56))
    assert run.manifest["order"][:30] == first.run.manifest["order"]
    assert rows(run)["samples"][:30] == rows(first.run)["samples"]
    results = analyse(run)
    assert {item["blocks"] for item in results["comparisons"]} == {11}
    # What shuffles allow was chosen before a look; a look asks for evidence.
    assert [figure["key"] for figure in results["figures"]] == ["evidence"]
    assert (
        "The run was measured further from sample 31 on: it has 11 blocks (passes over all settings)."
    ) in in_words(results)
    write_results(run, results)
    write_file(run.path / "report.html", render(results).encode())
    assert verify_run(open_run(run.path)) == []
    again, _ = gone_on(tmp_path / "run", blocks=1)
    assert [item["sample"] for item in again.run.manifest["continued"]] == [31, 56]
    assert again.run.samples.num_rows == 60


def test_until_everything_is_decided(tmp_path: Path) -> None:
    measured(tmp_path / "run", APART, Wish(at_most_s=10, seed=7))
    outcome, heard = gone_on(tmp_path / "run", until_settled=True)
    results = analyse(outcome.run)
    assert {item["outcome"] for item in results["comparisons"]} == {"better", "worse"}
    assert outcome.run.samples.num_rows == 9 * 5
    assert heard.news_after[0][1].startswith("nowait/immediate is decided")
    some, _ = measured(tmp_path / "some", APART, Wish(at_most_s=10, seed=7))
    more, _ = gone_on(tmp_path / "some", at_most="5s")
    assert more.run.samples.num_rows == some.run.samples.num_rows + 10


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "is finished. Say how much more"),
        ({"blocks": 1, "until_settled": True}, "Give one of --blocks"),
        ({"blocks": 0}, "--blocks is 0"),
        ({"blocks": 10_000}, "at most 9,994"),
        ({"at_most": "soon"}, "--at-most is soon"),
    ],
)
def test_what_cannot_be_asked(tmp_path: Path, asked: dict[str, Any], said: str) -> None:
    first, _ = measured(tmp_path / "run", APART, FIXED)
    with pytest.raises(UsageError, match=said):
        gone_on(tmp_path / "run", **asked)
    assert rows(open_run(tmp_path / "run")) == rows(first.run)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"machine": {"cpus": 512}}, "The machine is not what it was .*: cpus was 512 and is "),
        ({"engine": {"version": "1"}}, "The server is not what it was .*: version was 1 and is 0"),
        ({"redolab_version": "9.9"}, "redolab 9.9 measured it, and this is "),
        ({"experiment": "verify-forecast"}, "it scores a sealed forecast"),
        ({"order": []}, "has no order of measuring"),
        ({"design": {"seed": 8}}, "does not follow from its seed"),
        ({"format": 1}, "it has format 1"),
    ],
)
def test_another_machine_server_or_version_is_refused_and_nothing_changes(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    measured(tmp_path / "run", APART, FIXED, 30)
    path = tmp_path / "run" / "manifest.json"
    manifest = json.loads(path.read_text())
    for name, value in changed.items():
        manifest[name] = {**manifest[name], **value} if isinstance(value, dict) else value
    path.write_text(json.dumps(manifest))
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(UsageError, match=said):
        gone_on(tmp_path / "run")
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_other_settings_are_refused(tmp_path: Path) -> None:
    measured(tmp_path / "run", APART, FIXED, 30)
    path = tmp_path / "run" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["settings"][2]["parameters"] = {"fake": "other"}
    path.write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match=r"The setting nowait/immediate is not what it was.*parameters was"):
        gone_on(tmp_path / "run")


def test_a_run_that_is_being_measured_is_left_alone(tmp_path: Path) -> None:
    measured(tmp_path / "run", APART, FIXED, 30)
    held = ContinuedWriter(tmp_path / "run")
    with pytest.raises(UsageError, match="is being measured by another process"):
        ContinuedWriter(tmp_path / "run")
    assert held.samples == 14


def test_a_load_is_read_as_it_was_written() -> None:
    load = EXPERIMENT.plan(FIXED).load
    assert load_of(plain({"kind": "updates", **dataclasses.asdict(load)})) == load


def test_samples_that_are_not_numbered_one_after_the_other_are_refused(tmp_path: Path) -> None:
    outcome, _ = measured(tmp_path / "run", APART, FIXED, 30)
    rest = outcome.run.samples.filter(pc.greater(outcome.run.samples["sample"], 1))
    pq.write_table(rest, tmp_path / "run" / "samples.parquet")
    for name in ("waits", "profile", "overhead", "latency"):
        table = getattr(outcome.run, name)
        pq.write_table(table.filter(pc.greater(table["sample"], 1)), tmp_path / "run" / f"{name}.parquet")
    before = sorted(path.name for path in (tmp_path / "run").iterdir())
    with pytest.raises(UsageError, match="are not numbered 1, 2, 3"):
        ContinuedWriter(tmp_path / "run")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == before

"""docs/published.md: what its data render to, and complete."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from redolab.experiment import EXPERIMENTS
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.machine.machine import describe_machine
from redolab.records.writing.writer import RunWriter
from tests.docs.pages import ROOT
from tests.report.fixtures import stored
from tests.unit.analysis import synthetic

NOTHING: dict[str, Any] = {"runs": []}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("published", ROOT / "docs" / "published.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def data(script: ModuleType) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(script.DATA.read_text(encoding="utf-8"))
    return found


def finished(**more: Any) -> dict[str, Any]:
    """Results with three findings, as a run of a shipped experiment would have them."""
    return stored("wide") | {"experiment": "commit-mode"} | more


def test_the_page_is_what_its_data_render_to(script: ModuleType, data: dict[str, Any]) -> None:
    assert script.PAGE.read_text(encoding="utf-8") == script.page(data), (
        "docs/published.md is stale: run python docs/published.py"
    )


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_finding_of_an_experiment_has_a_row_or_is_not_yet_run(
    name: str, script: ModuleType, data: dict[str, Any], tmp_path: Path
) -> None:
    runs = [run for run in data["runs"] if run["experiment"] == name]
    rows = {finding["key"] for run in runs for finding in run["findings"]}
    known = finding_keys(name, tmp_path)
    if name in script.not_yet_run(data):
        assert f"`{name}`" in script.page(data).partition("Not yet run:")[2].partition("\n")[0]
    else:
        assert sorted(known - rows) == []


def finding_keys(name: str, place: Path) -> set[str]:
    """The findings an experiment speaks of: its analysis names them also for a run without a sample."""
    experiment = EXPERIMENTS[name]
    plan = experiment.plan(Wish(quick=True))
    content = synthetic.manifest(synthetic.design()) | {
        "experiment": name,
        "question": experiment.question,
        "record": experiment.record,
        "unit": experiment.unit,
        "design": asdict(plan.design) | {"settings": list(plan.design.settings)},
        "order": [asdict(trial) for trial in plan.design.order()],
        "settings": [
            {"name": setting, "levels": dict(levels), "parameters": {}, "tier": "disk", "tier_text": ""}
            for setting, levels in plan.combinations.items()
        ],
        "load": {"kind": type(plan.load).__name__.lower(), **asdict(plan.load)},
        "mapping": [],
        "machine": describe_machine(),
    }
    run = RunWriter(place / "run", json.loads(json.dumps(content))).finish("interrupted")
    return {finding["key"] for finding in analyse(run).get("published") or ()}


def test_a_run_brings_a_row_per_finding(script: ModuleType) -> None:
    found = script.taken(NOTHING, finished())
    text = script.page(found)
    assert "3 rows: 1 agrees, 1 differs, 1 not comparable." in text
    assert (
        "| Elapsed falls by half with 32 rows per commit | −46 % | −41.2 % (−43.0 – −39.1) | `agrees` | "
        "both intervals overlap | 1 |" in text
    )
    assert "| M solved from batch 1 | 1.4235 | n/a | `not comparable` |" in text
    assert "1. Measured on 2026-11-21, PostgreSQL 18.6 (embedded), 5 sessions, single-row inserts, 2 CPUs (M" in text
    assert "6 blocks, seed 11" in text
    assert "`commit-mode`" not in text.partition("Not yet run:")[2].partition("\n")[0]


def test_a_run_replaces_one_like_it_and_no_other(script: ModuleType) -> None:
    engine = stored("wide")["engine"]
    slow = engine | {"emulated": {"log_device_ms": {"requested": 5.0}}}
    first = script.taken(script.taken(NOTHING, finished()), finished(engine=slow))
    assert len(first["runs"]) == 2
    again = script.taken(first, finished(published=[]))
    assert [len(run["findings"]) for run in again["runs"]] == [0, 3]
    assert "EMULATED log device 5 ms" in script.page(again)


def test_a_run_that_cannot_compare_a_finding_gives_way_to_one_that_can(script: ModuleType) -> None:
    findings = stored("wide")["published"]
    unable = [finding | {"ours": None, "agreement": "not comparable"} for finding in findings]
    load = stored("wide")["load"]
    both = script.taken(
        script.taken(NOTHING, finished(load=load | {"name": "cpu"}, published=unable)),
        finished(load=load | {"name": "io"}),
    )
    rows = [line for line in script.page(both).splitlines() if line.startswith(("| Elap", "| More", "| M "))]
    assert [row.split(" | ")[-1] for row in rows] == ["2 |", "2 |", "1 |"]
    assert "3 rows: 1 agrees, 1 differs, 1 not comparable." in script.page(both)


def test_nothing_kept_of_a_run_says_where_it_lay(script: ModuleType) -> None:
    text = json.dumps(script.taken(NOTHING, finished(run="/some/where/on/this/host")))
    assert "where" not in text


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"status": "interrupted"}, "the run is interrupted"),
        ({"verdict": {"outcome": "withheld"}}, "A/A check failed"),
        ({"experiment": "list"}, "not a published experiment"),
    ],
)
def test_a_run_that_proves_nothing_is_refused(script: ModuleType, more: dict[str, Any], why: str) -> None:
    with pytest.raises(script.Unusable, match=why):
        script.taken(NOTHING, finished(**more))


def test_two_experiments_cannot_share_a_finding(script: ModuleType) -> None:
    first = script.taken(NOTHING, finished())
    with pytest.raises(script.Unusable, match="made-up-benefit"):
        script.taken(first, finished(experiment="durability"))

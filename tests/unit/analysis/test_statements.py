"""What a verdict recommends to type, from a stored run alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from redolab.analysis.compared import compare_run
from redolab.analysis.statements.to_set import entry
from redolab.analysis.statements.words import called, in_words
from redolab.experiment.answers import analyse
from redolab.records.run import Run
from tests.unit.analysis.synthetic import CPU_BOUND, build_run, design


def with_manifest(run: Run, **changes: Any) -> Run:
    return replace(run, manifest={**run.manifest, **changes})


def test_the_recommended_setting_and_the_one_it_is_compared_with(tmp_path: Path) -> None:
    results = analyse(build_run(tmp_path / "run", plan=design(blocks=8)))
    assert results["verdict"]["best"] == "nowait/batch"
    first, second = results["statements"]
    assert (first["setting"], first["purpose"]) == ("nowait/batch", "recommended")
    assert (second["setting"], second["purpose"]) == ("wait/immediate", "compared with")
    server = first["ways"][0]
    assert server["set"][:2] == [
        "ALTER SYSTEM SET synchronous_commit = off;",
        "ALTER SYSTEM SET wal_writer_delay = '1s';",
    ]
    # An older run knows a former value by its changes alone.
    assert server["undo"][0] == "ALTER SYSTEM SET synchronous_commit = on;"
    assert results["verdict"]["text"].startswith(
        "Set synchronous_commit=off and wal_writer_delay=1s (nowait/batch) if a crash may lose"
    )
    at_risk = next(item["at_risk"] for item in results["settings"] if item["name"] == "nowait/batch")
    assert [(it["window_s"], it["commits"]) for it in first["price"]] == 2 * [(3.0, at_risk["commits"])]


def test_a_verdict_that_keeps_the_baseline_gives_the_baselines_statements(tmp_path: Path) -> None:
    results = analyse(build_run(tmp_path / "run", CPU_BOUND, design(blocks=8)))
    assert results["verdict"]["text"].startswith("Keep synchronous_commit=on and commit_delay=0")
    assert [(item["setting"], item["purpose"]) for item in results["statements"]] == [
        ("wait/immediate", "recommended")
    ]


def test_nothing_is_recommended_where_nothing_is_decided(tmp_path: Path) -> None:
    results = analyse(build_run(tmp_path / "run", plan=design(blocks=8), status="interrupted", only_first=3))
    assert results["verdict"]["best"] is None
    assert results["statements"] == []


def test_what_the_run_noted_of_the_server_before_decides_the_undo(tmp_path: Path) -> None:
    run = build_run(tmp_path / "run", plan=design(blocks=2))
    noted = [
        {"parameter": "synchronous_commit", "value": "off", "altered": True, "server": ""},
        {"parameter": "wal_writer_delay", "value": "1s", "altered": False, "server": ""},
    ]
    compared = compare_run(with_manifest(run, parameters_before=noted))
    declared = next(item for item in run.manifest["settings"] if item["name"] == "nowait/batch")
    found = entry(compared, declared, "recommended")
    assert found["as_before"] == ["synchronous_commit", "wal_writer_delay"]
    assert found["ways"][0]["undo"][:2] == [
        "ALTER SYSTEM SET synchronous_commit = off;",
        "ALTER SYSTEM RESET wal_writer_delay;",
    ]


def test_a_killed_run_does_not_know_what_was_before(tmp_path: Path) -> None:
    run = build_run(tmp_path / "run", plan=design(blocks=2))
    compared = compare_run(with_manifest(run, parameter_changes=[], status="running"))
    declared = next(item for item in run.manifest["settings"] if item["name"] == "nowait/batch")
    found = entry(compared, declared, "recommended")
    assert found["as_before"] == []
    assert found["ways"][0]["undo"][0] == "ALTER SYSTEM RESET synchronous_commit;"


def test_what_stands_in_the_application_is_said_of_it(tmp_path: Path) -> None:
    run = build_run(tmp_path / "run", plan=design(blocks=2))
    levels = {"sessions": "32", "rows_per_commit": "64"}
    found = entry(compare_run(run), {**run.manifest["settings"][0], "levels": levels, "parameters": {}}, "x")
    assert found["words"] == "32 sessions, 64 rows per commit"
    assert found["ways"] == []
    assert found["why_none"] == "This setting changes nothing of the server."
    assert found["application"] == [
        "Let 32 sessions work at a time: that is the size of the application's connection pool.",
        "Put 64 rows into each commit of the application.",
    ]


def test_a_users_own_levels_name_the_parameters_that_differ_and_run_their_scripts(tmp_path: Path) -> None:
    run = build_run(tmp_path / "run", plan=design(blocks=2))
    few, many = (
        {**run.manifest["settings"][0], "name": name, "levels": {"memory": name},
         "parameters": {"work_mem": value, "jit": "off"}}
        for name, value in (("little", "1MB"), ("much", "64MB"))
    )  # fmt: skip
    scripts = {"memory": {"much": {"enter": "create index i on t (a)", "leave": "drop index i;"}}}
    known = with_manifest(run, settings=[few, many], load={**run.manifest["load"], "levels": scripts})
    assert called(known.manifest, many, "much") == "work_mem=64MB (much)"
    compared = replace(compare_run(run), run=known)
    compared = replace(compared, sessions=dict.fromkeys(("little", "much"), ()))
    found = entry(compared, many, "recommended")
    assert found["words"] == "memory: much"
    own = found["ways"][-1]
    assert own["scope"] == "list"
    assert (own["set"], own["undo"]) == (["create index i on t (a);"], ["drop index i;"])
    assert "work_mem" in found["ways"][0]["set"][0]
    assert entry(compared, few, "recommended")["ways"][-1]["scope"] != "list"


def test_levels_in_words() -> None:
    assert in_words({"sessions": "1", "commit_wait": "nowait"}) == "1 session, commits do not wait"
    assert in_words({"rows_per_commit": "many", "index": "index on a"}) == "rows_per_commit: many, index on a"
    assert in_words({"arrival_rate_per_s": "1500", "commit_delay_us": "50"}) == (
        "1,500 transactions arrive per second, a commit delay of 50 µs"
    )

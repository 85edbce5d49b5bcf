from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from redolab.experiment.answers import analyse
from redolab.records.store import open_run
from redolab.records.writing.writer import RunWriter
from tests.unit.analysis.synthetic import CPU_BOUND, LOG_BOUND, build_run, design, manifest, one_sample


def by_name(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {setting["name"]: setting for setting in results["settings"]}


@pytest.fixture(scope="module")
def log_bound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    place = tmp_path_factory.mktemp("runs") / "run"
    return analyse(build_run(place, LOG_BOUND, log_device_ms=5.0))


def test_log_bound_run_end_to_end(log_bound: dict[str, Any]) -> None:
    assert log_bound["regime"]["name"] == "log-bound"
    assert log_bound["verdict"]["outcome"] == "better"
    assert log_bound["verdict"]["best"] == "nowait/batch"
    text = log_bound["verdict"]["text"]
    assert text.startswith(
        "Set synchronous_commit=off and wal_writer_delay=1s (nowait/batch) if a crash may lose acknowledged "
        "commits: on an emulated log device it commits 25"
    )
    assert (
        "Commits here wait for an emulated 5 ms log device: under wait/immediate 97 % of a "
        "session's commit time is log sync."
    ) in text
    assert log_bound["null_test"]["passed"] is True
    assert log_bound["engine"]["emulated"]["log_device_ms"]["requested"] == 5.0
    assert log_bound["engine"]["emulated"]["log_device_ms"]["delivered"]["point"] == pytest.approx(5.06)
    assert any("emulated" in text for text in log_bound["warnings"])


def test_settings_hold_what_was_put_in(log_bound: dict[str, Any]) -> None:
    settings = by_name(log_bound)
    assert [settings[name]["samples"] for name in LOG_BOUND] == [20, 10, 10, 10]
    for name, behaviour in LOG_BOUND.items():
        found = settings[name]
        assert found["service_time_ms"]["point"] == pytest.approx(behaviour.cpu_s * 1e3)
        assert found["run_queue_time_ms"]["point"] == pytest.approx(behaviour.run_queue_s * 1e3)
        assert found["response_time_ms"]["point"] == pytest.approx(behaviour.response_s * 1e3, rel=0.02)
        assert found["response_time_ms"]["point"] == pytest.approx(
            found["service_time_ms"]["point"] + found["queue_time_ms"]["point"]
        )
        assert found["instance"]["service_time_ms"]["point"] == pytest.approx(behaviour.cpu_s * 1.1e3)
        assert found["wal_bytes_per_commit"]["point"] == 180
        assert len(found["density"]["values_ms"]) == found["samples"]
        for kind in ("profile", "instance_profile"):
            assert sum(row["share"]["point"] for row in found[kind]) == pytest.approx(1)


def test_instance_profile_and_instance_response_time_agree(log_bound: dict[str, Any]) -> None:
    settings = by_name(log_bound)["nowait/immediate"]
    whole = sum(row["time_s"] for row in settings["instance_profile"])
    commits = sum(
        point["throughput_per_s"] * point["elapsed_s"]
        for point in log_bound["timeline"]
        if point["setting"] == "nowait/immediate"
    )
    assert whole / commits * 1e3 == pytest.approx(settings["instance"]["response_time_ms"]["point"], rel=1e-3)


def test_published_tables(log_bound: dict[str, Any]) -> None:
    table = log_bound["as_published"]["unit_of_work"]["session"]
    assert [row["setting"] for row in table] == list(LOG_BOUND)
    assert table[0]["response_change_pct"] == 0
    assert table[3]["response_change_pct"] == pytest.approx(-96, abs=0.3)
    assert table[3]["arrival_rate_change_pct"] == pytest.approx(2409, abs=60)
    overview = log_bound["as_published"]["overview"]
    assert overview[0]["log_sync_pct"] == pytest.approx(99, abs=0.2)
    assert overview[3]["log_sync_pct"] == 0


def test_cpu_bound_run_gains_little(tmp_path: Path) -> None:
    found = analyse(build_run(tmp_path / "run", CPU_BOUND, load="cpu"))
    assert found["regime"]["name"] == "cpu-bound"
    assert found["verdict"]["text"].count("Commits here are bound by CPU, not by the log") == 1
    assert found["engine"]["emulated"] == {}
    assert found["verdict"]["outcome"] in {"equivalent", "undecided"}


def test_the_same_run_gives_the_same_object_from_disk(tmp_path: Path) -> None:
    first = analyse(build_run(tmp_path / "run"))
    again = analyse(open_run(tmp_path / "run"))
    assert first == again
    text = json.dumps(first, allow_nan=False)
    assert json.loads(text) == first


def test_spoiled_samples_are_left_out_and_counted(tmp_path: Path) -> None:
    plan = design(blocks=6)
    victim = next(trial for trial in plan.order() if trial.setting == "nowait/batch")
    found = analyse(
        build_run(
            tmp_path / "run",
            plan=plan,
            change={victim.sample: {"spoiled": "a session died", "commits": 1}},
        )
    )
    setting = by_name(found)["nowait/batch"]
    assert (setting["samples"], setting["spoiled"]) == (5, 1)
    used = {(item["a"], item["metric"]): item["blocks"] for item in found["comparisons"]}
    assert used["nowait/batch", "throughput_per_s"] == 5
    assert used["nowait/immediate", "throughput_per_s"] == 6
    assert "This result rests on 5 of 6 blocks (passes over all settings)." in found["verdict"]["text"]


def test_interrupted_run(tmp_path: Path) -> None:
    found = analyse(build_run(tmp_path / "run", status="interrupted", only_first=22))
    assert found["status"] == "interrupted"
    assert "This result rests on 4 of 10 blocks (passes over all settings)." in found["verdict"]["text"]
    assert "The run is interrupted: 22 of 50 samples were taken." in found["warnings"]
    assert [item["blocks"] for item in found["comparisons"][:3]].count(4) >= 1


@pytest.mark.parametrize("taken", [0, 1, 3, 7])
def test_hardly_anything_measured(tmp_path: Path, taken: int) -> None:
    found = analyse(build_run(tmp_path / "run", status="interrupted", only_first=taken))
    assert found["verdict"]["outcome"] == "undecided"
    json.dumps(found, allow_nan=False)


def test_a_run_killed_before_it_was_closed(tmp_path: Path) -> None:
    plan = design()
    writer = RunWriter(tmp_path / "run", manifest(plan))
    for trial in plan.order()[:5]:
        sample, waits, processes = one_sample(trial, LOG_BOUND[trial.setting])
        writer.append(sample, waits, processes)
    found = analyse(open_run(tmp_path / "run"))
    assert found["status"] == "running"
    assert found["verdict"]["outcome"] == "undecided"


def test_withheld_when_the_null_pair_fails(tmp_path: Path) -> None:
    plan = design()
    change = {trial.sample: {"commits": 300} for trial in plan.order() if trial.role == "baseline_b"}
    found = analyse(build_run(tmp_path / "run", plan=plan, change=change))
    assert found["null_test"]["passed"] is False
    assert {item["outcome"] for item in found["comparisons"]} == {"withheld"}
    assert found["verdict"]["outcome"] == "withheld"


def test_every_sample_alike_as_the_fake_engine_gives_them(tmp_path: Path) -> None:
    found = analyse(build_run(tmp_path / "run", noise=0.0))
    assert found["null_test"]["pvalue"] == 1.0
    assert found["null_test"]["ratio"]["low"] == 1.0
    assert by_name(found)["wait/batch"]["density"]["x_ms"] == []
    json.dumps(found, allow_nan=False)


def test_remote_server_without_accounts_or_ticks(tmp_path: Path) -> None:
    nothing = {
        "session_cpu_s": None, "session_run_queue_s": None, "instance_cpu_s": None,
        "instance_run_queue_s": None, "host_cpus": None, "host_busy_s": None,
        "host_steal_s": None, "server_rows": None, "log_flushes": None,
        "log_flush_time_s": None, "log_write_time_s": None, "log_bytes": None,
        "checkpoints": None, "vacuums": None,
    }  # fmt: skip
    plan = design(blocks=4)
    change = {trial.sample: nothing for trial in plan.order()}
    found = analyse(build_run(tmp_path / "run", plan=plan, change=change))
    setting = by_name(found)["wait/immediate"]
    assert setting["service_time_ms"]["point"] is None
    assert setting["response_time_ms"]["point"] is not None
    assert setting["instance_profile"] == []
    assert setting["profile"][0]["row"] == "on_cpu_or_unknown"
    assert found["as_published"]["overview"][0]["cpu_pct"] is None
    json.dumps(found, allow_nan=False)


def test_one_setting_and_no_null_pair(tmp_path: Path) -> None:
    plan = design(blocks=8, null_pair=False)
    found = analyse(build_run(tmp_path / "run", plan=plan))
    assert found["null_test"]["passed"] is None
    assert found["verdict"]["outcome"] == "better"


def agreements(results: dict[str, Any]) -> dict[str, str]:
    return {finding["key"]: finding["agreement"] for finding in results["published"]}


def test_published_findings_of_a_log_bound_run(log_bound: dict[str, Any]) -> None:
    assert agreements(log_bound) == {
        "commit-mode-log-share": "agrees",
        "commit-mode-log-throughput": "agrees",
        "commit-mode-log-response": "agrees",
        "commit-mode-log-cpu": "agrees",
        "commit-mode-cpu-response": "not comparable",
    }
    ours = {finding["key"]: finding["ours"] for finding in log_bound["published"]}
    assert ours["commit-mode-log-cpu"]["point"] == pytest.approx(100 * (110 / 180 - 1))
    assert ours["commit-mode-log-share"]["point"] == pytest.approx(97.3, abs=0.1)
    assert ours["commit-mode-cpu-response"] is None


def test_published_findings_of_other_runs(tmp_path: Path) -> None:
    cpu_bound = analyse(build_run(tmp_path / "cpu", CPU_BOUND))
    assert agreements(cpu_bound)["commit-mode-cpu-response"] == "agrees"
    assert agreements(cpu_bound)["commit-mode-log-share"] == "not comparable"
    # Not waiting takes a third of the time away: that is no small change.
    faster = {**CPU_BOUND, "nowait/immediate": replace(CPU_BOUND["nowait/immediate"], response_s=0.00014)}
    assert agreements(analyse(build_run(tmp_path / "third", faster)))["commit-mode-cpu-response"] == "differs"

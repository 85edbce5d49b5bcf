"""Runs that end when everything is decided, on real servers of Redolab's own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from redolab import open_run
from redolab.analysis.reading import read_samples
from tests.conftest import Redolab

ASKED = ("run", "commit-mode", "--settings", "wait,nowait", "--log-device-ms", "5", "--sessions", "4")


@pytest.mark.parametrize("engine", ["embedded", "mariadb"])
def test_a_great_difference_ends_the_run(engine: str, redolab: Redolab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = redolab(*ASKED, "--engine", engine, "--at-most", "5m", "--out", out, "--json")
    assert done.code == 0, done.err
    results = json.loads(done.out)
    (item,) = [each for each in results["comparisons"] if each["metric"] == "throughput_per_s"]
    assert (item["a"], item["outcome"]) == ("nowait", "better")
    assert item["ratio"]["low"] > 1.5
    # One comparison needs six blocks at the least; after nine the A/A pair could have failed.
    assert 9 <= item["blocks"] <= 12
    samples = read_samples(open_run(out))
    assert len(samples) == 3 * item["blocks"]
    assert [sample.sample for sample in samples] == list(range(1, len(samples) + 1))
    assert re.search(r"nowait is decided after [6-9] blocks: \S+ times as fast", done.err)
    assert results["null_test"]["passed"] is not None
    assert results["status"] == "finished"
    looked_at = {item["name"] for item in results["diagnostics"]}
    assert {"speed of the machine", "one busy CPU"} <= looked_at
    # In MariaDB sessions write and flush the log themselves.
    assert ("log writer" in looked_at) == (engine == "embedded")
    assert results["figures"][-1]["key"] == "machine"
    for sample in samples:
        assert 0 < (sample.cpu_loop_s or 0) < sample.elapsed_s
        assert sample.flush_s is not None
        assert 0 < (sample.busiest_cpu or 0) <= 1
        assert (sample.log_writer_cpu_s is None) == (engine == "mariadb")
        assert (sample.log_writer_run_queue_s is None) == (engine == "mariadb")
    assert redolab("verify", out).code == 0


def test_a_run_without_time_for_a_decision_says_so(redolab: Redolab, tmp_path: Path) -> None:
    done = redolab(*ASKED, "--at-most", "2s", "--out", tmp_path / "run", "--json")
    assert done.code == 0, done.err
    results = json.loads(done.out)
    assert results["verdict"]["outcome"] == "undecided"
    assert results["comparisons"][0]["ratio"]["low"] is None
    assert results["null_test"]["passed"] is None
    assert "more blocks would" in results["verdict"]["text"]


def test_an_undecided_run_goes_on_until_it_is_decided(redolab: Redolab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert redolab(*ASKED, "--at-most", "4s", "--out", out, "--json").code == 0
    begun = open_run(out)
    first = len(read_samples(begun))
    done = redolab("continue", out, "--until-settled", "--json")
    assert done.code == 0, done.err
    results = json.loads(done.out)
    assert results["verdict"]["outcome"] == "better"
    run = open_run(out)
    samples = read_samples(run)
    assert [sample.sample for sample in samples] == list(range(1, len(samples) + 1))
    assert run.manifest["order"][: len(begun.manifest["order"])] == begun.manifest["order"]
    assert {sample.seam for sample in samples[:first]} == {0}
    assert {sample.seam for sample in samples[first:]} == {1}
    assert run.manifest["continued"][0]["server"] == "a new private server"
    assert "new server" in {item["name"] for item in results["diagnostics"]}
    assert redolab("verify", out).code == 0
    assert redolab("continue", out).code == 2
    assert redolab("continue", out, "--blocks", "1", "--engine", "mariadb").code != 0


@pytest.mark.parametrize(
    ("asked", "enough"),
    [
        (("rows-per-commit", "--settings", "1,32,1024"), {":0.9": 32}),
        (("session-count", "--sessions", "1,4"), {"sessions": 4}),
        (("commit-scaling", "--sessions", "1,4"), {"sessions": 4}),
    ],
)
def test_a_sweep_ends_when_the_number_to_recommend_is_settled(
    asked: tuple[str, ...], enough: dict[str, int], redolab: Redolab, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    seconds = ("--seconds", "0.2", "--log-device-ms", "5")
    done = redolab("run", *asked, *seconds, "--at-most", "5m", "--out", out, "--json")
    assert done.code == 0, done.err
    results = json.loads(done.out)
    found = {item["key"]: item for item in results["levels"]}
    assert all(item["settled"] for item in found.values())
    assert {key: found[key]["estimate"]["low"] for key in enough} == enough
    assert re.search(r"needs 32 |4 sessions", done.err)
    assert re.search(r"settled after \d+ blocks\.", done.err)
    assert results["verdict"]["outcome"] == "better"
    assert "ot settled" not in results["verdict"]["text"]
    samples = read_samples(open_run(out))
    assert len(samples) == (len(results["settings"]) + 1) * max(sample.block for sample in samples)
    assert redolab("verify", out).code == 0
    further = redolab("continue", out, "--blocks", "1", "--json")
    assert further.code == 0, further.err
    again = json.loads(further.out)
    assert again["method"]["continued"][0]["sample"] == len(samples) + 1
    assert set(found) <= {item["key"] for item in again["levels"]}
    assert redolab("verify", out).code == 0

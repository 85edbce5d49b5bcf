"""Advice from a run that was really measured, on the private server with an emulated log device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Redolab


def test_a_measured_run_says_what_to_change(
    tmp_path: Path, redolab: Redolab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    out = tmp_path / "costs"
    ended = redolab(
        "run", "calibrate", "--quick", "--blocks", "1", "--sessions", "4", "--seed", "1",
        "--log-device-ms", "5", "--out", out, "--json",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    results = json.loads(ended.out)
    found = results["advice"]
    assert found["why_no_forecast"] is None
    assert found["of"] in {setting["name"] for setting in results["settings"]}
    assert_ranked(found["changes"])
    gains = {(item["factor"], item["to"]): item["gain"]["point"] for item in found["changes"]}
    # A flush of 5 ms is nearly all of a commit: half of it is worth nearly twice the commits, none far more.
    assert 1.3 < gains["log_device", "half"] < 2.2
    assert gains["log_device", "none"] > gains["log_device", "half"]
    assert gains["rows_per_commit", "32"] > 5
    (nowait,) = [item for item in found["changes"] if item["factor"] == "commit_wait"]
    assert (nowait["tier_before"], nowait["tier_after"]) == ("disk", "memory")
    for item in found["bounds"]:
        assert item["most"]["point"] == pytest.approx(1 / (1 - item["share"]["point"]))
    # The bounds are of the setting that stands for today, from the same account as its profile.
    (today,) = [setting for setting in results["settings"] if setting["name"] == found["of"]]
    shares = {row["row"]: row["share"]["point"] for row in today["profile"]}
    rows = {item["rows"][0]: item for item in found["bounds"] if len(item["rows"]) == 1}
    assert rows["on_cpu"]["share"]["point"] == pytest.approx(shares["on_cpu"])

    screen = redolab("report", out).out
    listed = screen.partition("What to change\n")[2].partition("\n\n")[0]
    starts = [line for line in listed.splitlines() if line[:3].strip().isdigit()]
    assert len(starts) == len(found["lines"]) == 3

    # The same run says the same wherever it lies.
    moved = out.rename(tmp_path / "moved")
    verified = redolab("verify", moved)
    assert verified.code == 0, verified.out + verified.err


def assert_ranked(changes: list[dict[str, Any]]) -> None:
    parts = {"more work": 0, "shorter times": 0, "not shown to help": 1, "less work": 2}
    classes = ["kept", "lost", "limit"]
    places = [(parts[item["outcome"]], classes.index(item["durability"])) for item in changes]
    assert len(places) >= 8
    assert places == sorted(places)
    for item in changes:
        helps = item["outcome"] == "more work"
        assert helps == (item["gain"]["low"] > 1), item


def test_a_run_without_costs_says_why_there_is_no_forecast(tmp_path: Path, redolab: Redolab) -> None:
    out = tmp_path / "rows"
    ended = redolab(
        "run", "rows-per-commit", "--quick", "--blocks", "1", "--rows", "2000", "--settings", "1,32",
        "--sessions", "1", "--out", out, "--json",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)["advice"]
    assert found["changes"] == []
    assert str(out) not in found["why_no_forecast"]
    assert "redolab run calibrate" in found["why_no_forecast"]
    assert found["bounds"]
    assert found["bounds"][0]["text"].startswith(found["bounds"][0]["name"])

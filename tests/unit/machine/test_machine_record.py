"""What cpu-capacity found of a machine, kept for later."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from redolab.machine import machine
from redolab.machine.cpus import Cpus, Quota

FOUND = {
    "effective_cpus": {"point": 1.98, "low": 1.95, "high": 2.01, "level": 0.95},
    "power": "cores",
}
AT = "2026-11-21T08:01:48+00:00"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def with_cpus(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    cpus = Cpus(online=(0, 1), offline=(), allowed=(0, 1), cores=2, sockets=1, kinds=(), quota=None)
    monkeypatch.setattr(machine, "read_cpus", lambda: replace(cpus, **changes))


def test_what_was_kept_is_read_again(tmp_path: Path) -> None:
    assert machine.effective_cpus() is None
    path = machine.keep_capacity(FOUND, AT, tmp_path / "run")
    assert path.parent == tmp_path / "data" / "redolab" / "machines"
    found = machine.effective_cpus()
    assert found == machine.EffectiveCpus(1.98, 1.95, 2.01, 0.95, "cores", AT, str(tmp_path / "run"))
    # A later run takes its place, and nothing else is left behind.
    machine.keep_capacity({**FOUND, "power": "quota"}, AT, tmp_path / "run")
    later = machine.effective_cpus()
    assert later is not None
    assert later.power == "quota"
    assert list(path.parent.iterdir()) == [path]


def test_another_quota_or_other_cpus_are_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_cpus(monkeypatch)
    machine.keep_capacity(FOUND, AT, tmp_path)
    with_cpus(monkeypatch, quota=Quota(1.5, 0.1, Path("/g")))
    assert machine.effective_cpus() is None
    with_cpus(monkeypatch, allowed=(0,), cores=1)
    assert machine.effective_cpus() is None
    with_cpus(monkeypatch)
    assert machine.effective_cpus() is not None


WHOLE = json.dumps({"capacity": FOUND, "measured_at": AT, "run": "r"})


@pytest.mark.parametrize(
    "text", ["", WHOLE[:40], json.dumps({"format": 1}), json.dumps([]), WHOLE.replace("1.98", "null")]
)
def test_a_spoiled_record_counts_as_none(text: str, tmp_path: Path) -> None:
    path = machine.keep_capacity(FOUND, AT, tmp_path)
    path.write_text(WHOLE)
    assert machine.effective_cpus() is not None
    path.write_text(text)
    assert machine.effective_cpus() is None


def test_a_home_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        machine.keep_capacity(FOUND, AT, tmp_path)
    assert machine.effective_cpus() is None

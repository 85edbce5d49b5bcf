"""Links planted where commands write: what they lead to stays as it was, and the command does its work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Redolab

TEXT = "somebody's\n"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text(TEXT)
    return path


@pytest.fixture
def run(redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stored run that needs no database."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = tmp_path / "run"
    done = redolab("run", "sampling-distribution", "--quick", "--out", path)
    assert done.code == 0, done.err
    return path


def plant(victim: Path, *links: Path) -> None:
    for link in links:
        link.unlink(missing_ok=True)
        link.symlink_to(victim)


def test_a_report_is_written_through_no_link(redolab: Redolab, run: Path, victim: Path) -> None:
    names = ("report.html", "results.json", "manifest.json", "league.json")
    plant(victim, *(run / f"{name}.draft" for name in names))
    assert redolab("report", run).code == 0
    assert victim.read_text() == TEXT
    for name in names:
        assert not (run / name).is_symlink(), name
    # The file itself may be one; it is replaced.
    plant(victim, run / "report.html", run / "results.json")
    assert redolab("report", run).code == 0
    assert victim.read_text() == TEXT
    assert not (run / "report.html").is_symlink()
    assert redolab("verify", run).code == 0


@pytest.mark.parametrize("planted", ["share.jsonl.draft", "share.jsonl"])
def test_a_ledger_is_given_away_through_no_link(
    planted: str, redolab: Redolab, tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    place = tmp_path / "everybodys"
    place.mkdir()
    place.chmod(0o1777)
    plant(victim, place / planted)
    if os.geteuid() == 0:
        os.chown(place / planted, 65534, 65534, follow_symlinks=False)
    (tmp_path / "link").symlink_to(place)
    done = redolab("league", "--export", tmp_path / "link" / "share.jsonl")
    assert done.code == 0, done.err
    assert victim.read_text() == TEXT
    assert (place / "share.jsonl").read_text() == ""
    assert not (place / "share.jsonl").is_symlink()


@pytest.mark.parametrize("dangling", [False, True])
def test_a_page_of_values_replaces_no_link(
    dangling: bool, redolab: Redolab, tmp_path: Path, victim: Path
) -> None:
    values = tmp_path / "values.csv"
    values.write_text("value\n" + "".join(f"{number % 7}\n" for number in range(60)))
    target = tmp_path / "not there" if dangling else victim
    plant(target, tmp_path / "page.html", tmp_path / "other.html.draft")
    done = redolab("analyze", values, "--out", tmp_path / "page.html")
    assert done.code == 2
    assert "exists already and is not overwritten" in done.complaint
    assert redolab("analyze", values, "--out", tmp_path / "other.html").code == 0
    assert not (tmp_path / "other.html").is_symlink()
    assert victim.read_text() == TEXT
    assert not (tmp_path / "not there").exists()

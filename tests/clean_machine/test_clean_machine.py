"""What the clean machines look at: on paper, without one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.clean_machine import root as machines
from tests.clean_machine.__main__ import cases, main
from tests.clean_machine.image import SUITE, _written
from tests.clean_machine.root import USER, NotHereError, Root, settings
from tests.clean_machine.story import ABSENT, _announced_s, _present, _traces
from tests.clean_machine.ways import UV, VENV, WAYS, WHEEL

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide" / "install.md").read_text()


@pytest.mark.parametrize(
    ("left", "traces"),
    [
        (["home/jo/first/manifest.json", "home/jo/first"], []),
        (["home/jo/.cache/uv/x", "home/jo/.cache/uv", "home/jo/.cache"], []),
        (["home/jo/first-of-mine"], ["left behind: home/jo/first-of-mine"]),
        (["home/jo/.cache/redolab"], ["left behind: home/jo/.cache/redolab"]),
        (["tmp/redolab-x"], ["left behind: tmp/redolab-x"]),
        (["home/jo/.local/bin"], []),
        (["home/jo/.local/bin/redolab"], ["left behind: home/jo/.local/bin/redolab"]),
    ],
)
def test_a_trace_is_what_neither_the_user_nor_the_tool_made(left: list[str], traces: list[str]) -> None:
    before = {"home/jo", "etc/passwd"}
    assert list(_traces(before, before | set(left), UV, "home/jo")) == traces


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("commit-mode: 6 blocks of 5 samples, seed 8; about 62 s.", 62),
        ("commit-mode: seed 8; about 2 min 5 s.", 125),
        ("commit-mode: seed 8; about 3 min.", 180),
        ("commit-mode: at most 9 blocks, seed 8; as long as it needs, and at most 2 min of measuring.", 120),
        ("no word of it", None),
    ],
)
def test_the_length_that_a_run_announces_is_read(said: str, seconds: float | None) -> None:
    assert _announced_s(said) == seconds


def test_a_machine_with_a_compiler_proves_nothing(tmp_path: Path) -> None:
    (tmp_path / "usr" / "bin").mkdir(parents=True)
    assert list(_present(Root(tmp_path))) == []
    (tmp_path / "usr" / "bin" / "gcc").symlink_to("/nowhere")
    assert list(_present(Root(tmp_path))) == ["this machine has gcc, so it proves nothing"]
    assert {"gcc", "cargo", "git", "postgres"} <= set(ABSENT)


def test_every_way_is_in_the_guide_and_tried_on_both_systems() -> None:
    for way in WAYS:
        command = " ".join(way.install).replace(" --quiet", "").replace(WHEEL, "'redolab[servers]'")
        assert command.removeprefix("uv/bin/") in GUIDE
        assert " ".join(way.remove).replace(" --quiet", "").removeprefix("uv/bin/") in GUIDE
    tried = list(cases())
    assert {(suite, way.name) for suite, _, _, way in tried} == {
        (suite, way.name) for suite in ("bookworm", "trixie") for way in WAYS
    }
    assert {user for _, _, user, way in tried if way is VENV} == {"root", USER}
    assert any(slim for _, slim, _, _ in tried)


def test_the_registry_that_pip_is_set_up_with_is_the_same_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle, packages = tmp_path / "authorities.pem", tmp_path / "packages"
    bundle.write_text("certificates")
    packages.mkdir()
    monkeypatch.setenv("PIP_CERT", str(bundle))
    monkeypatch.setenv("PIP_FIND_LINKS", str(packages))
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    monkeypatch.setenv("PGPASSWORD", "not theirs")
    place = tmp_path / "root"
    found = settings(place)
    assert found["PIP_INDEX_URL"] == "https://index.example/simple"
    assert "PIP_FIND_LINKS" not in found
    assert "PGPASSWORD" not in found
    assert (place / str(bundle).lstrip("/")).read_text() == "certificates"


def test_what_could_not_be_tried_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = tmp_path / "redolab.whl"
    wheel.touch()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NotHereError, match="by root alone"):
        machines._template("bookworm")
    assert main([str(wheel)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(list(cases())) + 1
    assert "the Containerfile" in lines[-1]
    assert all(line.startswith("NOT tested: ") and "run this as root" in line for line in lines)


def test_an_image_writes_into_its_volume_alone() -> None:
    before = {"runs", "etc/passwd"}
    fine = {"runs/first", "runs/.cache/redolab", "tmp/x", "var/tmp/y"}
    assert list(_written(before, before | fine)) == []
    assert list(_written(before, before | {"opt/redolab/x.pyc", "runs2"})) == [
        "the image wrote outside of its volume: opt/redolab/x.pyc",
        "the image wrote outside of its volume: runs2",
    ]
    # The system that the Containerfile begins from.
    assert (ROOT / "Containerfile").read_text().count("/debian:13-") == 1
    assert SUITE == "trixie"

"""What GitHub runs and asks: read here, and its commands executed; the workflows themselves ran nowhere."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[0-9]*"))
PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe", pure=True).load(path.read_text())
    return found


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = read(path)["jobs"]
    return found


def steps(path: Path) -> Iterator[dict[str, Any]]:
    for job in jobs(path).values():
        yield from job["steps"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_all_that_runs_is_pinned_and_may_do_little(path: Path) -> None:
    assert read(path)["permissions"] == {}
    used = [it["uses"] for it in steps(path) if "uses" in it]
    assert used
    assert [it for it in used if not PINNED.fullmatch(it)] == []
    # One commit for each action and its version beside it, for whoever reads.
    lines = re.findall(r"uses: (.*)", path.read_text())
    assert all(re.fullmatch(r"\S+ # v\d+\.\d+\.\d+", line) for line in lines)
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
        # What somebody else may have written is no part of a command.
        assert "${{" not in step.get("run", "")
    for job in jobs(path).values():
        assert job["timeout-minutes"] <= 120
        image = job.get("container", {}).get("image")
        assert image is None or re.search(r"@sha256:[0-9a-f]{64}$", image)


def test_an_action_has_the_same_commit_everywhere() -> None:
    used = {it["uses"] for path in WORKFLOWS for it in steps(path) if "uses" in it}
    assert len({it.split("@")[0] for it in used}) == len(used)


def test_one_job_alone_has_the_identity_that_is_trusted() -> None:
    found = jobs(ROOT / ".github" / "workflows" / "release.yml")
    assert {name: job.get("permissions") for name, job in found.items()} == {
        "build": {"contents": "read"},
        "publish": {"id-token": "write"},
        "announce": {"contents": "write"},
    }
    publish = found["publish"]
    assert publish["environment"]["name"] == "pypi"
    # It runs nothing that came with the code.
    assert all("run" not in step for step in publish["steps"])
    assert publish["steps"][-1]["with"] == {"packages-dir": "dist", "attestations": True}
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text()


def command(name: str) -> str:
    """What a step of the release runs."""
    found = steps(ROOT / ".github" / "workflows" / "release.yml")
    (run,) = [step["run"] for step in found if step.get("name") == name]
    return str(run)


def run_step(name: str, place: Path, tag: str) -> int:
    environment = {"PATH": os.environ["PATH"], "GITHUB_REF_NAME": tag}
    words = ("bash", "-e", "-o", "pipefail", "-c", command(name))
    return subprocess.run(words, cwd=place, env=environment, check=False, capture_output=True).returncode


def test_a_tag_that_is_not_the_version_of_its_commit_is_not_released() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert run_step("The tag is the version of the commit", ROOT, f"v{version}") == 0
    assert run_step("The tag is the version of the commit", ROOT, f"v{version}0") != 0


def test_the_page_of_a_release_has_the_changelog_of_that_version_alone(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changes\n\n## Unreleased\n\n"
        "## 0.10.0 - 2026-02-02\n\nTen.\n\n### Added\n\n- It.\n\n## 0.1.0 - 2026-01-01\n\nOne.\n"
    )
    name = "Take the changelog of this version"
    assert run_step(name, tmp_path, "v0.10.0") == 0
    assert (tmp_path / "notes.md").read_text().split() == ["Ten.", "###", "Added", "-", "It."]
    assert run_step(name, tmp_path, "v0.1.0") == 0
    assert (tmp_path / "notes.md").read_text().strip() == "One."
    # One that the changelog does not have.
    assert run_step(name, tmp_path, "v0.1") != 0


def test_the_checksums_are_those_of_the_packages(tmp_path: Path) -> None:
    for name in ("redolab-1.whl", "redolab-1.tar.gz", "other.txt"):
        (tmp_path / name).write_text(name)
    assert run_step("Write the checksums", tmp_path, "v1") == 0
    assert len((tmp_path / "SHA256SUMS").read_text().splitlines()) == 2
    assert run_step("Compare with the checksums", tmp_path, "v1") == 0
    (tmp_path / "redolab-1.whl").write_text("another")
    assert run_step("Compare with the checksums", tmp_path, "v1") != 0


def test_the_forms_are_three() -> None:
    assert [path.name for path in FORMS] == ["1-wrong-number.yml", "2-does-not-work.yml", "3-record.yml"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_asks_for_what_redolab_prints_and_warns_of_secrets(path: Path) -> None:
    form = read(path)
    assert set(form) <= {"name", "description", "title", "labels", "body"}
    fields = [item for item in form["body"] if item["type"] != "markdown"]
    ids = [item["id"] for item in fields]
    assert len(set(ids)) == len(ids)
    for item in fields:
        assert item["type"] in ("input", "textarea", "checkboxes")
        assert item["attributes"]["label"]
    doctor = next(item for item in fields if item["id"] == "doctor")
    assert "redolab doctor" in doctor["attributes"]["label"]
    assert "--json" in doctor["attributes"]["label"]
    assert doctor["validations"]["required"] is True
    warning = form["body"][0]["attributes"]["value"].lower()
    assert all(word in warning for word in ("password", "host", "public"))
    (looked,) = [item for item in fields if item["type"] == "checkboxes"]
    assert all(option["required"] is True for option in looked["attributes"]["options"])


def test_a_pull_request_is_asked_what_shows_that_it_is_right() -> None:
    text = (ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md").read_text()
    assert "make test" in text
    assert "CHANGELOG.md" in text
    assert "password" in text

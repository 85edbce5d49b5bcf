"""What is installed and built is what is locked, and an audit that could not look is no pass."""

from __future__ import annotations

import re
import runpy
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
LOCKS = sorted((ROOT / "locks").glob("*.txt"))
FOR_USERS = [*PROJECT["project"]["dependencies"], *EXTRAS["servers"], *EXTRAS["oracle"]]
ASKED_FOR = {
    "dev.txt": [*PROJECT["build-system"]["requires"], *FOR_USERS, *EXTRAS["dev"]],
    "dist.txt": EXTRAS["dist"],
    "fuzz.txt": EXTRAS["fuzz"],
    "tools.txt": [
        line for line in (ROOT / "locks" / "tools.in").read_text().splitlines() if not line.startswith("#")
    ],
}
RECIPES = [
    path
    for path in (ROOT / "Makefile", *(ROOT / "scripts").iterdir(), *(ROOT / ".ci").iterdir())
    if path.is_file()
]
AUDIT = runpy.run_path(str(ROOT / "scripts" / "audit.py"))
Outcome = AUDIT["Outcome"]


def entries(lock: Path) -> list[tuple[Requirement, list[str]]]:
    """Every locked package with its hashes."""
    text = re.sub(r"^\s*#.*\n", "", lock.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    found = []
    for line in text.splitlines():
        requirement, *hashes = re.split(r"\s+--hash=", line.strip())
        found.append((Requirement(requirement), hashes))
    return found


def commands(path: Path, pattern: str) -> list[str]:
    """Every command of a recipe that fits a pattern, continued lines joined."""
    text = path.read_text().replace("\\\n", " ")
    return [
        line
        for line in text.splitlines()
        if re.search(pattern, line) and not line.lstrip("\t @").startswith("#")
    ]


def test_every_list_has_a_lock() -> None:
    assert {lock.name for lock in LOCKS} == ASKED_FOR.keys() == {Path(lock).name for lock in AUDIT["LOCKS"]}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_has_a_version_and_hashes_for_each_package_and_no_address(lock: Path) -> None:
    for requirement, hashes in entries(lock):
        assert [one.operator for one in requirement.specifier] == ["=="], requirement
        assert requirement.url is None
        assert hashes, requirement
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", one) for one in hashes), requirement
    text = lock.read_text()
    assert "://" not in text
    assert not re.search(r"--(?!hash=)\w", text)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_what_is_asked_for_is_locked_within_its_range(lock: Path) -> None:
    versions = {
        canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one, _ in entries(lock)
    }
    assert len(versions) == len(entries(lock)), "one version for every Python"
    for wanted in map(Requirement, ASKED_FOR[lock.name]):
        locked = versions.get(canonicalize_name(wanted.name))
        assert locked is not None, f"{wanted} is not in {lock.name}: make lock"
        assert wanted.specifier.contains(locked), f"{wanted} is {locked} in {lock.name}: make lock"


def test_these_tests_run_on_what_is_locked() -> None:
    (lock,) = (lock for lock in LOCKS if lock.name == "dev.txt")
    wrong = {
        one.name: (metadata.version(one.name), str(one.specifier))
        for one, _ in entries(lock)
        if (one.marker is None or one.marker.evaluate()) and metadata.version(one.name) not in one.specifier
    }
    assert wrong == {}, "make install"


def test_what_redolab_runs_on_has_an_upper_bound() -> None:
    page = (ROOT / "docs" / "decisions" / "0013-dependencies.md").read_text()
    for wanted in map(Requirement, FOR_USERS):
        assert {one.operator for one in wanted.specifier} & {"<", "=="}, wanted
        assert f"| `{wanted.name}` |" in page, f"{wanted.name} has no row with its why and its price"
        (row,) = (line for line in page.splitlines() if line.startswith(f"| `{wanted.name}` |"))
        (said,) = re.findall(r"\| `([<>=][^`]*)` \|", row)
        assert SpecifierSet(said) == wanted.specifier


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_no_recipe_installs_or_builds_what_is_not_locked(path: Path) -> None:
    for line in commands(path, r"\bpip\b.* install\b"):
        from_lock = "--require-hashes" in line and "--only-binary :all:" in line
        assert from_lock or "--no-deps --no-build-isolation --editable ." in line, line
    for line in commands(path, r"\bcargo[\"', ]+(build|test|clippy|run|install|fetch|check|bench)\b"):
        assert "--locked" in line, line


def test_the_extension_is_built_from_what_cargo_has_locked() -> None:
    assert PROJECT["tool"]["maturin"]["locked"] is True
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    ours = {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")}
    for package in packages:
        if package["name"] not in ours:
            assert package["source"] == "registry+https://github.com/rust-lang/crates.io-index", package[
                "name"
            ]
            assert re.fullmatch("[0-9a-f]{64}", package["checksum"])


# An audit


def answer(*packages: dict[str, Any]) -> dict[str, Any]:
    return {"dependencies": list(packages)}


SOUND = {"name": "rich", "version": "15.0.0", "vulns": []}
FAULTY = {"name": "jinja2", "version": "2.10", "vulns": [{"id": "PYSEC-2019-217"}]}
# pip-audit ends with 0 and "No known vulnerabilities found" when it could look up none.
SKIPPED = {
    "name": "rich",
    "skip_reason": "Dependency not found on PyPI and could not be audited: rich (15.0.0)",
}


@pytest.mark.parametrize(
    ("known_faulty", "locked", "outcome"),
    [
        (answer(FAULTY), answer(SOUND, SOUND), "FINE"),
        (answer(FAULTY), answer(SOUND, FAULTY), "WRONG"),
        (answer(FAULTY), answer(SKIPPED, FAULTY), "WRONG"),
        (answer(FAULTY), answer(SOUND, SKIPPED), "NOT_CHECKED"),
        (answer(FAULTY), answer(), "NOT_CHECKED"),
        (answer(FAULTY), None, "NOT_CHECKED"),
        (answer({**FAULTY, "vulns": []}), answer(SOUND), "NOT_CHECKED"),
        (answer(SKIPPED), answer(SKIPPED), "NOT_CHECKED"),
        (answer(), answer(SOUND), "NOT_CHECKED"),
        (None, None, "NOT_CHECKED"),
    ],
)
def test_an_audit_that_could_not_look_is_no_pass(known_faulty: Any, locked: Any, outcome: str) -> None:
    assert AUDIT["judged"](known_faulty, locked) is Outcome[outcome]


def test_an_audit_has_an_exit_code_of_its_own_for_what_was_not_checked() -> None:
    fine, wrong, not_checked = Outcome.FINE, Outcome.WRONG, Outcome.NOT_CHECKED
    assert AUDIT["exit_code"]([fine, fine]) == 0
    assert AUDIT["exit_code"]([fine, not_checked]) == 4
    assert AUDIT["exit_code"]([not_checked, wrong, fine]) == 1

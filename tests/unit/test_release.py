"""`make release` in a clone of its own, with a `make dist` that builds nothing: all is made, or nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = ("Cargo.toml", "Cargo.lock", "Makefile", "scripts/release.py")
SAID = """First version.

### Added

- `redolab report`: words; more \\1 words.
"""
CHANGELOG = f"""# Changes

## 0.1.0 (unreleased)

{SAID}
## 0.0.9 - 2026-01-01

- Older.
"""
MAKE = shutil.which("make") or ""
# What `make dist` does, by a shell: packages whose names and content have the version.
DIST = r"""#!/bin/sh
[ "$1" = dist ] || exit 9
[ -z "$VERSION$MAKEFLAGS" ] || exit 8
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
mkdir dist
echo "wheel of $version" >"dist/redolab-$version-cp311-abi3-manylinux_2_28_x86_64.whl"
echo "source of $version" >"dist/redolab-$version.tar.gz"
"""


class Clone:
    """A repository that has what a release reads and writes."""

    def __init__(self, place: Path) -> None:
        self.place = place / "clone"
        for name in FILES:
            target = self.place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
        (self.place / "CHANGELOG.md").write_text(CHANGELOG)
        (self.place / ".gitignore").write_text("/dist/\n/target/\n")
        self.programs = place / "programs"
        self.programs.mkdir()
        self.environment = {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "HOME": str(place),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.dist_does(DIST)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("config", "user.name", "Somebody Else")
        self.git("config", "user.email", "else@example.org")
        self.commit("First")

    def git(self, *words: str) -> str:
        command = ("git", *words)
        done = subprocess.run(
            command, cwd=self.place, env=self.environment, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, subject: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject)

    def dist_does(self, script: str) -> None:
        (self.programs / "make").write_text(script)
        (self.programs / "make").chmod(0o755)

    def release(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = (MAKE, "--no-print-directory", "release", *words)
        return subprocess.run(
            command, cwd=self.place, env=self.environment, check=False, capture_output=True, text=True
        )

    def state(self) -> tuple[object, ...]:
        """All that a release could leave behind: commits, tags, branches, files."""
        files = {
            str(path.relative_to(self.place)): path.read_bytes()
            for path in sorted(self.place.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.place).parts
        }
        refs = self.git("for-each-ref")
        return self.git("rev-parse", "HEAD"), refs, self.git("status", "--porcelain", "--branch"), files

    def text(self, name: str) -> str:
        return (self.place / name).read_text()


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def test_a_release_is_a_commit_a_tag_and_packages_with_their_checksums(clone: Clone) -> None:
    before = clone.git("rev-parse", "HEAD")
    (clone.place / "dist").mkdir()
    (clone.place / "dist" / "redolab-0.0.9.tar.gz").write_text("of an earlier build")
    done = clone.release("VERSION=0.2.0")
    assert done.returncode == 0, done.stderr
    assert "Nothing was published" in done.stdout
    assert "Attestations are not made here" in done.stdout
    assert "git push --atomic origin main v0.2.0" in done.stdout

    assert clone.git("rev-parse", "HEAD^") == before
    assert clone.git("log", "-1", "--format=%s %an <%ae>") == "Release 0.2.0 Somebody Else <else@example.org>"
    changed = clone.git("diff", "--name-only", "HEAD^").split()
    assert changed == ["CHANGELOG.md", "Cargo.lock", "Cargo.toml"]
    assert clone.git("status", "--porcelain") == ""
    assert clone.git("symbolic-ref", "--short", "HEAD") == "main"

    assert clone.git("cat-file", "-t", "v0.2.0") == "tag"
    assert clone.git("rev-parse", "v0.2.0^{commit}") == clone.git("rev-parse", "HEAD")
    message = clone.git("tag", "--list", "--format=%(contents)", "v0.2.0")
    assert message.startswith("Redolab 0.2.0\n\nFirst version.\n\n### Added\n")
    assert "more \\1 words" in message
    assert "Older" not in message

    date = datetime.now(UTC).date().isoformat()
    made = CHANGELOG.replace("## 0.1.0 (unreleased)", f"## Unreleased\n\n## 0.2.0 - {date}")
    assert clone.text("CHANGELOG.md") == made

    assert tomllib.loads(clone.text("Cargo.toml"))["workspace"]["package"]["version"] == "0.2.0"
    old, new = (
        tomllib.loads(text)["package"]
        for text in ((ROOT / "Cargo.lock").read_text(), clone.text("Cargo.lock"))
    )
    assert [{**it, "version": "0.2.0"} if "source" not in it else it for it in old] == new
    assert sum("source" not in it for it in new) == len(list((ROOT / "crates").glob("*/Cargo.toml")))

    packages = clone.place / "dist"
    wheel = "redolab-0.2.0-cp311-abi3-manylinux_2_28_x86_64.whl"
    assert {it.name for it in packages.iterdir()} == {"SHA256SUMS", wheel, "redolab-0.2.0.tar.gz"}
    assert (packages / wheel).read_text() == "wheel of 0.2.0\n"
    subprocess.run(("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"), cwd=packages, check=True)
    assert len((packages / "SHA256SUMS").read_text().splitlines()) == 2
    assert list((clone.place / "target").iterdir()) == []


def test_the_next_release_needs_a_later_version_and_something_to_say(clone: Clone) -> None:
    # The version of Cargo.toml is not released before its tag is there.
    assert clone.release("VERSION=0.1.0").returncode == 0
    there = clone.state()
    for version, said in (
        ("0.1.0", "the tag v0.1.0 exists"),
        ("0.0.10", "0.0.10 goes back"),
        ("0.2.0", "is empty"),
    ):
        done = clone.release(f"VERSION={version}")
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert "Nothing was changed." in done.stderr
    assert clone.state() == there
    (clone.place / "CHANGELOG.md").write_text(
        clone.text("CHANGELOG.md").replace("## Unreleased\n", "## Unreleased\n\n- News.\n")
    )
    clone.commit("News")
    assert clone.release("VERSION=0.10.0").returncode == 0
    # By numbers, not by letters.
    assert "0.9.0 goes back: this is 0.10.0" in clone.release("VERSION=0.9.0").stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "the version is missing"),
        (("VERSION=v0.2.0",), "not a version of three numbers"),
        (("VERSION=0.2",), "not a version of three numbers"),
        (("VERSION=0.02.0",), "not a version of three numbers"),
        (("VERSION=0.2.0rc1",), "not a version of three numbers"),
        (("VERSION=0.2.0 0.3.0",), "not a version of three numbers"),
        (("VERSION=0.0.9",), "goes back"),
    ],
)
def test_what_is_no_later_version_is_refused(clone: Clone, words: tuple[str, ...], said: str) -> None:
    there = clone.state()
    done = clone.release(*words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert clone.state() == there


def dirty(clone: Clone) -> None:
    (clone.place / "Cargo.toml").write_text(clone.text("Cargo.toml") + "\n")


def untracked(clone: Clone) -> None:
    (clone.place / "stray.py").write_text("")


def staged(clone: Clone) -> None:
    untracked(clone)
    clone.git("add", "stray.py")


def elsewhere(clone: Clone) -> None:
    clone.git("switch", "--quiet", "--create", "other")


def nowhere(clone: Clone) -> None:
    clone.git("switch", "--quiet", "--detach")


def tagged(clone: Clone) -> None:
    clone.git("tag", "v0.2.0")


def later_tag(clone: Clone) -> None:
    clone.git("tag", "v0.10.0")


def changelog(old: str, new: str) -> Callable[[Clone], None]:
    def change(clone: Clone) -> None:
        text = clone.text("CHANGELOG.md")
        assert old in text
        (clone.place / "CHANGELOG.md").write_text(text.replace(old, new))
        clone.commit("Change")

    return change


def dist(script: str) -> Callable[[Clone], None]:
    def change(clone: Clone) -> None:
        (clone.place / "dist").mkdir()
        (clone.place / "dist" / "redolab-0.1.0.tar.gz").write_text("of an earlier build")
        clone.dist_does(script)

    return change


def unsigned(clone: Clone) -> None:
    dist(DIST)(clone)
    clone.git("config", "user.signingkey", "ABCD")
    clone.git("config", "gpg.program", "false")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (dirty, "changes that are not committed"),
        (untracked, "changes that are not committed: ?? stray.py"),
        (staged, "changes that are not committed"),
        (elsewhere, "this is the branch other"),
        (nowhere, "no branch is checked out"),
        (tagged, "the tag v0.2.0 exists"),
        (later_tag, "goes back: this is 0.10.0"),
        (changelog("## 0.1.0 (unreleased)", "## 0.1.0 - 2026-02-02"), "is not unreleased"),
        (changelog("## 0.0.9 ", "## 0.2.0 "), "has a part for 0.2.0 already"),
        (changelog(SAID, "### Added\n"), "is empty"),
        (dist("#!/bin/sh\nexit 3\n"), "make dist ended with 3"),
        (dist("#!/bin/sh\nmkdir dist\n"), "but nothing"),
        (dist(DIST.replace(".tar.gz", ".zip")), "a wheel and a source archive of 0.2.0"),
        (dist(DIST.replace("dist/redolab-$version-", "dist/redolab-0.1.0-")), "redolab-0.1.0-"),
        (unsigned, "git tag ended with"),
    ],
)  # fmt: skip
def test_what_stands_against_it_leaves_everything_as_it_was(
    clone: Clone, change: Callable[[Clone], None], said: str
) -> None:
    change(clone)
    there = clone.state()
    done = clone.release("VERSION=0.2.0")
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Nothing was changed." in done.stderr
    assert clone.state() == there


@pytest.mark.parametrize(
    ("meanwhile", "said"),
    [
        ("git commit --quiet --allow-empty --message Meanwhile", "git merge ended with"),
        ("git switch --quiet --create other", "this is the branch other"),
        ("touch stray.py", "changes that are not committed"),
    ],
)
def test_what_happens_while_it_builds_is_seen(clone: Clone, meanwhile: str, said: str) -> None:
    clone.dist_does(f"{DIST}\ncd '{clone.place}' && {meanwhile}\n")
    done = clone.release("VERSION=0.2.0")
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert clone.git("tag") == ""
    assert not (clone.place / "dist").exists()
    assert tomllib.loads(clone.text("Cargo.toml"))["workspace"]["package"]["version"] != "0.2.0"


def test_an_interruption_leaves_everything_as_it_was(clone: Clone) -> None:
    clone.dist_does("#!/bin/sh\nkill -TERM $PPID\nexec sleep 60\n")
    there = clone.state()
    done = clone.release("VERSION=0.2.0")
    assert re.search("interrupted. Nothing was changed.", done.stderr)
    assert clone.state() == there

"""Makes a release of this commit, and publishes nothing: `make release VERSION=0.2.0`.

The version goes into Cargo.toml and Cargo.lock, CHANGELOG.md's unreleased part gets the version and the date,
both are committed and tagged, and dist/ gets the packages and their checksums. All of it is made in a clone,
and taken over at the end: what fails leaves this clone as it was. What comes then: docs/guide/release.md.

Exit code 0: it is made. 1: nothing was changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
BRANCH = "main"
PLACE = ROOT / "target" / "release-clone"
OUT = ROOT / "dist"
SUMS = "SHA256SUMS"
UNRELEASED = "## Unreleased"
Version = tuple[int, int, int]

_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", re.ASCII)
_HEADING = re.compile(r"^## .*$", re.MULTILINE)
# Variables of the outer make and of a hook, which would decide what the inner programs do.
_NOT_HANDED_ON = (
    "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL", "VERSION",
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
)  # fmt: skip


class ReleaseError(Exception):
    """What stands against the release, as a sentence that says what to do."""


def main(arguments: list[str]) -> int:
    """Make it, or say why not."""
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        _release(arguments[0] if len(arguments) == 1 else "")
    except ReleaseError as error:
        print(f"make release: {error} Nothing was changed.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("make release: interrupted. Nothing was changed.", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(PLACE, ignore_errors=True)
    return 0


def _release(text: str) -> None:
    version = read_version(text)
    _check_clone()
    _check_version(text, version)
    changelog = (ROOT / "CHANGELOG.md").read_text()
    notes = unreleased_part(changelog, text)
    commit = _commit_in_clone(text, changelog)
    packages = _build(text)
    sums = checksums(packages)
    (PLACE / "dist" / SUMS).write_text(sums)
    signed = _git("config", "--get", "user.signingkey", fails=True) != ""
    # The build took minutes, in which this clone may have become another.
    _check_clone()
    with ExitStack() as undo:
        _replace_packages([*packages, PLACE / "dist" / SUMS], undo)
        _git("fetch", "--quiet", "--no-tags", str(PLACE), "HEAD")
        _tag(text, commit, f"Redolab {text}\n\n{notes}", signed, undo)
        _git("merge", "--quiet", "--ff-only", commit)
        undo.pop_all()
    print(sums, end="")
    print(
        f"Made: commit {commit[:12]} and the {'signed' if signed else 'annotated'} tag v{text}; packages and "
        f"{SUMS} are in dist/. Nothing was published.\n"
        "Attestations are not made here: they need the identity of the workflow, which makes them.\n"
        f"To publish: git push --atomic origin {BRANCH} v{text}"
    )


def read_version(text: str) -> Version:
    """The numbers of a version.

    Raises:
        ReleaseError: it is not three numbers, which is what Cargo and Python packages write alike.
    """
    match = _VERSION.fullmatch(text)
    if match is None:
        given = f"{text!r} is not a version of three numbers." if text else "the version is missing."
        raise ReleaseError(f"{given} Give one: make release VERSION=0.2.0.")
    return int(match[1]), int(match[2]), int(match[3])


def unreleased_part(changelog: str, version: str) -> str:
    """What CHANGELOG.md says of the changes since the last release, without its heading.

    Raises:
        ReleaseError: there is none, it is empty, or the version has a part already.
    """
    headings = list(_HEADING.finditer(changelog))
    if any(re.search(rf"(?<![\d.]){re.escape(version)}(?![\d.])", it[0]) for it in headings[1:]):
        raise ReleaseError(f"CHANGELOG.md has a part for {version} already. Take the next version.")
    if not headings or "unreleased" not in headings[0][0].lower():
        raise ReleaseError(f"the first part of CHANGELOG.md is not unreleased. Begin it with {UNRELEASED!r}.")
    end = headings[1].start() if len(headings) > 1 else len(changelog)
    part = changelog[headings[0].end() : end].strip()
    if not any(line.strip() and not line.startswith("#") for line in part.splitlines()):
        raise ReleaseError("the unreleased part of CHANGELOG.md is empty. Say in it what changes for a user.")
    return part


def released(changelog: str, version: str, date: str) -> str:
    """CHANGELOG.md with its unreleased part as that of a version, and an empty unreleased part."""
    return _HEADING.sub(f"{UNRELEASED}\n\n## {version} - {date}", changelog, count=1)


def with_version(cargo: str, lock: str, version: str) -> tuple[str, str]:
    """Cargo.toml and Cargo.lock with another version of everything that is built here.

    Raises:
        ReleaseError: they do not have the form that is known.
    """
    old = tomllib.loads(cargo)["workspace"]["package"]["version"]
    new_cargo, places = re.subn(
        rf'(^\[workspace\.package\]\n(?:[^\[\n].*\n)*?version = ")'
        rf'{re.escape(old)}(")',
        rf"\g<1>{version}\g<2>",
        cargo,
        flags=re.MULTILINE,
    )
    own = [it["name"] for it in tomllib.loads(lock)["package"] if "source" not in it and it["version"] == old]
    new_lock = lock
    for name in own:
        new_lock = new_lock.replace(
            f'[[package]]\nname = "{name}"\nversion = "{old}"\n',
            f'[[package]]\nname = "{name}"\nversion = "{version}"\n',
        )
    now = [it["version"] for it in tomllib.loads(new_lock)["package"] if it["name"] in own]
    if places != 1 or not own or set(now) != {version}:
        raise ReleaseError(
            "the version could not be written into Cargo.toml and Cargo.lock: their form is new."
        )
    return new_cargo, new_lock


def checksums(packages: Iterable[Path]) -> str:
    """A line for each file, as `sha256sum --check` reads it."""
    return "".join(f"{hashlib.sha256(it.read_bytes()).hexdigest()}  {it.name}\n" for it in packages)


def _check_clone() -> None:
    branch = _git("symbolic-ref", "--quiet", "--short", "HEAD", fails=True)
    if branch != BRANCH:
        where = f"this is the branch {branch}" if branch else "no branch is checked out"
        raise ReleaseError(f"{where}, and releases are made from {BRANCH}. git switch {BRANCH}.")
    changed = _git("status", "--porcelain")
    if changed:
        first = changed.splitlines()[0].strip()
        raise ReleaseError(f"there are changes that are not committed: {first}. Commit or remove them.")


def _check_version(text: str, version: Version) -> None:
    tags = _git("tag", "--list", "v*").split()
    if f"v{text}" in tags:
        raise ReleaseError(f"the tag v{text} exists. Take the next version.")
    there = [read_version(tag[1:]) for tag in tags if _VERSION.fullmatch(tag[1:])]
    now = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    # That of Cargo.toml itself is not released until its tag is there.
    newest = max([read_version(now), *there])
    if version < newest:
        raise ReleaseError(
            f"{text} goes back: this is {'.'.join(map(str, newest))} already. Take a later version."
        )


def _commit_in_clone(text: str, changelog: str) -> str:
    """Clone this commit, and commit the release there; the new commit."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.parent.mkdir(exist_ok=True)
    _git("clone", "--quiet", "--single-branch", "--branch", BRANCH, str(ROOT), str(PLACE))
    cargo, lock = (PLACE / "Cargo.toml").read_text(), (PLACE / "Cargo.lock").read_text()
    new_cargo, new_lock = with_version(cargo, lock, text)
    (PLACE / "Cargo.toml").write_text(new_cargo)
    (PLACE / "Cargo.lock").write_text(new_lock)
    date = datetime.now(UTC).date().isoformat()
    (PLACE / "CHANGELOG.md").write_text(released(changelog, text, date))
    _git("-C", str(PLACE), "commit", "--quiet", "--all", "--message", f"Release {text}", env=_identity())
    return _git("-C", str(PLACE), "rev-parse", "HEAD")


def _build(text: str) -> list[Path]:
    """Build the packages of that commit."""
    try:
        code = subprocess.run(("make", "dist"), cwd=PLACE, env=_environment(), check=False).returncode
    except OSError as error:
        raise ReleaseError(f"make cannot be run: {error.strerror}.") from error
    if code:
        raise ReleaseError(f"make dist ended with {code}. Its last lines say why.")
    files = sorted((PLACE / "dist").glob("*"))
    packages = [it for it in files if it.name.endswith((".whl", ".tar.gz"))]
    archives = [it for it in packages if it.name == f"redolab-{text}.tar.gz"]
    strangers = [
        it.name for it in packages if it not in archives and not it.name.startswith(f"redolab-{text}-")
    ]
    if strangers or len(archives) != 1 or len(packages) < 2:
        names = ", ".join(it.name for it in files) or "nothing"
        raise ReleaseError(f"make dist did not make a wheel and a source archive of {text}, but {names}.")
    return packages


def _replace_packages(packages: Iterable[Path], undo: ExitStack) -> None:
    """Put them into dist/, in place of what an earlier build left there."""
    before = PLACE / "dist-before"
    if OUT.exists():
        OUT.rename(before)
        undo.callback(before.rename, OUT)
    undo.callback(shutil.rmtree, OUT, ignore_errors=True)
    OUT.mkdir()
    for package in packages:
        package.rename(OUT / package.name)


def _tag(text: str, commit: str, message: str, signed: bool, undo: ExitStack) -> None:
    file = PLACE / "message.txt"
    file.write_text(message + "\n")
    how = "--sign" if signed else "--annotate"
    # Headings of the notes begin as comments of git do.
    _git("tag", how, "--cleanup=whitespace", "--file", str(file), f"v{text}", commit)
    undo.callback(_git, "tag", "--delete", f"v{text}")


def _identity() -> dict[str, str]:
    """Who commits, as this clone is configured: the other one has its files alone."""
    found = {}
    for role in ("AUTHOR", "COMMITTER"):
        match = re.fullmatch(r"(.*) <(.*)> \d+ [+-]\d+", _git("var", f"GIT_{role}_IDENT"))
        assert match is not None
        found |= {f"GIT_{role}_NAME": match[1], f"GIT_{role}_EMAIL": match[2]}
    return found


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON}


def _git(*arguments: str, fails: bool = False, env: Mapping[str, str] | None = None) -> str:
    """What git prints; empty where it may fail and does."""
    try:
        done = subprocess.run(
            ("git", *arguments),
            cwd=ROOT,
            env=_environment() | dict(env or {}),
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise ReleaseError(f"git cannot be run: {error.strerror}.") from error
    if done.returncode and not fails:
        why = " ".join((done.stderr or done.stdout).split()).rstrip(".")
        raise ReleaseError(f"git {arguments[0]} ended with {done.returncode}: {why}.")
    return "" if done.returncode else done.stdout.strip()


def _interrupted(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

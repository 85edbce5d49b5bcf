"""Builds and checks what is published, into dist/: `make dist`.

Everything is built from the commit that is checked out, in a folder of its own, without anything that an
earlier build left. How, and what was run of it: docs/reference/packages.md.

Exit code 0: what could be built passed every check, and a sentence names what could not be built.
1: something is wrong.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import bundled
import neutral
import package_checks

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "target" / "dist"
SOURCE = PLACE / "source"
OUT = ROOT / "dist"
TOOLS = Path(sys.prefix) / "bin"
RUSTC = os.environ.get("RUSTC", "rustc")
LIBC = "manylinux_2_28"
TARGETS = {"x86_64-unknown-linux-gnu": "x86-64", "aarch64-unknown-linux-gnu": "arm64"}
# A setting of these would be built in, and another machine would build something else.
NOT_HANDED_ON = (
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "RUSTFLAGS",
    "MAKEFLAGS",
    "CARGO_BUILD_",
    "CARGO_PROFILE_",
)


class DistError(Exception):
    """What stopped the build, as a sentence."""


def main() -> int:
    """Build, check, say what was made."""
    try:
        commit, moment = _export()
        environment = _environment(moment)
        built, missing = [], []
        for target, name in TARGETS.items():
            if _has_standard_library(target):
                _run(*_maturin("build"), *_wheel(target), environment=environment)
                built.append(name)
            else:
                missing.append(_how_to_get(target, name))
        for wheel in OUT.glob("*.whl"):
            neutral.neutralise(wheel, SOURCE, int(moment))
        _run(str(SOURCE / "scripts" / "pure-wheel"), str(OUT), environment=environment)
        _run(*_maturin("sdist"), environment=environment)
        _check(environment)
    except DistError as error:
        print(f"make dist: {error}", file=sys.stderr)
        return 1
    for path in sorted(OUT.iterdir()):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size:,} bytes")
    compiler = _output(RUSTC, "--version")
    print(
        f"Built from commit {commit[:12]} by {compiler}: {', '.join(built)}, the wheel for any machine, "
        "and the source archive."
    )
    for sentence in missing:
        print(sentence, file=sys.stderr)
    return 0


def _export() -> tuple[str, str]:
    """The commit's files in a folder of their own; the commit, and the second it was made."""
    try:
        commit = _output("git", "rev-parse", "HEAD")
        moment = _output("git", "log", "-1", "--format=%ct")
    except DistError as error:
        raise DistError(f"packages are built from a commit, so from a clone with git: {error}") from error
    if _output("git", "status", "--porcelain", "--untracked-files=no"):
        print(f"Changes that are not committed are left out: this is built from commit {commit[:12]}.")
    shutil.rmtree(PLACE, ignore_errors=True)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    archive = subprocess.run(("git", "archive", commit), cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(SOURCE, filter="data")
    (PLACE / "bundled.cdx.json").write_text(bundled.sbom(SOURCE, moment=int(moment)))
    return commit, moment


def _environment(moment: str) -> dict[str, str]:
    """What the build may know of its surroundings: no path of this machine, and no time but the commit's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_HANDED_ON)}
    registries = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "registry" / "src"
    _run("cargo", "fetch", "--locked", "--quiet", environment=kept)
    renamed = {SOURCE: "redolab", **dict.fromkeys(sorted(registries.glob("*")), "dependencies")}
    return kept | {
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(
            f"--remap-path-prefix={old}={new}" for old, new in renamed.items()
        ),
        "CFLAGS": " ".join(f"-ffile-prefix-map={old}={new}" for old, new in renamed.items()),
        "CARGO_TARGET_DIR": str(PLACE / "build"),
        "PATH": f"{TOOLS}:{os.environ['PATH']}",
        "SOURCE_DATE_EPOCH": moment,
    }


def _maturin(command: str) -> Sequence[str]:
    return (str(TOOLS / "maturin"), command, "--out", str(OUT))


def _wheel(target: str) -> Sequence[str]:
    sbom = ("--sbom-include", str(PLACE / "bundled.cdx.json"))
    return ("--release", "--locked", "--zig", "--compatibility", LIBC, "--target", target, *sbom)


def _has_standard_library(target: str) -> bool:
    place = Path(_output(RUSTC, "--print", "target-libdir", "--target", target))
    return any(place.glob("libstd-*.rlib"))


def _how_to_get(target: str, name: str) -> str:
    return (
        f"NOT built: the wheel for {name}. This Rust compiler has no standard library for {target}. "
        f"With rustup: rustup target add {target}. With Debian's compiler: docs/reference/packages.md."
    )


def _check(environment: Mapping[str, str]) -> None:
    """Ask the two checkers and our own; raises `DistError` with everything that they found."""
    files = sorted(OUT.iterdir())
    wheels = [path for path in files if path.suffix == ".whl"]
    _run(str(TOOLS / "twine"), "check", "--strict", *map(str, files), environment=environment)
    wrong = []
    for wheel in wheels:
        if not package_checks.is_for_any_machine(wheel):
            said = " ".join(_output(str(TOOLS / "auditwheel"), "show", str(wheel)).split())
            wrong += package_checks.policy_faults(wheel, said, LIBC)
        wrong += package_checks.wheel_faults(wheel, build_paths=[ROOT, Path.home(), _cargo_home()])
    if wrong:
        raise DistError("\n".join(["what was built is not fit to publish:", *wrong]))
    print(f"auditwheel, twine and Redolab's own checks: nothing wrong in {len(files)} files.")


def _cargo_home() -> Path:
    return Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError as error:
        raise DistError(f"{command[0]} cannot be run: {error.strerror}") from error
    if done.returncode:
        raise DistError(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip() or done.stdout.strip()}"
        )
    return done.stdout.strip()


def _run(*command: str, environment: Mapping[str, str]) -> None:
    try:
        code = subprocess.run(command, cwd=SOURCE, env=dict(environment), check=False).returncode
    except OSError as error:
        raise DistError(f"{command[0]} cannot be run: {error.strerror}") from error
    if code:
        raise DistError(f"{' '.join(command)} ended with {code}")


if __name__ == "__main__":
    sys.exit(main())

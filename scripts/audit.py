"""Licences, sources and known faults of everything that is locked: `make audit`.

Exit code 0: everything was checked and nothing is wrong. 1: something is wrong. 4: nothing is wrong in what
was checked, and not everything could be.
"""

from __future__ import annotations

import enum
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent
_DENY = "0.20.2"
LOCKS = ("locks/dev.txt", "locks/dist.txt", "locks/fuzz.txt", "locks/tools.txt")
# Old enough to have known faults. An answer that knows none of them comes from no database of faults.
KNOWN_FAULTY = "jinja2==2.10"
NOT_CHECKED = "The advisory database could not be reached, so known faults were NOT checked."


class Outcome(enum.IntEnum):
    """How a check ended; the value is the exit code."""

    FINE = 0
    WRONG = 1
    NOT_CHECKED = 4


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """What is wrong counts before what was not checked, and both before what is fine."""
    return next(one for one in (Outcome.WRONG, Outcome.NOT_CHECKED, Outcome.FINE) if one in outcomes)


def judged(known_faulty: Mapping[str, Any] | None, locked: Mapping[str, Any] | None) -> Outcome:
    """What two answers of pip-audit show, `None` where there was none.

    A package that it could not look up is skipped there and counts as fine; an index that keeps no faults
    answers that there are none. Neither is a check.
    """
    if known_faulty is None or not faults(known_faulty):
        return Outcome.NOT_CHECKED
    if locked is None:
        return Outcome.NOT_CHECKED
    if faults(locked):
        return Outcome.WRONG
    packages = locked["dependencies"]
    looked_up = [package for package in packages if "vulns" in package and "skip_reason" not in package]
    return Outcome.FINE if packages and looked_up == packages else Outcome.NOT_CHECKED


def faults(answer: Mapping[str, Any]) -> list[str]:
    """Every known fault in an answer of pip-audit: the package, its version, the fault."""
    return [
        f"{package['name']} {package['version']}: {fault['id']}"
        for package in answer["dependencies"]
        for fault in package.get("vulns", ())
    ]


def _rust() -> list[Outcome]:
    """What cargo-deny says of Cargo.lock by deny.toml; the first part needs no database."""
    place = _ROOT / "target" / "tools" / f"cargo-deny-{_DENY}"
    program = place / "bin" / "cargo-deny"
    if not program.exists():
        print(f"Building cargo-deny {_DENY}, a few minutes the first time.", flush=True)
        if not _succeeds("cargo", "install", "--quiet", "--locked", "--root", place, f"cargo-deny@{_DENY}"):
            print("cargo-deny could not be built, so the Rust packages were NOT checked. It needs Rust 1.88.")
            return [Outcome.NOT_CHECKED]
    if not _succeeds("cargo", "fetch", "--quiet", "--locked"):
        print("What Cargo.lock names could not be downloaded, so the Rust packages were NOT checked.")
        return [Outcome.NOT_CHECKED]
    deny = (program, "--locked", "--log-level", "warn")
    fine = _succeeds(*deny, "check", "--hide-inclusion-graph", "licenses", "bans", "sources")
    outcomes = [Outcome.FINE if fine else Outcome.WRONG]
    if not _succeeds(*deny, "fetch", "db", quiet=True):
        print(f"Rust packages: {NOT_CHECKED}")
        return [*outcomes, Outcome.NOT_CHECKED]
    fine = _succeeds(*deny, "check", "--disable-fetch", "--hide-inclusion-graph", "advisories")
    return [*outcomes, Outcome.FINE if fine else Outcome.WRONG]


def _python() -> list[Outcome]:
    """What pip-audit says of each lock."""
    if not _succeeds(_ROOT / "scripts" / "locked-tools", quiet=True):
        print("pip-audit could not be installed, so the Python packages were NOT checked.")
        return [Outcome.NOT_CHECKED]
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        (place / "faulty.txt").write_text(KNOWN_FAULTY)
        known_faulty = _answer(place, place / "faulty.txt", "--no-deps")
        outcomes = []
        for lock in LOCKS:
            locked = _answer(place, _ROOT / lock, "--require-hashes") if known_faulty else None
            outcomes.append(judged(known_faulty, locked))
            for fault in faults(locked) if locked else ():
                print(f"{lock}: {fault}")
    if Outcome.NOT_CHECKED in outcomes:
        print(f"Python packages: {NOT_CHECKED}")
    return outcomes


def _answer(place: Path, requirements: Path, how: str) -> dict[str, Any] | None:
    """pip-audit's answer, or `None` where it has none: then it wrote why to stderr, at length."""
    output = place / "answer.json"
    output.unlink(missing_ok=True)
    program = _ROOT / "target" / "tools" / "python" / "bin" / "pip-audit"
    arguments = ("--disable-pip", how, "--progress-spinner", "off", "--format", "json")
    _succeeds(program, *arguments, "--output", output, "--requirement", requirements, quiet=True)
    try:
        answer = json.loads(output.read_bytes())
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def _succeeds(*command: str | Path, quiet: bool = False) -> bool:
    """Whether a program is there and ends with 0."""
    try:
        return subprocess.run(command, cwd=_ROOT, capture_output=quiet, check=False).returncode == 0
    except OSError as error:
        print(f"{command[0]} cannot be run: {error.strerror}.")
        return False


if __name__ == "__main__":
    sys.exit(exit_code([*_rust(), *_python()]))

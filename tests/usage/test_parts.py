"""A command that lacks a part says what is missing, and the extra that installs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from redolab.parts import ORACLE, PARTS, SERVERS, Part
from tests.servers import Ended

NOWHERE = "oracle://u@127.0.0.1:1/none"
COMMANDS = {
    ("run", "commit-mode", "--quick"): SERVERS,
    ("run", "commit-mode", "--quick", "--engine", NOWHERE): ORACLE,
    ("profile", NOWHERE): ORACLE,
    ("watch", NOWHERE): ORACLE,
    ("doctor", "commit-mode", "--engine", "embedded"): SERVERS,
    ("doctor", "commit-mode", "--engine", NOWHERE): ORACLE,
}


def without_parts(place: Path, *arguments: str) -> Ended:
    """A command where no part is installed."""
    packages = ",".join(part.package for part in PARTS)
    done = subprocess.run(
        [sys.executable, "-m", "tests.without", packages, *arguments],
        capture_output=True, text=True, check=False, cwd=place, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(("arguments", "part"), COMMANDS.items(), ids=lambda value: str(value)[:60])
def test_a_command_names_the_extra_that_it_lacks(
    arguments: tuple[str, ...], part: Part, tmp_path: Path
) -> None:
    done = without_parts(tmp_path, *arguments)
    assert done.code == 3
    assert f"{part.title} is not installed for this Python ({sys.executable})." in done.complaint
    assert f"Install it: pip install 'redolab[{part.extra}]'." in done.complaint
    assert list(tmp_path.iterdir()) == [], "nothing was begun"


def test_doctor_names_every_part_that_is_missing(tmp_path: Path) -> None:
    found = json.loads(without_parts(tmp_path, "doctor", "--json").out)
    missing = [check["costs"] for check in found["checks"] if check["state"] == "missing"]
    for part in PARTS:
        assert sum(part.command in text for text in missing) == 1, part

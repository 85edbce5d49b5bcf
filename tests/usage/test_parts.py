"""A command that lacks a part says what is missing, and the extra that installs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from redolab.parts import ORACLE, PARTS, SERVERS, Part
from tests.docs.pages import ROOT
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


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[Ended]:
    """How each command ended where no part is installed, and `doctor --json` last."""
    place = tmp_path_factory.mktemp("parts")
    commands = (*COMMANDS, ("doctor", "--json"))
    words = [word for command in commands for word in ("+", *command)][1:]
    packages = ",".join(part.package for part in PARTS)
    done = subprocess.run(
        [sys.executable, "-m", "tests.without", packages, *words],
        capture_output=True, text=True, check=False, cwd=place, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert list(place.iterdir()) == [], "nothing was begun"
    parts = re.split(r"^ended (\d+)\n", done.stderr, flags=re.MULTILINE)
    return [Ended(int(code), done.stdout, text) for text, code in zip(parts[::2], parts[1::2], strict=False)]


@pytest.mark.parametrize(("number", "part"), list(enumerate(COMMANDS.values())))
def test_a_command_names_the_extra_that_it_lacks(number: int, part: Part, said: list[Ended]) -> None:
    done = said[number]
    assert done.code == 3
    assert f"{part.title} is not installed for this Python ({sys.executable})." in done.complaint
    assert f"Install it: pip install 'redolab[{part.extra}]'." in done.complaint


def test_doctor_names_every_part_that_is_missing(said: list[Ended]) -> None:
    assert len(said) == len(COMMANDS) + 1
    out = said[-1].out
    found = json.loads(out[out.index('{\n "format"') :])
    missing = [check["costs"] for check in found["checks"] if check["state"] == "missing"]
    for part in PARTS:
        assert sum(part.command in text for text in missing) == 1, part

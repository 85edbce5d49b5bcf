"""`redolab --help` is quick: nothing that is slow to import, and no driver, comes with the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import redolab
from tests.imports import drivers

SLOW = {
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "statsmodels",
    "sqlite3",
    "textual",
    *drivers(Path(redolab.__file__).parent),
}


def imported(code: str) -> list[str]:
    code = f"import sys; from redolab.cli import load; {code}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    "command", ["pass", *(f"load({name!r})" for name in ("run", "profile", "watch", "forecast"))]
)
def test_the_command_line_imports_no_driver_and_nothing_slow(command: str) -> None:
    assert SLOW.isdisjoint(name.partition(".")[0] for name in imported(command))


def test_no_command_and_no_engine_comes_with_the_list_of_commands() -> None:
    ours = {name.partition(".")[2] for name in imported("pass") if name.startswith("redolab.")}
    assert "cli" in ours
    assert {name for name in ours if name.startswith(("engine", "experiment", "commands."))} == {
        "commands.options",
        "commands.process",
    }

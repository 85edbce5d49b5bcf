"""What is put back is decided in one place, and nothing counts as restored that was not read back there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import redolab

ROOT = Path(redolab.__file__).parent


def places(wanted: str) -> set[str]:
    """The modules whose code calls or makes something of this name."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and wanted in (names := list(_names(node.func))) and names[-1] == wanted
    }


def _names(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        yield from _names(node.value)
        yield node.attr
    elif isinstance(node, ast.Name):
        yield node.id


def test_one_place_says_what_was_restored() -> None:
    assert places("PutBack") == {"engine/server/putting_back.py"}
    assert places("restored") == {"engine/server/hold.py"}
    words = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "engine").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value == "restore"
    }
    assert words == {"engine/mariadb/parameters.py", "engine/postgres/parameters/parameters.py"}


def test_every_database_is_put_back_by_the_same_steps() -> None:
    assert places("put_back") == {
        "engine/server/guard_database.py",  # of a charge
        "engine/server/hold.py",  # of a hold
        "engine/server/recovery.py",
    }
    assert places("finish") >= {
        "engine/mariadb/hold.py",
        "engine/mariadb/own/guard_database.py",
        "engine/postgres/hold.py",
        "engine/postgres/own/guard_database.py",
        "engine/server/recovery.py",  # of a run that is gone
    }


def test_one_place_alone_changes_a_server() -> None:
    """What changes a whole server is called by what keeps it in memory first, and to put it back."""
    assert places("alter_system") == {
        "engine/postgres/parameters/parameters.py",
        "engine/postgres/parameters/system.py",
    }
    assert places("set_global") == {"engine/mariadb/own/recovery.py", "engine/mariadb/parameters.py"}

"""What stands behind the trunk of every report, counted from the source."""

from __future__ import annotations

import ast
from pathlib import Path

import redolab

_ROOT = Path(redolab.__file__).parent
_MOST = 25


def _modules() -> dict[str, Path]:
    found = {}
    for path in _ROOT.rglob("*.py"):
        parts = ("redolab", *path.relative_to(_ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imported(path: Path, modules: dict[str, Path]) -> set[str]:
    """The redolab modules that a file imports anywhere in it, inside functions too."""
    named = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            named += [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inner = [f"{node.module}.{item.name}" for item in node.names]
            named += [item if item in modules else node.module for item in inner]
    return {name for name in named if name in modules}


def _behind(name: str) -> set[str]:
    modules = _modules()
    seen, waiting = {name}, [name]
    while waiting:
        new = _imported(modules[waiting.pop()], modules) - seen
        seen |= new
        waiting += new
    return seen - {name}


def test_the_trunk_stands_on_few_modules_and_on_no_forecast() -> None:
    behind = _behind("redolab.analysis.compared")
    assert len(behind) <= _MOST, sorted(behind)
    assert not [name for name in behind if name.split(".")[1] in ("forecast", "experiment", "files")]


def test_a_live_profile_knows_no_forecast() -> None:
    behind = _behind("redolab.analysis.live.profile")
    assert not [name for name in behind if name.split(".")[1] in ("forecast", "experiment")]


def test_an_import_inside_a_function_counts() -> None:
    assert "redolab.experiment" in _behind("redolab.commands.run")
    assert "redolab.report.page.html" in _behind("redolab.cli")

"""Who imports whom in a package, and what its databases may not: for tests, of a copy of the package too."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

Graph = Mapping[str, set[str]]

_NO_DRIVERS = {"numpy", *sys.stdlib_module_names}
"""What a database's room may import from elsewhere that others import too."""


def python_modules(root: Path) -> dict[str, Path]:
    """Every module below `root` by its dotted name."""
    names = {}
    for path in root.rglob("*.py"):
        parts = [root.name, *path.relative_to(root).with_suffix("").parts]
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


@cache
def python_imports(root: Path) -> Graph:
    """Which module imports which, inside functions too; other packages than `root` by their first name."""
    modules = python_modules(root)

    def wanted(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, "a relative import, which is not followed here"
            assert not node.level, f"a relative import, which is not followed here: {node.module}"
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                yield inside if inside in modules else node.module

    def known(name: str) -> str:
        return name if name in modules else name.partition(".")[0]

    return {
        name: {
            known(other)
            for node in ast.walk(ast.parse(path.read_text()))
            for other in wanted(node)
            # What is below `root` and no module of Python's is compiled.
            if other in modules or not other.startswith(f"{root.name}.")
        }
        for name, path in modules.items()
    }


def reached(graph: Graph, start: str) -> set[str]:
    """Everything that a module imports, and what that imports."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def databases(root: Path) -> set[str]:
    """The rooms that offer engines, and the fake engine's, by their dotted names."""
    offering = (path for path in root.glob("engine/*/__init__.py") if "\nOFFERS" in path.read_text())
    return {f"{root.name}.engine.{name}" for name in ("fake", *(path.parent.name for path in offering))}


def drivers(root: Path) -> dict[str, str]:
    """What the databases' rooms import from elsewhere for themselves, each with the room whose it is."""
    rooms = databases(root)
    return {
        other: room
        for name, imported in python_imports(root).items()
        for room in rooms
        if is_below(name, room)
        for other in imported
        if not is_below(other, root.name) and other not in _NO_DRIVERS
    }


def trespasses(root: Path) -> list[str]:
    """Who reaches, even through others, a database that is another one's, or a driver that is not its own."""
    graph, rooms = python_imports(root), databases(root)
    homes = drivers(root)
    found = []
    for name in graph:
        home = next((room for room in rooms if is_below(name, room)), None)
        for other in reached(graph, name):
            room = next((room for room in rooms if is_below(other, room)), homes.get(other))
            if room not in (None, home) and (home is not None or other in homes):
                found.append(f"{name} reaches {other}")
    return sorted(found)


def is_below(name: str, room: str) -> bool:
    """Whether a module is that room or in it."""
    return name == room or name.startswith(f"{room}.")

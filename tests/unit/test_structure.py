"""The rooms stay small, and nothing in them goes in circles."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import redolab
from redolab import engine
from tests.imports import Graph, databases, drivers, python_imports, python_modules, reached, trespasses

PACKAGE = Path(redolab.__file__).parent
CRATES = PACKAGE.parents[1] / "crates"
SOURCES = [*PACKAGE.rglob("*.py"), *CRATES.glob("*/src/**/*.rs")]
MOST_LINES = 400
MOST_MODULES = 20
MOST_BEHIND_THE_TRUNK = 27
SIMULATOR = "crates/redolab-sim/src/parameters.rs"
CALIBRATION = "crates/redolab-forecast/src/costs/calibration.rs"
COSTS = "crates/redolab-forecast/src/costs/needs.rs"
# Class names that still mean two things, and no further ones.
TWICE = {"Account", "Found", "Measure", "Snapshot"}


def rust_modules(source: Path) -> dict[str, Path]:
    """Every module of a crate by its path from the crate on; `crate` is lib.rs."""
    names = {}
    for path in source.rglob("*.rs"):
        parts = ["crate", *path.relative_to(source).with_suffix("").parts]
        names["::".join(parts[:-1] if parts[-1] in ("lib", "mod", "main") else parts)] = path
    return names


def rust_imports(source: Path) -> Graph:
    """Which module names which. A module that declares others and hands their names on needs none of them."""
    modules = rust_modules(source)
    texts = {name: without_tests(path.read_text()) for name, path in modules.items()}
    # `pub use a::{b, c}` in a declaring module says where a name is really defined.
    handed_on: dict[str, dict[str, str]] = {name: {} for name in modules}
    for name, text in texts.items():
        for path in used_paths(r"pub(?:\(\w+\))? use ", text):
            target = deepest(path, name, modules)
            if target is not None:
                handed_on[name][path.rpartition("::")[2]] = target
    found: dict[str, set[str]] = {name: set() for name in modules}
    for name, text in texts.items():
        inside = [other.rpartition("::")[2] for other in modules if other.rpartition("::")[0] == name]
        named = re.compile(rf"(?<![\w:])(?:{'|'.join(['crate', 'super', 'self', *inside])})(?:::\w+)+")
        own = re.sub(r"pub(?:\(\w+\))? use [^;]+;", "", text)
        paths = [*used_paths(r"\buse ", own), *named.findall(own)]
        for path in paths:
            target = deepest(path, name, modules)
            if target is None:
                continue
            last = path.rpartition("::")[2]
            found[name].add(handed_on[target].get(last, target))
        found[name].discard(name)
    return found


def without_tests(text: str) -> str:
    """A module without comments and without the tests at its end, which may name everything in it."""
    return re.sub(r"//[^\n]*", "", re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", text)[0])


def used_paths(keyword: str, text: str) -> Iterator[str]:
    """The paths of `use` declarations, their braces written out."""
    for tree in re.findall(keyword + r"([^;]+);", text):
        yield from written_out("".join(re.sub(r"\bas\s+\w+", "", tree).split()))


def written_out(tree: str) -> Iterator[str]:
    """`a::{b, c::{d}}` as `a::b` and `a::c::d`."""
    before, brace, inside = tree.partition("{")
    if not brace:
        yield tree
        return
    depth, item = 0, ""
    for letter in inside[: inside.rindex("}")] + ",":
        if letter == "," and depth == 0:
            yield from written_out(before + item)
            item = ""
            continue
        depth += (letter == "{") - (letter == "}")
        item += letter


def deepest(path: str, here: str, modules: Mapping[str, Path]) -> str | None:
    """The module of the same crate in which the path ends; None for another crate's."""
    parts = path.split("::")
    place = here.split("::")
    if parts[0] == "crate":
        place, parts = ["crate"], parts[1:]
    elif parts[0] == "self":
        parts = parts[1:]
    elif parts[0] != "super" and "::".join([*place, parts[0]]) not in modules:
        return None
    while parts and parts[0] == "super":
        place, parts = place[:-1], parts[1:]
    if not place:
        return None
    for part in parts:
        if "::".join([*place, part]) not in modules:
            break
        place = [*place, part]
    return "::".join(place)


def circle(graph: Graph) -> list[str]:
    """A circle of the graph, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_file_is_long() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in SOURCES}
    assert len(lines) > 300
    assert {str(path): length for path, length in lines.items() if length > MOST_LINES} == {}


def test_no_room_is_crowded() -> None:
    rooms: dict[Path, int] = {}
    for path in SOURCES:
        rooms[path.parent] = rooms.get(path.parent, 0) + (path.name not in ("__init__.py", "mod.rs"))
    assert {str(room): size for room, size in rooms.items() if size > MOST_MODULES} == {}


def test_python_imports_go_in_no_circle() -> None:
    graph = python_imports(PACKAGE)
    assert sum(map(len, graph.values())) > 1_000
    assert circle(graph) == []


def test_what_is_beside_the_package_imports_what_there_is() -> None:
    modules = python_modules(PACKAGE)
    imported = {
        (path.name, f"{node.module}.{alias.name}")
        for room in ("benches", "docs", "scripts")
        for path in (PACKAGE.parents[1] / room).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "redolab"
        for alias in node.names
    }
    assert len(imported) > 50

    def is_there(name: str) -> bool:
        module, _, inside = name.rpartition(".")
        return name in modules or hasattr(importlib.import_module(module), inside)

    missing = {(path, name) for path, name in imported if name.rpartition(".")[0] not in modules}
    assert missing == set()
    assert {(path, name) for path, name in imported if not is_there(name)} == set()


@pytest.mark.parametrize("crate", sorted(path.name for path in CRATES.iterdir() if (path / "src").is_dir()))
def test_rust_modules_go_in_no_circle(crate: str) -> None:
    assert circle(rust_imports(CRATES / crate / "src")) == []


@pytest.mark.parametrize("crate", ["redolab-forecast", "redolab-sim"])
def test_what_a_page_can_run_asks_nothing_of_a_machine(crate: str) -> None:
    asked = re.compile(r"std::(?:env|fs|io|net|process|thread|time)\b")
    texts = {path: without_tests(path.read_text()) for path in (CRATES / crate / "src").rglob("*.rs")}
    assert len(texts) > 10
    assert [str(path) for path, text in texts.items() if asked.search(text)] == []
    manifest = tomllib.loads((CRATES / crate / "Cargo.toml").read_text())
    assert manifest["dependencies"].keys() <= {"libm", "rand_xoshiro", "redolab-sim"}


def test_circles_are_found(tmp_path: Path) -> None:
    package, source = tmp_path / "made", tmp_path / "src"
    (package / "room").mkdir(parents=True)
    for name, text in {
        "__init__.py": "", "room/__init__.py": "", "a.py": "def f():\n    from made.room import b\n",
        "room/b.py": "import made.a\n",
    }.items():  # fmt: skip
        (package / name).write_text(text)
    assert set(circle(python_imports(package))) == {"made.a", "made.room.b"}
    (source / "room").mkdir(parents=True)
    for name, text in {
        "lib.rs": "mod a;\nmod room;\npub use room::{inner::Deep, Other};\n",
        "a.rs": "use crate::room::Deep; // use crate::nothing;\npub struct A;\n",
        "room/mod.rs": "pub mod inner;\npub use inner::Deep;\npub struct Other;\n",
        "room/inner.rs": "use std::io;\nuse crate::{a::A};\npub struct Deep(A);\n",
    }.items():
        (source / name).write_text(text)
    graph = rust_imports(source)
    assert graph["crate::a"] == {"crate::room::inner"}
    assert set(circle(graph)) == {"crate::a", "crate::room::inner"}


def test_little_stands_behind_what_every_run_of_samples_has_in_common() -> None:
    graph = python_imports(PACKAGE)
    behind = reached(graph, "redolab.analysis.compared") & graph.keys()
    assert not [name for name in behind if name.startswith(("redolab.forecast", "redolab.engine"))]
    assert len(behind) <= MOST_BEHIND_THE_TRUNK, sorted(behind)


def test_a_driver_stays_at_home_and_databases_apart() -> None:
    assert databases(PACKAGE) == {f"redolab.engine.{room}" for room in ("fake", *engine._ROOMS)}
    # One that is only watched has an observer and no engine.
    made = {
        path.parent.name for kind in ("engine.py", "observer") for path in PACKAGE.glob(f"engine/*/{kind}")
    }
    assert made == set(engine._ROOMS)
    by_url = {offer.open.__module__ for offer in engine.OFFERS if offer.schemes}
    assert set(drivers(PACKAGE).values()) == by_url
    assert trespasses(PACKAGE) == []


@pytest.mark.parametrize(
    ("place", "text", "found"),
    [
        ("measure.py", "import odbc", "made.measure reaches odbc"),
        ("measure.py", "def f():\n    from made.engine.a.door import x", "made.measure reaches odbc"),
        ("measure.py", "if TYPE_CHECKING:\n    from odbc.errors import Error", "made.measure reaches odbc"),
        ("engine/base.py", "from made.measure import x", None),
        ("engine/__init__.py", "from made.engine import a", None),
        ("engine/b/engine.py", "import odbc", "made.engine.b.engine reaches odbc"),
        (
            "engine/b/engine.py",
            "from made.engine.a import OFFERS",
            "made.engine.b.engine reaches made.engine.a",
        ),
        ("engine/b/engine.py", "from made.engine import base", None),
        (
            "engine/fake.py",
            "from made.engine.b import engine",
            "made.engine.fake reaches made.engine.b.engine",
        ),
    ],
)
def test_a_trespass_is_found(place: str, text: str, found: str | None, tmp_path: Path) -> None:
    package = tmp_path / "made"
    files = {
        "engine/a/__init__.py": "\nOFFERS = ()\n", "engine/a/door.py": "import odbc.connect, numpy, socket\n",
        "engine/b/__init__.py": "\nOFFERS = ()\n", "engine/b/engine.py": "", "engine/base.py": "",
        "engine/__init__.py": "", "engine/fake.py": "", "measure.py": "import numpy\n",
    }  # fmt: skip
    for name, content in (files | {place: text}).items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(content)
    assert trespasses(package)[:1] == ([] if found is None else [found])


def fields_of(record: str, path: str) -> list[str]:
    """The fields of a record of Rust that is declared with the macro `record!`."""
    text = (
        (CRATES.parent / path).read_text().partition(f"pub struct {record} {{")[2].partition("\n    }\n")[0]
    )
    return re.findall(r"pub (\w+): .* = ", text)


@pytest.mark.parametrize(
    ("record", "path", "beside"),
    [
        ("Parameters", SIMULATOR, {COSTS}),
        (
            "Calibration",
            CALIBRATION,
            {
                COSTS,
                "python/redolab/forecast/costs/costs.py",
                "python/redolab/forecast/costs/direct/calibrating.py",
            },
        ),
    ],
)
def test_a_cost_of_the_model_is_listed_in_few_places(record: str, path: str, beside: set[str]) -> None:
    # With where the simulation spends it and where it is shown, a further cost touches seven files.
    fields = fields_of(record, path)
    assert len(fields) > 20
    lists = set()
    for source in [*SOURCES, *PACKAGE.glob("*.pyi")]:
        text = without_tests(source.read_text())
        named = sum(re.search(rf"\b{field}\b", text) is not None for field in fields)
        if named > len(fields) - 4:
            lists.add(source.relative_to(CRATES.parent).as_posix())
    assert lists == {path, *beside}


def test_a_class_name_means_one_thing() -> None:
    # Databases do the same things by the same names: what is below `engine` counts once.
    places: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE).as_posix()
        if place == "_core.py":
            # It stands in for the compiled part, with the names of its classes.
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, set()).add("engine" if place.startswith("engine/") else place)
    assert len(places) > 300
    assert {name for name, found in places.items() if len(found) > 1} == TWICE

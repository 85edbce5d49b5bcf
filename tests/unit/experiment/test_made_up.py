"""A made-up question moves in: its own folder and two lines elsewhere, in a copy of the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import redolab
from redolab.experiment import EXPERIMENTS

_PACKAGE = Path(redolab.__file__).parent
_PROJECT = Path(__file__).parents[3] / "pyproject.toml"
_PLAN = """
from collections.abc import Mapping

from redolab.experiment.base import Experiment, Levels, Size, Wish, combinations_of
from redolab.records.load import Spins


class MadeUp(Experiment):
    name = "made-up"
    question = "Do two processes do more than one?"
    unit = "spin"
    needs = frozenset({"cpu_work"})
    quick = full = Size(blocks=2, seconds=0.1, warmup_s=0)

    def combine(self, _wish: Wish, /) -> Mapping[str, Levels]:
        return combinations_of(processes=("1", "2"))

    def load(self, wish: Wish, settings: Mapping[str, Levels], /) -> Spins:
        return Spins("", max(map(int, settings)), wish.scope)


EXPERIMENT = MadeUp()
"""
_ANSWER = """
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict


def analyse(_run, compared):
    return results(compared, Verdict("Made up.", "undecided", compared.baseline, None))
"""
_LINES = {
    "experiment/__init__.py": ('    "calibrate",\n', '    "made_up",\n'),
    "experiment/answers.py": ('    "calibrate": "calibrate",\n', '    "made-up": "made_up",\n'),
}


def _contents(package: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(package)): path.read_bytes()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a copy of the package, in which the made-up question has moved in."""
    place = tmp_path_factory.mktemp("site")
    copy = place / "redolab"
    shutil.copytree(_PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    folder = copy / "experiment" / "made_up"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "plan.py").write_text(_PLAN)
    (folder / "answer.py").write_text(_ANSWER)
    for name, (before, line) in _LINES.items():
        text = (copy / name).read_text()
        assert text.count(before) == 1
        (copy / name).write_text(text.replace(before, before + line))
    return place


def _redolab(site: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(site), "XDG_DATA_HOME": str(site / "data")}
    command = [sys.executable, "-m", "redolab.cli", *arguments]
    ended = subprocess.run(command, env=environment, cwd=site, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_it_is_listed_planned_measured_and_answered(site: Path) -> None:
    listed = _redolab(site, "experiments")
    assert "made-up" in listed
    assert "Do two processes do more than one?" in listed
    planned = json.loads(_redolab(site, "run", "made-up", "--plan", "--json", "--seed", "1"))
    assert (planned["experiment"], planned["engine"]) == ("made-up", "machine")
    assert [setting["name"] for setting in planned["settings"]] == ["1", "2"]
    found = json.loads(_redolab(site, "run", "made-up", "--json", "--seed", "1", "--out", "run"))
    assert found["verdict"]["text"] == "Made up."
    assert found["advice"]["bounds"] is not None
    assert found["league"]["records"] is not None
    assert "every hash and every figure holds" in _redolab(site, "verify", "run")


def test_nothing_else_was_touched(site: Path) -> None:
    before, after = _contents(_PACKAGE), _contents(site / "redolab")
    new = set(after) - set(before)
    assert new == {f"experiment/made_up/{name}.py" for name in ("__init__", "plan", "answer")}
    assert set(before) <= set(after)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == set(_LINES)
    for name in changed:
        lines, now = before[name].splitlines(), after[name].splitlines()
        assert len(now) == len(lines) + 1
        assert [line for line in now if line not in lines] == [_LINES[name][1].strip("\n").encode()]


def test_the_contracts_name_every_question() -> None:
    folders = {path.parent.name for path in (_PACKAGE / "experiment").glob("*/plan.py")}
    assert {path.parent.name for path in (_PACKAGE / "experiment").glob("*/answer.py")} == folders
    contracts = tomllib.loads(_PROJECT.read_text())["tool"]["importlinter"]["contracts"]
    named = {contract["name"]: contract for contract in contracts}
    apart = named["Questions do not import one another"]["modules"]
    assert set(apart) == {f"redolab.experiment.{folder}" for folder in folders}
    light = named["Plans are light"]["source_modules"]
    assert {f"redolab.experiment.{folder}.plan" for folder in folders} <= set(light)
    assert not named["Plans are light"].get("allow_indirect_imports")


def test_plans_bring_nothing_that_computes() -> None:
    heavy = "sorted(m for m in sys.modules if m.split('.')[0] in ('numpy', 'scipy', 'psycopg', 'pyarrow'))"
    command = [sys.executable, "-c", f"import sys, redolab.experiment; print({heavy})"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
    assert len(EXPERIMENTS) == 10

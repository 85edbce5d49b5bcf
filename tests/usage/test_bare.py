"""A machine that only reads, such as Windows or a Mac, has the figures that any other has."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from redolab import _core
from redolab.commands.analyze import analyze
from redolab.commands.report import make_results
from redolab.commands.verify import compare, verify
from redolab.experiment.answers import LEFT_OUT, as_far_as_forecasts
from redolab.forecast.explored import Explored, explored
from redolab.importers.layout import kind_of
from redolab.importers.series import import_reports
from redolab.model import published
from redolab.records.store import open_run
from redolab.report.page.html import render_explorer
from tests.docs.pages import ROOT
from tests.forecasts import make_calibrated
from tests.imported_reports import Silent

PACKAGE = ROOT / "python" / "redolab"
REPORTS = sorted((ROOT / "docs" / "guide" / "reports").glob("*-sessions.txt"))
TIMES = ROOT / "docs" / "guide" / "commit-times.csv"
STORED = ROOT / "tests" / "validation" / "data" / "null_mysql"
NOT_COMPILED = "Redolab's compiled part is not installed"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the wheel for any machine installs."""
    place = tmp_path_factory.mktemp("package")
    shutil.copytree(PACKAGE, place / "redolab", ignore=shutil.ignore_patterns("_core*.so", "__pycache__"))
    return place


@pytest.fixture(scope="module")
def start(package: Path) -> Explored:
    return explored(make_calibrated(), "stored", "embedded", ())


@pytest.fixture(scope="module")
def place(package: Path, start: Explored, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where commands ran on such a machine, and what they said."""
    place = tmp_path_factory.mktemp("bare")
    for name in ("stored", "elsewhere"):
        shutil.copytree(STORED, place / name)
    make_results(open_run(place / "elsewhere"))
    shutil.copytree(place / "elsewhere", place / "costs")
    (place / "costs" / "report.html").write_text(render_explorer(start))
    commands = (
        ["analyze", str(TIMES), "--json"],
        ["import", "awr", *map(str, REPORTS), "--out", "imported"],
        ["report", "stored"],
        ["verify", "stored"],
        ["verify", "elsewhere"],
        ["explore", "costs", "--out", "explored.html"],
        ["explore", "stored", "--out", "none.html"],
        ["forecast", "stored"],
        ["verify", "imported"],
        ["run", "commit-mode", "--quick"],
        ["profile", "postgresql://u@127.0.0.1:1/none"],
        ["doctor"],
        ["league"],
        ["--version"],
    )
    words = [word for command in commands for word in ("+", *command)][1:]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bare", str(package), *words],
        capture_output=True, text=True, check=False, cwd=place, stdin=subprocess.DEVNULL,
        env={"PYTHONPATH": str(ROOT), "HOME": str(place), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    (place / "out").write_text(done.stdout)
    (place / "err").write_text(done.stderr)
    return place


def results(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "results.json").read_text())
    return found


def same(bare: dict[str, Any], whole: dict[str, Any]) -> list[str]:
    """Differences of figures and sentences, beside forecasts and where the run lies."""
    one, other = as_far_as_forecasts(bare | {"run": ""}, whole | {"run": ""})
    return compare(one, other, "")


def test_each_command_ends_as_it_should(place: Path) -> None:
    said = (place / "err").read_text()
    assert "Traceback" not in said, said
    codes = [line for line in said.splitlines() if line.startswith("ended ")]
    assert codes == [f"ended {code}" for code in (0, 0, 0, 0, 0, 0, 3, 3, 0, 3, 3, 3, 0, 0)], said
    assert said.count(NOT_COMPILED) == 5
    assert "compiled part is not installed" in (place / "out").read_text()
    assert not (place / "none.html").exists()


def test_a_column_has_the_figures_that_it_has_elsewhere(place: Path) -> None:
    text = (place / "out").read_text()
    found, _ = json.JSONDecoder().raw_decode(text)
    assert compare(found, analyze(str(TIMES), None, None, None, None), "") == []


def test_a_report_has_the_figures_that_it_has_elsewhere(place: Path) -> None:
    bare, whole = results(place / "stored"), results(place / "elsewhere")
    assert same(bare, whole) == []
    assert "left_out" not in whole
    assert bare["left_out"].startswith(NOT_COMPILED)
    assert [text for text in bare["warnings"] if text.startswith(LEFT_OUT)]
    assert NOT_COMPILED in bare["advice"]["why_no_forecast"]
    assert NOT_COMPILED in (place / "stored" / "report.html").read_text()


def test_reports_of_oracle_have_the_figures_that_they_have_elsewhere(place: Path, tmp_path: Path) -> None:
    bare = open_run(place / "imported")
    assert bare.samples.equals(
        import_reports(REPORTS, kind_of("awr"), tmp_path / "again", Silent(), "").samples
    )
    shutil.copytree(bare.path, tmp_path / "imported")
    assert same(results(bare.path), make_results(open_run(tmp_path / "imported"))) == []


def test_a_check_says_what_it_could_not_compare(place: Path) -> None:
    text = (place / "out").read_text()
    assert text.count("Forecasts in results.json were not compared.") == 1
    assert text.count("results.json was made without forecasts") == 2
    found = verify(place / "stored")
    assert found.differences == []
    assert found.not_compared == [
        "results.json was made without forecasts, so no forecast was compared; redolab report adds the "
        "forecasts."
    ]
    assert verify(place / "elsewhere").not_compared == []


def test_forecasts_do_not_hide_behind_saying_that_they_were_left_out(place: Path, tmp_path: Path) -> None:
    run = tmp_path / "changed"
    shutil.copytree(place / "elsewhere", run)
    found = results(run)
    found["advice"]["changes"] = [{"factor": "sessions", "gain": 99.0}]
    (run / "results.json").write_text(json.dumps(found | {"left_out": "as is said elsewhere"}))
    assert any(
        "as made without forecasts, but it contains forecasts" in text for text in verify(run).differences
    )


def test_a_changed_figure_is_found_without_forecasts_too(place: Path, tmp_path: Path) -> None:
    run = tmp_path / "changed"
    shutil.copytree(place / "stored", run)
    found = results(run)
    found["settings"][0]["samples"] = 10**6
    (run / "results.json").write_text(json.dumps(found))
    assert verify(run).differences


def test_the_explorer_is_the_one_of_the_stored_page(place: Path, start: Explored) -> None:
    assert (place / "explored.html").read_text() == render_explorer(replace(start, run="costs"))


def test_what_stands_in_for_the_compiled_part_has_its_values() -> None:
    inside: dict[str, Any] = {"__name__": "stand_in"}
    exec(compile((PACKAGE / "_core.py").read_text(), "_core.py", "exec"), inside)
    values = {
        name: value for name, value in inside.items() if name.isupper() and name != "LOG_DEVICE_LIBRARY"
    }
    assert len(values) > 10
    assert values == {name: getattr(_core, name) for name in values}


@pytest.mark.parametrize("servers", [0.02, 0.7, 1.0, 1.4, 8.0, 64.0])
@pytest.mark.parametrize("busy", [0.0, 1e-6, 0.3, 0.999])
def test_the_published_curves_are_those_of_the_compiled_part(servers: float, busy: float) -> None:
    point = (0.01, 100 * servers * busy, servers)
    for name in ("response_time_cpu", "response_time_io"):
        assert getattr(published, name)(*point) == pytest.approx(getattr(_core, name)(*point), rel=1e-13)
    asked = (0.01, 100 * servers * busy, 0.0123)
    expected = _core.solve_servers(*asked)
    assert published.solve_servers(*asked) == (
        expected if expected is None else pytest.approx(expected, rel=1e-12)
    )


def test_the_published_curves_refuse_what_the_compiled_part_refuses() -> None:
    for point in ((1.0, 2.0, 2.0), (1.0, 3.0, 2.0), (1.0, float("nan"), 2.0), (1.0, -1.0, 2.0)):
        with pytest.raises(ValueError, match="below 1") as compiled:
            _core.response_time_cpu(*point)
        with pytest.raises(ValueError, match="below 1") as plain:
            published.response_time_cpu(*point)
        assert str(plain.value) == str(compiled.value)
    for asked in ((1.0, 0.5, 1.0), (0.0, 1.0, 1.0), (1.0, 0.0, 2.0), (1.0, 0.5, float("inf"))):
        assert published.solve_servers(*asked) is _core.solve_servers(*asked) is None

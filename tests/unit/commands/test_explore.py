"""`redolab explore`, and reports with the costs of another run."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.commands import explore
from redolab.commands.report import make_results
from redolab.errors import UsageError
from redolab.forecast import explored
from redolab.records.run import Run
from redolab.records.store import open_run
from tests.forecasts import make_calibrated
from tests.unit.analysis.synthetic import LOG_BOUND, build_run, design


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run that tells no costs."""
    return build_run(tmp_path / "run", LOG_BOUND, design(blocks=3))


@pytest.fixture
def with_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run tells the same costs."""
    monkeypatch.setattr(explored, "costs_of", lambda _run: make_calibrated(2))


@pytest.mark.usefixtures("with_costs")
def test_a_page_is_written_once(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    explore.command(run.path, place)
    first = place.read_text()
    assert 'id="explorer-data"' in first
    assert '"sessions":8' in first
    with pytest.raises(UsageError, match=r"not overwritten\. Give --out another name"):
        explore.command(run.path, place)
    assert place.read_text() == first


def test_a_run_without_costs_says_what_to_run(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    with pytest.raises(UsageError, match=r"did not measure commits\. `redolab run calibrate`"):
        explore.command(run.path, place)
    assert not place.exists()
    with pytest.raises(UsageError, match="gone"):
        explore.command(tmp_path / "gone", place)


def test_a_report_without_costs_has_no_explorer(run: Run) -> None:
    make_results(run)
    page = (run.path / "report.html").read_text()
    assert 'id="explorer"' not in page
    assert 'id="published-curve"' in page


def test_a_report_takes_the_costs_of_another_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = build_run(tmp_path / "costs", LOG_BOUND, design(blocks=3))
    asked: list[Path] = []

    def of_one(told: Run) -> object:
        asked.append(told.path)
        return make_calibrated(2)

    monkeypatch.setattr(explored, "costs_of", of_one)
    make_results(open_run(run.path), costs.path)
    page = (run.path / "report.html").read_text()
    assert asked == [costs.path]
    assert f'"run":"{costs.path}"' in page
    assert 'id="figure-curve"' not in page
    with pytest.raises(UsageError, match="gone"):
        make_results(run, tmp_path / "gone")

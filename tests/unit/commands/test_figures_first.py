"""The figures of what was seen do not wait for the advice, and a cut advice does not cost the proof."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from redolab.commands.report import make_and_show, make_results
from redolab.commands.verify import verify_run
from redolab.forecast.advice import advice
from redolab.model.allowance import TOO_LATE, OutOfTimeError
from redolab.records.run import Run
from redolab.records.store import open_run, read_results
from redolab.records.writing.writer import write_report, write_results
from redolab.report.page.html import render
from tests.imported_reports import imported
from tests.written_reports import awr_html, truth


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return imported(tmp_path, [awr_html(truth(), "19c")])


def too_late(*_args: object) -> None:
    raise OutOfTimeError(TOO_LATE.format(seconds=5))


def test_the_figures_are_stored_and_handed_on_before_the_advice(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    early: list[Mapping[str, Any]] = []
    monkeypatch.setattr(
        advice, "costs_within", lambda *_: pytest.fail("before the figures") if not early else too_late()
    )
    results = make_results(run, early=lambda _: early.append(read_results(open_run(run.path))))
    (stored,) = early
    assert stored["advice"] is None
    assert {key: value for key, value in stored.items() if key != "advice"} == {
        key: value for key, value in results.items() if key != "advice"
    }
    assert (run.path / "report.html").is_file()


def test_an_interrupted_advice_costs_no_figure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(advice, "costs_within", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_results(run)
    monkeypatch.undo()
    assert verify_run(open_run(run.path)) == []


def test_a_run_whose_advice_ran_out_of_time_verifies(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(advice, "costs_within", too_late)
    make_and_show(run, json=False)
    monkeypatch.undo()
    shown = capsys.readouterr()
    assert shown.out.index("what a commit costs") < shown.out.index("What to change")
    assert "No forecast: the simulations were not done after 5 s" in " ".join(shown.out.split())
    assert "now forecasts what changes would give" in " ".join(shown.err.split())
    assert read_results(open_run(run.path))["advice"]["by_clock"] is True
    assert verify_run(open_run(run.path)) == []


def test_what_was_forecast_before_the_clock_ended_it_is_recomputed(run: Run) -> None:
    results = make_results(run)
    changes = results["advice"]["changes"]
    cut = results["advice"] | {"changes": changes[1:], "by_clock": True, "cut_short": ["late"], "lines": []}

    def stored(advice: Mapping[str, Any]) -> list[str]:
        write_results(run, results | {"advice": advice})
        write_report(run, render(results | {"advice": advice}))
        return verify_run(open_run(run.path))

    assert stored(cut) == []
    gain = {**changes[1]["gain"], "point": 2 * changes[1]["gain"]["point"]}
    (difference,) = stored(cut | {"changes": [changes[1] | {"gain": gain}]})
    assert "advice[0].gain.point" in difference
    (difference,) = stored(cut | {"by_clock": False})
    assert "advice" in difference

"""Forecasts of what hardly happens: they have an end, and obey Ctrl-C until then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from redolab import _core
from redolab.forecast.costs import of_run
from redolab.forecast.costs.costs import Scenario, parameters
from redolab.records import store
from tests.conftest import Redolab
from tests.forecasts import POINT, make_calibrated

ROOT = Path(__file__).parents[2]
LONG = "think_time_ms=3600000"
"""A thousand thousand looks of an idle CPU for each commit."""
MAKE_UP = """
from redolab import cli
from redolab.records import store
from redolab.forecast.costs import of_run
from tests.forecasts import make_calibrated
store.open_run = lambda path: path
of_run.costs_of = lambda run: make_calibrated(replicates=2)
cli.main()
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A run whose costs are made up."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(store, "open_run", lambda path: path)
    monkeypatch.setattr(of_run, "costs_of", lambda _: make_calibrated(replicates=1))
    return "costs"


@pytest.mark.parametrize("cpus", ["1e-6", "1e-300", "5e-324", "0.00099"])
@pytest.mark.parametrize("option", ["--set", "--sweep"])
def test_hardly_any_cpu_is_refused_at_once(run: str, cpus: str, option: str, redolab: Redolab) -> None:
    ended = redolab("forecast", run, option, f"cpus={cpus}")
    assert (ended.code, ended.out) == (2, "")
    assert "That cannot be forecast: CPUs: there must be at least 0.001" in ended.err


@pytest.mark.parametrize(
    "asked",
    ["cpus=0.001", "cpus=1024", "arrival_rate_per_s=0.1", "think_time_ms=5000", "log_device_ms=10000"],
)
def test_an_extreme_that_can_be_has_a_forecast(run: str, asked: str, redolab: Redolab) -> None:
    assert redolab("forecast", run, "--set", asked, "--json").code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("question", [["--set", LONG], ["--sweep", LONG], ["--set", LONG, "--elbow"]])
def test_a_long_forecast_ends_when_it_is_told_to(number: int, question: list[str], tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", MAKE_UP, "forecast", "run", *question], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment,
    ) as process:  # fmt: skip
        try:
            deadline = time.monotonic() + 60
            # Beyond this much CPU time it has begun to simulate, and is nowhere near its end.
            while _cpu_s(process.pid) < 4 and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            assert process.poll() is None
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, b"")
    assert err == b"redolab: Interrupted; nothing is left behind.\n"


def test_handlers_run_while_something_is_simulated_and_end_it() -> None:
    def end(number: int, frame: object) -> None:
        raise RuntimeError("told to end")

    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(RuntimeError, match="told to end"):
            _simulate(2**62)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_simulation_without_an_end_is_refused_in_words(
    run: str, redolab: Redolab, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(_core.SimulationTooLongError, match="50000 simulated events did not"):
        _simulate(50_000)

    monkeypatch.setattr(_core, "forecast", partial(_core.forecast, most_events=400_000))
    ended = redolab("forecast", run, "--set", LONG)
    assert (ended.code, ended.out) == (2, "")
    assert "That cannot be forecast: 400000 simulated events did not bring it to its end" in ended.err
    ended = redolab("forecast", run, "--sweep", f"{LONG},0", "--json")
    assert ended.code == 0
    assert "400000 simulated events" in ended.out
    ended = redolab("forecast", run, "--sweep", f"{LONG},0")
    assert ended.code == 0


def _simulate(most_events: int) -> None:
    needs = parameters(POINT, Scenario(sessions=1, think_time_ms=3_600_000))
    _core.simulate_group_commit(needs, 1, 10_000, 20, 10_000, most_events=most_events)


def _cpu_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

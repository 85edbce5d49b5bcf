from __future__ import annotations

from dataclasses import replace

import pytest

from redolab.analysis.checks import diagnostics

from .synthetic import LOG_BOUND, design, one_sample
from .test_drift import noise, series


def test_quiet_run_passes() -> None:
    samples = series(noise(50))
    found = diagnostics.diagnose(samples, {}, "wait/immediate", "server memory")
    outcomes = {item.name: item.outcome for item in found}
    assert outcomes == {
        "spoiled samples": "passed",
        "autocorrelation": "passed",
        "drift": "passed",
        "two regimes": "passed",
        "checkpoints and vacuums": "passed",
        "steal": "passed",
        "row counts": "passed",
        "Little's law": "passed",
        "time adds up": "passed",
        "short waits": "passed",
        "sampler against kernel": "not_available",
        "sampling clock": "warning",  # no reading was stored with these samples
    }


def test_spoiled_samples_are_counted_with_their_reason() -> None:
    samples = series([1.0] * 10)
    samples[3] = replace(samples[3], spoiled="the server restarted")
    samples[4] = replace(samples[4], commits=0)
    found = diagnostics.spoiled_samples(samples)
    assert found.outcome == "warning"
    assert found.text == ("2 of 10 samples do not count: the server restarted; 1 without a unit of work.")


def test_checkpoints_are_told_with_their_effect() -> None:
    samples = series([1.0] * 10)
    slow = one_sample(design(blocks=2).order()[0], LOG_BOUND[samples[0].setting], 1.5)[0]
    samples[0] = replace(slow, checkpoints=1)
    found = diagnostics.checkpoints(samples)
    assert found.outcome == "warning"
    assert found.text.startswith("A checkpoint or vacuum ran during 1 of 10 samples (checkpoints: 1, ")
    assert diagnostics.checkpoints(series([1.0] * 5, checkpoints=None)).outcome == "not_available"


def test_steal() -> None:
    assert diagnostics.steal(series([1.0] * 5, host_steal_s=12.0)).outcome == "warning"
    assert "10.0 %" in diagnostics.steal(series([1.0] * 5, host_steal_s=12.0)).text
    assert diagnostics.steal(series([1.0] * 5, host_steal_s=None)).outcome == "not_available"


@pytest.mark.parametrize(("server", "outcome"), [(10_000, "passed"), (10_015, "passed"),
                                                 (10_016, "failed"), (9_984, "failed")])  # fmt: skip
def test_the_servers_count_of_rows(server: int, outcome: str) -> None:
    # 0.1 % of 10,000 and one for each of 5 sessions.
    (sample,) = series([1.0] * 5, commits=10_000, rows=10_000, server_rows=server)[:1]
    assert diagnostics.row_counts([sample]).outcome == outcome


def test_littles_law_sees_sessions_that_stopped_early() -> None:
    samples = series([1.0] * 5)
    early = [replace(item, session_elapsed_s=item.session_elapsed_s * 0.8) for item in samples]
    assert diagnostics.littles_law(samples).outcome == "passed"
    assert diagnostics.littles_law(early).outcome == "warning"
    assert "80.0 %" in diagnostics.littles_law(early).text


def test_more_cpu_than_time_is_said() -> None:
    found = diagnostics.adds_up(series([1.0] * 5, session_cpu_s=330.0, session_run_queue_s=0.0))
    assert found.outcome == "warning"
    # 330 s of CPU in 5 sessions x 60 s.
    assert "in 5 of 5 samples, by 10.0 % at most" in found.text
    assert diagnostics.adds_up(series([1.0] * 5, session_cpu_s=None)).outcome == "not_available"


def test_no_ticks() -> None:
    assert diagnostics.sampling_clock(series([1.0] * 5, ticks=0), {}).outcome == "not_available"

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from redolab.analysis.checks.diagnostics import diagnose
from redolab.analysis.checks.machine import (
    log_writer,
    machine_checks,
    machine_figures,
    machine_speed,
    one_cpu,
)
from redolab.analysis.waits import SampledProcesses
from redolab.records.sample import ProcessTime, Sample

from .test_drift import noise, series

NAMES = {"speed of the machine", "one busy CPU", "log writer"}


def timed(*loop_ms: float) -> list[Sample]:
    """Samples a minute apart from 14:00 UTC on, with the time of the loop before each."""
    samples = series([1.0] * len(loop_ms))
    return [
        replace(
            sample,
            cpu_loop_s=value / 1e3,
            start_s=60.0 * place,
            started_at=f"2026-11-28T{14 + place // 60:02d}:{place % 60:02d}:00.000+00:00",
        )
        for place, (sample, value) in enumerate(zip(samples, loop_ms, strict=True))
    ]


def jittered(*levels_ms: float) -> list[float]:
    rng = random.Random(1)
    return [level * rng.uniform(0.99, 1.01) for level in levels_ms]


def test_a_machine_that_became_faster_is_told_with_ratio_and_time() -> None:
    samples = timed(*jittered(*[5.1] * 32, *[3.0] * 28))
    found = machine_speed(list(reversed(samples)))
    assert found.outcome == "warning"
    assert found.text.startswith("The machine became 1.7 times as fast at 14:32 UTC, 32 min into the run: ")
    assert found.text.endswith("(p = 0.001). Comparisons inside blocks allow for it.")


def test_a_machine_that_became_slower_and_recovered() -> None:
    found = machine_speed(timed(*jittered(*[3.0] * 20, *[6.0] * 20, *[3.0] * 20)))
    assert "became 2 times as slow at 14:20 UTC" in found.text
    assert "became 2 times as fast at 14:40 UTC" in found.text


def test_a_steady_machine_passes_and_small_changes_do_not_shout() -> None:
    steady = machine_speed(timed(*jittered(*[4.0] * 40)))
    assert (steady.outcome, steady.text) == (
        "passed", "A fixed CPU loop before each sample took 3.99 ms all the time."
    )  # fmt: skip
    assert machine_speed(timed(*jittered(*[4.0] * 20, *[4.2] * 20))).outcome == "passed"
    assert machine_speed(timed(4.0, 4.0, 4.0, 4.0, 9.0)).outcome == "not_available"


def test_a_run_without_the_columns_is_told_nothing() -> None:
    assert machine_checks(series(noise(50)), {}) == ()
    names = {item.name for item in diagnose(timed(*[4.0] * 10), {}, "wait/immediate", "none")}
    assert names & NAMES == {"speed of the machine"}


def machine(
    busiest: float | None, host_busy: float, processes: dict[str, float], cpus: int = 4, sessions: int = 5
) -> tuple[list[Sample], dict[int, SampledProcesses]]:
    """Samples of 60 s; processes by kind with the CPUs that each has. A kind with a number is a session."""
    samples = series(
        [1.0] * 10, busiest_cpu=busiest, host_cpus=cpus, host_busy_s=60.0 * host_busy, sessions=sessions
    )
    return samples, {
        sample.sample: SampledProcesses(
            (),
            tuple(
                ProcessTime(
                    sample.sample, pid, kind.split()[0], "session" if kind[-1].isdigit() else "background",
                    round(60e9 * share), 0,
                )
                for pid, (kind, share) in enumerate(processes.items())
            ),
        )
        for sample in samples
    }  # fmt: skip


SESSIONS = {f"client {number}": 0.1 for number in range(5)}


def test_a_process_with_one_cpu_to_itself_is_named() -> None:
    # It went from CPU to CPU, so that none of them was busy all the time.
    found = one_cpu(*machine(0.6, 1.6, {"LGWR": 0.96, **SESSIONS}))
    assert found.outcome == "warning"
    assert (
        "Under wait/immediate the server's process LGWR had one CPU to itself for 96.0 % of the time while "
        "the others were busy for 21.3 % (4 of 4 samples)." in found.text
    )
    labelled = one_cpu(*machine(0.6, 1.6, {"LGWR": 0.96}), labels={"wait/immediate": "both"})
    assert "Under both the" in labelled.text


def test_a_session_with_one_cpu_to_itself_is_a_finding_beside_others_only() -> None:
    alone = {"client 1": 0.97}
    assert (
        "one session had one CPU to itself for 97.0 %"
        in one_cpu(*machine(0.97, 1.1, {**SESSIONS, **alone})).text
    )
    assert one_cpu(*machine(0.97, 1.0, alone, sessions=1)).outcome == "passed"


@pytest.mark.parametrize(
    ("busiest", "host_busy", "processes", "cpus"),
    [
        (1.0, 3.5, {"LGWR": 0.96, **SESSIONS}, 4),  # The others did not idle.
        (1.0, 2.2, {"LGWR": 0.96, "DBW0": 0.95}, 4),  # Two had one each.
        (0.8, 1.2, {"LGWR": 0.8, **SESSIONS}, 4),
        (1.0, 1.0, {"LGWR": 1.0}, 1),
    ],
)
def test_no_single_process_on_one_cpu(
    busiest: float, host_busy: float, processes: dict[str, float], cpus: int
) -> None:
    found = one_cpu(*machine(busiest, host_busy, processes, cpus))
    assert found.outcome == "passed"
    assert found.text.endswith(f"The busiest CPU was busy for {100 * busiest:.1f} % of the time.")


def test_a_busy_cpu_whose_process_is_not_known() -> None:
    samples, _ = machine(0.99, 1.2, {})
    assert (
        "one CPU, it is not known by which process, was busy for 99.0 % of the time"
        in one_cpu(samples, {}).text
    )
    found = one_cpu(*machine(0.99, 1.2, SESSIONS))
    assert "although no process of the server had it alone, for 99.0 %" in found.text


def test_half_of_the_samples_are_not_enough() -> None:
    samples, seen = machine(0.6, 1.6, {"LGWR": 0.96, **SESSIONS})
    mine = [sample for sample in samples if sample.setting == "wait/immediate"]
    idle = {sample.sample: SampledProcesses((), ()) for sample in mine[:2]}
    assert "wait/immediate" not in one_cpu(mine, seen | idle).text


def test_a_log_writer_that_waited_for_a_cpu() -> None:
    samples = series([1.0] * 10, log_writer_cpu_s=2.4, log_writer_run_queue_s=0.6)
    starved = [
        replace(item, log_writer_run_queue_s=48.0) if item.setting == "nowait/immediate" else item
        for item in samples
    ]
    found = log_writer(starved, {"nowait/immediate": "no wait"})
    assert found.outcome == "warning"
    assert found.text.startswith(
        "The log writer waited for a CPU for 80.0 % of the time under no wait, where it had one for 4.0 %. "
    )
    # MySQL's threads sleep where sessions write the log.
    assert log_writer(series([1.0] * 10, log_writer_cpu_s=0.0, log_writer_run_queue_s=0.0)).outcome == (
        "not_available"
    )
    quiet = log_writer(samples)
    assert (quiet.outcome, quiet.text) == (
        "passed", "The log writer waited for a CPU for at most 1.0 % of the time."
    )  # fmt: skip


def test_one_check_for_each_column_that_there_is() -> None:
    samples = series([1.0] * 10, log_writer_cpu_s=2.4, log_writer_run_queue_s=None)
    assert machine_checks(samples, {}) == ()
    whole = [replace(item, log_writer_run_queue_s=0.0, busiest_cpu=0.5, cpu_loop_s=0.004) for item in samples]
    assert {item.name for item in machine_checks(whole, {})} == NAMES


def test_the_figure_has_what_was_noted() -> None:
    assert machine_figures(series([1.0] * 5)) == ()
    samples = timed(4.0, 5.0, 4.0, 6.0, 4.0)
    (loop,) = machine_figures(samples)[0].series
    assert loop.x == [0.0, 60.0, 120.0, 180.0, 240.0]
    assert loop.y == pytest.approx([4.0, 5.0, 4.0, 6.0, 4.0])
    _, flush = machine_figures([replace(samples[0], flush_s=0.002), *samples[1:]])[0].series
    assert flush.y == [2.0, None, None, None, None]

"""Stored runs made up from known numbers, through the real store."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from redolab.records.design import Design, Trial
from redolab.records.run import Run
from redolab.records.sample import OverheadRow, ProcessTime, Sample, WaitRow
from redolab.records.writing.writer import RunWriter

SESSIONS = 5
BASELINE = "wait/immediate"
RATE = 100.0
"""Readings of the wait sampler per second."""


@dataclass(frozen=True)
class Behaviour:
    """What one made-up setting does; times are per commit, in seconds."""

    response_s: float
    cpu_s: float
    run_queue_s: float = 0.0
    waits: Mapping[str, float] = field(default_factory=dict)
    """`Class:Event` to its share of the ticks asleep; the rest is asleep without an event."""
    flush_s: float = 0.0
    commits_per_flush: float = 1.0
    background_log_share: float = 0.0
    """Share of the time the WAL writer is in IO:WalSync."""


LOG_BOUND: Mapping[str, Behaviour] = {
    "wait/immediate": Behaviour(
        0.0105, 0.00018, 0.00001, {"IO:WalSync": 0.46, "LWLock:WALWrite": 0.53}, 0.0052, 2.4
    ),
    "wait/batch": Behaviour(
        0.0112, 0.00019, 0.00001, {"IO:WalSync": 0.42, "LWLock:WALWrite": 0.5}, 0.0052, 4.6
    ),
    "nowait/immediate": Behaviour(0.00043, 0.00011, 0.00031, {"LWLock:WALInsert": 0.6}, 0.0051, 58.0, 0.97),
    "nowait/batch": Behaviour(0.000415, 0.000105, 0.0003, {"LWLock:WALInsert": 0.6}, 0.0051, 420.0, 0.21),
}
CPU_BOUND: Mapping[str, Behaviour] = {
    "wait/immediate": Behaviour(
        0.00021, 0.00008, 0.0001, {"IO:WalSync": 0.4, "LWLock:WALWrite": 0.3}, 0.00003, 1.6
    ),
    "wait/batch": Behaviour(
        0.000211, 0.00008, 0.000101, {"IO:WalSync": 0.38, "LWLock:WALWrite": 0.3}, 0.00003, 1.7
    ),
    "nowait/immediate": Behaviour(
        0.000206, 0.000079, 0.000107, {"LWLock:WALInsert": 0.5}, 0.00003, 80.0, 0.02
    ),
    "nowait/batch": Behaviour(0.0002055, 0.000079, 0.000107, {"LWLock:WALInsert": 0.5}, 0.00003, 400.0, 0.01),
}
TIER_TEXT = {
    "disk": "flushed to disk before the commit returns",
    "memory": "acknowledged before the flush: a server crash may lose it",
}


def design(blocks: int = 10, seed: int = 7, null_pair: bool = True) -> Design:
    return Design(
        settings=tuple(LOG_BOUND),
        baseline=BASELINE,
        blocks=blocks,
        seconds=1.2,
        warmup_s=0.4,
        seed=seed,
        null_pair=null_pair,
    )


def manifest(plan: Design, log_device_ms: float | None = None, load: str = "io") -> dict[str, Any]:
    return {
        "redolab_version": "0.1.0",
        "experiment": "commit-mode",
        "question": "What do wait/nowait and immediate/batch do to commits?",
        "record": "sample",
        "started_at": "2026-11-21T08:00:00Z",
        "finished_at": "2026-11-21T08:01:48Z",
        "design": asdict(plan) | {"settings": list(plan.settings)},
        "order": [asdict(trial) for trial in plan.order()],
        "settings": [_setting(name) for name in plan.settings],
        "load": {"name": load, "sessions": SESSIONS, "scope": "session", "rows_per_session": 1000},
        "engine": {
            "name": "embedded",
            "version": "18.6",
            "local": True,
            "emulated": {} if log_device_ms is None else {"log_device_ms": log_device_ms},
            "log_filesystem": "ext4",
        },
        "machine": {
            "cpus": 2,
            "cpu_model": "Made-up CPU",
            "memory_bytes": 8 << 30,
            "kernel": "6.1.0",
            "os": "Linux",
            "python": "3.11.2",
        },
        "parameter_changes": [
            {
                "parameter": "synchronous_commit",
                "before": "on",
                "after": "off",
                "scope": "session",
                "at": "2026-11-21T08:00:01Z",
                "setting": "nowait/immediate",
            }
        ],
        "mapping": [
            {"setting": name, "parameter": parameter, "value": value, "scope": "session"}
            for name in plan.settings
            for parameter, value in _setting(name)["parameters"].items()
        ],
        "not_measured": ["what a power cut would lose"],
        "conditions": [],
        "sampler": {"source": "server memory", "rate_per_s": RATE},
    }


def one_sample(
    trial: Trial,
    behaviour: Behaviour,
    factor: float = 1.0,
    log_device_ms: float | None = None,
    elapsed_s: float = 1.2,
) -> tuple[Sample, list[WaitRow], list[ProcessTime]]:
    """A sample of `behaviour` slowed down by `factor`, with its ticks and process times."""
    whole = SESSIONS * elapsed_s
    commits = round(whole / (behaviour.response_s * factor))
    cpu, queue = behaviour.cpu_s * commits, behaviour.run_queue_s * commits
    flushes = max(1, round(commits / behaviour.commits_per_flush))
    # Every second slice of a sample is without the sampler.
    sampled_s = elapsed_s / 2 + 0.05
    rounds = round(sampled_s * RATE)
    sample = Sample(
        sample=trial.sample,
        block=trial.block,
        position=trial.position,
        setting=trial.setting,
        role=trial.role,
        started_at="2026-11-21T08:00:01Z",
        start_s=1.7 * trial.sample,
        elapsed_s=elapsed_s,
        spoiled=None,
        sessions=SESSIONS,
        commits=commits,
        rows=commits,
        failed=0,
        session_elapsed_s=whole,
        session_cpu_s=cpu,
        session_run_queue_s=queue,
        instance_cpu_s=cpu * 1.1,
        instance_run_queue_s=queue * 1.02,
        host_cpus=2,
        host_busy_s=min(2 * elapsed_s, cpu * 1.2),
        host_steal_s=0.001,
        server_rows=commits,
        log_bytes=commits * 180,
        log_full_page_images=3,
        log_writes=flushes,
        log_write_time_s=flushes * 5e-6,
        log_flushes=flushes,
        log_flush_time_s=flushes * behaviour.flush_s,
        checkpoints=0,
        vacuums=0,
        device_flushes=None if log_device_ms is None else flushes,
        device_requested_s=None if log_device_ms is None else flushes * log_device_ms / 1e3,
        device_delivered_s=None if log_device_ms is None else flushes * log_device_ms * 1.012 / 1e3,
        ticks=rounds,
        ticks_late=1,
        ticks_lost=0,
        sampler_cpu_s=0.004,
        sampled_s=sampled_s,
        looks=rounds * (SESSIONS + 5),
        looks_torn=rounds // 20,
        sampler_realtime=True,
    )
    return sample, _waits(sample, behaviour), _processes(sample)


def build_run(
    path: Path,
    behaviours: Mapping[str, Behaviour] = LOG_BOUND,
    plan: Design | None = None,
    *,
    noise: float = 0.015,
    log_device_ms: float | None = None,
    status: str = "finished",
    only_first: int | None = None,
    change: Mapping[int, Mapping[str, Any]] | None = None,
    load: str = "io",
) -> Run:
    """A whole run on disk; `change` replaces fields of single samples by their number."""
    plan = plan or design()
    rng = random.Random(plan.seed + 1)
    writer = RunWriter(path, manifest(plan, log_device_ms, load))
    for trial in plan.order()[:only_first]:
        factor = 1 + noise * rng.gauss(0, 1)
        sample, waits, processes = one_sample(trial, behaviours[trial.setting], factor, log_device_ms)
        sample = replace(sample, **(change or {}).get(trial.sample, {}))
        writer.append(sample, waits, processes, _pairs(sample))
    return writer.finish(status)


def _pairs(sample: Sample) -> list[OverheadRow]:
    """Two pairs whose slices differ by noise alone."""
    rng = random.Random(sample.sample)
    rate = sample.commits / sample.elapsed_s
    return [
        OverheadRow(
            sample.sample, pair, rng.random() < 0.5, rate * rng.gauss(1, 0.04), rate * rng.gauss(1, 0.04)
        )
        for pair in (1, 2)
    ]


def _waits(sample: Sample, behaviour: Behaviour) -> list[WaitRow]:
    assert sample.session_cpu_s is not None
    assert sample.session_run_queue_s is not None
    seen = SESSIONS * sample.ticks
    on_cpu = round(seen * sample.session_cpu_s / sample.session_elapsed_s)
    queued = round(seen * sample.session_run_queue_s / sample.session_elapsed_s)
    asleep = seen - on_cpu - queued
    kind = "client backend"
    # A woken process shows its wait until it runs.
    woken = queued // 2
    rows = [
        WaitRow(sample.sample, "session", kind, "", "", "on_cpu", on_cpu),
        WaitRow(sample.sample, "session", kind, "", "", "runnable", queued - woken),
        WaitRow(sample.sample, "session", kind, "LWLock", "WALWrite", "runnable", woken),
    ]
    left = asleep
    for name, share in behaviour.waits.items():
        wait_class, event = name.split(":")
        ticks = round(asleep * share)
        left -= ticks
        rows.append(WaitRow(sample.sample, "session", kind, wait_class, event, "asleep", ticks))
    rows.append(WaitRow(sample.sample, "session", kind, "", "", "asleep", left))
    busy = round(sample.ticks * behaviour.background_log_share)
    idle = sample.ticks - busy
    rows += [
        WaitRow(sample.sample, "background", "walwriter", "IO", "WalSync", "asleep", busy),
        WaitRow(sample.sample, "background", "walwriter", "Activity", "WalWriterMain", "asleep", idle),
    ]
    return [row for row in rows if row.ticks > 0]


def _processes(sample: Sample) -> list[ProcessTime]:
    assert sample.session_cpu_s is not None
    assert sample.session_run_queue_s is not None
    return [
        ProcessTime(
            sample.sample,
            1000 + number,
            "client backend",
            "session",
            round(sample.session_cpu_s / SESSIONS * 1e9),
            round(sample.session_run_queue_s / SESSIONS * 1e9),
        )
        for number in range(SESSIONS)
    ]


def _setting(name: str) -> dict[str, Any]:
    *server, commit_wait, commit_logging = name.split("/")
    tier = "disk" if commit_wait == "wait" else "memory"
    return {
        "name": name,
        "levels": {
            **({"server": server[0]} if server else {}),
            "commit_wait": commit_wait,
            "commit_logging": commit_logging,
        },
        "parameters": {
            "synchronous_commit": "on" if commit_wait == "wait" else "off",
            "commit_delay": "0" if commit_logging == "immediate" else "2500",
            "wal_writer_delay": {"nowait/immediate": "10ms", "nowait/batch": "1s"}.get(name, "200ms"),
        },
        "tier": tier,
        "tier_text": TIER_TEXT[tier],
    }

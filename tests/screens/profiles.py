"""Made-up live profiles whose screens are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from redolab.analysis.live.profile import profile_observation
from redolab.forecast.advice.advice import advised
from redolab.records.observation import Observed, WaitEnds
from tests.unit.analysis.observations import (
    INSTRUMENT,
    Look,
    make_background,
    make_episodes,
    make_observation,
    make_process,
)

SESSION = 4025
"""The session behind a row lock in `busy`."""
_TICKS, _ELAPSED_S = 498, 10.0
_LIVES: Mapping[str, Mapping[tuple[str, str], float]] = {
    "web": {
        ("", "on_cpu"): 0.09, ("IO:WalSync", "asleep"): 0.08, ("LWLock:WALWrite", "asleep"): 0.36,
        ("LWLock:WALWrite", "runnable"): 0.02, ("", "asleep"): 0.004,
    },
    "nightly": {
        ("", "on_cpu"): 0.55, ("", "runnable"): 0.15, ("IO:DataFileRead", "asleep"): 0.25,
        ("IO:BuffileRead", "asleep"): 0.05,
    },
    "reporting_of_a_long_name": {("Lock:transactionid", "asleep"): 0.9, ("", "on_cpu"): 0.01},
    "idle": {},
    "walwriter": {("IO:WalWrite", "asleep"): 0.03, ("", "on_cpu"): 0.01},
}  # fmt: skip


def busy() -> dict[str, Any]:
    """A local PostgreSQL: clients that commit, a batch, a session behind a row lock, idle connections."""
    names = ["web"] * 24 + ["nightly", "reporting_of_a_long_name"] + ["idle"] * 6
    processes = [_session(4000 + place, name) for place, name in enumerate(names)]
    names.append("walwriter")
    processes.append(make_background(3990, elapsed_s=_ELAPSED_S, cpu_s=0.1, run_queue_s=0.01))
    observation = make_observation(processes, _looks(names), _TICKS, _ELAPSED_S)
    rng = np.random.default_rng(2)
    code = observation.events.index
    sync, write = rng.lognormal(1.2, 0.5, 400), rng.lognormal(0.6, 0.4, 160)
    return advised(
        profile_observation(
            replace(
                observation,
                wait_ends=(
                    *(WaitEnds(place, code(("LWLock", "WALWrite")), 0.02, 6) for place in range(24)),
                    *(WaitEnds(place, code(("IO", "WalSync")), 0.004, 2) for place in range(24)),
                    WaitEnds(24, code(("IO", "DataFileRead")), 0.05, 160),
                    WaitEnds(25, code(("Lock", "transactionid")), 8.4, 0),
                ),
                log_sync=make_episodes(sync.tolist(), [30.0]),
                log_write=make_episodes(write.tolist()),
                counters={"transactions": 24_120.0, "log_flushes": 4_410.0, "log_flush_time_s": 8.1},
                ended_cpu_s=0.02,
                host_busy_s=13.8,
                host_steal_s=0.3,
                instrument=replace(INSTRUMENT, looks=16_434, torn=57, late=2, cpu_s=0.031),
            )
        )
    )


def remote() -> dict[str, Any]:
    """A PostgreSQL on another machine: no accounts, no states."""
    names = ["web"] * 4
    unknown: dict[str, Any] = {"cpu_s": None, "run_queue_s": None}
    processes = [replace(_session(4000 + place, name), **unknown) for place, name in enumerate(names)]
    looks: list[Look] = [(tick, process, event, "unknown") for tick, process, event, _ in _looks(names)]
    observation = make_observation(processes, looks, _TICKS, _ELAPSED_S)
    return advised(
        profile_observation(
            replace(
                observation,
                server={"name": "postgresql", "version": "16.4", "place": "db1:5432/app", "local": False},
                counters={"transactions": 4_120.0, "log_flushes": None},
                ended_cpu_s=None,
                host_cpus=None,
                instrument=replace(
                    INSTRUMENT,
                    source="pg_stat_activity",
                    rate_per_s=20.0,
                    looks=1_992,
                    cpu_s=0.09,
                    realtime=None,
                ),
                not_available=(
                    (
                        "CPU, run queue",
                        "the server is on another machine; run Redolab there, as the same user",
                    ),
                    ("log waits one by one", "the server's memory cannot be read from here"),
                ),
                warnings=("The role may not see other users' sessions: GRANT pg_read_all_stats TO bench;",),
            )
        )
    )


def quiet() -> dict[str, Any]:
    """A server on which nobody does anything."""
    names = ["idle"] * 3
    processes = [_session(4000 + place, name) for place, name in enumerate(names)]
    return advised(profile_observation(make_observation(processes, (), _TICKS, _ELAPSED_S)))


def _session(pid: int, name: str) -> Observed:
    life = _LIVES[name]
    rng = np.random.default_rng(pid)
    return make_process(
        pid,
        _ELAPSED_S,
        user="app" if name == "web" else name.partition("_")[0],
        application=name,
        cpu_s=_ELAPSED_S * life.get(("", "on_cpu"), 0.0) * rng.uniform(0.97, 1.03),
        run_queue_s=_ELAPSED_S * sum(part for (_, state), part in life.items() if state == "runnable"),
        polls_idle=7,
        polls_in_transaction=3,
    )


def _looks(names: list[str]) -> list[Look]:
    rng = np.random.default_rng(1)
    looks: list[Look] = []
    for process, name in enumerate(names):
        states = list(_LIVES[name])
        chances = [*_LIVES[name].values()]
        found = rng.choice(len(states) + 1, _TICKS, p=[*chances, max(0.0, 1 - sum(chances))])
        looks += [(tick, process, *states[state]) for tick, state in enumerate(found) if state < len(states)]
    return looks

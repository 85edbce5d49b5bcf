"""Writes the stored results anew: `python -m tests.report.make_results`.

Made-up runs through the real store and the real analysis.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from redolab.analysis.observed.watch.periods import asked
from redolab.analysis.observed.watch.stretches import read_stretches
from redolab.experiment.answers import analyse
from redolab.records.run import Run
from tests.report.made_up import advised, bare, servers, wide
from tests.unit.analysis.synthetic import CPU_BOUND, LOG_BOUND, build_run, design
from tests.unit.experiment.durability.test_durability import kill_run
from tests.unit.watched import watched_run

DATA = Path(__file__).with_name("data")


def made_up(place: Path) -> dict[str, Run]:
    """One stored run per kept result of a shipped experiment."""
    plan = design(blocks=8)
    spoiled = next(t.sample for t in plan.order() if t.block == 5 and t.setting == "nowait/immediate")
    change: dict[int, dict[str, Any]] = {
        spoiled: {"spoiled": "session 3 died: terminating connection due to administrator command"},
        spoiled + 4: {"checkpoints": 1},
    }
    remote = dict.fromkeys(
        ("session_cpu_s", "session_run_queue_s", "instance_cpu_s", "instance_run_queue_s",
         "host_cpus", "host_busy_s", "host_steal_s")
    )  # fmt: skip
    return {
        "log_bound": build_run(place / "log", LOG_BOUND, plan, log_device_ms=5.0, change=change),
        "cpu_bound": build_run(place / "cpu", CPU_BOUND, plan, load="cpu"),
        "interrupted": build_run(
            place / "interrupted", LOG_BOUND, plan, status="interrupted", only_first=3,
            change=dict.fromkeys((1, 2, 3), remote),
        ),
        "durability": kill_run(
            place / "kills",
            {"wait/immediate": 0, "wait/batch": 0, "nowait/immediate": 31, "nowait/batch": 212},
        ),
    }  # fmt: skip


def every(place: Path) -> dict[str, dict[str, Any]]:
    """Every kept results object by its name."""
    found = {name: analyse(run) for name, run in made_up(place).items()}
    found |= {"wide": wide(place / "wide"), "bare": bare(), "advised": advised(place / "advised")}
    found["servers"] = servers(place / "servers")
    found["watch"] = watch(place / "watch")
    return {
        name: results | {"run": f"redolab-runs/{results['experiment']}-20261121-080000"}
        for name, results in found.items()
    }


def watch(place: Path) -> dict[str, Any]:
    """A period of a watch against another one, two hours of slow flushes among the hours of two days."""
    run = watched_run(place)
    begins, ends = ("2026-11-24T07:00", "2026-11-24T13:00"), ("2026-11-24T09:00", "2026-11-24T15:00")
    return analyse(run, None, asked(read_stretches(run), begins, ends))


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        for name, results in every(Path(place)).items():
            text = json.dumps(results, allow_nan=False)
            (DATA / f"results_{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()

"""Results of made-up experiments that no shipped one gives: very wide, and without a server.

`advised` is a run with costs, from which changes are forecast. `servers` has two servers side by side, of
which one promises more under nowait/immediate. `wide` has 16 settings with another unit of work and an
experiment's own tables, figures and findings, and is computed by the real analysis. `bare` has no time
profile, no histogram, no null test, no comparisons, no curve and no instrument.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest import mock

from redolab.analysis.compared import Compared, compare_run
from redolab.analysis.exhibits import Axis, Column, Figure, Finding, Series, Table
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict
from redolab.experiment.answers import analyse, with_forecasts
from redolab.forecast.advice import advice
from redolab.records.design import Design
from redolab.records.run import Run
from redolab.records.writing.writer import RunWriter
from redolab.stats.estimates import Estimate
from tests.forecasts import TODAY, make_calibrated
from tests.unit.analysis.synthetic import (
    BASELINE,
    LOG_BOUND,
    Behaviour,
    build_run,
    design,
    manifest,
    one_sample,
)

SIZES = tuple(str(2**power) for power in range(16))
SOURCE = "A. Author, A blog, A made-up post, 1 January 2010"


def servers(place: Path) -> dict[str, Any]:
    """A private PostgreSQL and a MariaDB in the same blocks."""
    quicker = {
        name: replace(
            it, response_s=0.8 * it.response_s, cpu_s=0.8 * it.cpu_s, run_queue_s=0.8 * it.run_queue_s
        )
        for name, it in LOG_BOUND.items()
    }
    behaviours = {f"embedded/{name}": it for name, it in LOG_BOUND.items()}
    behaviours |= {f"mariadb/{name}": it for name, it in quicker.items()}
    plan = replace(design(blocks=10), settings=tuple(behaviours), baseline=f"embedded/{BASELINE}")
    run = build_run(place, behaviours, plan)
    own = dict(run.manifest["engine"])
    run.manifest["engine"] |= {
        "name": "side by side",
        "servers": {"embedded": own, "mariadb": own | {"name": "mariadb", "version": "10.11.14"}},
    }
    for setting in run.manifest["settings"]:
        if setting["name"] == "mariadb/nowait/immediate":
            setting |= {"tier": "os", "tier_text": "handed to the operating system before the commit returns"}
    return analyse(run)


def wide(place: Path) -> dict[str, Any]:
    """A run like rows-per-commit: R falls to a floor with the rows per commit."""
    run = _wide_run(place)
    compared = compare_run(run)
    found = results(
        compared,
        Verdict(
            "32 rows per commit bring 95.1 % (93.8 to 96.2) of what 32,768 bring. More than that is "
            "hardly worth the rows at risk.",
            "better",
            "1",
            "4096",
        ),
        tables=(_collected(compared), _as_published(compared)),
        figures=(_over_rows(compared), _by_kind()),
        published=_findings(),
        sources=(SOURCE,),
    )
    return with_forecasts(found, run, compared)


def _wide_run(place: Path) -> Run:
    plan = Design(SIZES, "1", blocks=6, seconds=1.2, warmup_s=0.4, seed=11, units=20_000)
    named = [_setting(name) for name in SIZES]
    writer = RunWriter(
        place,
        manifest(replace(plan, settings=("wait/immediate",), baseline="wait/immediate"))
        | {
            "experiment": "rows-per-commit",
            "question": "How many rows should go into a commit?",
            "unit": "row",
            "design": asdict(plan) | {"settings": list(SIZES)},
            "order": [asdict(trial) for trial in plan.order()],
            "settings": named,
            "load": {"kind": "inserts", "name": "", "sessions": 5, "scope": "session"},
            "mapping": [],
        },
    )
    for trial in plan.order():
        rows = int(trial.setting)
        factor = 1 + 0.01 * ((trial.sample * 7919) % 13 - 6) / 6
        per_row = 0.00002 + 0.0004 / rows
        behaviour = Behaviour(
            per_row, 0.000012, 0.000002, {"IO:WalSync": 0.5 / rows**0.3, "LWLock:WALWrite": 0.2}, 0.0004
        )
        sample, waits, processes = one_sample(trial, behaviour, factor)
        counted = replace(sample, commits=max(1, sample.commits // rows), units=sample.commits)
        flushes = max(1, counted.commits // 2)
        counted = replace(counted, log_flushes=flushes, log_flush_time_s=0.0004 * flushes)
        writer.append(counted, waits, processes, [])
    return writer.finish("finished")


def _setting(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "levels": {"rows_per_commit": name},
        "parameters": {},
        "tier": "disk",
        "tier_text": "flushed to disk before the commit returns",
    }


def _collected(compared: Compared) -> Table:
    return Table(
        key="collected",
        caption="Where the benefit has been collected",
        columns=(
            Column("part", "Part of the benefit", "text"),
            Column("rows", "Rows per commit", "count"),
            Column("elapsed", "Elapsed for the fixed number of rows", "estimate", "s per 20,000 rows"),
            Column("share", "Collected", "share"),
            Column("change", "Change", "change"),
            Column("pvalue", "p", "pvalue"),
            Column("outcome", "Outcome", "outcome"),
        ),
        rows=[
            {
                "part": part,
                "rows": rows,
                "elapsed": Estimate(elapsed, 0.95 * elapsed, 1.04 * elapsed),
                "share": Estimate(share, share - 0.013, share + 0.011),
                "change": -100 * share,
                "pvalue": 0.00004,
                "outcome": "better",
            }
            for part, rows, elapsed, share in (
                ("90 %", 16, 1.62, 0.91),
                ("99 %", 128, 1.51, 0.991),
                ("all", None, None, 0.999),
            )
            if elapsed is not None
        ]
        + [{"part": "all", "rows": None, "elapsed": None, "share": None, "outcome": None}],
        note=f"Over {len(compared.names)} settings.",
        first=True,
    )


def _as_published(compared: Compared) -> Table:
    return Table(
        key="batch",
        caption="As published, table 1",
        columns=(
            Column("size", "Batch size", "count", "rows"),
            Column("elapsed", "Elapsed", "number", "s"),
            Column("change", "Change", "change"),
        ),
        rows=[{"size": int(name), "elapsed": 10 / int(name) + 2, "change": -46.0} for name in compared.names],
    )


def _over_rows(compared: Compared) -> Figure:
    times = [0.02 + 0.4 / int(name) for name in compared.names]
    return Figure(
        key="over-rows",
        title="Time per row over rows per commit",
        caption="Points are measured, with 95 % intervals; the line is a + b / n.",
        x=Axis("Rows per commit", logarithmic=True),
        y=Axis("R", "ms per row", logarithmic=True),
        series=(
            Series(
                "measured",
                [int(name) for name in compared.names],
                times,
                [0.9 * time for time in times],
                [1.1 * time for time in times],
            ),
            Series(
                "a + b / n", [1.0, 8.0, 64.0, 512.0, 32768.0], [0.42, 0.07, 0.026, 0.021, 0.02], style="line"
            ),
            Series("a single-server queue", [1.0, 32768.0], [0.5, None], style="dashed"),
        ),
    )


def _by_kind() -> Figure:
    return Figure(
        key="by-kind",
        title="Elapsed by kind",
        caption="Bars with intervals, and an area, over words.",
        x=Axis("Kind"),
        y=Axis("Elapsed", "s"),
        series=(
            Series(
                "session", ["inserts", "updates", "both"], [3.2, 4.4, 8.1], [3, 4, 8], [3.3, 4.9, 8.2], "bars"
            ),
            Series("instance", ["inserts", "updates", "both"], [4.2, 5.4, None], style="bars"),
            Series("floor", ["inserts", "updates", "both"], [1.0, 1.1, 1.0], style="area"),
        ),
    )


def _findings() -> tuple[Finding, ...]:
    return (
        Finding(
            "made-up-benefit", "Elapsed falls by half with 32 rows per commit", "−46 %",
            Estimate(-41.2, -43.0, -39.1), "%", "agrees", "both intervals overlap", SOURCE,
        ),
        Finding(
            "made-up-wall", "More rows bring nothing more", "−48 % at 32,768 rows",
            Estimate(-71.0, -73.0, -69.1), "%", "differs", "the log device here is slower", SOURCE,
        ),
        Finding(
            "made-up-servers", "M solved from batch 1", "1.4235", None, "",
            "not comparable", "one session never waits for itself", SOURCE,
        ),
    )  # fmt: skip


def advised(place: Path) -> dict[str, Any]:
    """A commit-mode run from which changes are forecast, with costs that are made up."""
    made = make_calibrated()
    measured = {BASELINE: made.measured[TODAY], **made.measured}
    costs = replace(made, measured=measured, today=BASELINE)
    with mock.patch.object(advice, "calibrate", return_value=costs):
        return analyse(build_run(place, LOG_BOUND, design(blocks=4)))


def bare() -> dict[str, Any]:
    """A run like cpu-capacity: no database, no profile, nothing to compare."""
    return {
        "format": 1,
        "experiment": "cpu-capacity",
        "run": "redolab-runs/cpu-capacity-20261121-080000",
        "question": "How much CPU does this machine give?",
        "unit": "process",
        "status": "finished",
        "engine": {"name": "machine", "version": "", "local": True, "emulated": {}},
        "load": {"kind": "spins", "name": "", "sessions": 4, "scope": "session", "seconds": 0.5},
        "verdict": {
            "text": "This machine gives the work of 1.97 CPUs (1.95 to 1.99).",
            "outcome": "equivalent", "outcome_text": "powered by its cores", "baseline": "1", "best": None,
        },
        "settings": [
            {"name": str(count), "levels": {"processes": str(count)}, "tier": "", "samples": 10, "spoiled": 0}
            for count in (1, 2, 3, 4)
        ],
        "tables": [],
        "figures": [
            Figure(
                key="elapsed", title="Elapsed over processes", caption="Measured beside the ideal.",
                x=Axis("Processes"), y=Axis("Elapsed", "s"),
                series=(Series("measured", [1, 2, 3, 4], [0.5, 0.51, 0.77, 1.02]),),
            ).as_json()
        ],
        "published": [],
        "method": {
            "design": {
                "settings": ["1", "2", "3", "4"], "baseline": "1", "blocks": 10, "seconds": 0.5,
                "warmup_s": 0, "seed": 5, "null_pair": False, "margin": 0.05, "units": None,
            },
            "machine": {"cpus": 2, "cpu_model": "Made-up CPU"},
            "order": [], "mapping": [], "parameter_changes": [],
            "not_measured": ["wait events: there is no database"], "started_at": "2026-11-21T08:00:00Z",
            "finished_at": "2026-11-21T08:01:48Z", "redolab_version": "0.1.0",
        },
        "warnings": [],
    }  # fmt: skip

"""Small stored and reported runs of every experiment, for damage to be done to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from redolab.engine import open_engine
from redolab.engine.fake import FakeEngine, FakeScript
from redolab.engine.side_by_side import SideBySide as EnginesBeside
from redolab.experiment import EXPERIMENTS, find_experiment
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.experiment.side_by_side import SideBySideExperiment
from redolab.measure import runner
from redolab.records.schema import FORMATS
from redolab.records.store import open_run
from redolab.records.writing.writer import RunWriter, write_report, write_results
from redolab.report.page.html import render
from tests.hashes import file_hash
from tests.unit.analysis import synthetic
from tests.unit.experiment.durability.test_durability import kill_run
from tests.unit.experiment.verify_forecast import test_verify_forecast
from tests.unit.watched import busy_days, steady, watched_run

_MEASURED = Path(__file__).parents[1] / "validation" / "data" / "group_commit_measured"
_COSTS = ("1/1/wait/0/server/1", "8/1/wait/0/server/1", "8/32/wait/0/server/1", "8/1/nowait/0/server/1")
_SCRIPT = FakeScript(
    cpu_ns=20_000, run_queue_ns=5_000, waits_ns={("IO", "WalSync"): 75_000}, log_bytes=200,
    commits_per_flush=4, flush_ns=40_000, sampling_loss=0.02,
)  # fmt: skip


class Quiet:
    """Nobody watches."""

    def begin(self, samples: int, seconds: float) -> None: ...

    def news(self, text: str) -> None: ...

    def advance(self, setting: str) -> None: ...


def make_runs(place: Path, names: Iterable[str] | None = None) -> dict[str, Path]:
    """One run of each kind under `place`, by its name; of `names` alone where they are given."""
    place.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in _MAKERS if names is None else names:
        _MAKERS[name](place / name)
        found[name] = place / name
        run = open_run(place / name)
        results = analyse(run)
        write_results(run, results)
        write_report(run, render(results))
    return found


def to_format_1(run: Path) -> None:
    """Make a stored run what a Redolab of format 1 would have stored: its column names, hashes that fit."""
    for path in sorted((*run.glob("samples.parquet"), *run.glob("parts/samples-*.parquet"))):
        table = pq.read_table(path)
        names = [FORMATS[1].get(name, name) for name in table.column_names]
        pq.write_table(table.rename_columns(names), path)
    manifest = json.loads((run / "manifest.json").read_text()) | {"format": 1}
    manifest["hashes"] = {name: file_hash(run / name) for name in manifest["hashes"]}
    (run / "manifest.json").write_text(json.dumps(manifest))


def _faked(name: str) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        experiment = find_experiment(name)
        plan = experiment.plan(Wish(quick=True, blocks=3, seconds=1.0, seed=7))
        engine = FakeEngine(dict.fromkeys(plan.combinations, _SCRIPT))
        outcome = runner.run(experiment, plan, engine, place, Quiet(), "redolab run", engine.clock)
        assert outcome.error is None

    return make


def _side_by_side(place: Path) -> None:
    experiment = SideBySideExperiment(
        find_experiment("commit-mode"), {"a": lambda _: None, "b": lambda _: None}, across_tiers=False
    )
    plan = experiment.plan(Wish(quick=True, blocks=3, seconds=1.0, seed=7))
    scripts = {name.partition("/")[2]: _SCRIPT for name in plan.combinations}
    engine = EnginesBeside({"a": FakeEngine(scripts), "b": FakeEngine(scripts, fsync=False)})
    outcome = runner.run(experiment, plan, engine, place, Quiet(), "redolab run")
    assert outcome.error is None


def _drawn(place: Path) -> None:
    experiment = find_experiment("sampling-distribution")
    plan = experiment.plan(Wish(quick=True, blocks=3, seed=1))
    engine = open_engine("generator", plan.load, 0, (), 1)
    assert runner.run(experiment, plan, engine, place, Quiet(), "redolab run").error is None


def _killed(place: Path) -> None:
    """A run whose process was killed: parts alone."""
    plan = synthetic.design(blocks=2)
    writer = RunWriter(place, synthetic.manifest(plan))
    for trial in plan.order()[:7]:
        sample, waits, processes = synthetic.one_sample(trial, synthetic.LOG_BOUND[trial.setting])
        writer.append(sample, waits, processes)


def _killed_in_format_1(place: Path) -> None:
    _killed(place)
    to_format_1(place)


def _durable(place: Path) -> None:
    assert kill_run(place, {"wait/immediate": 0, "nowait/batch": 40}, 3).samples.num_rows == 6


def _checked(place: Path) -> None:
    assert test_verify_forecast.check(place, test_verify_forecast.sealed_forecast()).error is None


def _calibrated(place: Path) -> None:
    """Two blocks of a few settings of a run that was measured."""
    place.mkdir()
    manifest = json.loads((_MEASURED / "manifest.json").read_text())
    manifest["settings"] = [item for item in manifest["settings"] if item["name"] in _COSTS]
    manifest["design"] |= {"settings": list(_COSTS), "baseline": _COSTS[1], "blocks": 2}
    samples = pq.read_table(_MEASURED / "samples.parquet")
    samples = samples.filter(
        [
            setting in _COSTS and block <= 2
            for setting, block in zip(
                samples["setting"].to_pylist(), samples["block"].to_pylist(), strict=True
            )
        ]
    )
    for kind in ("samples", "waits", "profile", "overhead", "latency"):
        table = pq.read_table(_MEASURED / f"{kind}.parquet")
        table = table.filter(pc.is_in(table["sample"], samples["sample"].combine_chunks()))
        if kind == "latency":
            table = table.slice(0, 2000)
        pq.write_table(table, place / f"{kind}.parquet")
        manifest["hashes"][f"{kind}.parquet"] = file_hash(place / f"{kind}.parquet")
    (place / "manifest.json").write_text(json.dumps(manifest))


def _watched(place: Path) -> None:
    """A watch of two starts with spoiled stretches."""
    watched_run(place, busy_days(stretch_s=3600.0))


def _still_watched(place: Path) -> None:
    watched_run(place, steady(6), "mariadb", status=None)


_MAKERS: Mapping[str, Callable[[Path], None]] = {
    **{name: _faked(name) for name in EXPERIMENTS},
    "side-by-side": _side_by_side,
    "durability": _durable,
    "sampling-distribution": _drawn,
    "calibrate": _calibrated,
    "verify-forecast": _checked,
    "killed": _killed,
    "watched": _watched,
    "still-watched": _still_watched,
    "killed-format-1": _killed_in_format_1,
}

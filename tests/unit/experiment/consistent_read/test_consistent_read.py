"""The figures of consistent-read from made-up samples, worked out by hand; and what drift does to them."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pytest

from redolab.analysis.compared import compare_run
from redolab.experiment import find_experiment
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.experiment.consistent_read import tables as shown
from redolab.experiment.consistent_read.answer import verdict
from redolab.experiment.consistent_read.prices import ScanFigures, all_pairs, log_ratios, read_run, slopes
from redolab.records.design import Trial
from redolab.records.load import Scans
from redolab.records.sample import Sample
from redolab.records.schema import schema
from redolab.records.store import open_run
from redolab.records.writing.writer import RunWriter
from tests.unit.analysis import synthetic

EXPERIMENT = find_experiment("consistent-read")
ROWS = 18_000
SCANS = 4


@dataclass(frozen=True)
class Prices:
    """What a made-up engine takes for a row that is seen, a version that is not, and a first query."""

    row_ns: float = 100.0
    version_ns: float = 40.0
    run_queue: float = 0.0
    """Part of the elapsed time."""
    first: Callable[[int], float] = lambda rounds: 1.0  # noqa: ARG005
    """A first query over a later one, by rounds."""
    tells_versions: bool = True


def made_sample(trial: Trial, prices: Prices, factor: float) -> Sample:
    rounds = int(trial.setting)
    extra = 2 * (ROWS // 18) * rounds
    again_s = (ROWS * prices.row_ns + extra * prices.version_ns) * 1e-9 * factor
    first_s = prices.first(rounds) * again_s
    cpu_s = first_s + (SCANS - 1) * again_s
    elapsed_s = cpu_s / (1 - prices.run_queue)
    base, _, _ = synthetic.one_sample(trial, synthetic.LOG_BOUND["wait/immediate"])
    return replace(
        base,
        units=SCANS, sessions=1, commits=0, rows=0, failed=0,
        elapsed_s=elapsed_s, session_elapsed_s=elapsed_s, session_cpu_s=cpu_s,
        session_run_queue_s=elapsed_s - cpu_s, instance_cpu_s=cpu_s, instance_run_queue_s=0.0,
        first_unit_s=first_s,
        row_versions=SCANS * (ROWS + extra) if prices.tells_versions else None,
        buffer_hits=SCANS * (100 + extra // 100), buffer_reads=0,
    )  # fmt: skip


def figures_of(
    place: Path,
    prices: Prices = Prices(),
    factor: Callable[[Trial], float] = lambda trial: 1.0,  # noqa: ARG005
    blocks: int = 12,
    only_first: int | None = None,
) -> ScanFigures:
    plan = EXPERIMENT.plan(Wish(rows=ROWS, blocks=blocks, seed=3))
    manifest = synthetic.manifest(synthetic.design()) | {
        "experiment": "consistent-read",
        "unit": "query",
        "design": dataclasses.asdict(plan.design),
        "order": [dataclasses.asdict(trial) for trial in plan.design.order()],
        "settings": [
            {"name": name, "levels": dict(levels), "parameters": {}, "scopes": {}, "tier": "disk",
             "tier_text": "flushed"}
            for name, levels in plan.combinations.items()
        ],
        "mapping": [],
        "load": {"kind": "scans", **dataclasses.asdict(plan.load)},
    }  # fmt: skip
    order = plan.design.order()[:only_first]
    samples = [dataclasses.asdict(made_sample(trial, prices, factor(trial))) for trial in order]
    # To write and read each sample would take four times as long as all the rest.
    empty = RunWriter(place, manifest).finish("finished")
    run = replace(empty, samples=pa.Table.from_pylist(samples, schema=schema(Sample)))
    return read_run(compare_run(run))


def noisy(seed: int, drift: float) -> Callable[[Trial], float]:
    """5 % of noise, and a slowing down by `drift` over the run."""
    draw = random.Random(seed)
    return lambda trial: math.exp(draw.gauss(0, 0.05)) * (1 + drift * trial.sample / 72)


def test_prices_and_ratios_come_out_as_they_were_made(tmp_path: Path) -> None:
    # Drift from block to block is in every setting of a block alike: it cancels to the last digit.
    figures = figures_of(tmp_path / "run", factor=lambda trial: 1 + trial.block / 4)
    for rounds in (1, 2, 3, 9):
        versions = 1 + 2 * rounds / 18
        name = str(rounds)
        assert figures.versions[name].point == pytest.approx(versions, rel=1e-12)
        assert figures.elapsed[name].point == pytest.approx(1 + 0.4 * (versions - 1), rel=1e-12)
        assert figures.cpu[name].low == pytest.approx(1 + 0.4 * (versions - 1), rel=1e-12)
        assert figures.buffers[name].point == pytest.approx((100 + 20 * rounds) / 100, rel=1e-12)
    mean_factor = sum(1 + block / 4 for block in range(1, 13)) / 12
    assert figures.row_cost_ns.point == pytest.approx(100 * mean_factor)
    assert figures.version_cost_ns.point == pytest.approx(40 * mean_factor)
    assert figures.slope.point == pytest.approx(0.4)
    assert figures.versions_for(1.5).point == pytest.approx(1.25)
    assert not figures.by_cpu
    assert all(item.detected for item in figures.judged)
    assert figures.judged[2].pvalue == pytest.approx(2 / 3**12, abs=1e-3)


def test_a_first_query_that_builds_versions_shows(tmp_path: Path) -> None:
    # A first query takes 10 % longer in any case, and three times as long again after three rounds.
    figures = figures_of(tmp_path / "run", Prices(first=lambda rounds: 1.1 * (3.0 if rounds == 3 else 1.0)))
    assert figures.first["0"].point == pytest.approx(1.1)
    # One of the four settings with updates.
    assert figures.building.point == pytest.approx(3.0 ** (1 / 4))
    assert figures.first["3"].point == pytest.approx(3.3)
    assert figures.first_beyond["3"].point == pytest.approx(3.0)
    assert figures.first_beyond["2"].point == pytest.approx(1.0)
    assert "later queries find the pages that the first query built or fetched" in verdict(figures).text
    assert shown.findings(figures)[2].agreement == "agrees"


def test_drift_is_not_taken_for_an_effect(tmp_path: Path) -> None:
    """With versions that cost nothing and a run that slows down by half, few runs find a difference."""
    found = 0
    for seed in range(8):
        figures = figures_of(tmp_path / str(seed), Prices(version_ns=0.0), noisy(seed, 0.5))
        found += any(item.detected for item in figures.judged)
    # 8 runs at 5 %: more than 2 have a probability of 0.6 %.
    assert found <= 2


def test_an_effect_is_found_under_drift(tmp_path: Path) -> None:
    covered = 0
    for seed in range(8):
        figures = figures_of(tmp_path / str(seed), factor=noisy(seed, 0.5))
        low, high = figures.elapsed["3"].low, figures.elapsed["3"].high
        assert low is not None
        assert high is not None
        covered += low <= 1 + 0.4 / 3 <= high
        assert next(item for item in figures.judged if item.setting == "9").outcome == "worse"
    assert covered >= 6


def test_on_a_busy_machine_queries_are_judged_by_their_cpu_time(tmp_path: Path) -> None:
    figures = figures_of(tmp_path / "run", Prices(run_queue=0.3))
    assert figures.by_cpu
    assert figures.busy.point == pytest.approx(0.3)
    answer = verdict(figures)
    assert answer.outcome == "worse"
    assert "times as much CPU time as without updates." in answer.text
    assert "waited 30 % of their time for a CPU" in shown.warnings(figures)[0]


def test_the_verdict_tells_when_the_published_effect_shows(tmp_path: Path) -> None:
    cheap, dear = figures_of(tmp_path / "cheap"), figures_of(tmp_path / "dear", Prices(version_ns=200.0))
    assert cheap.elapsed["3"].point == pytest.approx(1 + 0.4 / 3)
    assert "does not show here" in verdict(cheap).text
    assert "would need 1.25 (1.25 to 1.25) more versions per row" in verdict(cheap).text
    assert "or 11 (11 to 11) rounds of updates." in verdict(cheap).text
    assert "does not show here (9 rounds: 1.40 times)." in verdict(cheap).text
    assert dear.elapsed["3"].point == pytest.approx(1 + 2 / 3)
    assert "shows here too (9 rounds: 3.00 times)" in verdict(dear).text
    assert [finding.agreement for finding in shown.findings(cheap)[:2]] == ["differs", "agrees"]
    assert [finding.agreement for finding in shown.findings(dear)[:2]] == ["agrees", "agrees"]


def test_an_engine_without_versions_is_judged_by_time_alone(tmp_path: Path) -> None:
    figures = figures_of(tmp_path / "run", Prices(version_ns=0.0, tells_versions=False), noisy(1, 0.0))
    assert figures.versions["3"].point is None
    assert figures.version_cost_ns.point is None
    assert figures.versions_for(1.5).point is None
    answer = verdict(figures)
    assert answer.outcome == "equivalent"
    assert "a scan does not become slower with the updates of others" in answer.text
    assert shown.findings(figures)[1].agreement == "differs"


def test_a_run_that_differs_from_itself_is_withheld(tmp_path: Path) -> None:
    figures = figures_of(tmp_path / "run", factor=lambda trial: 1.3 if trial.role == "baseline_b" else 1.0)
    assert verdict(figures).outcome == "withheld"


@pytest.mark.parametrize("samples", [0, 1, 7])
def test_a_run_that_has_hardly_begun_is_no_error(tmp_path: Path, samples: int) -> None:
    figures = figures_of(tmp_path / "run", only_first=samples)
    assert verdict(figures).outcome == "undecided"
    results = analyse(open_run(tmp_path / "run"))
    assert {table["key"] for table in results["tables"]} == {table.key for table in shown.tables(figures)}


def test_all_pairs_are_adjusted_over_all_pairs(tmp_path: Path) -> None:
    figures = figures_of(tmp_path / "run", factor=noisy(5, 0.0))
    pairs = figures.pairs
    assert [(pair.a, pair.b) for pair in pairs][:5] == [
        ("0", "1"), ("0", "2"), ("0", "3"), ("0", "9"), ("1", "2"),
    ]  # fmt: skip
    assert len(pairs) == 10
    smallest = min(pairs, key=lambda pair: pair.pvalue or 1.0)
    assert smallest.pvalue is not None
    assert smallest.pvalue_adjusted == pytest.approx(min(1.0, 10 * smallest.pvalue))
    same = all_pairs({"0": figures.queries["0"], "x": figures.queries["0"]}, lambda query: query.elapsed_s, 1)
    assert same[0].pvalue == 1.0
    assert same[0].mann_whitney == pytest.approx(1.0)


def test_blocks_that_cannot_be_paired_are_left_out(tmp_path: Path) -> None:
    queries = [query for items in figures_of(tmp_path / "run").queries.values() for query in items]
    without = [query for query in queries if not (query.block == 1 and query.setting == "0")]
    assert len(log_ratios(queries, ["3"], "0", lambda query: query.elapsed_s)) == 12
    assert len(log_ratios(without, ["3"], "0", lambda query: query.elapsed_s)) == 11
    unknown = [replace(query, versions=None) if query.block == 2 else query for query in queries]
    assert len(slopes(unknown, lambda query: query.versions, lambda query: query.elapsed_s)) == 11


def test_a_table_that_does_not_fit_the_cache_is_told(tmp_path: Path) -> None:
    figures = figures_of(tmp_path / "run")
    queries = {
        name: [replace(query, buffer_reads=0.2 * (query.buffers or 0.0)) for query in items]
        for name, items in figures.queries.items()
    }
    assert shown.warnings(figures) == []
    assert "20 % of the pages" in shown.warnings(replace(figures, queries=queries))[0]


def test_the_published_proportions_are_kept() -> None:
    plan = EXPERIMENT.plan(Wish(seed=1))
    assert isinstance(plan.load, Scans)
    assert (plan.load.rows, plan.load.touched) == (18_000_000, 1_000_000)
    assert plan.design.blocks == 60
    assert plan.design.settings[:4] == ("0", "1", "2", "3")
    assert plan.load.versions == 18_000_000 + 2 * 1_000_000 * 9

"""session-count: numbers worked out by hand, and whole stored runs whichever way they come out."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redolab.errors import UsageError
from redolab.experiment import EXPERIMENTS
from redolab.experiment.answers import analyse
from redolab.experiment.base import Levels, Pilot, Wish
from redolab.experiment.session_count.pool import (
    CLIENT,
    LOG_SYNC,
    OTHER,
    UNACCOUNTED_TIME,
    pool_size,
    rates_by_block,
    session_profile,
    throughput_ratio,
    time_sources,
)
from redolab.records.design import Design
from redolab.records.load import Amount, Inserts
from redolab.records.run import Run
from redolab.records.sample import LatencyRow, Work
from redolab.records.writing.writer import RunWriter
from tests.unit.analysis.synthetic import Behaviour, design, manifest, one_sample

EXPERIMENT = EXPERIMENTS["session-count"]
SESSIONS = (4, 8, 16, 32)


def rates(*per_s: float, noise: float = 0.0, blocks: int = 6) -> Any:
    """Logarithms of throughput with deterministic noise that differs between blocks and settings."""
    rng = np.random.default_rng(1)
    return np.log(np.array(per_s))[:, None] + noise * rng.standard_normal((len(per_s), blocks))


@pytest.mark.parametrize(
    ("per_s", "pool"),
    [
        ((100, 150, 200, 250), 32),  # grows to the end
        ((100, 190, 195, 200), 8),  # 8 is within 5 % of the best, exactly
        ((100, 189, 195, 200), 16),  # and here it is not
        ((200, 150, 100, 50), 4),
        ((100, 200, 150, 120), 8),
    ],
)
def test_the_pool_is_the_fewest_sessions_within_the_margin_of_the_best(
    per_s: tuple[float, ...], pool: int
) -> None:
    found = pool_size(SESSIONS, rates(*per_s) + 1e-12 * np.arange(4)[::-1, None], 0.05, seed=1)
    assert (found.point, found.low, found.high) == (pool, pool, pool)


def test_noise_widens_the_interval_to_other_numbers_that_were_measured() -> None:
    found = pool_size(SESSIONS, rates(100, 188, 195, 200, noise=0.08), 0.05, seed=1)
    assert found.point is not None
    assert found.low is not None
    assert found.high is not None
    assert {found.low, found.high} <= set(SESSIONS)
    assert found.low < found.high
    assert found.low <= found.point <= found.high
    assert found == pool_size(SESSIONS, rates(100, 188, 195, 200, noise=0.08), 0.05, seed=1)


def test_one_block_has_no_interval_and_none_no_pool() -> None:
    one = pool_size(SESSIONS, rates(100, 200, 300, 400, blocks=1), 0.05, seed=1)
    assert (one.point, one.low, one.high) == (32, None, None)
    assert pool_size(SESSIONS, rates(1, 1, 1, 1, blocks=0), 0.05, seed=1).point is None


def test_only_whole_blocks_count_and_the_pair_counts_once() -> None:
    blocks: Mapping[int, Mapping[tuple[str, str], float]] = {
        1: {("4", "baseline_a"): 1.0, ("4", "baseline_b"): 3.0, ("8", "treatment"): 5.0},
        2: {("4", "baseline_a"): 1.0},
    }
    sessions, found = rates_by_block(blocks, {8: "8", 4: "4"})
    assert sessions == (4, 8)
    assert found.tolist() == [[2.0], [5.0]]
    assert throughput_ratio(sessions, found, 8, 4).point == pytest.approx(math.exp(3.0))


def test_time_sources_add_up_and_keep_a_negative_rest() -> None:
    parts = time_sources(
        {"on_cpu": 1.0, "run_queue": 2.0, "IO:WalSync": 1.5, "LWLock:WALWrite": 0.5, "Client:ClientRead": 3.0,
         "Lock:relation": 0.25, "unaccounted": -0.75}
    )  # fmt: skip
    assert parts == {"CPU": 1.0, "run queue": 2.0, LOG_SYNC: 2.0, CLIENT: 3.0, OTHER: 0.25}
    rows = session_profile(7.5, parts)
    assert rows[-1].name == UNACCOUNTED_TIME
    assert rows[-1].seconds == pytest.approx(-0.75)
    assert sum(row.share for row in rows[1:]) == pytest.approx(1.0)


def stored(path: Path, per_s: tuple[float, ...], cpus: int = 2, blocks: int = 6, noise: float = 0.004) -> Run:
    """A run of 4 to 32 sessions that commit so many per second, half of whose time is log sync."""
    names = tuple(map(str, SESSIONS))
    plan = Design(names, "4", blocks, 1.0, 0.1, seed=3, units=10_000)
    content = manifest(design()) | {
        "design": asdict(plan) | {"settings": list(names)},
        "order": [asdict(trial) for trial in plan.order()],
        "experiment": "session-count",
        "unit": "commit",
        "settings": [
            {"name": name, "levels": {"sessions": name}, "parameters": {}, "tier": "disk", "tier_text": ""}
            for name in names
        ],
        "mapping": [],
        "load": {"kind": "inserts", "name": "inserts", "sessions": 32, "scope": "session"},
    }
    rng = np.random.default_rng(5)
    writer = RunWriter(path, content)
    for trial in plan.order():
        sessions = int(trial.setting)
        rate = dict(zip(names, per_s, strict=True))[trial.setting] * math.exp(noise * rng.standard_normal())
        elapsed_s = 10_000 / rate
        waits = {"IO:WalSync": 0.1, "LWLock:WALWrite": 0.4, "Client:ClientRead": 0.5}
        behaviour = Behaviour(sessions / rate, 2e-5, 4e-5, waits, 5e-5, sessions / 4)
        sample, seen, processes = one_sample(trial, behaviour, elapsed_s=elapsed_s)
        sample = replace(
            sample,
            sessions=sessions,
            commits=10_000,
            rows=10_000,
            server_rows=10_000,
            units=10_000,
            session_elapsed_s=sessions * elapsed_s,
            sampled_s=elapsed_s,
            log_flushes=40_000 // sessions,
            log_flush_time_s=40_000 // sessions * 5e-5,
            host_cpus=cpus,
            host_busy_s=1.0,
            client_cpu_s=0.25,
        )
        writer.append(
            sample, seen, processes, (),
            [LatencyRow(sample.sample, 1e6 * sessions / rate, 9_000),
             LatencyRow(sample.sample, 3e6 * sessions / rate, 1_000)],
        )  # fmt: skip
    return writer.finish("finished")


def found_in(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(analyse(run), allow_nan=False))
    return found


def finding(found: dict[str, Any], key: str) -> dict[str, Any]:
    return next(item for item in found["published"] if item["key"] == f"session-count-{key}")


def test_more_sessions_are_faster(tmp_path: Path) -> None:
    found = found_in(stored(tmp_path / "run", (1_000, 1_900, 3_900, 4_000)))
    assert found["verdict"]["outcome"] == "better"
    assert found["verdict"]["best"] == "16"
    text = found["verdict"]["text"]
    assert text.startswith("Let 16 sessions work at a time: they were ")
    assert "That is 8.0 sessions per CPU." in text
    assert (
        "does not hold here. One flush of the log serves 8.0 commits with 32 sessions and 1.0 with 4." in text
    )
    assert finding(found, "elapsed")["agreement"] == "differs"
    assert finding(found, "pool")["agreement"] == "differs"
    assert any("25 % with 4 sessions" in warning for warning in found["warnings"])


def test_fewer_sessions_are_faster_as_was_published(tmp_path: Path) -> None:
    found = found_in(stored(tmp_path / "run", (4_000, 3_000, 2_000, 1_000)))
    assert (found["verdict"]["outcome"], found["verdict"]["best"]) == ("worse", "4")
    assert "Many sessions are slower here, as was published" in found["verdict"]["text"]
    elapsed = finding(found, "elapsed")
    assert elapsed["agreement"] == "agrees"
    assert elapsed["ours"]["point"] == pytest.approx(4.0, rel=0.05)
    assert finding(found, "pool")["agreement"] == "agrees"


def test_all_are_equal(tmp_path: Path) -> None:
    found = found_in(stored(tmp_path / "run", (2_000, 2_000, 2_000, 2_000)))
    assert (found["verdict"]["outcome"], found["verdict"]["best"]) == ("equivalent", "4")
    assert finding(found, "elapsed")["agreement"] == "differs"


def test_noise_leaves_it_undecided(tmp_path: Path) -> None:
    found = found_in(stored(tmp_path / "run", (2_000, 2_050, 2_100, 2_150), noise=0.3))
    assert (found["verdict"]["outcome"], found["verdict"]["best"]) == ("undecided", None)
    assert finding(found, "elapsed")["agreement"] == "not comparable"


def test_other_numbers_of_sessions_than_the_published_are_not_compared(tmp_path: Path) -> None:
    found = found_in(stored(tmp_path / "run", (1_000, 1_900, 3_900, 4_000), cpus=4))
    assert {item["agreement"] for item in found["published"]} == {"not comparable"}
    assert "8 and 64 sessions on 4 CPUs" in finding(found, "elapsed")["why"]


def test_the_tables_say_what_was_put_in(tmp_path: Path) -> None:
    found = found_in(stored(tmp_path / "run", (1_000, 2_000, 4_000, 5_000), noise=0.0))
    tables = {table["key"]: table["rows"] for table in found["tables"]}
    sizes = {row["sessions"]: row for row in tables["sessions"]}
    assert sizes[4]["elapsed_s"]["point"] == pytest.approx(10.0)
    assert sizes[4]["p50"]["point"] == pytest.approx(4.0)
    assert sizes[4]["p95"]["point"] == pytest.approx(12.0)
    assert found["settings"][0]["commit_time_ms_p50"]["point"] == pytest.approx(4.0)
    # 32 clients that share 4 sessions finish 1,000 commits a second between them.
    pooler = {row["sessions"]: row for row in tables["pooler"]}
    assert pooler[4]["wait_ms"]["point"] == pytest.approx(32.0)
    assert pooler[4]["ratio"]["point"] == pytest.approx(0.2)
    profile = {row["timesource"]: row for row in tables["session-profile"] if row["sessions"] == 4}
    assert profile["TOTAL_TIME"]["seconds"]["point"] == pytest.approx(10.0)
    assert profile[CLIENT]["percentage"]["point"] == pytest.approx(
        profile[LOG_SYNC]["percentage"]["point"], rel=0.02
    )
    parts = [row["seconds"]["point"] for name, row in profile.items() if name != "TOTAL_TIME"]
    assert math.fsum(parts) == pytest.approx(10.0)
    events = [row for row in tables["top-events"] if row["sessions"] == 4]
    assert len(events) == 5
    assert CLIENT not in {row["event"] for row in events}
    flush = next(row for row in events if row["event"] == "WalSync")
    assert flush["average_ms"] == pytest.approx(0.05)
    assert flush["looks"] > 0


def test_a_run_without_samples_is_no_error(tmp_path: Path) -> None:
    run = stored(tmp_path / "run", (1_000, 2_000, 4_000, 5_000))
    empty = replace(run, samples=run.samples.slice(0, 0))
    found = json.loads(json.dumps(analyse(empty), allow_nan=False))
    assert found["verdict"]["outcome"] == "undecided"


def test_the_plan() -> None:
    plan = EXPERIMENT.plan(Wish(full=True, sessions=(32, 4)))
    assert plan.design.settings == ("4", "32")
    assert plan.design.baseline == "4"
    assert plan.design.units == 320_000
    assert plan.load == Inserts("", 32, "session", 100, loop="client")
    with pytest.raises(UsageError, match="names a number twice"):
        EXPERIMENT.plan(Wish(sessions=(4, 4)))
    with pytest.raises(UsageError, match="cannot be compared with anything"):
        EXPERIMENT.plan(Wish(sessions=(4,)))


def pilot_of(per_s: Mapping[str, int]) -> Pilot:
    """A pilot on a server that does so much per second in each setting."""

    def pilot(name: str, amount: Amount, _levels: Levels | None = None, /) -> Work:
        done = round(per_s[name] * amount.seconds)
        return Work(done, done, 0, amount.seconds, amount.seconds, done)

    return pilot


def test_a_quick_run_is_as_long_as_it_should_be_whatever_the_server() -> None:
    plan = EXPERIMENT.plan(Wish(quick=True, blocks=6, sessions=(4, 32)))
    assert plan.design.units is None
    # On the slow log 32 sessions would be done in less than 0.3 s, so everybody does more.
    for per_s, seconds in (({"4": 400, "32": 3_200}, 1.35), ({"4": 15_000, "32": 30_000}, 1.2)):
        fitted = EXPERIMENT.fit(plan, pilot_of(per_s)).design
        assert fitted.units is not None
        assert fitted.units % 32 == 0
        assert fitted.seconds == pytest.approx(seconds, rel=0.02)
        lengths = [fitted.units / rate for rate in per_s.values()]
        assert sum(lengths) / 2 == pytest.approx(fitted.seconds)

"""One suite for MariaDB 10.11 and 11.8 and MySQL 9.7, with a binary log and without: what a run says is true.

Every figure is from whole runs on private servers, as a user would make them.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from redolab import open_run
from redolab.dialect.innodb import NO_PAUSE, WITHOUT_BINLOG
from tests.kill.machine import at_work
from tests.server_programs import FAMILY, first_on_path
from tests.servers import Ended, in_this_process, wait_until

KILLS = int(os.environ.get("REDOLAB_KILLS", "2"))
DEVICE_MS = 5
# A server flushes now and then by itself: once at each end, between its own count and the device's.
IDLE_FLUSHES = 2
# How long a thread waits for a CPU while another one has its turn.
SLICE_S = 0.01
TIERS = {
    "wait/immediate": "disk",
    "wait/batch": "disk",
    "nowait/immediate": "os",
    "nowait/batch": "memory",
}


class Measured(NamedTuple):
    """A finished run."""

    results: dict[str, Any]
    samples: list[dict[str, Any]]
    manifest: dict[str, Any]


class Server(NamedTuple):
    """A kind of private server."""

    engine: str
    place: Path
    path: str

    @property
    def binlog(self) -> bool:
        return not self.engine.endswith(WITHOUT_BINLOG)

    def asked(self, *words: str) -> Ended:
        """What a command says; private servers live in a place of its own, where nothing is left."""
        kept = {f"XDG_{name}_HOME": str(self.place / name.lower()) for name in ("CACHE", "DATA")}
        return in_this_process(self.place, *words, environment={"PATH": self.path, **kept})

    def run(self, *words: str) -> Measured:
        out = self.place / words[0]
        done = self.asked("run", *words, "--engine", self.engine, "--quick", "--json", "--out", str(out))
        assert done.code == 0, done.err
        run = open_run(out)
        assert run.manifest["status"] == "finished"
        return Measured(json.loads(done.out), run.samples.to_pylist(), dict(run.manifest))


@pytest.fixture(
    scope="module", params=[(name, variant) for name in FAMILY for variant in ("", WITHOUT_BINLOG)], ids=str
)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    name, variant = request.param
    path = first_on_path(name)
    # The path of a socket may be no longer than 107 bytes.
    place = Path(tempfile.mkdtemp(prefix="redolab-family-"))
    engine = name.partition(" ")[0]
    yield Server(f"{engine}:{variant}" if variant else engine, place, path)
    # A guard has removed its server's directory before it ends.
    wait_until(lambda: not at_work(place), "every process ends")
    assert {path.name for path in (place / "cache").rglob("*")} == {"redolab", "servers", "lock"}
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def modes(server: Server) -> Measured:
    """Every commit mode under an emulated slow log."""
    return server.run(
        "commit-mode",
        "--blocks",
        "2",
        "--seconds",
        "0.3",
        "--sessions",
        "3",
        "--log-device-ms",
        str(DEVICE_MS),
    )


@pytest.fixture(scope="module")
def inserts(server: Server) -> Measured:
    """1 and 32 rows to a commit."""
    return server.run("rows-per-commit", "--blocks", "2", "--rows", "320", "--settings", "1,32")


def assert_counts_agree(sample: dict[str, Any]) -> None:
    assert sample["spoiled"] is None
    assert sample["failed"] == 0
    assert sample["commits"] == sample["server_commits"] > 0
    assert sample["rows"] == sample["server_rows"]


def test_commits_and_rows_are_those_of_the_server_in_every_sample(modes: Measured, inserts: Measured) -> None:
    for sample in modes.samples:
        assert_counts_agree(sample)
        assert sample["rows"] == sample["commits"]
    for sample in inserts.samples:
        assert_counts_agree(sample)
        assert sample["rows"] == int(sample["setting"]) * sample["commits"]


def test_the_four_rows_of_the_sessions_sum_to_elapsed(modes: Measured, inserts: Measured) -> None:
    for sample in (*modes.samples, *inserts.samples):
        told = sample["session_cpu_s"] + sample["session_run_queue_s"]
        # What the kernel owes a thread when its loop ends is in its account, and not in the loop.
        assert 0 < told <= 1.01 * sample["session_elapsed_s"] + SLICE_S * sample["sessions"]
    for setting in modes.results["settings"]:
        shares = {row["row"]: row["share"]["point"] for row in setting["profile"]}
        rest = shares.pop("unaccounted", 0.0)
        assert sum(shares.values()) + rest == pytest.approx(1, abs=0.01)
        assert rest >= -0.01
        assert min(shares.values()) >= 0


def test_settings_have_the_weaker_tier_of_both_logs(server: Server, modes: Measured) -> None:
    there = {name: tier for name, tier in TIERS.items() if server.binlog or name != "wait/batch"}
    assert {setting["name"]: setting["tier"] for setting in modes.results["settings"]} == there
    assert modes.manifest["engine"]["binlog"] is server.binlog
    assert modes.manifest["engine"]["variant"] == server.engine.partition(":")[2]


def test_without_a_binary_log_nothing_gathers_and_the_plan_says_so(server: Server) -> None:
    asked = ("run", "commit-mode", "--engine", server.engine, "--settings", "wait/immediate,wait/batch")
    done = server.asked(*asked, "--plan")
    if server.binlog:
        assert done.code == 0, done.err
        return
    assert done.code == 2
    assert f"The setting wait/batch is not applicable here: {NO_PAUSE}" in done.complaint
    plan = server.asked(*asked[:4], "--plan")
    assert plan.code == 0, plan.err
    assert NO_PAUSE in " ".join(plan.out.split())


def test_settings_order_as_their_tiers_promise(modes: Measured) -> None:
    def rate(setting: str) -> float:
        made = [sample for sample in modes.samples if sample["setting"] == setting]
        return float(statistics.median(sample["commits"] / sample["elapsed_s"] for sample in made))

    # At most all three sessions share a flush, so waiting is far slower than not waiting.
    assert rate("wait/immediate") <= 3 * 1000 / DEVICE_MS
    assert 3 * rate("wait/immediate") < rate("nowait/immediate")
    # Neither waits for a device; what the second saves is a write call.
    assert rate("nowait/immediate") < 2 * rate("nowait/batch")


def test_flushes_of_both_logs_are_those_of_the_device(server: Server, modes: Measured) -> None:
    for sample in modes.samples:
        flushes = sample["log_flushes"] + sample["binlog_flushes"]
        assert flushes == pytest.approx(sample["device_flushes"], abs=IDLE_FLUSHES)
        # The device was asked for as long as the flushes that it counted should take.
        asked_s = sample["device_flushes"] * DEVICE_MS / 1e3
        assert sample["device_requested_s"] == pytest.approx(asked_s)
        assert sample["device_delivered_s"] >= asked_s * 0.999
        if not server.binlog:
            assert sample["binlog_flushes"] == 0
        if sample["setting"].startswith("wait"):
            # Each flush serves at most every session, and each log is flushed for every commit.
            least = sample["commits"] / 3 - 1
            assert sample["log_flushes"] >= least
            assert not server.binlog or sample["binlog_flushes"] >= least
        else:
            assert flushes <= 0.01 * sample["commits"] + IDLE_FLUSHES


def test_times_of_flushes_are_there_where_the_server_keeps_them(server: Server, modes: Measured) -> None:
    for sample in modes.samples:
        if server.engine.startswith("mariadb"):
            assert sample["log_flush_time_s"] is sample["binlog_flush_time_s"] is None
        elif sample["setting"].startswith("wait"):
            # A server's own clock runs around the device's.
            timed = sample["log_flush_time_s"] + sample["binlog_flush_time_s"]
            assert timed >= 0.9 * (sample["device_flushes"] - IDLE_FLUSHES) * DEVICE_MS / 1e3
    missing = " ".join(modes.results["method"]["not_measured"])
    assert ("MariaDB counts flushes but does not time them" in missing) is server.engine.startswith("mariadb")


def test_a_tier_keeps_what_it_promises_when_the_server_is_killed(server: Server) -> None:
    settings = "wait/immediate,nowait/immediate,nowait/batch"
    kills = server.run(
        "durability", "--blocks", str(KILLS), "--seconds", "0.4", "--sessions", "3", "--settings", settings
    ).samples
    assert len(kills) == 3 * KILLS
    for kill in kills:
        assert kill["spoiled"] is None
        assert kill["acknowledged"] > 0
        assert kill["unacknowledged"] <= kill["sessions"] == 3
        if TIERS[kill["setting"]] != "memory":
            assert kill["missing"] == 0
    assert sum(kill["missing"] for kill in kills) > 0, "commits in memory are lost in a hard kill"


def test_a_scan_passes_the_versions_that_updates_left(server: Server) -> None:
    rows = 3600
    samples = server.run(
        "consistent-read", "--blocks", "2", "--seconds", "0.01", "--rows", str(rows), "--settings", "0,2"
    ).samples
    for sample in samples:
        assert sample["spoiled"] is None
        assert sample["history_list_length"] is not None
        without = sample["units"] * rows
        assert (sample["row_versions"] > without) is (sample["setting"] == "2")
        assert sample["row_versions"] >= without
    hits = {
        name: statistics.median(s["buffer_hits"] / s["units"] for s in samples if s["setting"] == name)
        for name in ("0", "2")
    }
    # Each step back through the undo log is one more page asked for.
    steps = next(s["row_versions"] / s["units"] for s in samples if s["setting"] == "2") - rows
    assert hits["2"] - hits["0"] >= 0.9 * steps

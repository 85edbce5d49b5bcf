"""The wait sampler in turns on a real server, and transaction ids as the count of commits."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.engine import PostgresEngine
from redolab.engine.postgres.private import EmbeddedServer
from redolab.engine.postgres.waits.activity import ActivitySource
from redolab.engine.postgres.waits.events import event_names
from redolab.engine.postgres.waits.memory import MemorySource
from redolab.experiment.base import Wish
from redolab.experiment.commit_mode.plan import EXPERIMENT
from redolab.records.load import Amount

SESSIONS = 4
HELD_S = 1.5


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    running = EmbeddedServer(SESSIONS)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def engine(server: EmbeddedServer) -> Iterator[PostgresEngine]:
    ready = PostgresEngine(Connector(server.target), server, seed=5)
    yield ready
    ready.close()


def test_every_commit_takes_a_transaction_id_while_the_counters_stand_still(engine: PostgresEngine) -> None:
    plan = EXPERIMENT.plan(Wish(sessions=(SESSIONS,), settings=("wait/immediate", "nowait/batch")))
    settings = engine.prepare(plan.load, list(plan.combinations.values()))
    for setting in settings:
        engine.apply(setting)
        before = engine._mark()
        with engine.watch(HELD_S) as watch:
            work = engine.work(Amount(HELD_S), threading.Event())
        after = engine._mark()
        # A session's last round may take an id without counting; autovacuum takes a few.
        used = after.transactions - before.transactions
        assert work.commits <= used <= work.commits + SESSIONS + 200
        assert work.session_elapsed_max_s < after.at_s - before.at_s
        ticks = watch.ticks
        assert ticks.pairs
        assert [pair.pair for pair in ticks.pairs] == list(range(1, len(ticks.pairs) + 1))
        fastest = used / (HELD_S / 4)
        assert all(0 < rate < fastest for pair in ticks.pairs for rate in (pair.on_per_s, pair.off_per_s))
        # It is held for half of the time; what begins or ends late on a busy machine is a part of that.
        assert 0 < ticks.sampled_s < after.at_s - before.at_s - 0.2 * HELD_S
        assert ticks.rounds > 0
        assert ticks.looks >= ticks.rounds


@pytest.mark.parametrize("source", ["server memory", "pg_stat_activity"])
def test_a_held_sampler_reads_nothing_until_it_is_released(server: EmbeddedServer, source: str) -> None:
    connection = Connector(server.target).connect("held")
    postmaster = int((server.directory / "data" / "postmaster.pid").read_text().splitlines()[0])
    names = event_names(18)
    assert names is not None

    def sampler() -> MemorySource | ActivitySource:
        if source == "server memory":
            return MemorySource(postmaster, names, [], seed=1)
        return ActivitySource(connection, postmaster, [], seed=1)

    held = sampler()
    held.pause()
    held.pause()
    threading.Event().wait(HELD_S)
    # At 50 and 20 ticks a second it would have made 75 or 30; a few may come before the pause.
    assert held.stop().ticks < 10
    released = sampler()
    released.pause()
    released.resume()
    threading.Event().wait(HELD_S)
    seen = released.stop()
    assert seen.ticks > 10
    assert seen.instrument.lost == 0
    assert seen.instrument.source == source
    connection.close()

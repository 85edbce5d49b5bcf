"""A few hostile moments on each server, where `make long` has two hundred; and what the judge sees."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.breaker.judge import differences, is_named, statements_in
from tests.breaker.moments import KINDS, why_not
from tests.breaker.plan import plan_of
from tests.breaker.play import play
from tests.breaker.scene import RUN, WATCH
from tests.breaker.servers import ENGINES, why_missing

# Each loses its journal or a part of it in a run that is killed then, so that its guard is left alone.
SEEDS = {"postgres": 138, "mariadb": 154, "mysql": 235}


@pytest.mark.parametrize("engine", ENGINES)
def test_no_run_says_something_untrue(engine: str) -> None:
    if (why := why_missing(engine)) is not None:
        pytest.skip(why)
    played = play(engine, SEEDS[engine], report=False)
    assert played.faults == [], played.said
    assert played.struck


def test_every_kind_gets_its_share() -> None:
    for engine in ENGINES:
        dealt = Counter(it.kind for seed in range(1, 101) for it in plan_of(engine, seed).moments)
        expected = [name for name in KINDS if why_not(name) is None]
        assert sorted(dealt) == sorted(expected)
        assert min(dealt.values()) >= 9


def test_a_seed_is_one_plan() -> None:
    assert plan_of("mysql", 7) == plan_of("mysql", 7)
    assert plan_of("mysql", 7) != plan_of("mysql", 8)
    assert [plan_of("mysql", seed).what for seed in range(1, 6)] == [RUN, RUN, RUN, WATCH, RUN]


def test_what_ends_a_run_comes_last() -> None:
    for seed in range(1, 101):
        turns = [KINDS[it.kind].turn for it in plan_of("mariadb", seed).moments]
        assert turns == sorted(turns)


def test_statements_are_read_as_a_reader_copies_them() -> None:
    text = (
        "redolab: wal_writer_delay is left. Run ALTER SYSTEM SET wal_writer_delay = '200ms'; ALTER SYSTEM\n"
        "RESET commit_delay; SELECT pg_reload_conf(). Or SET GLOBAL long_query_time = 0.5, and DROP DATABASE "
        "redolab."
    )
    assert statements_in(text) == [
        "ALTER SYSTEM SET wal_writer_delay = '200ms'",
        "ALTER SYSTEM RESET commit_delay",
        "SELECT pg_reload_conf()",
        "SET GLOBAL long_query_time = 0.5",
        "DROP DATABASE redolab",
    ]


def test_a_parameter_is_named_with_its_statement_alone() -> None:
    left = ("parameter", "sync_binlog")
    assert is_named(left, "put back with SET GLOBAL sync_binlog = 1.")
    assert not is_named(left, "sync_binlog could not be put back")
    assert not is_named(left, "put back with SET GLOBAL sync_binlog_more = 1.")
    assert is_named(("own", "redolab"), "DROP SCHEMA redolab CASCADE")
    assert not is_named(("own", "redolab"), "redolab: interrupted")


def test_nothing_of_a_server_is_overlooked() -> None:
    before = {("parameter", "a"): "1", ("parameter", "b"): "2"}
    now = {("parameter", "a"): "1", ("auto.conf", "b"): "2"}
    assert differences(before, now) == [("auto.conf", "b"), ("parameter", "b")]

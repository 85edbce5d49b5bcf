"""Uncommitted updates on real databases: the versions are what was made, and nothing is left."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from redolab.engine import open_engine
from redolab.engine.base import Engine
from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.engine import PostgresEngine
from redolab.errors import InterruptedRunError, RefusedError
from redolab.experiment import find_experiment
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.measure import runner
from redolab.records.load import Amount, Scans
from redolab.records.sample import Setting, Snapshot
from tests.conftest import Redolab
from tests.servers import PASSWORD, Server, made
from tests.unit.measure.test_whole_run import NoProgress

EXPERIMENT = find_experiment("consistent-read")
ROWS, TOUCHED = 3_600, 200
LOAD = Scans("", 1, "session", ROWS, TOUCHED, 3)
LEVELS = [{"rounds": "0"}, {"rounds": "3"}]
VERSIONS = ROWS + 2 * 3 * TOUCHED
OWN = ("embedded", "mariadb", "sqlite")
SOURCES = {"embedded": "server memory", "mariadb": "processlist", "sqlite": "none"}
NEVER = threading.Event()

# Line pointers of every page that point at a row version, dead or alive, without vacuuming any.
LINE_POINTERS = """
select count(*) from generate_series(0, pg_relation_size('redolab.scanned') / 8192 - 1) as page,
       lateral heap_page_items(get_raw_page('redolab.scanned', page::int)) where lp_flags = 1
"""


@pytest.fixture(params=OWN)
def own(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    engine = open_engine(request.param, LOAD, 0, (), 1)
    yield engine
    engine.close()


@pytest.fixture
def theirs(server: Server, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresEngine]:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with made(server, database) as url:
        engine = PostgresEngine(Connector(url), None, 1)
        yield engine
        engine.close()
        server.assert_left_clean(database)
        assert server.ask("select count(*) from pg_stat_activity where xact_start is not null "
                          "and application_name like 'redolab%'") == 0  # fmt: skip


def difference(before: Snapshot, after: Snapshot, name: str) -> float | None:
    first, second = before.counters.get(name), after.counters.get(name)
    return None if first is None or second is None else second - first


def measured(engine: Engine, setting: Setting, scans: int = 3) -> tuple[Any, Snapshot, Snapshot]:
    engine.apply(setting)
    engine.settle()
    before = engine.snapshot()
    work = engine.work(Amount(1.0, scans), NEVER)
    return work, before, engine.snapshot()


def test_the_versions_in_the_table_are_those_that_are_counted(
    theirs: PostgresEngine, server: Server, database: str
) -> None:
    inspect = server.ask("select count(*) from pg_available_extensions where name = 'pageinspect'") == 1
    assert inspect or server.major != 18
    if inspect:
        with server.admin(database) as admin:
            admin.execute("create extension pageinspect")
    none, three = theirs.prepare(LOAD, LEVELS)
    pages: dict[str, float | None] = {}
    for setting, versions in ((none, ROWS), (three, VERSIONS), (none, ROWS), (three, VERSIONS)):
        work, before, after = measured(theirs, setting)
        assert not inspect or server.ask(LINE_POINTERS, database) == versions
        assert work.row_versions == 3 * versions
        assert (work.units, work.failed, work.commits) == (3, 0, 0)
        assert 0 < work.first_unit_s < work.session_elapsed_s
        size = server.ask("select pg_relation_size('redolab.scanned') / 8192", database)
        hits, reads = difference(before, after, "buffer_hits"), difference(before, after, "buffer_reads")
        assert (hits or 0) + (reads or 0) == 3 * size
        assert pages.setdefault(setting.name, size) == size
        # Nobody but the other session sees what it has not committed.
        assert server.ask("select sum(value) from redolab.scanned", database) == ROWS


def test_a_scan_that_sees_what_it_must_not_counts_as_failed(
    theirs: PostgresEngine, server: Server, database: str
) -> None:
    none, _ = theirs.prepare(LOAD, LEVELS)
    with server.admin(database) as admin:
        admin.execute("update redolab.scanned set value = 2 where id = 1")
    theirs.apply(none)
    assert theirs.work(Amount(1.0, 2), NEVER).failed == 2


def test_an_old_transaction_of_somebody_elses_is_named(
    theirs: PostgresEngine, server: Server, database: str
) -> None:
    none, three = theirs.prepare(LOAD, LEVELS)
    theirs.apply(none)
    with server.admin(database) as admin:
        admin.execute("begin isolation level repeatable read")
        admin.execute("select 1 from redolab.scanned limit 1")
        theirs.apply(three)
        with pytest.raises(RefusedError, match="another transaction on this server is so old"):
            theirs.apply(none)
        admin.execute("rollback")
    theirs.apply(none)
    assert theirs.work(Amount(1.0, 1), NEVER).row_versions == ROWS


def test_every_own_engine_measures_what_it_can(own: Engine) -> None:
    none, three = own.prepare(LOAD, LEVELS)
    name = own.describe()["name"]
    touched: dict[str, float] = {}
    for setting, versions in ((none, ROWS), (three, VERSIONS), (none, ROWS)):
        work, before, after = measured(own, setting)
        assert (work.units, work.failed, work.trouble) == (3, 0, None)
        assert before.epoch == after.epoch
        assert before.session_pids == after.session_pids
        assert before.tasks is not None
        assert after.tasks is not None
        (session,) = [task for task in after.tasks if task.pid in after.session_pids]
        (earlier,) = [task for task in before.tasks if task.pid in before.session_pids]
        assert session.cpu_ns - earlier.cpu_ns > 0
        assert work.row_versions == (None if name == "sqlite" else 3 * versions)
        hits = difference(before, after, "buffer_hits")
        if name == "sqlite":
            assert hits is None
        else:
            assert hits is not None
            touched[setting.name] = hits / 3
    if name == "mariadb":
        # Every version is one step back through the undo log, which asks for one page at least.
        assert touched["3"] - touched["0"] >= VERSIONS - ROWS
    if name == "embedded":
        assert touched["3"] / touched["0"] == pytest.approx(VERSIONS / ROWS, rel=0.1)


@pytest.mark.parametrize("engine", OWN)
def test_a_whole_run_of_every_own_engine(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The path of a socket may be no longer than 107 bytes.
    place = Path(tempfile.mkdtemp(prefix="redolab-cr-"))
    place.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    try:
        plan = EXPERIMENT.plan(Wish(quick=True, rows=ROWS, blocks=2, seconds=0.01, settings=("0", "2", "5")))
        outcome = runner.run(
            EXPERIMENT,
            plan,
            open_engine(engine, plan.load, 0, (), 1),
            tmp_path / "run",
            NoProgress(),
            "test",
        )
        assert outcome.error is None
        assert [path.name for path in (place / "redolab" / "servers").iterdir()] == ["lock"]
    finally:
        shutil.rmtree(place)
    results = analyse(outcome.run)
    assert results["engine"]["name"] == engine
    assert [setting["samples"] for setting in results["settings"]] == [4, 2, 2]
    assert not any(setting["spoiled"] or setting["failed"] for setting in results["settings"])
    for setting in results["settings"]:
        assert sum(row["share"]["point"] for row in setting["profile"]) == pytest.approx(1.0)
    assert results["instrument"]["source"] == SOURCES[engine]
    effects = next(table for table in results["tables"] if table["key"] == "consistent-read-effects")
    known = [row["versions"]["point"] for row in effects["rows"]]
    expected = [None, None] if engine == "sqlite" else [1 + 4 / 18, 1 + 10 / 18]
    assert known == pytest.approx(expected) if engine != "sqlite" else known == expected


def test_a_long_preparation_ends_when_the_run_is_to_stop(own: Engine) -> None:
    stop = threading.Event()
    own.heed(stop)
    huge = Scans("", 1, "session", 100_000_000, 1, 0)
    threading.Timer(1.0, stop.set).start()
    with pytest.raises(InterruptedRunError):
        own.prepare(huge, LEVELS)


def test_a_long_update_ends_when_the_run_is_to_stop(own: Engine) -> None:
    stop = threading.Event()
    own.heed(stop)
    load = Scans("", 1, "session", 100_000, 100_000, 10_000)
    own.prepare(load, [{"rounds": "10000"}])
    threading.Timer(1.0, stop.set).start()
    with pytest.raises(InterruptedRunError):
        own.apply(Setting("10000", {"rounds": "10000"}, {}, {}, "disk", ""))


def test_a_long_scan_ends_when_the_run_is_to_stop(own: Engine) -> None:
    stop = threading.Event()
    none, _ = own.prepare(Scans("", 1, "session", 200_000, 1, 0), LEVELS)
    own.apply(none)
    threading.Timer(1.0, stop.set).start()
    with pytest.raises(InterruptedRunError):
        own.work(Amount(1.0, 10**9), stop)


@pytest.mark.parametrize("engine", OWN)
def test_too_little_disk_is_refused_before_anything_is_made(
    engine: str, redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=50 * 10**9))
    done = redolab("run", "consistent-read", "--engine", engine, "--rows", "1000000000",
                   "--out", tmp_path / "run")  # fmt: skip
    assert done.code == 3
    assert "of disk, and" in done.complaint
    assert "50.0 GB free. Ask for fewer rows" in done.complaint
    assert not (tmp_path / "run").exists()
    assert list((place / "redolab" / "servers").iterdir()) == []


def test_too_little_disk_of_their_server_is_refused(
    newest: Server, url: str, database: str, redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=50 * 10**9))
    done = redolab("run", "consistent-read", "--engine", url, "--yes", "--rows", "1000000000",
                   "--out", tmp_path / "run")  # fmt: skip
    assert done.code == 3
    assert str(newest.data) in done.complaint
    assert "free some space there" in done.complaint
    newest.assert_left_clean(database)


def test_without_mariadb_its_package_is_named(
    redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    done = redolab("run", "consistent-read", "--engine", "mariadb", "--quick", "--out", tmp_path / "run")
    assert done.code == 3
    assert "apt-get install mariadb-server-core" in done.complaint


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rows", "0"), "--rows is 0"),
        (("--rows", "17"), "--rows is 17"),
        (("--rows", "3000000000"), "at most 2,000,000,000"),
        (("--settings", "0,51"), "no setting '51'"),
        (("--settings", "3"), "cannot be compared with anything"),
        (("--sessions", "2"), "does not take the option --sessions"),
        (
            ("--engine", "sqlite", "--log-device-ms", "1"),
            "Redolab's own servers (embedded, mariadb or mysql)",
        ),
        (("--engine", "sqlite:///file"), "Unknown engine"),
    ],
)
def test_what_cannot_be_asked(options: tuple[str, ...], words: str, redolab: Redolab, tmp_path: Path) -> None:
    done = redolab("run", "consistent-read", *options, "--out", tmp_path / "run")
    assert done.code == 2
    assert words in done.complaint


def test_commits_are_measured_on_postgresql_alone(redolab: Redolab, tmp_path: Path) -> None:
    done = redolab("run", "commit-mode", "--engine", "sqlite", "--out", tmp_path / "run")
    assert done.code == 2
    assert "does not run on sqlite" in done.complaint

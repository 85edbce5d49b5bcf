"""A run beside logical replication: never a subscriber that stops, and a word on slots that keep the log."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.engine import PostgresEngine
from redolab.engine.postgres.preflight.replication import kept_log
from redolab.engine.private.directory import remove_server
from redolab.engine.statements import statement
from redolab.errors import RefusedError
from redolab.records.load import Updates
from tests.conftest import Redolab
from tests.docs.pages import ROOT
from tests.servers import NEWEST, PASSWORD, Ended, Server, made, programs_of, versions_in_whole, wait_until

LOGICAL = ("-c", "wal_level=logical")
SHORT = ("--quick", "--seconds", "0.1", "--blocks", "2", "--sessions", "2", "--settings", "wait,nowait")
ALL = "create publication allp for all tables"
LOAD = Updates("cpu", 2, "session", 100, 10)
Run = Callable[..., Ended]


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Server, Server]]:
    """A server that publishes, and one that subscribes."""
    place = Path(tempfile.mkdtemp(prefix="redolab-test-"))
    place.chmod(0o755)
    publisher, subscriber = (Server(programs_of(NEWEST), place / name) for name in ("one", "two"))
    try:
        publisher.start(*LOGICAL)
        subscriber.start(*LOGICAL)
        yield publisher, subscriber
    finally:
        for server in (publisher, subscriber):
            server.stop()
            remove_server(server.place)
        shutil.rmtree(place)


@pytest.fixture
def run(redolab: Redolab, tmp_path: Path) -> Run:
    def start(url: str, *more: str) -> Ended:
        return redolab("run", "commit-mode", "--engine", url, "--yes", *SHORT, *more,
                       "--out", tmp_path / "run")  # fmt: skip

    return start


@pytest.fixture
def subscribed(pair: tuple[Server, Server], database: str) -> Iterator[Callable[[str], None]]:
    """Lets the subscriber subscribe to the publication that a statement makes in the database `database`."""
    publisher, subscriber = pair
    table = "create table orders (id int primary key)"

    def subscribe(publication: str) -> None:
        with publisher.admin(database) as there, subscriber.admin(database) as here:
            there.execute(table.encode())
            there.execute(publication.encode())
            here.execute(table.encode())
            here.execute(
                f"create subscription s connection '{publisher.conninfo('postgres', database)}' "
                "publication allp".encode()
            )
        wait_until(lambda: replicated(pair, database, 1), "the first row arrives")

    with made(publisher, database), made(subscriber, database):
        yield subscribe
        with subscriber.admin(database) as here:
            here.execute("drop subscription if exists s")


def replicated(pair: tuple[Server, Server], database: str, row: int) -> bool:
    """Insert a row once, and tell whether the subscriber has it."""
    publisher, subscriber = pair
    with publisher.admin(database) as there:
        there.execute("insert into orders values (%s) on conflict do nothing", (row,))
    return bool(subscriber.ask(f"select count(*) from orders where id = {row}", database))


def test_a_subscriber_of_all_tables_does_not_stop(
    pair: tuple[Server, Server], subscribed: Callable[[str], None], run: Run, database: str
) -> None:
    subscribed(ALL)
    publisher, subscriber = pair
    errors = "select apply_error_count from pg_stat_subscription_stats"
    before = subscriber.ask(errors, database)
    done = run(publisher.url(database))
    assert done.code == 3, done.err
    for said in (f"database {database}", "publication allp", "stop permanently", "another database"):
        assert said in done.complaint
    publisher.assert_left_clean(database)
    wait_until(lambda: replicated(pair, database, 2), "a later row arrives")
    assert subscriber.ask(errors, database) == before


def test_a_run_is_refused_before_anything_is_made_in_every_version(
    servers: Callable[[str], Server], run: Run, database: str, tmp_path: Path
) -> None:
    for version in versions_in_whole():
        server = servers(version)
        with made(server, database):
            with server.admin(database) as admin:
                admin.execute(b"create publication few; create publication allp for all tables")
                admin.execute(b"create publication \"ALL\" for all tables with (publish = 'insert')")
            before = server.settings(), server.altered()
            done = run(server.url(database))
            assert done.code == 3, done.err
            assert "the publications ALL, allp publish all tables" in done.complaint
            server.assert_left_clean(database)
            assert (server.settings(), server.altered()) == before
            with server.admin(database) as admin:
                admin.execute(b'drop publication allp; drop publication "ALL"')
            done = run(server.url(database), "--settings", "wait,nowait")
            assert done.code == 0, done.err
            shutil.rmtree(tmp_path / "run")


def test_publications_of_other_tables_and_of_other_databases_do_not_stop_a_run(
    pair: tuple[Server, Server], subscribed: Callable[[str], None], run: Run, database: str
) -> None:
    subscribed("create publication allp for tables in schema public")
    publisher, _ = pair
    with made(publisher, f"{database}_other") as url:
        with publisher.admin(f"{database}_other") as admin:
            admin.execute(ALL.encode())
        assert run(url).code == 3
        done = run(publisher.url(database))
        assert done.code == 0, done.err
    wait_until(lambda: replicated(pair, database, 2), "a later row arrives")


@pytest.mark.parametrize(
    "publication",
    [
        ALL,
        "create publication late for tables in schema redolab",
        "create publication late for table redolab.account",
    ],
)
def test_a_publication_made_during_a_run_ends_it(
    newest: Server, url: str, database: str, publication: str
) -> None:
    engine = PostgresEngine(Connector(f"{url}?password={PASSWORD}"), None, 1)
    try:
        setting, _ = engine.prepare(LOAD, [{"commit_wait": "wait"}, {"commit_wait": "nowait"}])
        engine.apply(setting)
        with newest.admin(database) as admin:
            admin.execute(publication.encode())
        with pytest.raises(RefusedError, match=r"The publication \w+ publishes Redolab's tables by now"):
            engine.apply(setting)
    finally:
        engine.close()
    newest.assert_left_clean(database)


def test_a_list_may_publish_its_own_tables(
    newest: Server, url: str, redolab: Redolab, tmp_path: Path
) -> None:
    file = tmp_path / "published.toml"
    file.write_text("""
factors.published = ["no", "yes"]
sql.setup = "create table t (a int primary key); create publication few for table t"
sql.unit = "insert into t values (1) on conflict (a) do update set a = 1"
sql.teardown = "drop publication if exists few, allp"
levels.published.yes = { enter = "create publication allp for all tables", leave = "drop publication allp" }
""")
    done = redolab("run", "--list", file, "--engine", url, "--yes", "--quick", "--blocks", "2",
                   "--seconds", "0.1", "--out", tmp_path / "run")  # fmt: skip
    assert done.code == 0, done.err


def test_what_14_is_asked_finds_them_too(newest: Server, url: str, database: str) -> None:
    with newest.admin(database) as admin:
        admin.execute(b"create schema redolab; create table redolab.account (id int); create table mine ()")
        admin.execute(b"create publication named for table redolab.account")
        admin.execute(b"create publication other for table mine")
        admin.execute(ALL.encode())
        found = admin.execute(statement("postgres/sql", "select_publications", 14).encode()).fetchall()
    assert found == [{"name": "allp", "all_tables": True}, {"name": "named", "all_tables": False}]


def test_how_much_log_a_slot_keeps_is_told_where_it_is_known() -> None:
    assert kept_log([]) == []
    (told,) = kept_log(["a", "b"], 284_600_000_000)
    assert "slots a, b: this server keeps all log of the run, at most 284.6 GB, until they are read" in told


def test_a_subscriber_that_got_rows_of_redolab_goes_on_as_the_guide_says(
    pair: tuple[Server, Server], subscribed: Callable[[str], None], database: str
) -> None:
    publisher, subscriber = pair
    subscribed(ALL)
    with publisher.admin(database) as there:
        there.execute(b"create schema redolab; create table redolab.probe (value bigint)")
        there.execute(b"insert into redolab.probe values (0)")
        there.execute(b"drop schema redolab cascade")
    errors = "select apply_error_count from pg_stat_subscription_stats"
    wait_until(lambda: subscriber.ask(errors, database) > 0, "the subscriber stops")
    guide = (ROOT / "docs" / "guide" / "own-server.md").read_text()
    (mend,) = re.findall(r"(?s)```sql\n(CREATE SCHEMA redolab;.*?)```", guide)
    with subscriber.admin(database) as here:
        here.execute(mend.encode())
    wait_until(lambda: replicated(pair, database, 2), "a later row arrives")


def test_a_slot_that_nobody_reads_is_told(newest: Server, url: str, tmp_path: Path, run: Run) -> None:
    with newest.admin() as admin:
        admin.execute(b"select pg_create_physical_replication_slot('left_behind', true)")
        admin.execute(b"select pg_create_physical_replication_slot('never_read')")
    try:
        done = run(url)
        assert done.code == 0, done.err
        conditions = json.loads((tmp_path / "run" / "manifest.json").read_text())["conditions"]
        (told,) = [sentence for sentence in conditions if "slot" in sentence]
        assert "the replication slot left_behind: this server keeps all log of the run" in told
    finally:
        with newest.admin() as admin:
            admin.execute(b"select pg_drop_replication_slot(slot_name) from pg_replication_slots")

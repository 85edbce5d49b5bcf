"""How a live server is reached, and what becomes of the observation when sessions or it come and go."""

from __future__ import annotations

import gc
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pymysql
import pytest

from redolab.engine.mariadb.connecting.target import read_target
from redolab.engine.mariadb.connection import connect
from redolab.engine.mariadb.observer.observer import MariadbObserver
from redolab.errors import RefusedError, UsageError
from tests.engine.mariadb.observer.watching import (
    assert_consistent,
    watched,
)
from tests.mariadb import PASSWORD, MariaDB, number_of, run, running_mariadb
from tests.server_programs import FAMILY
from tests.servers import wait_until


def connections(server: MariaDB) -> set[int]:
    return {int(row["id"]) for row in server.ask("select id from information_schema.processlist")}


def test_threads_serve_one_session_after_another(plain: MariaDB) -> None:
    with closing(MariadbObserver(plain.url, 6)) as observer:
        numbers = []
        for _ in range(3):
            with closing(plain.connect()) as connection:
                numbers.append(number_of(connection))
                run(connection, "select sleep(0.6)")
        # The server ends a connection some time after the client has.
        wait_until(lambda: not set(numbers) & connections(plain), "they are gone")
        it = observer.read()
    assert_consistent(it)
    assert set(numbers) <= {process.connection for process in it.processes}
    assert all(process.ended for process in it.processes if process.connection in numbers)


def test_threads_of_replication_are_no_sessions(server: MariaDB) -> None:
    """MySQL gives them the commands of clients: its workers would be busy at any time."""
    new = server.flavour == "mysql"
    source, replica = ("replication source", "replica") if new else ("master", "slave")
    prefix = "source" if new else "master"
    with closing(server.connect()) as admin:
        run(admin, f"change {source} to {prefix}_host='127.0.0.1', {prefix}_port=1, {prefix}_user='nobody'")
        run(admin, f"start {replica} sql_thread")
        try:
            with closing(server.connect()) as client, closing(MariadbObserver(server.url, 6)) as observer:
                number = number_of(client)
                run(client, "select sleep(0.5)")
                it = observer.read()
        finally:
            run(admin, f"stop {replica}")
            run(admin, f"reset {replica} all")
    replaying = [process for process in it.processes if process.user == "system user"]
    assert replaying
    assert {process.scope for process in replaying} == {"background"}
    assert number in {process.connection for process in it.processes if process.scope == "session"}
    assert any("is a replica" in text for text in it.warnings)


def test_nothing_is_lost_while_connections_come_and_go(plain: MariaDB) -> None:
    done = threading.Event()

    def come_and_go() -> None:
        while not done.is_set():
            with closing(plain.connect()) as connection:
                run(connection, "select 1")

    threads = [threading.Thread(target=come_and_go) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        it = watched(plain)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert it.instrument.lost == 0
    assert any("came and went" in warning for warning in it.warnings)


@pytest.mark.parametrize("name", FAMILY)
def test_the_server_restarts(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MariadbObserver, "restart_limit_s", 0.0)
    with (
        running_mariadb(Path(tempfile.mkdtemp(dir=place)) / "r", name=name) as server,
        closing(MariadbObserver(server.url, 9)) as observer,
    ):
        time.sleep(0.5)
        server.stop()
        with pytest.raises(RefusedError, match="Is the server running"):
            observer.read()
        server.start()
        it = observer.read()
        assert_consistent(it)
        assert any("restarted" in warning for warning in it.warnings)
        assert all(process.ended for process in it.processes)
        assert it.counters["transactions"] is None
        time.sleep(0.5)
        after = observer.read()
        assert_consistent(after)
        assert after.ticks > 0
        assert after.warnings == ()
        assert not any(process.ended for process in after.processes)


def test_the_connection_is_killed(plain: MariaDB) -> None:
    with closing(MariadbObserver(plain.url, 10)) as observer:
        plain.ask(f"kill {number_of(observer._connection)}")
        it = observer.read()
        assert any("opened again" in warning for warning in it.warnings)
        time.sleep(0.5)
        assert observer.read().ticks > 0


def test_nothing_is_changed_and_nothing_left(plain: MariaDB) -> None:
    connection = connect(read_target(plain.url))
    with closing(connection), pytest.raises(pymysql.Error, match="READ ONLY"):
        run(connection, "update t.counter set n = 0")
    threads, files = threading.active_count(), open_files()
    watched(plain)
    assert threading.active_count() == threads
    assert open_files() == files
    own = "select * from information_schema.processlist where user = 'root'"
    wait_until(lambda: len(plain.ask(own)) == 1, "its session ends")


@pytest.mark.parametrize("way", ["unix_socket", "tcp"])
def test_a_server_under_another_name_is_here_all_the_same(place: Path, way: str) -> None:
    """As one is that a loader started: its process bears the loader's name."""
    with running_mariadb(Path(tempfile.mkdtemp(dir=place)) / "n") as server:
        server.stop()
        other = server.place / "loader"
        other.symlink_to(server.program)
        server.program = other
        server.start()
        assert server.process is not None
        assert Path(f"/proc/{server.process.pid}/comm").read_text() == "loader\n"
        server.ask(f"create user reader identified by '{PASSWORD}'")
        server.ask("grant process on *.* to reader")
        by_tcp = f"mysql://reader:{PASSWORD}@127.0.0.1:{server.port}/"
        with closing(MariadbObserver(by_tcp if way == "tcp" else server.url, 11)) as observer:
            assert observer.read().server["local"] is True


def open_files() -> int:
    # What earlier tests left to the collector must not be closed between two counts.
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def refused(url: str) -> str:
    with pytest.raises(RefusedError) as error:
        MariadbObserver(url, 1)
    assert PASSWORD not in str(error.value)
    assert "wrong-one" not in str(error.value)
    return str(error.value)


def test_refusals_say_what_mends_them(
    plain: MariaDB, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    plain.ask(f"create user reader identified by '{PASSWORD}'")
    at = f"127.0.0.1:{plain.port}"
    try:
        assert "GRANT PROCESS ON *.* TO 'reader'@'%';" in refused(f"mysql://reader:{PASSWORD}@{at}/")
        assert "Check the user and the password" in refused(f"mysql://reader:wrong-one@{at}")
        plain.ask("grant process on *.* to reader")
        if plain.flavour == "mysql":
            wanted = refused(f"mysql://reader:{PASSWORD}@{at}/")
            assert "GRANT SELECT ON performance_schema.* TO 'reader'@'%';" in wanted
            plain.ask("grant select on performance_schema.* to reader")
        monkeypatch.setenv("MYSQL_PWD", PASSWORD)
        MariadbObserver(f"mariadb://reader@{at}", 1).close()
        monkeypatch.delenv("MYSQL_PWD")
        assert "Check the user and the password" in refused(f"mariadb://reader@{at}")
        (tmp_path / ".my.cnf").write_text(f"[client]\npassword = {PASSWORD}\n")
        MariadbObserver(f"mariadb://reader@{at}", 1).close()
    finally:
        plain.ask("drop user reader")
    assert "Is the server running" in refused("mysql://root@127.0.0.1:1/")
    assert "Is the server running" in refused(f"mysql://root@/?unix_socket={plain.place}/nowhere")
    assert "Is the server running" in refused("mysql://root@nowhere.invalid/")


def test_performance_schema_needs_a_right_of_its_own(instrumented: MariaDB) -> None:
    instrumented.ask(f"create user reader identified by '{PASSWORD}'")
    instrumented.ask("grant process on *.* to reader")
    try:
        url = f"mysql://reader:{PASSWORD}@127.0.0.1:{instrumented.port}/"
        with closing(MariadbObserver(url, 1)) as observer:
            it = observer.read()
    finally:
        instrumented.ask("drop user reader")
    assert any("GRANT SELECT ON performance_schema.*" in why for _, why in it.not_available)
    assert it.instrument.source == "processlist"


@pytest.mark.parametrize(
    "url",
    [
        "mysql:/root@h",
        "mysql://h:99999/",
        "mysql://h:x/",
        "mysql://u:p@[::1/",
        "mysql://h/?colour=red",
        "mysql://a@b@c/",
    ],
)
def test_a_url_that_cannot_be_read(url: str) -> None:
    with pytest.raises(UsageError, match="mysql://user@host:3306/"):
        read_target(url)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("mysql://u:a%20b@h:3307/d", ("h", 3307, "u", None, "d", "a b")),
        ("mariadb://u:se#cr?et@h", ("h", 3306, "u", None, None, "se#cr?et")),
        ("mysql://u@[::1]:3307/", ("::1", 3307, "u", None, None, None)),
        ("mysql://u@/?unix_socket=/a%2Fs", ("localhost", 3306, "u", "/a/s", None, None)),
    ],
)
def test_the_parts_of_a_url(url: str, parts: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    it = read_target(url)
    assert (it.host, it.port, it.user, it.unix_socket, it.database, it.password) == parts
    assert "a b" not in repr(it)

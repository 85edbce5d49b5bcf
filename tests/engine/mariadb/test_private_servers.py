"""Private servers of both flavours: what they leave, how they come back, what their logs' devices count."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from redolab import _core
from redolab.engine.linux.local_server import MEMORY_FILESYSTEMS, filesystem
from redolab.engine.mariadb import private
from redolab.engine.mariadb.connection import connect_private
from redolab.engine.mariadb.private import Flavour, PrivateServer
from redolab.engine.private.log_device import Flushes
from redolab.errors import RefusedError
from tests.kill.machine import assert_nothing_left, at_work
from tests.server_programs import FAMILY, first_on_path
from tests.servers import wait_until

COMMITS = 20
MEMORY = Path("/dev/shm")
# What a server itself counts of its logs' flushes.
STATUS = (
    "show global status where variable_name in "
    "('Innodb_data_fsyncs', 'Innodb_os_log_fsyncs', 'Binlog_group_commits')"
)
BINLOG_SYNCS = (
    "select 'binlog', count_misc from performance_schema.file_summary_by_event_name "
    "where event_name = 'wait/io/file/sql/binlog'"
)

Make = Callable[..., PrivateServer]

emulates = pytest.mark.skipif(not _core.LOG_DEVICE_LIBRARY, reason="the library is for Linux")


@pytest.fixture(params=FAMILY)
def flavour(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Flavour:
    """Whose server it is; its program comes first on the search path."""
    monkeypatch.setenv("PATH", first_on_path(request.param))
    return "mysql" if request.param.startswith("mysql") else "mariadb"


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short place of this test's own, where nothing is left."""
    made = Path(tempfile.mkdtemp(prefix="redolab-own-"))
    (made / "tmp").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(made))
    monkeypatch.setattr(tempfile, "tempdir", str(made / "tmp"))
    yield made
    assert_nothing_left(made)
    shutil.rmtree(made)


@pytest.fixture
def make(place: Path, flavour: Flavour) -> Iterator[Make]:
    with ExitStack() as stack:

        def made(**options: Any) -> PrivateServer:
            server = PrivateServer(flavour, **options)
            stack.callback(server.stop)
            return server

        yield made


def ask(server: PrivateServer, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements in one session; returns the rows of the last."""
    with closing(connect_private(server.socket)) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return list(cursor.fetchall())


def prepare(server: PrivateServer) -> None:
    ask(
        server,
        "create database orders",
        "create table orders.counter (id int primary key, n int) engine=InnoDB",
        "insert into orders.counter values (1, 0)",
    )


def commit(server: PrivateServer) -> None:
    ask(server, *["update orders.counter set n = n + 1"] * COMMITS)


def counted(server: PrivateServer) -> tuple[Mapping[str, Flushes], dict[str, int]]:
    """What the library counted of each log, and the server itself, at a moment without a flush."""
    assert server.device is not None
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up:
        before = server.device.counters().logs
        time.sleep(0.1)
        status = {str(name): int(value) for name, value in ask(server, STATUS)}
        if server.flavour == "mysql":
            status |= {str(name): int(value) for name, value in ask(server, BINLOG_SYNCS)}
        time.sleep(0.1)
        if server.device.counters().logs == before:
            redo = "Innodb_data_fsyncs" if server.flavour == "mariadb" else "Innodb_os_log_fsyncs"
            binlog = "Binlog_group_commits" if server.flavour == "mariadb" else "binlog"
            return before, {"redo": status[redo], "binlog": status[binlog]}
    raise AssertionError("the server flushes its log without end")


def test_it_is_private_and_has_what_it_was_asked_for(make: Make, place: Path, flavour: Flavour) -> None:
    server = make(sessions=7)
    assert server.directory.is_relative_to(place)
    assert server.directory.stat().st_mode & 0o777 == 0o700
    assert server.log_filesystem == filesystem(place)
    (row,) = ask(
        server,
        "select @@skip_networking, @@max_connections, @@log_bin, @@sync_binlog, @@binlog_format, "
        "@@innodb_flush_log_at_trx_commit, @@performance_schema, version()",
    )
    assert row[:7] == (1, 27, 1, 1, "ROW", 1, 1 if flavour == "mysql" else 0)
    assert row[7].startswith(private.look(flavour)[0].split("-")[0])
    assert (server.data / "binlog.000001").is_file()
    server.stop()
    assert not server.directory.exists()


def test_it_can_do_without_a_binary_log(make: Make) -> None:
    server = make(binlog=False)
    assert ask(server, "select @@log_bin") == [(0,)]
    assert list(server.data.glob("binlog*")) == []


def test_old_binary_logs_are_removed(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    sooner = tuple(option.replace("-seconds=60", "-seconds=1") for option in private._WITH_BINLOG)
    assert sooner != private._WITH_BINLOG
    monkeypatch.setattr(private, "_WITH_BINLOG", sooner)
    server = make()

    def first_is_gone() -> bool:
        ask(server, "flush binary logs")
        return not (server.data / "binlog.000001").exists()

    wait_until(first_is_gone, "the first binary log goes")


@emulates
@pytest.mark.parametrize(
    ("delays_s", "binlog"),
    [((0.005,), True), ((0.005, 0.002), True), ((0.005,), False)],
    ids=["one device", "two devices", "no binary log"],
)
def test_every_flush_of_the_logs_is_delayed_and_counted(
    delays_s: tuple[float, ...], binlog: bool, make: Make
) -> None:
    server = make(binlog=binlog, log_device_s=delays_s)
    prepare(server)
    device_before, server_before = counted(server)
    commit(server)
    device_after, server_after = counted(server)
    grown = {name: device_after[name].flushes - device_before[name].flushes for name in device_after}
    assert grown["redo"] == server_after["redo"] - server_before["redo"]
    assert grown["redo"] >= COMMITS
    if binlog:
        assert grown["binlog"] == server_after["binlog"] - server_before["binlog"] == COMMITS
    else:
        assert list(grown) == ["redo"]
    for number, name in enumerate(device_after):
        requested_s = device_after[name].requested_s - device_before[name].requested_s
        delivered_s = device_after[name].delivered_s - device_before[name].delivered_s
        assert requested_s == pytest.approx(grown[name] * delays_s[min(number, len(delays_s) - 1)])
        assert delivered_s >= requested_s


@emulates
def test_a_delay_changes_while_the_server_runs(make: Make) -> None:
    server = make(log_device_s=(0.002, 0.001))
    assert server.device is not None
    prepare(server)
    before = counted(server)[0]
    server.device.take(0.004)
    commit(server)
    after = counted(server)[0]
    asked = {
        name: (after[name].requested_s - before[name].requested_s)
        / (after[name].flushes - before[name].flushes)
        for name in after
    }
    assert asked == pytest.approx({"redo": 0.004, "binlog": 0.001})


def test_one_that_is_killed_right_after_its_start_comes_back(make: Make, flavour: Flavour) -> None:
    for _ in range(5 if flavour == "mariadb" else 2):
        server = make()
        server.crash()
        server.restart()
        prepare(server)
        commit(server)
        server.crash()
        server.revive()
        assert ask(server, "select n from orders.counter") == [(COMMITS,)]
        pid = server.pid
        server.revive()
        assert server.pid == pid
        server.stop()


@emulates
def test_the_device_survives_a_crash(make: Make) -> None:
    server = make(log_device_s=(0.001,))
    assert server.device is not None
    prepare(server)
    server.crash()
    server.restart()
    assert server.device.counters().attached == 2
    with server.device.reached(COMMITS):
        commit(server)


@emulates
def test_a_log_that_is_flushed_inside_write_is_refused(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        private,
        "_OPTIONS",
        {name: (*options, "--innodb-flush-method=O_DSYNC") for name, options in private._OPTIONS.items()},
    )
    with pytest.raises(RefusedError, match="does not reach the redo log of this server"):
        make(log_device_s=(0.001,))


@emulates
@pytest.mark.skipif(filesystem(MEMORY) not in MEMORY_FILESYSTEMS, reason="no file system in memory here")
def test_in_memory_a_mapped_log_is_refused(
    make: Make, flavour: Flavour, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="redolab-own-", dir=MEMORY) as place:
        monkeypatch.setenv("XDG_CACHE_HOME", place)
        if flavour == "mariadb":
            with pytest.raises(RefusedError, match="MariaDB maps its redo log there and flushes nothing"):
                make(log_device_s=(0.001,))
        else:
            make(log_device_s=(0.001,)).stop()
        assert_nothing_left_in(Path(place))


def assert_nothing_left_in(place: Path) -> None:
    assert [path.name for path in (place / "redolab" / "servers").iterdir()] == ["lock"]


def test_a_socket_is_put_elsewhere_when_its_path_would_be_too_long(
    make: Make, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / ("long" * 30)))
    server = make()
    assert server.socket.is_relative_to(place / "tmp")
    server.stop()
    assert_nothing_left_in(place / ("long" * 30))
    assert list((place / "tmp").iterdir()) == []


def test_a_killed_guard_leaves_no_server(make: Make) -> None:
    server = make()
    pid = server.pid
    server._guard._process.kill()
    server.stop()
    assert not Path(f"/proc/{pid}/cwd").exists()
    assert not server.directory.exists()


@pytest.mark.parametrize("when", ["started", "under way"])
def test_a_killed_redolab_leaves_nothing(when: str, place: Path, flavour: Flavour) -> None:
    code = (
        "import sys, time; from redolab.engine.mariadb.private import PrivateServer; "
        f"PrivateServer({flavour!r}); print('started', flush=True); time.sleep(600)"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(place), "TMPDIR": str(place / "tmp")}
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        if when == "started":
            assert process.stdout.readline() == "started\n"
            assert any(b"--datadir" in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in at_work(place))
        else:
            wait_until(lambda: any(place.glob("redolab/servers/*/data/*")), "the server is being made")
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: not at_work(place), "every process ends")

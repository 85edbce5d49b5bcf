"""A live server that commits: what is counted and timed of its log, and whose CPU it was."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from redolab.dialect.log_waits import is_log_sync
from redolab.engine.mariadb.observer.observer import MariadbObserver
from redolab.engine.private.log_device import Log, LogDevice
from tests.engine.mariadb.observer.watching import (
    assert_consistent,
    commit,
    found,
    prepare,
)
from tests.mariadb import MariaDB, running_mariadb
from tests.server_programs import INSTALLED


def test_commits_are_counted(server: MariaDB) -> None:
    clients, commits = 4, 100
    with closing(MariadbObserver(server.url, 4)) as observer:
        commit(server, clients, commits)
        it = observer.read()
    assert_consistent(it)
    transactions = it.counters["transactions"]
    assert transactions is not None
    # The server has transactions of its own now and then.
    assert clients * commits <= transactions < clients * commits + 20
    assert it.counters["log_flushes"]
    assert it.counters["log_writes"]
    assert it.counters["log_bytes"]
    binlog = bool(server.ask("select @@log_bin as it")[0]["it"])
    assert it.counters["commits"] == (clients * commits if binlog else None)
    timed = {it.events[item.event]: item for item in it.timed}
    assert (("IO", "binlog flush") in timed) is binlog
    if binlog:
        assert 0 < timed["IO", "binlog flush"].count <= clients * commits + 5
        assert timed["IO", "binlog flush"].time_s
    if server.flavour == "mysql":
        redo = timed["IO", "redo log flush"]
        assert (it.counters["log_flushes"], it.counters["log_flush_time_s"]) == (redo.count, redo.time_s)
        assert 0 < redo.count <= clients * commits + 20
        assert redo.time_s
    else:
        assert it.counters["log_flush_time_s"] is None
    untimed = "time of log flushes" in {what for what, _ in it.not_available}
    assert untimed is (server.flavour != "mysql")


# A page being written is latched until the log is flushed: an update of that page sleeps, no commit.
NO_PAGE_WRITTEN = (
    "--innodb-adaptive-flushing=0",
    "--innodb-idle-flush-pct=0",
    "--innodb-max-dirty-pages-pct-lwm=0",
)


@pytest.mark.parametrize(
    ("name", "options", "log"),
    [
        (INSTALLED, (), "ib_logfile"),
        (INSTALLED, ("--log-bin", "--sync-binlog=1"), "ib_logfile"),
        ("mysql 9.7", (*NO_PAGE_WRITTEN, "--skip-log-bin"), "#innodb_redo/"),
        ("mysql 9.7", NO_PAGE_WRITTEN, "#innodb_redo/"),
    ],
    ids=["mariadb, no binlog", "mariadb, binlog", "mysql, no binlog", "mysql, binlog"],
)
def test_commits_on_a_slow_log_wait_for_it(
    place: Path, name: str, options: tuple[str, ...], log: str
) -> None:
    directory = Path(tempfile.mkdtemp(dir=place))
    (directory / "data").symlink_to(directory / "slow" / "data")
    # A look reads the event a moment before the state: beside long flushes that moment is nothing.
    device = LogDevice(directory, [Log("redo", "redo log", log)], [0.1], None)
    with (
        closing(device),
        running_mariadb(directory / "slow", *options, name=name, environment=device.environment) as server,
    ):
        prepare(server)
        with closing(MariadbObserver(server.url, 5)) as observer:
            commit(server, 4, 15)
            it = observer.read()
    asleep: Counter[bool] = Counter()
    for process in it.processes:
        if process.scope == "session":
            for (kind, event, state), count in found(it, process).items():
                if state == "asleep":
                    asleep[is_log_sync(f"{kind}:{event}")] += count
    assert asleep[True] > 0.9 * asleep.total()


def test_the_books_of_cpu_balance(plain: MariaDB) -> None:
    pid = plain.process.pid if plain.process else 0
    clock = (~pid << 3) | 2
    before_s = time.clock_gettime(clock)
    with closing(MariadbObserver(plain.url, 8)) as observer:
        inner_before_s = time.clock_gettime(clock)
        commit(plain, 2, 200)
        inner_s = time.clock_gettime(clock) - inner_before_s
        it = observer.read()
        outer_s = time.clock_gettime(clock) - before_s
    assert it.ended_cpu_s is not None
    assert it.instrument.server_cpu_s is not None
    booked_s = sum(process.cpu_s or 0 for process in it.processes)
    booked_s += it.ended_cpu_s + it.instrument.server_cpu_s
    assert inner_s <= booked_s <= outer_s

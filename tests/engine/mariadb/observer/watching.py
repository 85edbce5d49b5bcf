"""Sessions that wait in known ways, and what was seen of them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager

import numpy as np
import pymysql

from redolab.engine import open_observer
from redolab.records.observation import STATES, Observation, Observed, join
from tests.mariadb import MariaDB, number_of, run

WATCHED_S = 1.5


def prepare(server: MariaDB) -> None:
    server.ask("create database t")
    server.ask("create table t.counter (id int primary key, n int) engine=innodb")
    server.ask(f"insert into t.counter values {', '.join(f'({number}, 0)' for number in range(1, 17))}")


class Session:
    """A client with one statement under way in a thread, or none."""

    def __init__(self, server: MariaDB, *statements: str, last: str | None = None) -> None:
        self.server = server
        self.connection = server.connect()
        self.number = number_of(self.connection)
        for statement in statements:
            run(self.connection, statement)
        self._thread: threading.Thread | None = None
        if last is not None:
            self._thread = threading.Thread(target=self._run, args=(last,))
            self._thread.start()

    def _run(self, statement: str) -> None:
        try:
            run(self.connection, statement)
        except pymysql.Error as error:
            self.error = error

    def in_stage(self, stage: str) -> bool:
        rows = self.server.ask(
            f"select lower(state) as it from information_schema.processlist where id = {self.number}"
        )
        return bool(rows) and stage in (rows[0]["it"] or "")

    def wait(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def end(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self.server.ask(f"kill query {self.number}")
        self.wait()
        self.connection.close()


@contextmanager
def sessions(*made: Session) -> Iterator[None]:
    try:
        yield
    finally:
        for session in made:
            session.end()


def watched(server: MariaDB, seconds: float = WATCHED_S, readings: int = 2) -> Observation:
    with closing(open_observer(server.url, 7)) as observer:
        seen = []
        for _ in range(readings):
            time.sleep(seconds / readings)
            seen.append(observer.read())
    for observation in seen:
        assert_consistent(observation)
    return join(seen)


def assert_consistent(it: Observation) -> None:
    """Looks and accounts agree with each other whatever was seen."""
    assert it.events[0] == ("", "idle")
    assert len(set(it.events)) == len(it.events)
    looks = it.looks
    assert len(looks.tick) == len(looks.process) == len(looks.event) == len(looks.state)
    assert np.all(looks.event > 0)
    assert np.all(looks.event < len(it.events))
    assert np.all(looks.state < len(STATES))
    assert np.all(np.diff(looks.tick.astype(int)) >= 0)
    first = np.array([process.first_tick for process in it.processes])
    last = np.array([process.last_tick for process in it.processes])
    assert np.all(looks.tick >= first[looks.process])
    assert np.all(looks.tick < last[looks.process])
    assert len({(p.pid, p.started) for p in it.processes}) == len(it.processes)
    for process in it.processes:
        assert process.first_tick <= process.last_tick <= it.ticks
        assert 0 <= process.skipped <= process.last_tick - process.first_tick
        # The accounts of all threads are read one after the other, and the clock after them.
        slack_s = 0.1 + 0.05 * it.elapsed_s
        assert 0 <= process.elapsed_s <= it.elapsed_s + slack_s
        if process.cpu_s is not None and process.run_queue_s is not None:
            assert process.cpu_s >= 0
            assert process.run_queue_s >= 0
            assert process.cpu_s + process.run_queue_s <= process.elapsed_s + slack_s


def one(it: Observation, session: Session) -> Observed:
    (found,) = (process for process in it.processes if process.connection == session.number)
    return found


def found(it: Observation, process: Observed) -> Counter[tuple[str, str, str]]:
    """Class, event and scheduler state of every look at a process."""
    mine = it.looks.process == it.processes.index(process)
    pairs = zip(it.looks.event[mine], it.looks.state[mine], strict=True)
    return Counter((*it.events[event], STATES[state]) for event, state in pairs)


def ticks_of(process: Observed) -> int:
    return process.last_tick - process.first_tick - process.skipped


def waits_for_row(server: MariaDB, session: Session) -> bool:
    # The list of transactions is made anew only when nobody has asked for 0.1 s.
    time.sleep(0.2)
    rows = server.ask(
        "select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT' "
        f"and trx_mysql_thread_id = {session.number}"
    )
    return bool(rows)


def commit(server: MariaDB, clients: int, commits: int) -> None:
    """Clients that commit one update each time, from outside: in a procedure commits need not wait."""

    def work(number: int) -> None:
        with closing(server.connect()) as connection:
            for _ in range(commits):
                run(connection, f"update t.counter set n = n + 1 where id = {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3, 3 + clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

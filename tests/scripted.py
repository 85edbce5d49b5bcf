"""A private server whose sessions spend their time in known ways, and note when they did.

Workers alternate between computing, sleeping and waiting for a lock that a holder keeps for a random
time; committers wait for an emulated log device; hogs compute. Each worker notes the beginning and end
of every wait by the server's clock, so the truth of any window is known independently of any sampler.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from redolab.engine.postgres.private import EmbeddedServer

LOCKS = {"row": "Lock:transactionid", "advisory": "Lock:advisory", "relation": "Lock:relation"}
SLEEP = "Timeout:PgSleep"

_SCHEMA = """
create schema scripted;
create table scripted.rows (id bigint primary key, n bigint not null) with (fillfactor = 50);
insert into scripted.rows select i, 0 from generate_series(1, 200) i;
do $$ begin for i in 1..64 loop execute format('create table scripted.table_%s ()', i); end loop; end $$;

create function scripted.now() returns float8 language sql volatile
    as $$ select extract(epoch from clock_timestamp())::float8 $$;

create procedure scripted.take(kind text, key bigint) language plpgsql as $$
begin
    if kind = 'advisory' then perform pg_advisory_xact_lock(key);
    elsif kind = 'row' then update scripted.rows set n = n + 1 where id = key;
    else execute format('lock table scripted.table_%s in access exclusive mode', key);
    end if;
end $$;

-- Compute, sleep, wait for the lock; lengths uniform on [0, twice the mean].
create procedure scripted.work(kind text, key bigint, until float8, compute_s float8, sleep_s float8,
                               inout notes float8[]) language plpgsql as $$
declare began float8; slept float8; woke float8; took float8; stop_at float8;
begin
    set session synchronous_commit = off;
    loop
        began := scripted.now();
        exit when began > until;
        stop_at := began + 2 * compute_s * random();
        while scripted.now() < stop_at loop end loop;
        slept := scripted.now();
        perform pg_sleep(2 * sleep_s * random());
        woke := scripted.now();
        call scripted.take(kind, key);
        took := scripted.now();
        commit;
        notes := notes || array[slept, woke, took];
    end loop;
end $$;

create procedure scripted.hold(kind text, key bigint, until float8, hold_s float8, gap_s float8)
language plpgsql as $$
begin
    set session synchronous_commit = off;
    while scripted.now() < until loop
        call scripted.take(kind, key);
        perform pg_sleep(2 * hold_s * random());
        commit;
        perform pg_sleep(2 * gap_s * random());
    end loop;
end $$;

create procedure scripted.commit_loop(key bigint, until float8, compute_s float8, flush boolean)
language plpgsql as $$
declare stop_at float8;
begin
    perform set_config('synchronous_commit', case when flush then 'on' else 'off' end, false);
    while scripted.now() < until loop
        stop_at := scripted.now() + 2 * compute_s * random();
        while scripted.now() < stop_at loop end loop;
        update scripted.rows set n = n + 1 where id = key;
        commit;
    end loop;
end $$;

create procedure scripted.compute(until float8) language plpgsql as $$
begin
    while scripted.now() < until loop end loop;
end $$;
"""


@dataclass
class Worker:
    """One scripted session: its process, and the waits it noted, by name of the event."""

    pid: int = 0
    waits: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))

    def time_in(self, event: str, begin: float, end: float) -> float:
        """Seconds of a window that the session spent in an event."""
        return sum(max(0.0, min(b, end) - max(a, begin)) for a, b in self.waits[event])


class Script:
    """Sessions at work on one private server."""

    def __init__(self, sessions: int, log_device_s: float | None = None) -> None:
        self.server = EmbeddedServer(sessions, () if log_device_s is None else (log_device_s,))
        self.target = self.server.target
        host = conninfo_to_dict(self.target)["host"]
        self.url = f"postgresql://redolab@/postgres?host={quote(str(host), safe='')}"
        self._pool = ThreadPoolExecutor(max_workers=sessions)
        self._running: list[tuple[Future[list[float]], threading.Event]] = []
        self._notes: list[tuple[Worker, str, Future[list[float]]]] = []
        with psycopg.connect(self.target, autocommit=True) as connection:
            connection.execute(_SCHEMA)
            connection.execute("alter system set deadlock_timeout = '1h'")
            connection.execute("select pg_reload_conf()")

    def work(
        self, kind: str, key: int, until: float, compute_s: float, sleep_s: float, application: str = "worker"
    ) -> Worker:
        """A worker on a lock of its own kind and key."""
        worker = Worker()
        arguments = (kind, key, until, compute_s, sleep_s)
        future = self._start(worker, application, b"call scripted.work(%s, %s, %s, %s, %s, '{}')", arguments)
        self._notes.append((worker, kind, future))
        return worker

    def hold(self, kind: str, key: int, until: float, hold_s: float, gap_s: float) -> None:
        """Whoever makes the worker of the same key wait."""
        arguments = (kind, key, until, hold_s, gap_s)
        self._start(Worker(), "holder", b"call scripted.hold(%s, %s, %s, %s, %s)", arguments)

    def commit(self, key: int, until: float, compute_s: float, flush: bool = True) -> Worker:
        """A session that commits, and waits for the log or not."""
        worker = Worker()
        arguments = (key, until, compute_s, flush)
        self._start(worker, "committer", b"call scripted.commit_loop(%s, %s, %s, %s)", arguments)
        return worker

    def compute(self, until: float) -> None:
        """A session that only computes."""
        self._start(Worker(), "hog", b"call scripted.compute(%s)", (until,))

    def _start(
        self, worker: Worker, application: str, call: bytes, arguments: tuple[object, ...]
    ) -> Future[list[float]]:
        begun = threading.Event()

        def run() -> list[float]:
            with psycopg.connect(self.target, autocommit=True, application_name=application) as connection:
                worker.pid = connection.info.backend_pid
                begun.set()
                cursor = connection.execute(call, arguments)
                row = cursor.fetchone() if cursor.description else None
                return row[0] if row else []

        future = self._pool.submit(run)
        self._running.append((future, begun))
        return future

    def begun(self) -> None:
        """Wait until every session asked for has begun its work."""
        for _, begun in self._running:
            assert begun.wait(30), "a scripted session did not begin"
        time.sleep(0.3)

    def ended(self) -> None:
        """Wait until every session has ended; raises what one of them raised."""
        for future, _ in self._running:
            future.result(timeout=60)
        self._running.clear()
        for worker, kind, future in self._notes:
            notes = future.result()
            for slept, woke, took in zip(notes[0::3], notes[1::3], notes[2::3], strict=True):
                worker.waits[SLEEP].append((slept, woke))
                worker.waits[LOCKS[kind]].append((woke, took))
        self._notes.clear()


@contextmanager
def script(sessions: int, log_device_s: float | None = None) -> Iterator[Script]:
    """A private server for scripted sessions, removed afterwards."""
    made = Script(sessions, log_device_s)
    try:
        yield made
    finally:
        made.server.stop()


def shares(profile: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, float]]:
    """The estimates of a profile's rows, by row."""
    return {str(row["row"]): row["share"] for row in profile}

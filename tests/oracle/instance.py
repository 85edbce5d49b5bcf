"""The truth behind a replayed Oracle: sessions, counters and parameters, which tests move by hand."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

SCAN_STATISTICS = (
    "CR blocks created", "consistent changes", "consistent gets",
    "data blocks consistent reads - undo records applied", "physical reads",
)  # fmt: skip
BLOCKS = 10
"""Of the table that is scanned."""
LGWR = 2
CLIENT, MAIN_LOOP = "SQL*Net message from client", "rdbms ipc message"
CLASSES: Mapping[str, str] = {
    "log file sync": "Commit",
    "log file parallel write": "System I/O",
    "db file sequential read": "User I/O",
    "enq: TX - row lock contention": "Application",
    "SQL*Net message from client": "Idle",
    "SQL*Net message to client": "Network",
    "rdbms ipc message": "Idle",
}
"""Wait classes, as V$EVENT_NAME has them."""
PARAMETERS: Mapping[str, str | None] = {
    # No default value: NULL until it is set.
    "commit_logging": None,
    "commit_wait": None,
    "commit_write": None,
    "cpu_count": "4",
    "statistics_level": "TYPICAL",
    "timed_statistics": "TRUE",
}


@dataclass
class Session:
    """A row of V$SESSION, and what hangs on its SID."""

    sid: int
    serial: int
    type: str = "USER"
    username: str | None = "SHOP"
    program: str = "JDBC Thin Client"
    module: str | None = None
    machine: str = "app1"
    status: str = "ACTIVE"
    last_call_s: int = 0
    in_transaction: int = 0
    server: str = "DEDICATED"
    waits: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    """Event to waits that ended, and their microseconds."""
    cpu_us: int = 0
    statistics: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SCAN_STATISTICS, 0))
    parameters: dict[str, str] = field(default_factory=dict)
    """Those that the session has of its own."""
    waiting: str | None = None
    """The event that it waits in at this moment."""
    waiting_us: int = 0
    idle_since_s: float | None = None
    """By the instance's clock: since when it waits for its client; None for one that tests move by hand."""
    owes_s: float = 0.0
    """Where time passes by itself: how long its answer takes."""


@dataclass(frozen=True)
class Cost:
    """What one commit with its statement costs in a mode, microseconds of its session."""

    cpu_us: int = 100
    waits_us: Mapping[str, int] = field(default_factory=dict)
    row_us: int = 0
    """CPU of each further row."""
    commits_per_flush: int = 1
    flush_us: int = 0

    def with_flush(self, flush_us: int) -> Cost:
        """The same, but for the length of a flush."""
        return replace(self, flush_us=flush_us)

    def commit_us(self, rows: int) -> int:
        return self.cpu_us + self.row_us * (rows - 1) + sum(self.waits_us.values())


SYNC, READ = "log file sync", "db file sequential read"
COSTS = {
    "wait immediate": Cost(100, {SYNC: 4_000, READ: 200}, 10, commits_per_flush=2, flush_us=1_500),
    "wait batch": Cost(100, {SYNC: 4_000, READ: 200}, 10, commits_per_flush=2, flush_us=1_500),
    "nowait immediate": Cost(100, {READ: 200}, 10, commits_per_flush=4, flush_us=1_500),
    "nowait batch": Cost(80, {READ: 220}, 10, commits_per_flush=8, flush_us=1_500),
}
"""Waiting for the log is 4.0 of 4.3 ms; without it a commit takes 0.3 ms."""


class Instance:
    """One instance, at a moment that tests choose."""

    def __init__(self, release: int) -> None:
        self.release = release
        self.lock = threading.RLock()
        self.password = "tiger & scott"
        self.user = "WATCHER"
        self.classes = dict(CLASSES)
        self.container: tuple[int, str, str | None] = (0, "ORCL", None)
        """CON_ID, CON_NAME, CDB_NAME."""
        self.schema: str | None = None
        """Where a logon trigger lets this user work; None: in its own."""
        self.role = "PRIMARY"
        self.server = "DEDICATED"
        """The kind of server process that connections get."""
        self.server_processes = {"DEDICATED", "SHARED", "POOLED"}
        """Those that a client can ask for; otherwise it gets the usual one."""
        self.parameters = dict(PARAMETERS)
        self.privileges = {"CREATE SESSION", "CREATE TABLE"}
        self.ungranted: set[str] = set()
        """Views that this user may not see, in upper case."""
        self.failing: dict[str, int] = {}
        """Statements by name to the ORA code that each ends with."""
        self.unknown: list[str] = []
        """What was sent that no file has."""
        self.asked: list[str] = []
        self.starts = 0
        self.clock_s = 1000.0
        """Moves with what sessions are told to spend, and with nothing else."""
        self.live = False
        """Whether time passes by itself instead, as clients see it."""
        self.log = LogOf(self)
        self.costs: dict[str, Cost] = {}
        """By the words after COMMIT WRITE."""
        self.tables: dict[str, int] = {}
        """Rows by table, in upper case."""
        self.holders: list[dict[str, object]] = []
        """Rows of REDOLAB_RUN."""
        self.uncommitted = 0
        """Row versions that another session made and did not commit."""
        self.scan_us, self.version_us = 20_000, 1
        """CPU of a whole scan, and of each version that lies in its way."""
        self.next_sid = 1000
        self.begin()

    def begin(self) -> None:
        """Start anew: sessions are gone, and counters begin at nothing."""
        with self.lock:
            self.starts += 1
            self.sessions: dict[int, Session] = {}
            self.instance_waits: dict[str, list[int]] = defaultdict(lambda: [0, 0])
            self.instance_cpu_us = {"DB CPU": 0, "background cpu time": 0}
            self.statistics = dict.fromkeys(("redo size", "redo writes", "user commits", "user rollbacks"), 0)
            self.buckets: dict[tuple[str, int], int] = defaultdict(int)
            self.machine: dict[str, float] = {
                "BUSY_TIME": 0, "IDLE_TIME": 0, "NUM_CPUS": 4, "NUM_CPU_CORES": 2,
            }  # fmt: skip
            self.add(Session(2, 1, "BACKGROUND", None, "oracle@db1 (LGWR)", machine="db1"))
            self.add(Session(3, 1, "BACKGROUND", None, "oracle@db1 (CKPT)", machine="db1"))

    @property
    def started(self) -> str:
        return f"2026-11-{self.starts:02d} 08:00:00"

    def add(self, session: Session) -> Session:
        self.sessions[session.sid] = session
        return session

    def spend(self, session: Session, event: str, lengths_us: Iterable[int]) -> None:
        """Waits of a session that ended, one after the other."""
        for length in lengths_us:
            for account in (session.waits[event], self.instance_waits[event]):
                account[0] += 1
                account[1] += length
            self.buckets[event, 1 << max(0, length.bit_length())] += 1

    def compute(self, session: Session, cpu_us: int) -> None:
        """CPU of a session."""
        session.cpu_us += cpu_us
        self.instance_cpu_us["background cpu time" if session.type == "BACKGROUND" else "DB CPU"] += cpu_us
        self.machine["BUSY_TIME"] += cpu_us / 1e4

    def log_on(self, username: str, program: str) -> Session:
        """A connection's session, which waits for its client."""
        with self.lock:
            self.next_sid += 1
            session = Session(self.next_sid, 1, username=username, program=program, status="INACTIVE")
            session.idle_since_s, session.server = self.now(), self.server
            return self.add(session)

    def now(self) -> float:
        """Its clock: in the place of the observer's own."""
        return time.monotonic() if self.live else self.clock_s

    def bring_up_to_date(self) -> None:
        """Who waits for a client has waited until now; background processes idle beside their work."""
        for session in self.sessions.values():
            if session.idle_since_s is not None:
                self.idle(session, CLIENT, max(0, round((self.now() - session.idle_since_s) * 1e6)))
            elif session.type == "BACKGROUND" and self.costs:
                busy_us = session.cpu_us + sum(
                    account[1] for event, account in session.waits.items() if event != MAIN_LOOP
                )
                session.waits[MAIN_LOOP] = [1, max(0, round(self.now() * 1e6) - busy_us)]

    def work(self, session: Session, mode: str, quota: int, seconds: float, rows: int) -> tuple[int, float]:
        """A session's loop: its commits, and the seconds that they took."""
        cost = self.costs[mode]
        commit_us = cost.commit_us(rows)
        commits = -(-quota // rows) if quota else max(1, round(seconds * 1e6) // commit_us)
        lasted_s = commits * commit_us / 1e6
        with self.lock:
            began_s = self.now() if self.live else session.idle_since_s or self.clock_s
            for event, each_us in cost.waits_us.items():
                self.spend_many(session, event, commits, each_us)
            self.compute(session, commits * (cost.cpu_us + cost.row_us * (rows - 1)))
            flushes = commits // cost.commits_per_flush
            self.spend_many(self.sessions[LGWR], "log file parallel write", flushes, cost.flush_us)
            self.statistics["user commits"] += commits
            self.statistics["redo writes"] += flushes
            self.statistics["redo size"] += 500 * commits * rows
            session.idle_since_s = began_s + lasted_s
            if self.live:
                session.owes_s = lasted_s
            self.clock_s = max(self.clock_s, session.idle_since_s)
        return commits, lasted_s

    def insert(self, session: Session, mode: str = "wait immediate") -> None:
        """A client's row."""
        with self.lock:
            self._asked_by_client(session)
            self._answered(session, self.costs[mode].row_us, 0)

    def commit(self, session: Session, mode: str) -> None:
        """A client's commit: where it waits, the log is flushed for all that came before its flush began."""
        with self.lock:
            asked_s = self._asked_by_client(session)
            waited_us = 0
            if mode.startswith("wait"):
                waited_us = round(
                    (self.log.flushed_s(asked_s, self.costs[mode].flush_us / 1e6) - asked_s) * 1e6
                )
                self.spend(session, SYNC, [waited_us])
            self.statistics["user commits"] += 1
            self.statistics["redo size"] += 500
            self._answered(session, self.costs[mode].cpu_us, waited_us)

    def _asked_by_client(self, session: Session) -> float:
        assert session.idle_since_s is not None
        now_s = self.now()
        self.spend(session, CLIENT, [max(0, round((now_s - session.idle_since_s) * 1e6))])
        return now_s

    def _answered(self, session: Session, cpu_us: int, waited_us: int) -> None:
        self.compute(session, cpu_us)
        session.owes_s = (cpu_us + waited_us) / 1e6
        session.idle_since_s = self.now() + session.owes_s

    def scan(self, session: Session) -> None:
        """A whole scan by a session."""
        with self.lock:
            self.compute(session, self.scan_us + self.uncommitted * self.version_us)
            session.statistics["consistent gets"] += BLOCKS + self.uncommitted
            session.statistics["consistent changes"] += self.uncommitted
            session.statistics["CR blocks created"] += BLOCKS if self.uncommitted else 0
            session.statistics["data blocks consistent reads - undo records applied"] += self.uncommitted
            self.clock_s += (self.scan_us + self.uncommitted * self.version_us) / 1e6
            session.idle_since_s = self.clock_s

    def spend_many(self, session: Session, event: str, count: int, each_us: int) -> None:
        """So many waits of one length."""
        if count:
            for account in (session.waits[event], self.instance_waits[event]):
                account[0] += count
                account[1] += count * each_us
            self.buckets[event, 1 << each_us.bit_length()] += count

    def idle(self, session: Session, event: str, waited_us: int) -> None:
        """It waits at this moment, and has for so long."""
        session.waiting, session.waiting_us = event, waited_us


class LogOf:
    """The log of an instance where time passes by itself: one flush after the other."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.began_s = self.ends_s = 0.0

    def flushed_s(self, asked_s: float, flush_s: float) -> float:
        """When what is asked for now is on disk: a flush that has begun does not hold it."""
        if asked_s >= self.ends_s or asked_s > self.began_s:
            self.began_s = max(asked_s, self.ends_s)
            self.ends_s = self.began_s + flush_s
            writer = self.instance.sessions[LGWR]
            self.instance.spend(writer, "log file parallel write", [round(flush_s * 1e6)])
            self.instance.statistics["redo writes"] += 1
        return self.ends_s


class Busy:
    """Sessions that commit, a second of theirs at a time; each second is the same."""

    def __init__(self, instance: Instance, sessions: int = 2) -> None:
        self.instance = instance
        self.sessions = [
            instance.add(Session(100 + number, 7, username="SHOP")) for number in range(sessions)
        ]
        self.sleeper = instance.add(Session(200, 3, username="REPORTS", status="INACTIVE", in_transaction=1))
        instance.idle(self.sleeper, "SQL*Net message from client", 5_000_000)
        self.lgwr = instance.sessions[2]
        instance.idle(instance.sessions[3], "rdbms ipc message", 1_000_000)

    def second(self) -> None:
        """Of each session 0.5 s log sync in 100 waits, 0.2 s of reads, 0.2 s CPU, and 0.1 s unexplained."""
        instance = self.instance
        with instance.lock:
            for session in self.sessions:
                instance.spend(session, "log file sync", [5_000] * 100)
                instance.spend(session, "db file sequential read", [1_000] * 200)
                instance.compute(session, 200_000)
                instance.statistics["user commits"] += 100
                instance.statistics["redo size"] += 60_000
            instance.spend(self.lgwr, "log file parallel write", [2_000] * 125)
            instance.spend(self.lgwr, "rdbms ipc message", [5_000] * 140)
            instance.compute(self.lgwr, 30_000)
            instance.statistics["redo writes"] += 125
            for waiting in (self.sleeper, instance.sessions[3]):
                waiting.waiting_us += 1_000_000

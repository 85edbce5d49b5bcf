"""A replayed Oracle: the server's side of the protocol before an `Instance`, for the real driver.

It answers the statements of `engine/oracle/sql` and no other.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from seerdb.common.tns_consts import FIELD_VERSION_12_2, FIELD_VERSION_21_1, FIELD_VERSION_23_1
from seerdb.server import BackendError, Capability, ColumnMeta, Result, Server
from seerdb.server import session as served
from seerdb.server.backend import SessionInfo

from redolab.engine.oracle.statements import Statement, find
from tests.oracle.instance import Instance, Session
from tests.oracle.working import execute_working

DIALECTS = {1202: FIELD_VERSION_12_2, 2103: FIELD_VERSION_21_1, 2326: FIELD_VERSION_23_1}
"""Releases that can be replayed, as major * 100 + minor, to the version of the protocol that each speaks."""
_NUMBERS = frozenset(
    {
        "sid", "serial", "last_call_et", "in_transaction", "wait_time_micro", "total_waits",
        "time_waited_micro", "con_id", "wait_count",
    }
)  # fmt: skip
_NUMBER, _TEXT = 2, 1
_MESSAGES = {
    942: "table or view does not exist",
    1031: "insufficient privileges",
    600: "internal error code, arguments: [kslgetl:1], [], []",
    1013: "user requested cancel of current operation",
}


_ASKED = threading.local()
"""What the client of this thread's connection sent to the listener."""


def _noting(parse: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def noted(body: bytes) -> Any:
        request = parse(body)
        _ASKED.descriptor = request.descriptor
        return request

    return noted


# It keeps the descriptor to itself.
vars(served)["parse_connect"] = _noting(vars(served)["parse_connect"])


class Backend:
    """One session's side of the instance."""

    capabilities = frozenset({Capability.TRANSACTIONS})

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.known = statements(instance.release)
        self.program = ""
        self.session: Session | None = None

    def authenticate(self, username: str) -> str | None:
        return self.instance.password if username.upper() == self.instance.user else None

    def set_client_identity(self, declared: Mapping[str, str]) -> None:
        self.program = declared.get("AUTH_PROGRAM_NM", "")

    def session_info(self) -> SessionInfo:
        own = self.own
        return SessionInfo(
            session_id=own.sid, serial_num=own.serial, service_name="shop", instance_name="orcl1"
        )

    @property
    def own(self) -> Session:
        """The session of this connection."""
        if self.session is None:
            self.session = self.instance.log_on(self.instance.user, self.program)
            asked = re.search(rb"\(SERVER=(\w+)\)", _ASKED.descriptor)
            if asked and asked[1].decode().upper() in self.instance.server_processes:
                self.session.server = asked[1].decode().upper()
        return self.session

    def execute(self, sql: str, binds: Sequence[Any] = ()) -> Result:
        result = self._execute(sql, binds)
        self._spend()
        return result

    def _spend(self) -> None:
        if self.own.owes_s:
            time.sleep(self.own.owes_s)
            self.own.owes_s = 0.0

    def _execute(self, sql: str, binds: Sequence[Any]) -> Result:
        with self.instance.lock:
            item = self.known.get(sql)
            if item is None:
                return execute_working(self.instance, self.own, sql, binds)
            self.instance.asked.append(item.name)
            self.instance.bring_up_to_date()
            code = self.instance.failing.get(item.name)
            if code is None and self.instance.ungranted.intersection(item.views):
                code = 942
            if code is not None:
                raise BackendError(_MESSAGES.get(code, "made up"), ora_code=code)
            names = selected(item.text)
            rows = [tuple(row[name] for name in names) for row in ANSWERS[item.name](self)]
            return Result([column(name, rows, place) for place, name in enumerate(names)], rows)

    def commit(self) -> None:
        """As the session's parameters say; others have written nothing that counts."""
        said = self.own.parameters
        if said:
            self.instance.commit(self.own, f"{said['commit_wait']} {said['commit_logging']}".lower())
            self._spend()

    def rollback(self) -> None:
        if self.own.in_transaction:
            self.own.in_transaction, self.instance.uncommitted = 0, 0

    def close(self) -> None:
        with self.instance.lock:
            self.instance.sessions.pop(self.own.sid, None)


def statements(release: int) -> dict[str, Statement]:
    """What a release is sent, by its text."""
    items = [find(name, release) for name in ANSWERS]
    return {item.text: item for item in items}


def selected(text: str) -> list[str]:
    """The names of a query's columns."""
    found = re.fullmatch(r"select\s+(.*?)\s+from\s.*", text, re.DOTALL)
    assert found, text
    parts = re.split(r",(?![^()]*\))", found[1])
    return [re.split(r"\.|\sas\s", part.strip())[-1].strip() for part in parts]


def column(name: str, rows: Sequence[Sequence[Any]], place: int) -> ColumnMeta:
    values = [row[place] for row in rows if row[place] is not None]
    number = all(isinstance(value, int | float) for value in values) if values else name in _NUMBERS
    if number:
        return ColumnMeta(name.upper().encode(), _NUMBER, 22, 22)
    return ColumnMeta(name.upper().encode(), _TEXT, 4000, 4000)


def _self(backend: Backend) -> Iterator[dict[str, Any]]:
    instance = backend.instance
    number, name, cdb = instance.container
    yield {
        "username": instance.user, "current_schema": instance.schema or instance.user,
        "sid": str(backend.own.sid), "con_id": str(number), "con_name": name, "cdb_name": cdb,
        "unique_name": "orcl_a", "database_role": instance.role, "service_name": "shop",
    }  # fmt: skip


def _instance(backend: Backend) -> Iterator[dict[str, Any]]:
    instance = backend.instance
    major, minor = divmod(instance.release, 100)
    yield {"instance_name": "orcl1", "version": f"{major}.{minor}.0.0.0", "started": instance.started}


def _sessions(backend: Backend) -> Iterator[dict[str, Any]]:
    instance = backend.instance
    assert backend.own.sid in instance.sessions
    for session in instance.sessions.values():
        event = session.waiting or next(iter(session.waits), None)
        yield {
            "sid": session.sid, "serial": session.serial, "type": session.type, "username": session.username,
            "status": session.status, "last_call_et": session.last_call_s, "server": session.server,
            "program": session.program, "module": session.module, "machine": session.machine,
            "service_name": "shop", "in_transaction": session.in_transaction,
            "state": "WAITING" if session.waiting else "WAITED KNOWN TIME",
            "event": event, "wait_class": instance.classes.get(event or ""),
            "wait_time_micro": session.waiting_us if session.waiting else 17,
        }  # fmt: skip


def _session_waits(backend: Backend) -> Iterator[dict[str, Any]]:
    instance = backend.instance
    for session in instance.sessions.values():
        for event, (count, time_us) in session.waits.items():
            yield {
                "sid": session.sid, "event": event, "wait_class": instance.classes[event],
                "total_waits": count,
                "time_waited_micro": time_us,
            }  # fmt: skip


def _session_times(backend: Backend) -> Iterator[dict[str, Any]]:
    instance = backend.instance
    for session in instance.sessions.values():
        background = session.type == "BACKGROUND"
        yield {"sid": session.sid, "stat_name": "DB CPU", "value": 0 if background else session.cpu_us}
        yield {
            "sid": session.sid, "stat_name": "background cpu time",
            "value": session.cpu_us if background else 0,
        }  # fmt: skip


def _waits(backend: Backend) -> Iterator[dict[str, Any]]:
    instance = backend.instance
    for event, (count, time_us) in instance.instance_waits.items():
        yield {
            "event": event, "wait_class": instance.classes[event], "total_waits": count,
            "time_waited_micro": time_us,
            "con_id": 0,
        }  # fmt: skip


def _histograms(backend: Backend) -> Iterator[dict[str, Any]]:
    instance = backend.instance
    for (event, below_us), count in instance.buckets.items():
        if event.startswith("log file"):
            yield {"event": event, "wait_time_micro": below_us, "wait_count": count, "con_id": 0}


ANSWERS: Mapping[str, Callable[[Backend], Iterable[Mapping[str, Any]]]] = {
    "select_self": _self,
    "select_instance": _instance,
    "select_parameters": lambda on: [
        {"name": n, "value": v} for n, v in {**on.instance.parameters, **on.own.parameters}.items()
    ],
    "select_sessions": _sessions,
    "select_session_waits": _session_waits,
    "select_session_times": _session_times,
    "select_times": lambda on: [
        {"stat_name": name, "value": value, "con_id": 0}
        for name, value in on.instance.instance_cpu_us.items()
    ],
    "select_statistics": lambda on: [
        {"name": name, "value": value, "con_id": 0} for name, value in on.instance.statistics.items()
    ],
    "select_waits": _waits,
    "select_histograms": _histograms,
    "select_machine": lambda on: [{"stat_name": n, "value": v} for n, v in on.instance.machine.items()],
    "select_own_tables": lambda on: [
        {"table_name": name} for name in sorted(on.instance.tables) if name.startswith("REDOLAB_")
    ],
    "select_run": lambda on: list(on.instance.holders),
    "select_session_statistics": lambda on: [
        {"sid": session.sid, "name": name, "value": value}
        for session in on.instance.sessions.values()
        for name, value in session.statistics.items()
    ],
    "select_privileges": lambda on: [{"privilege": name} for name in sorted(on.instance.privileges)],
}


class Replayed(Server):
    """A listener before an instance, whose connections can be cut."""

    def __init__(self, instance: Instance, field_version: int | None = None, port: int = 0) -> None:
        version = DIALECTS[instance.release] if field_version is None else field_version
        super().__init__(port=port, backend_factory=lambda: Backend(instance), field_version=version)
        # How soon it notices that it is to stop.
        self._sock.settimeout(0.02)
        self.instance = instance
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self.serve_forever)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"oracle://{self.instance.user.lower()}@127.0.0.1:{self.port}/shop"

    def cut(self) -> None:
        """Every connection is gone, as when the instance is."""
        for client in self._open:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def restart(self) -> None:
        """The instance is stopped and started again."""
        self.instance.begin()
        self.cut()

    def stop(self) -> None:
        self.cut()
        self.close()
        self._thread.join()

    def _serve(self, client: socket.socket, addr: tuple[Any, ...]) -> None:
        self._open.append(client)
        super()._serve(client, addr)


@contextmanager
def replayed(instance: Instance, **how: Any) -> Iterator[Replayed]:
    """Serve an instance; whatever was sent that no file has fails the test."""
    server = Replayed(instance, **how)
    try:
        yield server
    finally:
        server.stop()
    assert instance.unknown == []

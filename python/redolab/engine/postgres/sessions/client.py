"""The working sessions as clients over the wire, the way an application has them: a round trip per statement.

They run in threads of the compiled part (crate `redolab-load`), which also note the time of every commit.
Where transactions come at random moments, the sessions are the pool that does them: of the free ones of a
thread the one that was used last.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from redolab import _core
from redolab.engine.loops.client_work import resize, work
from redolab.engine.postgres.connecting.connection import SESSION_SETTINGS, Connection, Connector
from redolab.engine.postgres.connecting.load_protection import protection_like
from redolab.engine.postgres.loads import PostgresLoad
from redolab.engine.server.load import ClientLoad
from redolab.errors import RefusedError, UsageError
from redolab.records.design import SEEDS
from redolab.records.load import Amount
from redolab.records.sample import Work

_FORCES_COUNTERS = 150_000
# Before 15 a session reports at most twice a second, at the end of a statement.
_REPORT_S = 0.6


class ClientSessions:
    """Connections of a client in this process."""

    def __init__(self, connector: Connector, control: Connection, most: int, seed: int) -> None:
        """Open `most` connections, which also shows that the server takes so many.

        Args:
            connector: to the server; says in plain words why it refuses.
            control: a connection to the same place, whose address and password are used.
            most: the sessions to open.
            seed: of the moments at which transactions are asked for, and of random keys; every interval of
                work has its own.

        Raises:
            RefusedError: the server does not take them.
        """
        info = control.info
        self._connector = connector
        self._counters = (
            "select pg_stat_force_next_flush()::text"
            if info.server_version >= _FORCES_COUNTERS
            else f"select pg_sleep({_REPORT_S})::text"
        )
        self._settle_s = 0.0 if info.server_version >= _FORCES_COUNTERS else _REPORT_S
        self._sessions = _open(control)
        self._count, self._seed = 0, seed
        try:
            self.resize(most)
        except RefusedError:
            self.close()
            raise

    @property
    def pids(self) -> tuple[int, ...]:
        """The server processes that serve the sessions."""
        return tuple(self._sessions.pids())

    def resize(self, count: int) -> None:
        """Have `count` connections that answer, lost ones opened anew.

        Raises:
            RefusedError: the server does not take one more.
        """
        self._count, before = count, self.pids
        try:
            resize(self._sessions, count, self._connector.password_command)
            if set(self.pids) <= set(before):
                return
            for name, value in SESSION_SETTINGS.items():
                # A version that does not know the parameter has no row for it.
                self._sessions.ask(
                    "select set_config(name, $1, false) from pg_settings where name = $2", [value, name]
                )
        except ConnectionError as error:
            raise self._connector.refused(str(error)) from error

    def replace_lost(self) -> None:
        """Ask every session for a sign of life, and open a lost one anew.

        Raises:
            RefusedError: the server does not take it.
        """
        self.resize(self._count)

    def set_parameter(self, name: str, value: str) -> None:
        """Set a server parameter in every session.

        Raises:
            RefusedError: a session cannot.
        """
        self._ask("select set_config($1, $2, false)", [name, value])

    def parameter_values(self, name: str) -> list[str]:
        """The value of a server parameter as each session sees it.

        Raises:
            RefusedError: a session cannot say.
        """
        return self._ask("select current_setting($1)", [name])

    def run(
        self, load: PostgresLoad, amount: Amount, parameters: Mapping[str, str], stop: threading.Event
    ) -> Work:
        """Let every session do its part, for so long by its own clock or for its share of the units.

        Raises:
            InterruptedRunError: `stop` was set; sessions that worked then are lost.
        """
        assert isinstance(load, ClientLoad), "check_client() comes first"
        self._seed = (self._seed + 1) % SEEDS
        job = load.client_job()
        done = work(self._sessions, job, amount, self._seed, stop, parameters, [self._counters])
        time.sleep(self._settle_s)
        return done

    def close(self) -> None:
        """Close every connection."""
        self._sessions.close()

    def _ask(self, statement: str, arguments: list[str]) -> list[str]:
        try:
            return [answer or "" for answer in self._sessions.ask(statement, arguments)]
        except ConnectionError as error:
            raise self._connector.refused(str(error)) from error


def _open(control: Connection) -> _core.ClientSessions:
    """A client of the server that `control` is connected to, as the same role; no session yet."""
    info, protection = control.info, protection_like(control)
    return _core.ClientSessions(
        info.hostaddr or info.host,
        info.port,
        info.user,
        info.password or None,
        info.dbname,
        info.options,
        tls=protection.tls,
        channel_binding=protection.channel_binding,
        allowed=protection.allowed,
        peer_uid=protection.peer_uid,
        connect_timeout_s=protection.connect_timeout_s,
    )


def check_client(load: PostgresLoad, control: Connection, connector: Connector) -> None:
    """Make sure that a client can do `load`, and that the server takes its connections.

    Args:
        load: what is to be done.
        control: a connection to the same place; the client's are protected as it is.
        connector: to the server; says in plain words why it refuses.

    Raises:
        UsageError: the load has no loop in a client.
        RefusedError: the client cannot be protected as `control` is, or the server does not take it.
    """
    if not isinstance(load, ClientLoad):
        raise UsageError("This load runs only inside the server, not from a client.")
    trial = _open(control)
    try:
        trial.resize(1)
    except ConnectionError as error:
        raise RefusedError(
            f"{connector.refused(str(error))} This error is from the load's connection."
        ) from error
    finally:
        trial.close()

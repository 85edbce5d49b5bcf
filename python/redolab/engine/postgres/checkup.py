"""Whether a private PostgreSQL can be had here; and what can be run on and seen of somebody's.

Everything is asked of what a run and a profile ask themselves before they change or watch anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from threading import Event

import psycopg

from redolab.engine.offer import Wanted
from redolab.engine.postgres import private
from redolab.engine.postgres.connecting.connection import Connection, Connector, place_of
from redolab.engine.postgres.loads import postgres_load
from redolab.engine.postgres.observer.observer import PostgresObserver
from redolab.engine.postgres.own.schema import MARKS, identity
from redolab.engine.postgres.preflight.preflight import check_server, server_conditions
from redolab.engine.postgres.preflight.replication import idle_slots, kept_log
from redolab.engine.postgres.preflight.standbys import check_standbys
from redolab.engine.postgres.sessions.client import check_client
from redolab.engine.private import checkup
from redolab.engine.server.checkup import look_at, refusals
from redolab.engine.server.recovery import LEFT
from redolab.errors import RefusedError
from redolab.records.checkup import Check, Checkup, not_there
from redolab.records.load import loop_of

_NAME = "redolab doctor"


def check_private(wanted: Mapping[str, Wanted]) -> Checkup:
    """The programs of the wheel, the disk, and the emulated log device."""
    private_checkup = checkup.check_private("PostgreSQL, embedded", private.look, wanted)
    return Checkup((*private_checkup.checks, checkup.device_check()), private_checkup.refusals)


def check_url(target: str, wanted: Mapping[str, Wanted]) -> Checkup:
    """Checks of the server's identity, of the runs possible on it, and of what a profile would see.

    Raises:
        UsageError: the URL cannot be read.
    """
    connector = Connector(target)
    try:
        with connector.connect(_NAME, read_only=True) as control:
            return look_at(
                lambda _: _server(control),
                lambda: _conditions(control),
                partial(PostgresObserver, target),
                _refusals(control, connector, wanted),
            )
    except (RefusedError, psycopg.Error) as error:
        reason = error if isinstance(error, RefusedError) else connector.refused(str(error).splitlines()[0])
        return not_there("Server", str(reason), wanted)


def _server(control: Connection) -> Check:
    info = control.info
    version = info.parameter_status("server_version") or ""
    text = f"PostgreSQL {version.split()[0]} at {place_of(control)}, as the role {info.user}"
    if control.pgconn.ssl_in_use:
        return Check("Server", "works", f"{text}, encrypted (TLS)")
    if info.host.startswith("/") or info.hostaddr in ("127.0.0.1", "::1"):
        return Check("Server", "works", f"{text}, on this machine or through a tunnel, not encrypted")
    return Check(
        "Server", "limited", f"{text}, not encrypted",
        "Anybody on the network path can read and change what is sent.",
        "Add ?sslmode=verify-full to the URL if the server has TLS.",
    )  # fmt: skip


def _refusals(control: Connection, connector: Connector, wanted: Mapping[str, Wanted]) -> dict[str, str]:
    from redolab.engine.postgres.engine import PostgresEngine

    def client_can(asked: Wanted) -> None:
        if any(loop_of(asked.load, levels) == "client" for levels in asked.combinations):
            check_client(postgres_load(asked.load, connector, Event()), control, connector)

    return refusals(lambda: PostgresEngine(connector, None, 0), wanted, client_can)


def _conditions(control: Connection) -> tuple[str, ...]:
    this = identity(control)
    server = check_server(control)
    check_standbys(control)
    left = (LEFT,) if MARKS.left_on(this.server, this.address).here else ()
    return (*left, *server_conditions(control, server, None), *kept_log(idle_slots(control)))

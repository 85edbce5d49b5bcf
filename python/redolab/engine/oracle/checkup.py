"""Checks of what a profile would see of an Oracle database, and the script for a user that sees all of it."""

from __future__ import annotations

from collections.abc import Mapping

import oracledb

from redolab.engine.offer import Wanted
from redolab.engine.oracle.connecting.connection import OLDEST, connect, fetch, release
from redolab.engine.oracle.connecting.driver_errors import error_text
from redolab.engine.oracle.connecting.target import Target, read_target
from redolab.engine.oracle.preflight.rights import script
from redolab.engine.oracle.preflight.server import NEWEST, Server, identify
from redolab.engine.server.checkup import refusals
from redolab.errors import RefusedError
from redolab.records.checkup import Check, Checkup, not_there, of_observation

_NAME = "redolab doctor"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def check_url(target: str, wanted: Mapping[str, Wanted]) -> Checkup:
    """Checks of the database's identity, of the runs possible on it, and of what a profile would see.

    Raises:
        UsageError: the URL cannot be read.
    """
    where = read_target(target)
    try:
        connection = connect(where, _NAME)
    except RefusedError as error:
        return not_there("Server", str(error), wanted, _user(OLDEST, 0))
    try:
        version, container = release(connection), 0
        container = int(fetch(connection, "select_self")[0]["con_id"] or 0)
        server = identify(connection, where)
    except (RefusedError, oracledb.Error) as error:
        reason = str(error) if isinstance(error, RefusedError) else f"{where.place}: {error_text(error)}."
        return not_there("Profile", reason, wanted, _user(version, container))
    finally:
        connection.close()
    checks = [_server(server, where), *_conditions(server), *of_observation(server.not_available)]
    return Checkup((*checks, _user(version, container)), _refusals(target, wanted))


def _refusals(target: str, wanted: Mapping[str, Wanted]) -> dict[str, str]:
    from redolab.engine.oracle.engine import OracleEngine

    return refusals(lambda: OracleEngine(target, 0), wanted)


def _server(server: Server, target: Target) -> Check:
    part = f", container {server.container_name}" if server.container else ""
    text = f"Oracle {server.version_text} at {server.place}{part}, as the user {server.user}"
    if target.protocol == "tcps":
        return Check("Server", "works", f"{text}, encrypted (TLS)")
    if target.host in _LOOPBACK:
        return Check("Server", "works", f"{text}, through this machine or a tunnel, not encrypted")
    return Check(
        "Server", "limited", f"{text}, not encrypted",
        "Anybody on the network path can read and change what is sent.",
        "Add ?protocol=tcps to the URL if the listener has TLS.",
    )  # fmt: skip


def _conditions(server: Server) -> list[Check]:
    checks = [
        Check(
            "Condition", "limited", "never tried on a live Oracle",
            "Redolab's Oracle support was tested only against a replayed server and Oracle's documentation.",
            "Compare a first profile with the rows of a session in V$SESSION_EVENT.",
        )
    ]  # fmt: skip
    if server.version > NEWEST:
        checks.append(
            Check(
                "Condition",
                "limited",
                f"release {server.version_text} is newer than any release that was replayed",
            )
        )
    if server.role != "PRIMARY":
        checks.append(
            Check("Condition", "limited", f"a standby ({server.role.lower()}): it commits nothing of its own")
        )
    return checks


def _user(version: int, container: int) -> Check:
    """The script for a user, independent of the connected one."""
    return Check(
        "User", "works", "the statements that create a user that may see all of it",
        mend=" ".join(script(version, container)),
    )  # fmt: skip

"""Whether a run is possible on an Oracle, and what changes the meaning of its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from redolab.engine.oracle.connecting.connection import Connection, fetch
from redolab.engine.oracle.preflight.rights import OF_SCANS, grants, quoted, unseen
from redolab.engine.oracle.preflight.server import NEWEST, Server
from redolab.engine.oracle.statements import find
from redolab.errors import RefusedError

NEEDED = ("select_waits", "select_times", "select_statistics", "select_instance", "select_parameters")
"""Statements whose views a run needs to see in addition to those of a profile."""
_SHARED = {"SHARED": "Shared server processes", "POOLED": "Pooled server processes (DRCP)"}
PRIVILEGES = ("CREATE TABLE",)
"""System privileges that a run needs."""


def check_for_runs(connection: Connection, server: Server, combinations: Sequence[Mapping[str, str]]) -> None:
    """Make sure that a run is possible; nothing is changed.

    Raises:
        RefusedError: it is not; the text says what mends it.
    """
    if server.role != "PRIMARY":
        raise RefusedError(
            f"{server.place} is a standby ({server.role.lower()}), and a run writes: point --engine at the "
            "primary. Nothing was changed."
        )
    lacking = [name for name in NEEDED if name not in server.available]
    if any("rounds" in levels for levels in combinations):
        lacking += unseen(connection, OF_SCANS)
    hidden = [view for name in lacking for view in find(name, server.version).privileges]
    held = {row["privilege"] for row in fetch(connection, "select_privileges")}
    missing = [name for name in PRIVILEGES if name not in held]
    if hidden or missing:
        texts = [grants(hidden, server.user)] if hidden else []
        texts += [f"GRANT {name} TO {quoted(server.user)};" for name in missing]
        raise RefusedError(
            f"The user {server.user} lacks rights that this run needs. An administrator grants these rights "
            f"with: {' '.join(texts)} Nothing was changed."
        )
    (self,) = fetch(connection, "select_self")
    if self["current_schema"] != server.user:
        raise RefusedError(
            f"A logon trigger lets this user work in the schema {self['current_schema']}; Redolab creates "
            "tables only in the user's own schema. Use another user. Nothing was changed."
        )
    _check_modes(server, combinations)


def conditions(server: Server, served_by: str) -> list[str]:
    """Circumstances that change what the figures mean, one sentence each.

    Args:
        server: the database.
        served_by: the kind of server process behind a connection, as V$SESSION has it.
    """
    sentences = ["Redolab's Oracle support was tested only against a replayed server, never on a live one."]
    if server.version > NEWEST:
        sentences.append(f"Oracle {server.version_text} is newer than any release that was replayed.")
    if server.container > 1:
        sentences.append(
            f"The service belongs to the pluggable database {server.container_name}: figures of the log "
            "writer may be missing."
        )
    if served_by in _SHARED:
        sentences.append(
            f"{_SHARED[served_by]} serve the sessions: a call waits until one is free, and no session's "
            "account includes that wait."
        )
    return sentences


def _check_modes(server: Server, combinations: Sequence[Mapping[str, str]]) -> None:
    sets_mode = any("commit_wait" in levels for levels in combinations)
    forced = str(server.parameters.get("commit_wait") or "").upper() == "FORCE_WAIT"
    if sets_mode and forced:
        raise RefusedError(
            "COMMIT_WAIT is FORCE_WAIT for the whole instance: every commit waits, whatever its mode, so the "
            "modes cannot be compared. As an administrator, run ALTER SYSTEM RESET COMMIT_WAIT, or use "
            "another database. Nothing was changed."
        )

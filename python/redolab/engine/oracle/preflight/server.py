"""Which Oracle database is at the other end, which part of it is seen from here, and what it lets be seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from redolab.engine.oracle.connecting.connection import Connection, fetch, release
from redolab.engine.oracle.connecting.target import Target
from redolab.engine.oracle.preflight.rights import LOST, NEEDED, grants, unseen
from redolab.errors import RefusedError

NEWEST = 2399
"""The newest release that was replayed, and those of its line."""
_FIRST_PDB = 2
_LATE = (
    "CPU of calls that are still running, to the second",
    "Oracle publishes a session's CPU up to 5 s late while a call runs: watch for a minute or longer",
)
_NO_QUEUE = (
    "time in the run queue",
    "Oracle does not measure it: it is part of the unaccounted time",
)


@dataclass(frozen=True)
class Server:
    """A database as it was found on connecting."""

    version: int
    """major * 100 + minor."""
    version_text: str
    place: str
    user: str
    sid: int
    """SID of Redolab's own session."""
    container: int
    """Its number; 0 where the database has no containers."""
    container_name: str
    identity: str
    """The names of the database and of the container, which stay the same for as long as the data do."""
    role: str
    """`PRIMARY`, or which kind of standby."""
    started: str | None
    """By the instance's own clock; None where this user may not see it."""
    parameters: Mapping[str, str | None]
    """Parameters that figures depend on; empty where this user may not see them."""
    available: frozenset[str]
    """The statements that this user may execute."""
    not_available: tuple[tuple[str, str], ...]

    @property
    def description(self) -> dict[str, object]:
        """`name`, `version`, `place`, `local`, as in `Observation.server`."""
        return {"name": "Oracle", "version": self.version_text, "place": self.place, "local": False}


def identify(connection: Connection, target: Target) -> Server:
    """Ask a database what it is and what may be seen of it.

    Raises:
        RefusedError: a grant or the server's clock is missing, without which nothing can be shown.
        oracledb.Error: the database broke off.
    """
    (self,) = fetch(connection, "select_self")
    user, version = str(self["username"]), release(connection)
    hidden = unseen(connection, (*NEEDED, *LOST))
    lacking = [view for name in NEEDED for view in hidden.get(name, ())]
    if lacking:
        every = [view for views in hidden.values() for view in views]
        raise RefusedError(
            f"The user {user} may not see what sessions of {target.place} wait for. An administrator grants "
            f"that right in this container with: {grants(every, user)} Nothing was changed."
        )
    available = frozenset((*NEEDED, *LOST)) - hidden.keys()
    parameters = {}
    if "select_parameters" in available:
        parameters = {row["name"]: row["value"] for row in fetch(connection, "select_parameters")}
    if str(parameters.get("timed_statistics") or "TRUE").upper() == "FALSE":
        raise RefusedError(
            f"TIMED_STATISTICS is FALSE on {target.place}: Oracle counts waits but does not time them. An "
            "administrator switches the timing on with ALTER SYSTEM SET TIMED_STATISTICS = TRUE. Nothing was "
            "changed."
        )
    started = None
    if "select_instance" in available:
        started = str(fetch(connection, "select_instance")[0]["started"])
    container = int(self["con_id"] or 0)
    missing = [(LOST[name], grants(views, user)) for name, views in hidden.items()]
    if container >= _FIRST_PDB:
        missing.append(
            (
                "the log writer and other background processes, where the container leaves them out",
                f"the service belongs to the pluggable database {self['con_name']}: connect to a service of "
                "the root (CDB$ROOT) for the whole instance",
            )
        )
    return Server(
        version=version,
        version_text=connection.version,
        place=target.place,
        user=user,
        sid=int(self["sid"]),
        container=container,
        container_name=str(self["con_name"]),
        identity=f"{self['unique_name']} {self['con_name']}",
        role=str(self["database_role"]),
        started=started,
        parameters=parameters,
        available=available,
        not_available=(_NO_QUEUE, _LATE, *missing),
    )

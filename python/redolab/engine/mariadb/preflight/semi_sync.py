"""Whether commits wait for replicas, and whether these are there.

Source: MySQL Reference Manual, "Semisynchronous Replication"; MariaDB documentation, the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from redolab.engine.mariadb.connection import Connection, fetch
from redolab.engine.mariadb.preflight.server import Facts
from redolab.errors import RefusedError

_ON = ("ON", "1")
_KINDS = (("source", "wait_for_replica_count"), ("master", "wait_for_slave_count"))
_PATIENCE_S = 60.0
"""A commit that waits longer for nobody is a run that hangs."""


@dataclass(frozen=True)
class SemiSync:
    """Semi-synchronous replication of a server on which it is on."""

    kind: str
    """`source` or `master`, as in the names of its parameters."""
    waits: bool
    """Whether commits wait now; a server that waited in vain no longer waits."""
    wanted: int
    """Replicas that confirm a commit."""
    there: int
    timeout_s: float
    """Time after which a commit goes on without them, seconds."""

    @property
    def in_vain(self) -> bool:
        """Whether the next commit waits for replicas that are not there."""
        return self.waits and self.there < self.wanted

    @property
    def sentence(self) -> str:
        """The condition that a reader of figures must know."""
        if not self.waits:
            return (
                "Semi-synchronous replication is on, but no commit waits for a replica at present "
                f"(Rpl_semi_sync_{self.kind}_status is OFF)."
            )
        if self.in_vain:
            return (
                f"Semi-synchronous replication waits for {self.wanted} replica{'s' * (self.wanted > 1)}, but "
                f"{self.there or 'none'} {'are' if self.there > 1 else 'is'} connected: a commit returns "
                f"after {self.timeout_s:g} s (rpl_semi_sync_{self.kind}_timeout), and later commits do not "
                "wait."
            )
        return "Semi-synchronous replication is on: a commit waits for a replica too."


def read_semi_sync(control: Connection, variables: Mapping[str, object]) -> SemiSync | None:
    """The server's state of semi-synchronous replication; None where it is off.

    Args:
        control: asked.
        variables: of the whole server, by name in lower case.
    """
    for kind, count in _KINDS:
        before = f"rpl_semi_sync_{kind}_"
        if str(variables.get(f"{before}enabled", "OFF")).upper() in _ON:
            rows = fetch(control, "select_semi_sync", 500)
            status = {str(row["Variable_name"]).lower(): str(row["Value"]) for row in rows}
            return SemiSync(
                kind,
                status.get(f"{before}status", "OFF").upper() in _ON,
                int(str(variables.get(before + count, "1"))),
                int(status.get(f"{before}clients", "0")),
                float(str(variables.get(f"{before}timeout", "0"))) / 1000,
            )
    return None


def check_semi_sync(control: Connection, server: Facts) -> None:
    """Make sure that commits can return.

    Raises:
        RefusedError: a commit waits long for replicas that are not there.
    """
    semi_sync = read_semi_sync(control, server)
    if semi_sync and semi_sync.in_vain and semi_sync.timeout_s > _PATIENCE_S:
        raise RefusedError(
            f"{semi_sync.sentence} Connect the replicas, or SET GLOBAL "
            f"rpl_semi_sync_{semi_sync.kind}_enabled = OFF. Nothing was changed."
        )

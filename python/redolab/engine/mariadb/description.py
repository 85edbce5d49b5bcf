"""The description of a server for whoever reads its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.dialect import innodb
from redolab.engine.mariadb.observer.server import Server
from redolab.engine.mariadb.observer.source import why_blind
from redolab.engine.mariadb.private import PrivateServer
from redolab.engine.offer import PRIVATE_PLACE
from redolab.engine.private.log_device import emulated
from redolab.engine.private.probe import why_not_probed

Facts = Mapping[str, Any]
"""The server's identity and properties, as `check_server` reads them."""


def describe(server: Facts, own: PrivateServer | None, local: bool) -> Mapping[str, Any]:
    """The `engine` part of the manifest."""
    engine = innodb.binlog_engine(server) if server["binlog"] else ""
    return {
        "name": server["flavour"],
        "version": _version(server["version_text"]),
        "local": local,
        "place": PRIVATE_PLACE if own else server["place"],
        "emulated": emulated(own.device) if own else {},
        "log_filesystem": own.log_filesystem if own else None,
        "binlog": server["binlog"],
        **({innodb.BINLOG_ENGINE: engine} if engine else {}),
        "variant": own.variant if own else "",
        "innodb_flush_method": server["innodb_flush_method"],
        innodb.REDO_TIMEOUT: server.get(innodb.REDO_TIMEOUT),
    }


def _version(text: str) -> str:
    """The numbers of a version, without what a distribution adds: `10.11.19` of `10.11.19-MariaDB-log`."""
    return text.partition("-")[0]


def not_measured(server: Facts, watched: Server, own: PrivateServer | None) -> list[str]:
    """Figures that are not available there, and why; one sentence each."""
    missing = [f"{what[0].upper()}{what[1:]}: {why}." for what, why in watched.not_available]
    missing += [f"{what[0].upper()}{what[1:]}: {why}." for what, why in why_blind(watched.process)]
    if server["flavour"] == "mariadb":
        missing.append("Time of redo log flushes: MariaDB counts flushes but does not time them.")
        missing.append("Time of a log writer: in MariaDB sessions write and flush the log themselves.")
    missing.append(
        "Commit times are measured in the client, so each includes the round trip between the client and the "
        "server."
    )
    if not innodb.has_second_log(server):
        why = innodb.no_pause(server)
        missing.append(f"{why[0].upper()}{why[1:]}.")
    return [*missing, *why_not_probed(own, local=watched.process is not None)]

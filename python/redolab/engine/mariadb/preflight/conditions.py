"""Circumstances of a server that change what its figures mean, and who else gets what a run writes."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.dialect.innodb import has_redo_log, has_second_log
from redolab.engine.linux.local_server import MEMORY_FILESYSTEMS
from redolab.engine.mariadb.connecting.plaintext import plaintext
from redolab.engine.mariadb.connection import Connection, ask
from redolab.engine.mariadb.own.sessions import living, number_of
from redolab.engine.mariadb.preflight.semi_sync import read_semi_sync
from redolab.engine.mariadb.preflight.server import NAMES, Facts, is_replica

NEWEST: Mapping[str, int] = {"mariadb": 1108, "mysql": 907}
"""The newest that were tested."""
REPLICA = "This server is a replica: the figures include what it replays from its source."
_UNFLUSHED = ("O_DSYNC", "NOSYNC")


def server_conditions(control: Connection, server: Facts, log_filesystem: str | None) -> list[str]:
    """Circumstances that change what the figures mean, one sentence each.

    Args:
        control: asked.
        server: who and what it is.
        log_filesystem: under its logs, where that is known.
    """
    exposed = plaintext(control)
    sentences = [exposed.text] if exposed and exposed.leaves else []
    flavour = server["flavour"]
    if server["version"] > NEWEST[flavour]:
        newest = divmod(NEWEST[flavour], 100)
        sentences.append(
            f"{NAMES[flavour]} {server['version_text']} is newer than {newest[0]}.{newest[1]}, the newest "
            "version that was tested."
        )
    if not server["binlog"]:
        sentences.append(
            "The server keeps no binary log: a commit is flushed once here, and twice on a server with a "
            "binary log."
        )
    elif not has_second_log(server):
        sentences.append(
            "The binary log is inside InnoDB (binlog_storage_engine): a commit is flushed once here, and "
            "sync_binlog has no effect. For a binary log inside InnoDB Redolab relies on MariaDB's "
            "documentation; it was not tested on such a server."
        )
    elif server["sync_binlog"] not in ("0", "1"):
        sentences.append(
            f"sync_binlog was {server['sync_binlog']} when the run began: in normal use, the server flushes "
            "its binary log only once in that many commits."
        )
    sentences += _of_flushes(server)
    if log_filesystem in MEMORY_FILESYSTEMS:
        sentences.append(
            f"The logs are on a file system in memory ({log_filesystem}): a flush costs almost nothing."
        )
    if waiting := read_semi_sync(control, server):
        sentences.append(waiting.sentence)
    if is_replica(control, server):
        sentences.append(REPLICA)
    others = _others_at_work(control)
    if others:
        sentences.append(f"{others} other sessions were active when the run began: the server was not idle.")
    return sentences


def replicas(control: Connection) -> int:
    """How many replicas read this server's binary log, as far as this user may see them."""
    status = ask(control, "show global status like 'Slaves_connected'")
    reading = sum(str(row["Command"]).startswith("Binlog Dump") for row in living(control).values())
    return max(reading, int(status[0]["Value"]) if status else 0)


def _of_flushes(server: Facts) -> list[str]:
    sentences = []
    if not has_redo_log(server):
        sentences.append(
            "The redo log is disabled (ALTER INSTANCE DISABLE INNODB REDO_LOG): whatever the setting, no "
            "commit is safe from a crash, and after a crash the server does not start."
        )
    method = str(server["innodb_flush_method"]).upper()
    if method in _UNFLUSHED:
        what = (
            "nothing is ever flushed"
            if method == "NOSYNC"
            else "the redo log is flushed within each write of it, so the server counts no flush"
        )
        sentences.append(f"innodb_flush_method is {server['innodb_flush_method']}: {what}.")
    doublewrite = server.get("innodb_doublewrite", "ON").upper()
    if doublewrite in ("OFF", "0", "DETECT_ONLY"):
        sentences.append(
            f"innodb_doublewrite is {doublewrite}: pages are written once, so a page torn by a crash is lost."
        )
    if server.get("innodb_flush_log_at_timeout", "1") != "1":
        sentences.append(
            f"innodb_flush_log_at_timeout is {server['innodb_flush_log_at_timeout']}: a setting that does "
            "not wait for the disk can lose commits of about that many seconds, instead of one second."
        )
    return sentences


def _others_at_work(control: Connection) -> int:
    own = number_of(control)
    return sum(
        row["Command"] in ("Query", "Execute") and number != own and row["User"] != "system user"
        for number, row in living(control).items()
    )

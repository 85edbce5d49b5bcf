"""How wait/nowait and immediate/batch are set in MariaDB and MySQL, and which failures a commit survives.

A commit goes through two logs, one after the other: InnoDB's redo log and, where the server keeps one,
the binary log. `innodb_flush_log_at_trx_commit` decides what a commit does to the first: 1 flushes it to
the device, 2 hands it to the operating system, 0 leaves it in memory for about a second. `sync_binlog`
decides it for the second: 1 flushes at every group of commits, 0 leaves the flush to the operating system.
Only the binary log has a pause that gathers commits.

Source: MariaDB documentation, "InnoDB System Variables" and "Group Commit for the Binary Log"; MySQL
Reference Manual, "InnoDB Startup Options and System Variables", "Binary Logging Options and Variables".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from redolab.dialect.base import Loss

REDO = "innodb_flush_log_at_trx_commit"
BINLOG = "sync_binlog"
REDO_TIMEOUT = "innodb_flush_log_at_timeout"
"""Seconds after which the redo log is flushed where no commit does it."""
REDO_LOG = "innodb_redo_log_enabled"
"""A value of the server's status, which is kept among its parameters."""
BINLOG_ENGINE = "binlog_storage_engine"
"""Parameter: the engine that keeps the binary log; empty where the server keeps it in its own files."""
LOG_WRITERS = frozenset({"ib_log_writer", "ib_log_flush"})
"""MySQL's threads for the redo log alone, by their names. MariaDB does not have such threads."""
LONGEST_PAUSE_US = 100_000
WITHOUT_BINLOG = "skip-log-bin"
"""The option of both servers that leaves the binary log out, and the variant of a private one without it."""
PAUSE: Mapping[str, tuple[str, str]] = {
    "mariadb": ("binlog_commit_wait_usec", "binlog_commit_wait_count"),
    "mysql": ("binlog_group_commit_sync_delay", "binlog_group_commit_sync_no_delay_count"),
}
"""The pause in microseconds, and how many commits end it early, by flavour."""
PARAMETERS = frozenset({REDO, BINLOG, *PAUSE["mariadb"], *PAUSE["mysql"]})
"""All parameters of commits; each applies to the whole server."""
NO_PAUSE = (
    "wait/batch needs a pause that gathers commits; MariaDB and MySQL have such a pause only in the binary "
    "log, and this server does not keep a binary log (log_bin is off)"
)
NO_KNOWN_PAUSE = (
    "wait/batch needs a pause that gathers commits, and this server keeps its binary log inside InnoDB "
    f"({BINLOG_ENGINE}); MariaDB's documentation does not describe whether the pause has an effect inside "
    "InnoDB"
)
# By commit_wait and commit_logging: the redo log, the binary log. Without commit_logging the pause stays as
# it is. Forecasts ask for commits that wait for one log of two.
_MODES: Mapping[tuple[str, str | None], tuple[str, str]] = {
    ("wait", "immediate"): ("1", "1"),
    ("wait", "batch"): ("1", "1"),
    ("wait", None): ("1", "1"),
    ("nowait", "immediate"): ("2", "0"),
    ("nowait", None): ("2", "0"),
    ("nowait", "batch"): ("0", "0"),
    ("redo", None): ("1", "0"),
    ("binlog", None): ("2", "1"),
}
_REDO_TIERS = {"0": "memory", "1": "disk", "2": "os", "3": "disk"}
_WEAKEST_FIRST = ("memory", "os", "disk")


def missing(levels: Mapping[str, str], binlog: bool, why: str = NO_PAUSE) -> str | None:
    """Why a server cannot do a setting with such levels, half a sentence; None where it can.

    Args:
        levels: factor to level.
        binlog: whether commits go through a second log, see `has_second_log`.
        why: why the server has no pause, see `no_pause`.
    """
    gathers = _mode(levels) == ("wait", "batch") or "commit_delay_us" in levels
    return why if gathers and not binlog else None


def has_second_log(server: Mapping[str, Any]) -> bool:
    """Whether commits go through a binary log of its own, after the redo log.

    Args:
        server: `binlog`, whether it keeps a binary log, and its parameters by name.
    """
    return bool(server["binlog"]) and not binlog_engine(server)


def no_pause(server: Mapping[str, Any]) -> str:
    """Why a server without a second log has no pause that gathers commits, half a sentence."""
    return NO_KNOWN_PAUSE if server["binlog"] else NO_PAUSE


def binlog_engine(parameters: Mapping[str, Any]) -> str:
    """The engine that keeps the binary log, in lower case; empty where the binary log has its own files.

    A server whose parameter is not set shows it as empty.
    """
    engine = str(parameters.get(BINLOG_ENGINE) or "").strip().lower()
    return "" if engine in ("none", "null") else engine


def strange_engine(parameters: Mapping[str, Any]) -> str | None:
    """Why it is not known for which logs a commit waits, a sentence; None where it is known.

    Args:
        parameters: the server's own, by name, with `log_bin`.
    """
    engine = binlog_engine(parameters)
    if engine in ("", "innodb") or not keeps_binlog(parameters):
        return None
    return (
        f"This server keeps its binary log in the storage engine {engine[:64]} ({BINLOG_ENGINE}). MariaDB's "
        "documentation names InnoDB as the only storage engine for a binary log, so it is not known what a "
        "commit waits for on this server."
    )


def keeps_binlog(parameters: Mapping[str, Any]) -> bool:
    """Whether a server keeps a binary log, by its parameter `log_bin`."""
    return str(parameters.get("log_bin")).upper() in ("ON", "1", "YES")


def parameter_names(combinations: Iterable[Mapping[str, str]], flavour: str, binlog: bool) -> tuple[str, ...]:
    """Every parameter that the settings need; each applies to the whole server.

    Args:
        combinations: factor to level, of each setting.
        flavour: `mariadb` or `mysql`.
        binlog: whether commits go through a second log, see `has_second_log`.
    """
    factors = {factor for levels in combinations for factor in levels}
    logs = (REDO, BINLOG) if binlog else (REDO,)
    pause = PAUSE[flavour] if binlog and factors & {"commit_logging", "commit_delay_us"} else ()
    return (*(logs if "commit_wait" in factors else ()), *pause)


def commit_parameters(
    levels: Mapping[str, str], *, flavour: str, binlog: bool, pause_us: int, sessions: int
) -> dict[str, str]:
    """The parameters that realise `commit_wait`, `commit_logging` and `commit_delay_us`.

    Args:
        levels: factor name to level, of a setting that is not `missing` here.
        flavour: `mariadb` or `mysql`.
        binlog: whether commits go through a second log, see `has_second_log`.
        pause_us: the pause under `wait/batch`, microseconds.
        sessions: number that can commit together: the pause ends when all of them have come.
    """
    found: dict[str, str] = {}
    mode = _mode(levels)
    if mode is not None:
        redo, sync = _MODES[mode]
        found |= {REDO: redo, BINLOG: sync} if binlog else {REDO: redo}
    asked_us = levels.get("commit_delay_us")
    if binlog and ((mode and mode[1]) or asked_us is not None):
        gathering = str(pause_us) if mode == ("wait", "batch") else "0"
        pause, count = PAUSE[flavour]
        found[pause] = asked_us if asked_us is not None else gathering
        # MariaDB pauses only where this number is above 0 too.
        found[count] = str(sessions) if found[pause] != "0" else "0"
    return found


def durability_tier(redo: str, sync_binlog: str | None, flush_method: str, redo_log: bool = True) -> str:
    """The failures that an acknowledged commit survives, by the weaker of the two logs (durability tier).

    With the binary log on, recovery rolls back a prepared transaction that is not in it. So a commit that
    is only in the flushed redo log is lost with the unflushed binary log.

    Args:
        redo: `innodb_flush_log_at_trx_commit`.
        sync_binlog: None without a second log, see `has_second_log`.
        flush_method: `innodb_flush_method`; with `nosync` nothing is flushed.
        redo_log: whether the redo log is written at all, see `has_redo_log`.
    """
    if not redo_log:
        return "memory"
    tiers = [_REDO_TIERS[redo]]
    if sync_binlog is not None:
        tiers.append("disk" if sync_binlog == "1" else "os")
    if flush_method.lower() == "nosync":
        tiers.append("os")
    return min(tiers, key=_WEAKEST_FIRST.index)


def losses(parameters: Mapping[str, Any]) -> tuple[Loss, ...]:
    """Possible losses in crashes, by `innodb_flush_log_at_trx_commit` and `sync_binlog`.

    A crash of the server alone leaves what the operating system has; recovery rolls back what one of the two
    logs does not have.

    Args:
        parameters: of a setting, and those of the server that it does not name; `binlog`, whether it keeps
            a binary log.
    """
    redo = str(parameters.get(REDO))
    if redo not in _REDO_TIERS:
        return ()
    second = bool(parameters.get("binlog")) and not binlog_engine(parameters)
    sync = str(parameters.get(BINLOG)) if second else "1"
    window_s = _seconds(parameters.get(REDO_TIMEOUT))
    why = "" if window_s is not None else f"the run did not note {REDO_TIMEOUT}, which limits it"
    late = Loss("server", window_s, about=True, unknown=why)
    server = (late,) if redo == "0" else ()
    if str(parameters.get("innodb_flush_method") or "").lower() == "nosync":
        power = _unlimited("innodb_flush_method = nosync leaves every flush")
    elif sync == "0":
        power = _unlimited("sync_binlog = 0 leaves the flush of the binary log")
    elif not sync.isdecimal():
        power = Loss("power", unknown=f"the run did not note {BINLOG}, which limits it")
    else:
        groups = int(sync) if sync != "1" else None
        lasting = redo in ("1", "3")
        if lasting and groups is None:
            return server
        power = Loss("power", groups=groups) if lasting else replace(late, crash="power", groups=groups)
    return (*server, power)


def chosen(levels: Mapping[str, str]) -> frozenset[str]:
    """The parameters that `commit_wait`, `commit_logging` and `commit_delay_us` decide."""
    logs = {REDO, BINLOG} if "commit_wait" in levels else set()
    gathers = _mode(levels) == ("wait", "batch") or "commit_delay_us" in levels
    pauses = {name for names in PAUSE.values() for name in names} if gathers else set()
    return frozenset(logs | pauses)


def realised(levels: Mapping[str, str], server: Mapping[str, Any]) -> Mapping[str, str]:
    """Parameters of one level of `commit_wait` or `commit_delay_us`; empty without such a delay.

    Args:
        levels: factor to level.
        server: its record in a manifest, with `name` and `binlog`; `sessions`, how many work on it.
    """
    if server.get("binlog") is None:
        return {}
    binlog = has_second_log(server)
    if missing(levels, binlog):
        return {}
    return commit_parameters(
        levels,
        flavour=str(server["name"]).lower(),
        binlog=binlog,
        pause_us=0,
        sessions=int(server["sessions"]),
    )


def _unlimited(what: str) -> Loss:
    return Loss("power", unknown=f"{what} to the operating system, which sets no limit")


def _seconds(value: object) -> float | None:
    text = str(value)
    return float(text) if text.isdecimal() and int(text) else None


def tier_of(parameters: Mapping[str, str]) -> str | None:
    """The durability tier that a server's parameters promise to every session; None if it is not known.

    Args:
        parameters: the server's own, by name.
    """
    redo = parameters.get(REDO, "")
    if redo not in _REDO_TIERS or strange_engine(parameters):
        return None
    method, redo_log = parameters.get("innodb_flush_method", ""), has_redo_log(parameters)
    tiers = {durability_tier(redo, sync, method, redo_log) for sync in _syncs(parameters)}
    return tiers.pop() if len(tiers) == 1 else None


def _syncs(parameters: Mapping[str, str]) -> tuple[str | None, ...]:
    """Possible values of `sync_binlog`, None for commits through one log; several where it is not known."""
    if "log_bin" not in parameters:
        return (None, "0")
    if not keeps_binlog(parameters) or binlog_engine(parameters):
        return (None,)
    return (parameters[BINLOG],) if BINLOG in parameters else ("1", "0")


def flushes_redo_at_commit(parameters: Mapping[str, str]) -> bool:
    """Whether a commit waits until the redo log is flushed; true where the parameter is not known."""
    return _REDO_TIERS.get(str(parameters.get(REDO)), "disk") == "disk"


def has_redo_log(facts: Mapping[str, str]) -> bool:
    """Whether a server writes its redo log: MySQL can switch it off, and shows that in its status.

    Source: MySQL Reference Manual, "Disabling Redo Logging".
    """
    return facts.get(REDO_LOG, "ON").upper() != "OFF"


def _mode(levels: Mapping[str, str]) -> tuple[str, str | None] | None:
    if "commit_wait" not in levels:
        return None
    return levels["commit_wait"], levels.get("commit_logging")

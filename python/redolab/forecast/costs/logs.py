"""The logs that a run's commits waited for, and what their flushes took.

A server that times its flushes says what they took. Where one does not, a lone session does: its commits
that wait take as much longer than those that wait for no log as their flushes take. Counters say how many
flushes that were. Of two logs, that time is divided as the emulated devices' times are. Real devices do not
say, and then each flush is taken to need the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab.dialect.base import Grouping
from redolab.dialect.known import grouping_of, product_name

UNTIMED = (
    "This server does not time the flushes of {logs}. What a lone session's commits take longer than commits "
    "that wait for no log is taken for them, and divided {how}."
)
ONE_DEVICE = (
    "Whether redo log and binary log lie on one device is not known; they are taken to, so that their "
    "flushes wait for each other."
)

OWN_DEVICES = (
    "A flush of one log takes more than twice as long as one of the other, so redo log and binary log are "
    "taken to lie on devices of their own."
)


@dataclass(frozen=True)
class LogColumns:
    """The columns of a sample that tell of one log."""

    name: str
    """In words."""
    flushes: str
    times: tuple[str, ...]
    """Time in flushes, and in writes where that is counted apart."""


REDO = LogColumns("the redo log", "log_flushes", ("log_write_time_s", "log_flush_time_s"))
BINLOG = LogColumns("the binary log", "binlog_flushes", ("binlog_flush_time_s",))


@dataclass(frozen=True)
class Logs:
    """The logs of the server that a run was made on."""

    columns: tuple[LogColumns, ...] = (REDO,)
    """The first log's, then the second's if commits wait for one."""
    grouping: Grouping | None = None
    """None where it is PostgreSQL's."""
    devices_ms: tuple[float, ...] = ()
    """Of the emulated devices: one for both logs, or one each; empty for real ones."""
    product: str = ""
    """The database as its maker writes it."""

    @property
    def own_devices(self) -> bool:
        """Whether each log has a device of its own."""
        return len(self.devices_ms) > 1

    def system(self, loop: str) -> str:
        """What is measured, where its commits share flushes in another way than PostgreSQL's.

        Args:
            loop: `server` or `client`.
        """
        if self.grouping is None:
            return ""
        return f"{self.product}, {loop}, {'two logs' if len(self.columns) > 1 else 'one log'}"

    def weights(self) -> tuple[float, ...]:
        """How the time of a flush of each log is to that of the other's, as far as it is known."""
        if self.own_devices and all(self.devices_ms):
            return self.devices_ms
        return (1.0,) * len(self.columns)

    def cautions(self, untimed: Sequence[LogColumns]) -> tuple[str, ...]:
        """What is taken for granted.

        Args:
            untimed: the logs whose flushes the server does not time.
        """
        found = []
        if untimed and self.grouping is not None:
            names = " and ".join(log.name for log in untimed)
            how = "as the emulated devices' times are" if self.devices_ms else "evenly between flushes"
            found.append(UNTIMED.format(logs=names, how=how))
        if len(self.columns) > 1 and not self.devices_ms:
            found.append(ONE_DEVICE)
        return tuple(found)


def logs_of(engine: Mapping[str, Any]) -> Logs:
    """The logs of a server.

    Args:
        engine: its record in a manifest.
    """
    name = str(engine["name"])
    grouping = grouping_of(name)
    emulated = engine.get("emulated") or {}
    devices = (emulated.get(device) for device in ("log_device_ms", "binlog_device_ms"))
    return Logs(
        (REDO, BINLOG) if grouping is not None and _has_second_log(engine) else (REDO,),
        grouping,
        tuple(float(ms) for ms in devices if ms is not None),
        product_name(name) or name,
    )


def _has_second_log(engine: Mapping[str, Any]) -> bool:
    """Whether commits go through a binary log of its own; one inside InnoDB is flushed with the redo log."""
    return bool(engine.get("binlog")) and not engine.get("binlog_storage_engine")

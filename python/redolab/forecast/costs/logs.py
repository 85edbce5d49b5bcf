"""The logs that a run's commits waited for, and what their flushes took.

A server that times its flushes reports their times. Where it does not, a lone session shows them: its commits
that wait take as much longer than those that wait for no log as their flushes take. Counters say how many
flushes that were. Of two logs, that time is divided as the emulated devices' times are. Times of real
devices are not known, and then each flush is assumed to need the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab.dialect.base import Grouping
from redolab.dialect.known import grouping_of, product_name

UNTIMED = (
    "This server does not time the flushes of {logs}. The time by which a lone session's commits take "
    "longer than commits that wait for no log is attributed to these flushes, divided {how}."
)
ONE_DEVICE = (
    "It is not known whether redo log and binary log are on one device. Redo log and binary log are assumed "
    "to be on one device, so that their flushes wait for each other."
)

OWN_DEVICES = (
    "A flush of one log takes more than twice as long as a flush of the other log, so redo log and binary "
    "log are assumed to be on separate devices."
)


@dataclass(frozen=True)
class LogColumns:
    """The columns of a sample that belong to one log."""

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
    """Times of the emulated devices: one for both logs, or one each; empty for real ones."""
    product: str = ""
    """The database as its maker writes it."""

    @property
    def own_devices(self) -> bool:
        """Whether each log has a device of its own."""
        return len(self.devices_ms) > 1

    def system(self, loop: str) -> str:
        """The measured system, where its commits share flushes in another way than PostgreSQL's.

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
        """Assumptions about the logs, in sentences.

        Args:
            untimed: the logs whose flushes the server does not time.
        """
        found = []
        if untimed and self.grouping is not None:
            names = " and ".join(log.name for log in untimed)
            how = (
                ("in proportion to the emulated devices' times")
                if self.devices_ms
                else "evenly between flushes"
            )
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

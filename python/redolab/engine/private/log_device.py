"""Emulated slow log devices for a server of Redolab's own: each flush of a log takes at least so long.

A small library (crates/redolab-logdevice) is between the server and the C library. Server and Redolab share
one page: the delays asked for go in, what was really delivered comes out. The logs share one device, where
one waits for the other, or each has its own.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from redolab import _core
from redolab.errors import RefusedError
from redolab.files.folder import Folder

# The page, as the head of flush_delay.c has it.
_PAGE = 4096
_MAGIC = 0x5245444F4C4F4732
_HEAD = struct.Struct("<2Q")
_DEVICE = struct.Struct("<2Q")
_LOG = struct.Struct("<6Q")
_MOST = 2
_DEVICES_AT = _HEAD.size
_LOGS_AT = _DEVICES_AT + _MOST * _DEVICE.size
_STARTS_AT, _START = 1024, 1536


@dataclass(frozen=True)
class Log:
    """A log of the server, known by the names of its files."""

    name: str
    title: str
    """In words, for a reader."""
    start: str
    """How the path of each of its files begins, from the data directory on."""


@dataclass(frozen=True)
class Flushes:
    """Flushes on emulated devices so far."""

    flushes: int
    requested_s: float
    delivered_s: float


@dataclass(frozen=True)
class DeviceCounters:
    """The work of the emulated devices so far."""

    logs: Mapping[str, Flushes]
    """Flushes of each log, by its name."""
    attached: int
    """Processes that mapped the page; 0 when the server runs without the library."""

    @property
    def total(self) -> Flushes:
        """Flushes of all logs together."""
        each = self.logs.values()
        return Flushes(
            sum(log.flushes for log in each),
            sum(log.requested_s for log in each),
            sum(log.delivered_s for log in each),
        )


class LogDevice:
    """The control page of one server's emulated devices."""

    def __init__(
        self, directory: Path, logs: Sequence[Log], delays_s: Sequence[float], user: int | None
    ) -> None:
        """Write library and page into `directory`, where the server can read them.

        Args:
            directory: of the server, with `data` in it.
            logs: of the server, two at the most.
            delays_s: least time of a flush, seconds: one for a device that all logs share, or one for
                the device of each, in the order of `logs`.
            user: whom the server runs as, who gets the page; None for this user.

        Raises:
            RefusedError: this system has no such library, or the directory's path is too long for the page.
        """
        if not _core.LOG_DEVICE_LIBRARY:
            raise RefusedError(
                "An emulated log device needs Linux: the flush delay is put between the server and its C "
                "library. Leave --log-device-ms out to measure the real device."
            )
        assert 1 <= len(delays_s) <= len(logs) <= _MOST
        self.delays_s = tuple(delays_s)
        self.logs = tuple(logs)
        self._library = directory / "log_device.so"
        self._page = directory / "log_device.page"
        page = bytearray(_PAGE)
        _HEAD.pack_into(page, 0, _MAGIC, 0)
        for number, log in enumerate(logs):
            device = min(number, len(delays_s) - 1)
            _DEVICE.pack_into(page, _DEVICES_AT + device * _DEVICE.size, _ns(delays_s[device]), 0)
            _LOG.pack_into(page, _LOGS_AT + number * _LOG.size, device, *[0] * 5)
            struct.pack_into(f"{_START}s", page, _STARTS_AT + number * _START, _start(directory, log))
        # Read and written, not mapped: were it cut off by the server's user, a mapping would kill Redolab.
        with Folder.to_write(directory) as folder:
            os.close(folder.create(self._library.name, _core.LOG_DEVICE_LIBRARY, 0o644))
            self._shared = folder.create(self._page.name, bytes(page), 0o600)
        if user is not None:
            os.fchown(self._shared, user, user)

    def take(self, *delays_s: float) -> None:
        """Let every flush from now on take at least so long, seconds; the first device first."""
        assert len(delays_s) <= len(self.delays_s)
        self.delays_s = (*delays_s, *self.delays_s[len(delays_s) :])
        for number, delay_s in enumerate(delays_s):
            os.pwrite(self._shared, struct.pack("<Q", _ns(delay_s)), _DEVICES_AT + number * _DEVICE.size)

    @property
    def environment(self) -> dict[str, str]:
        """Variables that the server's environment must have."""
        return {"LD_PRELOAD": str(self._library), "REDOLAB_LOG_DEVICE": str(self._page)}

    def counters(self) -> DeviceCounters:
        """Delays asked of the devices and delays that they delivered, cumulative.

        Raises:
            RefusedError: the page was cut off.
        """
        content = os.pread(self._shared, _STARTS_AT, 0)
        if len(content) < _STARTS_AT:
            raise RefusedError(
                f"The control page of the emulated log device, {self._page}, was truncated during the run. "
                "Find out which process of the server's user truncated it, and measure again."
            )
        found = {}
        for number, log in enumerate(self.logs):
            _, flushes, requested, _, delivered, _ = _LOG.unpack_from(content, _LOGS_AT + number * _LOG.size)
            found[log.name] = Flushes(flushes, requested / 1e9, delivered / 1e9)
        return DeviceCounters(found, attached=_HEAD.unpack_from(content)[1])

    def snapshot(self) -> dict[str, float]:
        """The counters of a `Snapshot`: all logs together.

        Raises:
            RefusedError: the page was cut off.
        """
        read = self.counters().total
        return {
            "device_flushes": read.flushes,
            "device_requested_s": read.requested_s,
            "device_delivered_s": read.delivered_s,
        }

    @contextmanager
    def reached(self, commits: int) -> Iterator[None]:
        """Make sure that the library sees the flushes of each log; they are not delayed meanwhile.

        Some files of a log are flushed even where its commits are not, so there must be one for each commit.

        Args:
            commits: how many one session makes within the `with` block, one after the other.

        Raises:
            RefusedError: it does not, so a log's flushes are out of the devices' reach.
        """
        delays_s = self.delays_s
        self.take(*[0.0] * len(delays_s))
        before = self.counters().logs
        yield
        after = self.counters().logs
        self.take(*delays_s)
        missed = [
            log.title for log in self.logs if after[log.name].flushes - before[log.name].flushes < commits
        ]
        if missed:
            raise RefusedError(
                f"The emulated log device does not reach the {' and the '.join(missed)} of this server: of "
                f"{commits} consecutive commits, not every one was seen to end in fdatasync or fsync. The "
                "log may be flushed inside write(), or mapped from memory. Leave --log-device-ms out to "
                "measure the real device."
            )

    def close(self) -> None:
        """Close the page."""
        os.close(self._shared)


def emulated(device: LogDevice | None) -> dict[str, float]:
    """Entries of a manifest for emulated devices, ms: `log_device_ms`, and one more for a second device."""
    if device is None:
        return {}
    names = ("log", *(log.name for log in device.logs[1:]))
    return {
        f"{name}_device_ms": delay_s * 1000 for name, delay_s in zip(names, device.delays_s, strict=False)
    }


def _ns(delay_s: float) -> int:
    return round(delay_s * 1e9)


def _start(directory: Path, log: Log) -> bytes:
    """The path that the kernel has for a log's files, as far as it is known."""
    start = os.fsencode(f"{(directory / 'data').resolve()}/{log.start}")
    if len(start) >= _START:
        raise RefusedError(
            f"The path {directory} is too long for an emulated log device. Set XDG_CACHE_HOME to a directory "
            "with a shorter path, or leave --log-device-ms out."
        )
    return start

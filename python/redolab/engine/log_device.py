"""An emulated slow log device for the embedded server: each flush of the log takes at least so long.

A small library (crates/redolab-logdevice) stands between the server and the C library. Server and
Redolab share one page: the delay asked for goes in, what was really delivered comes out.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from redolab import _core
from redolab.errors import RefusedError

_PAGE = 4096
_MAGIC = 0x5245444F4C4F4731
_SLOTS = struct.Struct("<9Q")


@dataclass(frozen=True)
class DeviceCounters:
    """What the emulated device did so far."""

    flushes: int
    requested_s: float
    delivered_s: float
    attached: int
    """Processes that mapped the page; 0 when the server runs without the library."""


class LogDevice:
    """The control page of one emulated device."""

    def __init__(self, directory: Path, delay_s: float) -> None:
        """Write library and page into `directory`, where the server can read them.

        Raises:
            RefusedError: this system has no such library.
        """
        if not _core.LOG_DEVICE_LIBRARY:
            raise RefusedError(
                "An emulated log device needs Linux: the flush delay is put between the server and its C "
                "library. Leave --log-device-ms out to measure the real device."
            )
        self.delay_s = delay_s
        self._library = directory / "log_device.so"
        self._page = directory / "log_device.page"
        self._library.write_bytes(_core.LOG_DEVICE_LIBRARY)
        page = bytearray(_PAGE)
        _SLOTS.pack_into(page, 0, _MAGIC, round(delay_s * 1e9), *[0] * 7)
        self._page.write_bytes(page)
        with self._page.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), _PAGE)

    def take(self, delay_s: float) -> None:
        """Let every flush from now on take at least `delay_s`."""
        self.delay_s = delay_s
        struct.pack_into("<Q", self._shared, 8, round(delay_s * 1e9))

    @property
    def environment(self) -> dict[str, str]:
        """What the server's environment must have."""
        return {"LD_PRELOAD": str(self._library), "REDOLAB_LOG_DEVICE": str(self._page)}

    def counters(self) -> DeviceCounters:
        """What was asked of the device and what it delivered, cumulative."""
        slots = _SLOTS.unpack_from(self._shared, 0)
        return DeviceCounters(
            flushes=slots[2], requested_s=slots[3] / 1e9, delivered_s=slots[5] / 1e9, attached=slots[8]
        )

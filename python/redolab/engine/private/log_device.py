"""An emulated slow log device for the embedded server: each flush of the log takes at least so long.

A small library (crates/redolab-logdevice) stands between the server and the C library. Server and
Redolab share one page: the delay asked for goes in, what was really delivered comes out.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from redolab import _core
from redolab.errors import RefusedError
from redolab.files.writing import create_file

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

    def __init__(self, directory: Path, delay_s: float, user: int | None) -> None:
        """Write library and page into `directory`, where the server can read them.

        Args:
            directory: of the server.
            delay_s: least time of a flush, seconds.
            user: whom the server runs as, who gets the page; None for this user.

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
        os.close(create_file(self._library, _core.LOG_DEVICE_LIBRARY, 0o644))
        page = bytearray(_PAGE)
        _SLOTS.pack_into(page, 0, _MAGIC, round(delay_s * 1e9), *[0] * 7)
        # Read and written, not mapped: were it cut off by the server's user, a mapping would kill Redolab.
        self._shared = create_file(self._page, bytes(page), 0o600)
        if user is not None:
            os.fchown(self._shared, user, user)

    def take(self, delay_s: float) -> None:
        """Let every flush from now on take at least `delay_s`."""
        self.delay_s = delay_s
        os.pwrite(self._shared, struct.pack("<Q", round(delay_s * 1e9)), 8)

    @property
    def environment(self) -> dict[str, str]:
        """What the server's environment must have."""
        return {"LD_PRELOAD": str(self._library), "REDOLAB_LOG_DEVICE": str(self._page)}

    def counters(self) -> DeviceCounters:
        """What was asked of the device and what it delivered, cumulative.

        Raises:
            RefusedError: the page was cut off.
        """
        content = os.pread(self._shared, _SLOTS.size, 0)
        if len(content) < _SLOTS.size:
            raise RefusedError(
                f"The control page of the emulated log device, {self._page}, was cut off during the run. "
                "Find out which process of the server's user does that, and measure again."
            )
        slots = _SLOTS.unpack(content)
        return DeviceCounters(
            flushes=slots[2], requested_s=slots[3] / 1e9, delivered_s=slots[5] / 1e9, attached=slots[8]
        )

    def close(self) -> None:
        """Close the page."""
        os.close(self._shared)

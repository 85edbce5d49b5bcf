"""A small file that is flushed to see how long the device under a private server's data takes.

The server does not know it, and an emulated log device does not delay it: this is the real device.
"""

from __future__ import annotations

import os
import secrets
import statistics
import time
from contextlib import suppress
from pathlib import Path

from redolab.files.folder import Folder

_BYTES = 4096
_MOST = 3
_ENOUGH_S = 0.005
"""No further flush after so long: a sample must not be kept waiting."""


class FlushedFile:
    """A file without a name: it is gone with this process, whatever becomes of it."""

    def __init__(self, directory: Path) -> None:
        """Make the file in a directory; where that is not possible there are no times."""
        self._file: int | None = None
        name = f"flushed.{secrets.token_hex(6)}"
        with suppress(OSError), Folder.to_write(directory) as folder:
            self._file = folder.create(name, bytes(_BYTES), 0o600)
            folder.remove(name)

    def flush_s(self) -> float | None:
        """Median time of up to three flushes, seconds, each after its block was written anew.

        None where the file could not be made, written or flushed.
        """
        if self._file is None:
            return None
        times: list[float] = []
        try:
            while len(times) < _MOST and sum(times) < _ENOUGH_S:
                os.pwrite(self._file, secrets.token_bytes(_BYTES), 0)
                begun = time.monotonic()
                os.fdatasync(self._file)
                times.append(time.monotonic() - begun)
        except OSError:
            return None
        return statistics.median(times)

    def close(self) -> None:
        """Give its room back."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

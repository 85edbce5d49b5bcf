"""The sockets that the driver opens for one connection: counted, measured by the kernel, and cut.

The driver keeps its socket to itself and has no limit for a log-in as a whole. Python reports each socket
that is made (PEP 578), in the thread that makes it.
"""

from __future__ import annotations

import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from redolab.bounds import MOST_SOCKETS, OutOfBoundsError

_MAKING = threading.local()
_RECEIVED = struct.Struct("=128xQ")
"""Layout of the kernel's `tcp_info` up to tcpi_bytes_received."""


class Sockets:
    """Sockets of one connection, of its redirections and of TLS over them."""

    def __init__(self) -> None:
        """Begin without any."""
        self._made: list[socket.socket] = []
        self._is_cut = False

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what this thread makes meanwhile."""
        _MAKING.sockets = self
        try:
            yield
        finally:
            _MAKING.sockets = None

    def take(self, made: socket.socket) -> None:
        """Take one more.

        Raises:
            OutOfBoundsError: they are too many, or cut already.
        """
        if self._is_cut or len(self._made) >= MOST_SOCKETS:
            raise OutOfBoundsError(f"it was redirected to other addresses more than {MOST_SOCKETS} times")
        self._made.append(made)

    def received(self) -> int:
        """Bytes that came over all of them."""
        return sum(map(_received, self._made))

    def cut(self) -> None:
        """End them, and whatever waits for them; nothing is said to the other end."""
        self._is_cut = True
        for made in self._made:
            with suppress(OSError):
                # TLS has a way of its own to end, which waits for the other end.
                socket.socket.shutdown(made, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close them; the driver leaves some open when it gives up."""
        self._is_cut = True
        for made in self._made:
            with suppress(OSError):
                made.close()


def _received(made: socket.socket) -> int:
    try:
        (count,) = _RECEIVED.unpack(made.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED.size))
    except (OSError, struct.error):
        return 0
    return int(count)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.__new__" and (sockets := getattr(_MAKING, "sockets", None)) is not None:
        sockets.take(arguments[0])


sys.addaudithook(_note)

"""Somebody in the middle of a connection to a real MariaDB or MySQL."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress

from tests.wire import Between

_SSL = 0x0800


class InBetween(Between):
    """Passes everything on, and hears it; once `strips` is set, no server offers TLS any more."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self.strips = False
        self.heard = b""
        """What clients said."""
        super().__init__()

    def serve(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self._server_port))
        self._open.append(server)
        greeting = bytearray(server.recv(65536))
        # Behind the header: the protocol, the version, the connection, 8 bytes and one more.
        at = greeting.index(0, 5) + 1 + 4 + 9
        (offered,) = struct.unpack_from("<H", greeting, at)
        assert offered & _SSL
        if self.strips:
            struct.pack_into("<H", greeting, at, offered & ~_SSL)
        client.sendall(greeting)
        threading.Thread(target=self._listen, args=(client, server), daemon=True).start()
        while data := server.recv(65536):
            client.sendall(data)
        client.shutdown(socket.SHUT_RDWR)

    def _listen(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                self.heard += data
                server.sendall(data)
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

"""What can stand between a client and a PostgreSQL server, on 127.0.0.1, speaking its protocol."""

from __future__ import annotations

import socket
import struct
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

_SSL_REQUEST, _GSS_REQUEST = 80877103, 80877104
_PID_TAKEN = 4_000_000


class Between(ABC):
    """Listens, and deals with each client in a thread of its own."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.reached = threading.Event()
        """Set when a client has had everything that it gets."""
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for connection in (self._listener, *self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    @abstractmethod
    def serve(self, client: socket.socket) -> None:
        """Deal with one client."""

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._open.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError, struct.error):
            self.serve(client)


class Pooler(Between):
    """Tells clients another process id than the server's, and drops options, as poolers do."""

    def __init__(self, server_port: int, another_pid: bool = True, drops_options: bool = False) -> None:
        self._server_port, self._another_pid, self._drops = server_port, another_pid, drops_options
        self.silent = threading.Event()
        """Once it is set, no answer of the server comes through."""
        super().__init__()

    def serve(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self._server_port))
        self._open.append(server)
        server.sendall(self._startup(client))
        threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
        while True:
            head = exactly(server, 5)
            body = exactly(server, struct.unpack("!I", head[1:])[0] - 4)
            if head[:1] == b"K" and self._another_pid:
                body = struct.pack("!I", _PID_TAKEN) + body[4:]
            if self.silent.is_set():
                self.reached.set()
                continue
            client.sendall(head + body)

    def _startup(self, client: socket.socket) -> bytes:
        packet = _startup(client)
        if self._drops:
            words = packet[8:].rstrip(b"\0").split(b"\0")
            pairs = [p for p in zip(words[::2], words[1::2], strict=True) if p[0] != b"options"]
            body = packet[4:8] + b"".join(name + b"\0" + value + b"\0" for name, value in pairs) + b"\0"
            packet = struct.pack("!I", len(body) + 4) + body
        return packet

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                server.sendall(data)
        # Closing alone tells the server nothing while the other thread waits for its answers.
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)


class FullPooler(Between):
    """Answers the log-in and nothing more, or not even that."""

    def __init__(self, answers_log_in: bool = True) -> None:
        self._answers_log_in = answers_log_in
        super().__init__()

    def serve(self, client: socket.socket) -> None:
        if self._answers_log_in:
            _startup(client)
            parameters = {
                "server_version": "17.2", "client_encoding": "UTF8", "server_encoding": "UTF8",
                "standard_conforming_strings": "on", "DateStyle": "ISO, MDY", "integer_datetimes": "on",
            }  # fmt: skip
            client.sendall(
                _message(b"R", struct.pack("!I", 0))
                + b"".join(_message(b"S", f"{n}\0{v}\0".encode()) for n, v in parameters.items())
                + _message(b"K", struct.pack("!II", 1234, 1))
                + _message(b"Z", b"I")
            )
        client.recv(1)  # A question that is never answered.
        self.reached.set()
        while client.recv(65536):
            pass


_Between = TypeVar("_Between", bound=Between)


@contextmanager
def listening(between: _Between) -> Iterator[_Between]:
    """Close it afterwards."""
    try:
        yield between
    finally:
        between.close()


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


def _startup(client: socket.socket) -> bytes:
    """The first packet that is no question for encryption, which is denied."""
    while True:
        length = exactly(client, 4)
        packet = length + exactly(client, struct.unpack("!I", length)[0] - 4)
        if struct.unpack("!I", packet[4:8])[0] not in {_SSL_REQUEST, _GSS_REQUEST}:
            return packet
        client.sendall(b"N")


def exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes; raises `OSError` where fewer come."""
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise OSError("closed")
        data += more
    return data

"""Listeners that mean harm: plain sockets that answer as told, and a proxy that spoils what a server says."""

from __future__ import annotations

import random
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

CONNECT, ACCEPT, REFUSE, REDIRECT, DATA, RESEND, MARKER = 1, 2, 4, 5, 6, 11, 12
"""Types of packets, as the driver knows them."""
Answer = Callable[[socket.socket, int], None]
"""What a listener does with a connection; takes the port that it listens on too."""
WAYS = ("silence", "reset", "end", "garbage", "flipped", "cut", "doubled", "drip")
"""How the proxy spoils."""


def packet(kind: int, body: bytes = b"", *, length: int | None = None) -> bytes:
    """A packet, with a length of its own where it lies."""
    return struct.pack(">HHBBH", len(body) + 8 if length is None else length, 0, kind, 0, 0) + body


def redirect(to: str) -> bytes:
    """What sends a client on to another address."""
    data = f"{to}\0(DESCRIPTION=(CONNECT_DATA=(SERVICE_NAME=shop)))".encode()
    return packet(REDIRECT, struct.pack(">H", len(data))) + packet(REDIRECT, data)


def always(answer: bytes) -> Answer:
    """Answers the same to whatever is asked, without an end."""

    def act(client: socket.socket, _port: int) -> None:
        while client.recv(65536):
            client.sendall(answer)

    return act


def flood(part: bytes) -> Answer:
    """Sends and sends, whoever asks."""

    def act(client: socket.socket, _port: int) -> None:
        client.recv(65536)
        while True:
            client.sendall(part)

    return act


def silent(client: socket.socket, _port: int) -> None:
    """Takes everything and says nothing."""
    while client.recv(65536):
        pass


def dripping(client: socket.socket, _port: int) -> None:
    """Sends a byte as often as the client would not yet give up."""
    waiting = threading.Event()
    while not waiting.wait(0.1):
        client.sendall(b"\0")


def to_itself(client: socket.socket, port: int) -> None:
    """Sends every client back to itself."""
    while client.recv(65536):
        client.sendall(redirect(f"(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.1)(PORT={port}))"))


@contextmanager
def listener(answer: Answer) -> Iterator[int]:
    """The port of a listener on this machine that answers so."""
    ended = threading.Event()
    taken: list[socket.socket] = []

    def serve(client: socket.socket) -> None:
        with client, suppress(OSError):
            answer(client, port)

    def accept() -> None:
        while not ended.is_set():
            with suppress(OSError):
                client, _ = listening.accept()
                taken.append(client)
                threading.Thread(target=serve, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield port
        finally:
            ended.set()
            for open_one in (listening, *taken):
                with suppress(OSError):
                    open_one.shutdown(socket.SHUT_RDWR)
    accepting.join()


def spoiling(server: int, way: str, after: int, seed: int) -> Answer:
    """Passes on what a server says, and spoils it after so many bytes.

    Args:
        server: its port on this machine.
        way: one of `WAYS`.
        after: bytes that come through whole.
        seed: of what is random.
    """
    rng = random.Random(seed)

    def act(client: socket.socket, _port: int) -> None:
        with socket.create_connection(("127.0.0.1", server)) as upstream:
            threading.Thread(target=_pass_on, args=(client, upstream), daemon=True).start()
            left = after
            while part := upstream.recv(65536):
                if len(part) <= left:
                    client.sendall(part)
                    left -= len(part)
                    continue
                client.sendall(part[:left])
                _spoil(client, part[left:], way, rng)
                left = 1 << 60

    return act


def _pass_on(client: socket.socket, upstream: socket.socket) -> None:
    with suppress(OSError):
        while part := client.recv(65536):
            upstream.sendall(part)
        upstream.shutdown(socket.SHUT_WR)


def _spoil(client: socket.socket, rest: bytes, way: str, rng: random.Random) -> None:
    if way == "silence":
        silent(client, 0)
    elif way == "reset":
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    elif way == "end":
        client.shutdown(socket.SHUT_RDWR)
    elif way == "garbage":
        client.sendall(rng.randbytes(4000))
    elif way == "flipped":
        spoilt = bytearray(rest)
        for _ in range(3):
            spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
        client.sendall(spoilt)
    elif way == "cut":
        client.sendall(rest[rng.randrange(len(rest)) :])
    elif way == "doubled":
        client.sendall(rest + rest)
    else:
        dripping(client, 0)

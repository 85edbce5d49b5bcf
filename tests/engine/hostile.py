"""A server that means harm: it speaks PostgreSQL's protocol up to a point, and then anything at all."""

from __future__ import annotations

import random
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

SSL_REQUEST = b"\x00\x00\x00\x08\x04\xd2\x16\x2f"
FLOOD_BYTES = 64 << 20
_STALL_S = 20.0


def message(tag: bytes, body: bytes = b"") -> bytes:
    return tag + struct.pack("!i", len(body) + 4) + body


def authentication(code: int, rest: bytes = b"") -> bytes:
    return message(b"R", struct.pack("!i", code) + rest)


_READY = message(b"Z", b"I")
_STATUS = b"".join(
    message(b"S", name + b"\0" + value + b"\0")
    for name, value in (
        (b"server_version", b"18.0"),
        (b"client_encoding", b"UTF8"),
        (b"integer_datetimes", b"on"),
        (b"standard_conforming_strings", b"on"),
    )
)
_COLUMN = b"x\0" + struct.pack("!ihihih", 0, 0, 25, -1, -1, 0)
_LET_IN = authentication(0) + _STATUS + message(b"K", struct.pack("!ii", 4242, 1)) + _READY
_PREPARED = message(b"1") + message(b"t", struct.pack("!h", 0)) + message(b"T", b"\0\x01" + _COLUMN) + _READY
_ROW = (
    message(b"2")
    + message(b"D", b"\0\x01" + struct.pack("!i", 4) + b"4242")
    + message(b"C", b"SELECT 1\0")
    + _READY
)
_LOG_INS = (
    (_LET_IN,),
    (authentication(3), _LET_IN),
    (authentication(5, b"salt"), _LET_IN),
    (
        authentication(10, b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"),
        authentication(11, b"r=abc,s=c2FsdA==,i=4096"),
        authentication(12, b"v=AAAA") + _LET_IN,
    ),
    (authentication(11, b"r=x,s=eA==,i=4294967295"), _LET_IN),
    (authentication(7), _LET_IN),
    (message(b"E", b"SFATAL\0C28000\0M\xff\xfe not this one\0\0"),),
    (message(b"N", b"SNOTICE\0C00000\0Mhello\0\0") + _LET_IN,),
    (message(b"v", struct.pack("!ii", 3, 0)) + _LET_IN,),
)

A_SESSION = (_LET_IN, _PREPARED, _ROW)
"""What a server says that lets anybody in, and tells its process."""


@dataclass
class Script:
    """What the server says, block by block, each after something was heard."""

    blocks: list[bytes]
    tls: str = "none"
    """`none`, `offered` and then no TLS, or `real`."""
    ending: str = "close"
    """`close`, `stall` or `flood`."""
    flood: bytes = b""


def script(seed: int) -> Script:
    """A conversation that goes wrong somewhere, by a seed."""
    draw = random.Random(seed)
    blocks = [*draw.choice(_LOG_INS), *[_PREPARED, _ROW] * draw.randint(0, 4)]
    for _ in range(draw.choice((0, 1, 1, 1, 3))):
        number = draw.randrange(len(blocks))
        blocks[number] = _damaged(blocks[number], draw)
    flood = draw.choice((
        _STATUS, message(b"N", b"SNOTICE\0C00000\0Mhello\0\0"), message(b"D", b"\0\x01\xff\xff\xff\xff"),
        b"\0", b"R", b"D\x7f\xff\xff\xff", draw.randbytes(1_000),
    ))  # fmt: skip
    return Script(
        blocks[: draw.randint(1, len(blocks))],
        draw.choice(("none", "none", "offered", "real", "real")),
        draw.choices(("close", "stall", "flood"), (6, 1, 3))[0],
        flood,
    )


def _damaged(block: bytes, draw: random.Random) -> bytes:
    data = bytearray(block)
    for _ in range(draw.randint(1, 8)):
        at = draw.randrange(len(data) + 1)
        match draw.randrange(5):
            case 0:
                data[at : at + 1] = draw.randbytes(1)
            case 1:
                data[at:at] = draw.randbytes(draw.randint(1, 40))
            case 2:
                del data[at : at + draw.randint(1, 10)]
            case 3:
                data[at : at + 4] = draw.choice(
                    (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\3", b"\x80\0\0\0")
                )
            case _:
                del data[at:]
    return bytes(data)


@dataclass
class Hostile:
    """A server that follows the script put into it."""

    context: ssl.SSLContext
    port: int = 0
    script: Script = field(default_factory=lambda: Script([]))
    most_sent: int = 0
    """Bytes that any one client took of a flood."""
    let_go: threading.Event = field(default_factory=threading.Event)

    def serve(self, client: socket.socket) -> None:
        said = self.script
        client.settimeout(_STALL_S)
        with suppress(OSError), client:
            first = client.recv(8, socket.MSG_PEEK)
            if first[:1] == b"\x16":
                with self.context.wrap_socket(client, server_side=True) as encrypted:
                    self._talk(encrypted, said)
                return
            if first == SSL_REQUEST:
                client.recv(8)
                client.sendall(b"N" if said.tls == "none" else b"S")
                if said.tls == "real":
                    with self.context.wrap_socket(client, server_side=True) as encrypted:
                        self._talk(encrypted, said)
                    return
            self._talk(client, said)

    def _talk(self, client: socket.socket, said: Script) -> None:
        for block in said.blocks:
            if not client.recv(65536):
                return
            client.sendall(block)
        if said.ending == "stall":
            self.let_go.wait(_STALL_S)
        sent = 0
        while said.ending == "flood" and sent < FLOOD_BYTES:
            sent += client.send(said.flood * (65_536 // len(said.flood)))
            self.most_sent = max(self.most_sent, sent)


@contextmanager
def hostile(context: ssl.SSLContext) -> Iterator[Hostile]:
    door = socket.create_server(("127.0.0.1", 0))
    server = Hostile(context, door.getsockname()[1])
    threads: list[threading.Thread] = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                threads.append(threading.Thread(target=server.serve, args=(door.accept()[0],)))
                threads[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield server
    finally:
        door.shutdown(socket.SHUT_RDWR)
        accepting.join()
        door.close()
        server.let_go.set()
        for thread in threads:
            thread.join()

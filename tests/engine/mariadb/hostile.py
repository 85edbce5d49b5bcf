"""A server that means harm: it answers as a MariaDB does, up to one answer, and then anything at all."""

from __future__ import annotations

import random
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from tests.wire import Between, exactly

Value = str | int | None
LONG, DECIMAL, TEXT = 8, 246, 253
FLOOD_BYTES = 1 << 30
_CAPABILITIES = 0xFFFFFFFF & ~(1 << 5) & ~(1 << 11) & ~(1 << 24)
"""All but compression, TLS and ends of results that pymysql does not know."""
TLS = 1 << 11
_MORE = 8


def packet(number: int, body: bytes) -> bytes:
    return struct.pack("<I", len(body))[:3] + bytes([number & 255]) + body


def text(value: str | bytes) -> bytes:
    data = value if isinstance(value, bytes) else value.encode()
    if len(data) < 251:
        return bytes([len(data)]) + data
    return b"\xfe" + struct.pack("<Q", len(data)) + data


def ok(status: int = 2) -> bytes:
    return b"\0\0\0" + struct.pack("<HH", status, 0)


def end(status: int = 2) -> bytes:
    return b"\xfe" + struct.pack("<HH", 0, status)


def error(number: int, words: bytes, state: bytes = b"#HY000") -> bytes:
    return b"\xff" + struct.pack("<H", number) + state + words


def greeting(plugin: str = "mysql_native_password", capabilities: int = _CAPABILITIES) -> bytes:
    return (
        b"\x0a5.5.5-10.11.6-MariaDB\0" + struct.pack("<I", 42) + b"abcdefgh\0"
        + struct.pack("<HBHHB", capabilities & 0xFFFF, 45, 2, capabilities >> 16, 21)
        + b"\0" * 10 + b"ijklmnopqrst\0" + plugin.encode() + b"\0"
    )  # fmt: skip


def switch(plugin: str, nonce: bytes = b"N" * 20) -> bytes:
    return b"\xfe" + plugin.encode() + b"\0" + nonce + b"\0"


def column(name: str, kind: int, letters: int = 45) -> bytes:
    return (
        text("def") + text("") * 2 + text("") + text(name) + text("")
        + struct.pack("<BHIBHBH", 12, letters if kind == TEXT else 63, 1024, kind, 0, 0, 0)
    )  # fmt: skip


def row(values: Iterable[Value | bytes]) -> bytes:
    return b"".join(
        b"\xfb" if value is None else text(value if isinstance(value, bytes) else str(value))
        for value in values
    )


def kind_of(value: Value | bytes) -> int:
    return LONG if isinstance(value, int) else TEXT


Table = tuple[Sequence[str], Sequence[Sequence[Value]]]


def table_packets(table: Table) -> list[bytes]:
    names, rows = table
    kinds = [kind_of(value) for value in rows[0]] if rows else [TEXT] * len(names)
    return [
        bytes([len(names)]), *(column(*each) for each in zip(names, kinds, strict=True)), end(),
        *map(row, rows), end(),
    ]  # fmt: skip


_VARIABLES: Mapping[str, str] = {
    "version": "10.11.6-MariaDB", "version_comment": "here", "hostname": "h", "port": "3306",
    "datadir": "/d/",
    "read_only": "OFF", "log_bin": "ON", "performance_schema": "OFF", "innodb_flush_method": "fsync",
    "innodb_doublewrite": "ON", "innodb_flush_log_at_trx_commit": "1", "sync_binlog": "0",
    "innodb_flush_log_at_timeout": "1", "binlog_commit_wait_usec": "0", "binlog_commit_wait_count": "0",
}  # fmt: skip
_STATUS = (
    "Uptime", "Connections", "Innodb_max_trx_id", "Binlog_commits", "Innodb_rows_inserted",
    "Innodb_rows_updated", "Innodb_rows_deleted", "Innodb_log_writes", "Innodb_os_log_fsyncs",
    "Innodb_data_fsyncs", "Innodb_os_log_written", "Innodb_row_lock_waits", "Innodb_row_lock_time",
)  # fmt: skip
_COUNTERS = (
    "uptime_s", "server_commits", "server_rows", "log_bytes", "log_writes", "log_flushes", "binlog_groups",
    "binlog_bytes", "binlog_flushes", "buffer_hits", "buffer_reads", "history_list_length",
)  # fmt: skip
_NAMED = ("Variable_name", "Value")
_ANSWERS: Sequence[tuple[str, Table]] = (
    (r"SHOW GLOBAL VARIABLES", (_NAMED, [*_VARIABLES.items()])),
    (r"SHOW GLOBAL STATUS", (_NAMED, [(name, "7") for name in _STATUS])),
    (r"show processlist", (("Id", "User", "Host", "Command"), [(42, "me", "h:1", "Query")])),
    (r"show grants", (("Grants",), [("GRANT ALL PRIVILEGES ON *.* TO `me`@`%`",)])),
    (r"SLAVE STATUS", (("Slave_IO_State",), [])),
    (r"@@version_comment AS comment", (
        ("version", "comment", "performance_schema", "hostname", "log_bin", "pid_file", "connection", "role"),
        [("10.11.6-MariaDB", "here", 0, "h", 0, "/p", 42, "me@%")],
    )),
    (r"AS `databases`", (
        ("databases", "contents", "comments", "lists", "odd_lists", "definer"), [(0, 0, None, None, 0, None)],
    )),
    (r"current_user\(\)", (("role",), [("me@%",)])),
    (r"is_used_lock", (("it",), [(None,)])),
    (r"get_lock|release_lock", (("it",), [(1,)])),
    (r"unix_timestamp\(\) as it", (("it",), [(1_700_000_000,)])),
    (r"@@hostname as host", (("host", "port", "data"), [("h", 3306, "/d/")])),
    (r"AS stage", (("connection", "stage", "query"), [(43, "update", 9)])),
    (r"SELECT TID AS thread", (("thread",), [(4_000_000,)])),
    (r"SELECT ID AS connection", (("connection", "thread"), [(42, 4_000_000), (43, 4_000_001)])),
    (r"SELECT p.ID AS connection", (
        ("connection", "thread", "user", "host", "db", "command", "query", "transaction"),
        [(43, 4_000_001, "you", "h:2", "d", "Query", 9, None)],
    )),
    (r"AS uptime_s", (_COUNTERS, [[7] * len(_COUNTERS)])),
    (r"AS numbers", (("at_s", "numbers"), [(1_700_000_000, 7)])),
    (r"select 1|CONNECTION_ID", (("it",), [(1,)])),
)  # fmt: skip


def honest(question: str) -> list[bytes]:
    """The packets of an answer that a run and a profile go on with."""
    for pattern, table in _ANSWERS:
        if re.search(pattern, question, re.IGNORECASE):
            return table_packets(table)
    return [ok()]


def table_of(question: str) -> Table | None:
    return next((table for pattern, table in _ANSWERS if re.search(pattern, question, re.IGNORECASE)), None)


Harm = Callable[["Hostile", socket.socket, str], None]
"""Answers a question in another way."""


def says(*bodies: bytes) -> Harm:
    """These packets, and the connection stays open."""

    def harm(enemy: Hostile, client: socket.socket, question: str) -> None:
        client.sendall(b"".join(packet(number, body) for number, body in enumerate(bodies, 1)))

    return harm


def raw(data: bytes) -> Harm:
    """These bytes, and the connection ends."""

    def harm(enemy: Hostile, client: socket.socket, question: str) -> None:
        client.sendall(data)
        client.shutdown(socket.SHUT_RDWR)

    return harm


def changed(change: Callable[[str, Value], Value | bytes], names: Callable[[str], str] = str) -> Harm:
    """The honest answer with other values, or other names of columns."""

    def harm(enemy: Hostile, client: socket.socket, question: str) -> None:
        table = table_of(question)
        if table is None or not table[1]:
            says(*honest(question))(enemy, client, question)
            return
        columns, rows = table
        kinds = [kind_of(value) for value in rows[0]]
        other = [row(change(name, value) for name, value in zip(columns, each, strict=True)) for each in rows]
        heads = [column(names(name), kind) for name, kind in zip(columns, kinds, strict=True)]
        says(bytes([len(columns)]), *heads, end(), *other, end())(enemy, client, question)

    return harm


def flood(head: Sequence[bytes], body: bytes) -> Harm:
    """The same packet without end."""
    # Numbers of packets go round.
    block = b"".join(packet(len(head) + 1 + each, body) for each in range(256))
    block *= max(1, (1 << 20) // len(block))

    def harm(enemy: Hostile, client: socket.socket, question: str) -> None:
        says(*head)(enemy, client, question)
        sent = 0
        while sent < FLOOD_BYTES and not enemy.let_go.is_set():
            client.sendall(block)
            sent += len(block)
            enemy.most_sent = max(enemy.most_sent, sent)

    return harm


def drip(head: Sequence[bytes], body: bytes, every_s: float) -> Harm:
    """A packet now and then, without end."""

    def harm(enemy: Hostile, client: socket.socket, question: str) -> None:
        says(*head)(enemy, client, question)
        number = len(head)
        while not enemy.let_go.wait(every_s):
            number += 1
            client.sendall(packet(number, body))
            enemy.most_sent += len(body)

    return harm


def silent(enemy: Hostile, client: socket.socket, question: str) -> None:
    """Nothing."""
    enemy.let_go.wait()


def seeded(seed: int) -> Harm:
    """The honest answer with some bytes changed."""

    def harm(enemy: Hostile, client: socket.socket, question: str) -> None:
        draw = random.Random(f"{seed} {question}")
        data = bytearray(b"".join(packet(number, body) for number, body in enumerate(honest(question), 1)))
        for _ in range(draw.randint(1, 6)):
            at = draw.randrange(len(data))
            match draw.randrange(4):
                case 0:
                    data[at : at + 1] = draw.randbytes(1)
                case 1:
                    data[at:at] = draw.randbytes(draw.randint(1, 30))
                case 2:
                    del data[at : at + draw.randint(1, 10)]
                case _:
                    data[at : at + 4] = draw.choice(
                        (b"\xff" * 4, b"\0" * 4, b"\xfe\xff\xff\xff", b"\xfb" * 4)
                    )
            data = data or bytearray(b"\0")
        client.sendall(data)
        if draw.randrange(3):
            client.shutdown(socket.SHUT_RDWR)

    return harm


class Hostile(Between):
    """Lets everybody in and answers, but for the question or the step that `harms` names."""

    def __init__(self) -> None:
        self.reset()
        super().__init__()

    def reset(self) -> None:
        """Be an honest one from now on."""
        self.greeting = greeting()
        self.every_s: float | None = None
        """The greeting comes byte by byte, so far from one another."""
        self.spared = 0
        """How many questions that `harms` names are answered honestly first."""
        self.log_in: Sequence[bytes] = (ok(),)
        """What is said to the log-in, each after something was heard."""
        self.harms: Sequence[tuple[str, Harm]] = ()
        """A pattern of questions, and what is said to them instead."""
        self.heard = b""
        self.asked: list[str] = []
        self.done = 0
        """How many harmful answers were begun."""
        self.most_sent = 0
        self.let_go = threading.Event()
        """Ends what waits."""

    def close(self) -> None:
        self.let_go.set()
        super().close()

    def serve(self, client: socket.socket) -> None:
        first = packet(0, self.greeting)
        if self.every_s is None:
            client.sendall(first)
        else:
            for at in range(len(first)):
                client.sendall(first[at : at + 1])
                self.let_go.wait(self.every_s)
        number, _ = self._hear(client)
        for body in self.log_in[:-1]:
            client.sendall(packet(number + 1, body))
            number, _ = self._hear(client)
        client.sendall(packet(number + 1, self.log_in[-1]))
        while True:
            _, question = self._hear(client)
            if question[:1] == b"\x01":
                return
            asked = question[1:].decode(errors="replace")
            self.asked.append(asked)
            harm = next((harm for pattern, harm in self.harms if re.search(pattern, asked)), None)
            if harm is not None:
                self.done += 1
                harm = None if self.done <= self.spared else harm
            with suppress(BrokenPipeError):
                (harm or says(*honest(asked)))(self, client, asked)

    def _hear(self, client: socket.socket) -> tuple[int, bytes]:
        head = exactly(client, 4)
        body = exactly(client, head[0] + (head[1] << 8) + (head[2] << 16))
        self.heard += body
        return head[3], body


def peak_bytes(act: Callable[[], object]) -> int:
    """How much more memory this process had at once while something was done."""
    grown, done = [0], threading.Event()
    before = _resident()

    def look() -> None:
        while not done.is_set():
            grown[0] = max(grown[0], _resident() - before)
            time.sleep(0.01)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        act()
    finally:
        done.set()
        looking.join()
    return grown[0]


def _resident() -> int:
    with open("/proc/self/statm") as stream:  # noqa: PTH123
        return int(stream.read().split()[1]) * 4096

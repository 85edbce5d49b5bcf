"""pymysql's connection, within bounds and by Redolab's own rules of a log-in.

pymysql has limits for each read but not for the whole, and trusts what a server sends. What it does inside
and what is changed of it here is pinned by `tests/unit/engine/mariadb/test_pymysql.py`.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pymysql
from pymysql.constants import CR
from pymysql.protocol import FieldDescriptorPacket, MysqlPacket

from redolab.bounds import (
    MOST_ANSWER_BYTES,
    MOST_ANSWER_S,
    MOST_COLUMNS,
    MOST_LOG_IN_BYTES,
    MOST_LOG_IN_S,
    VALUE_BYTES,
    Budget,
    OutOfBoundsError,
)
from redolab.engine.mariadb.answers import StrangeAnswerError
from redolab.engine.mariadb.connecting import sockets

if TYPE_CHECKING:

    class Connection(pymysql.Connection[Any]):
        """The connection with the members that the stubs leave out."""

        _sock: socket.socket
        _rfile: Any

        def _execute_command(self, command: Any, sql: Any) -> None: ...
        def _read_query_result(self, unbuffered: bool = ...) -> Any: ...
        def _read_ok_packet(self) -> Any: ...
        def _read_packet(self, packet_type: Any = ...) -> Any: ...
        def _force_close(self) -> None: ...
else:
    Connection = pymysql.Connection

PATIENCE_S = 10
"""How long a server may be silent, seconds."""
# A server that vanishes from the network is noticed after half a minute, not after two hours.
_KEEP_ALIVE = (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4))
_A_FILE = "the server asked for a file of this machine (LOAD DATA LOCAL), which Redolab never sends"
_ANOTHER_PEER = "whoever listens at this socket runs as another user than at the first connection"
_STRANGE = "the server's answer is not MySQL's protocol"


class Client(Connection):
    """One connection; see `pymysql.Connection`."""

    def __init__(self, wanted_peer: int | None, several: bool, **settings: Any) -> None:
        """Connect and log in.

        Args:
            wanted_peer: the user whose process must be at the other end of a socket; None for any that is
                trusted.
            several: whether a text may hold several statements.
            settings: pymysql's.
        """
        self.peer: int | None = None
        """The user whose process is at the other end of a socket; None over a network."""
        self._wanted_peer, self._several = wanted_peer, several
        self._logs_in, self._waits, self._begun = True, False, False
        self._columns = 0
        super().__init__(
            connect_timeout=PATIENCE_S, read_timeout=PATIENCE_S, write_timeout=PATIENCE_S, **settings
        )

    def connect(self, sock: Any = None) -> None:
        """Connect and log in, within the bounds of a log-in."""
        self._budget = Budget(MOST_LOG_IN_BYTES, MOST_LOG_IN_S)
        with self._in_the_protocol():
            if sock is None and self.unix_socket:
                sock = self._socket(str(self.unix_socket))
                self._secure = True
            super().connect(sock)
        self._logs_in = False

    def _socket(self, path: str) -> socket.socket:
        try:
            connected, self.peer = sockets.connect(path, PATIENCE_S)
        except OSError as error:
            stranger = isinstance(error, sockets.StrangerError)
            number = CR.CR_CONNECTION_ERROR if stranger else CR.CR_CONN_HOST_ERROR
            raise pymysql.OperationalError(number, error.strerror or str(error)) from error
        if self._wanted_peer not in (None, self.peer):
            connected.close()
            raise pymysql.OperationalError(CR.CR_CONNECTION_ERROR, _ANOTHER_PEER)
        return connected

    @property
    def is_encrypted(self) -> bool:
        """Whether the connection uses TLS."""
        return isinstance(self._sock, ssl.SSLSocket)

    @property
    def address(self) -> str:
        """The server's address, for a connection over a network."""
        return str(self._sock.getpeername()[0])

    def wait_without_end(self) -> None:
        """Take as long for an answer as the server does; one that vanishes is noticed all the same."""
        self._waits = True
        if not self.unix_socket:
            for name, value in _KEEP_ALIVE:
                if hasattr(socket, name):
                    self._sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    @contextmanager
    def promptly(self) -> Iterator[None]:
        """Let what is asked in the `with` block be answered as soon as on any other connection."""
        before, self._waits = self._waits, False
        try:
            yield
        finally:
            self._waits = before

    # What pymysql reads goes through these.

    def _execute_command(self, command: Any, sql: Any) -> None:
        if not self._logs_in:
            self._budget = Budget(MOST_ANSWER_BYTES, None if self._waits else MOST_ANSWER_S)
            self._begun = False
        with self._in_the_protocol():
            super()._execute_command(command, sql)

    def _read_query_result(self, unbuffered: bool = False) -> Any:
        self._columns = 0
        with self._in_the_protocol():
            return super()._read_query_result(unbuffered)

    def _read_ok_packet(self) -> Any:
        with self._in_the_protocol():
            return super()._read_ok_packet()

    def _read_packet(self, packet_type: Any = MysqlPacket) -> Any:
        packet = super()._read_packet(packet_type)
        is_column = packet_type is FieldDescriptorPacket
        self._columns += is_column
        if self._columns > MOST_COLUMNS:
            raise OutOfBoundsError(f"more than {MOST_COLUMNS:,} columns were sent")
        self._budget.take(VALUE_BYTES * (1 if is_column else max(1, self._columns)))
        return packet

    def _read_bytes(self, num_bytes: int) -> bytes:
        """Read so many bytes: the one place where anything of a server is read."""
        received = bytearray()
        try:
            self._budget.take(num_bytes)
            while len(received) < num_bytes:
                self._sock.settimeout(self._patience_s())
                more = self._rfile.read1(num_bytes - len(received))
                if not more:
                    raise ConnectionResetError("it was closed")
                received += more
                self._begin_to_read()
        except OSError as error:
            self._force_close()
            if isinstance(error, TimeoutError):
                self._budget.left_s()
            raise pymysql.OperationalError(
                CR.CR_SERVER_LOST, f"Lost connection to MySQL server during query ({error})"
            ) from error
        except BaseException:
            self._force_close()
            raise
        return bytes(received)

    def _patience_s(self) -> float | None:
        """How long the next byte may take; None where a statement takes as long as it takes.

        Raises:
            OutOfBoundsError: the whole has taken too long.
        """
        left = self._budget.left_s()
        if self._waits and left is None:
            patience = None
        else:
            patience = float(PATIENCE_S) if left is None else min(PATIENCE_S, left)
        self._current_timeout = patience
        return patience

    def _begin_to_read(self) -> None:
        """After its first byte an answer comes in one go, unless it is the answer of several statements."""
        if self._waits and not self._begun and not self._several:
            self._budget = Budget(MOST_ANSWER_BYTES, MOST_ANSWER_S)
        self._begun = True

    @contextmanager
    def _in_the_protocol(self) -> Iterator[None]:
        """Turn whatever pymysql raises over bytes that do not form an answer into one error of its own.

        Raises:
            pymysql.Error: that.
        """
        try:
            yield
        except (pymysql.Error, OSError):
            raise
        except OutOfBoundsError as error:
            self._force_close()
            raise StrangeAnswerError(f"the server's answer is too long: {error}") from error
        except RuntimeError as error:
            # pymysql raises this error only for that.
            self._force_close()
            raise StrangeAnswerError(_A_FILE) from error
        except Exception as error:
            self._force_close()
            raise StrangeAnswerError(_STRANGE) from error

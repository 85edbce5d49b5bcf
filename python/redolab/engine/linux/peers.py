"""Which process of this machine is a server of threads, at the other end of a connection.

Its program may have another name than it was installed with, such as a loader's, so the kernel is asked which
process the other end belongs to. Where it does not say, the program's name decides: another user's
descriptors may not be seen, systemd may have opened the socket for the server, and there may be a tunnel in
between.

Sources: unix(7), SO_PEERCRED; proc(5), /proc/net/tcp and /proc/pid/fd.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_CREDENTIALS = struct.Struct("iII")
_FIELD_OF_INODE = 9


def find_server(thread: int, connection: socket.socket, names: frozenset[str]) -> int | None:
    """The process on this machine that a thread belongs to, if it is a connection's other end.

    Args:
        thread: the thread's id.
        connection: to the server, by a Unix socket or TCP.
        names: of the server's programs; the kernel shows their first 15 characters.
    """
    try:
        status = Path(f"/proc/{thread}/status").read_text()
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        process = int(fields["Tgid"])
        name = Path(f"/proc/{process}/comm").read_text().strip()
    except (OSError, KeyError, ValueError):
        return None
    return process if name in names or _has_other_end(process, connection) else None


def _has_other_end(process: int, connection: socket.socket) -> bool:
    try:
        if connection.family == socket.AF_UNIX:
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            return int(_CREDENTIALS.unpack(credentials)[0]) == process
        owned = {str(link.readlink()) for link in Path(f"/proc/{process}/fd").iterdir()}
        ports = connection.getpeername()[1], connection.getsockname()[1]
        return any(f"socket:[{inode}]" in owned for inode in _tcp_sockets(*ports))
    except OSError:
        return False


def _tcp_sockets(port: int, port_of_other_end: int) -> Iterator[str]:
    """Inodes of this machine's TCP sockets with these two ports; an IPv6 socket may serve IPv4."""
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path("/proc/self/net", table).read_text().splitlines()[1:]:
                words = line.split()
                ports = [int(end.rpartition(":")[2], 16) for end in words[1:3]]
                if ports == [port, port_of_other_end]:
                    yield words[_FIELD_OF_INODE]

"""Which process is the server at the other end of a connection: by the kernel's word, or by its name."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from redolab.engine.linux.peers import find_server

NAMES = frozenset({"mariadbd", "mysqld"})
# A container may have no IPv6 at all.
_IPV6 = Path("/proc/net/if_inet6")
FAMILIES = ["AF_UNIX", "AF_INET", *(["AF_INET6"] if _IPV6.exists() and _IPV6.read_text() else [])]
# Says its port, serves one connection, and ends with it.
SERVER = """
import socket, sys
family, place = sys.argv[1:]
listening = socket.socket(getattr(socket, family))
listening.bind(place if family == "AF_UNIX" else ("::1" if family == "AF_INET6" else "127.0.0.1", 0))
listening.listen()
print(listening.getsockname()[1], flush=True)
opened, _ = listening.accept()
print("opened", flush=True)
opened.recv(1)
"""


@pytest.fixture(params=FAMILIES)
def connected(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[int, socket.socket]]:
    """A server process of a name that says nothing, and a connection to it."""
    family, path = request.param, str(tmp_path / "s")
    server = subprocess.Popen([sys.executable, "-c", SERVER, family, path], stdout=subprocess.PIPE, text=True)
    with server, closing(socket.socket(getattr(socket, family))) as connection:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        host = "::1" if family == "AF_INET6" else "127.0.0.1"
        connection.connect(path if family == "AF_UNIX" else (host, int(port)))
        assert server.stdout.readline() == "opened\n"
        yield server.pid, connection


def test_the_server_is_whoever_has_the_other_end(connected: tuple[int, socket.socket]) -> None:
    server, connection = connected
    assert find_server(server, connection, NAMES) == server
    assert find_server(os.getpid(), connection, NAMES) is None
    name = Path("/proc/self/comm").read_text().strip()
    assert find_server(os.getpid(), connection, frozenset({name})) == os.getpid()


def test_a_thread_of_another_machine_is_nobodys(connected: tuple[int, socket.socket]) -> None:
    assert find_server(2**22 + 1, connected[1], NAMES) is None

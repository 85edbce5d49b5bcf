"""A socket that another user of the machine has put where a server's is looked for gets no byte."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from redolab import _core
from redolab.engine.mariadb.connecting import sockets, target
from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connecting.target import read_target
from redolab.errors import RefusedError
from tests.conftest import Redolab
from tests.mariadb import PASSWORD

STRANGER = 65534
_LISTENS = """
import contextlib, os, socket, sys
from tests.engine.mariadb.hostile import greeting, packet
if os.geteuid() == 0:
    os.setresgid(*[65534] * 3)
    os.setresuid(*[65534] * 3)
door = socket.socket(socket.AF_UNIX)
door.bind(sys.argv[1])
door.listen()
print("listens", flush=True)
while True:
    client, _ = door.accept()
    with client, contextlib.suppress(OSError):
        client.sendall(packet(0, greeting()))
        if client.recv(65536):
            print("heard", flush=True)
"""


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory like /tmp."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    # A name of a socket has a limit of some hundred letters, and strangers go in and out.
    above = Path(tempfile.mkdtemp(prefix="redolab-test-"))
    above.chmod(0o755)
    place = above / "t"
    place.mkdir()
    place.chmod(0o1777)
    yield place
    shutil.rmtree(above)


@contextmanager
def stranger(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Somebody else listens on that socket; gives what is told of it, once it has ended."""
    if os.geteuid() != 0:
        # It runs as this user, who takes itself for another one.
        monkeypatch.setattr("redolab.engine.mariadb.connecting.sockets.os.geteuid", lambda: STRANGER)
    told: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-c", _LISTENS, path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "listens\n"
            yield told
        finally:
            process.kill()
            told += process.stdout.read().splitlines()


MODES = ("", "&ssl-mode=PREFERRED", "&ssl-mode=REQUIRED", "&ssl-mode=VERIFY_IDENTITY")


@pytest.mark.parametrize("mode", MODES)
def test_a_planted_socket_hears_nothing(
    mode: str, shared: Path, monkeypatch: pytest.MonkeyPatch, redolab: Redolab
) -> None:
    planted = shared / "mysql.sock"
    with stranger(planted, monkeypatch) as heard:
        done = redolab("profile", f"mysql://me@localhost/?unix_socket={planted}{mode}", "--seconds", "0.5")
    assert done.code == 3
    assert "listens on that socket. That user is neither root" in done.err
    assert heard == []


@pytest.mark.parametrize("mode", MODES)
def test_a_planted_socket_is_not_found(mode: str, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a usual place, by the name `localhost` or none."""
    planted = shared / "mysql.sock"
    monkeypatch.setattr(target, "_SOCKETS", (str(planted),))
    with stranger(planted, monkeypatch) as heard:
        for host in ("localhost", ""):
            assert read_target(f"mysql://me@{host}/?{mode[1:]}").unix_socket is None
        (shared.parent / ".my.cnf").write_text(f"[client]\nsocket={planted}\n")
        assert read_target("mysql://me@localhost/").unix_socket is None
    assert heard == []


def test_links_do_not_lead_there(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = shared.parent / "own"
    own.mkdir()
    planted = shared / "s"
    links = (own / "direct", own / "twice", shared / "dir" / "s")
    links[0].symlink_to(planted)
    links[1].symlink_to(links[0])
    (shared / "dir").symlink_to(shared)
    with stranger(planted, monkeypatch) as heard:
        for link in links:
            with pytest.raises(RefusedError, match="listens on that socket"):
                Connector.to_url(f"mysql://me@/?unix_socket={link}").connect("a test")
    assert heard == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_in_a_directory_of_its_own_a_server_is_who_it_is(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As /run/mysqld belongs to the server's user, who alone can put a socket there."""
    own = shared.parent / "run"
    own.mkdir()
    os.chown(own, STRANGER, STRANGER)
    with stranger(own / "s", monkeypatch) as heard:
        connector = Connector.to_url(f"mysql://me@/?unix_socket={own}/s")
        with pytest.raises(RefusedError, match="Lost connection"):
            connector.connect("a test")
        monkeypatch.setattr(target, "_SOCKETS", (f"{own}/s",))
        assert read_target("mysql://me@localhost/").unix_socket == f"{own}/s"
        assert heard == []
    assert heard[:1] == ["heard"]
    # Nor is it one where others could have made it.
    own.chmod(0o777)
    assert not sockets._is_reached_by_names_of(STRANGER, f"{own}/s")
    own.chmod(0o755)
    assert sockets._is_reached_by_names_of(STRANGER, f"{own}/s")
    assert not sockets._is_reached_by_names_of(STRANGER + 1, f"{own}/s")
    shared.chmod(0o777)
    (shared / "d").symlink_to(own)
    assert not sockets._is_reached_by_names_of(STRANGER, f"{shared}/d/s")


def test_who_listens_must_be_the_same_afterwards(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for the load, whose client is told who it was."""
    planted = shared / "s"
    with stranger(planted, monkeypatch) as heard:
        monkeypatch.setattr(sockets, "_is_trusted", lambda _: True)
        connector = Connector.to_url(f"mysql://me@/?unix_socket={planted}")
        connector.target = replace(connector.target, peer=12345)
        with pytest.raises(RefusedError, match="runs as another user than at the first"):
            connector.connect("a test")
        sessions = _core.ClientSessions.mysql(
            "localhost", 0, str(planted), "me", PASSWORD, None, tls="disabled", ca_file=None, peer_uid=12345,
            connect_timeout_s=5.0,
        )  # fmt: skip
        with closing(sessions), pytest.raises(ConnectionError, match="runs as another user"):
            sessions.resize(1)
    assert heard == []

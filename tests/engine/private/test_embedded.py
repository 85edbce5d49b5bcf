"""The embedded server where things are not as usual: no namespaces, long paths, a death in the run."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from redolab import open_run
from redolab.engine.postgres import private as embedded
from redolab.engine.postgres.engine import PostgresEngine
from redolab.engine.postgres.private import EmbeddedServer
from redolab.errors import RefusedError
from tests.conftest import Redolab


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short place of this test's own; whatever is left in it fails the test."""
    place = Path(tempfile.mkdtemp(prefix="redolab-test-"))
    place.chmod(0o755)
    (place / "tmp").mkdir(mode=0o1777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    monkeypatch.setattr(tempfile, "tempdir", str(place / "tmp"))
    yield place
    left = [path for path in place.rglob("*") if path.is_file() and path.name != "lock"]
    shutil.rmtree(place)
    assert left == []


def postmaster(server: EmbeddedServer) -> int:
    return int((server.directory / "data" / "postmaster.pid").read_text().split()[0])


def test_it_is_private(cache: Path) -> None:
    server = EmbeddedServer(3)
    try:
        assert server.directory.is_relative_to(cache)
        assert stat.S_IMODE(server.directory.stat().st_mode) == 0o700
        assert stat.S_IMODE(server.directory.parent.stat().st_mode) == 0o700
        with psycopg.connect(server.target) as connection:
            row = connection.execute("show listen_addresses").fetchone()
            assert row == ("",)
    finally:
        server.stop()
    assert not server.directory.exists()


def test_a_socket_is_put_elsewhere_when_its_path_would_be_too_long(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / ("long" * 30)))
    server = EmbeddedServer(1)
    psycopg.connect(server.target).close()
    server.stop()
    assert not server.directory.exists()
    assert list((cache / "tmp").iterdir()) == []


@pytest.mark.parametrize("log_device_s", [(), (0.001,)])
def test_without_user_namespaces_root_runs_it_as_nobody(
    log_device_s: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ordinary user needs neither; and a checkout that nobody may read leads to a refusal."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    programs = embedded._binaries()
    if os.geteuid() != 0:
        assert embedded._unprivileged(programs) == ([], None)
        return
    if not embedded._runs([str(programs / "postgres"), "--version"], embedded._NOBODY):
        with pytest.raises(RefusedError, match="install it where every user can read"):
            EmbeddedServer(1, log_device_s)
        return
    server = EmbeddedServer(1, log_device_s)
    try:
        assert Path(f"/proc/{postmaster(server)}").stat().st_uid == embedded._NOBODY
        with psycopg.connect(server.target, autocommit=True) as connection:
            connection.execute("create table orders (id int)")
        if server.device:
            assert server.device.counters().total.flushes > 0
    finally:
        server.stop()
    assert not server.directory.exists()


def test_nobody_may_reach_the_programs_of_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(embedded, "_runs", lambda *_: False)
    with pytest.raises(RefusedError, match="Run Redolab as an ordinary user"):
        EmbeddedServer(1)


def test_a_server_that_cannot_be_made_says_why(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_CONFIGURATION", "no_such_parameter = 1\n")
    with pytest.raises(RefusedError, match=r"did not start: .*no_such_parameter"):
        EmbeddedServer(1)
    assert [path.name for path in (cache / "redolab" / "servers").iterdir()] == ["lock"]


def test_a_killed_guard_leaves_no_server(cache: Path) -> None:
    server = EmbeddedServer(1)
    pid = postmaster(server)
    server._guard._process.kill()
    server.stop()
    assert not Path(f"/proc/{pid}/cwd").exists()
    assert not server.directory.exists()


@pytest.mark.parametrize("death", ["killed", "stopped"])
def test_a_server_that_ends_in_a_run_is_started_again(
    death: str, redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle, times = PostgresEngine.settle, 0

    def fatal(self: PostgresEngine) -> None:
        nonlocal times
        times += 1
        if times == 3:
            assert isinstance(self._own, EmbeddedServer)
            if death == "killed":
                self._own.crash()
            else:
                os.kill(postmaster(self._own), signal.SIGINT)
        settle(self)

    monkeypatch.setattr(PostgresEngine, "settle", fatal)
    done = redolab("run", "commit-mode", "--quick", "--blocks", "2", "--seconds", "0.2",
                   "--settings", "wait,nowait", "--out", tmp_path / "run")  # fmt: skip
    assert done.code == 0, done.err
    assert len(open_run(tmp_path / "run").samples) == 6

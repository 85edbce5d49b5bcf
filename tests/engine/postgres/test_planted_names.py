"""Names that another local user plants: none of them makes Redolab touch what is not its own.

As root the second user is `nobody`; otherwise what he would plant is planted by this user, which is no
less of a trap.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from redolab.engine.postgres import private as embedded
from redolab.engine.postgres.private import EmbeddedServer
from redolab.engine.private.place import base_directory
from redolab.engine.sqlite.engine import SQLiteEngine
from redolab.errors import RefusedError
from tests.servers import in_a_process

NOBODY = 65534
ROOT = os.geteuid() == 0
TEXT = "somebody's\n"
Nobody = Callable[..., bool]


@pytest.fixture
def ground() -> Iterator[Path]:
    """A place that every user may enter, with a temporary directory as every machine has one."""
    place = Path(tempfile.mkdtemp(prefix="redolab-test-"))
    place.chmod(0o755)
    (place / "tmp").mkdir()
    (place / "tmp").chmod(0o1777)
    yield place
    shutil.rmtree(place)


@pytest.fixture
def victim(ground: Path) -> Path:
    """Somebody's directory of directories and files."""
    path = ground / "victim"
    for name in ("home", "etc", "db", "0123456789ab"):
        (path / name).mkdir(parents=True)
        (path / name / "file").write_text(TEXT)
    (path / "file").write_text(TEXT)
    path.chmod(0o700)
    return path


def contents(place: Path) -> dict[str, str]:
    return {
        str(path.relative_to(place)): path.read_text() if path.is_file() else "" for path in place.rglob("*")
    }


def nobody(*words: str | Path) -> bool:
    """Let the second user run a command; whether it succeeded."""
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if ROOT else {}
    done = subprocess.run(list(map(str, words)), capture_output=True, check=False, cwd="/", **who)  # type: ignore[call-overload]
    return bool(done.returncode == 0)


@pytest.fixture
def without_cache(ground: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No cache directory can be made, so that the temporary directory is left; gives the place in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nope")
    monkeypatch.setattr(tempfile, "tempdir", str(ground / "tmp"))
    return ground / "tmp" / f"redolab-{os.geteuid()}"


def test_a_run_where_the_fallback_place_is_a_planted_link(ground: Path, victim: Path) -> None:
    """As root it is taken where user namespaces are blocked; without `unshare` in the path they seem so."""
    before = contents(victim)
    (ground / "programs").mkdir()
    assert nobody("ln", "-s", victim, ground / "tmp" / f"redolab-{os.geteuid()}")
    done = in_a_process(
        "run", "commit-mode", "--quick", "--settings", "wait,nowait", "--blocks", "2", "--seconds", "0.1",
        "--sessions", "1", "--out", ground / "run",
        environment={
            "TMPDIR": str(ground / "tmp"), "XDG_CACHE_HOME": "/proc/nope", "PATH": str(ground / "programs"),
        },
    )  # fmt: skip
    assert contents(victim) == before
    assert done.code == 3, done.err
    assert "is a symbolic link" in done.complaint or "install it where every user can read" in done.complaint


@pytest.mark.parametrize("user", [None, NOBODY])
def test_a_planted_link_is_no_base(user: int | None, without_cache: Path, victim: Path) -> None:
    assert nobody("ln", "-s", victim, without_cache)
    with pytest.raises(RefusedError, match=f"{without_cache} is a symbolic link"):
        base_directory(user)


def test_a_dangling_link_is_no_base(without_cache: Path, ground: Path) -> None:
    assert nobody("ln", "-s", ground / "new", without_cache)
    with pytest.raises(RefusedError, match="is a symbolic link"):
        base_directory(None)
    assert not (ground / "new").exists()


def test_a_file_is_no_base(without_cache: Path) -> None:
    assert nobody("touch", without_cache)
    with pytest.raises(RefusedError, match="is not a directory"):
        base_directory(None)


def test_a_directory_that_others_may_write_to_is_no_base(without_cache: Path) -> None:
    without_cache.mkdir()
    for mode in (0o770, 0o777, 0o1777):
        without_cache.chmod(mode)
        with pytest.raises(RefusedError, match="can be written by others"):
            base_directory(None)


def test_another_users_directory_is_no_base(without_cache: Path) -> None:
    assert nobody("mkdir", "-m", "700", without_cache)
    if ROOT:
        with pytest.raises(RefusedError, match="belongs to nobody"):
            base_directory(None)
    else:
        assert base_directory(None) == without_cache


def test_a_place_whose_names_others_can_exchange_is_no_base(without_cache: Path) -> None:
    without_cache.parent.chmod(0o777)
    with pytest.raises(RefusedError, match=r"tmp can be written by others.*of your own"):
        base_directory(None)
    assert not without_cache.exists()


def test_a_base_is_made_for_the_servers_user_to_pass(without_cache: Path) -> None:
    assert base_directory(None) == without_cache
    assert stat.S_IMODE(without_cache.stat().st_mode) == 0o700
    assert base_directory(NOBODY) == without_cache
    assert stat.S_IMODE(without_cache.stat().st_mode) == 0o711


def start_and_sweep() -> None:
    SQLiteEngine(0).close()


def marked(directory: Path) -> Path:
    """A directory as a killed run left it, with something in it; by another name if asked."""
    engine = SQLiteEngine(0)
    kept = directory.with_name("kept")
    shutil.copytree(engine.directory, kept)
    engine.close()
    kept.rename(directory)
    return directory


def test_only_what_bears_redolabs_mark_is_swept(without_cache: Path, victim: Path) -> None:
    start_and_sweep()
    own = marked(without_cache / "aaaaaaaaaaaa")
    lock = (own / "lock").read_bytes()
    start_and_sweep()
    assert not own.exists(), "a leaving of a killed run stays, and this test tests nothing"

    names = [f"{number:012x}" for number in range(20)]
    by = iter(without_cache / name for name in names)
    (without_cache / "notes").mkdir()
    for other in ("notes", "0123456789ABCDEF", "0123456789ab.old", "0123456789az"):
        (without_cache / other).mkdir(exist_ok=True)
        (without_cache / other / "lock").write_bytes(lock)
    next(by).write_text("a file with such a name")
    next(by).mkdir()  # Without any lock.
    for content in (b"", b"x", lock + b"x", lock[:-1]):  # An older Redolab's is empty.
        place = next(by)
        place.mkdir()
        (place / "lock").write_bytes(content)
    place = next(by)
    place.mkdir()
    (without_cache / "a lock").write_bytes(lock)
    (place / "lock").symlink_to(without_cache / "a lock")
    place = next(by)
    (place / "lock").mkdir(parents=True)
    place = next(by)
    place.mkdir()
    os.mkfifo(place / "lock")
    (victim / "lock").write_bytes(lock)
    next(by).symlink_to(victim)
    place = next(by)
    place.symlink_to(victim / "not there")
    if ROOT:
        for owned in ("directory", "lock"):
            place = next(by)
            place.mkdir()
            (place / "lock").write_bytes(lock)
            os.chown(place if owned == "directory" else place / "lock", NOBODY, NOBODY)
    before = sorted(without_cache.rglob("*")), contents(victim)
    start_and_sweep()
    assert (sorted(without_cache.rglob("*")), contents(victim)) == before


def test_what_a_leaving_links_to_stays(without_cache: Path, victim: Path, ground: Path) -> None:
    before = contents(victim)
    start_and_sweep()
    own = marked(without_cache / "aaaaaaaaaaaa")
    (own / "data").symlink_to(victim)
    (own / "socket").symlink_to(victim)
    (own / "elsewhere").symlink_to(victim)
    (own / "server.log").symlink_to(victim / "file")
    other = marked(without_cache / "bbbbbbbbbbbb")
    # By the right name, but a link or another user's itself.
    (ground / "tmp" / f"redolab-{other.name}").symlink_to(victim)
    (other / "elsewhere").symlink_to(ground / "tmp" / f"redolab-{other.name}")
    start_and_sweep()
    assert not own.exists()
    assert not other.exists()
    assert contents(victim) == before


def test_the_lock_of_all_servers_is_not_followed(without_cache: Path, victim: Path) -> None:
    without_cache.mkdir(mode=0o700)
    (without_cache / "lock").symlink_to(victim / "file")
    with pytest.raises(RefusedError, match="cannot be made: Too many levels of symbolic links"):
        start_and_sweep()
    assert (victim / "file").read_text() == TEXT


@pytest.fixture
def server(ground: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedServer]:
    """A server that runs as `nobody`; or as this user, where this is not root."""
    monkeypatch.setattr(tempfile, "tempdir", str(ground / "tmp"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(ground))
    monkeypatch.setattr(shutil, "which", _without_namespaces(shutil.which))
    if ROOT and not embedded._runs([str(embedded._binaries() / "postgres"), "--version"], NOBODY):
        pytest.fail("The user nobody cannot reach the server's programs; check Redolab out where he can.")
    made = EmbeddedServer(1, (0.001,))
    yield made
    made.stop()
    assert not made.directory.exists()


def _without_namespaces(which: Callable[..., str | None]) -> Callable[..., str | None]:
    return lambda program, **options: None if program == "unshare" else which(program, **options)


def data_of(server: EmbeddedServer) -> Path:
    return server.directory / "data"


def test_the_servers_user_owns_its_data_and_its_socket_alone(server: EmbeddedServer) -> None:
    directory = server.directory
    user = NOBODY if ROOT else os.geteuid()
    owners = {path.name: path.stat().st_uid for path in directory.iterdir()}
    assert {name for name, owner in owners.items() if owner == user} >= {"data", "s", "log_device.page"}
    assert stat.S_IMODE(directory.stat().st_mode) == (0o710 if ROOT else 0o700)
    if ROOT:
        others = {"lock", "server.log", "server.conf", "log_device.so"}
        assert {name for name, owner in owners.items() if owner == 0} == others
        assert directory.stat().st_uid == directory.parent.stat().st_uid == 0
        for name in (*owners, "new"):
            assert not nobody("mv", directory / name, directory / "moved")
            assert not nobody("ln", "-sfn", "/", directory / name) or name in {"data", "s"}
        assert not nobody("mv", directory, directory.with_name("moved"))
        assert not nobody("sh", "-c", f"echo >> {directory}/server.conf")
        (directory / "data" / "\n").unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["socket", "elsewhere", "s", "lock", "server.log", "data", "data/log"])
@pytest.mark.parametrize("end", ["stop", "restart", "killed"])
def test_a_link_that_the_servers_user_plants_leads_nowhere(
    name: str, end: str, server: EmbeddedServer, victim: Path
) -> None:
    before = contents(victim)
    target = victim / "file" if name in {"lock", "server.log"} else victim
    path = server.directory / name
    if not ROOT:  # There is no second user, and nobody else may enter.
        assert stat.S_IMODE(server.directory.stat().st_mode) == 0o700
        return
    nobody("mv", path, f"{path}.away")
    nobody("rm", "-f", path)
    nobody("ln", "-sfn", target, path)
    if end == "restart":
        server.crash()
        server.restart()
    if end == "killed":
        server._guard._process.kill()
        server._guard._process.wait()
        EmbeddedServer(1).stop()
    server.stop()
    assert contents(victim) == before
    assert not server.directory.exists()


@pytest.mark.parametrize("end", ["stop", "crash"])
def test_a_pid_that_the_servers_user_writes_down_is_not_believed(end: str, server: EmbeddedServer) -> None:
    # Its command line has the name of the data directory, as a server's has.
    code = "import time; print(flush=True); time.sleep(600)"
    words = [sys.executable, "-c", code, str(data_of(server))]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as bystander:
        assert bystander.stdout is not None
        bystander.stdout.readline()
        try:
            file = data_of(server) / "postmaster.pid"
            lines = file.read_text().splitlines()
            lines[0] = str(bystander.pid)
            assert nobody("sh", "-c", 'printf "%s\\n" "$2" > "$1"', "sh", file, "\n".join(lines))
            if end == "crash":
                server.crash()
            server.stop()
            assert bystander.poll() is None
            assert "T" not in Path(f"/proc/{bystander.pid}/stat").read_text().rpartition(")")[2].split()[0]
        finally:
            bystander.kill()
    assert not server.directory.exists()


@pytest.fixture
def segment() -> Iterator[str]:
    """A System V segment of somebody's."""
    made = subprocess.run(["ipcmk", "-M", "56"], capture_output=True, text=True, check=True).stdout
    number = made.split()[-1]
    yield number
    subprocess.run(["ipcrm", "-m", number], check=False, capture_output=True)


def segments() -> set[str]:
    return {line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}


def test_memory_that_the_servers_user_writes_down_is_not_believed(
    server: EmbeddedServer, segment: str
) -> None:
    file = data_of(server) / "postmaster.pid"
    lines = file.read_text().splitlines()
    key, own = lines[6].split()
    assert own in segments()
    lines[6] = f"{key} {segment}"
    assert nobody("sh", "-c", 'printf "%s\\n" "$2" > "$1"', "sh", file, "\n".join(lines))
    server.crash()
    assert own in segments(), "the killed server took its memory along, and this test tests nothing"
    server.stop()
    assert segment in segments()
    assert own not in segments()


def test_a_control_page_that_is_cut_off_does_not_kill_redolab(server: EmbeddedServer) -> None:
    assert server.device is not None
    assert server.device.counters().attached == 1
    server.crash()
    assert nobody("truncate", "-s", "0", server.directory / "log_device.page")
    with pytest.raises(RefusedError, match="was truncated during the run"):
        server.device.counters()


def test_where_the_path_is_long_the_sockets_directory_is_as_safe(
    ground: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(ground / "tmp"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(ground / ("long" * 30)))
    monkeypatch.setattr(shutil, "which", _without_namespaces(shutil.which))
    monkeypatch.setattr(embedded, "base_directory", lambda _: base_directory(None))
    monkeypatch.setattr(embedded, "_unprivileged", lambda _: ([], None))
    before = contents(victim)
    monkeypatch.setattr("secrets.token_hex", lambda _: "abababababab")
    assert nobody("ln", "-s", victim, ground / "tmp" / "redolab-abababababab")
    with pytest.raises(RefusedError, match="is too long for a socket"):
        EmbeddedServer(1)
    assert contents(victim) == before

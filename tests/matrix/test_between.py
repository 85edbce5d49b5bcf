"""What stands between a client and a server, or beside one: poolers, standbys, replicas.

In each of them doctor, a profile, a watch and a run end right or refuse in a sentence, doctor and run agree,
and nothing is left.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from redolab.engine.private.directory import remove_server
from tests.conftest import Redolab
from tests.server_programs import pgbouncer_program
from tests.servers import PASSWORD, Ended, Server, _free_port, wait_until

_SHORT = ("--quick", "--blocks", "2", "--seconds", "0.15", "--sessions", "2", "--settings", "wait,nowait")
_IGNORED = (
    "ignore_startup_parameters = options, extra_float_digits, search_path, default_transaction_read_only"
)
# Parameters that this pooler hands on, as the server of PostgreSQL 18 reports them.
_TRACKED = "ignore_startup_parameters = options\ntrack_extra_parameters = search_path, IntervalStyle"


def looked_at(redolab: Redolab, url: str, place: Path) -> dict[str, Ended]:
    """The four commands, by name."""
    return {
        "doctor": redolab("doctor", "commit-mode", "--engine", url),
        "profile": redolab("profile", url, "--seconds", "0.5", "--json"),
        "watch": redolab("watch", url, "--seconds", "1.5", "--json", "--out", place / "watch"),
        "run": redolab("run", "commit-mode", "--engine", url, "--yes", *_SHORT, "--out", place / "run"),
    }


@contextmanager
def pooled(server: Server, mode: str, more: str) -> Iterator[str]:
    """PgBouncer in front of a server; gives the URL."""
    place, port = Path(tempfile.mkdtemp(prefix="redolab-pooler-")), _free_port()
    place.chmod(0o755)
    (place / "users").write_text(f'"postgres" "{PASSWORD}"\n')
    (place / "ini").write_text(
        f"[databases]\n* = host=127.0.0.1 port={server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = {place}/users\n"
        f"pool_mode = {mode}\n{more}\n"
    )
    # It does not work as root, and changes its user itself.
    as_nobody = ["-u", "nobody"] if os.geteuid() == 0 else []
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(
            [pgbouncer_program(), *as_nobody, place / "ini"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip

    def listens() -> bool:
        assert process.poll() is None, (place / "log").read_text()
        return "listening on 127.0.0.1" in (place / "log").read_text()

    try:
        wait_until(listens, "the pooler listens")
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(place)


@pytest.mark.parametrize(
    ("mode", "more"),
    [
        *((mode, more) for mode in ("session", "transaction", "statement") for more in ("", _IGNORED)),
        ("session", _TRACKED), ("session", "max_client_conn = 0"),
    ],
)  # fmt: skip
def test_pgbouncer_is_named_and_refused(
    mode: str, more: str, newest: Server, redolab: Redolab, tmp_path: Path
) -> None:
    with pooled(newest, mode, more) as url:
        ended = looked_at(redolab, url, tmp_path)
    for name, it in ended.items():
        assert it.code == 3, (name, it)
        assert "A pooler such as PgBouncer answers at that address" in it.complaint
        assert "Connect to the server itself" in it.complaint
    assert list(tmp_path.iterdir()) == []
    newest.assert_left_clean("postgres")


@pytest.fixture
def standby(newest: Server) -> Iterator[Server]:
    """A hot standby of the newest server."""
    place = newest.place.with_name("standby-watched")
    it = Server(newest.programs, place, copy_of=newest)
    try:
        it.start()
        yield it
    finally:
        it.stop()
        remove_server(place)


@contextmanager
def committing(server: Server) -> Iterator[None]:
    """Somebody who commits rows meanwhile."""
    stop = threading.Event()

    def commit() -> None:
        with server.admin() as admin:
            admin.execute("create table if not exists public.colleague (n bigint)")
            while not stop.wait(0.02):
                admin.execute("insert into public.colleague values (1)")

    colleague = threading.Thread(target=commit)
    colleague.start()
    try:
        yield
    finally:
        stop.set()
        colleague.join()


def test_what_a_standby_replays_is_not_what_it_commits(
    newest: Server, standby: Server, redolab: Redolab, tmp_path: Path
) -> None:
    with committing(newest):
        ended = looked_at(redolab, standby.url(), tmp_path)
    for name in ("doctor", "run"):
        assert ended[name].code == 3
        assert "This server is a read-only standby" in ended[name].complaint
    profile, watch = (json.loads(ended[name].out) for name in ("profile", "watch"))
    assert any("this server is a standby" in item["why"] for item in profile["not_available"])
    assert profile["log"]["transactions_per_s"] == 0
    assert profile["log"]["flushes"] is None
    setting = watch["settings"][0]
    assert setting["figures"]["arrival_rate_per_s"]["point"] == 0
    for key in ("service_time_s", "session_response_time_s", "rows_per_commit", "log_sync_per_commit_s"):
        assert setting["figures"][key]["point"] is None
        assert setting["missing"][key] == "no transaction that wrote was committed"
    for key in ("log_flushes_per_s", "log_utilization", "commits_per_flush"):
        assert setting["figures"][key]["point"] is None
        assert "did not" in setting["missing"][key]
    newest.assert_left_clean("postgres")
    assert not (tmp_path / "run").exists()


def test_a_run_with_a_synchronous_standby_promises_a_replica(
    newest: Server, standby: Server, redolab: Redolab, tmp_path: Path
) -> None:
    assert standby.process is not None
    names = "synchronous_standby_names"
    with newest.admin() as admin:
        admin.execute(f"alter system set {names} = '*'".encode())
        admin.execute("select pg_reload_conf()")
    wait_until(
        lambda: newest.ask("select count(*) from pg_stat_replication where sync_state = 'sync'") == 1, "it is"
    )
    try:
        done = redolab("run", "commit-mode", "--engine", newest.url(), "--yes", *_SHORT, "--json",
                       "--out", tmp_path / "run")  # fmt: skip
        assert done.code == 0, done.err
        assert [setting["tier"] for setting in json.loads(done.out)["settings"]] == ["replica", "memory"]
    finally:
        with newest.admin() as admin:
            admin.execute(f"alter system reset {names}".encode())
            admin.execute("select pg_reload_conf()")
        wait_until(lambda: newest.ask(f"select current_setting('{names}')") == "", "it waits for none")
    newest.assert_left_clean("postgres")

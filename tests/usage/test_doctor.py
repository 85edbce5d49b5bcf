"""`redolab doctor`: what it says is what a run and a profile would say, and nothing is changed by it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from redolab.engine import OFFERS
from redolab.experiment import EXPERIMENTS
from tests.conftest import Redolab
from tests.docs.pages import ROOT, inline_code
from tests.mariadb import PASSWORD as MARIADB_PASSWORD
from tests.mariadb import MariaDB, running_mariadb
from tests.servers import PASSWORD, Ended, Server, wait_until
from tests.wire import Pooler, listening

NOBODY = 65534
NOWHERE = "postgresql://u@127.0.0.1:1/none"


def results(done: Ended) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.out)
    assert found["format"] == 1
    return found


def checks(found: dict[str, Any], name: str) -> list[dict[str, str]]:
    return [check for check in found["checks"] if check["name"] == name]


def runs(found: dict[str, Any]) -> set[str]:
    return {experiment["name"] for experiment in found["experiments"] if experiment["runs"]}


def test_here_everything_is_told_and_nothing_is_made(
    redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    done = redolab("doctor")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    found = results(redolab("doctor", "--json"))
    assert runs(found) == set(EXPERIMENTS)
    assert found["profile"] is None
    own = {offer.name for offer in OFFERS if not offer.schemes}
    assert {each["engine"] for e in found["experiments"] for each in e["engines"]} == own
    assert all(" GB free on " in check["found"] for check in checks(found, "Disk of private servers"))
    assert list(tmp_path.iterdir()) == []
    for check in found["checks"]:
        assert check["name"] in done.out
        assert check["state"] in ("works", "limited", "missing")
        assert bool(check["costs"] or check["mend"]) is (check["state"] != "works")


def test_every_key_is_documented(redolab: Redolab, newest: Server, url: str) -> None:
    named = inline_code(ROOT / "docs" / "guide" / "doctor.md")
    found = results(redolab("doctor", "--engine", url, "--json"))
    for key, value in found.items():
        inner = value[0] if isinstance(value, list) else value
        keys = {f"{key}[].{item}" for item in inner} if isinstance(value, list) else {key}
        if isinstance(value, dict):
            keys = {f"{key}.{item}" for item in inner}
        assert {name.removesuffix("[]") for name in keys} - {
            name.removesuffix("[]") for name in named
        } == set()
    assert {f"experiments[].engines[].{key}" for key in found["experiments"][0]["engines"][0]} <= named


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such-experiment"], "It has: commit-mode"),
        (["commit_mode"], "Did you mean 'commit-mode'?"),
        (["commit-mode", "embeded"], "Did you mean 'embedded'?"),
        (["sqlite", "--engine", "embedded"], "doctor checks one server at a time"),
        (["durability", "mysql://u@h/"], "kills only servers"),
        (["--engine", "oracle"], "Unknown engine 'oracle'"),
        (["commit-mode", "--engine", "sqlite"], "commit-mode does not run on sqlite"),
        (["durability", "--engine", NOWHERE], "kills only servers"),
        (["durability", "--engine", "mysql://u@h/"], "kills only servers"),
        (["--engine", "postgresql://[::1/db"], "not a connection URL"),
        (["--engine", "mysql://h/?what=1"], "not a URL of a MariaDB"),
    ],
)
def test_what_cannot_be_asked(arguments: list[str], said: str, redolab: Redolab) -> None:
    done = redolab("doctor", *arguments)
    assert done.code == 2
    assert said in done.complaint


def test_a_missing_program_is_named_as_the_run_names_it(
    redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, **at: None if name in ("mariadbd", "mysqld") else there(name, **at)
    )
    done = redolab("doctor", "consistent-read")
    assert done.code == 0
    assert "on embedded, sqlite" in done.out
    assert "apt-get install mariadb-server-core" in " ".join(done.out.split())
    asked = redolab("doctor", "consistent-read", "--engine", "mariadb")
    assert asked.code == 3
    run = redolab("run", "consistent-read", "--quick", "--engine", "mariadb", "--out", tmp_path / "run")
    assert run.code == 3
    assert run.complaint.removeprefix("redolab: ") in asked.complaint


def test_too_little_disk_is_told(redolab: Redolab, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10**6))
    done = redolab("doctor", "commit-mode")
    assert done.code == 3
    assert "0.0 GB free. Ask for fewer rows, or set XDG_CACHE_HOME" in done.complaint


def test_an_unsafe_place_is_refused_as_a_run_refuses_it(
    redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cache", "temporary"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    done = redolab("doctor", "consistent-read", "--engine", "sqlite")
    assert done.code == 3
    run = redolab("run", "consistent-read", "--quick", "--engine", "sqlite", "--out", tmp_path / "run")
    assert run.complaint.splitlines()[-1].removeprefix("redolab: ") in done.complaint
    assert "No safe directory" in done.complaint


def test_an_ordinary_user_is_told_the_truth() -> None:
    place = Path(tempfile.mkdtemp(prefix="redolab-doctor-"))
    place.chmod(0o777)
    drop = f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})" if os.geteuid() == 0 else "pass"
    # Everything is imported before the rights are given up: the interpreter may lie where only root reads.
    code = (
        "import json, os; from redolab.commands.doctor import examine; examine(None, None); "
        f"{drop}; print(json.dumps(examine(None, None)))"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], env={"PATH": os.environ["PATH"], "HOME": str(place)},
            cwd="/", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert list(place.iterdir()) == []
    finally:
        shutil.rmtree(place)
    found = json.loads(done.stdout)
    (memory,) = checks(found, "Memory of processes")
    assert memory["state"] != "works"
    assert "CAP_SYS_PTRACE" in memory["mend"]
    (loops,) = checks(found, "Loop devices")
    assert loops["state"] == "missing"
    assert {"cpu-capacity", "consistent-read", "sampling-distribution"} <= runs(found)


# Somebody's PostgreSQL


@pytest.fixture
def untouched(newest: Server, url: str, database: str) -> Iterator[None]:
    settings, altered = newest.settings(), newest.altered()
    yield
    newest.assert_left_clean(database)
    assert (newest.settings(), newest.altered()) == (settings, altered)


@pytest.mark.usefixtures("untouched")
def test_a_server_that_takes_everything(url: str, newest: Server, redolab: Redolab) -> None:
    done = redolab("doctor", "--engine", url)
    assert (done.code, done.err) == (0, "")
    assert PASSWORD not in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    found = results(redolab("doctor", "--engine", url, "--json"))
    assert PASSWORD not in json.dumps(found)
    assert runs(found) == {
        name for name in EXPERIMENTS if name not in ("durability", "cpu-capacity", "sampling-distribution")
    }
    assert found["engine"] == "postgresql"
    assert found["profile"] == {"works": True, "why": None}
    (server,) = checks(found, "Server")
    assert server["found"].startswith("PostgreSQL 18")
    assert "127.0.0.1" in server["found"]
    assert redolab("doctor", "commit-mode", "--engine", url).code == 0


@pytest.mark.usefixtures("untouched")
def test_grants_that_are_missing_are_those_a_run_asks_for(
    url: str, newest: Server, database: str, redolab: Redolab, tmp_path: Path
) -> None:
    role = f"poor_{database}"
    newest.role(role)
    try:
        theirs = newest.url(database, role)
        done = redolab("doctor", "commit-mode", "--engine", theirs)
        assert done.code == 3
        run = redolab("run", "commit-mode", "--engine", theirs, "--yes", "--quick", "--out", tmp_path / "run")
        assert run.complaint.splitlines()[-1].removeprefix("redolab: ") in done.complaint
        assert "GRANT CREATE ON DATABASE" in done.complaint
        assert "GRANT ALTER SYSTEM ON PARAMETER" in done.complaint
        found = results(redolab("doctor", "--engine", theirs, "--json"))
        assert runs(found) == set()
        assert found["profile"]["works"]
        hidden = [check["mend"] for check in checks(found, "Profile")]
        assert any(f"GRANT pg_read_all_stats TO \"{role}\"" in mend or
                   f"GRANT pg_read_all_stats TO {role}" in mend for mend in hidden)  # fmt: skip
    finally:
        with newest.admin() as admin:
            admin.execute(f"drop role {role}".encode())


def test_a_server_made_read_only_and_without_the_clock_of_its_log(
    own_server: Server, redolab: Redolab
) -> None:
    own_server.stop()
    own_server.start(
        "-c", "default_transaction_read_only=on", "-c", "track_wal_io_timing=off", "-c", "fsync=off"
    )
    done = redolab("doctor", "calibrate", "--engine", own_server.url(), "--json")
    assert done.code == 3
    assert "default_transaction_read_only is on" in done.complaint
    found = results(done)
    assert found["profile"]["works"]
    assert any("track_wal_io_timing" in check["mend"] for check in checks(found, "Profile"))
    assert any("fsync is off" in check["costs"] for check in checks(found, "Condition"))


def test_nobody_listens(redolab: Redolab) -> None:
    done = redolab("doctor", "--engine", NOWHERE)
    assert (done.code, done.err) == (0, "")
    assert "Is the server running on that host" in " ".join(done.out.split())
    asked = redolab("doctor", "calibrate", "--engine", NOWHERE)
    assert asked.code == 3
    assert "Is the server running on that host" in asked.complaint


def test_a_pooler_is_named(newest: Server, url: str, redolab: Redolab) -> None:
    with listening(Pooler(newest.port, another_pid=True)) as pooler:
        done = redolab("doctor", "calibrate", "--engine", url.replace(f":{newest.port}/", f":{pooler.port}/"))
    assert done.code == 3
    assert "A pooler such as PgBouncer answers at that address" in done.complaint


# Somebody's MariaDB


@pytest.fixture(scope="module")
def mariadb() -> Iterator[MariaDB]:
    place = Path(tempfile.mkdtemp(prefix="redolab-mariadb-"))
    with running_mariadb(place / "server") as server:
        yield server
    shutil.rmtree(place)


def test_a_mariadb_takes_everything_but_kills(mariadb: MariaDB, redolab: Redolab) -> None:
    done = redolab("doctor", "--engine", mariadb.url, "--json")
    assert done.code == 0, done.err
    found = results(done)
    assert found["profile"] == {"works": True, "why": None}
    never = {"durability", "cpu-capacity", "sampling-distribution"}
    # The server keeps no binary log: commit-mode leaves out the one setting that does not exist there.
    assert runs(found) == EXPERIMENTS.keys() - never
    (server,) = checks(found, "Server")
    assert server["found"].startswith("MariaDB 1")
    assert "on this machine" in server["found"]
    assert any("performance_schema is off" in check["mend"] for check in checks(found, "Profile"))
    wait_until(lambda: len(mariadb.ask("show processlist")) == 1, "the observer's session ends")


def test_a_mariadb_that_hides_its_sessions(
    mariadb: MariaDB, redolab: Redolab, monkeypatch: pytest.MonkeyPatch
) -> None:
    mariadb.ask(f"create user reader identified by '{MARIADB_PASSWORD}'")
    monkeypatch.setenv("MYSQL_PWD", MARIADB_PASSWORD)
    done = redolab("doctor", "--engine", f"mysql://reader@127.0.0.1:{mariadb.port}/", "--json")
    assert done.code == 0, done.err
    found = results(done)
    assert not found["profile"]["works"]
    assert "GRANT PROCESS ON *.* TO 'reader'@'%';" in found["profile"]["why"]
    assert MARIADB_PASSWORD not in done.out

"""A password in the URL is seen by nobody: not in the process list, the stored run, or the output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from redolab.commands.process import hide_secrets
from redolab.engine.postgres.connecting.connection import Connector
from redolab.url_secrets import take_secrets
from tests.servers import PASSWORD, Server, command, wait_until

MARK = "REDOLAB_TEST_MARK"


def command_lines(mark: str) -> list[bytes]:
    """Of the processes that this was put into the environment of, and of all that they started.

    Those of tests beside this one know the same password.
    """
    shown = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (place / "environ").read_bytes().split(b"\0"):
                shown.append((place / "cmdline").read_bytes())
    return shown


@pytest.mark.parametrize(
    "more",
    ["", "?password={}", "?connect_timeout=3&password={}&sslmode=disable", "?pass%77ord={}&sslpassword={}"],
)
def test_a_password_in_the_url_stays_secret(newest: Server, url: str, tmp_path: Path, more: str) -> None:
    with_password = url + more.format(PASSWORD, PASSWORD)
    if not more:
        with_password = url.replace("postgres@", f"postgres:{PASSWORD}@")
    assert PASSWORD in with_password
    arguments = command(
        "run", "commit-mode", "--engine", with_password, "--yes", "--quick", "--blocks", "2",
        "--seconds", "0.2", "--sessions", "2", "--settings", "wait,nowait", "--out", tmp_path / "run",
    )  # fmt: skip
    with (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err,
            env={name: value for name, value in os.environ.items() if name != "PGPASSWORD"} | {MARK: url},
        )  # fmt: skip
    try:
        wait_until(lambda: b"1 of 6" in (tmp_path / "err").read_bytes(), "a sample")
        shown = command_lines(f"{MARK}={url}")
        assert any(url.encode() in words for words in shown)
        assert not any(PASSWORD.encode() in words for words in shown)
    finally:
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"manifest.json", "results.json", "report.html", "samples.parquet"} <= {p.name for p in files}
    for content in (out, *(path.read_bytes() for path in files)):
        assert PASSWORD.encode() not in content
    assert url.encode() in (tmp_path / "run" / "manifest.json").read_bytes()


@pytest.mark.parametrize(
    ("given", "kept", "password"),
    [
        ("postgresql://u:secret@h/db", "postgresql://u@h/db", "secret"),
        ("--engine=postgres://u:secret@h:5432/db", "--engine=postgres://u@h:5432/db", "secret"),
        ("postgresql://u:a%20%2F%40b@h,i:1/db?x=1", "postgresql://u@h,i:1/db?x=1", "a /@b"),
        ("old=postgresql://u:secret@h/db", "old=postgresql://u@h/db", "secret"),
        ("--engine=v1.2-x=mysql://u:secret@h/", "--engine=v1.2-x=mysql://u@h/", "secret"),
        ("postgresql://u:secret@[::1]:5432,i/db", "postgresql://u@[::1]:5432,i/db", "secret"),
        ("postgresql://:secret@h", "postgresql://@h", "secret"),
        ("postgresql://u:secret@/db", "postgresql://u@/db", "secret"),
        ("postgresql://u:se#cr?et@h/db", "postgresql://u@h/db", "se#cr?et"),
        ("postgresql://u:%ff@h/db", "postgresql://u@h/db", "\udcff"),
        ("postgresql://u@h/db?password=secret", "postgresql://u@h/db", "secret"),
        ("postgresql://u@h/db?password=secret&x=1", "postgresql://u@h/db?x=1", "secret"),
        ("postgresql://u@h/db?x=1&password=s%26t", "postgresql://u@h/db?x=1", "s&t"),
        ("postgresql://u@h/db?x=1&password=secret&y=2", "postgresql://u@h/db?x=1&y=2", "secret"),
        ("postgresql://u@h/db?x=1&pass%77ord=secret", "postgresql://u@h/db?x=1", "secret"),
        ("postgresql://u@h/db?PASSWORD=secret", "postgresql://u@h/db", "secret"),
        ("postgresql://u@h/db?password=one&password=secret", "postgresql://u@h/db", "secret"),
        ("postgresql://u:one@h/db?password=secret&x=1", "postgresql://u@h/db?x=1", "secret"),
        ("postgresql://h?user=u&password=se/cret", "postgresql://h?user=u", "se/cret"),
        ("POSTGRESQL://u:secret@h/db", "POSTGRESQL://u@h/db", "secret"),
        ("postgresql+asyncpg://u:secret@h/db", "postgresql+asyncpg://u@h/db", "secret"),
        ("jdbc:postgresql://h/db?user=u&password=secret", "jdbc:postgresql://h/db?user=u", "secret"),
        ("mysql://u:secret@h:3306/", "mysql://u@h:3306/", "secret"),
        ("mariadb://u:a%20b@/?unix_socket=/s", "mariadb://u@/?unix_socket=/s", "a b"),
        ("mysql://u@h/?password=s%26t", "mysql://u@h/", "s&t"),
        ("mysql://u@h/?password=a%2Bb+c&unix_socket=/s", "mysql://u@h/?unix_socket=/s", "a+b+c"),
    ],
)
def test_a_password_is_found_wherever_the_client_library_would(
    given: str, kept: str, password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, argv: replaced.append(argv))
    monkeypatch.setenv("PGPASSWORD", "")
    monkeypatch.setenv("MYSQL_PWD", "")
    hide_secrets(["redolab", "run", given])
    assert replaced == [[sys.executable, "redolab", "run", kept]]
    postgres = "postgres" in given.lower()
    assert os.environ["PGPASSWORD"] == (password if postgres else "")
    assert os.environ["MYSQL_PWD"] == ("" if postgres else password)
    assert take_secrets(kept, {}) == kept


@pytest.mark.parametrize("given", ["u:secret@h/db?sslmode=disable", "u@h/db?sslmode=disable&password=secret"])
def test_the_client_library_reads_what_is_left(given: str) -> None:
    environment: dict[str, str] = {}
    left = conninfo_to_dict(take_secrets(f"postgresql://{given}&connect_timeout=3", environment))
    assert left == {
        "user": "u", "host": "h", "dbname": "db", "sslmode": "disable", "connect_timeout": "3"
    }  # fmt: skip
    assert environment == {"PGPASSWORD": "secret"}


def test_secrets_without_a_variable_of_the_client_library_reach_it_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = "postgresql://u@h/db?sslkey=k&sslpassword=a%20b&oauth_client_secret=c&scram_client_key=d"
    environment: dict[str, str] = {}
    left = take_secrets(given, environment)
    assert left == "postgresql://u@h/db?sslkey=k"
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    parameters = Connector(left).parameters["options"]
    assert parameters["sslkey"] == "k"
    assert (parameters["sslpassword"], parameters["oauth_client_secret"]) == ("a b", "c")
    assert parameters["scram_client_key"] == "d"


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://u@h:5432/a:b@c", "postgresql://h:5432/db?user=a@b", "mysql://u@h/", "embedded", "a:b@c",
        "postgresql://h/db?passfile=x", "postgresql://u:@h/db?password=", "postgresql://u@[::1/db", "", "-",
        "--set", "sessions=8", "host=h user=u",
    ],
)  # fmt: skip
def test_what_holds_no_password_is_left_alone(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("started over"))
    argv = ["redolab", "run", given]
    hide_secrets(argv)
    assert argv == ["redolab", "run", given]


SECRET = "s3cret-thing"


@pytest.mark.parametrize(
    "given",
    [
        f"postgresql://u:a/{SECRET}@h/db", f"postgresql://u:5432/{SECRET}@h/db", f"postgresql://u:a@b/{SECRET}@h/",
        f"postgresql://u:a@{SECRET}@h/db", f"postgresql://u:a?b/{SECRET}@h/db", f"mysql://u:a/{SECRET}@h/",
        f"postgresql://u:{SECRET}%00@h/db",
        f"old=postgresql://u:a/{SECRET}@h/db", f"old=host=h password={SECRET}",
        f"postgresql://h?user=u@v&password=a/{SECRET}@b", f"postgresql://u@h/d#password={SECRET}",
        f"postgresql://h?password=a@{SECRET}", f"host=h password={SECRET}",
        f"password = '{SECRET} x' host=h", f"host=h password=a {SECRET}",
        f"postgresql://u:{SECRET}@[::1/db", f"postgresql://u@h/db?password={SECRET}&nothing",
        f"db2://u:{SECRET}@h/db", f"postgresql://u@h/db?sslpassword={SECRET}&colour=blue",
    ],
)  # fmt: skip
def test_no_refusal_shows_a_secret(given: str) -> None:
    _check_refused("run", "commit-mode", "--yes", f"--engine={given}")


@pytest.mark.parametrize(
    "given", [f"postgresql://u:a/{SECRET}@h/db", f"db2://u:{SECRET}@h/db", f"host=h password={SECRET}"]
)
def test_no_refusal_shows_a_secret_wherever_it_was_given(given: str) -> None:
    _check_refused("run", "commit-mode", "--yes", "--engine", given)
    _check_refused("profile", given, "--seconds", "1")


def _check_refused(*arguments: str) -> None:
    done = subprocess.run(command(*arguments), capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert "redolab: " in done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stdout + done.stderr


def test_a_url_that_cannot_be_read_is_refused_without_its_password() -> None:
    done = subprocess.run(
        command("run", "commit-mode", "--yes", "--engine", "postgresql://u:s3cret-thing@[::1/db"),
        capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert re.search("not a connection URL", done.stderr)
    assert "s3cret-thing" not in done.stdout + done.stderr

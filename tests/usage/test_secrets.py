"""A password in the URL is seen by nobody: not in the process list, the stored run, or the output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from redolab import cli
from tests.servers import PASSWORD, Server, command, wait_until


def test_a_password_in_the_url_stays_secret(newest: Server, url: str, tmp_path: Path) -> None:
    with_password = url.replace("postgres@", f"postgres:{PASSWORD}@")
    assert PASSWORD in with_password
    arguments = command(
        "run", "commit-mode", "--engine", with_password, "--yes", "--quick", "--blocks", "2",
        "--seconds", "0.2", "--sessions", "2", "--settings", "wait,nowait", "--out", tmp_path / "run",
    )  # fmt: skip
    with (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err,
            env={name: value for name, value in os.environ.items() if name != "PGPASSWORD"},
        )  # fmt: skip
    try:
        wait_until(lambda: b"1 of 6" in (tmp_path / "err").read_bytes(), "a sample")
        shown = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
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
        ("postgresql://:secret@h", "postgresql://@h", "secret"),
        ("postgresql://u:se#cr?et@h/db", "postgresql://u@h/db", "se#cr?et"),
        ("postgresql://u@h/db?password=secret&x=1", "postgresql://u@h/db?&x=1", "secret"),
        ("postgresql://u@h/db?x=1&password=s%26t", "postgresql://u@h/db?x=1&", "s&t"),
        ("mysql://u:secret@h:3306/", "mysql://u@h:3306/", "secret"),
        ("mariadb://u:a%20b@/?unix_socket=/s", "mariadb://u@/?unix_socket=/s", "a b"),
        ("mysql://u@h/?password=s%26t", "mysql://u@h/?", "s&t"),
    ],
)
def test_a_password_is_found_wherever_the_client_library_would(
    given: str, kept: str, password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, argv: replaced.append(argv))
    monkeypatch.setenv("PGPASSWORD", "")
    monkeypatch.setenv("MYSQL_PWD", "")
    cli._hide_password(["redolab", "run", given])
    assert replaced == [[sys.executable, "redolab", "run", kept]]
    postgres = "postgres" in given
    assert os.environ["PGPASSWORD"] == (password if postgres else "")
    assert os.environ["MYSQL_PWD"] == ("" if postgres else password)


@pytest.mark.parametrize(
    "given",
    ["postgresql://u@h:5432/a:b@c", "mysql://u@h/", "postgresql://h/db?passfile=x", "embedded", "a:b@c"],
)
def test_what_holds_no_password_is_left_alone(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("started over"))
    argv = ["redolab", "run", given]
    cli._hide_password(argv)
    assert argv == ["redolab", "run", given]


def test_a_url_that_cannot_be_read_is_refused_without_its_password() -> None:
    done = subprocess.run(
        command("run", "commit-mode", "--yes", "--engine", "postgresql://u:s3cret-thing@[::1/db"),
        capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert re.search("not a connection URL", done.stderr)
    assert "s3cret-thing" not in done.stdout + done.stderr

"""`redolab profile` as somebody types it: what it refuses, how it ends, and that it stays quiet."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from redolab.engine.postgres.observer import observer as observe_postgres
from tests.conftest import Redolab
from tests.servers import PASSWORD, Server, command, wait_until


@pytest.fixture
def sleeper(newest: Server, url: str) -> Iterator[int]:
    """A session that sleeps; its pid."""
    name = url.rpartition("/")[2]
    with psycopg.connect(
        newest.conninfo("postgres", name), autocommit=True, application_name="sleeper"
    ) as connection:
        process = subprocess.Popen(
            [sys.executable, "-c", _SLEEP, newest.conninfo("postgres", name)], stdin=subprocess.DEVNULL
        )
        try:
            asleep = "select pid from pg_stat_activity where wait_event = 'PgSleep'"
            wait_until(lambda: newest.ask(asleep) is not None, "it sleeps")
            yield int(newest.ask(asleep))
            connection.execute("select pg_cancel_backend(%s)", (newest.ask(asleep),))
        finally:
            process.wait()


_SLEEP = """
import sys, psycopg
try:
    psycopg.connect(sys.argv[1], autocommit=True, application_name="sleeper").execute("select pg_sleep(60)")
except psycopg.errors.QueryCanceled:
    pass
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "Give the URL of a server"),
        (["embedded"], "Give the URL of a server"),
        (["sqlite:///file"], "Give the URL of a server"),
        (["postgresql://u@h/db", "--seconds", "0"], "--seconds is 0"),
        (["postgresql://u@h/db", "--seconds", "100000"], "at most 14,400"),
        (["postgresql://u@h:port/db?nonsense=1"], "not a connection URL"),
    ],
)
def test_wrong_usage_ends_with_2(redolab: Redolab, arguments: list[str], said: str) -> None:
    ended = redolab("profile", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.complaint


def test_a_session_that_is_not_there_is_wrong_usage(redolab: Redolab, url: str) -> None:
    ended = redolab("profile", url, "--seconds", "0.5", "--session", "1")
    assert (ended.code, ended.out) == (2, "")
    assert "Session 1 was not found" in ended.complaint
    assert "pg_stat_activity" in ended.complaint


def test_a_server_that_is_not_there_ends_with_3(redolab: Redolab) -> None:
    ended = redolab("profile", "postgresql://u@127.0.0.1:1/db", "--seconds", "1")
    assert (ended.code, ended.out) == (3, "")
    assert "Is the server running on that host" in ended.complaint


def test_a_wrong_password_ends_with_3(redolab: Redolab, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "wrong")
    ended = redolab("profile", url, "--seconds", "1")
    assert ended.code == 3
    assert "PGPASSWORD" in ended.complaint


def test_json_is_alone_on_stdout_and_its_rows_sum_to_1(
    redolab: Redolab, newest: Server, url: str, sleeper: int
) -> None:
    ended = redolab("profile", url, "--seconds", "1.5", "--json")
    assert ended.code == 0, ended.err
    results: dict[str, Any] = json.loads(ended.out)
    assert (results["format"], results["profile"]) == (1, "live")
    groups = [results["instance"], *results["sessions"], *results["kinds"]]
    for group in groups:
        if group["profile"]:
            assert sum(row["share"]["point"] for row in group["profile"]) == pytest.approx(1, abs=1e-9)
            assert sum(row["time_s"] for row in group["profile"]) == pytest.approx(group["busy_s"])
    (session,) = [session for session in results["sessions"] if session["pid"] == sleeper]
    (top,) = [row for row in session["profile"] if row["share"]["point"] > 0.5]
    assert top["row"] == "Timeout:PgSleep"
    assert session["application"] == "sleeper"
    assert not any(s["application"] == "redolab profile" for s in results["sessions"])
    newest.assert_left_clean(url.rpartition("/")[2])


def test_the_tables_name_the_wait(redolab: Redolab, url: str, sleeper: int) -> None:
    whole = redolab("profile", url, "--seconds", "1")
    alone = redolab("profile", url, "--seconds", "1", "--session", str(sleeper))
    for ended in (whole, alone):
        assert ended.code == 0, ended.err
        assert "PgSleep" in ended.out
        assert max(len(line) for line in ended.out.splitlines()) <= 80
    assert str(sleeper) in alone.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_reports_what_was_seen(
    number: signal.Signals, newest: Server, url: str, sleeper: int, tmp_path: Path
) -> None:
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(
            command("profile", url, "--seconds", "600", "--json"),
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, env={**os.environ, "PGPASSWORD": PASSWORD},
        )  # fmt: skip
        there = "select count(*) from pg_stat_activity where application_name = 'redolab profile'"
        wait_until(lambda: newest.ask(there) > 0, "it watches")
        process.send_signal(number)
        assert process.wait(timeout=30) == 130
    complaint = (tmp_path / "err").read_text()
    assert "Traceback" not in complaint
    assert "Interrupted: the profile covers the" in complaint
    assert json.loads((tmp_path / "out").read_text())["format"] == 1
    newest.assert_left_clean(url.rpartition("/")[2])


def test_a_password_in_the_url_is_kept_out_of_the_process_list(newest: Server, url: str) -> None:
    with_password = url.replace("postgres@", f"postgres:{PASSWORD}@")
    process = subprocess.Popen(
        command("profile", with_password, "--seconds", "600", "--json"),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name != "PGPASSWORD"},
    )  # fmt: skip
    there = "select count(*) from pg_stat_activity where application_name = 'redolab profile'"
    wait_until(lambda: newest.ask(there) > 0, "it watches")
    shown = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert url.encode() in shown
    assert PASSWORD.encode() not in shown + out + err


def test_a_server_that_goes_for_good_ends_with_3_after_the_report(
    redolab: Redolab, own_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observe_postgres.PostgresObserver, "restart_limit_s", 0.3)
    read = observe_postgres.PostgresObserver.read

    def read_and_stop(observer: observe_postgres.PostgresObserver) -> Any:
        seen = read(observer)
        own_server.stop()
        return seen

    monkeypatch.setattr(observe_postgres.PostgresObserver, "read", read_and_stop)
    ended = redolab("profile", own_server.url(), "--seconds", "600", "--json")
    assert ended.code == 3
    assert "No connection to PostgreSQL" in ended.complaint
    assert json.loads(ended.out)["format"] == 1


def test_nothing_but_one_line_is_said_beside_the_profile(redolab: Redolab, url: str) -> None:
    ended = redolab("profile", url, "--seconds", "0.5", "--json")
    assert ended.err.splitlines() == ["watching for 500 ms"]

"""How a log-in is found: by a program that prints the password, by the variables and services of libpq."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from redolab import open_run
from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.sessions.client import ClientSessions
from redolab.errors import RefusedError
from redolab.password_command import VARIABLE
from tests.conftest import Redolab
from tests.servers import PASSWORD, Server

ROLE = "token_user"


@pytest.fixture
def token(newest: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the password of a role, which a command prints; no other place has it."""
    file = tmp_path / "token"
    file.write_text(f"{PASSWORD}\n")
    monkeypatch.setenv(VARIABLE, f"cat {file}")
    return file


def change(server: Server, role: str, password: str, token: Path) -> None:
    with server.admin() as admin:
        admin.execute(
            sql.SQL("alter role {} password {}").format(sql.Identifier(role), sql.Literal(password))
        )
    token.write_text(password)


def test_sessions_outlive_the_password_that_they_began_with(
    newest: Server, url: str, database: str, token: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    newest.role(ROLE, f"grant connect on database {database} to {ROLE}")
    connector = Connector(newest.url(database, ROLE))
    try:
        with (
            closing(connector.connect("it")) as control,
            closing(ClientSessions(connector, control, 2, 1)) as sessions,
        ):
            change(newest, ROLE, "another", token)
            newest.ask(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity "
                "where application_name like 'redolab session %'"
            )
            before = sessions.pids
            sessions.resize(3)
            assert len(sessions.pids) == 3
            assert set(before).isdisjoint(sessions.pids)
            connector.to_database(database).connect("further").close()
            change(newest, ROLE, "a third", token)
            token.write_text("wrong")
            sessions.resize(1)
            with pytest.raises(RefusedError, match="password authentication failed"):
                sessions.resize(2)
            with pytest.raises(RefusedError, match="password authentication failed"):
                connector.connect("further")
    finally:
        with newest.admin() as admin:
            admin.execute(f"drop owned by {ROLE}".encode())
            admin.execute(f"revoke all on database {database} from {ROLE}".encode())
            admin.execute(f"drop role {ROLE}".encode())


@pytest.mark.parametrize("way", ["variables", "service"])
def test_what_a_url_leaves_open_is_what_libpq_says(
    way: str, newest: Server, url: str, database: str, tmp_path: Path, redolab: Redolab,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    said = {"host": "127.0.0.1", "port": str(newest.port), "user": "postgres", "dbname": database}
    for name, value in _environment(way, said, tmp_path).items():
        monkeypatch.setenv(name, value)
    with psycopg.connect("postgresql://") as by_libpq:
        assert by_libpq.info.dbname == database
    out = tmp_path / "run"
    done = redolab(
        "run", "rows-per-commit", "postgresql://", "--client", "--quick", "--yes",
        "--settings", "1/client,8/client", "--blocks", "2", "--seconds", "0.2", "--out", out,
        "--password-command", f"echo {PASSWORD}",
    )  # fmt: skip
    assert done.code == 0, done.complaint
    run = open_run(out)
    assert f"127.0.0.1:{newest.port}, database {database}" in run.manifest["engine"]["place"]
    assert run.manifest["command"].endswith("--password-command ...")
    assert PASSWORD not in "".join(file.read_text(errors="replace") for file in out.rglob("*.json"))


def _environment(way: str, said: Mapping[str, str], place: Path) -> Mapping[str, str]:
    if way == "variables":
        return {
            "PGHOST": said["host"], "PGPORT": said["port"], "PGUSER": said["user"],
            "PGDATABASE": said["dbname"],
        }  # fmt: skip
    services = place / "services.conf"
    services.write_text("[shop]\n" + "".join(f"{name}={value}\n" for name, value in said.items()))
    assert "PGHOST" not in os.environ
    return {"PGSERVICE": "shop", "PGSERVICEFILE": str(services)}

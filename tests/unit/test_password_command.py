"""A password that a program prints: bounded in time and size, one line, and never said."""

from __future__ import annotations

import sys

import pytest

from redolab import password_command
from redolab.commands.process import command_line
from redolab.engine.mariadb.connecting import target as mariadb
from redolab.engine.oracle.connecting import target as oracle
from redolab.engine.postgres.connecting.connection import Connector
from redolab.errors import RedolabError, RefusedError, UsageError
from redolab.password_command import password_of, use_password_command


@pytest.mark.parametrize(
    ("command", "password"),
    [
        ("printf secret", "secret"),
        ("echo s3cr3t", "s3cr3t"),
        (r"printf 'with blanks \r\n'", "with blanks "),
        ("sh -c 'echo $((6 * 7))'", "42"),
        ("echo 'geheim\u00df'", "geheim\u00df"),
    ],
)
def test_the_line_is_the_password(command: str, password: str) -> None:
    assert password_of(command) == password


@pytest.mark.parametrize(
    ("command", "error", "said"),
    [
        ("", UsageError, "it is empty"),
        ("echo 'secret", UsageError, "cannot be started"),
        ("no-such-vault secret", UsageError, "cannot be started"),
        ("true", RefusedError, "printed nothing"),
        (r"printf 'secret\nsecond\n'", RefusedError, "printed 2 lines"),
        (r"printf 'secret\0'", RefusedError, "zero byte"),
        (r"printf 'secret\377'", RefusedError, "not UTF-8"),
        ("sh -c 'echo secret; exit 3'", RefusedError, "ended with exit code 3"),
        ("sh -c 'echo secret; kill -9 $$'", RefusedError, "ended by the signal SIGKILL"),
        ("yes secret", RefusedError, "more than 65,536 bytes"),
        ("sleep 60", RefusedError, "did not end within"),
        ("sh -c 'exec >&-; sleep 60'", RefusedError, "did not end within"),
    ],
)
def test_anything_else_is_refused_and_nothing_of_it_said(
    command: str, error: type[RedolabError], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(password_command, "_LIMIT_S", 0.5 if "sleep" in command else 30.0)
    with pytest.raises(error, match=said) as refused:
        password_of(command)
    assert "secret" not in str(refused.value).replace("no-such-vault secret", "")


def test_each_connection_asks_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever is set afterwards is gone with the test.
    monkeypatch.setenv(password_command.VARIABLE, "")
    asked: list[str] = []

    def answer(command: str) -> str:
        asked.append(command)
        return f"{len(asked)}"

    for database in (mariadb, oracle):
        monkeypatch.setattr(database, "password_of", answer)
    assert mariadb.read_target("mysql://u@h/").password_command is None
    use_password_command("vault")
    one, other = mariadb.read_target("mysql://u@h/"), oracle.read_target("oracle://u@h/s")
    assert [one.secret(), one.secret(), other.secret()] == ["1", "2", "3"]
    assert asked == ["vault"] * 3
    # A private server is asked for no password, and a guard asks the same command.
    assert Connector("host=/tmp").password_command is None
    connector = Connector("postgresql://u@h/d")
    assert Connector.from_parameters(connector.parameters).password_command == "vault"
    assert connector.to_database("other").password_command == "vault"


@pytest.mark.parametrize("given", [["--password-command", "echo secret"], ["--password-command=echo secret"]])
def test_a_run_keeps_no_password_command(given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["redolab", "run", "commit-mode", *given, "--yes"])
    kept = command_line()
    assert "secret" not in kept
    assert "--yes" in kept
    assert "--password-command" in kept

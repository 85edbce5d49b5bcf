"""Login paths as `mysql_config_editor` keeps them, read as MySQL's own clients read them."""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

import pytest

from redolab import _core
from redolab.engine.mariadb.connecting import login_path
from redolab.engine.mariadb.connecting.target import Target, read_target
from redolab.errors import UsageError
from redolab.parts import MissingPartError

WRITTEN = base64.b64decode(
    "AAAAAAwFFgcUEQASGRoUEBcUFAQGExkFEAAAAFRJcSTyHgP5xgpFXJtaiKcQAAAAw+hQgKQH6KQXe9Bwv/y1tzAAAAAA0qfvPYUvoX+Zh4zODxE6hDeoEqtP4/L+d4tjXy9Yq28jc6z3LCN3UHgeMm7m6p4gAAAA6uYjHf1WO8TJANaMi0W8PkxCBJnUMmpFaUdP7SPE2EcQAAAAq7Di2MJRCIvddtjo+wJBqxAAAADhzNZ3SgiH6meTH7nvWQZdEAAAAKQmjivzTpB5pVYEqWcdlBEgAAAAVw4rxCbZSCly4ezDtfrmNfbwPoIfMMisfkvj/S9ej+8gAAAAkSAnuOV2cGDrtXo8q/8TXqFdRP040TylxB1P8J8xpuogAAAA8LPoEMLIcHCFAzYBuvM7EgoF5w9J1TEQH0AOkFpewUEQAAAAAsipYEC5HidePLpoL1ftLhAAAADu0srBnQONL9rXI8/cbIxYYAAAAD7d5+9qk080c1jrwVtsw/iFT3kjGt1fHJzgKsVPGHfZZYmNAZyPqaYC44cLoOrd80EOcG/vZX3yIGSKSo8N6YTDcpHLceKIUmkL9IMwgcdY4rXOu7t1WPgqd/eDb9g/dhAAAACAibV/CR0HtectKCM2zq40EAAAALOuVrWxboVjsrOR5ghKIR4="
)
"""By mysql_config_editor of MySQL 9.7.4: the paths prod, client, long and empty, in this order."""


def encrypted(*lines: str) -> bytes:
    """A file by the documented format, encrypted by OpenSSL: the reader's own cipher has no part in it."""
    secret = bytes(range(40, 60))
    key = bytearray(16)
    for place, byte in enumerate(secret):
        key[place % 16] ^= byte
    file = bytes(4) + secret
    for line in lines:
        done = subprocess.run(
            ["openssl", "enc", "-aes-128-ecb", "-K", key.hex()],
            input=f"{line}\n".encode(), capture_output=True, check=True,
        )  # fmt: skip
        file += len(done.stdout).to_bytes(4, "little") + done.stdout
    return file


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(login_path, "_said", set())
    for name in ("MYSQL_PWD", "MYSQL_TEST_LOGIN_FILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def keep(file: Path, content: bytes, mode: int = 0o600) -> None:
    file.write_bytes(content)
    file.chmod(mode)


def way(found: Target) -> tuple[str, int, str, str | None]:
    return (found.host, found.port, found.user, found.password)


def test_the_editors_own_file_is_read(home: Path) -> None:
    keep(home / ".mylogin.cnf", WRITTEN)
    assert way(read_target("mysql://")) == ("127.0.0.1", 3306, "me", "short")
    assert read_target("mysql://?login-path=long").password == "0123456789" * 7
    assert read_target("mysql://?login-path=empty").password is None
    # As for MySQL's own clients, a backslash and an s are a space, and the later group holds.
    assert login_path.login_path_options("prod")["port"] == "3307"
    assert way(read_target("mysql://?login-path=prod")) == ("127.0.0.1", 3307, "me", "short")


def test_what_the_command_line_has_comes_first_and_the_ordinary_option_file_last(home: Path) -> None:
    file = encrypted(
        "[client]", 'user = "low"', "[prod]", 'user = "shop"', 'password = "p#a\\"s\\s\\\\"', "port = 3307"
    )
    keep(home / ".mylogin.cnf", file)
    (home / ".my.cnf").write_text("[client]\nuser=last\nhost=db.example\nport=3308\npassword=last\n")
    assert way(read_target("mysql://?login-path=prod")) == ("db.example", 3307, "shop", 'p#a"s \\')
    assert way(read_target("mysql://")) == ("db.example", 3308, "low", "last")
    given = read_target("mysql://other:x@h:1234/?login-path=prod")
    assert way(given) == ("h", 1234, "other", "x")
    assert way(read_target("mysql://other@h/?login-path=prod")) == ("h", 3307, "other", 'p#a"s \\')


def test_the_variable_for_a_password_comes_before_the_files(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(home / ".mylogin.cnf", WRITTEN)
    monkeypatch.setenv("MYSQL_PWD", "of-the-environment")
    assert read_target("mysql://").password == "of-the-environment"


def test_an_empty_password_there_hides_that_of_the_ordinary_file(home: Path) -> None:
    keep(home / ".mylogin.cnf", encrypted("[client]", 'password = ""'))
    (home / ".my.cnf").write_text("[client]\npassword=last\n")
    assert read_target("mysql://h/").password is None


def test_a_socket_there_is_used_as_one_of_the_ordinary_file(home: Path) -> None:
    keep(home / ".mylogin.cnf", encrypted("[client]", 'host = "db.example"', 'socket = "/nowhere/s"'))
    found = read_target("mysql://")
    assert (found.host, found.unix_socket) == ("db.example", None)
    assert read_target("mysql://?unix_socket=/there/s").unix_socket == "/there/s"


def test_the_file_can_lie_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(home / ".mylogin.cnf", encrypted("[client]", 'user = "usual"'))
    keep(home / "other", encrypted("[client]", 'user = "other"'))
    monkeypatch.setenv("MYSQL_TEST_LOGIN_FILE", str(home / "other"))
    assert read_target("mysql://h/").user == "other"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o602, 0o620, 0o700, 0o610])
def test_a_file_that_others_may_open_counts_as_not_there(
    mode: int, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(home / ".mylogin.cnf", encrypted("[client]", 'user = "low"', 'password = "secret"'), mode)
    assert read_target("mysql://u@h/").password is None
    assert read_target("mysql://u@h/").password is None
    said = capsys.readouterr().err
    assert said.count("is ignored, as by MySQL's own clients, because others may read the file") == 1
    assert "secret" not in said
    with pytest.raises(UsageError, match="others may read the file: forbid that with chmod 600"):
        read_target("mysql://u@h/?login-path=client")


def test_a_path_that_is_not_there_is_named(home: Path) -> None:
    with pytest.raises(UsageError, match="login path 'prod' cannot be used: there is no file"):
        read_target("mysql://?login-path=prod")
    keep(home / ".mylogin.cnf", encrypted("[client]", 'password = "secret"'))
    with pytest.raises(UsageError, match="There is no login path 'prod' in") as raised:
        read_target("mysql://?login-path=prod")
    assert "secret" not in str(raised.value)
    assert read_target("mysql://?login-path=").password == "secret"
    assert read_target("mysql://?login-path=client").password == "secret"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it ends too early"),
        (b"[client]\npassword=secret\nuser=me\n", "the length of a line in it is impossible"),
        (encrypted("[client]", 'password = "secret"')[:-1], "it ends too early"),
        (bytes(1 << 17), "it is too long"),
        (bytes(24) + b"\x10\0\0\0" + bytes(16), "a line in it cannot be decrypted"),
        (bytes(24) + b"\xf0\xff\xff\xff", "the length of a line in it is impossible"),
    ],
)
def test_a_file_that_is_none_is_refused_in_a_sentence(content: bytes, why: str, home: Path) -> None:
    keep(home / ".mylogin.cnf", content)
    with pytest.raises(UsageError, match=f"is not a file of login paths: {why}") as raised:
        read_target("mysql://h/")
    assert "secret" not in str(raised.value)


def test_a_pipe_or_a_directory_in_its_place_holds_nobody_up(home: Path) -> None:
    os.mkfifo(home / ".mylogin.cnf")
    assert read_target("mysql://u@h/").password is None
    (home / ".mylogin.cnf").unlink()
    (home / ".mylogin.cnf").mkdir()
    assert read_target("mysql://u@h/").password is None


@pytest.mark.parametrize("port", ["0", "70000", "x", "-1"])
def test_a_port_that_is_none_is_refused(port: str, home: Path) -> None:
    (home / ".my.cnf").write_text(f"[client]\nport={port}\n")
    with pytest.raises(UsageError, match="is not a port"):
        read_target("mysql://h/")
    assert read_target("mysql://h:3306/").port == 3306


def test_without_the_compiled_part_a_sentence_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(_: bytes) -> str:
        raise MissingPartError("Redolab's compiled part is not installed.")

    monkeypatch.setattr(_core, "login_paths", missing)
    assert read_target("mysql://u@h/").password is None
    keep(home / ".mylogin.cnf", WRITTEN)
    assert read_target("mysql://u@h/").password is None
    assert capsys.readouterr().err == (
        "redolab: The login paths in ~/.mylogin.cnf are not read. Redolab's compiled part is not installed.\n"
    )
    with pytest.raises(MissingPartError):
        read_target("mysql://u@h/?login-path=client")


def test_the_password_is_nowhere_to_be_seen(home: Path) -> None:
    keep(home / ".mylogin.cnf", encrypted("[client]", 'password = "secret"'))
    assert "secret" not in repr(read_target("mysql://h/"))

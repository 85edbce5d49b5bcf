"""What ~/.my.cnf says of the way to a server, as the servers' own clients read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.engine.mariadb.connecting.target import read_target


@pytest.mark.parametrize(
    ("file", "query", "mode"),
    [
        ("", "", "preferred"),
        ("ssl-verify-server-cert", "", "verify-identity"),
        ("ssl_verify_server_cert=ON", "", "verify-identity"),
        ("ssl-verify-server-cert=0", "", "preferred"),
        ("skip-ssl-verify-server-cert", "", "preferred"),
        ("skip-ssl", "", "disabled"),
        ("disable-ssl", "", "disabled"),
        ("ssl=0", "", "disabled"),
        ("ssl", "", "preferred"),
        ("ssl-mode=REQUIRED", "", "required"),
        ("ssl-mode=REQUIRED", "ssl-mode=", "required"),
        ("ssl-mode=REQUIRED", "ssl-mode=VERIFY_IDENTITY", "verify-identity"),
        ("skip-ssl\nssl-mode=REQUIRED", "", "required"),
    ],
)
def test_how_a_way_over_the_network_is_protected(
    file: str, query: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".my.cnf").write_text(f"[client]\n{file}\n")
    assert read_target(f"mysql://me@127.0.0.1:3306/?{query}").tls_mode == mode


@pytest.mark.parametrize("option", ["password", "compress", "user", "skip-auto-rehash", "loose-skip-thing"])
def test_an_option_without_a_value_says_nothing(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USER", "me")
    monkeypatch.setenv("LOGNAME", "me")
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    (tmp_path / ".my.cnf").write_text(f"[client]\n{option}\n")
    found = read_target("mysql://127.0.0.1:3306/")
    assert (found.password, found.user) == (None, "me")

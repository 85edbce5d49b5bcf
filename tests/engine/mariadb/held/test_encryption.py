"""How the way to the server is protected: as the URL says, for every connection of a run."""

from __future__ import annotations

import ssl
from contextlib import closing
from pathlib import Path

import pytest

from redolab import _core
from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connecting.target import read_target
from redolab.engine.mariadb.connection import socket_of
from redolab.errors import RefusedError, UsageError
from tests.engine.mariadb.held.conftest import Start
from tests.engine.mariadb.held.holding import account, grants_of
from tests.mariadb import PASSWORD, MariaDB


@pytest.fixture
def mysql(start: Start) -> MariaDB:
    """It makes its own authority and certificate."""
    return start("mysql 9.7")


def encrypted(url: str) -> bool:
    with closing(Connector.to_url(url).connect("a test")) as connection:
        return isinstance(socket_of(connection), ssl.SSLSocket)


def load_is_encrypted(url: str) -> bool:
    """The same of the load's client."""
    connector = Connector.to_url(url)
    connector.connect("a test").close()
    target = connector.target
    sessions = _core.ClientSessions.mysql(
        target.host, target.port, target.unix_socket, target.user, target.password, None,
        tls=target.demanded, ca_file=target.ca_file, peer_uid=target.peer, connect_timeout_s=10.0,
    )  # fmt: skip
    try:
        sessions.resize(1)
        (found,) = sessions.ask(
            "select variable_value from performance_schema.session_status where variable_name = 'Ssl_cipher'",
            [],
        )
    finally:
        sessions.close()
    return bool(found)


def test_each_mode_is_kept_by_both_clients(mysql: MariaDB) -> None:
    authority = mysql.place / "data" / "ca.pem"
    with account(mysql, "bench", *grants_of(mysql)) as url:
        for query, is_it in (
            ("", True),
            ("?ssl-mode=DISABLED", False),
            ("?ssl-mode=PREFERRED", True),
            ("?ssl-mode=REQUIRED", True),
            (f"?ssl-mode=VERIFY_CA&ssl-ca={authority}", True),
            (f"?ssl-ca={authority}", True),
        ):
            assert encrypted(url + query) is is_it, query
            assert load_is_encrypted(url + query) is is_it, query


def test_a_certificate_that_nobody_vouches_for_is_refused(mysql: MariaDB) -> None:
    with account(mysql, "bench") as url:
        for query in ("?ssl-mode=VERIFY_CA", f"?ssl-mode=VERIFY_IDENTITY&ssl-ca={mysql.place}/data/ca.pem"):
            with pytest.raises(RefusedError, match=r"ssl-ca=.*ssl-mode=REQUIRED") as refused:
                encrypted(url + query)
            assert PASSWORD not in str(refused.value)


def test_one_without_a_certificate_is_refused_before_the_password_is_told(start: Start) -> None:
    server = start("mariadb 10.11")
    with account(server, "bench") as url:
        assert not encrypted(url)
        with pytest.raises(RefusedError, match=r"SSL is required.*ssl-mode=PREFERRED"):
            encrypted(f"{url}?ssl-mode=REQUIRED")


@pytest.mark.parametrize(
    ("url", "mode"),
    [
        ("mysql://u@h/", "preferred"),
        ("mysql://u@h/?ssl-mode=VERIFY_IDENTITY", "verify-identity"),
        ("mysql://u@h/?ssl-mode=disabled", "disabled"),
        ("mysql://u@/?unix_socket=/s", "disabled"),
        ("mysql://u@/?unix_socket=/s&ssl-mode=PREFERRED", "disabled"),
        ("mysql://u@/?unix_socket=/s&ssl-mode=REQUIRED", "required"),
        ("mysql://u@/?unix_socket=/s&ssl-mode=VERIFY_IDENTITY", "verify-identity"),
    ],
)
def test_the_mode_of_a_url(url: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_target(url).tls_mode == mode


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("ssl-mode=STRONG", "There is no ssl-mode"),
        ("ssl-ca=/nowhere/ca.pem", "There is no file"),
        ("ssl-mode=REQUIRED&ssl-ca=/dev/null", "does not ask them|There is no file"),
    ],
)
def test_a_protection_that_is_none_is_refused(query: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_target(f"mysql://u@h/?{query}")


def test_the_option_file_says_what_the_url_leaves_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    authority = tmp_path / "ca.pem"
    authority.touch()
    (tmp_path / ".my.cnf").write_text(
        "[mysqldump]\nquick\n[client]\nuser=reader\npassword='a \"b#c'\n"
        f"ssl_ca={authority}\nssl-mode=VERIFY_CA\n"
    )
    it = read_target("mysql://h/")
    assert (it.user, it.password, it.tls_mode, it.ca_file) == (
        "reader", 'a "b#c', "verify-ca", str(authority),
    )  # fmt: skip
    said = read_target("mysql://other:x@h/?ssl-mode=DISABLED&ssl-ca=")
    assert (said.user, said.password, said.tls_mode) == ("other", "x", "disabled")
    (tmp_path / ".my.cnf").write_text("no section")
    assert read_target("mysql://u@h/").password is None

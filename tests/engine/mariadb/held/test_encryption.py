"""How the way to the server is protected: as the URL says, for every connection of a run."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from redolab import _core
from redolab.engine.mariadb.connecting.client import Client
from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connecting.target import read_target
from redolab.engine.mariadb.connection import socket_of
from redolab.engine.mariadb.engine import MariaDBEngine
from redolab.engine.mariadb.observer.observer import MariadbObserver
from redolab.errors import RefusedError, UsageError
from redolab.experiment.forecast_load import check_load
from tests.conftest import Redolab
from tests.engine.mariadb.held.between import InBetween
from tests.engine.mariadb.held.conftest import Start
from tests.engine.mariadb.held.holding import account, grants_of
from tests.mariadb import PASSWORD, MariaDB
from tests.wire import listening


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
    return load_of(connector)


def load_of(connector: Connector, statuses: str = "performance_schema") -> bool:
    """Whether the load's connections are encrypted, of a run whose connections this one opens."""
    target = connector.target
    sessions = _core.ClientSessions.mysql(
        target.host, target.port, target.unix_socket, target.user, target.password, None,
        tls=target.demanded, ca_file=target.ca_file, peer_uid=target.peer, connect_timeout_s=10.0,
    )  # fmt: skip
    try:
        sessions.resize(1)
        (found,) = sessions.ask(
            f"select variable_value from {statuses}.session_status where variable_name = 'Ssl_cipher'",
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


def test_a_socket_is_encrypted_where_that_is_demanded(mysql: MariaDB) -> None:
    authority = mysql.place / "data" / "ca.pem"
    by_socket = f"mysql://root@/?unix_socket={mysql.socket}"
    for query, is_it in (
        ("", False),
        ("&ssl-mode=PREFERRED", False),
        ("&ssl-mode=REQUIRED", True),
        (f"&ssl-mode=VERIFY_CA&ssl-ca={authority}", True),
    ):
        assert encrypted(by_socket + query) is is_it, query
        assert load_is_encrypted(by_socket + query) is is_it, query
    with pytest.raises(RefusedError, match="ssl-ca="):
        encrypted(f"{by_socket}&ssl-mode=VERIFY_IDENTITY&ssl-ca={authority}")


@pytest.fixture(params=["mysql 9.7", "mariadb 11.8"])
def server(request: pytest.FixtureRequest, start: Start) -> MariaDB:
    """Each with TLS."""
    return start(request.param)


@pytest.fixture
def between(server: MariaDB) -> Iterator[InBetween]:
    with listening(InBetween(server.port)) as it:
        yield it
    assert PASSWORD.encode() not in it.heard


def by(between: InBetween, url: str) -> str:
    """The same server by way of somebody in between."""
    return f"{url.rpartition(':')[0]}:{between.port}/"


def test_the_first_connection_says_how_all_are_protected(server: MariaDB, between: InBetween) -> None:
    """Somebody in between who takes TLS away from a later one gets neither control nor load."""
    with account(server, "bench", *grants_of(server)) as url:
        connector = Connector.to_url(by(between, url))
        connector.connect("a test").close()
        between.strips, between.heard = True, b""
        for read_only in (False, True):
            with pytest.raises(RefusedError, match=r"first connection.*was encrypted.*may be intercepting"):
                connector.connect("a test", read_only=read_only)
        # As another process has it, such as the guard.
        with pytest.raises(RefusedError, match="first connection"):
            Connector.from_parameters(connector.parameters).connect("a test")
        with pytest.raises(ConnectionError, match="does not support TLS, which is required"):
            load_of(connector)
        assert b"bench" not in between.heard


def test_a_watch_that_connects_again_is_not_less_protected(server: MariaDB, between: InBetween) -> None:
    with (
        account(server, "bench", *grants_of(server)) as url,
        closing(MariadbObserver(by(between, url), 1)) as watching,
    ):
        between.strips = True
        assert watching._target.demanded == "required"
        with pytest.raises(RefusedError, match="first connection"):
            watching.open()


def test_a_password_that_must_be_sent_is_not_sent_to_who_takes_tls_away(
    server: MariaDB, between: InBetween
) -> None:
    """MySQL wants the password itself of a user whom it has not seen since it started."""
    between.strips = True
    with account(server, "bench", *grants_of(server)) as url:
        if server.flavour == "mysql":
            with pytest.raises(RefusedError, match=r"password itself.*without TLS: require TLS"):
                encrypted(by(between, url))
        assert b"BEGIN PUBLIC KEY" not in between.heard
        for mode in ("REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"):
            with pytest.raises(RefusedError, match="SSL is required"):
                encrypted(f"{by(between, url)}?ssl-mode={mode}")


def test_what_is_not_encrypted_is_said_wherever_its_figures_are(
    server: MariaDB, between: InBetween, monkeypatch: pytest.MonkeyPatch, redolab: Redolab
) -> None:
    with account(server, "bench", *grants_of(server)) as url:
        statuses = "performance_schema" if server.flavour == "mysql" else "information_schema"
        encrypted(url)  # The server has seen the user now, and wants no password by itself.
        between.strips = True
        stripped = by(between, url)

        def told(is_encrypted: bool = False) -> tuple[tuple[bool, ...], str]:
            """Whether the question, the report's conditions and a profile say it; and the doctor's words."""
            connector = Connector.to_url(stripped)
            with closing(MariaDBEngine(connector, None, 1)) as engine:
                load, levels = check_load(2, "client", "system"), [{"commit_wait": "wait"}]
                notes = " ".join(engine.introduce(load, levels, 0, None).notes)
                conditions = " ".join(engine.conditions())
            assert load_of(connector, statuses) is is_encrypted
            with closing(MariadbObserver(stripped, 1)) as watching:
                first, second = watching.read(), watching.read()
            assert not any("not encrypted" in text for text in second.warnings)
            monkeypatch.setenv("MYSQL_PWD", PASSWORD)
            done = redolab("doctor", "--engine", stripped.replace(f":{PASSWORD}", ""))
            said = (notes, conditions, " ".join(first.warnings))
            return tuple("not encrypted" in text for text in said), " ".join(done.out.split())

        where, doctor = told()
        assert where == (True, False, False)
        assert "The connection ends on this machine" in doctor
        monkeypatch.setattr(Client, "address", "192.0.2.7")
        where, doctor = told()
        assert where == (True, True, True)
        assert "can read and change everything that is sent" in doctor
        between.strips = False
        where, doctor = told(is_encrypted=True)
        assert where == (False, False, False)
        assert "encrypted (TLS)" in doctor


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
        ("ssl-mode=STRONG", "Unknown ssl-mode"),
        ("ssl-ca=/nowhere/ca.pem", "that file does not exist"),
        ("ssl-mode=REQUIRED&ssl-ca=/dev/null", "does not check certificates|that file does not exist"),
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

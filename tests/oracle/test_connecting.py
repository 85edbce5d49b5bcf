"""Connecting to Oracle: what is refused is refused in a sentence that says what to do."""

from __future__ import annotations

import socket

import pytest
from seerdb.common.tns_consts import FIELD_VERSION_11_2

from redolab.engine.oracle.connecting.connection import ask, connect, fetch, release
from redolab.engine.oracle.connecting.target import Target, read_target
from redolab.errors import RefusedError, UsageError
from redolab.url_secrets import ORACLE_PASSWORD, take_secrets
from tests.oracle.instance import Busy, Instance
from tests.oracle.replay import Replayed, replayed, statements


def test_every_statement_is_understood_at_every_dialect(server: Replayed) -> None:
    Busy(server.instance).second()
    server.instance.tables = {"REDOLAB_RUN": 1}
    server.instance.holders = [{"mark": "0" * 32, "role": "run", "sid": 1, "serial": 1}]
    connection = connect(read_target(server.url), "redolab profile")
    try:
        assert release(connection) // 100 == server.instance.release // 100
        for item in statements(server.instance.release).values():
            assert fetch(connection, item.name), item.name
        (self,) = fetch(connection, "select_self")
        assert self["username"] == "WATCHER"
        found = {row["name"]: row["value"] for row in fetch(connection, "select_parameters")}
        assert found == server.instance.parameters
        assert found["commit_wait"] is None
    finally:
        connection.close()


def test_a_statement_that_no_file_has_fails_the_test(instance: Instance) -> None:
    def send() -> None:
        with replayed(instance) as server:
            connection = connect(read_target(server.url), "redolab")
            try:
                with pytest.raises(Exception, match="ORA-00900"):
                    ask(connection, "select 1 from dual")
            finally:
                connection.close()

    with pytest.raises(AssertionError):
        send()
    assert instance.unknown == ["select 1 from dual"]


@pytest.mark.parametrize("release", [2103], indirect=True)
def test_a_wrong_password_is_told_without_showing_it(
    server: Replayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ORACLE_PASSWORD, "lion")
    with pytest.raises(
        RefusedError, match=r"ORA-01017.*REDOLAB_ORACLE_PASSWORD keeps the password out"
    ) as caught:
        connect(read_target(server.url), "redolab")
    assert "lion" not in str(caught.value)
    assert "https://" not in str(caught.value)


@pytest.mark.parametrize("release", [1202], indirect=True)
def test_oracle_11_is_refused_with_the_reason_and_the_way_by_reports(instance: Instance) -> None:
    with (
        replayed(instance, field_version=FIELD_VERSION_11_2) as server,
        pytest.raises(RefusedError, match=r"DPY-3010.*12\.1 and newer.*redolab import awr"),
    ):
        connect(read_target(server.url), "redolab")


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(RefusedError, match=rf"127\.0\.0\.1:{port}/shop.*Does the listener run on that host"):
        connect(Target("127.0.0.1", port, "shop", "watcher", "x"), "redolab")


def test_a_host_that_nobody_knows() -> None:
    with pytest.raises(RefusedError, match=r"Is the name of the host right") as caught:
        connect(Target("no-such-host.invalid", 1521, "shop", "watcher", "x"), "redolab")
    assert "Errno" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("oracle://u@h/s", ("h", 1521, "s", "u", None, "tcp", None)),
        ("oracle://u:p%40w@h:1522/s.example", ("h", 1522, "s.example", "u", "p@w", "tcp", None)),
        (
            "oracle://u@[::1]:1521/s?protocol=tcps&server=shared",
            ("::1", 1521, "s", "u", None, "tcps", "shared"),
        ),
    ],
)
def test_a_url_is_read(
    url: str, expected: tuple[str | int | None, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ORACLE_PASSWORD, raising=False)
    it = read_target(url)
    assert (it.host, it.port, it.service, it.user, it.password, it.protocol, it.server) == expected
    assert "p@w" not in f"{it!r} {it.place}"


@pytest.mark.parametrize(
    "url",
    [
        "oracle://u@h", (
            "oracle://u@h:1521"
        ), "oracle://u@h:70000/s", "oracle://u@h/s?sid=x", "oracle://u@h/s)(x",
        "oracle://u@h/s?server=own", "oracle://u@h/s?protocol=ipc", "oracle://u@h/s?wallet=/nowhere",
        "oracle://u@h/s%29%28ADDRESS=x", "oracle:///s",
    ],
)  # fmt: skip
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        read_target(url)


def test_the_password_of_a_url_goes_into_the_environment() -> None:
    kept: dict[str, str] = {}
    assert take_secrets("--engine=oracle://u:p%40w@h/s", kept) == "--engine=oracle://u@h/s"
    assert kept == {ORACLE_PASSWORD: "p@w"}

"""Whatever a server sends, the clients end with an error in words, within their time, and take little memory.

`REDOLAB_HOSTILE_ROUNDS` asks for more rounds than the few that always run, `REDOLAB_HOSTILE_SEED` for others.
"""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest

from redolab import _core
from redolab.engine.postgres.connecting.connection import Connector
from redolab.errors import RedolabError
from tests.engine.clients import begin
from tests.engine.hostile import A_SESSION, Hostile, Script, hostile, script
from tests.engine.tls import HOST, Certificates
from tests.servers import PASSWORD, in_a_process

ROUNDS = int(os.environ.get("REDOLAB_HOSTILE_ROUNDS", "80"))
FIRST_SEED = int(os.environ.get("REDOLAB_HOSTILE_SEED", "1"))
LIMIT_S = 0.5
# What the kernel holds of a connection besides.
MOST_BYTES = 24 << 20
# Beside others on the machine; far from the half minute and more of a client that hangs.
PATIENCE_S = 15.0


@pytest.fixture(scope="module")
def enemy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    made = Certificates(tmp_path_factory.mktemp("hostile"))
    made.self_signed("own", f"/CN={HOST}")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.crt("own"), made.key("own"))
    with hostile(context) as server:
        yield server


def provoke_the_load(enemy: Hostile, encrypted: bool, direct: bool = False) -> str:
    """What a session of the load says of the server; empty where all went well."""
    tls = _core.ClientTls(HOST, None, False, None, ["1.2", "1.3"], direct, True) if encrypted else None
    sessions = _core.ClientSessions(
        "127.0.0.1", enemy.port, "somebody", PASSWORD, "postgres", "", tls=tls, channel_binding="prefer",
        allowed=["none", "password", "md5", "scram-sha-256"], peer_uid=None, connect_timeout_s=LIMIT_S,
    )  # fmt: skip
    with closing(sessions):
        try:
            sessions.resize(1)
        except ConnectionError as error:
            return str(error)
        begin(sessions, "insert", 0.1)
        done = sessions.wait(1.0)
        if done is None:
            sessions.interrupt()
            done = sessions.wait(PATIENCE_S)
        assert done is not None
        return "; ".join(session.trouble or "" for session in done.sessions)


def test_the_load_survives_any_server(enemy: Hostile, capfd: pytest.CaptureFixture[str]) -> None:
    said = []
    for seed in range(FIRST_SEED, FIRST_SEED + ROUNDS):
        enemy.script, enemy.most_sent = script(seed), 0
        began = time.monotonic()
        words = provoke_the_load(enemy, encrypted=enemy.script.tls != "none")
        assert time.monotonic() - began < PATIENCE_S, seed
        assert enemy.most_sent < MOST_BYTES, seed
        assert "fault of Redolab's" not in words, seed
        said.append(words)
    assert "panicked" not in capfd.readouterr().err
    # Some got far enough to work, and most were told what was wrong.
    assert len(set(said)) > 5
    assert any(words == "" or "died" in words or "closed" in words for words in said)


def test_a_direct_handshake_is_with_a_postgresql_alone(enemy: Hostile) -> None:
    """No server here can do it (`sslnegotiation=direct` needs version 17 with TLS), so this one must."""
    enemy.script = Script(list(A_SESSION))
    try:
        enemy.context.set_alpn_protocols(["postgresql"])
        assert "PostgreSQL's protocol over a direct" not in provoke_the_load(enemy, True, direct=True)
        enemy.context.set_alpn_protocols([])
        assert "PostgreSQL's protocol over a direct" in provoke_the_load(enemy, True, direct=True)
    finally:
        enemy.context.set_alpn_protocols(["postgresql"])


def test_the_control_connection_survives_any_server(enemy: Hostile) -> None:
    refused = 0
    for seed in range(FIRST_SEED, FIRST_SEED + ROUNDS // 4):
        enemy.script = script(seed)
        if enemy.script.ending == "stall":
            continue
        connector = Connector(f"postgresql://somebody@127.0.0.1:{enemy.port}/postgres?connect_timeout=2")
        began = time.monotonic()
        with suppress(RedolabError):
            refused += 1
            connector.connect("redolab test").close()
            refused -= 1
        assert time.monotonic() - began < PATIENCE_S, seed
    assert refused > ROUNDS // 10


def test_a_server_that_stalls_before_the_log_in_is_left(enemy: Hostile) -> None:
    enemy.script = Script([b""], "none", "stall")
    url = f"postgresql://somebody@127.0.0.1:{enemy.port}/postgres?connect_timeout=2"
    began = time.monotonic()
    done = in_a_process("profile", url, "--seconds", "0.5")
    assert time.monotonic() - began < PATIENCE_S
    assert done.code == 3
    assert "Nothing answered the log-in in time" in done.complaint


def test_what_a_server_says_is_passed_on_by_profile(enemy: Hostile) -> None:
    for number in range(3):
        enemy.script = script(FIRST_SEED + number)
        enemy.script.blocks, enemy.script.ending = enemy.script.blocks[:1], "close"
        url = f"postgresql://somebody@127.0.0.1:{enemy.port}/postgres?connect_timeout=2"
        done = in_a_process("profile", url, "--seconds", "0.5", environment={"PGPASSWORD": PASSWORD})
        assert done.code == 3
        assert "No connection to PostgreSQL" in done.complaint
        assert PASSWORD not in done.err

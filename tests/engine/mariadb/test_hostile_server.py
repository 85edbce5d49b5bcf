"""Whatever answers in the place of a MySQL or MariaDB, each command ends in one sentence, in time and memory.

`REDOLAB_HOSTILE_ROUNDS` asks for more rounds than the few that always run, `REDOLAB_HOSTILE_SEED` for others.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from redolab import _core
from redolab.engine.mariadb.answers import StrangeAnswerError
from redolab.engine.mariadb.connecting import client
from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.engine import MariaDBEngine
from redolab.engine.mariadb.observer import observer
from redolab.errors import RedolabError
from redolab.experiment.forecast_load import check_load
from tests.conftest import Redolab
from tests.engine.mariadb.hostile import (
    LONG,
    TEXT,
    TLS,
    Harm,
    Hostile,
    changed,
    column,
    drip,
    end,
    error,
    flood,
    greeting,
    ok,
    packet,
    peak_bytes,
    raw,
    row,
    says,
    seeded,
    silent,
    switch,
)
from tests.mariadb import PASSWORD
from tests.servers import Ended
from tests.wire import listening

ROUNDS = int(os.environ.get("REDOLAB_HOSTILE_ROUNDS", "24"))
FIRST_SEED = int(os.environ.get("REDOLAB_HOSTILE_SEED", "1"))
IS_LONG = "REDOLAB_HOSTILE_ROUNDS" in os.environ
# Of a whole answer and of silence here, in place of half a minute and 10 s.
LIMIT_S = 0.8
# Beside others on the machine; far from one that hangs.
ENDS_S = 20.0
# What an answer may take and what its bytes take beside their decoded form; 5.7 GB once.
MOST_MORE = 320 << 20
COMMANDS = ("profile", "doctor", "watch", "run")
_HEAD = (b"\x01", column("a", TEXT), end())
_WIDE = (b"\xfc\x00\x10", *[column("a", TEXT)] * 4096, end())
_DIGITS = "9" * 100_000
ANY = "SHOW GLOBAL|AS connection|show processlist|AS thread|@@version"

HARMS: dict[str, Harm] = {
    "a file of this machine": says(b"\xfb/etc/passwd"),
    "an empty packet": says(b""),
    "an answer cut off": raw(packet(1, b"\x01")[:3]),
    "a packet that is shorter than it says": raw(b"\xff\xff\xff\x01abc"),
    "a text that is shorter than it says": says(*_HEAD, b"\xfe" + b"\xff" * 7 + b"\x7fabc", end()),
    "a head that is cut off": says(b"\x01", column("a", TEXT)[:9], end(), end()),
    "a number of 100,000 digits": changed(lambda _, value: _DIGITS if isinstance(value, int) else value),
    "texts without end": changed(lambda *_: _DIGITS),
    "other columns": changed(lambda _, value: value, lambda name: f"{name}_"),
    "the same column twice": changed(lambda _, value: value, lambda _: "version"),
    "nulls": changed(lambda *_: None),
    "words in place of numbers": changed(lambda _, value: "abc" if isinstance(value, int) else value),
    "negative numbers": changed(lambda _, value: -5 if isinstance(value, int) else value),
    "numbers beyond 64 bits": changed(lambda _, value: 1 << 70 if isinstance(value, int) else value),
    "what is not UTF-8": changed(lambda _, value: b"\xff\xfe" if isinstance(value, str) else value),
    "empty texts": changed(lambda *_: ""),
    "no row": says(*_HEAD, end()),
    "a row without a value": says(*_HEAD, b"", end()),
    "more columns than there are": says(b"\xfe" + b"\xff" * 7 + b"\x7f"),
    "columns without end": flood((b"\xfc\xff\xff",), column("a", LONG)),
    "no column": says(b"\0\0"),
    "rows without end": flood(_HEAD, row(["x" * 40])),
    "empty rows without end": flood(_HEAD, row([None])),
    "wide rows without end": flood(_WIDE, row([None] * 4096)),
    "packets of a megabyte without end": flood(_HEAD, row(["x" * 1_000_000])),
    "results without end": flood((), ok(8)),
    "results of rows without end": flood((), ok(10)),
    "a row now and then": drip(_HEAD, row(["x"]), 0.1),
    "an OK now and then": drip((), ok(8), 0.1),
    "nothing": silent,
    "a switch of the log-in": says(switch("mysql_clear_password")),
    "a switch of the log-in to the old one": says(b"\xfe"),
    "more of a log-in": says(b"\x01\x04"),
    "an error without words": says(b"\xff"),
    "an error that is not UTF-8": says(error(1105, b"\xff\xfe\x1b[2J" * 90_000)),
    "another number of its packet": raw(packet(77, ok())),
    "nothing more": raw(b""),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Hostile]:
    with listening(Hostile()) as it:
        yield it


@pytest.fixture
def enemy(server: Hostile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hostile]:
    """Lets the password be told."""
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(observer.MariadbObserver, "restart_limit_s", 0.0)
    server.reset()
    yield server
    server.let_go.set()
    assert PASSWORD.encode() not in server.heard


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redolab waits for less time than elsewhere."""
    for name in ("MOST_ANSWER_S", "MOST_LOG_IN_S", "PATIENCE_S"):
        monkeypatch.setattr(client, name, LIMIT_S)


@pytest.fixture
def ended(enemy: Hostile, redolab: Redolab, tmp_path: Path) -> Redolab:
    """Runs a command against the enemy, and makes sure that it ends in one sentence."""

    def run(name: str) -> Ended:
        url = f"mysql://me@127.0.0.1:{enemy.port}/"
        began = time.monotonic()
        done = redolab(
            *{
                "profile": ("profile", url, "--seconds", "0.5"),
                "doctor": ("doctor", "commit-mode", "--engine", url),
                "watch": ("watch", url, "--out", tmp_path / "watched", "--seconds", "2"),
                "run": ("run", "commit-mode", "--engine", url, "--quick", "--yes", "--out", tmp_path / "run"),
            }[name]
        )
        assert time.monotonic() - began < ENDS_S
        assert done.code == 3, done.err
        assert "Traceback" not in done.err
        assert PASSWORD not in done.err + done.out
        last = done.err.strip().splitlines()[-1]
        assert last.startswith("redolab: "), done.err
        assert last.endswith("."), last
        assert len(last) < 1_000
        return done

    return run


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("number", range(len(HARMS)), ids=list(HARMS))
def test_each_command_ends_in_one_sentence(number: int, enemy: Hostile, ended: Redolab) -> None:
    enemy.harms = ((ANY, list(HARMS.values())[number]),)
    # Each meets two of them here, and `make long` lets it meet all.
    commands = COMMANDS if IS_LONG else (COMMANDS[number % 4], COMMANDS[(number + 2 + number // 4 % 2) % 4])

    def provoke() -> None:
        for name in commands:
            ended(name)

    assert peak_bytes(provoke) < MOST_MORE
    assert enemy.done


SWITCHES = {
    "mysql_clear_password": "password itself", "sha256_password": "password itself", "dialog": "by dialog",
    "mysql_old_password": "by mysql_old_password",
    "client_ed25519": "by client_ed25519", "parsec": "by parsec",
    "auth_gssapi_client": "by auth_gssapi_client",
}  # fmt: skip
_KEY = b"\x01-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAK\n-----END PUBLIC KEY-----\n"
_SHA2 = "caching_sha2_password"


@pytest.mark.parametrize(
    ("first", "log_in", "said"),
    [
        *((greeting(), (switch(plugin), ok()), said) for plugin, said in SWITCHES.items()),
        (greeting(_SHA2), (b"\x01\x04", _KEY, ok()), "password itself"),
        (greeting(), (switch(_SHA2), b"\x01\x04", _KEY, ok()), "password itself"),
        (greeting("sha256_password"), (_KEY, ok()), "password itself"),
        (greeting("mysql_clear_password"), (b"\x01\x04", ok()), "password itself"),
        (greeting("dialog"), (b"\x01\x04", ok()), "by dialog"),
        (greeting(), (switch("mysql_native_password"), switch("mysql_clear_password"), ok()), "multiple"),
        (greeting(_SHA2), (_KEY, ok()), "not MySQL's protocol"),
        (greeting(), (b"\x01\x04", ok()), "not MySQL's protocol"),
        (greeting(), (b"\xfe", ok()), "unknown auth switch"),
        (greeting(), (b"\xfe" + b"x" * 60_000 + b"\0", ok()), "a log-in by x"),
        (greeting(), (b"",), "not MySQL's protocol"),
        (greeting(), (b"\0",), "unexpected packet"),
        (greeting("\N{SNOWMAN}"), (ok(),), "not MySQL's protocol"),
        (b"", (ok(),), "not MySQL's protocol"),
        (b"\x0a", (ok(),), "not MySQL's protocol"),
        (b"\x0aabc\0" + bytes(60), (ok(),), "not MySQL's protocol"),
        (b"\x0a" + b"1" * 500_000 + b"\0" + bytes(60), (ok(),), "not MySQL's protocol"),
        (greeting() + bytes(2_000_000), (ok(),), "more than 1,048,576 bytes"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", (ok(),), "not MySQL's protocol"),
        (error(1130, b"Host is not allowed", b""), (ok(),), "Host is not allowed"),
        (greeting(capabilities=0x0001), (ok(),), ""),
        (greeting(capabilities=0xFFFF & ~TLS), (switch("mysql_clear_password"), ok()), "unknown auth switch"),
    ],
)  # fmt: skip
def test_a_log_in_gives_nothing_away(
    first: bytes, log_in: tuple[bytes, ...], said: str, enemy: Hostile, ended: Redolab
) -> None:
    enemy.greeting, enemy.log_in = first, log_in
    enemy.harms = (("", says(b"\xff")),)
    done = ended(COMMANDS[len(first + b"".join(log_in)) % 4])
    assert said in done.err


@pytest.mark.usefixtures("hasty")
def test_a_log_in_has_a_limit_of_time_for_the_whole(enemy: Hostile, ended: Redolab) -> None:
    enemy.every_s = LIMIT_S / 8
    assert "was not done within" in ended("profile").err


def test_a_log_in_that_goes_on_for_ever_ends(enemy: Hostile, ended: Redolab) -> None:
    enemy.greeting = greeting(_SHA2)
    enemy.log_in = (b"".join(packet(number, b"\x01\x03") for number in range(3, 200_000)),)
    assert "more than 1,048,576 bytes" in ended("doctor").err


def test_the_load_tells_no_secret_either(enemy: Hostile) -> None:
    """What the compiled client says to the same log-ins."""
    full = 0xFFFFFFFF & ~(1 << 5) & ~TLS
    for plugin, said in SWITCHES.items():
        enemy.greeting, enemy.log_in = greeting(capabilities=full), (switch(plugin), ok())
        sessions = _core.ClientSessions.mysql(
            "127.0.0.1", enemy.port, None, "me", PASSWORD, None, tls="disabled", ca_file=None, peer_uid=None,
            connect_timeout_s=LIMIT_S,
        )  # fmt: skip
        with closing(sessions), pytest.raises(ConnectionError, match=said):
            sessions.resize(1)


@pytest.mark.usefixtures("hasty")
def test_any_damage_ends_in_words(enemy: Hostile) -> None:
    """By seed: some bytes of some answer, at some moment, to what watches and to what is to run."""
    url = f"mysql://me@127.0.0.1:{enemy.port}/"
    connector = Connector.to_url(url)
    load = check_load(2, "client", "system")
    outcomes = set()
    for seed in range(FIRST_SEED, FIRST_SEED + ROUNDS):
        enemy.let_go.set()
        enemy.reset()
        draw = random.Random(seed)
        enemy.harms, enemy.spared = (("", seeded(seed)),), draw.randint(3, 24)
        began = time.monotonic()
        try:
            if seed % 2:
                with closing(observer.MariadbObserver(url, seed)) as watching:
                    watching.read()
            else:
                engine = MariaDBEngine(connector, None, seed)
                with closing(engine):
                    engine.introduce(load, [{"commit_wait": "wait"}], 0, None)
                    engine.conditions()
            outcomes.add("")
        except RedolabError as refused:
            outcomes.add(str(refused))
        assert time.monotonic() - began < ENDS_S, seed
    assert len(outcomes) > 3


def test_a_connection_ends_where_its_answers_do(enemy: Hostile) -> None:
    """After an answer that is none nothing is read from that connection any more."""
    connector = Connector.to_url(f"mysql://me@127.0.0.1:{enemy.port}/")
    enemy.harms = (("version", flood(_WIDE, row([None] * 4096))),)
    with suppress(RedolabError):
        opened = connector.connect("a test", read_only=True)
        with closing(opened), suppress(StrangeAnswerError):
            opened.query("select version()")
        assert not opened.open

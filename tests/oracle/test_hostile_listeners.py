"""Listeners and servers that mean harm: each ends in a sentence, within a limit, and nothing goes on."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from redolab.bounds import MOST_SOCKETS
from redolab.engine import open_observer
from redolab.engine.oracle.connecting import connection as connecting
from redolab.engine.oracle.connecting.connection import connect
from redolab.engine.oracle.connecting.target import Target
from redolab.engine.oracle.observer import observer as observing
from redolab.errors import RedolabError, RefusedError
from tests.oracle.instance import Busy, Instance
from tests.oracle.listeners import (
    ACCEPT,
    DATA,
    MARKER,
    REFUSE,
    RESEND,
    WAYS,
    Answer,
    always,
    dripping,
    flood,
    listener,
    packet,
    redirect,
    silent,
    spoiling,
    to_itself,
)
from tests.oracle.replay import replayed

_LIMIT_S = 1.0
_PATIENCE_S = 20.0
"""Much longer than any limit here; a hang takes longer."""
_LONG = b"(DESCRIPTION=(ERR=12514)" + b"x" * 60_000
ANSWERS: dict[str, Answer] = {
    "resend for ever": always(packet(RESEND)),
    "resend without being asked": flood(packet(RESEND) * 100),
    "markers for ever": flood(packet(MARKER, b"\1\0\2") * 100),
    "silence": silent,
    "a drip": dripping,
    "back to itself": to_itself,
    "to nobody": always(redirect("(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.1)(PORT=1))")),
    "to no address": always(redirect("(((((")),
    "a short acceptance": always(packet(ACCEPT, b"\1")),
    "an acceptance that lies": always(packet(ACCEPT, b"\1\x3e" * 10, length=60_000)),
    "an acceptance of another version": always(packet(ACCEPT, b"\1" * 50)),
    "an error without an end": flood(packet(REFUSE, b"\0\0\xff\xff" + _LONG)),
    "data": always(packet(DATA, b"\0\0" + b"\xff" * 200)),
    "zeros": flood(bytes(60_000)),
    "another protocol": always(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
}


def target(port: int, **how: str) -> Target:
    return Target("127.0.0.1", port, "shop", "watcher", "x", **how)


def nobody_waits() -> bool:
    """Whether no thread of a log-in is left, once it had the time to end."""
    give_up_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < give_up_s:
        left = [item for item in threading.enumerate() if item.name == "waited for"]
        if not left:
            return True
        left[0].join(0.1)
    return False


def watched(url: str) -> bool:
    """Watches a server, and says whether that was refused or broken off."""
    try:
        with closing(open_observer(url, 1)) as observer:
            observer.read()
            observer.read()
    except RedolabError:
        return True
    return False


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_log_in_ends_whatever_the_listener_says(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "MOST_LOG_IN_S", _LIMIT_S)
    began = time.monotonic()
    with listener(answer) as port:
        with pytest.raises(
            RefusedError, match=rf"No connection to Oracle at 127\.0\.0\.1:{port}/shop: "
        ) as told:
            connect(target(port), "redolab profile")
        assert time.monotonic() - began < _PATIENCE_S
        assert len(str(told.value)) < 2000
        assert nobody_waits()


def test_tls_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "MOST_LOG_IN_S", _LIMIT_S)
    with listener(silent) as port:
        with pytest.raises(RefusedError, match="the log-in did not end within 1 s"):
            connect(target(port, protocol="tcps"), "redolab profile")
        assert nobody_waits()


def test_a_client_is_not_sent_on_for_ever() -> None:
    clients: list[int] = []

    def count(client: object, port: int) -> None:
        clients.append(port)
        to_itself(client, port)  # type: ignore[arg-type]

    with listener(count) as port, pytest.raises(RefusedError, match=f"more than {MOST_SOCKETS} times"):
        connect(target(port), "redolab profile")
    assert len(clients) <= MOST_SOCKETS


def test_a_stop_ends_a_log_in(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    stop.set()
    with listener(always(packet(RESEND))) as port:
        with pytest.raises(RefusedError, match="did not end after the interruption"):
            connect(target(port), "redolab run", stop=stop)
        assert nobody_waits()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["profile", "doctor"])
def test_a_signal_ends_the_process_in_the_middle_of_a_log_in(command: str, number: signal.Signals) -> None:
    asked = threading.Event()

    def answer(client: object, _port: int) -> None:
        asked.set()
        always(packet(RESEND))(client, 0)  # type: ignore[arg-type]

    with listener(answer) as port:
        url = f"oracle://u:x@127.0.0.1:{port}/shop"
        words = [command, *(["--engine"] if command == "doctor" else []), url]
        with subprocess.Popen(
            [sys.executable, "-m", "redolab.cli", *words],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            try:
                assert asked.wait(_PATIENCE_S)
                process.send_signal(number)
                assert process.wait(_PATIENCE_S / 2) == 130
            finally:
                process.kill()


# The replayed server is a client's victim here, and says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("release", [2103], indirect=True)
@pytest.mark.parametrize("way", WAYS)
def test_whatever_a_server_says_in_the_middle_ends_in_a_sentence(
    way: str, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("MOST_LOG_IN_S", _LIMIT_S), ("_ANSWERS_S", _LIMIT_S)):
        monkeypatch.setattr(connecting, name, value)
    monkeypatch.setattr(observing.OracleObserver, "restart_limit_s", 0.0)
    monkeypatch.setattr(observing, "_AFTER_BREAK_S", 0.0)
    Busy(instance).second()
    rng = random.Random(WAYS.index(way))
    told = 0
    with replayed(instance) as server:
        real = int(server.url.rsplit(":", 1)[1].split("/")[0])
        for seed in range(4):
            after = rng.randrange(40, 12_000)
            with listener(spoiling(real, way, after, seed)) as port:
                began = time.monotonic()
                told += watched(server.url.replace(str(real), str(port)))
                assert time.monotonic() - began < _PATIENCE_S
                assert nobody_waits()
    assert told

"""`redolab profile URL` on a terminal, against a real server."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator

import pytest

from tests.servers import PASSWORD, PATIENCE_S, Server

_ENTER, _LEAVE = "\x1b[?1049h", "\x1b[?1049l"
_ESCAPE = re.compile(r"\x1b(\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07]*\x07|[ -Z\\-~])")
_RUN = "import sys; from redolab import cli; sys.argv[0] = 'redolab'; {before}; cli.main()"
_GIVE_UP_SOON = (
    "from redolab.engine.postgres.observer import observer as o; o.PostgresObserver.restart_limit_s = 0.3"
)


class Terminal:
    """A terminal of 100 columns and 30 lines with `redolab profile` on it."""

    def __init__(self, url: str, before: str) -> None:
        here, there = pty.openpty()
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _RUN.format(before=before), "profile", url],
            stdin=there, stdout=there, stderr=there, start_new_session=True,
            env={**os.environ, "PGPASSWORD": PASSWORD, "TERM": "xterm-256color"},
        )  # fmt: skip
        os.close(there)
        self._terminal = here
        self.raw = ""

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def read(self, seconds: float) -> bool:
        """Read what was written meanwhile; whether there may be more."""
        if not select.select([self._terminal], [], [], seconds)[0]:
            return True
        try:
            new = os.read(self._terminal, 65_536)
        except OSError:  # The other side is closed.
            return False
        self.raw += new.decode("utf-8", "replace")
        return bool(new)

    def see(self, text: str) -> None:
        """Wait until `text` was written."""
        give_up = time.monotonic() + PATIENCE_S
        while text not in _ESCAPE.sub("", self.raw):
            assert time.monotonic() < give_up, f"in vain: {text!r}"
            assert self.read(0.1), self.raw

    def ended(self) -> int:
        """Wait for the end; the exit code."""
        give_up = time.monotonic() + PATIENCE_S
        while self.read(0.1):
            assert time.monotonic() < give_up, "it does not end"
        return self.process.wait(timeout=PATIENCE_S)

    @property
    def afterwards(self) -> str:
        """What stands on the ordinary screen when the other one is gone."""
        assert self.raw.count(_ENTER) == self.raw.count(_LEAVE) == 1
        return _ESCAPE.sub("", self.raw.partition(_LEAVE)[2]).strip()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._terminal)


@pytest.fixture
def terminal(url: str) -> Iterator[Terminal]:
    """The live screen of the newest server."""
    made = Terminal(url, "pass")
    yield made
    made.close()


@pytest.mark.parametrize("key", ["q", "\x03"], ids=["q", "Ctrl-C"])
def test_a_key_ends_it_and_nothing_is_left(terminal: Terminal, newest: Server, url: str, key: str) -> None:
    terminal.see("of PostgreSQL 18")
    terminal.type("5")
    terminal.see("read from server memory")
    terminal.type(key)
    assert terminal.ended() == 0
    assert terminal.afterwards == ""
    newest.assert_left_clean(url.rpartition("/")[2])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_130(terminal: Terminal, newest: Server, url: str, number: int) -> None:
    terminal.see("of PostgreSQL 18")
    terminal.process.send_signal(number)
    assert terminal.ended() == 130
    assert terminal.afterwards == "redolab: Interrupted; nothing is left behind."
    newest.assert_left_clean(url.rpartition("/")[2])


def test_a_server_that_goes_for_good_ends_it_with_3(own_server: Server) -> None:
    terminal = Terminal(own_server.url(), _GIVE_UP_SOON)
    try:
        terminal.see("of PostgreSQL 18")
        own_server.stop()
        assert terminal.ended() == 3
        assert terminal.afterwards.startswith("redolab: No connection to PostgreSQL at")
    finally:
        terminal.close()

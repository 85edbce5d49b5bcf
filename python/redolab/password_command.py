"""A password that a program prints: a vault's, or a cloud's token that expires within minutes.

The program is started for every connection, so that a run outlives its first password.
"""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import time
from contextlib import suppress

from redolab.errors import RefusedError, UsageError

VARIABLE = "REDOLAB_PASSWORD_COMMAND"
"""The variable that has the command line. `--password-command` sets it, and the guard inherits it."""
_MOST_BYTES = 65_536
"""Size of a password; a cloud's tokens have some thousand bytes."""
_LIMIT_S = 60.0
_HOW = "It must print the password on one line and end with exit code 0"


def password_command() -> str | None:
    """The command line that prints the password of servers that are given by their URL; None without one."""
    return os.environ.get(VARIABLE) or None


def use_password_command(command: str | None) -> None:
    """Have this command print the passwords from now on; None leaves it as it is."""
    if command is not None:
        os.environ[VARIABLE] = command


def password_of(command: str) -> str:
    """The password that a command prints, without the end of its line.

    It runs without a shell and without input; its messages on stderr go to the user.

    Args:
        command: a program with its arguments, as a shell would split them.

    Raises:
        UsageError: it is not a command line, or there is no such program.
        RefusedError: it failed, took too long, or did not print exactly one line.
    """
    try:
        words = shlex.split(command)
        if not words:
            raise ValueError("it is empty")
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
        )
    except (ValueError, OSError) as error:
        raise UsageError(
            f"The password command cannot be started: {error}. Give a program with its arguments, as in "
            "--password-command 'pass show production'. For pipes and variables of a shell, use sh -c '...'."
        ) from error
    with process:
        try:
            printed = _read(process)
            code = process.wait(_LIMIT_S)
        except BaseException as error:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise RefusedError(
                    f"The password command did not end within {_LIMIT_S:.0f} s and was killed. {_HOW}."
                ) from error
            raise
    if code:
        end = f"with exit code {code}" if code > 0 else f"by the signal {signal.Signals(-code).name}"
        raise RefusedError(f"The password command ended {end}. {_HOW}. Its own message, if any, is above.")
    return _one_line(printed)


def _read(process: subprocess.Popen[bytes]) -> bytes:
    """Everything that it prints, up to the largest size.

    Raises:
        RefusedError: it prints more.
        subprocess.TimeoutExpired: it has not closed its output in time.
    """
    assert process.stdout is not None
    until, printed = time.monotonic() + _LIMIT_S, b""
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not ready.select(max(0.0, until - time.monotonic())):
                raise subprocess.TimeoutExpired(process.args, _LIMIT_S)
            part = os.read(process.stdout.fileno(), _MOST_BYTES)
            printed += part
            if not part:
                return printed
            if len(printed) > _MOST_BYTES:
                raise RefusedError(f"The password command printed more than {_MOST_BYTES:,} bytes. {_HOW}.")


def _one_line(printed: bytes) -> str:
    line = printed.removesuffix(b"\n").removesuffix(b"\r")
    if not line:
        raise RefusedError(f"The password command printed nothing. {_HOW}.")
    lines = line.count(b"\n") + 1
    if lines > 1:
        raise RefusedError(f"The password command printed {lines:,} lines. {_HOW}.")
    if b"\0" in line:
        raise RefusedError(f"The password command printed a zero byte, which no server takes. {_HOW}.")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(f"The password command printed bytes that are not UTF-8. {_HOW}.") from error

"""A command as a process: its exit code, its end by a signal, and secrets kept off its command line."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any

from typer.core import TyperGroup

from redolab.console import echo, say
from redolab.errors import InterruptedRunError, OutputClosedError, RedolabError, RefusedError, UsageError
from redolab.machine.limits import check_room, reached
from redolab.printable import printable
from redolab.url_secrets import take_secrets, without_secrets


class CarefulGroup(TyperGroup):
    """Commands; errors in their arguments are shown in safe characters."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read the arguments."""
        with _told_safely():
            return super().make_context(*arguments, **options)

    def invoke(self, *arguments: Any, **options: Any) -> Any:
        """Read the arguments of a command, and run it."""
        check_room()
        with _told_safely():
            return super().invoke(*arguments, **options)


@contextmanager
def _told_safely() -> Iterator[None]:
    """Errors of Typer and of the library below it echo arguments in their `message`."""
    try:
        yield
    except Exception as error:
        if isinstance(message := getattr(error, "message", None), str):
            vars(error)["message"] = echo(without_secrets(message))
        raise


def exit_code(do: Callable[[], object]) -> int:
    """Do it, and print what went wrong."""
    try:
        do()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except OutputClosedError as error:
        return error.exit_code
    except RedolabError as error:
        say(f"redolab: {without_secrets(str(error))}")
        return error.exit_code
    except (MemoryError, ImportError, OSError, RuntimeError) as error:
        limit = reached(error)
        if limit is None:
            raise
        say(f"redolab: {limit}")
        return RefusedError.exit_code
    return 0


def tell_unforeseen(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show a failure that nobody foresaw, for `sys.excepthook`, in characters that are safe to show."""
    say("".join(traceback.format_exception(kind, error, trace)), end="")


def end_when_interrupted(text: str, code: int = InterruptedRunError.exit_code) -> None:
    """End at once on SIGINT and SIGTERM, wherever no run is under way (see `runner.Interruptions`).

    An exception could come up in the middle of a compiled module's import, which makes another one of
    it. What was just being started is removed by its guard, and files are written whole or not at all.
    """
    message = f"redolab: {printable(text)}\n".encode()

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        with suppress(OSError):
            os.write(2, message)
        os._exit(code)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def command_line() -> str:
    """How this command was asked for, as a shell takes it, without the text of a password command."""
    words = list(sys.argv[1:])
    for place, word in enumerate(words):
        if word == _PASSWORD_COMMAND and place + 1 < len(words):
            words[place + 1] = "..."
        elif word.startswith(f"{_PASSWORD_COMMAND}="):
            words[place] = f"{_PASSWORD_COMMAND}=..."
    return shlex.join(["redolab", *words])


_PASSWORD_COMMAND = "--password-command"  # noqa: S105  an option's name


def check_text(arguments: Sequence[str]) -> None:
    """Refuse what could not be written into a manifest, a page or a table, before anything begins.

    Raises:
        UsageError: an argument is not text in the encoding of this system.
    """
    for argument in arguments:
        if not argument.isascii() and any("\ud800" <= letter <= "\udfff" for letter in argument):
            shown = os.fsencode(argument).decode(errors="backslashreplace")
            raise UsageError(
                f"{shown} is not UTF-8, and a run stores names as text. Rename that file or directory, or "
                "reach it through a link with another name."
            )


def hide_secrets(argv: list[str]) -> None:
    """Start over without secrets on the command line, where every user of the machine sees them.

    Raises:
        UsageError: it is not clear where one of them ends, two URLs have different ones, or an argument is
            not text.
    """
    taken: dict[str, str] = {}
    without = []
    for argument in argv:
        found: dict[str, str] = {}
        without.append(take_secrets(argument, found))
        if any(taken.get(name, value) != value for name, value in found.items()):
            raise UsageError(
                "Two URLs contain different passwords, and Redolab can pass on only one password. Remove "
                "both passwords from the URLs, and put them into ~/.pgpass (~/.my.cnf for MariaDB and "
                "MySQL)."
            )
        taken |= found
    os.environ.update(taken)
    check_text(without)
    if without != argv:
        os.execv(sys.executable, [sys.executable, *without])  # noqa: S606  no shell is wanted

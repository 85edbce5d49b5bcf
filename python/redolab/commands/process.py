"""A command as a process: its exit code, its end by a signal, and secrets kept off its command line."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any

from typer.core import TyperGroup

from redolab.errors import InterruptedRunError, OutputClosedError, RedolabError, RefusedError, UsageError
from redolab.outlet import say
from redolab.printable import printable
from redolab.url_secrets import take_secrets


class Commands(TyperGroup):
    """The commands; what is wrong with their arguments is said in characters that are safe to show."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read the arguments."""
        with _told_safely():
            return super().make_context(*arguments, **options)

    def invoke(self, *arguments: Any, **options: Any) -> Any:
        """Read the arguments of a command, and run it."""
        with _told_safely():
            return super().invoke(*arguments, **options)


_EXHAUSTED = {
    errno.EMFILE: "open files of a process (`ulimit -n`)",
    errno.ENFILE: "open files of the machine (`sysctl fs.file-max`)",
    errno.EAGAIN: "processes and threads of a user (`ulimit -u`, or the control group's `pids.max`)",
}
"""What ran out, by the kernel's error."""


@contextmanager
def _told_safely() -> Iterator[None]:
    """Errors of Typer and of the library below it echo arguments in their `message`."""
    try:
        yield
    except Exception as error:
        if isinstance(message := getattr(error, "message", None), str):
            vars(error)["message"] = printable(message)
        raise


def exit_code(do: Callable[[], object]) -> int:
    """Do it, and say what went wrong."""
    try:
        do()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except OutputClosedError as error:
        return error.exit_code
    except RedolabError as error:
        say(f"redolab: {error}")
        return error.exit_code
    except (OSError, RuntimeError) as error:
        ran_out = _ran_out(error)
        if ran_out is None:
            raise
        say(
            f"redolab: The limit for {ran_out} is reached: {error}. Raise it, and start again. A sample that "
            "a run finished before is kept, and `redolab report` reads it."
        )
        return RefusedError.exit_code
    return 0


def _ran_out(error: BaseException) -> str | None:
    """Which limit of the machine an error comes from, or None where it comes from something else.

    The compiled part has the kernel's number in its text alone, and Python's threads have only a text.
    """
    if isinstance(error, RuntimeError):
        return _EXHAUSTED[errno.EAGAIN] if str(error) == "can't start new thread" else None
    number = getattr(error, "errno", None)
    if number is None and (found := re.search(r"\(os error (\d+)\)", str(error))):
        number = int(found[1])
    return None if number is None else _EXHAUSTED.get(number)


def tell_unforeseen(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show a failure that nobody foresaw, for `sys.excepthook`, in characters that are safe to show."""
    say("".join(traceback.format_exception(kind, error, trace)), end="")


def end_when_interrupted(text: str) -> None:
    """End at once on SIGINT and SIGTERM, wherever no run is under way (see `runner.Interruptions`).

    An exception could come up in the middle of a compiled module's import, which makes another one of
    it. What was just being started is removed by its guard, and files are written whole or not at all.
    """
    said = f"redolab: {printable(text)}\n".encode()

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        with suppress(OSError):
            os.write(2, said)
        os._exit(InterruptedRunError.exit_code)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def hide_secrets(argv: list[str]) -> None:
    """Start over without secrets on the command line, where every user of the machine sees them.

    Raises:
        UsageError: it cannot be told where one of them ends, or two URLs have different ones.
    """
    taken: dict[str, str] = {}
    without = []
    for argument in argv:
        found: dict[str, str] = {}
        without.append(take_secrets(argument, found))
        if any(taken.get(name, value) != value for name, value in found.items()):
            raise UsageError(
                "Two URLs have different passwords in them, and only one can be handed on. Leave them out, "
                "and give them in ~/.pgpass (~/.my.cnf for MariaDB and MySQL)."
            )
        taken |= found
    os.environ.update(taken)
    if without != argv:
        os.execv(sys.executable, [sys.executable, *without])  # noqa: S606  no shell is wanted

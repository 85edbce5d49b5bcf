"""The one place that writes to the standard streams for a person: `show`, `say` and `terminal`.

Texts that pass here cannot control the terminal (`redolab.printable`), and an output that cannot be written
ends in a sentence.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from redolab.bounds import MOST_ECHO
from redolab.errors import OutputClosedError, OutputError
from redolab.printable import in_ascii, printable


def show(text: str) -> None:
    """Write a line to the standard output.

    Raises:
        OutputError: it cannot be written.
        OutputClosedError: nobody reads it any more.
    """
    print(printable(text))


def show_json(content: Mapping[str, Any]) -> None:
    """Write a JSON object to the standard output, in ASCII without any control character but the newline.

    Raises:
        OutputError: it cannot be written.
        OutputClosedError: nobody reads it any more.
    """
    # JSON leaves one control character as it is, only inside of texts.
    print(json.dumps(content, indent=1, allow_nan=False).replace("\x7f", "\\u007f"))


def say(text: str, end: str = "\n") -> None:
    """Write a line to the standard error, if it can be written."""
    print(echo(text), end=end, file=sys.stderr, flush=True)


def echo(text: str) -> str:
    """The text as `printable` gives it, without the middle of very long texts."""
    if len(text) > MOST_ECHO:
        # An error has its remedy at the end.
        end = MOST_ECHO // 4
        text = f"{text[: MOST_ECHO - end]} ... {text[-end:]}"
    return printable(text)


def terminal(stderr: bool = False) -> Console:
    """The console that prints screens and bars."""
    return _Terminal(stderr=stderr, highlight=False, markup=False, emoji=False)


class _Terminal(Console):
    """Writes out the control characters in a text, which only rich itself may send."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render to segments that are safe to show."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)


@contextmanager
def standard_streams() -> Iterator[None]:
    """Put streams in place that end in a sentence where they cannot be written, as on a full disk.

    Raises:
        OutputError: the standard output cannot be written.
        OutputClosedError: nobody reads it any more.
    """
    if sys.stdin is None:  # It was closed before Redolab began.
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115  as long as the process
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _opened(sys.stdout, 1), _opened(sys.stderr, 2)
    try:
        yield
        sys.stdout.flush()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.close()
        sys.stdout, sys.stderr = before


def _opened(stream: TextIO | None, number: int) -> TextIO:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  closed by standard_streams
    stream.flush()
    text = io.TextIOWrapper if stream.isatty() else _Unpadded
    return text(
        io.BufferedWriter(_Descriptor(number, "wb", closefd=False)),
        encoding=stream.encoding,
        errors=_LIKENESS,
        line_buffering=number == 2 or stream.isatty(),
    )


def _likeness(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replacement of letters that an encoding does not have: similar letters, or their number."""
    if isinstance(error, UnicodeEncodeError):
        letters = in_ascii(error.object[error.start : error.end])
        if letters.isascii():
            return letters, error.end
    return codecs.backslashreplace_errors(error)


_LIKENESS = "redolab"
codecs.register_error(_LIKENESS, _likeness)


class _Unpadded(io.TextIOWrapper):
    """Removes blanks at the ends of lines, with which rich fills a screen; others wait for more text."""

    _waiting = ""

    def write(self, text: str) -> int:
        """Write the text, but keep blanks back that may turn out to be at the end of a line."""
        lines = (self._waiting + text).split("\n")
        last = lines[-1].rstrip(" ")
        self._waiting = lines[-1][len(last) :]
        super().write("\n".join([*(line.rstrip(" ") for line in lines[:-1]), last]))
        return len(text)


class _Descriptor(io.FileIO):
    """A descriptor that raises its first failure, unless it is the standard error; later ones are ignored."""

    _failed = False

    def write(self, content: Any) -> int:
        """Write, or raise the cause of the failure."""
        if not self._failed:
            try:
                return super().write(content) or 0
            except OSError as error:
                self._failed = True
                if self.fileno() == 1:
                    raise _cause(error) from error
        return memoryview(content).nbytes


def _cause(error: OSError) -> OutputError | OutputClosedError:
    if isinstance(error, BrokenPipeError):
        return OutputClosedError("Nobody reads the standard output any more.")
    return OutputError(
        f"The standard output cannot be written: {error.strerror}. Free some space, or redirect it elsewhere."
    )

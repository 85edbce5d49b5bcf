"""Options that several commands take alike, the values of options that are texts, and commands whose options
are the fields of a dataclass.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from redolab.errors import UsageError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FACTOR=VALUE",
        help="Forecast with this value of a factor; may be given several times.",
    ),
]
Seed = Annotated[
    int | None, typer.Option(help=("Seed of the random order, 0 to 2^64 - 1; drawn if not given."))
]
Out = Annotated[Path | None, typer.Option(help="Run directory.", show_default="redolab-runs/...")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before loading a server.")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.", show_default=False)]
UntilSettled = Annotated[bool, typer.Option("--until-settled", help="Measure until everything is decided.")]
PasswordCommand = Annotated[
    str | None,
    typer.Option(
        "--password-command",
        metavar="CMD",
        help="A program that prints the password; run for each connection.",
    ),
]
PageFile = Annotated[
    Path | None, typer.Option("--page", metavar="FILE", help="Also write a page, one HTML file.")
]


_MOST_SESSIONS = 1_000
_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3_600.0}
_MOST_S = 720 * 3_600.0


def parameters_of(command: Callable[..., None]) -> Callable[..., None]:
    """A command as Typer reads it: each field of its `options`, a dataclass, as a parameter of its own.

    One without `options` stays as it is.
    """
    kind = get_type_hints(command).get("options")
    if kind is None:
        return command

    def with_options(**given: Any) -> None:
        command(kind(**given))

    vars(with_options)["__signature__"] = inspect.signature(kind, eval_str=True)
    return with_options


def seconds(text: str) -> float:
    """The time that `--at-most` names, seconds.

    Raises:
        UsageError: it is something else.
    """
    number, unit = text[:-1], text[-1:]
    if unit.isdigit():
        number, unit = text, "s"
    try:
        found = float(number) * _UNITS_S[unit]
    except (KeyError, ValueError):
        found = 0.0
    if not 0 < found <= _MOST_S:
        raise UsageError(
            f"--at-most is {text}; it must be a time such as 90s, 15m or 2h, greater than 0 and at most 720h."
        )
    return found


def numbers(text: str | None) -> tuple[int, ...]:
    """The numbers of sessions that `--sessions` names.

    Raises:
        UsageError: it is something else.
    """
    found = []
    for item in () if text is None else text.split(","):
        try:
            number = int(item)
        except ValueError:
            number = 0
        if not 0 < number <= _MOST_SESSIONS:
            raise UsageError(
                f"--sessions is {text}; it must be a number greater than 0 and at most {_MOST_SESSIONS:,}, "
                "or several separated by commas."
            )
        found.append(number)
    return tuple(found)


def log_device_s(text: str | None) -> tuple[float, ...]:
    """The flush times that `--log-device-ms` names, seconds: none, one for all logs, or one for each.

    Raises:
        UsageError: it is something else.
    """
    delays_s = []
    for item in () if text is None else text.split(","):
        try:
            delay_ms = float(item)
        except ValueError:
            delay_ms = 0.0
        if not 0 < delay_ms <= 1000:
            raise UsageError(
                f"--log-device-ms is {text}; it must be greater than 0 and at most 1000, or two such "
                "numbers separated by a comma, for the redo log and the binary log."
            )
        delays_s.append(delay_ms / 1000)
    return tuple(delays_s)

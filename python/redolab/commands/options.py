"""Options that several commands take alike, and commands whose options are the fields of a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FACTOR=VALUE", help="Ask about this value; may be given several times."),
]
Seed = Annotated[
    int | None, typer.Option(help=("Seed of the random order, 0 to 2^64 - 1; drawn if not given."))
]
Out = Annotated[Path | None, typer.Option(help="Run directory.", show_default="redolab-runs/...")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before loading a server.")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.", show_default=False)]
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

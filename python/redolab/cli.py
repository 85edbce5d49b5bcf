"""The command line: its commands and exit codes. Options and work of each are in `redolab.commands`."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from typing import Annotated, Any

import typer

from redolab.commands.options import parameters_of
from redolab.commands.process import (
    CarefulGroup,
    end_when_interrupted,
    exit_code,
    hide_secrets,
    tell_unforeseen,
)
from redolab.console import show, standard_streams
from redolab.parts import check_compiled

COMMANDS = {
    "experiments": "List the experiments that can be run, one line each.",
    "run": "Run an experiment and report it.",
    "continue": "Measure further blocks of a stored run, on the same server.",
    "doctor": "Check what works here, what is missing, what that costs and how to fix it; read-only.",
    "profile": "Show where a live database's sessions spend their time; read-only, no load.",
    "watch": "Watch a live database for minutes or days, and store the figures; read-only, no load.",
    "analyze": "Analyse a column of numbers: normality, plus and minus, groups compared.",
    "forecast": "Forecast a setting that was not measured, from a stored run.",
    "explore": "Write a page that forecasts by itself: drag a setting, and see the forecast.",
    "import": "Read AWR or Statspack reports or a pack of an Oracle database, and report its commits.",
    "oracle-pack": "Write a SQL*Plus script that a DBA can run as it is; `import` reads its output.",
    "report": "Rebuild report.html from the stored run; no database is needed.",
    "verify": "Recompute every stored figure and check the hashes; exit 1 on a difference.",
    "verify-forecast": "Forecast settings, seal the forecast, measure the settings, and keep the score.",
    "league": "Show how accurate every model's forecasts were.",
}
"""Help of each command. The module of its name in `redolab.commands` has its options and its `command`."""
_MEASURING = frozenset({"continue", "doctor", "forecast", "profile", "run", "verify-forecast", "watch"})
"""Commands that need the compiled part."""
_MODULES = {"continue": "continue_run", "import": "import_reports"}
"""The module of a command whose name cannot be a module's."""


class _Commands(CarefulGroup):
    def resolve_command(self, *arguments: Any) -> Any:
        """Import only the command that is used; so `redolab --help` imports none."""
        name, _, rest = super().resolve_command(*arguments)
        return name, name and load(name), rest


app = typer.Typer(
    cls=_Commands,
    name="redolab",
    help="A laboratory for commit performance: measures a real database, and states how sure it is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback()
def _whole(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=lambda asked: asked and _show_version(),
            is_eager=True,
            help="Show the versions of Redolab and of its parts.",
        ),
    ] = False,
) -> None:
    pass


def _show_version() -> None:
    from redolab.versions import versions

    for part, version in versions().items():
        show(f"{part} {version}")
    raise typer.Exit


for _name, _help in COMMANDS.items():
    app.command(_name, help=_help)(lambda: None)


def load(name: str) -> Any:
    """A command with its options, as Typer makes it.

    Raises:
        MissingPartError: it measures or forecasts, which this installation cannot.
    """
    if name in _MEASURING:
        check_compiled()
    module = import_module(f"redolab.commands.{_MODULES.get(name, name.replace('-', '_'))}")
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    alone.command(name, help=COMMANDS[name])(parameters_of(module.command))
    return typer.main.get_command(alone)


def main() -> None:
    """Run the command line; ends the process with Redolab's exit codes."""
    end_when_interrupted("Interrupted; nothing is left behind.")
    sys.excepthook = tell_unforeseen
    with standard_streams():
        try:
            code = exit_code(_start)
        finally:
            # A late Ctrl-C must not change the exit code: nothing is left to be interrupted.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = code or exit_code(sys.stdout.flush)
    sys.exit(code)


def _start() -> None:
    hide_secrets(sys.argv)
    app(prog_name="redolab")


if __name__ == "__main__":
    main()

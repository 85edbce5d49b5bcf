"""`redolab watch`: a live server watched for minutes or days, stored as a run."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from redolab.commands.options import Json, PasswordCommand
from redolab.commands.process import command_line
from redolab.commands.profile import LiveUrl
from redolab.commands.report import conclude
from redolab.commands.targets.named import server_of
from redolab.console import say, terminal
from redolab.engine import open_observer
from redolab.engine.server.observer import Observer
from redolab.errors import UsageError
from redolab.files.places import default_run_directory
from redolab.password_command import use_password_command
from redolab.printable import printable
from redolab.records.watched import Watched
from redolab.units import clock, counted, significant

if TYPE_CHECKING:
    from redolab.measure.runner import Outcome
    from redolab.measure.watching import PeriodLengths, WatchProgress

_SHORTEST_S, _LONGEST_S = 1.0, 366 * 86_400.0
_WIDTH = 79
_SHORT_S = 300.0
"""A watch of at most this length looks as often as a profile does; a longer one has more than enough looks,
and must cost less than can be measured."""


def command(
    url: LiveUrl,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Run directory: a new one, or an earlier watch to continue.",
            show_default="redolab-runs/...",
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help=("Length of the watch."), show_default="until Ctrl-C")
    ] = None,
    password_command: PasswordCommand = None,
    json: Json = False,
) -> None:
    """Watch, and report the watch.

    Raises:
        RedolabError: wrong usage, nothing could be seen, or what ended the watch early.
    """
    use_password_command(password_command)
    conclude(watch(server_of(url), out, seconds, command_line()), json, "Every stretch is kept:")


def watch(
    url: str, out: Path | None, seconds: float | None, command: str, lengths: PeriodLengths | None = None
) -> Outcome:
    """Watch the server that `url` names, and store what is seen.

    Args:
        url: of the server.
        out: the run directory: a new one, or that of an earlier watch to go on with.
        seconds: how long; None until Ctrl-C.
        command: how it was asked for.
        lengths: of the stretches; None for the usual ones.

    Raises:
        RedolabError: wrong usage, or nothing could be seen.
    """
    from redolab.measure import watching
    from redolab.records.writing.watch_writer import check_place

    if seconds is not None and not _SHORTEST_S <= seconds <= _LONGEST_S:
        raise UsageError(
            f"--seconds is {seconds:g}; it must be at least {_SHORTEST_S:g} and at most {_LONGEST_S:,.0f}."
        )
    place = out if out is not None else default_run_directory("watch")
    again = check_place(place)

    def begin(stop: Event) -> Observer:
        calm = seconds is None or seconds > _SHORT_S
        return open_observer(url, secrets.randbelow(2**31), stop, reopen=False, calm=calm)

    with _progress(seconds) as progress:
        wish = watching.WatchWish(place, seconds, command, again, lengths or watching.PeriodLengths())
        outcome = watching.watch(begin, wish, progress)
    stored = outcome.run.samples.num_rows
    say(f"Watched: {counted(stored, 'stretch')} stored in {outcome.run.path}")
    return outcome


class _Quiet:
    """One line at the beginning, and one whenever the server is lost or found again."""

    def __init__(self, seconds: float | None) -> None:
        self._how_long = "until Ctrl-C" if seconds is None else f"for {clock(seconds)}"
        self._lost = False

    def begin(self, place: str) -> None:
        say(f"watching {place} {self._how_long}")

    def stored(self, row: Watched) -> None:
        if self._lost and row.spoiled is None:
            self._lost = False
            say("the server is watched again")

    def lost(self, why: str) -> None:
        if not self._lost:
            self._lost = True
            say(f"trying to reach the server again: {why}")


class _Line:
    """One line with the figures of the last stretch."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show, self._stored, self._seen_s, self._last = show, 0, 0.0, ""

    def begin(self, place: str) -> None:
        self._show(f"watching {place}")

    def stored(self, row: Watched) -> None:
        self._stored += 1
        self._seen_s += row.elapsed_s
        self._last = last_text(row)
        self._show_line(self._last)

    def lost(self, why: str) -> None:
        self._show_line(f"trying again: {why}")

    def _show_line(self, text: str) -> None:
        seen = timedelta(seconds=round(self._seen_s))
        self._show(f"{counted(self._stored, 'stretch')}, {seen}: {text}")


def last_text(row: Watched) -> str:
    """A stretch in a few words: its rate, the share of waiting for the log, the time of a flush.

    Rates per second; the share is of busy time; the time is the server's own.
    """
    if row.spoiled is not None:
        return f"spoiled: {row.spoiled}"
    parts = []
    if row.transactions is not None:
        parts.append(f"{significant(row.transactions / row.elapsed_s)} transactions/s")
    if row.log_sync_s is not None and row.busy_s:
        parts.append(f"log sync {100 * row.log_sync_s / row.busy_s:.0f} %")
    if row.log_flush_time_s is not None and row.log_flushes:
        parts.append(f"flush {significant(1e3 * row.log_flush_time_s / row.log_flushes)} ms")
    return ", ".join(parts) or "no figures"


@contextmanager
def _progress(seconds: float | None) -> Iterator[WatchProgress]:
    from rich import progress

    console = terminal(stderr=True)
    if not console.is_terminal:
        yield _Quiet(seconds)
        return
    column = progress.TextColumn("{task.description}", markup=False)
    # A line that is drawn again only when it changes costs nothing for days.
    with progress.Progress(column, console=console, transient=True, auto_refresh=False) as bar:
        task = bar.add_task("connecting")

        def show(text: str) -> None:
            line = printable(text)
            most = min(_WIDTH, console.width - 1)
            bar.update(task, description=line if len(line) <= most else f"{line[: most - 1]}…", refresh=True)

        yield _Line(show)

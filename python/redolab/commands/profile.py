"""`redolab profile`: from options to the results of a watched stretch of time."""

from __future__ import annotations

import secrets
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Annotated, Any

import typer

from redolab.commands.options import Json, PageFile, PasswordCommand
from redolab.commands.page import check_page, write_page
from redolab.commands.targets.named import server_of
from redolab.console import say, show_json, terminal
from redolab.engine import open_observer, watched_choices
from redolab.engine.server.observer import Observer
from redolab.errors import InterruptedRunError, RedolabError, RefusedError, UsageError
from redolab.password_command import use_password_command
from redolab.records.observation import Observation, join
from redolab.report.screen.profile import print_profile
from redolab.units import clock, duration

LiveUrl = Annotated[str, typer.Argument(metavar="URL", help=watched_choices(), show_default=False)]
Show = Callable[[Callable[[Event], dict[str, Any] | None], int | None], None]

_DEFAULT_S = 10.0
_SHORTEST_S, _LONGEST_S = 0.5, 14_400.0
_PER_READING_S = 1.0


def command(
    url: LiveUrl,
    seconds: Annotated[
        float | None,
        typer.Option(
            help="Watch for this long and print; without it, a live screen on a terminal.",
            show_default="10 elsewhere",
        ),
    ] = None,
    session: Annotated[
        int | None, typer.Option(help="Show only this session, by the server's number for it.")
    ] = None,
    page: PageFile = None,
    password_command: PasswordCommand = None,
    json: Json = False,
) -> None:
    """Watch for a while and show the profile, or show it live on a terminal.

    Raises:
        RedolabError: wrong usage, nothing could be seen, or what ended the watching early.
    """
    use_password_command(password_command)
    url = server_of(url)
    on_terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    if page is not None:
        check_page(page, "--page")
    if on_terminal and seconds is None and not json and page is None:
        from redolab.report.screen.live import run_live

        watch_live(url, session, run_live)
        return
    profiled = watch(url, _DEFAULT_S if seconds is None else seconds, session)
    if page is not None:
        write_page(profiled.results, "profile", page, "--page")
    if json:
        show_json(profiled.results)
    else:
        print_profile(profiled.results, session)
    if profiled.error is not None:
        raise profiled.error


@dataclass(frozen=True)
class Profiled:
    """The results object, and what ended the watching early, if anything did."""

    results: Mapping[str, Any]
    error: RedolabError | None


def watch(url: str, seconds: float, session: int | None) -> Profiled:
    """Watch the server that `url` names for `seconds` and analyse what was seen.

    Args:
        url: of the server.
        seconds: how long.
        session: a session's number in the server that must be there, or None for no one in particular.

    Raises:
        RedolabError: wrong usage, or nothing could be seen.
    """
    from redolab.analysis.live.profile import profile_observation
    from redolab.forecast.advice.advice import advised
    from redolab.measure.runner import Interruptions

    if not _SHORTEST_S <= seconds <= _LONGEST_S:
        raise UsageError(
            f"--seconds is {seconds:g}; it must be at least {_SHORTEST_S:g} and at most {_LONGEST_S:,.0f}."
        )
    with Interruptions("what was seen so far is reported") as interruptions, _progress(seconds) as advance:
        observer = _opened(url, interruptions.stop)
        seen: list[Observation] = []
        error: RedolabError | None = None
        try:
            started = time.monotonic()
            readings = max(1, round(seconds / _PER_READING_S))
            for number in range(1, readings + 1):
                due = started + seconds * number / readings
                interruptions.stop.wait(max(0.0, due - time.monotonic()))
                seen.append(observer.read())
                if number == 1:
                    _check_session(observer, seen[0], session)
                advance(time.monotonic() - started)
                if interruptions.stop.is_set():
                    passed = clock(time.monotonic() - started)
                    error = InterruptedRunError(f"Interrupted: the profile covers the {passed} until then.")
                    break
        except RedolabError as raised:
            if not seen or isinstance(raised, UsageError):
                raise
            error = raised
        finally:
            interruptions.closing = True
            observer.close()
    return Profiled(advised(profile_observation(join(seen))), error)


def watch_live(url: str, session: int | None, show: Show) -> None:
    """Show the server that `url` names on a screen that refreshes, until the user quits.

    Args:
        url: of the server.
        session: the number of a session to begin with, or None.
        show: the screen; calls its first argument again and again with an event that is set when the
            user quits, and returns then.

    Raises:
        RedolabError: wrong usage, or nothing could be seen.
    """
    from redolab.analysis.live.profile import profile_observation
    from redolab.forecast.advice.advice import advised

    observer = open_observer(url, secrets.randbelow(2**31))
    seen: deque[Observation] = deque(maxlen=round(_DEFAULT_S / _PER_READING_S))

    due = time.monotonic()

    def read(ended: Event) -> dict[str, Any] | None:
        nonlocal due
        due = max(due + _PER_READING_S, time.monotonic())
        if ended.wait(due - time.monotonic()):
            return None
        seen.append(observer.read())
        return advised(profile_observation(join(tuple(seen))))

    try:
        if session is not None:
            _check_session(observer, observer.read(), session)
        show(read, session)
    finally:
        observer.close()


def _opened(url: str, stop: Event) -> Observer:
    try:
        return open_observer(url, secrets.randbelow(2**31), stop)
    except RefusedError as error:
        if stop.is_set():
            raise InterruptedRunError("Interrupted before anything was seen.") from error
        raise


def _check_session(observer: Observer, observation: Observation, session: int | None) -> None:
    sessions = {p.connection for p in observation.processes if p.scope == "session"}
    if session is not None and session not in sessions:
        raise UsageError(
            f"Session {session} was not found on {observation.server['place']}. Without --session the "
            f"command lists every session with {observer.session_numbers}."
        )


@contextmanager
def _progress(seconds: float) -> Iterator[Any]:
    """Shows the progress of the watching on a terminal; gives the function that advances it."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = terminal(stderr=True)
    if not console.is_terminal:
        say(f"watching for {duration(seconds)}")
        yield lambda _: None
        return
    columns = TextColumn("watching"), BarColumn(bar_width=24), TextColumn("left"), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("watching", total=seconds)
        yield lambda passed: bar.update(task, completed=passed)

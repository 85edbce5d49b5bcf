"""The live screen of `redolab profile`: the tables of the last seconds, anew every second."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from threading import Event, Thread
from typing import Any, ClassVar

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import ScrollableContainer, Vertical
from textual.message import Message
from textual.widgets import ContentSwitcher, Footer, Static, TabbedContent, TabPane

from redolab.errors import InterruptedRunError, UsageError
from redolab.printable import printable
from redolab.report.screen import profile
from redolab.report.screen.live_list import SessionList
from redolab.report.screen.paper import Paper
from redolab.report.tables import profile_lists, profile_tables, profile_views
from redolab.report.tables.cells import Results, ShownTable

Read = Callable[[Event], Results | None]

_SESSIONS = "sessions"
_TABS = ("instance", _SESSIONS, "kinds", "log", "instrument")
_EMPTY = {
    "instance": "No process of the server did anything.",
    _SESSIONS: "Every session only waited for its client.",
    "kinds": "No session was connected.",
    "log": (
        "No wait for the log was followed one by one. If waits cannot be followed on this server, Instrument "
        "(5) gives the reason."
    ),
}
_ENDING = (signal.SIGINT, signal.SIGTERM)
_SILENCE_S = 4.0
_MARGIN = 4


def run_live(read: Read, session: int | None) -> None:
    """Show what `read` returns, again and again, until the user quits.

    Args:
        read: called in a thread of its own with an event that is set when the screen ends. It returns
                the results object of the last seconds once there is something new, or None after the event.
        session: the number of the session to begin with alone, or None.

    Raises:
        RedolabError: whatever `read` raised, or the process was asked to end.
        SystemExit: the screen itself failed, and has printed why.
    """
    screen = LiveScreen(read, session)
    handlers = {number: signal.getsignal(number) for number in _ENDING}
    try:
        screen.run()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        screen.end_reading()
    if screen.error is not None:
        raise screen.error
    if screen.return_code:
        sys.exit(screen.return_code)


class LiveScreen(App[None]):
    """A screen of tabs; one session can be looked at alone."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #headline { padding: 0 1; text-style: bold; min-height: 2; max-height: 20%; }
    #status { padding: 0 1; height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    TabbedContent { height: 1fr; }
    TabPane { padding: 0 1; }
    ScrollableContainer Static { min-width: 76; }
    ScrollableContainer, #list { scrollbar-size-vertical: 1; }
    #list { height: 1fr; background: transparent; }
    #list-note { color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("q", "quit", "Quit"),
        # In a raw terminal it is a key like any other.
        Binding("ctrl+c", "quit", show=False, priority=True),
        ("space", "hold", "Hold"),
        ("escape", "list", "All sessions"),
        *(Binding(str(place + 1), f"tab({place})", show=False) for place in range(len(_TABS))),
    ]

    @dataclass
    class Changed(Message):
        """There is something new to show."""

        results: Results

    @dataclass
    class Failed(Message):
        """There will be nothing new."""

        error: Exception

    def __init__(self, read: Read, session: int | None) -> None:
        super().__init__()
        self.animation_level = "none"
        self.error: Exception | None = None
        self._read, self._session = read, session
        self._ended = Event()
        self._reader = Thread(target=self._keep_reading)
        self._held = False
        self._results: Results | None = None
        self._heard = time.monotonic()

    def compose(self) -> ComposeResult:
        """The headline, what it is about, the tabs, the keys."""
        yield Static("Watching; the first figures come after a second.", id="headline")
        yield Static(id="status")
        with TabbedContent(initial="instance" if self._session is None else _SESSIONS):
            for place, tab in enumerate(_TABS, 1):
                with TabPane(f"{place} {tab.capitalize()}", id=tab):
                    if tab == _SESSIONS:
                        with ContentSwitcher(initial="all" if self._session is None else "alone"):
                            with ScrollableContainer(id="alone"):
                                yield Static(id="alone-tables")
                            with Vertical(id="all"):
                                yield SessionList(id="list")
                                yield Static(id="list-note")
                    else:
                        with ScrollableContainer():
                            yield Static(id=f"{tab}-tables")
        yield Footer()

    def on_mount(self) -> None:
        """Begin to read; end in good order when asked to."""
        for number in _ENDING:
            asyncio.get_running_loop().add_signal_handler(number, self._interrupt)
        self.set_interval(1.0, self._show_status)
        self._reader.start()

    def end_reading(self) -> None:
        """Return when nothing is being read any more."""
        self._ended.set()
        if self._reader.is_alive():
            self._reader.join()

    def _interrupt(self) -> None:
        self.error = InterruptedRunError("Interrupted; nothing is left behind.")
        self.exit()

    def _keep_reading(self) -> None:
        try:
            while (results := self._read(self._ended)) is not None:
                self.post_message(self.Changed(results))
        except Exception as error:  # noqa: BLE001  run_live raises it again
            self.post_message(self.Failed(error))

    def on_live_screen_changed(self, message: Changed) -> None:
        """Show it, unless what is shown is held."""
        self._heard = time.monotonic()
        if not self._held:
            self._results = _shown_safely(message.results)
            self._show()

    def on_live_screen_failed(self, message: Failed) -> None:
        """Nothing more can be shown."""
        self.error = message.error
        self.exit()

    def action_hold(self) -> None:
        """Keep what is shown, or go on."""
        self._held = not self._held
        self._show_status()

    def action_tab(self, place: int) -> None:
        """Show a tab."""
        self.query_one(TabbedContent).active = _TABS[place]

    def action_list(self) -> None:
        """Back from one session to all of them."""
        self._session = None
        self._show_sessions()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Whether a key does anything now; one that does not is not shown."""
        on_sessions = action != "list" or self.query_one(TabbedContent).active == _SESSIONS
        return on_sessions and (action != "list" or self._session is not None)

    def on_tabbed_content_tab_activated(self) -> None:
        """Let the arrow keys move what is shown."""
        self._focus()

    def on_data_table_row_selected(self) -> None:
        """Show one session alone."""
        self._session = self.query_one(SessionList).under_cursor
        self._show_sessions()

    def on_resize(self) -> None:
        """Tables are made for a width."""
        self.query_one(SessionList).forget_widths()
        self._show()

    def _focus(self) -> None:
        active = self.query_one(TabbedContent).active
        within = f"#{active} ScrollableContainer"
        if active == _SESSIONS:
            within = "#list" if self._session is None else "#alone"
        self.query_one(within).focus()
        self.refresh_bindings()

    @property
    def _width(self) -> int:
        return max(self.size.width, profile_tables.NARROWEST) - _MARGIN

    def _show(self) -> None:
        # While the screen is being taken down, messages still arrive.
        if self._results is None or not self.is_running:
            return
        self.query_one("#headline", Static).update(Text(profile_tables.headline(self._results)))
        for tab, content in _tabs(self._results, self._width).items():
            self.query_one(f"#{tab}-tables", Static).update(content)
        self._show_list(self._results)
        self._show_status()
        self._show_sessions()

    def _show_status(self) -> None:
        if not self.is_running:
            return
        silence = time.monotonic() - self._heard
        parts = ["HELD: press space to go on"] if self._held else []
        if silence > _SILENCE_S:
            parts.append(f"no answer from the server for {silence:.0f} s")
        if self._results is not None:
            if warnings := len(self._results["warnings"]):
                parts.append(f"{warnings} warning{'s' if warnings > 1 else ''}, see 5")
            parts.append(profile_tables.span(self._results))
        self.query_one("#status", Static).update(Text("; ".join(parts)))

    def _show_sessions(self) -> None:
        if self._session is not None and self._results is not None:
            content = _alone(self._results, self._session, self._width)
            self.query_one("#alone-tables", Static).update(content)
        shown = "all" if self._session is None else "alone"
        if self.query_one(ContentSwitcher).current != shown:
            self.query_one(f"#{_SESSIONS} ContentSwitcher", ContentSwitcher).current = shown
            self._focus()

    def _show_list(self, results: Results) -> None:
        most, hint = len(results["sessions"]), "Enter: show the session under the cursor alone."
        table = profile_lists.sessions(results, self._width + _MARGIN, most, hint)
        self.query_one(SessionList).show(table)
        self.query_one("#list-note", Static).update(Text(table.note if table.rows else _EMPTY[_SESSIONS]))


class _Tables:
    """Tables one below the other, as rich can print them."""

    def __init__(self, tables: Sequence[ShownTable]) -> None:
        self._tables = tables

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        paper = Paper(options.max_width, plain=options.ascii_only)
        lines = chain.from_iterable(map(paper.table, self._tables))
        # The first of them is the blank one above a table.
        return islice(lines, 1, None)


def _tabs(results: Results, width: int) -> dict[str, RenderableType]:
    """The content of every tab except the sessions'."""
    instance, paper = results["instance"], Paper(width, plain=False)
    tables = {
        "instance": (
            profile_tables.profile(instance, "instance", "Where the time goes, instance", width),
            profile_tables.top_events(instance, "Top five waits, instance", width),
            profile_tables.joint(instance, "Wait posted or not, instance"),
        ),
        "kinds": (
            profile_lists.kinds(results, width),
            profile_tables.profile(
                results["all_sessions"], "all_sessions", "Where the time goes, sessions", width
            ),
        ),
        "log": (profile_tables.log_waits(results, width),),
    }
    shown: dict[str, RenderableType] = {}
    for tab, made in tables.items():
        full = [table for table in made if table is not None and table.rows]
        shown[tab] = _Tables(full) if full else Text(_EMPTY[tab])
    facts = paper.facts(profile_tables.facts(results))
    return shown | {"instrument": Group(*facts, Text(), profile.Remarks(results))}


def _shown_safely(value: Any) -> Any:
    """The results, with every text in them safe to show."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {key: _shown_safely(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_shown_safely, value)]
    return value


def _alone(results: Results, session: int, width: int) -> RenderableType:
    try:
        return _Tables(profile_views.session_tables(results, session, width))
    except UsageError:
        return Text(f"Session {session} is gone. Escape: all sessions.")

"""The live screen of `redolab profile`: the tables of the last seconds, anew every second."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Footer, Static, TabbedContent, TabPane

from redolab.errors import RedolabError, UsageError
from redolab.report import profile, profile_tables
from redolab.report.cells import Results, Table
from redolab.report.paper import Paper

_SESSIONS = "sessions"
_TABS: dict[str, str] = {
    "instance": "Instance",
    _SESSIONS: "Sessions",
    "kinds": "Kinds",
    "log": "Log",
    "instrument": "Instrument",
}


def run_live(read: Callable[[], Results], session: int | None) -> None:
    """Show what `read` returns, again and again, until the user quits.

    Args:
        read: called in a thread of its own; returns the results object of the last seconds once there
            is something new.
        session: the number of the session to begin with in detail, or None.

    Raises:
        RedolabError: whatever `read` raised.
    """
    screen = LiveScreen(read, session)
    screen.run()
    if screen.error is not None:
        raise screen.error


class LiveScreen(App[None]):
    """A screen of tabs; one session can be looked at alone."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    TabbedContent { height: 1fr; }
    #headline { padding: 0 1; text-style: bold; height: auto; }
    TabPane { padding: 0 1; }
    #list { height: 1fr; min-height: 6; }
    #alone { height: 2fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("q", "quit", "Quit"),
        ("space", "hold", "Hold"),
        *((str(number), f"tab('{tab}')", title) for number, (tab, title) in enumerate(_TABS.items(), 1)),
    ]

    def __init__(self, read: Callable[[], Results], session: int | None) -> None:
        super().__init__()
        self.error: RedolabError | None = None
        self._read, self._session = read, session
        self._held = False
        self._results: Results | None = None

    def compose(self) -> ComposeResult:
        """The headline, the tabs, the keys."""
        yield Static("Watching ...", id="headline")
        with TabbedContent(initial=_SESSIONS if self._session is not None else "instance"):
            for tab, title in _TABS.items():
                with TabPane(title, id=tab):
                    if tab == _SESSIONS:
                        yield DataTable(id="list", cursor_type="row", zebra_stripes=True)
                        with VerticalScroll(id="alone"):
                            yield Static("Enter: the session under the cursor alone.", id="detail")
                    else:
                        with VerticalScroll():
                            yield Static(id=f"{tab}-tables")
        yield Footer()

    def on_mount(self) -> None:
        """Begin to read."""
        self._keep_reading()

    @work(thread=True)
    def _keep_reading(self) -> None:
        while self.is_running:
            try:
                results = self._read()
            except RedolabError as error:
                self.error = error
                self.call_from_thread(self.exit)
                return
            if self.is_running:
                self.call_from_thread(self._take, results)

    def _take(self, results: Results) -> None:
        if not self._held:
            self._results = results
            self._show()

    def action_hold(self) -> None:
        """Keep what is shown, or go on."""
        self._held = not self._held
        self._show()

    def action_tab(self, tab: str) -> None:
        """Show a tab."""
        self.query_one(TabbedContent).active = tab
        self.query_one("#list" if tab == _SESSIONS else f"#{tab} VerticalScroll").focus()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Show one session alone."""
        if event.row_key.value is not None:
            self._session = int(event.row_key.value)
            self._show()

    def on_resize(self) -> None:
        """Tables are made for a width."""
        self._show()

    def _show(self) -> None:
        results = self._results
        if results is None:
            return
        held = "  HELD: space goes on" if self._held else ""
        self.query_one("#headline", Static).update(profile_tables.headline(results) + held)
        for tab, tables in _tables(results, max(self.size.width - 4, profile_tables.NARROWEST - 4)).items():
            self.query_one(f"#{tab}-tables", Static).update(_Tables(tables))
        paper = Paper(self.size.width - 4, plain=False)
        facts = paper.facts(profile_tables.facts(results))
        self.query_one("#instrument-tables", Static).update(Group(*facts, Text(), profile.Remarks(results)))
        self._list(profile_tables.sessions(results, self.size.width))
        if self._session is not None:
            self.query_one("#detail", Static).update(_Tables(self._alone(results, self._session)))

    def _list(self, table: Table) -> None:
        """The sessions, with the cursor where it was."""
        shown = self.query_one("#list", DataTable)
        key = shown.coordinate_to_cell_key(shown.cursor_coordinate).row_key.value if shown.row_count else None
        shown.clear(columns=True)
        shown.add_columns(*(f"{c.title} {c.unit or ''}".strip() for c in table.columns))
        for row in table.rows:
            shown.add_row(*(cell.text for cell in row), key=row[0].text)
        numbers = [row[0].text for row in table.rows]
        if key in numbers:
            shown.move_cursor(row=numbers.index(key))

    def _alone(self, results: Results, session: int) -> Sequence[Table]:
        try:
            return profile.session_tables(results, session, self.size.width)
        except UsageError:
            return ()


class _Tables:
    """Tables one below the other, as rich can print them."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = tables

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        paper = Paper(options.max_width, plain=options.ascii_only)
        for table in self._tables:
            yield from paper.table(table)


def _tables(results: Results, width: int) -> dict[str, list[Table]]:
    """What stands on the tabs that hold tables alone."""
    instance = results["instance"]
    tabs = {
        "instance": (
            profile_tables.profile(instance, "instance", "Where the time goes, instance", width),
            profile_tables.top_events(instance, "Top five waits, instance", width),
            profile_tables.joint(instance, "Wait posted or not, instance"),
        ),
        "kinds": (
            profile_tables.profile(
                results["all_sessions"], "all_sessions", "Where the time goes, sessions", width
            ),
            profile_tables.kinds(results, width),
        ),
        "log": (profile_tables.log_waits(results, width),),
    }
    return {tab: [t for t in tables if t is not None and t.rows] for tab, tables in tabs.items()}

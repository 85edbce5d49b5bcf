"""The live screen, driven by its keys, on made-up results."""

from __future__ import annotations

import asyncio
import functools
import signal
from collections.abc import Awaitable, Callable
from queue import Queue
from threading import Event
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import TabbedContent

from redolab.analysis.live.profile import profile_observation
from redolab.errors import InterruptedRunError, RefusedError
from redolab.forecast.advice.advice import advised
from redolab.report.screen.live import LiveScreen, run_live
from redolab.report.screen.live_list import SessionList
from tests.screens import profiles
from tests.unit.analysis.observations import Look, make_observation, make_process

SIZES = [(80, 24), (120, 40), (40, 10)]
_TICKS = 50

Use = Callable[["Live"], Awaitable[None]]


def waiting(busy: dict[int, float], idle: int = 0) -> dict[str, Any]:
    """Sessions that wait for a row lock for a share of the time, and idle ones."""
    pids = [*busy, *range(9000, 9000 + idle)]
    looks: list[Look] = [
        (tick, place, "Lock:transactionid", "asleep")
        for place, share in enumerate(busy.values())
        for tick in range(round(share * _TICKS))
    ]
    processes = [make_process(pid, application=f"app{pid}") for pid in pids]
    return advised(profile_observation(make_observation(processes, looks, _TICKS)))


def nothing_new(ended: Event) -> None:
    """A `read` that waits for the end."""
    ended.wait()


class Live:
    """A live screen under test."""

    def __init__(self, screen: LiveScreen, pilot: Pilot[None]) -> None:
        self.screen, self._pilot = screen, pilot

    async def see(self, results: dict[str, Any]) -> None:
        """New results arrive."""
        self.screen.post_message(LiveScreen.Changed(results))
        await self._pilot.pause()
        await self._pilot.pause()

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)
        await self._pilot.pause()

    async def resize(self, width: int, height: int) -> None:
        await self._pilot.resize_terminal(width, height)
        await self._pilot.pause()

    @property
    def text(self) -> str:
        """What stands on the terminal."""
        return "\n".join(strip.text for strip in self.screen.screen._compositor.render_strips())

    @property
    def list(self) -> SessionList:
        return self.screen.query_one(SessionList)

    @property
    def tab(self) -> str:
        return self.screen.query_one(TabbedContent).active


def live(use: Use, size: tuple[int, int] = (80, 24), session: int | None = None) -> LiveScreen:
    """Use a live screen, and give it back when it has ended."""
    screen = LiveScreen(nothing_new, session)

    async def run() -> None:
        async with screen.run_test(size=size) as pilot:
            await use(Live(screen, pilot))

    try:
        asyncio.run(run())
    finally:
        screen.end_reading()
    return screen


def test_before_the_first_figures_it_says_that_they_come() -> None:
    async def use(it: Live) -> None:
        assert "Watching" in it.text
        await it.press("1", "2", "3", "4", "5", "enter", "escape", "space")
        assert "Watching" in it.text

    live(use)


def test_every_tab_shows_its_tables() -> None:
    said = {
        "1": ["Where the time goes, instance", "log sync by another", "Top five waits", "Wait posted or not"],
        "2": ["Session", "Application", "nightly", "reporting_of", "6 more did nothing"],
        "3": ["Kinds of session", "app, web", "Where the time goes, sessions"],
        "4": ["Log sync and log write", "median", "waits"],
        "5": ["Server", "PostgreSQL 18.1", "2,412 transactions/s", "read from server memory"],
    }

    async def use(it: Live) -> None:
        await it.see(profiles.busy())
        for key, words in said.items():
            await it.press(key)
            assert "32 sessions were busy 47 % of the time" in it.text
            assert "the last 10 s of PostgreSQL 18.1" in it.text
            assert [word for word in words if word not in it.text] == []

    live(use, (120, 60))


def test_keys_choose_the_tab() -> None:
    async def use(it: Live) -> None:
        await it.see(profiles.busy())
        chosen = []
        for key in "54321":
            await it.press(key)
            chosen.append(it.tab)
        assert chosen == ["instrument", "log", "kinds", "sessions", "instance"]

    live(use)


def test_arrow_keys_move_what_is_shown() -> None:
    async def use(it: Live) -> None:
        await it.see(profiles.busy())
        assert "Top five waits" not in it.text
        await it.press("end")
        assert "a wait posted" in it.text

    live(use)


def test_the_cursor_stays_on_its_session_when_the_order_changes() -> None:
    async def use(it: Live) -> None:
        await it.see(waiting({1: 0.9, 2: 0.6, 3: 0.3}))
        await it.press("2", "down")
        assert it.list.under_cursor == 2
        await it.see(waiting({3: 0.9, 4: 0.8, 1: 0.7, 2: 0.1}))
        assert it.list.numbers == [3, 4, 1, 2]
        assert it.list.under_cursor == 2
        await it.see(waiting({2: 0.9, 3: 0.2}))
        assert it.list.under_cursor == 2

    live(use)


def test_the_list_keeps_its_place_and_has_every_session() -> None:
    many = dict.fromkeys(range(1000, 1200), 0.9)

    async def use(it: Live) -> None:
        await it.see(waiting(many, idle=3))
        await it.press("2", *["pagedown"] * 4)
        at, top = it.list.under_cursor, it.list.scroll_offset.y
        assert top > 0
        await it.see(waiting(many, idle=4))
        assert (it.list.under_cursor, it.list.scroll_offset.y) == (at, top)
        assert len(it.list.numbers) == 200
        assert "4 more did nothing" in it.text

    live(use)


def test_a_session_stays_alone_until_escape() -> None:
    async def use(it: Live) -> None:
        await it.see(waiting({1: 0.9, 2: 0.6}))
        await it.press("2", "down", "enter")
        assert "Session 2: app, app, app2, local" in it.text
        await it.see(waiting({2: 0.9, 1: 0.6, 3: 0.2}))
        assert "Session 2: app, app, app2, local" in it.text
        assert "row lock" in it.text
        await it.press("1", "2")
        assert "Session 2: app, app, app2, local" in it.text
        await it.press("escape")
        assert "Application" in it.text
        assert it.list.under_cursor == 2
        await it.press("down", "enter")
        assert "Session 1: app, app, app1, local" in it.text

    live(use)


def test_a_session_that_is_gone_or_idle_says_so() -> None:
    async def use(it: Live) -> None:
        await it.see(waiting({1: 0.9, 2: 0.6}))
        assert "Session 2: app" in it.text
        await it.see(waiting({1: 0.9, 2: 0.0}))
        assert "The session only waited for its client." in it.text
        await it.see(waiting({1: 0.9}))
        assert "Session 2 is gone" in it.text
        await it.press("escape")
        assert "app1" in it.text

    live(use, session=2)


def test_space_holds_what_is_shown() -> None:
    async def use(it: Live) -> None:
        await it.see(waiting({1: 0.9}))
        await it.press("space")
        await it.see(waiting({1: 0.9, 2: 0.8}))
        assert "HELD" in it.text
        assert "1 session was busy" in it.text
        await it.press("space")
        assert "HELD" not in it.text
        await it.see(waiting({1: 0.9, 2: 0.8}))
        assert "2 sessions were busy" in it.text

    live(use)


def test_a_server_that_does_not_answer_is_said() -> None:
    async def use(it: Live) -> None:
        await it.see(waiting({1: 0.9}))
        assert "no answer" not in it.text
        it.screen._heard -= 3600
        it.screen._show_status()
        await it.press("1")
        assert "no answer from the server for 36" in it.text
        await it.see(waiting({1: 0.9}))
        assert "no answer" not in it.text

    live(use)


def test_names_are_shown_as_they_are() -> None:
    async def use(it: Live) -> None:
        observation = make_observation(
            [make_process(1, application="[red]a[/b]", user="[@click=quit]u")],
            [(tick, 0, "Lock:[b]", "asleep") for tick in range(40)],
        )
        await it.see(advised(profile_observation(observation)))
        for key in "13":
            await it.press(key)
            assert "Lock:[b]" in it.text
        await it.press("2")
        assert "[red]a[/b]" in it.text
        await it.press("enter")
        assert "[@click=quit]u, app, [red]a[/b]" in it.text

    live(use)


def test_the_same_number_twice_in_ten_seconds() -> None:
    async def use(it: Live) -> None:
        looks: list[Look] = [(tick, place, "Lock:tuple", "asleep") for tick in range(9) for place in (0, 1)]
        processes = [make_process(7, started=1, ended=True), make_process(7, started=2)]
        await it.see(advised(profile_observation(make_observation(processes, looks))))
        await it.press("2")
        assert it.list.numbers == [7, 7]
        await it.press("enter")
        assert "Session 7: app, app, web, local" in it.text

    live(use, (120, 40))


@pytest.mark.parametrize("made", [profiles.busy, profiles.remote, profiles.quiet])
def test_every_size_shows_every_profile(made: Callable[[], dict[str, Any]]) -> None:
    async def use(it: Live) -> None:
        await it.see(made())
        for size in SIZES:
            await it.resize(*size)
            await it.press("1", "2", "enter", "escape", "3", "4", "5")
            lines = it.text.splitlines()
            assert (len(lines[0]), len(lines)) == size
            assert "Quit" in lines[-1]
            assert "Server" in it.text

    live(use)


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_it_ends_without_an_error(key: str) -> None:
    async def use(it: Live) -> None:
        await it.see(profiles.busy())
        await it.press(key)
        assert not it.screen.is_running

    screen = live(use)
    assert (screen.error, screen.return_code) == (None, 0)


def test_what_arrives_after_the_end_is_let_go() -> None:
    async def use(it: Live) -> None:
        await it.see(profiles.busy())

    screen = live(use)
    screen.on_live_screen_changed(LiveScreen.Changed(profiles.busy()))
    screen.action_hold()
    assert screen.error is None


@pytest.fixture
def headless(monkeypatch: pytest.MonkeyPatch) -> None:
    """`run_live` without a terminal."""
    monkeypatch.setattr(LiveScreen, "run", functools.partialmethod(LiveScreen.run, headless=True))


def test_what_the_reading_raised_is_raised(headless: None) -> None:
    coming = Queue[dict[str, Any] | Exception]()
    coming.put(profiles.busy())
    coming.put(RefusedError("The server went away."))

    def read(ended: Event) -> dict[str, Any]:
        item = coming.get()
        if isinstance(item, Exception):
            raise item
        return item

    with pytest.raises(RefusedError, match="went away"):
        run_live(read, None)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_good_order(headless: None, number: signal.Signals) -> None:
    before = signal.getsignal(number)

    def read(ended: Event) -> None:
        signal.raise_signal(number)
        ended.wait()

    with pytest.raises(InterruptedRunError):
        run_live(read, None)
    assert signal.getsignal(number) is before


def test_a_screen_that_failed_is_no_success(headless: None) -> None:
    def read(ended: Event) -> dict[str, Any] | None:
        return None if ended.wait(0.01) else {"no": "results"}

    with pytest.raises(SystemExit) as ended:
        run_live(read, None)
    assert ended.value.code == 1

"""The shell of every observer: what it gives once the connection was lost, and how long it waits."""

from __future__ import annotations

from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from redolab.engine.server.observer import Observer, warned
from redolab.errors import RefusedError
from redolab.records.observation import Observation
from tests.unit.analysis.observations import make_observation

SEEN = make_observation()


class Scripted(Observer):
    """Loses its connection at its second look; the server is away for so many openings after that."""

    retry_s = 0.0
    stops_early = True
    away = 0
    opened = ended = looks = 0

    def aim(self, target: str) -> None:
        self.target = target

    def open(self) -> None:
        self.opened += 1
        if 1 < self.opened <= 1 + self.away:
            raise RefusedError("It is away.")

    def look(self) -> Observation:
        self.looks += 1
        if self.looks != 2:
            return SEEN
        self.end()
        return replace(SEEN, broken="lost")

    def resume(self, last: Observation) -> Observation:
        self.reopen()
        return warned(last, "It was away.")

    def end(self) -> None:
        self.ended += 1


def lost(observer: Observer) -> Observation:
    assert observer.read().broken is None
    return observer.read()


@pytest.mark.parametrize("away", [0, 3])
def test_a_lost_connection_is_made_again(monkeypatch: pytest.MonkeyPatch, away: int) -> None:
    monkeypatch.setattr(Scripted, "away", away)
    observer = Scripted("url")
    seen = lost(observer)
    assert (seen.broken, seen.warnings) == ("lost", ("It was away.",))
    assert observer.read() is SEEN
    assert observer.opened == 2 + away
    observer.close()
    assert observer.ended == 2


@pytest.mark.parametrize(("stopped", "warnings"), [(False, 0), (True, 1)])
def test_without_it_the_last_reading_stays(stopped: bool, warnings: int) -> None:
    stop = Event()
    observer = Scripted("url", 0, stop, stopped)
    if stopped:
        stop.set()
    seen = lost(observer)
    assert (seen.broken, len(seen.warnings)) == ("lost", warnings)
    assert observer.read() == seen
    observer.close()
    assert (observer.opened, observer.looks, observer.ended) == (1, 2, 1)


@pytest.mark.parametrize(
    ("name", "value"), [("restart_limit_s", -1.0), ("is_away", lambda *_: False)], ids=["late", "refused"]
)
def test_a_server_that_stays_away_ends_it(monkeypatch: pytest.MonkeyPatch, name: str, value: Any) -> None:
    monkeypatch.setattr(Scripted, "away", 2)
    monkeypatch.setattr(Scripted, name, value)
    observer = Scripted("url")
    for opened in (2, 3):
        with pytest.raises(RefusedError, match="It is away"):
            lost(observer) if opened == 2 else observer.read()
        assert observer.opened == opened
    observer.close()
    assert observer.ended == 1, "it is disconnected already"

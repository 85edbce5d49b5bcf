"""The loop of a watch over a made-up server: stretches, interruptions, a server that goes and comes back."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest

from redolab.errors import InterruptedRunError, RefusedError, UsageError
from redolab.measure import watching
from redolab.measure.runner import Outcome
from redolab.measure.watching import PeriodLengths, WatchWish, watch
from redolab.records.observation import Observation, ServerFacts
from redolab.records.store import open_run
from redolab.records.watched import Watched
from tests.unit.analysis.observations import SERVER, make_observation, make_process

FACTS = ServerFacts(SERVER, "a server", {"synchronous_commit": "on"})
COUNTERS = {"transactions": 100.0, "rows_written": 300.0, "log_flushes": 50.0, "log_flush_time_s": 0.1}
GONE = "the connection to the server was lost"


def second(**changes: Any) -> Observation:
    looks = [(tick, 0, "IO:WalSync", "asleep") for tick in range(25)]
    made = make_observation([make_process(1, cpu_s=0.1)], looks, 25, 1.0, counters=COUNTERS)
    return replace(made, **changes)


@dataclass
class Server:
    """Gives the readings that it was told to; an exception among them is raised, a call is made."""

    readings: list[Any]
    facts: ServerFacts = FACTS
    refusals: list[Exception] = field(default_factory=list)
    opened: int = 0
    closed: int = 0

    def begin(self, stop: Event) -> Server:  # noqa: ARG002
        if self.opened and self.refusals:
            raise self.refusals.pop(0)
        self.opened += 1
        return self

    def read(self) -> Observation:
        found = self.readings.pop(0) if self.readings else second()
        if isinstance(found, BaseException):
            raise found
        if not isinstance(found, Observation):
            found()
            found = second()
        return found

    def close(self) -> None:
        self.closed += 1


@dataclass
class Told:
    """What a watch says while it is under way."""

    rows: list[Watched] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)

    def begin(self, place: str) -> None:
        self.places.append(place)

    def stored(self, row: Watched) -> None:
        self.rows.append(row)

    def lost(self, why: str) -> None:
        self.losses.append(why)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_PER_READING_S", 0.002)
    monkeypatch.setattr(watching, "_LEAST_READING_S", 0.0)
    monkeypatch.setattr(watching, "_FIRST_WAIT_S", 0.001)


def interrupt(number: int = signal.SIGINT) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def seconds(count: int) -> list[Any]:
    return [second() for _ in range(count)]


def watched(
    server: Server, out: Path, readings: Iterable[Any] = (), length_s: float = 4.0, **wish: Any
) -> tuple[Outcome, Told]:
    told = Told()
    server.readings = [*readings, interrupt()]
    given = {"seconds": None, "command": "redolab watch", "lengths": PeriodLengths(length_s), **wish}
    return watch(server.begin, WatchWish(out, **given), told), told


def test_readings_become_stretches(tmp_path: Path) -> None:
    server = Server([])
    outcome, told = watched(server, tmp_path / "run", seconds(9))
    run = outcome.run
    assert outcome.error is None
    assert run.manifest["status"] == "finished"
    assert run.samples["elapsed_s"].to_pylist() == [4.0, 4.0, 2.0]
    assert run.samples["transactions"].to_pylist() == [400, 400, 200]
    assert run.samples["rows_written"].to_pylist() == [1200, 1200, 600]
    assert run.samples["spoiled"].to_pylist() == [None] * 3
    assert run.samples["position"].to_pylist() == [1, 2, 3]
    starts = run.samples["start_s"].to_pylist()
    assert starts == sorted(starts)
    assert [row.sample for row in told.rows] == [1, 2, 3]
    assert told.places == [SERVER["place"]]
    assert server.closed == 1
    assert run.manifest["settings"][0]["parameters"] == FACTS.parameters
    assert run.manifest["engine"]["identity"] == "a server"


def test_stretches_get_longer_after_the_first_ones(tmp_path: Path) -> None:
    outcome, _ = watched(Server([]), tmp_path / "run", seconds(11), lengths=PeriodLengths(2.0, 3, 5.0))
    assert outcome.run.samples["elapsed_s"].to_pylist() == [2.0, 2.0, 2.0, 5.0, 1.0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_is_the_end_of_an_endless_watch_alone(tmp_path: Path, number: signal.Signals) -> None:
    server = Server([])
    for place, asked, status in (("endless", None, "finished"), ("an hour", 3600.0, "interrupted")):
        server.readings = [*seconds(5), interrupt(number)]
        outcome = watch(
            server.begin, WatchWish(tmp_path / place, asked, "", lengths=PeriodLengths(4.0)), Told()
        )
        assert outcome.run.manifest["status"] == status
        assert sum(outcome.run.samples["elapsed_s"].to_pylist()) == 6.0
        assert isinstance(outcome.error, InterruptedRunError) is (asked is not None)


def test_a_time_that_is_over_is_a_finished_watch(tmp_path: Path) -> None:
    told = Told()
    outcome = watch(Server([]).begin, WatchWish(tmp_path / "run", 0.1, "", lengths=PeriodLengths(4.0)), told)
    assert (outcome.error, outcome.run.manifest["status"]) == (None, "finished")
    assert len(told.rows) == outcome.run.samples.num_rows > 1


def test_a_lost_server_spoils_its_stretch_and_is_watched_again(tmp_path: Path) -> None:
    refusals = [RefusedError("No connection: it starts up."), RefusedError("No connection: password.")]
    server = Server([], refusals=list(refusals))
    broken = second(broken=GONE, counters=dict.fromkeys(COUNTERS), elapsed_s=0.5)
    outcome, told = watched(server, tmp_path / "run", [*seconds(6), broken, *seconds(3)])
    samples = outcome.run.samples
    assert samples["elapsed_s"].to_pylist() == [4.0, 2.5, 4.0]
    assert samples["spoiled"].to_pylist() == [None, GONE, None]
    assert samples["transactions"].to_pylist() == [400, None, 400]
    assert told.losses == [GONE, *map(str, refusals)]
    assert (server.opened, server.closed) == (2, 2)
    assert outcome.run.manifest["status"] == "finished"


def test_an_end_while_the_server_is_away_keeps_the_rest(tmp_path: Path) -> None:
    class Away(Server):
        def begin(self, stop: Event) -> Server:
            if self.opened:
                interrupt()()
                raise RefusedError("No connection.")
            return super().begin(stop)

    outcome, _ = watched(Away([]), tmp_path / "run", [*seconds(4), second(broken=GONE)])
    assert outcome.run.samples["spoiled"].to_pylist() == [None, GONE]
    assert outcome.run.manifest["status"] == "finished"


def test_another_server_in_its_place_ends_the_watch(tmp_path: Path) -> None:
    server = Server([])

    def exchange() -> None:
        server.facts = replace(FACTS, identity="another server")

    outcome, _ = watched(server, tmp_path / "run", [*seconds(3), exchange, second(broken=GONE)])
    assert isinstance(outcome.error, UsageError)
    assert "is not the server watched in" in str(outcome.error)
    assert outcome.run.manifest["status"] == "failed"
    assert server.closed == 2
    assert outcome.run.samples["transactions"].to_pylist()[0] == 400


def test_a_server_that_never_answers_leaves_nothing(tmp_path: Path) -> None:
    def refuse(stop: Event) -> Server:
        raise RefusedError("No connection: refused.")

    with pytest.raises(RefusedError, match="No connection: refused"):
        watch(refuse, WatchWish(tmp_path / "run", None, ""), Told())
    assert not (tmp_path / "run").exists()


def test_a_watch_goes_on(tmp_path: Path) -> None:
    server, out = Server([]), tmp_path / "run"
    watched(server, out, seconds(5))
    outcome, _ = watched(server, out, seconds(3), again=True)
    samples = outcome.run.samples
    assert samples["sample"].to_pylist() == [1, 2, 3]
    assert samples["block"].to_pylist() == [1, 1, 2]
    assert samples["position"].to_pylist() == [1, 2, 1]
    starts, lengths = samples["start_s"].to_pylist(), samples["elapsed_s"].to_pylist()
    assert starts[2] >= starts[1] + lengths[1]
    assert outcome.run.manifest["started_at"] == open_run(out).manifest["started_at"]


@pytest.mark.parametrize(
    "facts",
    [
        replace(FACTS, identity="another server"),
        replace(FACTS, server={**SERVER, "name": "MariaDB"}),
        replace(FACTS, identity=None, server={**SERVER, "place": "elsewhere"}),
    ],
)
def test_it_goes_on_with_no_other_server(tmp_path: Path, facts: ServerFacts) -> None:
    out = tmp_path / "run"
    watched(Server([]), out, seconds(3))
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    other = Server([], facts)
    with pytest.raises(UsageError, match="is not the server watched in"):
        watched(other, out, seconds(3), again=True)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    assert other.closed == 1


def test_a_moved_server_is_known_by_what_it_is(tmp_path: Path) -> None:
    out = tmp_path / "run"
    watched(Server([]), out, seconds(3))
    moved = Server([], replace(FACTS, server={**SERVER, "place": "elsewhere"}))
    outcome, _ = watched(moved, out, seconds(3), again=True)
    assert outcome.run.samples.num_rows == 2


def test_what_cannot_be_had_is_told_once(tmp_path: Path) -> None:
    blind = second(not_available=(("time of log flushes", "the server does not time them"),))
    unsure = replace(blind, warnings=("Counters are left out: a procedure was running.",), counters={})
    outcome, _ = watched(Server([]), tmp_path / "run", [*[blind] * 5, unsure, *[blind] * 4])
    assert outcome.run.manifest["not_measured"] == [
        "Time of log flushes: the server does not time them.",
        "Counters are left out: a procedure was running.",
    ]
    assert outcome.run.samples["transactions"].to_pylist() == [400, None, 300]
    assert outcome.run.manifest["sampler"]["source"] == "server memory"


def test_a_second_interruption_keeps_what_was_seen(tmp_path: Path) -> None:
    def hang() -> None:
        interrupt()()
        interrupt()()

    outcome, _ = watched(Server([]), tmp_path / "run", [*seconds(5), hang])
    assert outcome.run.manifest["status"] == "finished"
    assert outcome.run.samples["elapsed_s"].to_pylist() == [4.0, 1.0]


def test_a_last_moment_is_read_only_where_nothing_was_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_LEAST_READING_S", 60.0)
    monkeypatch.setattr(watching, "_PER_READING_S", 30.0)

    class Interrupted(Server):
        def begin(self, stop: Event) -> Server:
            Timer(0.05, stop.set).start()
            return super().begin(stop)

    server = Interrupted([second(), second()])
    outcome = watch(server.begin, WatchWish(tmp_path / "run", None, "", lengths=PeriodLengths(4.0)), Told())
    assert outcome.run.samples["elapsed_s"].to_pylist() == [1.0]
    again = Interrupted([second()])
    outcome = watch(again.begin, WatchWish(tmp_path / "run", None, "", True), Told())
    assert outcome.run.samples.num_rows == 1
    assert len(again.readings) == 1

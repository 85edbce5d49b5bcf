"""One server with some odd settings: doctor, a profile, a watch and a run of it, and whether all is true."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from redolab import open_run
from tests.matrix import family, postgres
from tests.matrix.odd import Odd
from tests.servers import PASSWORD, Ended, in_this_process

_PAUSE_S, _WATCHED_S = 0.02, 3.0
_SETTINGS = "wait/immediate,nowait/batch"


class Somebodys(Protocol):
    """A server with odd settings."""

    engine: str
    url: str

    def put(self, odds: Sequence[Odd]) -> None: ...
    def undo(self, odds: Sequence[Odd]) -> None: ...
    def state(self) -> dict[str, object]: ...
    def commits(self, stop: threading.Event, pause_s: float) -> Iterator[None]: ...
    def repeat(self, statements: Sequence[str], stop: threading.Event) -> None: ...


def odds_of(server: str) -> list[Odd]:
    """The settings that a server of that name can have."""
    engine, _, version = server.partition(" ")
    table = postgres.ODD if engine == "postgres" else family.ODD[engine]
    return [odd for odd in table if not odd.only or version in odd.only]


@contextmanager
def served(server: str, odds: Sequence[Odd]) -> Iterator[Somebodys]:
    """Such a server, started with what the settings need."""
    place = Path(tempfile.mkdtemp(prefix="redolab-odd-"))
    place.chmod(0o755)
    engine, _, version = server.partition(" ")
    begun: AbstractContextManager[Somebodys] = (
        postgres.started(version, odds, place / "s")
        if engine == "postgres"
        else family.started(server, odds, place / "s")
    )
    try:
        with begun as it:
            yield it
    finally:
        shutil.rmtree(place, ignore_errors=True)


def play(server: Somebodys, odds: Sequence[Odd], observed: bool = True) -> list[str]:
    """Have a started server with these settings looked at; returns what was untrue of it.

    Args:
        server: started with what the settings need.
        odds: that it gets.
        observed: whether it is profiled and watched too, which takes five seconds.
    """
    server.put(odds)
    try:
        before = server.state()
        faults = _Looks(server, odds, observed).faults
        after = server.state()
    finally:
        server.undo(odds)
    names = [name for name in sorted({*before, *after}, key=str) if before.get(name) != after.get(name)]
    return faults + [f"{name}: {before.get(name)!r} became {after.get(name)!r}" for name in names]


class _Looks:
    """The four commands, one after the other, beside a colleague who commits and counts."""

    def __init__(self, server: Somebodys, odds: Sequence[Odd], observed: bool) -> None:
        self.faults: list[str] = []
        self._server, self._odds = server, odds
        self._told = [odd.refuses for odd in odds if odd.refuses]
        self._hidden = {what for odd in odds for what in odd.hides}
        self._place = Path(tempfile.mkdtemp(prefix="redolab-matrix-"))
        try:
            if observed:
                self._observe()
            self._experiment()
        finally:
            shutil.rmtree(self._place)

    def _redolab(self, *words: str | Path) -> Ended:
        places = {f"XDG_{kind}_HOME": str(self._place / kind.lower()) for kind in ("CACHE", "DATA")}
        ended = in_this_process(self._place, *words, environment={"PGPASSWORD": PASSWORD, **places})
        if "Traceback" in ended.err + ended.out or ended.code not in (0, 3):
            self._fault(f"{words[0]} ends with {ended.code}: {ended.err[-1500:]}")
        return ended

    def _fault(self, text: str) -> None:
        self.faults.append(text)

    def _observe(self) -> None:
        with self._colleague() as (counted, colleague):
            profiled = self._redolab("profile", self._server.url, "--seconds", "1.5", "--json")
            watched = self._redolab(
                "watch",
                self._server.url,
                "--seconds",
                str(_WATCHED_S),
                "--json",
                "--out",
                self._place / "watch",
            )
            # Where several customs meet the colleague may be thrown out.
            alive = colleague.is_alive()
        for what, ended in (("profile", profiled), ("watch", watched)):
            if ended.code != 0 and not any(re.search(text, ended.err) for text in self._told):
                self._fault(f"{what} ends with {ended.code}: {ended.err[-500:]}")
        if profiled.code == watched.code == 0:
            self._check_profile(json.loads(profiled.out))
            self._check_watch(json.loads(watched.out), self._rate(counted) if alive else None)

    def _rate(self, counted: Sequence[float]) -> float | None:
        """Commits per second in the stretches that count; around them this process has other work."""
        stretches = [
            (datetime.fromisoformat(it["started_at"]).timestamp(), it["elapsed_s"])
            for it in open_run(self._place / "watch").samples.to_pylist()
            if it["spoiled"] is None
        ]
        commits = sum(began <= at < began + long for at in counted for began, long in stretches)
        return commits / sum(long for _, long in stretches) if stretches else None

    def _check_profile(self, profile: dict[str, Any]) -> None:
        most = 1 + sum(bool(odd.beside) for odd in self._odds)
        seen = profile["all_sessions"]
        # Where several customs meet somebody may be thrown out, and log in again and again.
        if len(self._odds) == 1 and "number" not in self._hidden and seen["sessions"] > most:
            self._fault(f"the profile sees {seen['sessions']} sessions of {most}")
        busy = seen["busy_at_a_time"]
        if busy is not None and busy > most + 0.2:
            self._fault(f"{busy} of {most} sessions are busy at a time")
        if "sessions" not in self._hidden and seen["sessions"] == 0 and not profile["not_available"]:
            self._fault("the profile sees no session, and does not say why")

    def _check_watch(self, watch: dict[str, Any], rate: float | None) -> None:
        figures, missing = watch["settings"][0]["figures"], watch["settings"][0]["missing"]
        most = 1 + sum(bool(odd.beside) for odd in self._odds)
        connected = figures["connected_sessions"]["point"]
        if connected is not None and connected > most + 0.2:
            self._fault(f"the watch sees {connected} sessions of {most}")
        for name, figure in figures.items():
            if figure["point"] is None and name not in missing:
                self._fault(f"{name} is not known, and no reason is given")
        seen = figures["arrival_rate_per_s"]["point"]
        others = any(odd.beside for odd in self._odds)
        if (
            rate is not None
            and seen is not None
            and not 0.7 * rate <= seen < (9.0 if others else 1.4) * rate + 3
        ):
            self._fault(f"the watch sees {seen:.1f} commits a second, and a colleague made {rate:.1f}")

    def _experiment(self) -> None:
        asked = self._redolab("doctor", "commit-mode", "--engine", self._server.url)
        place = self._place / "run"
        ended = self._redolab(
            "run", "commit-mode", "--quick", "--blocks", "2", "--seconds", "0.15", "--sessions", "2",
            "--settings", _SETTINGS, "--yes", "--json", "--engine", self._server.url, "--out", place,
        )  # fmt: skip
        if asked.code != ended.code:
            self._fault(
                f"doctor ends with {asked.code}, the run with {ended.code}: "
                f"{asked.out[-700:]} {ended.err[-700:]}"
            )
        for pattern in self._told:
            if ended.code != 3 or not re.search(pattern, ended.err):
                self._fault(f"the run is not refused for {pattern}: {ended.code}, {ended.err[-700:]}")
            if place.exists():
                self._fault("a run that is refused leaves its directory")
        if not self._told and ended.code != 0:
            self._fault(f"the run is refused: {ended.err[-700:]}")
        if ended.code == 0:
            self._check_run(place, json.loads(ended.out))

    def _check_run(self, place: Path, results: dict[str, Any]) -> None:
        samples = open_run(place).samples.to_pylist()
        good = [sample for sample in samples if sample["spoiled"] is None]
        if len(good) < len(samples):
            self._fault(f"spoiled: {sorted({str(sample['spoiled']) for sample in samples} - {'None'})}")
        promised = {setting["tier"] for setting in results["settings"]}
        if any(odd.volatile for odd in self._odds) and not promised <= {"memory", "os"}:
            self._fault(f"the run promises {promised}, and nothing is on the disk")

    @contextmanager
    def _colleague(self) -> Iterator[tuple[list[float], threading.Thread]]:
        """Somebody who commits, and when; and what else is at work."""
        counted: list[float] = []
        stop = threading.Event()

        def commit() -> None:
            for _ in self._server.commits(stop, _PAUSE_S):
                counted.append(time.time())  # noqa: PERF401  read meanwhile

        besides = [odd.beside for odd in self._odds if odd.beside]
        threads = [threading.Thread(target=commit)]
        threads += [threading.Thread(target=self._server.repeat, args=(it, stop)) for it in besides]
        for thread in threads:
            thread.start()
        try:
            time.sleep(0.3)
            yield counted, threads[0]
        finally:
            stop.set()
            for thread in threads:
                thread.join()

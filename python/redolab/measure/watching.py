"""A watch as it happens: a live server is read again and again, and each stretch of time is stored as a row.

It goes on over restarts of the server and lost connections: the stretch under way is then stored as spoiled,
and the server is tried again until the watch ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any, Protocol

import redolab
from redolab.analysis.live.stretch import Place, stretch
from redolab.errors import InterruptedRunError, RedolabError, RefusedError, UsageError
from redolab.machine.cpus import read_cpus
from redolab.machine.machine import describe_machine
from redolab.measure.runner import Interruptions, Outcome
from redolab.records.observation import Observation, ServerFacts, join
from redolab.records.store import read_manifest
from redolab.records.watched import SETTING, Watched
from redolab.records.writing.watch_writer import WatchWriter

QUESTION = "What did this server's commits cost, and when?"
_PER_READING_S = 2.5
"""PostgreSQL's sessions keep their counts to themselves for a second: over less, counters do not agree."""
_LEAST_READING_S = 2.0
"""Shortest rest at the end that is still read, where anything was read before."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 10.0
_MOST_NOTES = 200


class WatchSource(Protocol):
    """A server under observation, as an engine gives it."""

    @property
    def facts(self) -> ServerFacts:
        """Identity and parameters of the server."""
        ...

    def read(self) -> Observation:
        """Observations since the last reading; `broken` where the connection was lost."""
        ...

    def close(self) -> None:
        """End the observation."""
        ...


class WatchProgress(Protocol):
    """Receiver of a watch's progress."""

    def begin(self, place: str) -> None:
        """The server at `place` is being watched."""
        ...

    def stored(self, row: Watched) -> None:
        """One more stretch is stored."""
        ...

    def lost(self, why: str) -> None:
        """The server cannot be read, and is tried again."""
        ...


@dataclass(frozen=True)
class PeriodLengths:
    """How long stretches are: the first ones shorter, for a watch of an hour."""

    first_s: float = 10.0
    first: int = 360
    later_s: float = 60.0

    def of(self, number: int) -> float:
        """The length of stretch `number`, from 1."""
        return self.first_s if number <= self.first else self.later_s


@dataclass(frozen=True)
class WatchWish:
    """How a watch was asked for."""

    out: Path
    seconds: float | None
    """None: until it is interrupted, which is then its end."""
    command: str
    again: bool = False
    """Whether `out` is the directory of an earlier watch, to go on with."""
    lengths: PeriodLengths = PeriodLengths()


def watch(begin: Callable[[Event], WatchSource], wish: WatchWish, progress: WatchProgress) -> Outcome:
    """Watch a server, store each stretch as it ends, and close the run.

    Args:
        begin: opens an observer, which is to hang no longer than a second once its event is set.
        wish: where to, and for how long.
        progress: notified of every stretch.

    Raises:
        RedolabError: nothing could be watched at all.
    """
    with Interruptions("what was read so far is kept") as interruptions:
        stop = interruptions.stop
        source = _begun(begin, stop)
        try:
            writer = _open(wish, source.facts)
            watching = _Watching(source, begin, writer, wish, progress, stop)
        except BaseException:
            source.close()
            raise
        error: RedolabError | None = None
        try:
            watching.go()
        except InterruptedRunError:
            pass
        except RedolabError as raised:
            error = raised
        finally:
            early = wish.seconds is not None and stop.is_set() and not watching.over
            interruptions.closing = True
            watching.end()
        if not writer.samples:
            writer.discard()
            raise error or _nothing_seen()
        status = "failed" if error else "interrupted" if early else "finished"
        if status == "interrupted":
            error = InterruptedRunError("Interrupted: what was read until then is kept.")
        run = writer.finish(
            status,
            finished_at=_now(),
            error=str(error) if error else None,
            not_measured=list(watching.notes),
        )
    return Outcome(run, error)


def _begun(begin: Callable[[Event], WatchSource], stop: Event) -> WatchSource:
    try:
        return begin(stop)
    except RefusedError as error:
        if stop.is_set():
            raise _nothing_seen() from error
        raise


def _nothing_seen() -> InterruptedRunError:
    return InterruptedRunError("Interrupted before anything was seen.")


class _Watching:
    """One start of a watch."""

    def __init__(
        self,
        source: WatchSource,
        begin: Callable[[Event], WatchSource],
        writer: WatchWriter,
        wish: WatchWish,
        progress: WatchProgress,
        stop: Event,
    ) -> None:
        self._source: WatchSource | None = source
        self._begin, self._writer, self._wish = begin, writer, wish
        self._progress, self._stop = progress, stop
        self._began = self._due = self._read_s = self._from_s = time.monotonic()
        """`_from_s`: when the stretch under way began, `_read_s`: when it was read the last time."""
        seconds = wish.seconds or _PER_READING_S
        self._pace_s = seconds / max(1, round(seconds / _PER_READING_S))
        first = datetime.fromisoformat(writer.manifest["started_at"])
        # The clock of the machine may have been set since; stretches do not overlap.
        self._offset_s = max((datetime.now(UTC) - first).total_seconds(), writer.watched_s)
        self._seen: list[Observation] = []
        self._position, self._pause_s = 0, _FIRST_WAIT_S
        self._cpu_s = time.process_time()
        self._cores = read_cpus(allowed=read_cpus().online).cores
        self.notes = dict.fromkeys(writer.manifest.get("not_measured", ()))
        """Notes on figures that were not measured, and why."""

    @property
    def over(self) -> bool:
        """Whether its time is over."""
        seconds = self._wish.seconds
        return seconds is not None and self._left() <= 0

    def go(self) -> None:
        """Watch until the end.

        Raises:
            RedolabError: it cannot be stored, or another server answers.
        """
        self._progress.begin(str(self._writer.manifest["engine"].get("place", "")))
        while not self._stop.is_set() and not self.over:
            if self._writer.full:
                raise RefusedError(
                    f"{self._writer.path} has as many stretches as one run may have. Continue the watch in "
                    "another directory (--out)."
                )
            if self._source is None:
                self._connect()
                continue
            if not self._wait_for_reading():
                break
            reading = self._source.read()
            self._read_s = time.monotonic()
            self._seen.append(reading)
            if reading.broken is not None:
                self._lose(reading.broken)
            elif self._complete():
                self._store()

    def end(self) -> None:
        """Store the stretch under way, and let go of the server."""
        try:
            if self._seen:
                self._store()
        finally:
            self._close()

    def _left(self) -> float:
        assert self._wish.seconds is not None
        return self._began + self._wish.seconds - time.monotonic()

    def _wait_for_reading(self) -> bool:
        """Wait until the next reading is due; returns whether it is worth making."""
        self._due = max(self._due + self._pace_s, time.monotonic())
        until = self._due - time.monotonic()
        if self._wish.seconds is not None:
            until = min(until, self._left())
        if not self._stop.wait(max(until, 0.0)):
            return True
        nothing = not self._seen and not self._writer.samples
        return nothing or time.monotonic() - self._read_s >= _LEAST_READING_S

    def _complete(self) -> bool:
        length = self._wish.lengths.of(self._writer.samples + 1)
        return sum(item.elapsed_s for item in self._seen) >= length - self._pace_s / 2

    def _store(self, spoiled: str | None = None) -> None:
        whole, self._seen = join(self._seen), []
        self._position += 1
        start_s = self._offset_s + self._from_s - self._began
        self._from_s = self._read_s
        place = Place(
            self._writer.samples + 1,
            self._writer.block,
            self._position,
            # A reading's own clock and this one differ by the time that a reading takes.
            max(start_s, self._writer.watched_s),
        )
        row, entries = stretch(whole, place, self._cores, spoiled)
        # All CPU of this process, for looks as well as for the arithmetic of the stretch.
        cpu_s, self._cpu_s = self._cpu_s, time.process_time()
        row = replace(row, sampler_cpu_s=self._cpu_s - cpu_s)
        self._note(whole)
        self._writer.add(row, entries)
        self._progress.stored(row)

    def _note(self, whole: Observation) -> None:
        """Keep in the manifest the figures that this stretch lacks, and its source."""
        found = [f"{what[0].upper()}{what[1:]}: {why}." for what, why in whole.not_available if what]
        # Why counters of this stretch are null; after a loss its own reason says it.
        found += whole.warnings if whole.broken is None else ()
        new = [note for note in found if note not in self.notes]
        self.notes |= dict.fromkeys(new[: max(0, _MOST_NOTES - len(self.notes))])
        source = {"source": whole.instrument.source, "rate_per_s": whole.instrument.rate_per_s}
        if new or self._writer.manifest["sampler"] != source:
            self._writer.save_manifest(not_measured=list(self.notes), sampler=source)

    def _lose(self, why: str) -> None:
        if self._seen:
            self._store(why)
        self._close()
        self._progress.lost(why)
        self._pause_s = _FIRST_WAIT_S

    def _connect(self) -> None:
        """Try the server again, after a pause that grows."""
        pause, self._pause_s = self._pause_s, min(2 * self._pause_s, _LONGEST_WAIT_S)
        self._stop.wait(pause if self._wish.seconds is None else max(0.0, min(pause, self._left())))
        if self._stop.is_set() or self.over:
            return
        try:
            self._source = self._begin(self._stop)
        except RefusedError as error:
            # A server that recovers refuses for a while, and may not know its users yet.
            self._progress.lost(str(error))
            return
        check_same(self._writer.path, self._writer.manifest, self._source.facts)
        self._due = self._read_s = self._from_s = time.monotonic()

    def _close(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            source.close()


def check_same(path: Path, manifest: Mapping[str, Any], facts: ServerFacts) -> None:
    """Make sure that a watch goes on with the server that it began with.

    Raises:
        UsageError: it is another one.
    """
    engine, found = manifest["engine"], facts.server
    known = [(engine.get("identity"), facts.identity), (engine.get("place"), found["place"])]
    then, now = next(pair for pair in known if None not in pair or pair is known[-1])
    if engine["name"] != str(found["name"]).lower() or then != now:
        raise UsageError(
            f"The server at {found['place']} is not the server watched in {path} ({engine['name']} at "
            f"{engine.get('place')}). Give --out a new directory for that server."
        )


def _open(wish: WatchWish, facts: ServerFacts) -> WatchWriter:
    if not wish.again:
        return WatchWriter(wish.out, _manifest(facts, wish.command))
    check_same(wish.out, read_manifest(wish.out), facts)
    return WatchWriter(wish.out, None)


def _manifest(facts: ServerFacts, command: str) -> Mapping[str, Any]:
    server = dict(facts.server)
    return {
        "redolab_version": redolab.__version__,
        "experiment": "watch",
        "question": QUESTION,
        "record": "watched",
        "unit": "commit",
        "started_at": _now(),
        "finished_at": None,
        "design": {"baseline": SETTING, "blocks": 1, "seed": 0, "margin": 0.0},
        "settings": [{"name": SETTING, "levels": {}, "tier": "", "parameters": dict(facts.parameters)}],
        "load": {},
        "engine": {**server, "name": str(server["name"]).lower(), "identity": facts.identity},
        "machine": describe_machine() if server.get("local") else {},
        "conditions": [],
        "not_measured": [],
        **({"parameters_before": [asdict(item) for item in facts.before]} if facts.before else {}),
        "parameter_changes": [],
        "sampler": {"source": "none"},
        "command": command,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

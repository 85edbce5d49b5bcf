"""An engine that spends exactly the time that its script sets, on a clock of its own: for exact tests only.

No command reaches it. A whole run on it, from design to report, has figures that can be worked out
by hand (tests/unit/test_whole_run.py).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from redolab.dialect.durability import TIER_TEXT, durability_tier
from redolab.engine.base import Engine
from redolab.engine.sampling.alternation import SliceMark, SlicePlan, on_off, plan
from redolab.errors import InterruptedRunError
from redolab.records.load import Amount, Load
from redolab.records.sample import (
    ParameterChange,
    ServerClock,
    Setting,
    Snapshot,
    TaskAccount,
    TickCount,
    Ticks,
    Work,
)

_BACKGROUND_PID = 1
_FIRST_SESSION_PID = 100


@dataclass(frozen=True)
class FakeScript:
    """The cost of one setting. Times are nanoseconds of a session per commit."""

    cpu_ns: int
    run_queue_ns: int
    waits_ns: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """(class, event) to time asleep; `("", "")` is time asleep with nothing posted."""
    background_cpu_ns: int = 0
    """CPU of the one background process per commit."""
    log_bytes: int = 100
    commits_per_flush: int = 1
    flush_ns: int = 0
    sampling_loss: float = 0.0
    """Share of throughput that the wait sampler costs; in the on/off pairs alone, not in the accounts."""

    @property
    def commit_ns(self) -> int:
        """Time of one commit in its session."""
        return self.cpu_ns + self.run_queue_ns + sum(self.waits_ns.values())


class FakeWatch:
    """Sees every wait in proportion to its time: one round per nanosecond of a commit."""

    def __init__(self, engine: FakeEngine, in_turns_s: float) -> None:
        self._engine, self._load_s = engine, in_turns_s
        self.ticks = Ticks()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        script, sessions = self._engine.script, self._engine.sessions
        rounds = script.commit_ns
        counts = [
            TickCount("session", "client backend", "", "", "on_cpu", script.cpu_ns * sessions),
            TickCount("session", "client backend", "", "", "runnable", script.run_queue_ns * sessions),
        ]
        counts += [
            TickCount("session", "client backend", wait_class, event, "asleep", time_ns * sessions)
            for (wait_class, event), time_ns in script.waits_ns.items()
        ]
        counts.append(TickCount("background", "walwriter", "Activity", "WalWriterMain", "asleep", rounds))
        cut = plan(self._load_s, self._engine.works)
        self.ticks = Ticks(
            tuple(counts),
            rounds=rounds,
            looks=sum(count.ticks for count in counts),
            sampled_s=self._load_s - cut.slice_s * cut.turns.count(False),
            pairs=on_off(cut.turns, self._marks(cut)),
        )

    def _marks(self, cut: SlicePlan) -> list[SliceMark]:
        script = self._engine.script
        per_s = 1e9 * self._engine.sessions / script.commit_ns
        marks = [SliceMark(0.0, 0)]
        for turn in cut.turns:
            rate = per_s * (1 - script.sampling_loss) if turn else per_s
            last = marks[-1]
            marks.append(SliceMark(last.at_s + cut.slice_s, last.transactions + round(rate * cut.slice_s)))
        return marks


class FakeEngine(Engine):
    """Keeps a virtual clock and exact accounts."""

    def __init__(
        self,
        scripts: Mapping[str, FakeScript],
        interrupt_after: int | None = None,
        clock_steps: Mapping[int, float] | None = None,
        fsync: bool = True,
    ) -> None:
        """Spend time as `scripts` says per setting.

        Args:
            scripts: setting name to what it costs.
            interrupt_after: after so many works the stop event is set, as a Ctrl-C would.
            clock_steps: number of a work to how far the server's clock is set ahead in it, seconds.
            fsync: whether the log is flushed at all, which decides the durability tier.
        """
        self._fsync = fsync
        self._clock_steps, self._ahead_s = clock_steps or {}, 0.0
        self._scripts, self._interrupt_after = scripts, interrupt_after
        self._changes: list[ParameterChange] = []
        self._setting = ""
        self._ns = 0
        self.works = 0
        self._session_ns = [0, 0]
        self._background_cpu_ns = 0
        self._counters = dict.fromkeys(("log_bytes", "log_writes", "log_flushes", "server_rows"), 0)
        self._flush_ns = 0
        self.sessions = self._most = 0
        self._rows_per_commit = 1
        self.closed = False

    @property
    def changes(self) -> list[ParameterChange]:
        """One change per setting put in force."""
        return self._changes

    @property
    def script(self) -> FakeScript:
        """The cost of the setting in force."""
        return self._scripts[self._setting]

    def clock(self) -> float:
        """Seconds of virtual time."""
        return self._ns / 1e9

    def describe(self) -> Mapping[str, Any]:
        """The `engine` part of the manifest."""
        return {
            "name": "fake",
            "version": "0",
            "local": True,
            "place": "nowhere",
            "emulated": {},
            "log_filesystem": None,
        }

    def conditions(self) -> list[str]:
        """A reader must know that nothing was measured."""
        return ["The engine is a fake: these figures were scripted, not measured."]

    def not_measured(self) -> list[str]:
        """Everything."""
        return ["Any real database."]

    def sampler(self) -> Mapping[str, Any]:
        """The ticks are scripted too."""
        return {"source": "script", "rate_per_s": 1.0}

    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Take the number of sessions, where no level says it."""
        self.sessions = self._most = load.sessions
        settings = []
        for levels in combinations:
            tier = durability_tier(levels.get("commit_wait", "wait"), fsync=self._fsync, standbys=False)
            name = "/".join(levels.values())
            settings.append(
                Setting(name, levels, {"fake": name}, {"fake": load.scope}, tier, TIER_TEXT[tier])
            )
        return tuple(settings)

    def apply(self, setting: Setting) -> None:
        """Put a setting in force."""
        if setting.name != self._setting:
            change = ParameterChange(
                "fake", self._setting, setting.name, "session", f"{self.clock():.3f} s", setting.name
            )
            self._changes.append(change)
        self._setting = setting.name
        self.sessions = int(setting.levels.get("sessions", self._most))
        self._rows_per_commit = int(setting.levels.get("rows_per_commit", 1))

    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """As many whole commits per session as fit; a unit of work is a row, by default one per commit."""
        script = self.script
        each = round(amount.seconds * 1e9) // script.commit_ns
        if amount.units is not None:
            each = math.ceil(amount.units // self.sessions / self._rows_per_commit)
        commits, elapsed_ns = each * self.sessions, each * script.commit_ns
        rows = commits * self._rows_per_commit
        self._ns += elapsed_ns
        self._session_ns[0] += each * script.cpu_ns
        self._session_ns[1] += each * script.run_queue_ns
        self._background_cpu_ns += commits * script.background_cpu_ns
        flushes = commits // script.commits_per_flush
        self._flush_ns += flushes * script.flush_ns
        for name, more in (
            ("log_bytes", commits * script.log_bytes),
            ("log_writes", flushes),
            ("log_flushes", flushes),
            ("server_rows", rows),
        ):
            self._counters[name] += more
        self.works += 1
        if self.works == self._interrupt_after:
            stop.set()
            raise InterruptedRunError("The run was interrupted during a sample.")
        step_s = self._clock_steps.get(self.works, 0.0)
        self._ahead_s += step_s
        elapsed_s = elapsed_ns / 1e9 + step_s
        return Work(commits, rows, 0, elapsed_s * self.sessions, elapsed_s, rows)

    def snapshot(self) -> Snapshot:
        """Exact cumulative accounts."""
        pids = tuple(range(_FIRST_SESSION_PID, _FIRST_SESSION_PID + self.sessions))
        cpu_ns, run_queue_ns = self._session_ns
        tasks = [TaskAccount(pid, "client backend", pid, cpu_ns, run_queue_ns) for pid in pids]
        tasks.append(TaskAccount(_BACKGROUND_PID, "walwriter", 1, self._background_cpu_ns, 0))
        busy_ns = self._background_cpu_ns + cpu_ns * self.sessions
        counters: dict[str, float | None] = {
            **self._counters,
            "log_full_page_images": 0,
            "log_write_time_s": 0.0,
            "log_flush_time_s": self._flush_ns / 1e9,
            "checkpoints": 0,
            "vacuums": 0,
            "host_busy_s": busy_ns / 1e9,
            "host_steal_s": 0.0,
            "host_cpus": 2,
        }
        now_s = self.clock()
        server_clock = ServerClock(now_s, now_s + self._ahead_s, now_s)
        return Snapshot(now_s, "one", counters, tuple(tasks), 0, pids, server_clock)

    def watch(self, in_turns_s: float = 0.0) -> FakeWatch:
        """Ticks and on/off pairs in exact proportion."""
        return FakeWatch(self, in_turns_s)

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True

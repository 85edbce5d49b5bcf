"""The machine itself as an engine: CPU-bound processes in place of sessions, and no database."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from redolab import _core
from redolab.engine.base import Engine
from redolab.errors import InterruptedRunError, RefusedError, UsageError
from redolab.machine.cpus import Cpus, read_cpus, read_throttling, read_times
from redolab.records.load import Amount, Load, Spins
from redolab.records.sample import Setting, Snapshot, TaskAccount, Work

# Time from the orders to the agreed moment, nanoseconds: long enough for every process to read its own.
_LEAD_NS = 10_000_000
_STOP_CHECK_S = 0.05
_FOREVER = 2**63 - 1


class MachineEngine(Engine):
    """Runs as many spinning processes at once as the setting says."""

    def __init__(self) -> None:
        """Look at the CPUs; nothing is started yet."""
        self._cpus = read_cpus()
        self._spinners: list[_Spinner] = []
        self._working = 0

    def describe(self) -> Mapping[str, Any]:
        """The `engine` part of the manifest; the version is that of the work in a spin."""
        return {
            "name": "machine",
            "version": "1",
            "local": True,
            "place": "this machine",
            "emulated": {},
            "log_filesystem": None,
        }

    def conditions(self) -> list[str]:
        """Limits of the CPUs here, and differences between them."""
        return _conditions(self._cpus)

    def not_measured(self) -> list[str]:
        """Other work of a machine that is not measured."""
        return [
            "Memory, caches beyond the nearest, and devices: the measured loop needs only CPU, a database "
            "needs them all.",
            "CPU time that the hypervisor takes without reporting it to the guest.",
        ]

    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Start as many processes as the largest setting needs.

        Raises:
            UsageError: the load is not `Spins`.
            RefusedError: a process does not start, or the kernel keeps no account of them.
        """
        if not isinstance(load, Spins):
            raise UsageError(
                f"The machine itself cannot do the load {type(load).__name__}; leave --engine out."
            )
        for _ in range(load.sessions):
            self._spinners.append(_Spinner())
        for spinner in self._spinners:
            spinner.await_ready()
        if len(self._accounts(self._spinners)) < load.sessions:
            raise RefusedError(
                "The kernel does not report the CPU time of processes. Redolab needs /proc/PID/schedstat, "
                "which Linux has when it is built with CONFIG_SCHED_INFO."
            )
        return tuple(
            Setting("/".join(levels.values()), levels, {}, {}, "", "nothing is committed")
            for levels in combinations
        )

    def apply(self, setting: Setting) -> None:
        """Take the number of processes; one that has ended meanwhile is replaced."""
        for number, spinner in enumerate(self._spinners):
            if spinner.ended:
                spinner.end()
                self._spinners[number] = _Spinner()
                self._spinners[number].await_ready()
        self._working = int(setting.levels["processes"])

    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """Let the processes of the setting spin, all from one moment on, until the last is done.

        A unit of work is a spin. A process's elapsed time counts from the agreed moment, so that its
        first wait for a CPU is in it.
        """
        working = self._spinners[: self._working]
        start_ns = time.monotonic_ns() + _LEAD_NS
        until_ns, most = start_ns + round(amount.seconds * 1e9), _FOREVER
        if amount.units_each is not None:
            until_ns, most = _FOREVER, amount.units_each
        elif amount.units is not None:
            until_ns, most = _FOREVER, -(-amount.units // len(working))
        for spinner in working:
            spinner.order(start_ns, until_ns, most)
        done = list(_answers(working, stop))
        spins = sum(spun.spins for spun in done)
        elapsed = [(spun.ended_ns - start_ns) / 1e9 for spun in done]
        lost = len(working) - len(done)
        return Work(
            commits=0,
            rows=0,
            failed=lost,
            session_elapsed_s=sum(elapsed),
            session_elapsed_max_s=max(elapsed, default=0.0),
            units=spins,
            trouble=f"{lost} of {len(working)} processes ended in the middle of their work" if lost else None,
        )

    def snapshot(self) -> Snapshot:
        """The accounts of the working processes and of the CPUs they may use."""
        tasks = self._accounts(self._spinners[: self._working])
        times = read_times(self._cpus.allowed)
        throttling = read_throttling(self._cpus.quota)
        counters: dict[str, float | None] = {
            "host_cpus": self._cpus.threads,
            "host_busy_s": times.busy_s,
            "host_idle_s": times.idle_s,
            "host_steal_s": times.steal_s,
            "throttled_periods": None if throttling is None else throttling.periods,
            "throttled_s": None if throttling is None else throttling.time_s,
        }
        pids = tuple(task.pid for task in tasks)
        return Snapshot(time.monotonic(), "", counters, tasks, None, pids)

    def close(self) -> None:
        """End every process."""
        for spinner in self._spinners:
            spinner.end()
        self._spinners = []

    def _accounts(self, spinners: Sequence[_Spinner]) -> tuple[TaskAccount, ...]:
        """The kernel's accounts of the processes that live."""
        accounts: list[TaskAccount] = []
        for spinner in spinners:
            with suppress(OSError):
                accounts += (
                    TaskAccount(task.pid, "spinner", task.start_ticks, task.cpu_ns, task.run_queue_ns)
                    for task in _core.process_threads(spinner.pid)
                )
        return tuple(accounts)


class _Spinner:
    """One process of `redolab.engine.machine.spinner`, as the engine sees it."""

    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "redolab.engine.machine.spinner", str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                cwd="/",
            )
        except OSError as error:
            raise RefusedError(
                f"A process for CPU work cannot be started: {error}. Let this user have more open files and "
                "processes (`ulimit -n`, `ulimit -u`), or ask for fewer processes with --settings."
            ) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders, self.answers = self._process.stdin, self._process.stdout

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def await_ready(self) -> None:
        """Wait until it takes orders; raises `RefusedError` when it cannot be started."""
        if self.answers.readline() != b"ready\n":
            self.end()
            raise RefusedError(
                f"A process for CPU work did not start (exit code {self._process.returncode}); its error "
                "message is above. Correct the cause, or ask for fewer processes with --settings."
            )

    def order(self, start_ns: int, until_ns: int, most: int) -> None:
        """Tell it what to do; one that is gone is found when its answer is read."""
        with suppress(OSError):
            self._orders.write(f"{start_ns} {until_ns} {most}\n".encode())

    def answer(self) -> _Spun | None:
        """Its work, once its answer can be read; None when it has ended instead."""
        numbers = self.answers.readline().split()
        return _Spun(int(numbers[0]), int(numbers[2])) if len(numbers) == 3 else None

    def end(self) -> None:
        """Kill it: it may be in the middle of work that takes long."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            self._orders.close()
        self.answers.close()


@dataclass(frozen=True)
class _Spun:
    spins: int
    ended_ns: int


def _answers(spinners: Sequence[_Spinner], stop: threading.Event) -> Iterator[_Spun]:
    """The work of each spinner, as they come to their end; nothing for a spinner that died.

    Raises:
        InterruptedRunError: `stop` was set.
    """
    with selectors.DefaultSelector() as waiting:
        for spinner in spinners:
            waiting.register(spinner.answers, selectors.EVENT_READ, spinner)
        while waiting.get_map():
            for key, _ in waiting.select(_STOP_CHECK_S):
                waiting.unregister(key.fileobj)
                spun = key.data.answer()
                if spun is not None:
                    yield spun
            if stop.is_set():
                raise InterruptedRunError("The run was interrupted during a sample.")


def _conditions(cpus: Cpus) -> list[str]:
    """Conditions of these CPUs that a reader must know."""
    sentences = []
    if cpus.quota:
        sentences.append(
            f"A control group ({cpus.quota.place}) limits this process to {cpus.quota.cpus:g} CPUs' worth of "
            f"time per {1e3 * cpus.quota.period_s:g} ms."
        )
    if cpus.offline:
        sentences.append(
            f"Switched off are {len(cpus.offline)} of the machine's CPUs, and these CPUs are not counted."
        )
    if cpus.threads < len(cpus.online):
        sentences.append(
            f"This process may use {cpus.threads} of the machine's {len(cpus.online)} CPUs: an affinity mask "
            "or a cpuset keeps it off the others. Redolab counts only the CPUs that this process may use."
        )
    if len(cpus.kinds) > 1:
        sentences.append(
            f"The CPUs differ ({', '.join(cpus.kinds)}). A single process runs on a fast CPU, so effective "
            "CPUs are counted in fast CPUs and are fewer than the machine has."
        )
    return sentences

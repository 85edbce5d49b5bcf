"""Which test files take the CPU: a plugin for pytest that adds up what every test takes, with its processes.

    PYTHONPATH=. PYTEST_ADDOPTS="-p benches.cpu_of_tests" make test

writes `benches/results/cpu_of_tests.json`: CPU and wall-clock seconds for each file. A process counts
for the test in which it is waited for. One that nobody waits for (a killed server's children) counts nowhere,
and the servers of a session, which end with it, are a line of their own.
"""

from __future__ import annotations

import json
import resource
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

_RESULTS = Path(__file__).with_name("results") / "cpu_of_tests.json"
_AT_THE_END = "servers of a session"
_taken: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])


def _used() -> tuple[float, float]:
    """CPU seconds of this process and of those it waited for, and the clock."""
    accounts = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(it.ru_utime + it.ru_stime for it in accounts), time.monotonic()


def _add(name: str, before: tuple[float, float]) -> None:
    for at, (now, then) in enumerate(zip(_used(), before, strict=True)):
        _taken[name][at] += now - then


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Add up what the test took, with its fixtures."""
    before = _used()
    try:
        return (yield)
    finally:
        _add(item.path.relative_to(item.config.rootpath).as_posix(), before)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Hand over what a worker added up, or write all of it down."""
    before = _used()
    result = yield
    handed = getattr(session.config, "workeroutput", None)
    if handed is None:
        files = {name: {"cpu_s": round(cpu, 1), "clock_s": round(clock, 1)}
                 for name, (cpu, clock) in sorted(_taken.items(), key=lambda it: -it[1][0])}  # fmt: skip
        _RESULTS.write_text(json.dumps(files, indent=1) + "\n")
    else:
        _add(_AT_THE_END, before)
        handed["cpu_of_tests"] = dict(_taken)
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Take what a worker added up."""
    for name, amounts in getattr(node, "workeroutput", {}).get("cpu_of_tests", {}).items():
        for at, amount in enumerate(amounts):
            _taken[name][at] += amount

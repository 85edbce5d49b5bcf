"""Which tests run side by side with `pytest -n 2 --no-loadscope-reorder`, and in which order they begin.

What measures time on a server or on the machine is one group: one worker has all of it, one test after the
other. The other worker has meanwhile what computes on one CPU. What starts servers without measuring time
comes last: it may run beside anything. Of every other file a worker has the whole, so that its fixtures are
made once.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

# A report's tests share one browser. A measured time is one group, wherever its file lies.
GROUPS = {
    "tests/engine/forecast": "timed",
    "tests/engine/linux": "timed",
    "tests/engine/machine": "timed",
    "tests/engine/mariadb": "timed",
    "tests/engine/postgres/observer": "timed",
    "tests/engine/postgres/waits": "timed",
    "tests/engine/postgres/test_client_load.py": "timed",
    "tests/engine/postgres/test_consumption.py": "timed",
    "tests/engine/postgres/test_cpu_accounts.py": "timed",
    "tests/engine/postgres/test_durability.py": "timed",
    "tests/engine/postgres/test_hostile_ground.py": "timed",
    "tests/engine/postgres/test_on_off.py": "timed",
    "tests/engine/postgres/test_open_arrivals.py": "timed",
    "tests/engine/postgres/test_pauses.py": "timed",
    "tests/engine/postgres/test_scripted_truth.py": "timed",
    "tests/engine/postgres/test_transaction_age.py": "timed",
    "tests/engine/private/test_log_device.py": "timed",
    "tests/engine/test_conformance.py": "timed",
    "tests/engine/test_consistent_read.py": "timed",
    "tests/kill/test_kill_spinners.py": "timed",
    "tests/usage/test_profile_usage.py": "timed",
    "tests/report": "report",
}
# Those that compute for the longest begin first, so that both workers end together.
FIRST = ("timed", "tests/validation", "tests/hostile", "tests/unit", "report", "tests/screens")
# Files of many minutes before those of a few seconds, for the same reason.
LAST = ("tests/kill", "tests/docs", "tests/engine", "tests/usage")


def group_of(path: str) -> str:
    """The group of a test file, whose path begins with `tests/`: a name from above, or the file itself."""
    return next((GROUPS[name] for name in _and_folders(path) if name in GROUPS), path)


def turn_of(path: str) -> int:
    """When a file begins: a lower number is earlier."""
    named = (group_of(path), *_and_folders(path))
    for turn, name in enumerate(FIRST):
        if name in named:
            return turn
    for turn, name in enumerate(LAST, start=len(FIRST) + 1):
        if name in named:
            return turn
    return len(FIRST)


def _and_folders(path: str) -> Iterable[str]:
    """The path itself and the folders it lies in, from the inside out."""
    return (path, *map(str, PurePosixPath(path).parents))

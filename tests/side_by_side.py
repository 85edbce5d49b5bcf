"""Which tests run side by side with `pytest -n 3 --no-loadscope-reorder`, and in which order they begin.

What measures time on a server or on the machine is one group: one worker has all of it, one test after the
other. The other worker has meanwhile what computes on one CPU. What starts servers without measuring time
comes last. It may run beside anything, and mostly waits: so a third worker joins when all time is measured.
Of every other file a worker has the whole, so that its fixtures are made once.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

TIMED = "timed"
# A report's tests share one browser, those of somebody's MariaDB or MySQL its server. A measured time is one
# group, wherever its file lies.
GROUPS = {
    "tests/engine/forecast": TIMED,
    "tests/engine/linux": TIMED,
    "tests/engine/machine": TIMED,
    "tests/engine/mariadb": TIMED,
    "tests/engine/mariadb/held": "held",
    "tests/engine/mariadb/test_hostile_server.py": "hostile",
    "tests/engine/mariadb/test_private_servers.py": "private servers",
    "tests/engine/mariadb/test_sockets.py": "hostile",
    "tests/engine/postgres/observer": TIMED,
    "tests/engine/postgres/waits": TIMED,
    "tests/engine/postgres/test_client_load.py": TIMED,
    "tests/engine/postgres/test_consumption.py": TIMED,
    "tests/engine/postgres/test_cpu_accounts.py": TIMED,
    "tests/engine/postgres/test_durability.py": TIMED,
    "tests/engine/postgres/test_hostile_ground.py": TIMED,
    "tests/engine/postgres/test_on_off.py": TIMED,
    "tests/engine/postgres/test_open_arrivals.py": TIMED,
    "tests/engine/postgres/test_pauses.py": TIMED,
    "tests/engine/postgres/test_scripted_truth.py": TIMED,
    "tests/engine/postgres/test_transaction_age.py": TIMED,
    "tests/engine/private/test_log_device.py": TIMED,
    "tests/engine/test_conformance.py": TIMED,
    "tests/engine/test_consistent_read.py": TIMED,
    "tests/engine/test_watch.py": TIMED,
    "tests/kill/test_kill_spinners.py": TIMED,
    "tests/usage/test_profile_usage.py": TIMED,
    "tests/usage/test_watch_usage.py": TIMED,
    "tests/report": "report",
}
# Those that compute for the longest begin first, so that both workers end together.
FIRST = (TIMED, "tests/validation", "tests/hostile", "tests/unit", "report", "tests/screens")
# Files of many minutes before those of a few seconds, for the same reason.
LAST = ("tests/engine/pairs", "tests/kill", "tests/breaker", "tests/docs", "tests/engine", "tests/usage")


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

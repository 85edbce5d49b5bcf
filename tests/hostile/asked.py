"""What the commands say of a damaged run, in this process or in one of their own."""

from __future__ import annotations

import contextlib
import io
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from redolab import cli
from redolab.errors import RedolabError
from tests.hostile.damage import damage

COMMANDS = (("verify",), ("verify",), ("verify", "--json"), ("report",), ("report", "--json"),
            ("forecast",), ("forecast", "--set", "sessions=4", "--json"),
            ("report", "--from", "2026-11-24", "--to", "2026-11-24"),
            ("analyze", "--value", "elapsed_s"))  # fmt: skip
LONGEST_S = 10.0
"""Of CPU time."""
MOST_BYTES = 2 << 30
_HANGS_S = 120


@dataclass(frozen=True)
class Answer:
    """What a command ended with."""

    run: str
    seed: int
    done: str
    command: tuple[str, ...]
    code: int | None
    """None where it raised what nobody foresaw."""
    said: str
    """On stderr; the traceback where there is one."""
    cpu_s: float
    """Its CPU time: other work on the machine is no fault of its own."""

    @property
    def fault(self) -> str | None:
        """What is wrong with the answer; None where it is a sentence and an exit code."""
        if self.code not in (0, 1, 2, 3) or "Traceback" in self.said:
            return f"ended with {self.code}"
        if self.code and not self.said.startswith("redolab: "):
            return "said something else than its sentence"
        return None


def case(seed: int, names: list[str]) -> tuple[str, tuple[str, ...]]:
    """Which run and which command belong to a seed."""
    rng = random.Random(f"case {seed}")
    command = rng.choice(COMMANDS)
    if command[0] == "forecast" and rng.random() < 0.6:
        return "calibrate", command
    return rng.choice(names), command


def ask_here(runs: dict[str, Path], seed: int, place: Path) -> Answer:
    """Damage a copy of a run, and put a command to it in this process."""
    name, command = case(seed, sorted(runs))
    target, done = _damaged(runs[name], seed, place)
    signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(_HANGS_S)
    out, said = io.StringIO(), io.StringIO()
    began = time.process_time()
    code: int | None = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cli.app([command[0], str(target), *command[1:]], standalone_mode=False)
        except RedolabError as error:
            code = error.exit_code
            print(f"redolab: {error}", file=sys.stderr)
        except BaseException:  # noqa: BLE001  whatever it is, it is the fault that is looked for
            code = None
            traceback.print_exc()
        finally:
            signal.alarm(0)
    return Answer(name, seed, done, command, code, said.getvalue(), time.process_time() - began)


def ask_command(runs: dict[str, Path], seed: int, place: Path) -> Answer:
    """The same through the real command, in a process of its own."""
    name, command = case(seed, sorted(runs))
    target, done = _damaged(runs[name], seed, place)
    began = _children_s()
    ended = subprocess.run(
        [Path(sys.executable).with_name("redolab"), command[0], target, *command[1:]],
        capture_output=True, text=True, errors="replace", timeout=300, check=False,
        env={**os.environ, "XDG_DATA_HOME": str(place / "data")},
    )  # fmt: skip
    return Answer(name, seed, done, command, ended.returncode, ended.stderr, _children_s() - began)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _hangs(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"still at it after {_HANGS_S} s")


def _damaged(run: Path, seed: int, place: Path) -> tuple[Path, str]:
    target = place / "damaged"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(run, target)
    return target, damage(target, seed)

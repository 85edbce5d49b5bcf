"""The Containerfile's RUN lines in a bare root, and Redolab there as the image's user with its variables."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.clean_machine.root import HOMES, Root
from tests.containerfile import instructions, run_lines

SUITE = "trixie"
"""The Debian that the Containerfile begins from."""
_FILE = Path(__file__).parents[2] / "Containerfile"
_USER, _HOME, _RUN = "redolab", "/runs", "first"
# Where the image may write: everything else is read-only.
_WRITABLE = ("runs/", "tmp/", "var/tmp/")


def play_image(root: Root, wheel: Path) -> tuple[str, ...]:
    """Everything that went wrong, as sentences."""
    words = dict(instructions(_FILE))
    variables = dict(word.split("=", 1) for word in shlex.split(words["ENV"]))
    # What enters the root is looked for on the same path.
    variables["PATH"] += ":/usr/sbin:/sbin"
    (root.place / "wheels").mkdir()
    shutil.copyfile(wheel, root.place / "wheels" / wheel.name)
    for command in run_lines(_FILE):
        done = root.run("root", "sh", "-c", command)
        if done.code:
            return (f"RUN {command} ended with {done.code}: {done.output[-800:]}",)
    before = root.files()
    HOMES[_USER] = _HOME
    return (*_commands(root, variables), *_written(before, root.files()))


def _commands(root: Root, variables: dict[str, str]) -> Iterator[str]:
    for command in (
        ("doctor",),
        ("run", "commit-mode", "--quick", "--out", _RUN),
        ("report", _RUN),
        ("verify", _RUN),
    ):
        done = root.run(_USER, "redolab", *command, extra=variables)
        if done.code:
            yield f"redolab {' '.join(command)} ended with {done.code}: {done.output[-800:]}"
            return


def _written(before: set[str], after: set[str]) -> Iterator[str]:
    for path in sorted(after - before):
        if not path.startswith(_WRITABLE) and path not in ("runs", "tmp"):
            yield f"the image wrote outside of its volume: {path}"

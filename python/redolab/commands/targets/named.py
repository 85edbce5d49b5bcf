"""Servers that the user has given a name, in config.toml: `--engine prod` in the place of a URL.

```toml
[servers]
prod = "postgresql://app@db1/shop"
```
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

from redolab.engine import is_engine
from redolab.errors import UsageError
from redolab.files.documents import read_toml
from redolab.files.places import config_directory
from redolab.files.system import user_id
from redolab.url_secrets import take_secrets

_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_AS = 'A server is named as: prod = "postgresql://app@db1/shop"'


def server_of(word: str) -> str:
    """The URL that config.toml has for a word; the word itself where it does not have one.

    Redolab's own engines and URLs are never looked up.

    Args:
        word: an engine's name, a URL, or a name of the user's.

    Raises:
        UsageError: config.toml cannot be used; the text says what to change in it.
    """
    return word if is_engine(word) else named_servers().get(word, word)


def is_server(word: str) -> bool:
    """Whether a word of the command line is an engine, a URL or a server's name, perhaps after `NAME=`."""
    return is_engine(word) or word.rpartition("=")[2] in named_servers()


def named_servers() -> Mapping[str, str]:
    """The URL of each server by its name; none without a config.toml.

    Raises:
        UsageError: somebody else may write into the file, or it names a server in another way.
    """
    path = config_directory() / "config.toml"
    try:
        state = path.stat()
    except OSError:
        return {}
    user = user_id()
    if user is not None and (state.st_uid not in (user, 0) or state.st_mode & _OTHERS):
        raise UsageError(
            f"Another user may write to {path} and could point Redolab to another server: give it to "
            f"yourself (chown {user}) and forbid others to write it (chmod go-w)."
        )
    servers = read_toml(path)[1].get("servers", {})
    if not isinstance(servers, dict):
        raise UsageError(f"In {path} servers is not a table. {_AS}, below [servers].")
    for name, url in servers.items():
        _check(path, name, url)
    return servers


def _check(path: Path, name: str, url: object) -> None:
    if not isinstance(url, str) or "://" not in url:
        raise UsageError(f"In {path} the server {name!r} has no URL. {_AS}.")
    if take_secrets(url, {}) != url:
        raise UsageError(
            f"In {path} the URL of {name!r} has a password in it. Take it out, and give it in ~/.pgpass, "
            "~/.my.cnf or by --password-command."
        )
    if is_engine(name):
        raise UsageError(
            f"In {path} a server is called {name!r}, which is an engine of Redolab's: rename it."
        )

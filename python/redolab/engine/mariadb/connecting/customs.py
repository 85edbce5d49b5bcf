"""What a user's own option file says of every connection: the group `[client]` of ~/.my.cnf, and no other."""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from pathlib import Path

from pymysql.optionfile import Parser

_GROUP = "client"


def customs() -> Mapping[str, str]:
    """Its options by name, as the servers' own clients call them; none where it cannot be read."""
    parser = Parser()
    try:
        parser.read(Path("~/.my.cnf").expanduser())
        options = parser.options(_GROUP)
    except (configparser.Error, RuntimeError, OSError, UnicodeDecodeError):
        return {}
    found = {name: parser.get(_GROUP, name) for name in options}
    return {name: value for name, value in found.items() if value}

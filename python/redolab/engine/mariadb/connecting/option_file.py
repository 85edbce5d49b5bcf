"""A user's own options for every connection: the group `[client]` of ~/.my.cnf, and no other."""

from __future__ import annotations

import configparser
import re
from collections.abc import Mapping
from pathlib import Path

from pymysql.optionfile import Parser

_GROUP = "client"
_SWITCHES = ("ssl", "ssl-verify-server-cert")
_SAYS_NO = re.compile(r"(?:loose-)?(?:skip|disable)-(.+)")


def client_options() -> Mapping[str, str]:
    """Its options by name, as the servers' own clients call them; none where it cannot be read.

    A switch without a value is `1`, and one that is skipped or disabled is `0`.
    """
    parser = Parser()
    try:
        parser.read(Path("~/.my.cnf").expanduser())
        options = parser.options(_GROUP)
    except (configparser.Error, RuntimeError, OSError, UnicodeDecodeError):
        return {}
    found: dict[str, str] = {}
    for name in options:
        refused = _SAYS_NO.fullmatch(name)
        if refused and refused[1] in _SWITCHES:
            found[refused[1]] = "0"
        elif name in _SWITCHES:
            found[name] = parser.get(_GROUP, name) if _has_value(parser, name) else "1"
        elif _has_value(parser, name):
            found[name] = parser.get(_GROUP, name)
    return {name: value for name, value in found.items() if value}


def _has_value(parser: Parser, name: str) -> bool:
    # The driver's own reader breaks off at an option without one.
    return configparser.RawConfigParser.get(parser, _GROUP, name) is not None

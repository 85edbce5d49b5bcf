"""JSON and TOML from outside, parsed within bounds of size, nesting and numbers."""

from __future__ import annotations

import json
import math
import re
import tomllib
from pathlib import Path
from typing import Any

from redolab.bounds import MOST_DIGITS, MOST_ITEMS, MOST_JSON_BYTES, MOST_NESTED, MOST_TOML_BYTES
from redolab.errors import UsageError
from redolab.files.foreign import read_regular
from redolab.files.refusals import one_line, unreadable

_WHOLE = 1 << 64
_LONG_KEY = re.compile(
    rf"""(?<![\w-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MOST_NESTED + 1}}}"""
)
_TOO_DEEP = f"more than {MOST_NESTED} objects are nested inside one another"


def parse_json(content: bytes, what: str, mend: str = "") -> Any:
    """JSON within bounds: size, nesting, numbers that a double or 64 bits hold, each key once.

    Args:
        content: the text, UTF-8.
        what: the name of the file, for the error.
        mend: what to do about a bad one.

    Raises:
        UsageError: it is not JSON, or beyond the bounds.
    """
    try:
        if len(content) > MOST_JSON_BYTES:
            raise ValueError(f"it has more than {MOST_JSON_BYTES >> 20} MB")
        if sum(map(content.count, (b",", b"[", b"{"))) > MOST_ITEMS:
            raise ValueError(f"it has more than {MOST_ITEMS:,} values")
        found = json.loads(
            content.decode(),
            parse_int=_whole,
            parse_float=_number,
            parse_constant=_constant,
            object_pairs_hook=_each_once,
        )
        _check_values(found)
    except RecursionError as error:
        raise unreadable(what, _TOO_DEEP, mend) from error
    except ValueError as error:
        raise unreadable(what, one_line(error), mend) from error
    return found


def parse_json_object(content: bytes, what: str, mend: str = "") -> dict[str, Any]:
    """A JSON object within the bounds of `parse_json`.

    Raises:
        UsageError: it is not a JSON object, or beyond the bounds.
    """
    found = parse_json(content, what, mend)
    if not isinstance(found, dict):
        raise unreadable(what, "it is not a JSON object", mend)
    return found


def parse_toml(text: str, what: str) -> dict[str, Any]:
    """TOML within bounds: size, nesting, numbers that a double or 64 bits hold.

    Args:
        text: the whole file.
        what: its name, for the error.

    Raises:
        UsageError: it is not TOML, or beyond the bounds.
    """
    try:
        if len(text) > MOST_TOML_BYTES:
            raise ValueError(f"it has more than {MOST_TOML_BYTES >> 20} MB")
        # Each part of a key costs as much time and memory as there are parts before it.
        if _LONG_KEY.search(text):
            raise ValueError(_TOO_DEEP)
        found = tomllib.loads(text, parse_float=_number)
        _check_values(found)
    except RecursionError as error:
        raise unreadable(what, _TOO_DEEP) from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{what} is not valid TOML: {one_line(error)}.") from error
    except ValueError as error:
        raise unreadable(what, one_line(error)) from error
    return found


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file, and its content within the bounds of `parse_toml`.

    Raises:
        UsageError: it cannot be read, is not TOML, or is beyond the bounds.
    """
    try:
        text = read_regular(path, MOST_TOML_BYTES, pipes=True).decode()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text (byte {error.start + 1}).") from error
    return text, parse_toml(text, str(path))


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS + 1:
        raise ValueError(f"a whole number of {len(text)} digits is too large")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:MOST_DIGITS]} is not finite")
    return value


def _constant(text: str) -> float:
    raise ValueError(f"{text} is not a number in JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _check_values(found: Any) -> None:
    """Check depth, whole numbers and texts of the parsed content; without recursion, whatever it is."""
    level, items = 0, [found]
    while items:
        if level > MOST_NESTED:
            raise ValueError(_TOO_DEEP)
        inner: list[Any] = []
        for item in items:
            if isinstance(item, dict):
                inner.extend(item.keys())
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
            elif isinstance(item, str):
                if not item.isascii():
                    # Half a pair of surrogates can only be written in JSON.
                    item.encode()
            elif isinstance(item, int) and abs(item) >= _WHOLE:
                raise ValueError("a whole number is too large for 64 bits")
        level, items = level + 1, inner

"""The texts of a user's list file: their places in the file, and the levels that go into them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

PLACEHOLDER = re.compile(r""":'(\w+)'|:"(\w+)\"""")
"""A factor's level in SQL, as psql writes it: `:'factor'` as a value, `:"factor"` as a name."""

Quote = Callable[[str], str]


def with_levels(text: str, levels: Mapping[str, str], value: Quote, name: Quote) -> str:
    """SQL with the setting's levels in it, quoted by `value` and `name`."""
    return PLACEHOLDER.sub(lambda found: _quoted(found, levels, value, name), text)


def before_place(text: str, levels: Mapping[str, str], value: Quote, name: Quote, place: int) -> str:
    """The part of `text` before the sign that is number `place` (from 0) once the levels are in it."""
    longer = 0
    for found in PLACEHOLDER.finditer(text):
        end = found.end() + longer + len(_quoted(found, levels, value, name)) - len(found[0])
        if place < end:
            return text[: min(place - longer, found.start())]
        longer = end - found.end()
    return text[: place - longer]


def place_in_file(file: str, places: Mapping[str, tuple[int, int]], path: str, before: str = "") -> str:
    """`file:line:column` of a value, or of the sign that comes after `before` in a text value.

    Args:
        file: its name.
        places: line and column of each value's first letter, from 1, by its path with dots.
        path: of the value; where it is not there, of the nearest table around it.
        before: the part of the value before the place.
    """
    while path and path not in places:
        path = path.rpartition(".")[0]
    line, column = places.get(path, (1, 1))
    *whole, last = before.split("\n")
    return f"{file}:{line + len(whole)}:{len(last) + (1 if whole else column)}"


def _quoted(found: re.Match[str], levels: Mapping[str, str], value: Quote, name: Quote) -> str:
    return value(levels[found[1]]) if found[1] else name(levels[found[2]])

"""The numbers under which a server publishes its wait events, one table per major version.

Made by `scripts/generate-wait-events`, which asks the program of that version. A number that is in no
table, an extension's for instance, is shown as itself within its class.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib.resources import files

# All others are in every table, under the name that the version has for them.
_CLASSES = {0x07: "Extension", 0x0B: "InjectionPoint"}

EventNames = Mapping[int, tuple[str, str]]


@functools.cache
def event_names(major: int) -> EventNames | None:
    """Class and name by number for a major version, or None where there is no table for it."""
    table = files(__name__) / f"{major}.json"
    if not table.is_file():
        return None
    return {int(number, 16): (pair[0], pair[1]) for number, pair in json.loads(table.read_text()).items()}


def name_event(names: EventNames, number: int) -> tuple[str, str]:
    """Class and name of a published number; `("", "")` when none is published."""
    if number == 0:
        return "", ""
    name = names.get(number)
    if name is not None:
        return name
    of_class = (pair[0] for other, pair in names.items() if other >> 24 == number >> 24)
    wait_class = next(of_class, _CLASSES.get(number >> 24, f"Class{number >> 24:#04x}"))
    return wait_class, f"#{number & 0xFFFFFF}"

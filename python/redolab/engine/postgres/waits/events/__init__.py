"""The numbers under which a server publishes its wait events, one table per major version.

Made by `scripts/generate-wait-events` from the headers of that version. A number that is in no
table, an extension's for instance, is shown as itself within its class.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib.resources import files

_CLASSES = {
    0x01: "LWLock", 0x03: "Lock", 0x04: "BufferPin", 0x05: "Activity", 0x06: "Client",
    0x07: "Extension", 0x08: "IPC", 0x09: "Timeout", 0x0A: "IO", 0x0B: "InjectionPoint",
}  # fmt: skip

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
    wait_class = _CLASSES.get(number >> 24, f"Class{number >> 24:#04x}")
    return names.get(number, (wait_class, f"#{number & 0xFFFFFF}"))

"""Codes of wait events in the order in which a source of observations meets them."""

from __future__ import annotations

Event = tuple[str, str]
"""Class and name."""

IDLE: Event = ("", "idle")
NOTHING: Event = ("", "")


class EventCodes(dict[Event, int]):
    """The code of each event, which is its place in `Observation.events`; a new event gets the next one."""

    def __init__(self) -> None:
        super().__init__({IDLE: 0, NOTHING: 1})

    def __missing__(self, event: Event) -> int:
        self[event] = len(self)
        return self[event]

"""Shapes that JSON from outside must have; a shape names an error and its place.

A shape is a function of a value and its place. It gives one sentence for the first error, and None for a
valid value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Shape = Callable[[Any, str], str | None]
_TEXT = 1 << 16
_SHOWN = 60


def text(most: int = _TEXT) -> Shape:
    """A text of at most so many letters."""

    def wrong(value: Any, place: str) -> str | None:
        if not isinstance(value, str):
            return _must(place, value, "text")
        return (
            (f"{place} has {len(value):,} letters, and can have at most {most:,}")
            if len(value) > most
            else None
        )

    return wrong


def number(low: float, high: float, *, whole: bool = False) -> Shape:
    """A number from `low` to `high`; with `whole` only whole numbers."""
    kinds = int if whole else (int, float)

    def wrong(value: Any, place: str) -> str | None:
        if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
            return _must(place, value, f"a {'whole ' * whole}number from {low:,} to {high:,}")
        return None

    return wrong


def flag(value: Any, place: str) -> str | None:
    """True or false."""
    return None if isinstance(value, bool) else _must(place, value, "true or false")


def anything(value: Any, place: str) -> str | None:  # noqa: ARG001
    """Any value of JSON."""
    return None


def one_of(*known: str) -> Shape:
    """One of these texts."""

    def wrong(value: Any, place: str) -> str | None:
        return None if value in known else _must(place, value, f"one of {', '.join(known)}")

    return wrong


def maybe(shape: Shape) -> Shape:
    """A value of that shape, or null."""
    return lambda value, place: None if value is None else shape(value, place)


def items(shape: Shape, most: int, least: int = 0) -> Shape:
    """A list of values of that shape, from `least` to `most` of them."""

    def wrong(value: Any, place: str) -> str | None:
        if not isinstance(value, list):
            return _must(place, value, "a list")
        if not least <= len(value) <= most:
            return f"{place} has {len(value):,} entries, but must have {least:,} to {most:,}"
        return _first(shape(item, f"{place}[{number}]") for number, item in enumerate(value))

    return wrong


def entries(shape: Shape, most: int) -> Shape:
    """An object with any keys, and values of that shape."""

    def wrong(value: Any, place: str) -> str | None:
        if not isinstance(value, dict):
            return _must(place, value, "an object")
        if len(value) > most:
            return f"{place} has {len(value):,} keys, and can have at most {most:,}"
        return _first(shape(item, _inside(place, key)) for key, item in value.items())

    return wrong


def record(required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """An object with these keys; other keys are ignored."""

    def wrong(value: Any, place: str) -> str | None:
        if not isinstance(value, dict):
            return _must(place, value, "an object")
        missing = required.keys() - value.keys()
        if missing:
            return f"{_inside(place, min(missing))} is missing"
        shapes = {**required, **(optional or {})}
        return _first(shapes[key](value[key], _inside(place, key)) for key in shapes if key in value)

    return wrong


def _first(found: Any) -> str | None:
    return next((text for text in found if text is not None), None)


def _inside(place: str, key: str) -> str:
    return f"{place}.{key[:_SHOWN]}" if place else key[:_SHOWN]


def _must(place: str, value: Any, what: str) -> str:
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]} ..."
    return f"{place or 'it'} is {shown}, but must be {what}"

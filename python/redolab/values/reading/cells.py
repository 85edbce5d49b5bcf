"""Brackets and currencies around a number in a cell, and durations in hours and minutes.

`(1.50)` and `1.50-` are less than zero, as accountants write it. `00:01:02.5`, `1 day 02:03:04`, `1m2.5s`
and `PT62.5S` are 62.5 seconds and the like; a mark in them can only be the decimal mark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CURRENCIES = "€$£¥₹₽₩₺₪₴"
_BEFORE = re.compile(
    rf"(?P<sign>[-+\u2212]?)\s?(?P<currency>[A-Z]{{0,3}}[{CURRENCIES}]|%|"
    r"(?:USD|EUR|GBP|CHF|SEK|NOK|DKK|PLN|CZK|INR|JPY|CNY|BRL|Rs\.?|R\$|kr\.?|Fr\.?)(?=[\s\d]))"
    r"\s?(?P<rest>.*)"
)
_SECONDS = r"(?P<{}>\d{{1,9}})(?:[.,](?P<{}>\d{{1,9}}))?"
_CLOCK = re.compile(
    r"(?P<sign>[-+\u2212]?)(?:(?P<days>\d{1,6}) (?:days?|Tage?) ?(?P<of_day>[-+]?))?"
    r"(?:(?P<hours>\d{1,6}):(?P<minutes>[0-5]\d):" + _SECONDS.format("seconds", "part") + "|"
    r"(?P<only_minutes>\d{1,6}):(?P<their_seconds>[0-5]\d)[.,](?P<their_part>\d{1,9}))"
)
_SPELLED = re.compile(
    r"(?P<sign>[-+\u2212]?)(?:(?P<days>\d{1,6}) ?d(?:ays?)? ?)?(?:(?P<hours>\d{1,6}) ?h(?:ours?)? ?)?"
    r"(?:(?P<minutes>\d{1,9}) ?m(?:in)?(?![a-z]) ?)?"
    r"(?:" + _SECONDS.format("seconds", "part") + r" ?s(?:ec)?)? ?(?:(?P<milliseconds>\d{1,9}) ?ms)?"
)
_ISO = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>\d{1,6})D)?(?:T(?:(?P<hours>\d{1,6})H)?(?:(?P<minutes>\d{1,9})M)?"
    r"(?:" + _SECONDS.format("seconds", "part") + r"S)?)?"
)
_TWO_PARTS = re.compile(r"\d{1,6}:[0-5]\d")
_SIZES = {"days": 86_400, "hours": 3_600, "minutes": 60, "only_minutes": 60, "seconds": 1, "their_seconds": 1}


@dataclass(frozen=True)
class Duration:
    """A time as hours, minutes and seconds."""

    sign: str
    digits: str
    """Digits of its seconds, without a mark."""
    decimals: int
    """How many of the digits are behind the mark."""


def bare(text: str) -> tuple[str, str] | None:
    """A number without its brackets and the currency before it, and that currency; None without either."""
    negative = False
    if text.startswith("(") and text.endswith(")"):
        text, negative = text[1:-1].strip(), True
    currency = ""
    if found := _BEFORE.fullmatch(text):
        currency, text = found["currency"], found["sign"] + found["rest"]
        if text.startswith("(") and text.endswith(")") and not negative:
            text, negative = text[1:-1].strip(), True
    if not negative and len(text) > 1 and text[-1] in "-\u2212" and text[-2].isdecimal():
        text, negative = text[:-1], True
    if not negative and not currency:
        return None
    if negative and text[:1] in ("-", "+", "\u2212"):
        return None
    return ("-" if negative else "") + text, currency


def duration(text: str) -> Duration | None:
    """A time of several parts, or on a clock; None where the text is not such a time."""
    clock = _CLOCK.fullmatch(text)
    found = clock or _SPELLED.fullmatch(text) or _ISO.fullmatch(text)
    if found is None:
        return None
    parts = {name: part for name, part in found.groupdict().items() if part}
    fraction = parts.get("part") or parts.get("their_part") or ""
    sizes = {name: part for name, part in parts.items() if name in _SIZES or name == "milliseconds"}
    # A single unit, such as `5 ms`, is a number with a unit.
    if not sizes or (clock is None and not text.lstrip("-+").startswith("P") and len(sizes) < 2):
        return None
    if fraction and "milliseconds" in parts:
        return None
    whole = sum(_SIZES[name] * int(part) for name, part in sizes.items() if name in _SIZES)
    if parts.get("of_day") == "-":
        whole, fraction = _before_midnight(whole, parts, fraction)
    if "milliseconds" in parts:
        thousandths = whole * 1_000 + int(parts["milliseconds"])
        whole, fraction = thousandths // 1_000, f"{thousandths % 1_000:03}"
    sign = "-" if parts.get("sign") in ("-", "\u2212") else ""
    return Duration(sign, f"{whole}{fraction}", len(fraction))


def _before_midnight(whole: int, parts: dict[str, str], fraction: str) -> tuple[int, str]:
    """Days less a time of day: `2 days -01:00:00`, as PostgreSQL prints intervals of both signs."""
    days = _SIZES["days"] * int(parts["days"])
    scale = 10 ** len(fraction)
    ticks = days * scale - ((whole - days) * scale + int(fraction or 0))
    return ticks // scale, f"{ticks % scale:0{len(fraction)}}" if fraction else ""


def is_clock(text: str) -> bool:
    """Whether a cell may be a time of day as well as a duration."""
    return _CLOCK.fullmatch(text) is not None and "day" not in text


def is_of_two_parts(text: str) -> bool:
    """Whether a cell is `01:30`, which may be minutes and seconds, or hours and minutes."""
    return _TWO_PARTS.fullmatch(text) is not None

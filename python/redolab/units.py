"""Quantities as text. In memory time is seconds and rates are per second; only here do they change unit."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

_TIMES = 10.0
"""The ratio from which a change is written in times."""
_STEPS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
# In English, whatever the locale.
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip


def significant(value: float, digits: int = 3) -> str:
    """Write `value` with `digits` significant digits and thousands separators, never in e-notation.

    >>> significant(-12345.6)
    '−12,346'
    """
    if not math.isfinite(value):
        return minus(str(value))
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return minus(f"{round(value, decimals):,.{decimals}f}")


def duration(seconds: float) -> str:
    """Write a time span (seconds) in the unit that leaves one to three digits before the point."""
    for step, name in _STEPS:
        if abs(seconds) >= step:
            return f"{significant(seconds / step)} {name}"
    return "0 s" if seconds == 0 else f"{significant(seconds / 1e-9)} ns"


def minus(figures: str) -> str:
    """Figures as Python writes them, with minus signs for hyphens.

    >>> minus("-1 to -0.5")
    '−1 to −0.5'
    """
    return figures.replace("-", "−")


def moment(iso: str, seconds: bool = False) -> str:
    """A moment in words, in UTC where its zone is known; a text that is not a moment in ISO 8601 stays.

    Args:
        iso: the moment as it is stored.
        seconds: to the second instead of the minute.

    >>> moment("2026-11-24T16:28:11+00:00"), moment("2026-11-24T16:28:11", seconds=True)
    ('24 November 2026, 16:28 UTC', '24 November 2026, 16:28:11')
    """
    if not _MOMENT.match(iso):
        return iso
    try:
        found = datetime.fromisoformat(iso)
        found = found if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return iso
    time = f"{found:%H:%M:%S}" if seconds else f"{found:%H:%M}"
    zone = "" if found.tzinfo is None else " UTC"
    return f"{found.day} {_MONTHS[found.month - 1]} {found.year}, {time}{zone}"


def clock(seconds: float) -> str:
    """Write a time span (seconds) as a person plans it: `45 s`, `2 min`, `4 h 05 min`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def with_interval(
    point: float | None,
    low: float | None,
    high: float | None,
    unit: str = "",
    write: Callable[[float], str] = significant,
) -> str:
    """An estimate in a sentence: the point with its unit, and the ends of its interval in the same unit.

    Without both ends it is only the point, and without a point `unknown`.

    >>> with_interval(12, 11.25, 12.75, " %"), with_interval(3, None, None)
    ('12.0 % (11.2 to 12.8)', '3.00')
    """
    if point is None:
        return "unknown"
    around = "" if low is None or high is None else f" ({write(low)} to {write(high)})"
    return f"{write(point)}{unit}{around}"


def percent(share: float, decimals: int = 1) -> str:
    """Write a share (1.0 is all) as a percentage."""
    return minus(f"{100 * share:.{decimals}f} %")


def change(ratio: float, decimals: int = 1) -> str:
    """Write a ratio as a change in percent, its sign always shown; a change of ten times or more in times.

    >>> change(1.125), change(0.9), change(3501.0), change(0.004)
    ('+12.5 %', '−10.0 %', '3,501 times', '0.00400 times')
    """
    if is_of_times(ratio):
        return f"{significant(ratio)} times"
    return minus(f"{100 * (ratio - 1):+.{decimals}f} %")


def changes(low: float, high: float) -> tuple[str, str]:
    """Both ends of a range of ratios, in percent, or in times where one of them is so far off.

    >>> changes(0.5, 1.5), changes(0.5, 3501.0)
    (('−50.0 %', '+50.0 %'), ('0.500 times', '3,501 times'))
    """
    if is_of_times(low) or is_of_times(high):
        return f"{significant(low)} times", f"{significant(high)} times"
    return change(low), change(high)


def is_of_times(ratio: float) -> bool:
    """Whether a ratio is so far from 1 that a percentage of it is hard to read."""
    return not 1 / _TIMES < ratio < _TIMES


def size(count_bytes: float) -> str:
    """Write a number of bytes in binary units."""
    value, names = float(count_bytes), ["B", "KiB", "MiB", "GiB", "TiB"]
    while abs(value) >= 1024 and len(names) > 1:
        value /= 1024
        names.pop(0)
    return f"{significant(value)} {names[0]}"


def millions(number: int) -> str:
    """Write a large number for a sentence.

    >>> [millions(number) for number in (950, 1_600_000_000)]
    ['950', '1,600 million']
    """
    return f"{number:,}" if number < 1_000_000 else f"{number / 1e6:,.0f} million"


def plural(noun: str) -> str:
    """A regular English plural.

    >>> [plural(noun) for noun in ("commit", "query", "process", "day")]
    ['commits', 'queries', 'processes', 'days']
    """
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def some(names: Sequence[str], most: int) -> str:
    """The first names of a list, and how many more there are.

    >>> some(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def listed(names: Sequence[str]) -> str:
    """Names in one phrase.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    >>> [counted(number, "session") for number in (1, 2, 1000)]
    ['1 session', '2 sessions', '1,000 sessions']
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"

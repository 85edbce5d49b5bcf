"""Periods of a watch: from when to when, as somebody asks for them and as they are found in the stretches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from redolab.analysis.observed.watch.gaps import iso, moment_text
from redolab.analysis.observed.watch.stretches import Flags, Stretches
from redolab.errors import UsageError

MOST_PERIODS = 2
_CLOCK = re.compile(r"(\d\d):(\d\d)(?::(\d\d))?(Z|[+-]\d\d:?\d\d)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_SHOWN = 40
_HOW = "Give a time as 2026-11-24T16:30, 2026-11-24 or 16:30, in UTC; another zone as 2026-11-24T16:30+01:00."


@dataclass(frozen=True)
class Period:
    """From one moment to another, seconds since 1970."""

    from_s: float
    to_s: float

    @property
    def text(self) -> str:
        """In words, UTC."""
        return f"{moment_text(self.from_s)} to {moment_text(self.to_s)}"

    def as_json(self) -> dict[str, str]:
        """As the results object has it."""
        return {"from": iso(self.from_s), "to": iso(self.to_s)}

    def inside(self, stretches: Stretches) -> Flags:
        """The stretches that lie entirely within it."""
        found: Flags = (stretches.began >= self.from_s - _SLACK_S) & (stretches.ended <= self.to_s + _SLACK_S)
        return found

    def outside(self, stretches: Stretches) -> Flags:
        """The stretches that lie entirely outside of it."""
        found: Flags = (stretches.ended <= self.from_s + _SLACK_S) | (stretches.began >= self.to_s - _SLACK_S)
        return found


_SLACK_S = 0.002
"""Tolerance, seconds: times are stored and printed to the millisecond."""


@dataclass(frozen=True)
class Periods:
    """The periods asked for: one, and the one that it is compared with."""

    one: Period
    other: Period | None
    """None for the rest of the watch."""

    def as_json(self) -> dict[str, Any]:
        """As the results object has it; `periods_of` reads it again."""
        return {
            **self.one.as_json(),
            "against": None if self.other is None else self.other.as_json(),
        }


def asked(stretches: Stretches, begins: Sequence[str], ends: Sequence[str]) -> Periods | None:
    """The periods that `--from` and `--to` name; None where neither is given.

    Args:
        stretches: of the watch, spoiled ones too.
        begins: beginnings of one or two periods, as they were written; the beginning of one may be missing.
        ends: ends of the same periods.

    Raises:
        UsageError: a time that cannot be read, a period that ends before it begins, or too many of them.
    """
    if not begins and not ends:
        return None
    most = max(len(begins), len(ends))
    if most > MOST_PERIODS:
        raise UsageError(
            f"{most} periods were given, but a report has one period, or compares two. Give --from and --to "
            "at most twice."
        )
    if most == MOST_PERIODS and len(begins) != len(ends):
        raise UsageError(
            f"--from is given {len(begins)} times and --to {len(ends)} times. To compare two periods, give "
            "the beginning and the end of each."
        )
    if not len(stretches):
        raise UsageError("Nothing was watched yet, so a period cannot be reported.")
    whole = Period(float(stretches.began[0]), float(np.nanmax(stretches.ended)))
    found = []
    for number in range(most):
        begin = _moment(begins[number], "--from", whole) if begins else whole.from_s
        end = _moment(ends[number], "--to", whole) if ends else whole.to_s
        if end <= begin:
            written = f"--from {begins[number]} " if begins else ""
            written += f"--to {ends[number]}" if ends else ""
            raise UsageError(
                f"The period of {written.strip()} ends before it begins: {Period(begin, end).text}. The "
                f"watch covers {whole.text}. " + _HOW
            )
        found.append(Period(begin, end))
    if len(found) == MOST_PERIODS and found[0].from_s < found[1].to_s and found[1].from_s < found[0].to_s:
        raise UsageError(
            f"The periods overlap: {found[0].text}, and {found[1].text}. Give two periods that do not "
            "overlap."
        )
    return Periods(found[0], found[1] if len(found) == MOST_PERIODS else None)


def periods_of(stored: Mapping[str, Any]) -> Periods | None:
    """The periods of a stored results object; None where it covers the whole watch.

    Raises:
        UsageError: its periods cannot be read.
    """
    told = stored.get("period")
    if told is None:
        return None
    try:
        against = told["against"]
        return Periods(_stored(told), None if against is None else _stored(against))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise UsageError(
            "The key period of results.json does not hold a period. The file was changed after the report "
            "was made; `redolab report` makes it anew."
        ) from error


def divided(stretches: Stretches, periods: Periods) -> tuple[Stretches, Stretches]:
    """The stretches of the period, and those that it is compared with; spoiled ones too.

    Raises:
        UsageError: no stretch that counts lies in a period.
    """
    one = stretches.only(periods.one.inside(stretches))
    _check(one, periods.one, stretches)
    if periods.other is None:
        return one, stretches.only(periods.one.outside(stretches))
    other = stretches.only(periods.other.inside(stretches))
    _check(other, periods.other, stretches)
    return one, other


def _check(mine: Stretches, period: Period, stretches: Stretches) -> None:
    if len(mine.counting):
        return
    whole = Period(float(stretches.began[0]), float(np.nanmax(stretches.ended)))
    if len(mine):
        why = f"none of its {len(mine)} stretches counts: {next(text for text in mine.spoiled if text)}"
    else:
        why = f"no watched stretch of time lies entirely within that period. The watch covers {whole.text}"
    raise UsageError(f"No figure can be computed for {period.text}: {why}. {_HOW}")


def _stored(told: Mapping[str, Any]) -> Period:
    begin, end = (datetime.fromisoformat(told[key]).timestamp() for key in ("from", "to"))
    if not begin < end:
        raise ValueError("it ends before it begins")
    return Period(begin, end)


def _moment(text: str, option: str, whole: Period) -> float:
    """A time as it was written, seconds since 1970; a date that ends a period is its last moment."""
    try:
        clock = _CLOCK.fullmatch(text.strip())
        last = datetime.fromtimestamp(whole.to_s, UTC)
        if clock is not None:
            return _of_last_day(clock, last)
        found = datetime.fromisoformat(text.strip())
        if _DATE.fullmatch(text.strip()) and option == "--to":
            found += timedelta(days=1)
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{option} {text[:_SHOWN]!r} cannot be read as a time. {_HOW}") from error


def _of_last_day(clock: re.Match[str], last: datetime) -> float:
    """The hour and minute on the last day watched, by the calendar of the zone it is given in."""
    zone = datetime.fromisoformat(f"2000-01-01T00:00{clock[4] or 'Z'}").tzinfo
    day = last.astimezone(zone)
    found = day.replace(hour=int(clock[1]), minute=int(clock[2]), second=int(clock[3] or 0), microsecond=0)
    return found.timestamp()

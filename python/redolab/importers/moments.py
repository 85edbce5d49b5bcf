"""Moments as reports print them: `12-Dec-23 17:00:31`, months in any of Oracle's languages, or ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from redolab.importers.months import UnknownMonthError, months_of

_CLOCK = r"[ T]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?"
_NAMED = re.compile(r"(\d{1,2})-([^-]{1,24}?) *-(\d{2}|\d{4})" + _CLOCK)
_ISO = re.compile(r"(\d{4})[-/](\d{2})[-/](\d{2})" + _CLOCK)
_POINTS = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})" + _CLOCK)
_MOST = 60
_CENTURY = 2_000


class UnreadMomentError(Exception):
    """A moment is printed in an unknown way; the text shows how it is printed and what to do."""


def moments_of(texts: Sequence[str], others: Sequence[str] = ()) -> list[datetime]:
    """Moments that one report prints.

    Args:
        texts: of the moments, as printed.
        others: further ones of the same report, which may show its language; they may be anything.

    Raises:
        UnreadMomentError: one of `texts` is not a moment, or its month's name is not known.
    """
    names, more = _names(texts), _names((*texts, *others))
    try:
        try:
            months = dict(zip(more, months_of(more), strict=True))
        except UnknownMonthError:
            months = dict(zip(names, months_of(names), strict=True))
    except UnknownMonthError as error:
        raise UnreadMomentError(
            f"whose month {error.name!r} cannot be read. Create the report again after ALTER SESSION SET "
            "NLS_LANGUAGE = 'AMERICAN'"
        ) from error
    return [_moment(text, months) for text in texts]


def _names(texts: Sequence[str]) -> list[str]:
    found = [_NAMED.fullmatch(text) for text in texts if len(text) <= _MOST]
    return list(dict.fromkeys(item[2] for item in found if item is not None))


def _moment(text: str, months: dict[str, int]) -> datetime:
    unread = UnreadMomentError(
        f"with the time {text[:_MOST]!r}, which cannot be read. Create the report again after ALTER SESSION "
        "SET NLS_LANGUAGE = 'AMERICAN'"
    )
    if len(text) > _MOST:
        raise unread
    if found := _NAMED.fullmatch(text):
        day, month, year = found[1], months[found[2]], found[3]
    elif found := _ISO.fullmatch(text):
        year, month, day = found[1], int(found[2]), found[3]
    elif found := _POINTS.fullmatch(text):
        day, month, year = found[1], int(found[2]), found[3]
    else:
        raise unread
    hour, minute, second = (int(found[group] or 0) for group in (4, 5, 6))
    try:
        # A report does not name its time zone.
        whole_year = int(year) + (_CENTURY if len(year) == 2 else 0)
        return datetime(whole_year, month, int(day), hour, minute, second)  # noqa: DTZ001
    except ValueError:
        raise unread from None

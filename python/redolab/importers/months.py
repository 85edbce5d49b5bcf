"""Names of months in the languages of Oracle's sessions (NLS_LANGUAGE); its reports print dates in them."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

_ENGLISH = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LANGUAGES = (
    "ar", "as", "az", "be", "bg", "bn", "bs", "ca", "cs", "da", "de", "el", "en", "es", "es_MX", "et", "fa",
    "fa_AF", "fi", "fr", "fr_CA", "ga", "gu", "he", "hi", "hr", "hu", "id", "is", "it", "ja", "kk", "km",
    "kn", "ko", "lo", "lt", "lv", "mk", "ml", "mr", "ms", "mt", "nb", "ne", "nl", "or", "pa", "pl", "pt",
    "pt_BR", "ro", "ru", "si", "sk", "sl", "sr", "sr_Latn", "sv", "sw", "ta", "te", "th", "tk", "tr", "uk",
    "uz", "uz_Cyrl", "vi", "zh", "zh_Hant",
)  # fmt: skip
"""Languages that Oracle Database 19c has, as Unicode's CLDR names them."""
_ORACLES_OWN: Mapping[str, Mapping[str, int]] = {"de": {"mrz": 3}}
"""Abbreviations of Oracle's that CLDR does not have."""
_LEAST = 3
"""Least letters to which Oracle abbreviates a name."""
_NUMBERED = re.compile(r"(?:thg |thang )?0?([1-9]|1[0-2])(?!\d)")
"""`1月`, `1월`, `Thg 1`: some languages count their months."""
_LOST = re.compile("[?\ufffd]")
"""Where a letter was lost on the way into the file."""


class UnknownMonthError(Exception):
    """No month has that name, or several have."""

    def __init__(self, name: str) -> None:
        """Name it."""
        super().__init__(name)
        self.name = name


def months_of(names: Sequence[str]) -> list[int]:
    """The months, 1 to 12, of names that are all of one language.

    Args:
        names: as printed, whole or abbreviated.

    Raises:
        UnknownMonthError: no language has them all, or languages differ in which months these are.
    """
    plain = [_plain(name) for name in names]
    if all(name[:_LEAST] in _ENGLISH and name.isascii() and len(name) == _LEAST for name in plain):
        return [1 + _ENGLISH.index(name) for name in plain]
    found = [_in_all(plain, exact=True), _in_all(plain, exact=False)]
    chosen = next((months for months in found if months), frozenset())
    if len(chosen) != 1:
        unread = next((n for n, name in enumerate(plain) if len(_in_all([name], exact=False)) != 1), 0)
        raise UnknownMonthError(names[unread])
    return list(next(iter(chosen)))


def _in_all(names: Sequence[str], *, exact: bool) -> frozenset[tuple[int, ...]]:
    """The months that the names mean in every language that has them all."""
    found = set()
    for language in _LANGUAGES:
        months = [_in_language(name, language, exact) for name in names]
        if None not in months:
            found.add(tuple(month for month in months if month is not None))
    return frozenset(found)


def _in_language(name: str, language: str, exact: bool) -> int | None:
    if counted := _NUMBERED.match(name):
        return int(counted[1])
    known = _known(language)
    if exact and not _LOST.search(name):
        return known.get(name)
    if len(name) < _LEAST:
        return None
    shape = re.compile(_LOST.sub(".", re.escape(name).replace(r"\?", "?")))
    fitting = {
        month for text, month in known.items() if shape.fullmatch(text if exact else text[: len(name)])
    }
    return fitting.pop() if len(fitting) == 1 else None


@functools.cache
def _known(language: str) -> Mapping[str, int]:
    """The names of a language's months, whole and abbreviated, without names that two months share."""
    from babel import Locale

    months = Locale.parse(language).months
    found: dict[str, set[int]] = {}
    for number, text in _texts(months):
        found.setdefault(_plain(text), set()).add(number)
    for text, number in _ORACLES_OWN.get(language, {}).items():
        found.setdefault(text, set()).add(number)
    return {text: next(iter(numbers)) for text, numbers in found.items() if len(numbers) == 1}


def _texts(months: Mapping[str, Mapping[str, Mapping[int, str]]]) -> Iterable[tuple[int, str]]:
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            yield from months[context][width].items()


def _plain(name: str) -> str:
    """A name without accents and points, in lower case: files lose them."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    kept = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(kept.replace(".", " ").split())

"""Texts that are read once: no phrase of `tests.docs.words`, but for a few lines where it is the best English."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.docs.words import Phrase, Text, phrases, texts

STAYS = (
    # Findings as they were published.
    "docs/published.md",
)
"""Pages, and words around a phrase, that stay as they are."""


def left() -> Iterator[Phrase]:
    for text in texts():
        if text.place not in STAYS:
            yield from (phrase for phrase in phrases(text) if not any(it in phrase.words for it in STAYS))


def test_every_text_can_be_read_once() -> None:
    found = list(left())
    assert not found, "\n".join(map(str, found))


def test_what_stays_is_still_there() -> None:
    whole = [(text.place, text.words) for text in texts()]
    for it in STAYS:
        assert any(it in (place, *[words[i:] for i in [words.find(it)] if i >= 0]) or it in words for place, words in whole), it


@pytest.mark.parametrize(
    ("words", "kind", "patterns"),
    [
        ("This run is no calibration.", "user", ["is no X"]),
        ("There is no calibration. It is no longer there, and no more is said.", "note", []),
        ("Its costs are taken for the server's.", "user", ["taken for"]),
        ("It takes for a commit as long as for a flush.", "user", ["taken for"]),
        ("Of a commit, what it costs.", "note", ["opens without its noun"]),
        ("What is a commit?", "note", []),
        ("A session who waits stands beside another.", "comment", ["stands", "beside", "who"]),
        ("The page tells it, and says so.", "user", ["tells, is told", "says"]),
        ("No forecast. There is {}.", "user", ["a sentence made of a predicate"]),
        ("The wait event names the log.", "user", []),
    ],
)
def test_phrases_are_found(words: str, kind: str, patterns: list[str]) -> None:
    assert [it.pattern for it in phrases(Text("here", 1, words, kind))] == patterns

"""Texts that are read once: no phrase of `tests.docs.words`, but for a few lines where it is the best English."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.docs.words import Phrase, Text, phrases, texts

PUBLISHED = "docs/published.md"
"""A page of findings in the words in which they were published."""
STAYS = (
    # Published too.
    "said, not measured",
)
"""Texts in which a phrase is the best English."""


def left() -> Iterator[Phrase]:
    for text in texts():
        if text.place != PUBLISHED and text.words not in STAYS:
            yield from phrases(text)


def test_every_text_can_be_read_once() -> None:
    found = list(left())
    assert not found, "\n".join(map(str, found))


def test_what_stays_is_still_there() -> None:
    written = {text.words for text in texts()}
    assert set(STAYS) <= written
    assert len(STAYS) < 6


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

"""The word that a user probably meant by an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question that names the most similar known word, with a blank before it; empty if none is similar.

    Args:
        word: the unknown one, as it was typed.
        known: words that would be right.
    """
    spelt = {name.lower().replace("_", "-"): name for name in known}
    likely = get_close_matches(word.lower().replace("_", "-"), spelt, n=1)
    return f" Did you mean {spelt[likely[0]]!r}?" if likely else ""

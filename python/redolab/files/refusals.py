"""Refusals of bytes from outside: one line with the file, the error and the remedy."""

from __future__ import annotations

from redolab.errors import UsageError


def unreadable(what: str, why: str, mend: str = "") -> UsageError:
    """The refusal of a file.

    Args:
        what: the name of the file.
        why: what is wrong with it.
        mend: what to do about it.
    """
    return UsageError(f"{what} cannot be read: {why}{f'; {mend}' if mend else ''}.")


def one_line(error: BaseException) -> str:
    """The text of an error, in at most 200 letters on one line."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text (byte {error.start + 1})"
    if isinstance(error, UnicodeEncodeError):
        return "a text in it is not Unicode"
    text = " ".join(str(error).split()) or type(error).__name__
    return (text if len(text) <= 200 else f"{text[:200]} ...").rstrip(".")

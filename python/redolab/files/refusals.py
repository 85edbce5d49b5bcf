"""Refusals of bytes from outside: one line that names the file, says what is wrong, and what to do."""

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
    """What an error says, in at most 200 letters of one line."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text (byte {error.start + 1})"
    if isinstance(error, UnicodeEncodeError):
        return "a text in it is no Unicode"
    text = " ".join(str(error).split()) or type(error).__name__
    return (text if len(text) <= 200 else f"{text[:200]} ...").rstrip(".")

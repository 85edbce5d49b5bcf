"""Text from outside, made safe to show.

Names of roles and databases, columns of a file, messages of a server before anybody has logged in:
such a text must not move the cursor, set the window's title or turn a line around.
"""

from __future__ import annotations

import re

# Controls except the newline (C0, DEL, C1); marks that turn the direction of writing; letters without width;
# line and paragraph separators; halves of surrogate pairs; tags. Joiners (U+200C, U+200D) stay: Persian,
# Hindi and emoji are written with them.
_UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_PLAIN = str.maketrans({
    "–": "-", "−": "-", "×": "x", "µ": "u", "·": "|", "′": "'", "\u00a0": " ", "“": '"', "”": '"', "²": "2",
    "≥": ">", "█": "#", "▏": "|", "●": "o", "▲": "^", "│": "|", "┤": "+", "└": "+", "─": "-", "┴": "+",
})  # fmt: skip
"""Replacements of letters that cannot be written."""
_SHORT = {"\t": "\\t", "\r": "\\r"}


def printable(text: str) -> str:
    r"""The text with everything that a terminal would obey or hide written out, as `\x1b`; newlines stay."""
    return _UNSEEN.sub(_written_out, text)


def in_ascii(text: str) -> str:
    """The text for a terminal with ASCII only: `us` for `µs`; letters without a similar one stay."""
    return text.translate(_PLAIN)


def _written_out(found: re.Match[str]) -> str:
    number = ord(found[0])
    if number > 0xFFFF:
        return f"\\U{number:08x}"
    return _SHORT.get(found[0]) or (f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}")

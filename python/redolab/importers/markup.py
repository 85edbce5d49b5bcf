"""The tags of tables and the text of a page in HTML, one after the other, in one pass whatever the page is.

A tag ends where it ends for a browser: a `>` between quotes does not end a tag. Comments, scripts and styles
are skipped with their contents, and a tag or comment that the page ends in the middle of is lost, as in a
browser. No step goes back further than a cell, so the time depends only on the length of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

_ATTRIBUTE = r"""=?[^\s/>=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^\s>]*+))?+"""
_REST = rf"(?=[\s/>])(?:[\s/]++|{_ATTRIBUTE}|=)*+>"
"""The rest of a tag after its name."""
_READ = "table|t[dhr]|tbody|thead|tfoot|caption|colgroup|h[1-6]"
_RAW = "script|style|textarea|title|xmp|iframe|noembed|noframes"
_TOKENS = re.compile(
    r"([^<]++|<(?![a-z/!?]))"
    # Such cells are most of a report; as one token they take a third of the time.
    rf"|<(t[dh]){_REST}([^<]*+)</\2\s*+>"
    rf"|<(/?(?:{_READ}))({_REST})"
    rf"|<(?P<raw>{_RAW}){_REST}(?:[^<]++|<(?!/(?P=raw)[\s/>]))*+"
    rf"|</?[a-z][^\s/>]*+{_REST}"
    r"|<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+--!?>)"
    r"|<(?:!(?!--)|[/?])[^>]*+>"
    # A tag or a comment that does not end: nothing after it is read, nor looked at once more.
    r"|<[\s\S]*+",
    re.ASCII | re.IGNORECASE,
)
_ONE_ATTRIBUTE = re.compile(_ATTRIBUTE, re.ASCII)
_REFERENCE = re.compile(r"&(?:#[0-9]{1,9}|#x[0-9a-f]{1,8}|[a-z][a-z0-9]{1,31});?", re.ASCII | re.IGNORECASE)


def tokens(page: str) -> Iterator[tuple[str, str]]:
    """The page's tags of tables and of headings, and its texts.

    Args:
        page: the whole of it.

    Yields:
        For a tag its name in lower case, with a `/` before it where it closes, and its attributes as written;
        for a text the empty name, and the text with its character references resolved; for a cell that has
        only text `td/` or `th/` and its text.
    """
    for found in _TOKENS.finditer(page):
        text, cell, content, tag, attributes = found.group(1, 2, 3, 4, 5)
        if cell is not None:
            yield f"{cell.lower()}/", _plain(content)
        elif text is not None:
            yield "", _plain(text)
        elif tag is not None:
            yield tag.lower(), attributes


def attribute(name: str, attributes: str) -> str:
    """The value of an attribute; empty where the tag does not have it. The first of two counts.

    Args:
        name: in lower case.
        attributes: as `tokens` yields them.
    """
    for found in _ONE_ATTRIBUTE.finditer(attributes):
        key, _, value = found[0].partition("=")
        if key.strip().lower() == name:
            value = value.strip()
            return _plain(value[1:-1] if value[:1] in ('"', "'") else value)
    return ""


def _plain(text: str) -> str:
    return _REFERENCE.sub(_resolved, text) if "&" in text else text


def _resolved(reference: re.Match[str]) -> str:
    return unescape(reference[0])

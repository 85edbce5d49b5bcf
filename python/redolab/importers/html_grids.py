"""The tables of an AWR report in HTML, as grids.

Whatever stands around them (SQL*Plus text, a browser's scripts, other headings) is passed over, and no text
of the page is ever taken for markup again. Parsed by selectolax (Lexbor, in C), which repairs pages as
browsers do: see docs/decisions/0009.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from redolab.importers.grid import Grid

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
_MOST_GRIDS = 2_000
_MOST_ROWS = 20_000
_MOST_COLUMNS = 64
_MOST_CELL = 400
_ABOVE = 3
"""Lines of a table among which its headings are."""


def html_grids(content: bytes) -> list[Grid]:
    """Every table of the page in its order; a table inside another one is one of its own.

    The title has the last heading above the table and its summary.

    Args:
        content: the page; bytes that are no UTF-8 become replacement characters.
    """
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(content).body
    if body is None:
        return []
    found, heading = [], ""
    for node in body.traverse():
        if node.tag in _HEADINGS:
            heading = _text(node)
        elif node.tag == "table":
            found.append(_grid(node, heading))
            if len(found) == _MOST_GRIDS:
                break
    return found


def _grid(table: LexborNode, heading: str) -> Grid:
    summary = " ".join((table.attributes.get("summary") or "")[:_MOST_CELL].split())
    rows = [(_cells(row), _is_heading(row)) for row in islice(_rows(table), _MOST_ROWS)]
    # Above the headings of the columns there may be a line that spans several of them.
    place = next((number for number, (_, is_heading) in enumerate(rows[:_ABOVE]) if is_heading), None)
    headings = () if place is None else rows[place][0]
    width = len(headings) or max((len(cells) for cells, _ in rows), default=0)
    body = (cells for cells, is_heading in rows[0 if place is None else place + 1 :] if not is_heading)
    return Grid(
        f"{heading} | {summary}".lower(),
        headings,
        tuple((*cells[:width], *("",) * (width - len(cells))) for cells in body),
    )


def _rows(table: LexborNode) -> list[LexborNode]:
    """The rows of a table, those of tables inside it left out."""
    found = []
    for child in table.iter():
        if child.tag == "tr":
            found.append(child)
        elif child.tag in ("tbody", "thead", "tfoot"):
            found += [row for row in child.iter() if row.tag == "tr"]
    return found


def _cells(row: LexborNode) -> tuple[str, ...]:
    cells = islice((cell for cell in row.iter() if cell.tag in ("td", "th")), _MOST_COLUMNS)
    return tuple(_text(cell) for cell in cells)


def _is_heading(row: LexborNode) -> bool:
    cells = list(row.iter())
    return bool(cells) and all(cell.tag == "th" for cell in cells)


def _text(node: LexborNode) -> str:
    return " ".join((node.text() or "").split())[:_MOST_CELL]

"""The mark-up of an AWR report's page, as the database writes it and as a browser saves it."""

from __future__ import annotations

import re
from collections.abc import Collection
from html import escape

from tests.written_reports.awr import Rows

_BLANK = "&#160;"
_SAVED = """<!-- saved from url=(0046)file:///C:/reports/awrrpt_1_4711_4712.html -->
"""
_FOREIGN = """<meta http-equiv="Content-Type" content="text/html; charset=UTF-8">
<script src="./report_files/extension.js"></script>
<script>var t = '<table summary="This table displays snapshot information"><tr><td>Begin Snap:</td>' +
 '<td>1</td></tr></table>'; if (1 < 2 && t) { window.seen = "</" + "table>"; }</script>
<title>"""


def saved(page: str) -> str:
    """What a browser makes of the page: its own way to write the tree, and what an extension put in."""
    page = page.replace("<title>", _FOREIGN, 1)
    page = re.sub(r"='([^']*)'", r'="\1"', page)
    page = re.sub(r"(<table[^>]*>)\n?", r"\1<tbody>", page).replace("</table>", "</tbody></table>")
    page = re.sub(r"<tr>\n<t", "<tr><t", page)
    # The table of the script is text, and stays as it was.
    page = page.replace('snapshot information"><tbody>', 'snapshot information">', 1)
    page = page.replace("</tr></tbody></table>'; if", "</tr></table>'; if", 1)
    page = re.sub(r'(?:id|headers)="[^"]*"', lambda found: _bare(found.group()), page)
    page = page.replace("<p />", "<p></p>").replace(" />", ">").replace(_BLANK, "&nbsp;")
    return _SAVED + page


def _bare(attribute: str) -> str:
    return attribute.replace("&lt;", "<").replace("&gt;", ">")


def grid(
    summary: str,
    heads: list[str],
    rows: Rows,
    *,
    words: Collection[int] = (0,),
    narrow: bool = False,
    middle: int | None = None,
) -> str:
    """A table; the cells of the columns `words` stand left, all others right."""
    wide = 'border="0" width="600"' if narrow else 'border="0"'
    parts = [f'<table {wide} class="tdiff" summary="{summary}">' + ("\n" if narrow else "")]
    parts.append("<tr>" + "".join(heading(head) for head in heads) + "</tr>")
    for number, row in enumerate(rows):
        shade = "awrc" if number % 2 == 0 else "awrnc"
        cells = []
        for place, cell in enumerate(row):
            align = "" if place in words else 'align="right" '
            if place == middle:
                align = 'align="center" '
            scope = 'scope="row" ' if place == 0 else ""
            cells.append(f"<td {scope}{align}class='{shade}'>{_text(cell)}</td>")
        parts.append("\n<tr>" + "".join(cells) + "</tr>")
    return "".join(parts) + "\n</table>" + ("\n<p />" if narrow else "<p />")


def _text(cell: str) -> str:
    return _BLANK * max(len(cell), 1) if cell.isspace() or not cell else escape(cell, quote=False)


def heading(head: str) -> str:
    shade = "awrbg" if head else "awrnobg"
    return f'<th class="{shade}" scope="col">{escape(head)}</th>'


def section(title: str, notes: list[str], table: str) -> str:
    items = "".join(f'<li class="awr"> {escape(note, quote=False)} </li>\n' for note in notes)
    return (
        '<hr align="left" width="20%" /><p />\n<br /><a class="awr" href="#top">Back to Top</a><p />\n'
        f'<a class="awr" name="{sum(map(ord, title))}"></a>\n<h3 class="awr">{title}</h3>\n'
        f"<ul>\n{items}</ul>\n{table}"
    )


NO_DATA = "\n<p />\n                  No data exists for this section of the report.\n<p />"
_HISTOGRAM = (
    "This table displays total number of waits, and information about total wait time, for each wait event"
)


def shares(of_waits: str, waits: str, bounds: list[str], rows: Rows) -> str:
    group = of_waits.replace(" ", "")
    parts = [
        f'<table border="0" class="tdiff" summary="{_HISTOGRAM}"><tr>\n'
        f'<td>{_BLANK}</td><td>{_BLANK}</td><th class="awrbg" colspan=" 8" id="{group}">{of_waits}</th>\n'
        f"</tr><tr>\n{heading('Event')}{heading(waits)}"
        + "".join(
            f'<th class="awrbg" scope="col" id="{escape(name)}">{escape(name):>7}</th>' for name in bounds
        )
        + "</tr>"
    ]
    for number, row in enumerate(rows):
        shade = "awrc" if number % 2 == 0 else "awrnc"
        cells = "".join(
            f'<td align="right" headers="{group} {escape(name)}" class=\'{shade}\'>{cell or _BLANK}</td>'
            for name, cell in zip(bounds, row[2:], strict=True)
        )
        name = escape(row[0], quote=False)
        parts.append(
            f"<tr><td scope=\"row\" class='{shade}'>{name}</td>"
            f"<td align=\"right\" class='{shade}'>{row[1]}</td>{cells}</tr>"
        )
    return "\n".join(parts) + "\n</table><p />"

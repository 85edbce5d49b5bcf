"""What an administrator set for a session's language, calendar and order changes no answer of Oracle's."""

from __future__ import annotations

import re
from pathlib import Path

import redolab.engine.oracle as package

_TEXTS = re.compile(r"\bto_(?:char|date|number|timestamp\w*|dsinterval|yminterval)\s*\(", re.IGNORECASE)
_WITH_DIGITS = re.compile(r"to_char\([\w.]+, '(?:YYYY|MM|DD|HH24|MI|SS|[-: ])+'\)", re.IGNORECASE)


def test_no_statement_writes_or_reads_a_number_or_a_time_as_the_session_would() -> None:
    # The driver takes numbers and times as they are stored; what passes as a text is written in digits.
    statements = {path.name: path.read_text() for path in Path(package.__file__).parent.glob("sql/*.sql")}
    assert len(statements) > 10
    found = {
        name: _TEXTS.findall(_WITH_DIGITS.sub("", text))
        for name, text in statements.items()
        if _TEXTS.search(_WITH_DIGITS.sub("", text))
    }
    assert found == {}

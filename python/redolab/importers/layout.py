"""Which layout a file has, and why it is none that is read.

Files come from anybody: what is no report of the kind asked for is refused in a sentence.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

from redolab.errors import UsageError

Kind = Literal["awr", "statspack", "oracle-pack"]
Layout = Literal["AWR, HTML", "AWR, text", "AWR-Miner", "Statspack", "Oracle pack"]
_AWR = re.compile(rb"workload repository (?:pdb )?report")
_STATSPACK = re.compile(rb"statspack (?:statistics )?report for")
_BEGINNINGS = re.compile(
    rb"^[ \t\f]*(?:<h1[^>]{0,200}>\s{0,20})?"
    rb"(?:workload repository (?:pdb report|report for)\b|statspack (?:statistics )?report for"
    rb"|redolab-pack 1[ \t\r]*$|~~begin-os-information~~)",
    re.MULTILINE,
)
"""The line that a report begins with, wherever it is in a file."""
_END = b"end of report"
_PACK, _PACK_END = b"redolab-pack 1", b"redolab-pack end"
_MINER = b"~~begin-os-information~~"
_MINER_END = b"~~end-main-metrics~~"
_PACKED: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "is an archive: unpack it first"),
    (b"BZh", "is compressed: unpack it with bunzip2 first"),
    (b"\xfd7zXZ", "is compressed: unpack it with unxz first"),
    (b"%PDF", "is a PDF: import the report as the database wrote it, HTML or text"),
)
_OTHERS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (
        re.compile(rb"workload repository compare period"),
        "compares two periods and has no figures of one: import the report of each",
    ),
    (
        re.compile(rb"workload repository (?:rac|global) report|<title>awr rac report"),
        "is of all instances of a cluster together: import the reports of its instances (awrrpti.sql)",
    ),
    (
        re.compile(rb"<title>ash report|ash report for"),
        "is an ASH report: it samples sessions and counts no commits. Import the AWR report of that time",
    ),
    (
        re.compile(rb"addm report for|addm task"),
        "is an ADDM report: it has advice and no tables. Import the AWR report of those snapshots",
    ),
    (
        re.compile(rb"workload diagnosis report"),
        "is a report of another database, which looks like AWR and counts other things",
    ),
)
_HEAD = 256 << 10
"""Bytes at the beginning in which a report says what it is; a page's styles come before that."""


def kind_of(name: str) -> Kind:
    """The kind of report of that name.

    Raises:
        UsageError: there is none.
    """
    for kind in get_args(Kind):
        if kind == name:
            found: Kind = kind
            return found
    raise UsageError(
        f"{name!r} is no kind of report. Import {', '.join(get_args(Kind)[:-1])} or {get_args(Kind)[-1]}."
    )


def layout_of(content: bytes, what: str, kind: Kind) -> Layout:
    """The layout of a report.

    Args:
        content: the file.
        what: its name, for the error.
        kind: of report that was asked for.

    Raises:
        UsageError: it is no such report, or not whole.
    """
    head = content[:_HEAD]
    for magic, why in _PACKED:
        if head.startswith(magic):
            raise UsageError(f"{what} {why}.")
    if b"\x00" in head:
        raise UsageError(f"{what} is no text: a report is HTML or plain text.")
    head = head.lower()
    _check_single(content.lower(), what)
    if kind == "oracle-pack":
        return _pack(content, head, what)
    if _PACK in head:
        raise UsageError(f"{what} is a pack of Redolab's script: use `redolab import oracle-pack`.")
    if _MINER in head:
        return _miner(content, what, kind)
    awr, statspack = _AWR.search(head), _STATSPACK.search(head)
    for pattern, why in _OTHERS:
        other = pattern.search(head)
        # An AWR report has an ADDM and an ASH section of its own, further down.
        if other is not None and (awr is None or other.start() <= awr.start()):
            raise UsageError(f"{what} {why}.")
    if kind == "awr" and awr is not None:
        html = re.search(rb"<(?:html|body|table)\b", head) is not None
        found: Layout = "AWR, HTML" if html else "AWR, text"
    elif kind == "statspack" and statspack is not None:
        found = "Statspack"
    else:
        raise UsageError(f"{what} {_neither(awr is not None, statspack is not None, kind)}")
    if _END not in content.lower():
        raise UsageError(
            f'{what} is not whole: its last line, "End of Report", is missing. Copy or create it again.'
        )
    return found


def _check_single(content: bytes, what: str) -> None:
    """Make sure that a file holds one report: of two, figures would come from either."""
    count = sum(1 for _ in _BEGINNINGS.finditer(content))
    if count > 1:
        raise UsageError(several(what, count))


def several(what: str, count: int) -> str:
    """Why a file with so many reports is not read."""
    return (
        f"{what} holds {count} reports, one behind the other. Save each in a file of its own, and import "
        "all of them together."
    )


def _miner(content: bytes, what: str, kind: Kind) -> Layout:
    if kind != "awr":
        raise UsageError(f"{what} is a file of AWR-Miner: use `redolab import awr`.")
    if _MINER_END not in content.lower():
        raise UsageError(f"{what} is not whole: its MAIN-METRICS do not end. Copy or create it again.")
    return "AWR-Miner"


def _pack(content: bytes, head: bytes, what: str) -> Layout:
    if _PACK not in head:
        raise UsageError(
            f"{what} is none of Redolab's script: `redolab oracle-pack` writes it, and SQL*Plus runs it."
        )
    if _PACK_END not in content.lower():
        raise UsageError(
            f"{what} is not whole: its last line, REDOLAB-PACK END, is missing. Copy or create it again."
        )
    return "Oracle pack"


def _neither(awr: bool, statspack: bool, kind: Kind) -> str:
    if awr:
        return "is an AWR report: use `redolab import awr`."
    if statspack:
        return "is a Statspack report: use `redolab import statspack`."
    name = {"awr": "AWR report (awrrpt.sql)", "statspack": "Statspack report (spreport.sql)"}[kind]
    return f"is no {name} of an Oracle database."

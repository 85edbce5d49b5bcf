"""Which layout a file has, and why a file is refused.

Files come from anybody: a file that is not a report of the kind asked for is refused in a sentence.
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
    (b"%PDF", "is a PDF: import the report as the database wrote it, in HTML or text"),
)
_OTHERS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (
        re.compile(rb"workload repository compare period"),
        "compares two periods and has no figures of a single one: import the report of each period",
    ),
    (
        re.compile(rb"workload repository (?:rac|global) report|<title>awr rac report"),
        "covers all instances of a cluster together: import the reports of its instances (awrrpti.sql)",
    ),
    (
        re.compile(rb"<title>ash report|ash report for"),
        "is an ASH report, which samples sessions and does not count commits. Import the AWR report of that "
        "time",
    ),
    (
        re.compile(rb"addm report for|addm task"),
        "is an ADDM report, which has advice but no tables. Import the AWR report of the same snapshots",
    ),
    (
        re.compile(rb"workload diagnosis report"),
        "is a report of another database product. That report looks like AWR but counts other things",
    ),
)
_HEAD = 256 << 10
"""Bytes at the beginning in which a report names its kind; a page's styles come before that."""


def kind_of(name: str) -> Kind:
    """The kind of report of that name.

    Raises:
        UsageError: there is no such kind.
    """
    for kind in get_args(Kind):
        if kind == name:
            found: Kind = kind
            return found
    raise UsageError(
        f"{name!r} is not a kind of report. Import {', '.join(get_args(Kind)[:-1])} or {get_args(Kind)[-1]}."
    )


def layout_of(content: bytes, what: str, kind: Kind) -> Layout:
    """The layout of a report.

    Args:
        content: the file.
        what: its name, for the error.
        kind: of report that was asked for.

    Raises:
        UsageError: it is not such a report, or not whole.
    """
    head = content[:_HEAD]
    for magic, why in _PACKED:
        if head.startswith(magic):
            raise UsageError(f"{what} {why}.")
    if b"\x00" in head:
        raise UsageError(
            f"{what} is not text: a report is HTML or plain text. Import the report as the database wrote it."
        )
    head = head.lower()
    _check_single(content.lower(), what)
    if kind == "oracle-pack":
        return _pack(content, head, what)
    if _PACK in head:
        raise UsageError(f"{what} is a pack from Redolab's script: use `redolab import oracle-pack`.")
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
    """Make sure that a file holds only one report: the figures of two reports would be mixed."""
    count = sum(1 for _ in _BEGINNINGS.finditer(content))
    if count > 1:
        raise UsageError(several(what, count))


def several(what: str, count: int) -> str:
    """The reason why a file with several reports is not read."""
    return (
        f"{what} holds {count} reports, one after the other. Save each report in its own file, and import "
        "all files together."
    )


def _miner(content: bytes, what: str, kind: Kind) -> Layout:
    if kind != "awr":
        raise UsageError(f"{what} is a file of AWR-Miner: use `redolab import awr`.")
    if _MINER_END not in content.lower():
        raise UsageError(
            f"{what} is not whole: the end of its section MAIN-METRICS is missing. Copy or create it again."
        )
    return "AWR-Miner"


def _pack(content: bytes, head: bytes, what: str) -> Layout:
    if _PACK not in head:
        raise UsageError(
            f"{what} was not written by Redolab's script. `redolab oracle-pack` writes the script, SQL*Plus "
            "runs it, and the file that it spools is imported."
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
    name = {"awr": "an AWR report (awrrpt.sql)", "statspack": "a Statspack report (spreport.sql)"}[kind]
    return f"is not {name} of an Oracle database."

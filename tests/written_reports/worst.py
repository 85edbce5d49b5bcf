"""Small files that are the worst for their reader: each is a report with one thing without an end."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from redolab.importers.layout import Kind

_MINER = """~~BEGIN-OS-INFORMATION~~
STAT_NAME       STAT_VALUE
--------------- ----------
DB_NAME         ORDERS
DBID            1
VERSION         19.0.0.0.0
INSTANCES       1
~~END-OS-INFORMATION~~
"""
_METRICS = """~~BEGIN-MAIN-METRICS~~
      snap      dur_m end                  inst
---------- ---------- -------------- ----------
{}~~END-MAIN-METRICS~~
"""
_SNAPSHOT = "         1         60 23/12/12 17:00          1\n"
_INSTANCE = "I|{0}|orders1|ORDERS|1|19.0.0.0.0|2023-12-12 17:00:0{1}.000|2023-01-01\n"
_EVENT = "H|{0}|event {1:06}|{2}|1|0\n"


def page(body: str) -> str:
    """A page that says that it is an AWR report."""
    return f"<html><body>WORKLOAD REPOSITORY report for<p>{body}End of Report</body></html>"


def plain(body: str) -> str:
    """A text that says that it is an AWR report."""
    return f"WORKLOAD REPOSITORY report for\n\n{body}\nEnd of Report\n"


def miner(section: str, metrics: str = _SNAPSHOT) -> str:
    """A file of AWR-Miner."""
    return _MINER + section + _METRICS.format(metrics)


def pack(lines: str) -> str:
    """A pack whose two readings are of one life of an instance."""
    both = "".join(_INSTANCE.format(*ends) for ends in (("begin", 0), ("end", 9)))
    return f"REDOLAB-PACK 1\n{both}{lines}REDOLAB-PACK END\n"


def section(name: str, heads: str, ruler: str, rows: str) -> str:
    """A query of AWR-Miner and what it found."""
    return f"~~BEGIN-{name}~~\n{heads}\n{ruler}\n{rows}~~END-{name}~~\n"


def _same_snapshot(count: int) -> str:
    """Many intervals of one snapshot, and many waits of it."""
    ends = "".join(
        f"         1          1 23/12/{1 + n // 1440 % 28:02} {n // 60 % 24:02}:{n % 60:02}          1\n"
        for n in range(count)
    )
    rows = "".join(f"         1 event {n}\n" for n in range(count))
    return miner(section("TOP-N-TIMED-EVENTS", "   SNAP_ID EVENT_NAME", "---------- " + "-" * 30, rows), ends)


WIDE = "x " * 64 + "\n" + "--- " * 64 + "\n"
_MINUTES = (
    "<table><th>Snap Id<th>Snap Time" + "<th>x" * 60 + "<tr><td>Begin Snap:<tr><td>End Snap:<tr><td>Elapsed:"
)
_PAGES: Mapping[str, Callable[[int], str]] = {
    "elements inside one another": lambda n: "<div>" * n,
    "formats, and what takes all of them on": lambda n: "".join(f"<b id={k}>" for k in range(n)) + "<p>" * n,
    "formats closed the wrong way": lambda n: "<a><b><p>" * n + "</a></b>" * n,
    "attributes": lambda n: "<p " + "".join(f"a{k}=1 " for k in range(n)) + ">",
    "attributes of a table": lambda n: "<table " + "a=1 " * n + ">",
    "attributes that do not end": lambda n: '<p a="' * n,
    "attributes of other quotes": lambda n: "<td a='\"" * n,
    "signs of equality": lambda n: "<td " + "= " * n,
    "tags that do not end": lambda n: "<td " * n,
    "cells that do not end": lambda n: "<table>" + "<td>x" * n,
    "comments that do not end": lambda n: "<!-- -" * n,
    "scripts that do not end": lambda n: "<script><" * n,
    "headings inside one another": lambda n: "<h3><div>x" * n,
    "tables inside one another": lambda n: "<table><tr><td>x" * n,
    "texts beside the cells": lambda n: "<table>" + "a<tr>b" * n,
    "texts of a cell": lambda n: "<table><tr><td>" + "a <b>&amp; </b>" * n,
    "blanks of a cell": lambda n: "<table><tr><td>" + " <b> </b>" * n,
    "rows of a wide table": lambda n: "<table>" + "<th>x</th>" * 64 + "<tr>" * n,
    "digits of minutes": lambda n: _MINUTES + ("<td>" + "1" * (n // 60)) * 60,
}
_TEXTS: Mapping[str, Callable[[int], str]] = {
    "lines": lambda n: "\n" * n,
    "lines of dashes": lambda n: "a b\n--- ---\n" * n,
    "lines below many columns": lambda n: WIDE + "x\n" * n,
    "words between columns": lambda n: WIDE + ("a " * 500 + "\n") * (n // 100),
    "a line": lambda n: "- " * n,
    "names of databases": lambda n: "DB: " + "a" * n + "\n" + "DB: a" * n,
}
_MINERS: Mapping[str, Callable[[int], str]] = {
    "columns and lines": lambda n: miner(section("IO-WAIT-HISTOGRAM", " a" * 4000, " -" * 4000, "x\n" * n)),
    "columns of one name": lambda n: miner(
        section("IO-WAIT-HISTOGRAM", " SNAP_ID" * 1000, " -------" * 1000, "x\n" * n)
    ),
    "columns": lambda n: miner(section("IO-WAIT-HISTOGRAM", " a" * n, " -" * n, "x\n")),
    "a snapshot many times": lambda n: _same_snapshot(n // 8),
    "marks": lambda n: miner("~~BEGIN-A~~" * n + "~~END-A~~" * n),
    "parameters": lambda n: miner(
        section("DATABASE-PARAMETERS", "PARAMETER_NAME VALUE", "-------------- -----", "a\n" * n)
    ),
}
_PACKS: Mapping[str, Callable[[int], str]] = {
    "histograms": lambda n: "".join(_EVENT.format("end", k, 8) for k in range(n)),
    "bounds of a histogram": lambda n: "".join(_EVENT.format("end", 0, k) for k in range(n)),
    "bars": lambda n: "|" * n,
    "events": lambda n: "".join(f"E|end|{k}||2|2|1|1|0\n" for k in range(n // 8)),
}


def _around(writer: Callable[[str], str], body: Callable[[int], str]) -> Callable[[int], str]:
    return lambda n: writer(body(n))


WORST: Mapping[str, tuple[Kind, Callable[[int], str]]] = {
    **{name: ("awr", _around(page, body)) for name, body in _PAGES.items()},
    **{name: ("awr", _around(plain, body)) for name, body in _TEXTS.items()},
    **{name: ("awr", whole) for name, whole in _MINERS.items()},
    **{name: ("oracle-pack", _around(pack, body)) for name, body in _PACKS.items()},
}
"""By what has no end: the kind of report, and the file of so many of that."""

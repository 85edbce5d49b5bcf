"""Small files that are the worst for what reads them: each is a report of its kind with one thing without an end."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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


def _section(name: str, heads: str, ruler: str, rows: str) -> str:
    return f"~~BEGIN-{name}~~\n{heads}\n{ruler}\n{rows}~~END-{name}~~\n"


def _same_snapshot(count: int) -> str:
    """Many intervals of one snapshot, and many waits of it."""
    ends = "".join(
        f"         1          1 23/12/{1 + n // 1440 % 28:02} {n // 60 % 24:02}:{n % 60:02}          1\n"
        for n in range(count)
    )
    rows = "".join(f"         1 event {n}\n" for n in range(count))
    return miner(_section("TOP-N-TIMED-EVENTS", "   SNAP_ID EVENT_NAME", "---------- " + "-" * 30, rows), ends)


WORST: Mapping[str, tuple[str, Callable[[int], str]]] = {
    "elements inside one another": ("awr", lambda n: page("<div>" * n)),
    "elements that are all formats": ("awr", lambda n: page("".join(f"<b id={k}>" for k in range(n)) + "<p>" * n)),
    "formats closed the wrong way": ("awr", lambda n: page("<a><b><p>" * n + "</a></b>" * n)),
    "attributes": ("awr", lambda n: page("<p " + "".join(f"a{k}=1 " for k in range(n)) + ">")),
    "attributes of a table": ("awr", lambda n: page("<table " + "a=1 " * n + ">" + "<table summary=x>" * 500)),
    "attributes that do not end": ("awr", lambda n: page('<p a="' * n)),
    "attributes of other quotes": ("awr", lambda n: page("<td a='\"" * n)),
    "signs of equality": ("awr", lambda n: page("<td " + "= " * n)),
    "tags that do not end": ("awr", lambda n: page("<td " * n)),
    "cells that do not end": ("awr", lambda n: page("<table>" + "<td>x" * n)),
    "comments that do not end": ("awr", lambda n: page("<!-- -" * n)),
    "scripts that do not end": ("awr", lambda n: page("<script><" * n)),
    "headings inside one another": ("awr", lambda n: page("<h3><div>x" * n)),
    "tables inside one another": ("awr", lambda n: page("<table><tr><td>x" * n)),
    "texts beside the cells": ("awr", lambda n: page("<table>" + "a<tr>b" * n)),
    "texts of a cell": ("awr", lambda n: page("<table><tr><td>" + "a <b>&amp; </b>" * n)),
    "blanks of a cell": ("awr", lambda n: page("<table><tr><td>" + " <b> </b>" * n)),
    "rows of a wide table": ("awr", lambda n: page("<table>" + "<th>x</th>" * 64 + "<tr>" * n)),
    "tables": ("awr", lambda n: page("<table><td>" * n)),
    "digits of minutes": ("awr", lambda n: page(
        "<table><th>Snap Id<th>Snap Time" + "<th>x" * 60 + "<tr><td>Begin Snap:<tr><td>End Snap:<tr><td>Elapsed:"
        + ("<td>" + "1" * n) * 62)),
    "lines": ("awr", lambda n: plain("\n" * n)),
    "lines of dashes": ("awr", lambda n: plain("a b\n--- ---\n" * n)),
    "lines below many columns": ("awr", lambda n: plain("x " * 64 + "\n" + "--- " * 64 + "\n" + "x\n" * n)),
    "words between columns": ("awr", lambda n: plain("x " * 64 + "\n" + "--- " * 64 + "\n" + ("a " * 500 + "\n") * (n // 100))),
    "one line": ("awr", lambda n: plain("- " * n)),
    "dashes": ("awr", lambda n: plain("-" * n)),
    "names of databases": ("awr", lambda n: plain("DB: " + "a" * n + "\n" + "DB: a" * n)),
    "columns and lines": ("awr", lambda n: miner(
        _section("IO-WAIT-HISTOGRAM", " a" * 4000, " -" * 4000, "x\n" * n))),
    "columns of one name": ("awr", lambda n: miner(
        _section("IO-WAIT-HISTOGRAM", " SNAP_ID" * 4000, " -------" * 4000, "x\n" * n))),
    "columns": ("awr", lambda n: miner(_section("IO-WAIT-HISTOGRAM", " a" * n, " -" * n, "x\n"))),
    "a snapshot many times": ("awr", _same_snapshot),
    "marks": ("awr", lambda n: miner("~~BEGIN-A~~" * n + "~~END-A~~" * n)),
    "parameters": ("awr", lambda n: miner(
        _section("DATABASE-PARAMETERS", "PARAMETER_NAME VALUE", "-------------- -----", "a\n" * n))),
    "histograms": ("oracle-pack", lambda n: pack("".join(_EVENT.format("end", k, 8) for k in range(n)))),
    "bounds of a histogram": ("oracle-pack", lambda n: pack("".join(_EVENT.format("end", 0, k) for k in range(n)))),
    "bars": ("oracle-pack", lambda n: pack("|" * n)),
    "events": ("oracle-pack", lambda n: pack("".join(f"E|end|{k}||2|2|1|1|0\n" for k in range(n)))),
}  # fmt: skip
"""By what has no end: the kind of report, and the file of so many of that."""

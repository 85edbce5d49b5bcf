"""The words of a report that depend on its run: the unit of work and its plural."""

from __future__ import annotations

from redolab.report.tables.cells import Results, TimeUnit
from redolab.units import plural


def unit(results: Results) -> str:
    """The unit of work, singular: `commit`, `row`, `query` ..."""
    return str(results.get("unit") or "commit")


def units(results: Results) -> str:
    """The unit of work, plural."""
    return plural(unit(results))


def one(results: Results) -> str:
    """The unit of work with its article: `a commit`, `an insert`."""
    noun = unit(results)
    return f"an {noun}" if noun[0] in "aeio" else f"a {noun}"


def per_unit(results: Results, time: TimeUnit) -> str:
    """The unit of a time per unit of work: `ms per commit`."""
    return f"{time.name} per {unit(results)}"

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


def unfinished(results: Results) -> tuple[str, str]:
    """How a run ended that did not finish, and what that makes of its report; empty where it did.

    A watch has no end of its own: who ends it breaks it off.
    """
    status = results["status"]
    if status == "finished" or (_is_watch(results) and status == "interrupted"):
        return "", ""
    if _is_watch(results) and status == "running":
        return "The watching had not ended.", "The report holds what was seen until then."
    return f"The run was {status}.", "The report holds what was measured until then."


def _is_watch(results: Results) -> bool:
    return bool(results.get("watched"))

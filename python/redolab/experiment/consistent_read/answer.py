"""The answer of consistent-read: what a query pays for versions that it must not see."""

from __future__ import annotations

from typing import Any

from redolab.analysis.compared import Compared, results
from redolab.analysis.verdict import Verdict
from redolab.experiment.consistent_read.figures import drawings
from redolab.experiment.consistent_read.plan import PARTS
from redolab.experiment.consistent_read.prices import Figures, read_run
from redolab.experiment.consistent_read.tables import (
    PUBLISHED_RATIO,
    SOURCE,
    findings,
    published_setting,
    tables,
    warnings,
)
from redolab.records.store import Run
from redolab.stats.blocks import Comparison
from redolab.stats.estimates import Estimate
from redolab.units import significant

_ADVICE = (
    "What a scan pays is in proportion to the updates that are open: let a long update commit in parts, or "
    "scan before it."
)


def analyse(_run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a consistent-read run, finished or not; plain JSON types only.

    Args:
        compared: the run, compared.
    """
    figures = read_run(compared)
    return results(
        figures.compared,
        verdict(figures),
        tables(figures),
        drawings(figures),
        findings(figures),
        [SOURCE],
        warnings(figures),
    )


def verdict(figures: Figures) -> Verdict:
    """What a query pays for versions it must not see, where it pays, and when the published 1.5 comes."""
    compared = figures.compared
    name = published_setting(figures)
    found = next(item for item in figures.judged if item.setting == name)
    if figures.time[name].point is None:
        return Verdict("Nothing can be compared yet.", "undecided", compared.baseline, None)
    if figures.null.passed is False:
        text = (
            "The verdict is withheld, because the query without updates measured against itself came out "
            f"{_span(figures.null.ratio)} times as long by {'CPU' if figures.by_cpu else 'elapsed'} time "
            f"(p = {figures.null.pvalue or 0.0:.2g}), so this run would see differences where there are none."
        )
        return Verdict(text, "withheld", compared.baseline, None)
    best = compared.baseline if found.outcome in {"worse", "equivalent"} else None
    sentences = [_slow_down(figures, name, found), *_price(figures), *_published(figures, name, found)]
    sentences.append(_first_read(figures))
    if compared.blocks_done < compared.blocks_planned:
        sentences.insert(0, f"From {compared.blocks_done} of {compared.blocks_planned} blocks:")
    return Verdict(" ".join(sentences), found.outcome, compared.baseline, best)


def _slow_down(figures: Figures, name: str, found: Comparison) -> str:
    elapsed, cpu = figures.elapsed[name], figures.cpu[name]
    if figures.by_cpu:
        took = f"takes {_span(cpu)} times the CPU that it takes without them"
        beside = f"elapsed time, on a busy machine: {_span(elapsed)} times"
    else:
        took = f"takes {_span(elapsed)} times as long as without them"
        beside = "" if cpu.point is None else f"CPU: {_span(cpu)} times"
    judged = {
        "equivalent": f", which lies inside the {100 * figures.compared.margin:g} % that count as equal",
        "undecided": ", which is not settled"
        + (f" ({found.blocks_needed} more blocks would do)" if found.blocks_needed else ""),
    }.get(found.outcome, "")
    passed = [
        f"{significant(value.point)} times the {what}"
        for value, what in ((figures.versions[name], "row versions"), (figures.buffers[name], "pages"))
        if value.point is not None
    ]
    reads = f"; it reads {' and '.join(passed)}" if passed else ""
    return (
        f"With {name} rounds of updates left uncommitted (each updates 1/{PARTS} of the rows twice) a whole "
        f"scan {took}{f' ({beside})' if beside else ''}{judged}{reads}."
    )


def _price(figures: Figures) -> list[str]:
    extra, row = figures.version_cost_ns, figures.row_cost_ns
    if extra.point is None or row.point is None:
        return []
    kind = "CPU" if figures.on_cpu else "time"
    return [
        f"A version that must not be seen costs {_span(extra, 0)} ns of {kind}, a row that is seen "
        f"{row.point:.0f} ns."
    ]


def _published(figures: Figures, name: str, found: Comparison) -> list[str]:
    published = f"The published slow-down (Oracle, at least {PUBLISHED_RATIO} times)"
    most = max(figures.compared.names, key=int)
    seen = figures.time[most].point
    measured = f" ({most} rounds: {seen:.2f} times)" if seen is not None and most != name else ""
    ratio = figures.time[name]
    if ratio.point is None or ratio.high is None or ratio.point < PUBLISHED_RATIO <= ratio.high:
        return [f"Whether the published slow-down shows here is not settled{measured}."]
    if ratio.point >= PUBLISHED_RATIO:
        return [f"{published} shows here too{measured}.", _ADVICE]
    needed = figures.versions_for(PUBLISHED_RATIO)
    if needed.point is not None:
        rounds = needed.scaled(PARTS / 2)
        return [
            f"{published} does not show here: at these prices it takes {_span(needed)} more versions per "
            f"row, that is {_span(rounds, 0)} such rounds{measured}.",
            _ADVICE,
        ]
    if figures.versions[name].point is None or found.outcome == "equivalent":
        return [f"{published} does not show here: a scan does not grow slower with the updates of others."]
    return [f"{published} does not show here; whether versions cost anything at all is not settled."]


def _first_read(figures: Figures) -> str:
    beyond = figures.building
    if beyond.point is None:
        return "The first query after the updates was not told from the later ones."
    low, high = beyond.low, beyond.high
    if low is not None and high is not None and low > 1:
        return (
            f"The first query after them takes {_span(beyond)} times as long as a later one, measured "
            "against the same ratio without updates: what it builds or fetches, the later ones find."
        )
    if high is None or high > 1 + figures.compared.margin:
        return (
            "Whether the first query after them takes longer than a later one is not settled: "
            f"{_span(beyond)} times, measured against the same ratio without updates."
        )
    return (
        f"The first query after them takes {_span(beyond)} times as long as a later one, measured against "
        "the same ratio without updates: no query leaves anything that the next could use."
    )


def _point(value: Estimate, digits: int = 2) -> str:
    return "unknown" if value.point is None else f"{value.point:.{digits}f}"


def _span(value: Estimate, digits: int = 2) -> str:
    if value.low is None or value.high is None:
        return _point(value, digits)
    return f"{value.point:.{digits}f} ({value.low:.{digits}f} to {value.high:.{digits}f})"

"""The answer of consistent-read: the cost of versions that a query must not see."""

from __future__ import annotations

from typing import Any

from redolab.analysis.compared import Compared
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict, joined, rests_on
from redolab.experiment.consistent_read.figures import drawings
from redolab.experiment.consistent_read.plan import PARTS
from redolab.experiment.consistent_read.prices import ScanFigures, read_run
from redolab.experiment.consistent_read.tables import (
    PUBLISHED_RATIO,
    SOURCE,
    findings,
    published_setting,
    tables,
    warnings,
)
from redolab.records.run import Run
from redolab.stats.blocks import Comparison, Outcome
from redolab.stats.estimates import Estimate
from redolab.units import counted, significant

_ADVICE = (
    "The cost of a scan grows with the open updates, in proportion: commit long updates in parts, or scan "
    "before them."
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


def verdict(figures: ScanFigures) -> Verdict:
    """The cost of versions that a query must not see, its place, and where the published 1.5 is reached."""
    compared = figures.compared
    name = published_setting(figures)
    found = next(item for item in figures.judged if item.setting == name)
    so_far = rests_on(compared.blocks_done, compared.blocks_planned)
    if figures.time[name].point is None:
        text = joined(["Nothing can be compared yet, because no sample is valid: measure again.", so_far])
        return Verdict(text, "undecided", compared.baseline, None)
    if figures.null.passed is False:
        text = (
            "Run again when fewer programs run here: the query without updates, measured against "
            f"itself, took {_span(figures.null.ratio)} times as "
            f"long{' by CPU time' if figures.by_cpu else ''}, so the verdict is withheld. Such a run would "
            f"report differences that do not exist (p = {figures.null.pvalue or 0.0:.2g})."
        )
        return Verdict(text, "withheld", compared.baseline, None)
    best = compared.baseline if found.outcome in {"worse", "equivalent"} else None
    sentences = [
        _first(figures, name, found.outcome),
        so_far,
        *_slow_down(figures, name, found),
        *_price(figures),
        *_published(figures, name, found),
        *_first_read(figures),
    ]
    return Verdict(joined(sentences), found.outcome, compared.baseline, best)


def _first(figures: ScanFigures, name: str, outcome: Outcome) -> str:
    """The advice, and how much longer a scan takes."""
    if figures.by_cpu:
        took = f"takes {_span(figures.cpu[name])} times as much CPU time"
    else:
        took = f"takes {_span(figures.elapsed[name])} times as long"
    scan = f"with {name} rounds of uncommitted updates, a scan {took} as without updates"
    return {
        "worse": f"Commit long updates in parts: {scan}.",
        "equivalent": f"Leave long updates as they are: {scan}, counted as equal.",
        "better": f"Leave long updates as they are: {scan}.",
    }.get(outcome, f"Measure longer (more blocks): {scan}, which is not conclusive.")


def _slow_down(figures: ScanFigures, name: str, found: Comparison) -> list[str]:
    """Sentences on the first figure: the other clock, the margin, and the pages that the scan read."""
    elapsed, cpu = figures.elapsed[name], figures.cpu[name]
    texts = [f"Each round updates 1/{PARTS} of the rows twice."]
    if figures.by_cpu:
        texts.append(f"The machine is busy: a scan takes {_span(elapsed)} times as long as without updates.")
    elif cpu.point is not None:
        texts.append(f"The CPU time of a scan is {_span(cpu)} times that of a scan without updates.")
    if found.outcome == "equivalent":
        texts.append(f"The difference is inside the {100 * figures.compared.margin:g} % that count as equal.")
    if found.outcome == "undecided" and found.blocks_needed:
        texts.append(
            f"{counted(found.blocks_needed, 'more block')} would settle whether there is a difference."
        )
    passed = [
        f"{significant(value.point)} times the {what}"
        for value, what in ((figures.versions[name], "row versions"), (figures.buffers[name], "pages"))
        if value.point is not None
    ]
    return [*texts, f"With the updates open, a scan reads {' and '.join(passed)}."] if passed else texts


def _price(figures: ScanFigures) -> list[str]:
    extra, row = figures.version_cost_ns, figures.row_cost_ns
    if extra.point is None or row.point is None:
        return []
    kind = "CPU" if figures.on_cpu else "time"
    return [
        f"A row version that the query must not see costs {_span(extra, 0)} ns of {kind}.",
        f"A row that the query may see costs {row.point:.0f} ns.",
    ]


def _published(figures: ScanFigures, name: str, found: Comparison) -> list[str]:
    published = f"The published slow-down (Oracle, at least {PUBLISHED_RATIO} times)"
    most = max(figures.compared.names, key=int)
    seen = figures.time[most].point
    measured = f" ({most} rounds: {seen:.2f} times)" if seen is not None and most != name else ""
    ratio = figures.time[name]
    if ratio.point is None or ratio.high is None or ratio.point < PUBLISHED_RATIO <= ratio.high:
        return [
            "This run does not settle whether scans slow down here as they did in the published Oracle "
            f"runs{measured}."
        ]
    if ratio.point >= PUBLISHED_RATIO:
        return [f"{published} shows here too{measured}.", _ADVICE]
    needed = figures.versions_for(PUBLISHED_RATIO)
    if needed.point is not None:
        rounds = needed.scaled(PARTS / 2)
        return [
            f"{published} does not show here{measured}.",
            f"At the costs measured here, the published slow-down would need {_span(needed)} more versions "
            f"per row, or {_span(rounds, 0)} rounds of updates.",
            _ADVICE,
        ]
    if figures.versions[name].point is None or found.outcome == "equivalent":
        return [f"{published} does not show here: a scan does not become slower with the updates of others."]
    return [
        f"{published} does not show here; this run does not settle whether row versions cost a scan "
        "anything at all."
    ]


def _first_read(figures: ScanFigures) -> list[str]:
    """Whether the first query after the updates pays more than a later one."""
    beyond = figures.building
    if beyond.point is None:
        return ["The first query after the updates was not measured apart from the later queries."]
    low, high = beyond.low, beyond.high
    took = f"The first query after the updates takes {_span(beyond)} times as long as a later query."
    measured = (
        "In this figure, the ratio of first to later queries is divided by the same ratio without updates."
    )
    if low is not None and high is not None and low > 1:
        return [took, measured, "So later queries find the pages that the first query built or fetched."]
    if high is None or high > 1 + figures.compared.margin:
        return [
            took,
            measured,
            "This run does not settle whether the first query differs by more than noise.",
        ]
    return [took, measured, "So a query does not leave anything behind that the next query could use."]


def _point(value: Estimate, digits: int = 2) -> str:
    return "unknown" if value.point is None else f"{value.point:.{digits}f}"


def _span(value: Estimate, digits: int = 2) -> str:
    return value.text(write=f"{{:.{digits}f}}".format)

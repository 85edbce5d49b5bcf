"""The answer of rows-per-commit: the saving of many rows, and how many are enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab import units
from redolab.analysis.compared import Compared
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict, against, joined, rests_on, withheld
from redolab.experiment.rows_per_commit import saving
from redolab.experiment.rows_per_commit.figures import figures
from redolab.experiment.rows_per_commit.sweep import PUBLISHED_ROWS, Sweep, sweeps
from redolab.experiment.rows_per_commit.tables import SOURCE, findings, tables
from redolab.records.run import Run
from redolab.stats.blocks import Comparison, Outcome
from redolab.stats.estimates import Estimate


def analyse(_run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a rows-per-commit run, finished or not; plain JSON types only.

    Args:
        compared: the run, compared.
    """
    return results(
        compared,
        _verdict(compared),
        tables=tables(compared),
        figures=figures(compared),
        published=findings(compared),
        sources=(SOURCE.replace("part 1, 28 May", "parts 1 to 4, May and June"),),
    )


def _verdict(compared: Compared) -> Verdict:
    """The saving, the part of it that 32 rows bring, and the rows that collect 90 % and 99 % of it."""
    held_back = withheld(compared.null, compared.baseline, compared.labels)
    if held_back is not None:
        return held_back
    sweep, *others = sweeps(compared)
    (first, *rest), outcome, best = _answer(sweep, compared)
    if sweep.label:
        first = f"With {sweep.label}: {first[0].lower()}{first[1:]}"
    if outcome == "better":
        rest += [
            f"With {other.label}: {text}" for other in others if other.measured for text in _enough(other)
        ]
    text = joined([first, rests_on(compared.blocks_done, compared.blocks_planned), *rest])
    return Verdict(text, outcome, compared.baseline, best)


def _answer(sweep: Sweep, compared: Compared) -> tuple[list[str], Outcome, str | None]:
    """The sentences, the outcome, and the setting named as best."""
    if not sweep.measured:
        return ["Measure again: too few samples are valid to compare anything."], "undecided", None
    fewest, most = min(sweep.names), max(sweep.names)
    nearly_all = saving.reached(sweep.times, 0.99)
    named = sweep.names[most if nearly_all.point is None else int(nearly_all.point)]
    rival = next((item for item in compared.throughputs if item.setting == named), None)
    outcome: Outcome = "undecided" if rival is None else rival.outcome
    if rival is None or nearly_all.point is None or outcome != "better":
        return _not_shown(rival, {name: rows for rows, name in sweep.names.items()}), outcome, None
    each = saving.means(sweep.times)
    ninety = saving.reached(sweep.times, 0.9)
    sentences = [
        f"Commit every {_rows(ninety, nearly_all)} rows: that brings nearly all of the possible saving, "
        f"which is {_percent(saving.saving(sweep.times))} of an insert's time.",
        f"With {_count(most)} rows per commit, a row takes {units.duration(each[most])} instead of "
        f"{units.duration(each[fewest])}{'' if fewest == 1 else f' with {fewest}'}.",
        *_enough(sweep),
    ]
    return sentences, outcome, named


def _enough(sweep: Sweep) -> list[str]:
    """The part of the saving that few rows per commit bring."""
    most = max(sweep.names)
    ninety, nearly_all = (saving.reached(sweep.times, share) for share in (0.9, 0.99))
    if ninety.point is None:
        return ["This run did not show any saving of time."]
    shown = PUBLISHED_ROWS if PUBLISHED_ROWS in sweep.names else int(ninety.point)
    part = saving.collected(sweep.times, shown)
    return [
        f"{_count(shown)} rows per commit bring {_percent(part)} of the saving that {_count(most)} rows "
        "bring.",
        f"90 % of the possible saving needs {_span(ninety)} rows per commit, and 99 % needs "
        f"{_span(nearly_all)}.",
    ]


def _rows(ninety: Estimate, nearly_all: Estimate) -> str:
    low, high = int(ninety.point or 0), int(nearly_all.point or 0)
    return _count(low) if low == high else f"{_count(low)} to {_count(high)}"


def _not_shown(rival: Comparison | None, rows: Mapping[str, int]) -> list[str]:
    """The reason why no number of rows is named; `rows`: the rows per commit of each setting."""
    if rival is None or rival.ratio.point is None:
        return ["Measure longer (more blocks): this run did not show that rows per commit matter here."]
    fewest = min(rows.values())
    seen = f"{_count(rows[rival.setting])} rows per commit were {against(rival.ratio, _count(fewest))}"
    if rival.outcome == "equivalent":
        return [f"Commit as suits you: {seen}, which counts as equal.", "Rows per commit do not matter here."]
    if rival.outcome == "worse":
        return [
            f"Keep {units.counted(fewest, 'row')} to a commit: {seen}.",
            "More rows per commit were not shown to help here.",
        ]
    more = f"{units.counted(rival.blocks_needed, 'more block')} would" if rival.blocks_needed else ""
    if rival.excludes_equal and more:
        few = f"{rival.blocks} blocks (passes over all settings) are too few to be sure"
        return [
            f"Measure longer (more blocks): {seen}, which is not certain yet.",
            f"{few}; {more} be enough.",
        ]
    texts = [f"Measure longer (more blocks): {seen}, which is not conclusive."]
    return [*texts, f"{more} settle whether there is a difference that matters."] if more else texts


def _span(found: Estimate) -> str:
    return units.with_interval(found.point, found.low, found.high, write=_count)


def _percent(found: Estimate) -> str:
    if found.point is None:
        return "an unknown part"
    # Between 99 and 100 % the second decimal matters.
    digits = 2 if 0.99 <= found.point < 1 else 1
    return found.scaled(100).text(" %", f"{{:.{digits}f}}".format)


def _count(number: float) -> str:
    return f"{number:,.0f}"

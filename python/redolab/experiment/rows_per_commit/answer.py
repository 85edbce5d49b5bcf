"""The answer of rows-per-commit: the saving of many rows, and how many are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab import units
from redolab.analysis.compared import Compared
from redolab.analysis.levels import Level, reservations
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict, against, joined, rests_on, withheld
from redolab.experiment.rows_per_commit import saving
from redolab.experiment.rows_per_commit.figures import figures
from redolab.experiment.rows_per_commit.sweep import PUBLISHED_ROWS, SHARES, Sweep, sweep_levels, sweeps
from redolab.experiment.rows_per_commit.tables import SOURCE, findings, tables
from redolab.records.run import Run
from redolab.stats.blocks import Comparison, Outcome
from redolab.stats.estimates import Estimate


def analyse(_run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a rows-per-commit run, finished or not; plain JSON types only.

    Args:
        compared: the run, compared.
    """
    found = sweeps(compared)
    return results(
        compared,
        _verdict(compared, found),
        tables=tables(compared, found),
        figures=figures(compared, found),
        published=findings(found[0]),
        sources=(SOURCE.replace("part 1, 28 May", "parts 1 to 4, May and June"),),
        levels=_levels(compared, found),
    )


levels = sweep_levels
"""The rows per commit that a run recommends, by the evidence so far."""


def _levels(compared: Compared, found: Sequence[Sweep]) -> list[Level]:
    return [level for sweep in found for level in sweep.levels(compared.margin)]


def _verdict(compared: Compared, found: Sequence[Sweep]) -> Verdict:
    """The saving, the part of it that 32 rows bring, and the rows that collect 90 % and 99 % of it."""
    held_back = withheld(compared.null, compared.baseline, compared.labels)
    sweep, *others = found
    if held_back is not None and sweep.so_far is None:
        return held_back
    (first, *rest), outcome, best = _answer(sweep, compared)
    if held_back is not None and outcome == "undecided":
        return held_back
    if sweep.label:
        first = f"With {sweep.label}: {first[0].lower()}{first[1:]}"
    if outcome == "better":
        rest += [
            f"With {other.label}: {text}" for other in others if other.measured for text in _enough(other)
        ]
    base = compared.labels.get(compared.baseline, compared.baseline)
    unsure = reservations(_levels(compared, found), compared.blocks_done, compared.null, base)
    text = joined([first, rests_on(compared.blocks_done, compared.blocks_planned), *unsure, *rest])
    return Verdict(text, outcome, compared.baseline, best)


def _answer(sweep: Sweep, compared: Compared) -> tuple[list[str], Outcome, str | None]:
    """The sentences, the outcome, and the setting named as best."""
    if not sweep.measured:
        return ["Measure again: too few samples are valid to compare anything."], "undecided", None
    if sweep.so_far is not None:
        return _settling(sweep, sweep.so_far.gain(), compared.margin)
    nearly_all = saving.reached(sweep.times, 0.99)
    most = max(sweep.names)
    named = sweep.names[most if nearly_all.point is None else int(nearly_all.point)]
    rival = next((item for item in compared.throughputs if item.setting == named), None)
    outcome: Outcome = "undecided" if rival is None else rival.outcome
    if rival is None or nearly_all.point is None or outcome != "better":
        return _not_shown(rival, {name: rows for rows, name in sweep.names.items()}), outcome, None
    return [_nearly_all(sweep), *_times(sweep)], outcome, named


def _settling(sweep: Sweep, gain: Estimate, margin: float) -> tuple[list[str], Outcome, str | None]:
    """Sentences, outcome and best setting of a run that ends as soon as its levels are settled.

    Args:
        sweep: the settings.
        gain: throughput with the most rows per commit over that with the fewest.
        margin: the largest gain that does not count.
    """
    fewest, most = min(sweep.names), max(sweep.names)
    settled = all(level.settled for level in sweep.levels(margin))
    ninety, nearly_all = (sweep.reached(share) for share in SHARES)
    if ninety.high is not None and nearly_all.point is not None:
        high = int(ninety.high)
        first = (
            _nearly_all(sweep)
            if settled
            else f"Commit every {_count(high)} rows or more: that brings 90 % or more of the possible "
            f"saving, which is {_percent(sweep.saving())} of an insert's time."
        )
        return [first, *_times(sweep)], "better", sweep.names[int(nearly_all.point) if settled else high]
    seen = f"{_count(most)} rows per commit were {against(gain, _count(fewest))}"
    if not settled:
        return [f"Measure longer (more blocks): {seen}, which is not sure yet."], "undecided", None
    first = f"Keep {units.counted(fewest, 'row')} to a commit: {seen}."
    outcome: Outcome = "worse" if gain.high is not None and gain.high < 1 else "equivalent"
    return [first, "More rows per commit do not help here."], outcome, None


def _nearly_all(sweep: Sweep) -> str:
    """The rows per commit to have, and what they save."""
    return (
        f"Commit every {_rows(sweep.reached(0.9), sweep.reached(0.99))} rows: that brings nearly all of the "
        f"possible saving, which is {_percent(sweep.saving())} of an insert's time."
    )


def _times(sweep: Sweep) -> list[str]:
    """The time of a row with the most and the fewest rows per commit, and the saving of few."""
    fewest, most, each = min(sweep.names), max(sweep.names), saving.means(sweep.times)
    return [
        f"With {_count(most)} rows per commit, a row takes {units.duration(each[most])} instead of "
        f"{units.duration(each[fewest])}{'' if fewest == 1 else f' with {fewest}'}.",
        *_enough(sweep),
    ]


def _enough(sweep: Sweep) -> list[str]:
    """The part of the saving that few rows per commit bring."""
    most = max(sweep.names)
    ninety, nearly_all = (sweep.reached(share) for share in SHARES)
    if ninety.point is None:
        return ["This run did not show any saving of time."]
    shown = PUBLISHED_ROWS if PUBLISHED_ROWS in sweep.names else int(ninety.point)
    part = sweep.collected(shown)
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

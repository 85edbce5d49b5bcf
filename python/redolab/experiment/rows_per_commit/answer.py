"""The answer of rows-per-commit: what many rows save, and how many are enough."""

from __future__ import annotations

from typing import Any

from redolab import units
from redolab.analysis.compared import Compared, results
from redolab.analysis.verdict import Verdict, ratio_text, withheld
from redolab.experiment.rows_per_commit import saving
from redolab.experiment.rows_per_commit.figures import figures
from redolab.experiment.rows_per_commit.sweep import PUBLISHED_ROWS, Sweep, sweeps
from redolab.experiment.rows_per_commit.tables import SOURCE, findings, tables
from redolab.records.store import Run
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
    """How much is saved, what 32 rows bring of it, and from how many rows on 90 % and 99 % are there."""
    held_back = withheld(compared.null, compared.baseline)
    if held_back is not None:
        return held_back
    first, *others = sweeps(compared)
    text, outcome, best = _answer(first, compared)
    if first.label:
        text = f"With {first.label}: {text}"
    if compared.blocks_done < compared.blocks_planned:
        text = f"From {compared.blocks_done} of {compared.blocks_planned} blocks: {text}"
    if outcome == "better":
        text += "".join(f" With {other.label}: {_enough(other)}." for other in others if other.measured)
    return Verdict(text, outcome, compared.baseline, best)


def _answer(sweep: Sweep, compared: Compared) -> tuple[str, Outcome, str | None]:
    """The sentences, the outcome, and the setting named as best."""
    if not sweep.measured:
        return "Too few samples count to compare anything.", "undecided", None
    fewest, most = min(sweep.names), max(sweep.names)
    nearly_all = saving.reached(sweep.times, 0.99)
    named = sweep.names[most if nearly_all.point is None else int(nearly_all.point)]
    against = next((item for item in compared.throughputs if item.setting == named), None)
    outcome: Outcome = "undecided" if against is None else against.outcome
    if against is None or nearly_all.point is None or outcome != "better":
        return _not_shown(against, sweep.names[fewest]), outcome, None
    each = saving.means(sweep.times)
    saved = saving.saving(sweep.times)
    text = (
        f"{_count(most)} rows per commit save {_percent(saved)} of the time of an insert: "
        f"{units.duration(each[most])} a row instead of {units.duration(each[fewest])}"
        f"{'' if fewest == 1 else f' with {fewest}'}. {_enough(sweep)}. "
    )
    ninety = saving.reached(sweep.times, 0.9)
    return text + _advice(ninety, nearly_all), outcome, named


def _enough(sweep: Sweep) -> str:
    """What few rows per commit bring of what the most bring."""
    most = max(sweep.names)
    marks = [(share, saving.reached(sweep.times, share)) for share in (0.9, 0.99)]
    if marks[0][1].point is None:
        return "no saving was shown"
    told = PUBLISHED_ROWS if PUBLISHED_ROWS in sweep.names else int(marks[0][1].point)
    part = saving.collected(sweep.times, told)
    reached = " and ".join(f"{share:.0%} from {_span(found)}".replace("%", " %") for share, found in marks)
    return f"{_count(told)} rows per commit bring {_percent(part)} of what {_count(most)} bring: {reached} on"


def _advice(ninety: Estimate, nearly_all: Estimate) -> str:
    low, high = int(ninety.point or 0), int(nearly_all.point or 0)
    numbers = _count(low) if low == high else f"{_count(low)} to {_count(high)}"
    return f"So commit every {numbers} rows; more bring next to nothing."


def _not_shown(against: Comparison | None, fewest: str) -> str:
    """Why no number of rows is named."""
    if against is None or against.ratio.point is None:
        return "Rows per commit were not shown to matter here."
    seen = f"{against.setting} against {fewest} was {ratio_text(against.ratio)}"
    if not against.blocks_needed:
        return f"Rows per commit were not shown to matter here: {seen}."
    if against.excludes_equal:
        few = f"{against.blocks} blocks are too few to be sure"
        return f"{seen}, but {few}; {against.blocks_needed} more would do."
    return (
        f"Rows per commit were not shown to matter here: {seen}; {against.blocks_needed} more blocks would "
        "settle a difference of the margin."
    )


def _span(found: Estimate) -> str:
    low, high = found.low, found.high
    around = "" if low is None or high is None else f" ({_count(low)} to {_count(high)})"
    return _count(found.point or 0) + around


def _percent(found: Estimate) -> str:
    if found.point is None:
        return "an unknown part"
    # Between 99 and 100 % the second decimal is what there is to tell.
    digits = 2 if 0.99 <= found.point < 1 else 1
    text = f"{100 * found.point:.{digits}f} %"
    if found.low is None or found.high is None:
        return text
    return f"{text} ({100 * found.low:.{digits}f} to {100 * found.high:.{digits}f})"


def _count(number: float) -> str:
    return f"{number:,.0f}"

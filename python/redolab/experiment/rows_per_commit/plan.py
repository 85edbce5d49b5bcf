"""rows-per-commit: what does it save to insert many rows before each commit, and how many are enough?"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from redolab import units
from redolab.errors import UsageError
from redolab.experiment.base import Experiment, Levels, Pilot, Size, Wish, combinations_of
from redolab.records.design import Design
from redolab.records.load import Amount, Inserts, Load
from redolab.records.store import Run

if TYPE_CHECKING:
    from redolab.analysis.compared import Compared
    from redolab.analysis.verdict import Verdict
    from redolab.experiment.rows_per_commit.tables import Sweep
    from redolab.stats.blocks import Comparison, Outcome
    from redolab.stats.estimates import Estimate

_ROWS = tuple(2**power for power in range(16))
# With further factors every number would be too many settings for a quick run.
_FEW_ROWS = (1, 8, 32, 128, 1024, 32768)
_MOST_ROWS = 1_000_000_000
# A row with its header and this filler takes 64 bytes, about what the smallest rows of an application do.
_PADDING_BYTES = 10
_PILOT_S = 0.15
# Shorter samples are over before the wait sampler looks, and the kernel's accounts are too coarse for them.
_SHORTEST_S = 0.1


def _combine(wish: Wish) -> Mapping[str, Levels]:
    factors = {"rows_per_commit": tuple(map(str, _ROWS))}
    if len(wish.sessions) > 1:
        factors["sessions"] = tuple(map(str, wish.sessions))
    if wish.client:
        factors["loop"] = ("server", "client")
    return combinations_of(**factors)


def _defaults(wish: Wish, possible: tuple[str, ...]) -> tuple[str, ...]:
    if not wish.quick or not (wish.client or len(wish.sessions) > 1):
        return possible
    return tuple(name for name in possible if _rows(name) in _FEW_ROWS)


def _fewest(settings: tuple[str, ...]) -> str:
    return min(settings, key=_rows)


def _rows(name: str) -> int:
    return int(name.partition("/")[0])


def _load(wish: Wish, settings: Mapping[str, Levels]) -> Inserts:  # noqa: ARG001
    if wish.rows is not None and not 0 < wish.rows <= _MOST_ROWS:
        raise UsageError(
            f"--rows is {wish.rows}; it must be greater than 0 and at most {_MOST_ROWS:,}, the rows that "
            "each sample inserts."
        )
    return Inserts("inserts", max(wish.sessions, default=1), wish.scope, _PADDING_BYTES)


def _rows_at_once(name: str, load: Load) -> int:
    """What a setting inserts at least: one whole commit in each of its sessions."""
    rows, *others = name.split("/")
    return int(rows) * next((int(level) for level in others if level.isdigit()), load.sessions)


def _fit(design: Design, load: Load, pilot: Pilot) -> Design:
    """The rows of a sample that take `design.seconds` on average, told by short works in each setting.

    Where the rows are given, how long they take is told. The slower of two works counts: a disk that
    others use can be ten times as slow a moment later. A setting in which the rows take too short a time
    to be measured inserts them several times over.
    """
    row_s = dict.fromkeys(design.settings, 0.0)
    for name in design.settings * 2:
        work = pilot(name, Amount(_PILOT_S))
        row_s[name] = max(row_s[name], work.session_elapsed_max_s / max(work.units, 1))

    block = [trial.setting for trial in design.order() if trial.block == 1]

    def length_s(name: str, rows: int) -> float:
        least = _rows_at_once(name, load)
        return row_s[name] * math.ceil(rows / least) * least

    def mean_s(rows: int) -> float:
        return sum(length_s(name, rows) for name in block) / len(block)

    rows = design.units
    if rows is None:
        most = bisect_right(range(1, _MOST_ROWS), design.seconds, key=mean_s)
        rows = _round_down(max(most, 1))
    repeats = {
        name: math.ceil(_SHORTEST_S / length_s(name, rows))
        for name in design.settings
        if 0 < length_s(name, rows) < _SHORTEST_S
    }
    seconds = sum(repeats.get(name, 1) * length_s(name, rows) for name in block) / len(block)
    return replace(design, units=rows, repeats=repeats, seconds=seconds)


def _round_down(number: int) -> int:
    """Two significant digits, so that the rows of a sample can be remembered."""
    step: int = 10 ** max(len(str(number)) - 2, 0)
    return number // step * step


def _analyse(run: Run) -> dict[str, Any]:
    from redolab.analysis.compared import compare_run, results
    from redolab.experiment.rows_per_commit import tables as shown

    compared = compare_run(run)
    return results(
        compared,
        _verdict(compared),
        tables=shown.tables(compared),
        figures=shown.figures(compared),
        published=shown.findings(compared),
        sources=(shown.SOURCE.replace("part 1, 28 May", "parts 1 to 4, May and June"),),
    )


def _verdict(compared: Compared) -> Verdict:
    """How much is saved, what 32 rows bring of it, and from how many rows on 90 % and 99 % are there."""
    from redolab.analysis.verdict import Verdict, withheld
    from redolab.experiment.rows_per_commit.tables import sweeps

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
    from redolab.experiment.rows_per_commit import saving as figures_of

    if not sweep.measured:
        return "Too few samples count to compare anything.", "undecided", None
    fewest, most = min(sweep.names), max(sweep.names)
    nearly_all = figures_of.reached(sweep.times, 0.99)
    named = sweep.names[most if nearly_all.point is None else int(nearly_all.point)]
    against = next((item for item in compared.throughputs if item.setting == named), None)
    outcome: Outcome = "undecided" if against is None else against.outcome
    if against is None or nearly_all.point is None or outcome != "better":
        return _not_shown(against, sweep.names[fewest]), outcome, None
    each = figures_of.means(sweep.times)
    saved = figures_of.saving(sweep.times)
    text = (
        f"{_count(most)} rows per commit save {_percent(saved)} of the time of an insert: "
        f"{units.duration(each[most])} a row instead of {units.duration(each[fewest])}"
        f"{'' if fewest == 1 else f' with {fewest}'}. {_enough(sweep)}. "
    )
    ninety = figures_of.reached(sweep.times, 0.9)
    return text + _advice(ninety, nearly_all), outcome, named


def _enough(sweep: Sweep) -> str:
    """What few rows per commit bring of what the most bring."""
    from redolab.experiment.rows_per_commit import saving as figures_of
    from redolab.experiment.rows_per_commit.tables import PUBLISHED_ROWS

    most = max(sweep.names)
    marks = [(share, figures_of.reached(sweep.times, share)) for share in (0.9, 0.99)]
    if marks[0][1].point is None:
        return "no saving was shown"
    told = PUBLISHED_ROWS if PUBLISHED_ROWS in sweep.names else int(marks[0][1].point)
    part = figures_of.collected(sweep.times, told)
    reached = " and ".join(f"{share:.0%} from {_span(found)}".replace("%", " %") for share, found in marks)
    return f"{_count(told)} rows per commit bring {_percent(part)} of what {_count(most)} bring: {reached} on"


def _advice(ninety: Estimate, nearly_all: Estimate) -> str:
    low, high = int(ninety.point or 0), int(nearly_all.point or 0)
    numbers = _count(low) if low == high else f"{_count(low)} to {_count(high)}"
    return f"So commit every {numbers} rows; more bring next to nothing."


def _not_shown(against: Comparison | None, fewest: str) -> str:
    """Why no number of rows is named."""
    from redolab.analysis.verdict import ratio_text

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


# Sixteen numbers of rows are fifteen comparisons: six blocks are the fewest in which Holm can let all pass.
EXPERIMENT = Experiment(
    name="rows-per-commit",
    question="What do many rows per commit save here, and how many are enough?",
    unit="row",
    record="sample",
    needs=frozenset({"inserts"}),
    options=frozenset({"sessions", "rows", "client"}),
    combine=_combine,
    defaults=_defaults,
    baseline=_fewest,
    quick=Size(blocks=7, seconds=0.5, warmup_s=0.1),
    full=Size(blocks=35, seconds=15, warmup_s=2, units=900_000),
    null_pair=True,
    load=_load,
    analyse=_analyse,
    fit=_fit,
)

"""consistent-read: what do another session's uncommitted updates cost a query that must not see them?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from redolab.errors import UsageError
from redolab.experiment.base import Experiment, Levels, Pilot, Size, Wish, combinations_of, resized
from redolab.records.design import Design
from redolab.records.load import Amount, Load, Scans
from redolab.records.store import Run
from redolab.units import significant

if TYPE_CHECKING:
    from redolab.analysis.verdict import Verdict
    from redolab.experiment.consistent_read.prices import Figures
    from redolab.stats.blocks import Comparison
    from redolab.stats.estimates import Estimate

# As published: 18 million rows, of which each round updates 1 million twice; up to three rounds. Nine
# rounds of the same make twice the versions, where an effect in proportion to them cannot be missed.
_PARTS = 18
_QUICK_ROWS, _FULL_ROWS = 720_000, 18_000_000
_MOST_ROWS = 2_000_000_000
_MOST_ROUNDS = 50
_DEFAULT_ROUNDS = ("0", "1", "2", "3", "9")
_PILOT_SCANS = 3
_ADVICE = (
    "What a scan pays is in proportion to the updates that are open: let a long update commit in parts, or "
    "scan before it."
)
_FEWEST_SCANS, _MOST_SCANS = 3, 1_000


def _all_settings(wish: Wish) -> Mapping[str, Levels]:  # noqa: ARG001
    return combinations_of(rounds=tuple(map(str, range(_MOST_ROUNDS + 1))))


def _default_settings(wish: Wish, possible: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001
    return _DEFAULT_ROUNDS


def _fewest_rounds(settings: tuple[str, ...]) -> str:
    return min(settings, key=int)


def _load(wish: Wish, settings: Mapping[str, Levels]) -> Scans:
    usual = _QUICK_ROWS if wish.quick else _FULL_ROWS
    rows = usual if wish.rows is None else wish.rows
    if not _PARTS <= rows <= _MOST_ROWS:
        raise UsageError(
            f"--rows is {rows:,}; it must be at least {_PARTS}, of which a round updates one, and at most "
            f"{_MOST_ROWS:,}."
        )
    most = max(int(levels["rounds"]) for levels in settings.values())
    return Scans("", 1, "session", rows, rows // _PARTS, most)


def _fit(design: Design, load: Load, pilot: Pilot) -> Design:  # noqa: ARG001
    """As many scans to a sample as take its seconds without any update, and at least three."""
    work = pilot(design.baseline, Amount(design.seconds, _PILOT_SCANS))
    each_s = work.session_elapsed_max_s / max(work.units, 1)
    scans = round(design.seconds / each_s) if each_s > 0 else _FEWEST_SCANS
    scans = min(max(scans, _FEWEST_SCANS), _MOST_SCANS)
    return resized(design, scans, scans * each_s)


def _analyse(run: Run) -> dict[str, Any]:
    from redolab.analysis.compared import compare_run, results
    from redolab.experiment.consistent_read import tables as shown
    from redolab.experiment.consistent_read.prices import read_run

    figures = read_run(compare_run(run))
    return results(
        figures.compared,
        verdict(figures),
        shown.tables(figures),
        shown.drawings(figures),
        shown.findings(figures),
        [shown.SOURCE],
        shown.warnings(figures),
    )


def verdict(figures: Figures) -> Verdict:
    """What a query pays for versions it must not see, where it pays, and when the published 1.5 comes."""
    from redolab.analysis.verdict import Verdict
    from redolab.experiment.consistent_read.tables import published_setting

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
        f"With {name} rounds of updates left uncommitted (each updates 1/{_PARTS} of the rows twice) a whole "
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
    from redolab.experiment.consistent_read.tables import PUBLISHED_RATIO

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
        rounds = needed.scaled(_PARTS / 2)
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


EXPERIMENT = Experiment(
    name="consistent-read",
    question="What do another session's uncommitted updates cost a query that must not see them?",
    unit="query",
    record="sample",
    needs=frozenset({"scans"}),
    options=frozenset({"rows"}),
    combine=_all_settings,
    defaults=_default_settings,
    baseline=_fewest_rounds,
    quick=Size(blocks=20, seconds=0.3, warmup_s=0, units=_FEWEST_SCANS),
    full=Size(blocks=60, seconds=5, warmup_s=0, units=_FEWEST_SCANS),
    null_pair=True,
    load=_load,
    analyse=_analyse,
    fit=_fit,
)

"""The tables, figures and findings of a consistent-read run, as data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from redolab.analysis.exhibits import Agreement, Column, Finding, Table
from redolab.experiment.consistent_read.prices import BUSY_SHARE, Pick, Query, ScanFigures, SetPair
from redolab.records.sample import Sample
from redolab.stats.estimates import Estimate, mean_estimate
from redolab.stats.published_tests import ALPHA, published_tests
from redolab.units import significant

SOURCE = "Craig Shallahamer, OraPub, Impact of Consistent Reads, 23 June 2011"
PUBLISHED_RATIO = 1.5
PUBLISHED_ROUNDS = 3


def tables(figures: ScanFigures) -> list[Table]:
    """Time of a query; its parts; undo; all pairs; and the first query after the updates."""
    counting = [sample for samples in figures.compared.samples.values() for sample in samples]
    undo = []
    if any(sample.history_list_length is not None for sample in counting):
        undo.append(_undo(figures))
    if any(sample.consistent_gets is not None for sample in counting):
        undo.append(_gets(figures))
    return [_effects(figures), _as_published(figures), *undo, _pairs(figures), _first_reads(figures)]


def findings(figures: ScanFigures) -> list[Finding]:
    """Published findings next to those of this run."""
    name = published_setting(figures)
    ratio = figures.time[name]
    pairs = [pair for pair in figures.pairs if max(int(pair.a), int(pair.b)) <= PUBLISHED_ROUNDS]
    differ = [pair for pair in pairs if _is_found(pair)]
    first = figures.building
    return [
        Finding(
            "consistent-read-slow-down",
            f"A whole scan is slower after {name} rounds of uncommitted updates of 1/18 of its rows",
            "at least 1.5 times the baseline (Oracle)",
            ratio,
            "",
            _slow_down_agrees(ratio),
            "No sample is valid yet." if ratio.point is None else _why(figures, name),
            SOURCE,
        ),
        Finding(
            "consistent-read-sets-differ",
            "Each round makes the scan slower than the one before",
            "every pair of sets differs, p = 0.0000 (Kruskal-Wallis)",
            None,
            "",
            _pairs_agree(pairs, figures.compared.margin),
            f"{len(differ)} of {len(pairs)} pairs of settings differ at 5 %, by a test that shuffles "
            "samples inside blocks and corrects for the number of pairs (Holm).",
            SOURCE,
        ),
        Finding(
            "consistent-read-first-read",
            "What was measured is access to row versions already built; building row versions costs more",
            "said, not measured",
            first,
            "",
            _building_agrees(first, figures.compared.margin),
            "The figure is the time of the first query after the updates divided by that of later queries, "
            "and then by the same ratio without updates. Oracle keeps a page that it has built for a "
            "reader; the engines here keep none.",
            SOURCE,
        ),
    ]


def judged_by(figures: ScanFigures) -> str:
    """The time that queries are judged by, in words."""
    return "CPU time" if figures.by_cpu else "elapsed time"


def _slow_down_agrees(ratio: Estimate) -> Agreement:
    if ratio.point is None or ratio.high is None:
        return "not comparable"
    if ratio.point >= PUBLISHED_RATIO:
        return "agrees"
    return "differs" if ratio.high < PUBLISHED_RATIO else "not comparable"


def _pairs_agree(pairs: Sequence[SetPair], margin: float) -> Agreement:
    """A pair that was not found to differ contradicts only where it was found to be equal."""
    others = [pair for pair in pairs if not _is_found(pair)]
    if any(_is_equal(pair.ratio, margin) for pair in others):
        return "differs"
    return "not comparable" if others or not pairs else "agrees"


def _is_found(pair: SetPair) -> bool:
    return pair.pvalue_adjusted is not None and pair.pvalue_adjusted < ALPHA


def _building_agrees(beyond: Estimate, margin: float) -> Agreement:
    if beyond.low is not None and beyond.low > 1:
        return "agrees"
    return "differs" if _is_equal(beyond, margin) else "not comparable"


def _is_equal(ratio: Estimate, margin: float) -> bool:
    return (
        ratio.low is not None
        and ratio.high is not None
        and 1 - margin < ratio.low
        and ratio.high < 1 + margin
    )


def published_setting(figures: ScanFigures) -> str:
    """The setting compared with the published last round: at most 3, else the least with updates."""
    names = [name for name in figures.compared.names if name != figures.compared.baseline]
    within = [name for name in names if int(name) <= PUBLISHED_ROUNDS]
    return max(within, key=int) if within else min(names, key=int)


def _why(figures: ScanFigures, name: str) -> str:
    seen = [
        f"{significant(value.point)} times the {what}"
        for value, what in ((figures.versions[name], "row versions"), (figures.buffers[name], "buffers"))
        if value.point is not None
    ]
    passed = f"the scan read {' and '.join(seen)}" if seen else "what the scan read is not known"
    extra, row = figures.version_cost_ns.point, figures.row_cost_ns.point
    prices = (
        f"; a row version that the query must not see costs {extra:.0f} ns, a row that it may see {row:.0f} "
        "ns"
        if extra is not None and row is not None
        else ""
    )
    return f"By {judged_by(figures)}: {passed}{prices}."


def _effects(figures: ScanFigures) -> Table:
    adjusted = {item.setting: item.pvalue_adjusted for item in figures.judged}
    return Table(
        "consistent-read-effects",
        "What uncommitted versions do to a query: ratios to no updates",
        [
            Column("rounds", "rounds", "text"),
            Column("elapsed", "elapsed", "estimate"),
            Column("cpu", "CPU", "estimate"),
            Column("versions", "versions passed", "estimate"),
            Column("buffers", "buffers", "estimate"),
            Column("pvalue", "p (Holm)", "pvalue"),
        ],
        [
            {
                "rounds": name,
                "elapsed": figures.elapsed[name],
                "cpu": figures.cpu[name],
                "versions": figures.versions[name],
                "buffers": figures.buffers[name],
                "pvalue": adjusted.get(name),
            }
            for name in figures.compared.names
            if name != figures.compared.baseline
        ],
        note="Each round updates the same 1/18 of the rows twice, in a transaction that stays open. Rounds "
        "are made anew before each sample, so their order is random. p is the p value for "
        f"{judged_by(figures)}.",
        first=True,
    )


def _as_published(figures: ScanFigures) -> Table:
    baseline = figures.compared.baseline
    tests = {
        test.a: test
        for test in published_tests(
            {name: [query.elapsed_s for query in items] for name, items in figures.queries.items()}, baseline
        )
        if test.a is not None
    }
    before = _mean(figures.queries[baseline], lambda query: query.elapsed_s * 1e3).point
    rows = []
    for name in figures.compared.names:
        mine = figures.queries[name]
        elapsed = _mean(mine, lambda query: query.elapsed_s * 1e3)
        change = None
        if name != baseline and elapsed.point is not None and before:
            change = 100 * (elapsed.point / before - 1)
        rows.append(
            {
                "set": name,
                "samples": len(mine),
                "elapsed": elapsed,
                "change": change,
                "cpu": _mean(mine, lambda query: None if query.cpu_s is None else query.cpu_s * 1e3),
                "wait": _mean(mine, lambda query: None if query.wait_s is None else query.wait_s * 1e3),
                "buffers": _mean(mine, lambda query: query.buffers),
                "buffers_per_row": _mean(mine, _per_row(figures, lambda query: query.buffers)),
                "reads": _mean(mine, lambda query: query.buffer_reads),
                "versions_per_row": _mean(mine, _per_row(figures, lambda query: query.versions)),
                "test": tests[name].test if name in tests else None,
                "pvalue": tests[name].pvalue if name in tests else None,
            }
        )
    return Table(
        "consistent-read-as-published",
        "The published table: averages per query",
        [
            Column("set", "rounds", "text"),
            Column("samples", "samples", "count"),
            Column("elapsed", "elapsed", "estimate", "ms"),
            Column("change", "change", "change"),
            Column("cpu", "CPU", "estimate", "ms"),
            Column("wait", "non-idle wait", "estimate", "ms"),
            Column("buffers", "buffers", "estimate"),
            Column("buffers_per_row", "buffers a row", "estimate"),
            Column("reads", "buffers not cached", "estimate"),
            Column("versions_per_row", "versions a row", "estimate"),
            Column("test", "test", "text"),
            Column("pvalue", "p", "pvalue"),
        ],
        rows,
        note="The tests treat samples as independent; the run's own comparisons are paired in blocks.",
    )


def _undo(figures: ScanFigures) -> Table:
    """A table for servers that keep old rows in undo logs, and count transactions that are not purged."""
    before = _mean(figures.queries[figures.compared.baseline], lambda query: query.buffers).point

    def beyond(query: Query) -> float | None:
        return None if query.buffers is None or before is None else query.buffers - before

    return Table(
        "consistent-read-undo",
        "Chains of undo, and transactions not purged",
        [
            Column("rounds", "rounds", "text"),
            Column("versions_per_row", "versions a row", "estimate"),
            Column("undo_pages", "undo pages read per query", "estimate"),
            Column("history_list_length", "history list length", "estimate"),
        ],
        [
            {
                "rounds": name,
                "versions_per_row": _mean(mine, _per_row(figures, lambda query: query.versions)),
                "undo_pages": _mean(mine, beyond),
                "history_list_length": mean_estimate(
                    sample.history_list_length for sample in figures.compared.samples[name]
                ),
            }
            for name, mine in figures.queries.items()
        ],
        note=(
            "Undo pages read are the page requests beyond those of a query without updates. The history list "
            "counts the transactions that have ended and are not purged; the open transaction is not in it."
        ),
    )


_OF_ORACLE = {
    "consistent_gets": "consistent gets",
    "consistent_changes": "consistent changes",
    "cr_blocks_created": "CR blocks created",
    "undo_records_applied": "undo records applied",
}


def _gets(figures: ScanFigures) -> Table:
    """A table for Oracle, which counts the cost of consistent reads for each session."""
    return Table(
        "consistent-read-gets",
        "Oracle's counters for a query",
        [
            Column("rounds", "rounds", "text"),
            *(Column(name, title, "estimate") for name, title in _OF_ORACLE.items()),
        ],
        [
            {"rounds": name} | {counter: _per_query(samples, counter) for counter in _OF_ORACLE}
            for name, samples in figures.compared.samples.items()
        ],
        note=(
            "Counters of the scanning session, from V$SESSTAT. A consistent get reads a block as it was when "
            "the query began; a consistent change takes one later change back for that."
        ),
    )


def _per_query(samples: Iterable[Sample], counter: str) -> Estimate:
    counts = ((getattr(sample, counter), sample.units) for sample in samples if sample.units)
    return mean_estimate(None if count is None else count / units for count, units in counts)


def _pairs(figures: ScanFigures) -> Table:
    return Table.of(
        "consistent-read-pairs",
        f"All pairs of settings on {judged_by(figures)}",
        figures.pairs,
        [
            Column("a", "from", "text"),
            Column("b", "to", "text"),
            Column("ratio", "ratio", "estimate"),
            Column("pvalue", "p", "pvalue"),
            Column("pvalue_adjusted", "p (Holm)", "pvalue"),
            Column("mann_whitney", "p (Mann-Whitney)", "pvalue"),
        ],
        note="p comes from a test that shuffles samples inside blocks, corrected for the number of pairs "
        "(Holm). Mann-Whitney is the published test, over all blocks together.",
    )


def _first_reads(figures: ScanFigures) -> Table:
    return Table(
        "consistent-read-first",
        "The first query after the updates against the ones that follow",
        [
            Column("rounds", "rounds", "text"),
            Column("first", "first query", "estimate", "ms"),
            Column("again", "later ones", "estimate", "ms"),
            Column("ratio", "ratio", "estimate"),
            Column("beyond", "over the ratio without updates", "estimate"),
        ],
        [
            {
                "rounds": name,
                "first": _mean(mine, lambda query: None if query.first_s is None else query.first_s * 1e3),
                "again": _mean(mine, lambda query: None if query.again_s is None else query.again_s * 1e3),
                "ratio": figures.first[name],
                "beyond": figures.first_beyond[name],
            }
            for name, mine in figures.queries.items()
        ],
        note="Every sample begins with the first query after its updates. The last column is paired in "
        "blocks; above 1, row versions cost more to build than to read again.",
    )


def _mean(queries: Sequence[Query], pick: Pick) -> Estimate:
    return mean_estimate(map(pick, queries))


def _per_row(figures: ScanFigures, pick: Pick) -> Pick:
    def per_row(query: Query) -> float | None:
        value = pick(query)
        return None if value is None else value / figures.rows

    return per_row


def warnings(figures: ScanFigures) -> list[str]:
    """Warnings for the reader: a busy machine, and pages that were not cached."""
    shares: list[Any] = [
        query.buffer_reads / query.buffers
        for items in figures.queries.values()
        for query in items
        if query.buffers and query.buffer_reads is not None
    ]
    worst, found = max(shares, default=0.0), []
    if figures.by_cpu and figures.busy.point is not None:
        found.append(
            f"The machine was busy: queries without updates waited {100 * figures.busy.point:.0f} % of their "
            f"time for a CPU. If that is more than {100 * BUSY_SHARE:.0f} %, the verdict uses CPU time; "
            "elapsed time is shown as well."
        )
    if worst >= 0.01:
        found.append(
            f"The table was not wholly cached: in one sample {100 * worst:.0f} % of the pages came from "
            "outside the server's cache. Ask for fewer --rows, or give the server a larger cache."
        )
    return found

"""Cost of row versions for a scan: ratios against the scan without any, and the price of one version.

Source: Craig Shallahamer, OraPub, "Impact of Consistent Reads" (23 June 2011), for the figures of a set
(averages, change, p against the first set, all pairs of sets). Everything paired in blocks is Redolab's.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from redolab.analysis.compared import Compared
from redolab.records.sample import Role
from redolab.stats.blocks import (
    BlockValues,
    Comparison,
    NullTest,
    compare,
    null_test,
    within_block_pvalue,
)
from redolab.stats.estimates import MISSING, Estimate, finite, mean_estimate, ratio_estimate
from redolab.stats.families import holm

BUSY_SHARE = 0.05
"""A machine is busy when queries of the baseline wait longer than this part of their time for a CPU."""
_NS = 1e9


@dataclass(frozen=True)
class Query:
    """The average query of a sample; None where a figure is not known."""

    block: int
    setting: str
    role: Role
    elapsed_s: float
    cpu_s: float | None
    wait_s: float | None
    """Elapsed less CPU: the run queue is in it."""
    run_queue_s: float | None
    versions: float | None
    buffers: float | None
    buffer_reads: float | None
    """Buffers that were not in the server's cache."""
    first_s: float | None
    """The sample's first query: the first one after the updates."""
    again_s: float | None
    """The mean of the others."""


Pick = Callable[[Query], float | None]


@dataclass(frozen=True)
class SetPair:
    """Two settings compared on the time that queries are judged by."""

    a: str
    b: str
    ratio: Estimate
    """Ratio of b over a, paired in blocks."""
    pvalue: float | None
    """p by shuffling inside blocks."""
    pvalue_adjusted: float | None
    """p adjusted by Holm over all pairs."""
    mann_whitney: float | None
    """p as published: without regard to blocks."""


@dataclass(frozen=True)
class ScanFigures:
    """Every figure of a run that is the experiment's own."""

    compared: Compared
    rows: int
    queries: Mapping[str, Sequence[Query]]
    """Queries by setting."""
    elapsed: Mapping[str, Estimate]
    """Ratio to the baseline, by setting; the same for the next three."""
    cpu: Mapping[str, Estimate]
    versions: Mapping[str, Estimate]
    buffers: Mapping[str, Estimate]
    first: Mapping[str, Estimate]
    """First query over the others of its sample, by setting."""
    first_beyond: Mapping[str, Estimate]
    """The ratio over the baseline's ratio, where nothing has been updated."""
    building: Estimate
    """Ratio over the baseline's ratio for all settings with updates together."""
    busy: Estimate
    """Part of a query's elapsed time that it waited for a CPU, in the baseline."""
    by_cpu: bool
    """Whether queries are judged by their CPU time, because the machine was too busy for the other."""
    judged: tuple[Comparison, ...]
    """Every setting against the baseline by that time, with Holm over the settings."""
    null: NullTest
    """The baseline against itself by that time."""
    pairs: tuple[SetPair, ...]
    row_cost_ns: Estimate
    """Time per row of a query in the baseline."""
    version_cost_ns: Estimate
    """Time per version beyond the baseline's."""
    on_cpu: bool
    """Whether these two are CPU time; else elapsed time."""
    slope: Estimate
    """Growth of the ratio by which queries are judged, with one more version per row."""

    @property
    def time(self) -> Mapping[str, Estimate]:
        """The ratios that the run is judged by."""
        return self.cpu if self.by_cpu else self.elapsed

    def versions_for(self, ratio: float) -> Estimate:
        """Extra versions per row at which a query takes `ratio` times as long, by `slope`.

        Missing where the slope may be zero.
        """
        point, low, high = self.slope.point, self.slope.low, self.slope.high
        if not point or low is None or high is None or low <= 0:
            return MISSING
        return Estimate((ratio - 1) / point, (ratio - 1) / high, (ratio - 1) / low)


def read_run(compared: Compared) -> ScanFigures:
    """The experiment's own figures of a run; empty estimates where nothing counts yet."""
    baseline, names = compared.baseline, compared.names
    found = _by_setting(_queries(compared))
    queries = {name: found.get(name, []) for name in names}
    everything = [query for items in queries.values() for query in items]
    on_cpu = all(query.cpu_s is not None for query in everything)
    time: Pick = (lambda query: query.cpu_s) if on_cpu else (lambda query: query.elapsed_s)

    busy = mean_estimate(
        query.run_queue_s / query.elapsed_s for query in queries[baseline] if query.run_queue_s is not None
    )
    by_cpu = on_cpu and busy.point is not None and busy.point > BUSY_SHARE
    judged_by: Pick = time if by_cpu else (lambda query: query.elapsed_s)
    blocks = _block_values(everything, judged_by)

    def against(pick: Pick) -> dict[str, Estimate]:
        return {name: ratio_estimate(log_ratios(everything, [name], baseline, pick)) for name in names}

    return ScanFigures(
        compared=compared,
        rows=int(compared.manifest["load"]["rows"]),
        queries=queries,
        elapsed=against(lambda query: query.elapsed_s),
        cpu=against(lambda query: query.cpu_s),
        versions=against(lambda query: query.versions),
        buffers=against(lambda query: query.buffers),
        first={name: ratio_estimate(map(_first_log, queries[name])) for name in names},
        first_beyond=against(_first_ratio),
        building=ratio_estimate(
            log_ratios(everything, [name for name in names if name != baseline], baseline, _first_ratio)
        ),
        busy=busy,
        by_cpu=by_cpu,
        judged=compare(
            blocks, names, baseline, "response_time_ms", margin=compared.margin, seed=compared.seed
        ),
        null=null_test(blocks, baseline, compared.seed),
        pairs=all_pairs(queries, judged_by, compared.seed),
        row_cost_ns=_row_cost(queries[baseline], time),
        version_cost_ns=mean_estimate(slopes(everything, lambda query: query.versions, time)).scaled(_NS),
        on_cpu=on_cpu,
        slope=mean_estimate(_relative_slopes(everything, baseline, judged_by)),
    )


def log_ratios(queries: Sequence[Query], settings: Collection[str], baseline: str, pick: Pick) -> list[float]:
    """Per block the mean logarithm of a figure under `settings`, less that under the baseline.

    Empty where the baseline is among them.
    """
    if baseline in settings:
        return []
    found = []
    for _, items in sorted(_by_block(queries).items()):
        references = _logs((item for item in items if item.setting == baseline), pick)
        mine = _logs((item for item in items if item.setting in settings), pick)
        if references and mine:
            found.append(math.fsum(mine) / len(mine) - math.fsum(references) / len(references))
    return found


def slopes(queries: Sequence[Query], over: Pick, pick: Pick) -> list[float]:
    """Per block the slope of a straight line through `pick` over `over`, by least squares.

    Blocks without two different places, or with a figure that is not known, are left out.

    Source: SciPy, `scipy.stats.linregress`.
    """
    from scipy import stats

    found = []
    for _, items in sorted(_by_block(queries).items()):
        points = [(over(item), pick(item)) for item in items]
        known = [(x, y) for x, y in points if x is not None and y is not None]
        if len(known) == len(points) and len({x for x, _ in known}) > 1:
            line = stats.linregress([x for x, _ in known], [y for _, y in known])
            found.append(float(line.slope))
    return found


def all_pairs(queries: Mapping[str, Sequence[Query]], pick: Pick, seed: int) -> tuple[SetPair, ...]:
    """Every pair of settings on one figure of a query, with Holm over the pairs.

    The first sample of the baseline counts in each block, so that every setting has one.

    Source: SciPy, `permutation_test` and `mannwhitneyu`; statsmodels, `multipletests`.
    """
    from scipy import stats

    once = {
        name: {
            item.block: math.log(value)
            for item in items
            if item.role != "baseline_b" and (value := pick(item))
        }
        for name, items in queries.items()
    }
    pairs = []
    for a, b in combinations(once, 2):
        both = sorted(once[a].keys() & once[b].keys())
        first, second = [once[a][block] for block in both], [once[b][block] for block in both]
        known = len(both) > 1
        pairs.append(
            SetPair(
                a, b,
                ratio_estimate(y - x for x, y in zip(first, second, strict=True)),
                float(within_block_pvalue(second, [first], seed)) if known else None,
                None,
                finite(float(stats.mannwhitneyu(second, first).pvalue)) if known else None,
            )
        )  # fmt: skip
    adjusted = holm([pair.pvalue for pair in pairs])
    return tuple(replace(pair, pvalue_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True))


def _queries(compared: Compared) -> list[Query]:
    found = []
    for sample in compared.good:
        count = sample.units or 1
        elapsed, cpu = sample.session_elapsed_s, sample.session_cpu_s
        hits, reads, first = sample.buffer_hits, sample.buffer_reads, sample.first_unit_s
        found.append(
            Query(
                block=sample.block,
                setting=sample.setting,
                role=sample.role,
                elapsed_s=elapsed / count,
                cpu_s=None if cpu is None else cpu / count,
                wait_s=None if cpu is None else (elapsed - cpu) / count,
                run_queue_s=(
                    None if sample.session_run_queue_s is None else sample.session_run_queue_s / count
                ),
                versions=None if sample.row_versions is None else sample.row_versions / count,
                buffers=None if hits is None or reads is None else (hits + reads) / count,
                buffer_reads=None if reads is None else reads / count,
                first_s=first,
                again_s=None if first is None or count < 2 else (elapsed - first) / (count - 1),
            )
        )
    return found


def _block_values(queries: Sequence[Query], pick: Pick) -> BlockValues:
    found: defaultdict[int, dict[tuple[str, str], float]] = defaultdict(dict)
    for query in queries:
        if value := pick(query):
            found[query.block][query.setting, query.role] = math.log(value)
    return dict(found)


def _by_setting(queries: Sequence[Query]) -> Mapping[str, list[Query]]:
    found: defaultdict[str, list[Query]] = defaultdict(list)
    for query in queries:
        found[query.setting].append(query)
    return found


def _by_block(queries: Sequence[Query]) -> Mapping[int, list[Query]]:
    found: defaultdict[int, list[Query]] = defaultdict(list)
    for query in queries:
        found[query.block].append(query)
    return found


def _logs(queries: Iterable[Query], pick: Pick) -> list[float]:
    return [math.log(value) for query in queries if (value := pick(query))]


def _first_ratio(query: Query) -> float | None:
    return query.first_s / query.again_s if query.first_s and query.again_s else None


def _first_log(query: Query) -> float | None:
    ratio = _first_ratio(query)
    return math.log(ratio) if ratio else None


def _row_cost(baseline: Sequence[Query], time: Pick) -> Estimate:
    return mean_estimate(
        spent / query.versions * _NS
        for query in baseline
        if query.versions and (spent := time(query)) is not None
    )


def _relative_slopes(queries: Sequence[Query], baseline: str, pick: Pick) -> list[float]:
    """Per block, how much the ratio of a time to the baseline's grows with one more version per row."""
    found = []
    for _, items in sorted(_by_block(queries).items()):
        before = [item for item in items if item.setting == baseline]
        versions = [item.versions for item in before if item.versions]
        times = [value for item in before if (value := pick(item))]
        if versions and times and len(versions) == len(times) == len(before):
            scale = math.fsum(versions) / math.fsum(times)
            found += [slope * scale for slope in slopes(items, lambda query: query.versions, pick)]
    return found

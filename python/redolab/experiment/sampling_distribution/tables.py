"""The tables, figures and findings of a sampling-distribution run, as data."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.analysis.exhibits import Column, Finding, Table
from redolab.experiment.sampling_distribution.means import Coverage, SettingMeans
from redolab.stats.estimates import Estimate

_SOURCE = "Craig Shallahamer, OraPub, “Wanna Bet” (28 February 2012)"


def tables(found: Sequence[SettingMeans], covered: Sequence[Coverage]) -> list[Table]:
    """The means of each setting, their normality, and the share that a range from few of them holds."""
    return [
        Table.of(
            "means",
            "Means of groups",
            found,
            (
                Column("setting", "Setting", "text"),
                Column("repetitions", "Repetitions", "count"),
                Column("mean", "Mean", "estimate"),
                Column("sd", "sd", "estimate"),
                Column("inside", "Inside ± 2 sd", "share", "%"),
            ),
            {"inside": lambda item: item.inside_share},
            "30x30 is 30 groups of 30 values. Mean and sd (standard deviation) are those of the means of "
            "the groups.",
            first=True,
        ),
        Table.of(
            "rejected",
            "How often is normality rejected?",
            found,
            (
                Column("setting", "Setting", "text"),
                Column("means", "For the means", "share", "%"),
                Column("values", "For the values", "share", "%"),
            ),
            {"means": lambda item: item.means_rejected, "values": lambda item: item.values_rejected},
            "The tests are at the 5 % level: Shapiro-Wilk up to 5,000 values, D'Agostino-Pearson beyond.",
            first=True,
        ),
        Table.of(
            "of-five",
            "Further means inside a range from five",
            found,
            (
                Column("setting", "Setting", "text"),
                Column("two_sd", "Mean ± 2 sd", "share", "%"),
                Column("student", "Student's 90 %", "share", "%"),
            ),
            {"two_sd": lambda item: item.two_sd_of_five, "student": lambda item: item.t_of_five},
            first=True,
        ),
        Table.of(
            "coverage",
            "The next mean inside mean ± 2 sd",
            covered,
            (
                Column("count", "From", "count"),
                Column("normal", "Normal, exact", "share", "%"),
                Column("means_of_30", "Means of 30 exponential", "share", "%"),
                Column("exponential", "Single exponential", "share", "%"),
            ),
            {"normal": lambda item: Estimate(item.normal, None, None)},
            "Each figure was simulated 100,000 times with the seed of the run.",
        ),
    ]


def published(found: Sequence[SettingMeans]) -> list[Finding]:
    """The published figures next to those of this run; settings it did not draw are not comparable."""
    by_name = {item.setting: item for item in found if item.repetitions > 1}
    small, large = by_name.get("30x30"), by_name.get("90x90")
    return [
        _once("sampling-30-mean", "mean of 30 means of 30 values", 5.343, small.next_mean if small else None),
        _once(
            "sampling-30-sd", "standard deviation of the 30 means", 0.892, small.next_sd if small else None
        ),
        _once(
            "sampling-30-inside",
            "of 30 means, inside mean ± 2 sd",
            29,
            small.next_inside if small else None,
            30,
        ),
        _normality("sampling-30-normality", "30 means of 30 values", 0.185, small),
        _once("sampling-90-mean", "mean of 90 means of 90 values", 5.028, large.next_mean if large else None),
        _once(
            "sampling-90-inside",
            "of 90 means, inside mean ± 2 sd",
            88,
            large.next_inside if large else None,
            90,
        ),
        _normality("sampling-90-normality", "90 means of 90 values", 0.62, large),
        _bet(small),
    ]


def _once(key: str, what: str, theirs: float, ours: Estimate | None, out_of: int | None = None) -> Finding:
    text = f"{theirs:g}" if out_of is None else f"{theirs:g} of {out_of}"
    if ours is None:
        return _not_drawn(key, what, text)
    return Finding(
        key,
        what,
        text,
        ours,
        "",
        "agrees" if _holds(ours, theirs) else "differs",
        "The published values were drawn once; the figure here is the range in which 99 of 100 repetitions "
        "lie.",
        _SOURCE,
    )


def _normality(key: str, means: str, pvalue: float, item: SettingMeans | None) -> Finding:
    what = f"{means} of an exponential distribution pass a test of normality"
    theirs = f"p = {pvalue:g}, not rejected"
    if item is None or item.means_rejected.point is None:
        return _not_drawn(key, what, theirs)
    rejected = item.means_rejected
    low, high = (None if end is None else 1 - end for end in (rejected.high, rejected.low))
    return Finding(
        key,
        what,
        theirs,
        Estimate(1 - item.means_rejected.point, low, high).scaled(100),
        "% of repetitions not rejected",
        "agrees" if low is not None and low > 0.5 else "differs",
        "The published values were drawn once, and no test is named; the test here is Shapiro-Wilk at 5 %, "
        "and most repetitions must pass it.",
        _SOURCE,
    )


def _bet(item: SettingMeans | None) -> Finding:
    key, what = "sampling-bet", "further means inside mean ± 2 sd of five means"
    theirs = "90 %, and 9 of 10 in the bet"
    if item is None:
        return _not_drawn(key, what, theirs)
    ours = item.two_sd_of_five.scaled(100)
    return Finding(
        key,
        what,
        theirs,
        ours,
        "%",
        "agrees" if _holds(ours, 90) else "differs",
        "The published bet used two standard deviations as a generous 90 %. Two standard deviations from "
        "five means hold 85.8 % of normal means (Student's t with 4 degrees of freedom); with either "
        "figure, 9 of 10 can come about by chance.",
        _SOURCE,
    )


def _holds(ours: Estimate, theirs: float) -> bool:
    return ours.low is not None and ours.high is not None and ours.low <= theirs <= ours.high


def _not_drawn(key: str, what: str, theirs: str) -> Finding:
    return Finding(
        key,
        what,
        theirs,
        None,
        "",
        "not comparable",
        "This run did not draw these values at least twice.",
        _SOURCE,
    )

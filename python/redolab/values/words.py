"""The answer for one column of numbers, in sentences; they state figures of the results and no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab import units
from redolab.stats.normality import describe_pvalue
from redolab.units import significant

Results = Mapping[str, Any]
_SMALL_DISTANCE = 0.02
_MOST_NAMED = 5
_FEWEST_MEANS = 3
_MOST_DIGITS = 15


def answer(results: Results) -> list[str]:
    """The answer, the most important sentence first."""
    if results["source"]["group"] is None:
        return [
            *_about_pairs(results),
            *_about_values(results),
            *_about_neighbours(results),
            *_about_means(results),
        ]
    return [
        *_about_pairs(results),
        *_about_groups(results),
        *_about_ranges(results),
        *_about_group_means(results),
    ]


def _about_pairs(results: Results) -> list[str]:
    """Whether the two columns differ, where there are two."""
    test, source = results["paired"], results["source"]
    if test is None:
        return []
    gap = test["mean"]
    names = f"{source['value']} and {source['against']}"
    if test["differ"] is None:
        return [f"{names}: their difference is {significant(gap['point'])} in every row."]
    how = f"{test['test']}, {describe_pvalue(test['pvalue'])}"
    if not test["differ"]:
        return [f"{names} do not differ significantly ({how}): their mean difference is {_estimate(gap)}."]
    side = "above" if gap["point"] > 0 else "below"
    return [f"{source['value']} is {side} {source['against']} by {_estimate_of(gap)} on average ({how})."]


def _estimate_of(gap: Mapping[str, Any]) -> str:
    """The size of a difference whose sign is already in the sentence."""
    if gap["point"] > 0:
        return _estimate(gap)
    return _estimate({"point": -gap["point"], "low": -gap["high"], "high": -gap["low"]})


def _about_values(results: Results) -> list[str]:
    (group,) = results["groups"]
    head = f"{group['name']}: {units.counted(group['count'], 'value')}, mean {_estimate(group['mean'])}"
    test = _of_values(results["normality"])[0]
    two_sd = next(iter(_of_values(results["plus_minus"])), None)
    if two_sd is None:
        return [f"{head}. A single value has no spread, so nothing follows for other values."]
    if group["minimum"] == group["maximum"]:
        return [f"{head}. All values are equal, so there is no spread."]
    if test["normal"] is None:
        return [
            f"{head}, mean ± 2 sd {_ends(two_sd)}. The values are too few, or too nearly equal, to test for "
            "normality."
        ]
    said = [f"{head}. {_shape(test)}"]
    if test["normal"]:
        said.append(
            f"Mean ± 2 standard deviations, {_ends(two_sd)}, contains {_inside(two_sd)} of the values."
        )
        return said
    said.append(
        f"So read a plus and minus with care: mean ± 2 standard deviations, {_ends(two_sd)}, contains "
        f"{_inside(two_sd)} of the values, with {_share(two_sd, 'below')} below and "
        f"{_share(two_sd, 'above')} above. A normal distribution has 95.4 % inside and 2.3 % on either "
        f"side.{_beyond(two_sd, group)}"
    )
    if two_sd["middle_low"] is not None:
        said.append(
            "Report instead that the middle 95 % of the values lie between "
            f"{significant(two_sd['middle_low'])} and {significant(two_sd['middle_high'])}."
        )
    return said


def _shape(test: Mapping[str, Any]) -> str:
    how = f"{test['test']}, {describe_pvalue(test['pvalue'])}"
    if test["normal"]:
        return f"The values may be normally distributed ({how}): " + (
            f"{test['count']:,} values can only rule out a gross departure."
            if test["count"] < 30
            else f"the {test['count']:,} values show no departure."
        )
    small = test["distance"] is not None and test["distance"] < _SMALL_DISTANCE
    departure = (
        f"; the departure is small, at most {units.percent(test['distance'])}, and shows because there are "
        "many values"
        if small
        else ""
    )
    return f"The values are not normally distributed ({how}{departure})."


def _beyond(two_sd: Mapping[str, Any], group: Mapping[str, Any]) -> str:
    if two_sd["low"] < group["minimum"]:
        begin, smallest = significant(two_sd["low"]), significant(group["minimum"])
        return f" The range begins at {begin}, below the smallest value, {smallest}."
    if two_sd["high"] > group["maximum"]:
        end, largest = significant(two_sd["high"]), significant(group["maximum"])
        return f" The range ends at {end}, above the largest value, {largest}."
    return ""


def _about_neighbours(results: Results) -> list[str]:
    """The mean, where values next to each other in time are alike."""
    neighbours = results["neighbours"]
    if neighbours is None or neighbours["correlation"] is None or neighbours["worth"] is None:
        return []
    count = results["groups"][0]["count"]
    return [
        "Each value resembles the next in time (correlation "
        f"{units.minus(format(neighbours['correlation'], '.2f'))}), so the {count:,} values are worth about "
        f"{neighbours['worth']:.0f} independent values. The mean with its interval for that many is "
        f"{_estimate(neighbours['mean'])}."
    ]


def _about_means(results: Results) -> list[str]:
    means = results["means"]
    two_sd = _of_means(results["plus_minus"])
    if two_sd is None or two_sd["sd"] == 0 or two_sd["count"] < _FEWEST_MEANS:
        return []
    test = _of_means(results["normality"])
    said = [
        f"The means of {means['count']:,} groups of {means['size']:,} consecutive values "
        f"{_normal_enough(test)}: mean ± 2 sd, {_ends(two_sd)}, contains {two_sd['inside']:,} of the "
        f"{two_sd['count']:,} means.",
        _next_mean(means, f"the next {means['size']:,} values"),
    ]
    ratio = means["spread_ratio"]
    if ratio["low"] is not None and ratio["low"] > 1:
        said.append(
            f"But values next to each other are alike: the means vary {_estimate(ratio)} times as much as "
            "means of independent values would. So the order of the values matters, and no range holds for "
            "long."
        )
    return said


def _normal_enough(test: Mapping[str, Any] | None) -> str:
    if test is None or test["normal"] is None:
        return "are too few to be tested"
    how = f"{test['test']}, {describe_pvalue(test['pvalue'])}"
    return f"are normal enough ({how})" if test["normal"] else f"are not normal either ({how})"


def _next_mean(means: Mapping[str, Any], of: str) -> str:
    ends = means["prediction"]
    return (
        f"The mean of {of} will lie between {significant(ends['low'])} and {significant(ends['high'])} with "
        f"{units.percent(ends['level'], 0)} probability (Student's t); mean ± 2 standard deviations of "
        f"{means['count']:,} means contains it with {units.percent(means['two_sd_coverage'])} probability."
    )


def _about_groups(results: Results) -> list[str]:
    compared, over_all = results["comparisons"], results["kruskal_wallis"]
    head = f"{_title(results['source'])}, {len(results['groups']):,} groups of {results['source']['group']}"
    if over_all is None:
        return [f"{head}: there is nothing to compare."]
    clear = [item for item in compared if item["outcome"] != "undecided"]
    over = f"over all groups {_kruskal(over_all)}"
    if not compared:
        return [f"{head}: {over}."]
    pairs = f"{len(clear)} of {len(compared)} pairs differ" if clear else "no pair differs significantly"
    named = "; ".join(_difference(item) for item in clear[:_MOST_NAMED])
    more = f"; and {len(clear) - _MOST_NAMED} more" if len(clear) > _MOST_NAMED else ""
    said = [f"{head}: {pairs} (5 %, Holm){': ' if clear else ''}{named}{more}; {over}."]
    if not clear:
        widest = max(compared, key=lambda item: abs(item["difference"]["point"]))
        said.append(
            "A test that finds no difference does not prove that the groups are equal: "
            f"{_difference(widest)}."
        )
    return said


def _kruskal(test: Mapping[str, Any]) -> str:
    verdict = "the ranks differ" if test["pvalue"] < 0.05 else "the ranks do not differ significantly"
    return f"{verdict} (Kruskal-Wallis, {describe_pvalue(test['pvalue'])})"


def _difference(item: Mapping[str, Any]) -> str:
    gap, share = item["difference"], item["superiority"]["point"]
    words = (
        f"{item['a']} less {item['b']} is {_estimate(gap)} on average, and the value of {item['a']} is the "
        f"higher one in {units.percent(share, 0)} of pairs"
    )
    if item["outcome"] != "undecided" and (gap["point"] > 0) != (share > 0.5) and share != 0.5:
        words += ", so mean and ranks disagree: a few values determine the mean"
    return words


def _about_ranges(results: Results) -> list[str]:
    odd = [test for test in _of_values(results["normality"]) if test["normal"] is False]
    if not odd:
        return []
    names = {test["of"] for test in odd}
    ranges = [two_sd for two_sd in _of_values(results["plus_minus"]) if two_sd["of"] in names]
    named = units.some([test["of"] for test in odd], _MOST_NAMED)
    worst = max(ranges, key=lambda two_sd: abs(two_sd["above"] - two_sd["below"]) / two_sd["count"])
    middle = (
        f" The middle 95 % of its values lie between {significant(worst['middle_low'])} and "
        f"{significant(worst['middle_high'])}."
        if worst["middle_low"] is not None
        else ""
    )
    return [
        f"Not normal: {named} (5 % each). Read a plus and minus of these groups with care: mean ± 2 standard "
        f"deviations of {worst['of']}, {_ends(worst)}, contains {_inside(worst)} of its values, with "
        f"{_share(worst, 'below')} below and {_share(worst, 'above')} above. A normal distribution has 2.3 % "
        f"on either side.{middle}"
    ]


def _about_group_means(results: Results) -> list[str]:
    means = results["means"]
    if means["prediction"]["low"] is None:
        return []
    return [_next_mean(means, "a further group like these")]


def _title(source: Mapping[str, Any]) -> str:
    return (
        str(source["value"]) if source["against"] is None else f"{source['value']} less {source['against']}"
    )


def _of_values(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [entry for entry in entries if entry["kind"] == "values"]


def _of_means(entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return next((entry for entry in entries if entry["kind"] == "means"), None)


def _ends(two_sd: Mapping[str, Any]) -> str:
    return f"{significant(two_sd['low'])} to {significant(two_sd['high'])}"


def _inside(two_sd: Mapping[str, Any]) -> str:
    return units.percent(two_sd["share"]["point"])


def _share(two_sd: Mapping[str, Any], side: str) -> str:
    return units.percent(two_sd[side] / two_sd["count"])


def _estimate(value: Mapping[str, Any]) -> str:
    if value["low"] is None or value["high"] is None or value["low"] == value["high"]:
        return significant(value["point"])
    # As many digits as distinguish the ends.
    for digits in range(3, _MOST_DIGITS):
        low, point, high = (significant(value[key], digits) for key in ("low", "point", "high"))
        if low != high:
            break
    return f"{point} ({low} to {high})"

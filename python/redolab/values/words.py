"""What one column of numbers says, in sentences; they state figures of the results and no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab import units
from redolab.stats.normality import describe_pvalue

Results = Mapping[str, Any]
_SMALL_DISTANCE = 0.02
_MOST_NAMED = 5
_FEWEST_MEANS = 3
_MOST_DIGITS = 15


def answer(results: Results) -> list[str]:
    """The answer, the most important sentence first."""
    if results["source"]["group"] is None:
        return [*_about_values(results), *_about_means(results)]
    return [*_about_groups(results), *_about_ranges(results), *_about_group_means(results)]


def _about_values(results: Results) -> list[str]:
    (group,) = results["groups"]
    count = f"{group['count']:,} value{'' if group['count'] == 1 else 's'}"
    head = f"{group['name']}: {count}, mean {_estimate(group['mean'])}"
    test = _of_values(results["normality"])[0]
    found = next(iter(_of_values(results["plus_minus"])), None)
    if found is None:
        return [f"{head}. One value has no spread, so nothing can be said of others."]
    if group["minimum"] == group["maximum"]:
        return [f"{head}. They are all equal, so there is no spread to speak of."]
    if test["normal"] is None:
        return [f"{head}, {_ends(found)} with 2 sd. So few, or so nearly equal, say nothing of normality."]
    said = [f"{head}. {_shape(test)}"]
    if test["normal"]:
        said.append(f"Mean ± 2 sd, {_ends(found)}, holds {_inside(found)} of them.")
        return said
    said.append(
        f"So read a plus and minus with care: mean ± 2 sd, {_ends(found)}, holds {_inside(found)} of them, "
        f"with {_share(found, 'below')} below and {_share(found, 'above')} above, where a normal "
        f"distribution has 95.4 % inside and 2.3 % on either side{_beyond(found, group)}."
    )
    if found["middle_low"] is not None:
        said.append(
            f"Say instead that the middle 95 % of them lie between {_number(found['middle_low'])} and "
            f"{_number(found['middle_high'])}."
        )
    return said


def _shape(test: Mapping[str, Any]) -> str:
    how = f"{test['test']}, {describe_pvalue(test['pvalue'])}"
    if test["normal"]:
        return f"They may be normal ({how}), which with {test['count']:,} values " + (
            "rules out a gross departure alone."
            if test["count"] < 30
            else "says that no departure was found."
        )
    small = test["distance"] is not None and test["distance"] < _SMALL_DISTANCE
    departure = (
        f"; the departure is small, {units.percent(test['distance'])} at most, found because they are many"
        if small
        else ""
    )
    return f"They are not normal ({how}{departure})."


def _beyond(found: Mapping[str, Any], group: Mapping[str, Any]) -> str:
    if found["low"] < group["minimum"]:
        return (
            f"; it begins at {_number(found['low'])}, below the smallest value, {_number(group['minimum'])}"
        )
    if found["high"] > group["maximum"]:
        return f"; it ends at {_number(found['high'])}, above the largest value, {_number(group['maximum'])}"
    return ""


def _about_means(results: Results) -> list[str]:
    means = results["means"]
    found = _of_means(results["plus_minus"])
    if found is None or found["sd"] == 0 or found["count"] < _FEWEST_MEANS:
        return []
    test = _of_means(results["normality"])
    said = [
        f"The means of {means['count']:,} groups of {means['size']:,} consecutive values "
        f"{_normal_enough(test)}: mean ± 2 sd, {_ends(found)}, holds {found['inside']:,} of "
        f"{found['count']:,} of them.",
        _next_mean(means, f"the next {means['size']:,} values"),
    ]
    ratio = means["spread_ratio"]
    if ratio["low"] is not None and ratio["low"] > 1:
        said.append(
            f"But values that follow each other are alike: the means vary {_estimate(ratio)} times as much "
            "as those of independent values, so the order of the file matters, and no range holds for long."
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
        f"The mean of {of} will lie between {_number(ends['low'])} and {_number(ends['high'])} with "
        f"{units.percent(ends['level'], 0)} probability (Student's t); mean ± 2 sd of {means['count']:,} "
        f"means holds it with {units.percent(means['two_sd_coverage'])}."
    )


def _about_groups(results: Results) -> list[str]:
    compared, over_all = results["comparisons"], results["kruskal_wallis"]
    head = f"{results['source']['value']}, {len(results['groups']):,} groups of {results['source']['group']}"
    if over_all is None:
        return [f"{head}: there is nothing to compare."]
    clear = [item for item in compared if item["outcome"] != "undecided"]
    over = f"over all groups {_kruskal(over_all)}"
    if not compared:
        return [f"{head}: {over}."]
    pairs = f"{len(clear)} of {len(compared)} pairs differ" if clear else "no pair is shown to differ"
    named = "; ".join(_difference(item) for item in clear[:_MOST_NAMED])
    more = f"; and {len(clear) - _MOST_NAMED} more" if len(clear) > _MOST_NAMED else ""
    said = [f"{head}: {pairs} (5 %, Holm){': ' if clear else ''}{named}{more}; {over}."]
    if not clear:
        widest = max(compared, key=lambda item: abs(item["difference"]["point"]))
        said.append(f"That is not proof that they are equal: {_difference(widest)}.")
    return said


def _kruskal(found: Mapping[str, Any]) -> str:
    verdict = "the ranks differ" if found["pvalue"] < 0.05 else "no difference of ranks is shown"
    return f"{verdict} (Kruskal-Wallis, {describe_pvalue(found['pvalue'])})"


def _difference(item: Mapping[str, Any]) -> str:
    gap, share = item["difference"], item["superiority"]["point"]
    words = (
        f"{item['a']} less {item['b']} is {_estimate(gap)} in the mean, and the value of {item['a']} is the "
        f"higher one in {units.percent(share, 0)} of pairs"
    )
    if item["outcome"] != "undecided" and (gap["point"] > 0) != (share > 0.5) and share != 0.5:
        words += ", so that mean and ranks disagree: a few values make the mean"
    return words


def _about_ranges(results: Results) -> list[str]:
    odd = [test for test in _of_values(results["normality"]) if test["normal"] is False]
    if not odd:
        return []
    names = {test["of"] for test in odd}
    ranges = [found for found in _of_values(results["plus_minus"]) if found["of"] in names]
    named = ", ".join(test["of"] for test in odd[:_MOST_NAMED])
    more = f" and {len(odd) - _MOST_NAMED} more" if len(odd) > _MOST_NAMED else ""
    worst = max(ranges, key=lambda found: abs(found["above"] - found["below"]) / found["count"])
    middle = (
        f"; its middle 95 % lie between {_number(worst['middle_low'])} and {_number(worst['middle_high'])}"
        if worst["middle_low"] is not None
        else ""
    )
    return [
        f"Not normal: {named}{more} (5 % each). Read a plus and minus of them with care: mean ± 2 sd of "
        f"{worst['of']}, {_ends(worst)}, holds {_inside(worst)} of its values, with "
        f"{_share(worst, 'below')} below and {_share(worst, 'above')} above, where a normal distribution "
        f"has 2.3 % on either side{middle}."
    ]


def _about_group_means(results: Results) -> list[str]:
    means = results["means"]
    if means["prediction"]["low"] is None:
        return []
    return [_next_mean(means, "a further group like these")]


def _of_values(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [entry for entry in entries if entry["kind"] == "values"]


def _of_means(entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return next((entry for entry in entries if entry["kind"] == "means"), None)


def _ends(found: Mapping[str, Any]) -> str:
    return f"{_number(found['low'])} to {_number(found['high'])}"


def _inside(found: Mapping[str, Any]) -> str:
    return units.percent(found["share"]["point"])


def _share(found: Mapping[str, Any], side: str) -> str:
    return units.percent(found[side] / found["count"])


def _estimate(value: Mapping[str, Any]) -> str:
    if value["low"] is None or value["high"] is None or value["low"] == value["high"]:
        return _number(value["point"])
    # As many digits as tell the ends apart.
    for digits in range(3, _MOST_DIGITS):
        low, point, high = (units.significant(value[key], digits) for key in ("low", "point", "high"))
        if low != high:
            break
    return f"{point} ({low} to {high})"


def _number(value: float) -> str:
    return units.significant(value)

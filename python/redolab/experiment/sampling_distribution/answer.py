"""Every figure of a sampling-distribution run, on the means of groups of drawn values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab import units
from redolab.analysis import common_sections
from redolab.experiment.sampling_distribution.figures import figures
from redolab.experiment.sampling_distribution.means import Answer, Coverage, SettingMeans, found_of
from redolab.experiment.sampling_distribution.tables import published, tables
from redolab.records.draw import Draw
from redolab.records.run import Run, once_for_a_run
from redolab.stats.estimates import Estimate, exact_share
from redolab.stats.plus_and_minus import (
    normal_coverage,
    simulated_coverage,
)

_SIMULATED = 100_000
_COUNTS = (3, 5, 10, 20, 30)
_ADVICE: Mapping[Answer, str] = {
    "enough": "Trust a plus and minus of such means",
    "not enough": "Do not trust a plus and minus of such means",
    "undecided": "Draw more often before you trust a plus and minus",
}
_ANSWERS: Mapping[Answer, str] = {
    "enough": "are normal enough",
    "not enough": "are not normal enough",
    "undecided": "may or may not be normal enough",
}
_OUTCOMES: Mapping[Answer, tuple[str, str | None]] = {
    "enough": ("equivalent", "normal enough"),
    "not enough": ("worse", "not normal enough"),
    "undecided": ("undecided", None),
}
"""The outcome, and its words."""


@once_for_a_run
def read_draws(run: Run) -> tuple[Draw, ...]:
    """Every set of values of the run in the order drawn, spoiled ones too."""
    return tuple(sorted((Draw(**row) for row in run.samples.to_pylist()), key=lambda draw: draw.sample))


def analyse(run: Run) -> dict[str, Any]:
    """The results object of a sampling-distribution run, finished or not; plain JSON types only.

    The outcome is `equivalent` when under every setting mean +- 2 sd holds as much of the means as
    of normal ones, to within 2 of 100; `worse` when under one it clearly does not; else `undecided`.
    """
    manifest = run.manifest
    draws = read_draws(run)
    found = [found_of(declared["name"], draws) for declared in manifest["settings"]]
    outcome, outcome_text = _OUTCOMES[_worst(found)]
    covered = [_covered(count, int(manifest["design"]["seed"])) for count in _COUNTS]
    text = _verdict(found)
    if manifest["status"] != "finished":
        text = f"{text} The run was not finished."
    first = next((draw for draw in draws if draw.spoiled is None), None)
    return common_sections.heading(run) | {
        "verdict": {
            "text": text,
            "outcome": outcome,
            "outcome_text": outcome_text,
            "baseline": manifest["design"]["baseline"],
            "best": None,
        },
        "settings": [
            {
                "name": declared["name"],
                "levels": dict(declared["levels"]),
                "tier": declared["tier"],
                "tier_text": declared["tier_text"],
                "parameters": dict(declared["parameters"]),
                **item.as_json(),
            }
            for declared, item in zip(manifest["settings"], found, strict=True)
        ],
        "coverage": [item.as_json() for item in covered],
        "tables": [table.as_json() for table in tables(found, covered)],
        "figures": [figure.as_json() for figure in figures(found, covered, first)],
        "published": [finding.as_json() for finding in published(found)],
        "diagnostics": [],
        "timeline": [_timeline(draw) for draw in draws],
        "method": common_sections.method(manifest),
        "warnings": [str(text) for text in manifest.get("conditions", ())],
    }


def _worst(found: Sequence[SettingMeans]) -> Answer:
    answers = {item.answer for item in found}
    order: Sequence[Answer] = ("not enough", "undecided", "enough")
    return next((answer for answer in order if answer in answers), "undecided")


def _timeline(draw: Draw) -> dict[str, Any]:
    return {
        "sample": draw.sample,
        "block": draw.block,
        "position": draw.position,
        "setting": draw.setting,
        "start_s": draw.start_s,
        "elapsed_s": draw.elapsed_s,
        "spoiled": draw.spoiled,
    }


def _covered(count: int, seed: int) -> Coverage:
    return Coverage(
        count=count,
        normal=normal_coverage(count),
        exponential=exact_share(*simulated_coverage(count, 1, "exponential", _SIMULATED, seed)),
        means_of_30=exact_share(*simulated_coverage(count, 30, "exponential", _SIMULATED, seed)),
    )


def _verdict(settings: Sequence[SettingMeans]) -> str:
    """The answer on the means, on their normality, and on a range from few of them."""
    found = [item for item in settings if item.repetitions]
    if not found:
        return "No values were drawn, so nothing can be concluded: run it again."
    worst = _worst(found)
    deciding = next(item for item in found if item.answer == worst)
    sentences = [
        f"{_ADVICE[worst]}: mean ± 2 standard deviations held {_percent(deciding.inside_share)} of the "
        f"means of {deciding.size} values.",
        *(
            f"Means of {item.size} values {_ANSWERS[item.answer]}: of {item.groups} normal means "
            f"{units.percent(item.normal_share)} would be inside, and {_percent(item.inside_share)} were."
            for item in found
        ),
        f"Repetitions: {' and '.join(f'{item.repetitions:,}' for item in found)}.",
    ]
    rejected = " and ".join(units.percent(item.means_rejected.point or 0.0, 0) for item in found)
    values = " and ".join(
        dict.fromkeys(units.percent(item.values_rejected.point or 0.0, 0) for item in found)
    )
    last = found[-1]
    sentences += [
        f"A test found the means not normally distributed in {rejected} of the repetitions (it would be 5 % "
        "if they were normal).",
        f"The same test found the single values not normally distributed in {values} of the repetitions.",
        f"When made from five means, mean ± 2 standard deviations contained {_percent(last.two_sd_of_five)} "
        "of further means.",
        f"Student's 90 % prediction interval from five means contained {_percent(last.t_of_five)} of "
        "further means.",
    ]
    return " ".join(sentences)


def _percent(share: Estimate) -> str:
    return "an unknown part" if share.point is None else share.scaled(100).text(" %", "{:.1f}".format)

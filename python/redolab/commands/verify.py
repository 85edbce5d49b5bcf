"""Check that a stored run is unchanged: hashes, recomputed figures, and the figures in the page."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redolab import units
from redolab.analysis.common_sections import WORDING
from redolab.analysis.observed.watch.periods import Periods, periods_of
from redolab.bounds import MOST_JSON_BYTES
from redolab.commands.league import kept_league
from redolab.commands.options import Json, RunPath
from redolab.console import show, show_json
from redolab.errors import CheckFailedError, UsageError
from redolab.experiment.answers import analyse, as_far_as_forecasts, forecasts_all_the_same
from redolab.files.documents import parse_json
from redolab.files.usage_errors import as_usage_errors
from redolab.parts import MissingPartError, why_not_compiled
from redolab.records.run import once_for_a_run
from redolab.records.sealed import FILE as SEALED
from redolab.records.sealed import seal_differences
from redolab.records.store import Run, open_folder, open_run, read_document, read_manifest, read_results

_TOLERANCE = 1e-9
_COMPUTED = ("results.json", "report.html", "league.json")
"""Files that `redolab report` computes from the others."""
_EMBEDDED = re.compile(r'<script type="application/json" id="results">(.*?)</script>', re.DOTALL)


_stored_results = once_for_a_run(read_results)


def command(run: RunPath, json: Json = False) -> None:
    """Verify the run, and show the result.

    Raises:
        UsageError: there is no run, or files whose hashes hold cannot be read.
        CheckFailedError: something differs.
    """
    found = verify(run)
    differences = found.differences
    if json:
        told = {"differences": differences, "sentences": found.sentences, "not_compared": found.not_compared}
        show_json({"format": 1, "run": str(run), **told})
    if differences:
        raise CheckFailedError(
            f"{run} does not verify: "
            + "; ".join(differences[:5])
            + (f"; and {len(differences) - 5} more" if len(differences) > 5 else "")
            + f". {_mend(run, differences)}"
        )
    if not json:
        every = (
            "every hash and every figure" if not found.not_compared else "every hash, and what was compared,"
        )
        show(f"{run}: {every} holds ({found.samples} samples).")
        for text in found.not_compared:
            show(text)
        if not found.sentences:
            show(
                "An older version of Redolab wrote the sentences of results.json, so the sentences were not "
                "compared; redolab report renews them."
            )


def _mend(run: Path, differences: list[str]) -> str:
    """The cause of the differences, and the next step."""
    if set(differences) <= {_missing(name) for name in _COMPUTED}:
        return f"The run was never reported, or somebody removed the file. redolab report {run} makes it."
    return "The files were changed after the run, or another version computed them."


@dataclass(frozen=True)
class VerifiedRun:
    """The result of a check of a stored run."""

    differences: list[str]
    """One sentence each."""
    samples: int | None
    """How many the run has; None where they could not be read."""
    sentences: bool
    """Whether its sentences were compared too: they are not where another version worded them."""
    not_compared: list[str] = field(default_factory=list)
    """Parts not compared because an installation cannot forecast, one sentence or more each."""


def verify(path: Path) -> VerifiedRun:
    """Check the run at `path`: its hashes first, so that a changed table is reported before it is read.

    Raises:
        UsageError: there is no run, or files whose hashes hold cannot be read.
    """
    changed = _changed(path, read_manifest(path)["hashes"])
    try:
        run = open_run(path)
        with as_usage_errors(path):
            left: list[str] = []
            differences = verify_run(run, left)
            return VerifiedRun(differences, run.samples.num_rows, _same_wording(run), left)
    except UsageError:
        # A changed file need not be readable any more.
        if not changed:
            raise
        return VerifiedRun(changed, None, sentences=False)


def _same_wording(run: Run) -> bool:
    try:
        return bool(_stored_results(run).get("wording") == WORDING)
    except UsageError:
        return False


def verify_run(run: Run, left: list[str] | None = None) -> list[str]:
    """Every difference between the stored run and what its data say, one sentence each.

    Args:
        run: the stored run.
        left: receives a sentence for each part that could not be compared, with the reason.
    """
    left = [] if left is None else left
    found = _changed(run.path, run.manifest["hashes"])
    try:
        found += _seal(run)
        if not os.path.lexists(run.path / "results.json"):
            return list(dict.fromkeys([*found, _missing("results.json")]))
        stored = _stored_results(run)
    except UsageError as error:
        return [*found, str(error).removesuffix(".")]
    if (later := _watched_since(run, stored)) is not None:
        return [*found, later]
    # The path of the run is not a figure: it may have been moved, or be named another way.
    try:
        recomputed = analyse(run, kept_league(run), _periods(run, stored), clock=False)
    except MissingPartError as error:
        left.append(f"The figures of results.json were not recomputed. {error}")
        return found + _page(run.path, stored)
    recomputed |= {"run": stored.get("run")}
    if run.manifest.get("record", "sample") != "sample":
        stored, recomputed = _as_far_as_the_advice_went(stored, recomputed)
    if forecasts_all_the_same(stored):
        found.append("results.json is marked as made without forecasts, but it contains forecasts")
    if "left_out" in stored:
        left.append(
            "results.json was made without forecasts, so no forecast was compared; redolab report adds the "
            "forecasts."
        )
    elif (why := why_not_compiled()) is not None and "left_out" in recomputed:
        left.append(f"Forecasts in results.json were not compared. {why}")
    stored, recomputed = as_far_as_forecasts(stored, recomputed)
    if stored.get("wording") != recomputed.get("wording"):
        found += compare(_figures(stored), _known_then(_figures(recomputed), stored), "", prose=False)
    else:
        found += compare(stored, recomputed, "")
    return found + _page(run.path, _stored_results(run))


def _as_far_as_the_advice_went(
    stored: dict[str, Any], recomputed: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both results with the advice that was made: the clock may have ended it, each time somewhere else.

    It is None where whoever made the report did not wait for it.
    """
    advice = stored.get("advice", {})
    if advice is None:
        return stored, recomputed | {"advice": None}
    if not isinstance(advice, dict) or advice.get("by_clock") is not True:
        return stored, recomputed
    changes = advice.get("changes")
    made = [_change(item) for item in changes] if isinstance(changes, list) else []
    known = [item for item in recomputed["advice"]["changes"] if _change(item) in made]
    return stored | {"advice": changes}, recomputed | {"advice": known}


def _change(item: Any) -> Any:
    """Which change of the advice it is."""
    return (item.get("factor"), item.get("to")) if isinstance(item, dict) else item


def _periods(run: Run, stored: dict[str, Any]) -> Periods | None:
    """The periods that the results of a watched run cover; None for other runs."""
    return periods_of(stored) if run.manifest.get("record") == "watched" else None


def _watched_since(run: Run, stored: dict[str, Any]) -> str | None:
    """A sentence on stretches of a watched run that came after its results; None without any."""
    watch = stored.get("watched")
    last = watch.get("last_sample") if isinstance(watch, dict) else None
    if run.manifest.get("record") != "watched" or not isinstance(last, int):
        return None
    more = sum(number > last for number in run.samples["sample"].to_pylist())
    if not more:
        return None
    return (
        f"{units.counted(more, 'stretch')} came after results.json was made, so its figures do not cover "
        "the whole watch (redolab report makes it anew)"
    )


def _figures(results: dict[str, Any]) -> dict[str, Any]:
    """Results without what another version puts in other words; the league's tables show its records."""
    figures = {key: value for key, value in results.items() if key != "wording"}
    if isinstance(league := figures.get("league"), dict):
        figures["league"] = {key: value for key, value in league.items() if key != "tables"}
    return figures


def _known_then(recomputed: Any, stored: Any) -> Any:
    """Recomputed results without keys, rows and sentences that an older version did not have yet."""
    if isinstance(recomputed, dict) and isinstance(stored, dict):
        return {key: _known_then(value, stored[key]) for key, value in recomputed.items() if key in stored}
    if isinstance(recomputed, list) and isinstance(stored, list):
        if all(isinstance(item, str) and " " in item for item in (*recomputed, *stored)):
            return stored
        known = [_name_of(item) for item in stored]
        if None not in known and len(set(known)) == len(known):
            recomputed = [item for item in recomputed if _name_of(item) in known]
        if len(recomputed) == len(stored):
            return [_known_then(*pair) for pair in zip(recomputed, stored, strict=True)]
    return recomputed


def _name_of(item: Any) -> str | None:
    """The name of a table, or of a figure in it."""
    name = item.get("key", item.get("figure")) if isinstance(item, dict) else None
    return name if isinstance(name, str) else None


def _changed(path: Path, hashes: dict[str, str]) -> list[str]:
    found = []
    with open_folder(path) as folder:
        for name, expected in hashes.items():
            try:
                if folder.hash(name) != expected:
                    found.append(f"{name} was changed (its hash differs)")
            except FileNotFoundError:
                found.append(_missing(name))
            except OSError as error:
                raise UsageError(f"{path / name} cannot be read: {error.strerror}.") from error
    return found


def _missing(name: str) -> str:
    return f"{name} is missing"


def _page(path: Path, stored: dict[str, Any]) -> list[str]:
    """Faults of the figures in the page."""
    name = "report.html"
    try:
        with open_folder(path) as folder:
            content = folder.read(name, 4 * MOST_JSON_BYTES).decode()
        embedded = _EMBEDDED.search(content)
        if embedded is None:
            return [f"{name} holds no figures"]
        shown = parse_json(embedded[1].encode(), name)
    except FileNotFoundError:
        return [f"{name} is missing"]
    except UnicodeDecodeError:
        return [f"{name} was changed (it is not UTF-8 text)"]
    except OSError as error:
        raise UsageError(f"{path / name} cannot be read: {error.strerror}.") from error
    except UsageError as error:
        return [f"{name} was changed: {str(error).rstrip('.')}"]
    return [f"{name}: {text}" for text in compare(stored, shown, "")]


def _seal(run: Run) -> list[str]:
    sealed = read_document(run, SEALED)
    if sealed is None:
        return []
    began = run.samples.column("started_at").to_pylist()
    return seal_differences(sealed, min(began, default=None))


def compare(stored: Any, recomputed: Any, place: str, prose: bool = True) -> list[str]:
    """Where two results objects differ, by path.

    Args:
        stored: as it was written.
        recomputed: as it is now.
        place: the path of both; empty for the whole.
        prose: whether sentences count; without it texts that have a space in both may differ.
    """
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        if stored.keys() != recomputed.keys():
            odd = sorted(stored.keys() ^ recomputed.keys())
            return [f"{place or 'the results'} differ in their keys ({', '.join(odd)})"]
        return [
            text
            for key in stored
            for text in compare(stored[key], recomputed[key], f"{place}.{key}" if place else key, prose)
        ]
    if isinstance(stored, list) and isinstance(recomputed, list):
        if len(stored) != len(recomputed):
            return [f"{place} has {len(stored)} entries stored and {len(recomputed)} recomputed"]
        return [
            text
            for number, pair in enumerate(zip(stored, recomputed, strict=True))
            for text in compare(*pair, f"{place}[{number}]", prose)
        ]
    if isinstance(stored, float) and isinstance(recomputed, int | float):
        same = math.isclose(stored, recomputed, rel_tol=_TOLERANCE, abs_tol=1e-15)
    elif not prose and isinstance(stored, str) and isinstance(recomputed, str):
        same = stored == recomputed or (" " in stored and " " in recomputed)
    else:
        same = stored == recomputed
    return [] if same else [f"{place} is {stored!r} and recomputes to {recomputed!r}"]

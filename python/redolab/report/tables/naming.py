"""A report's settings under labels that say which part is what, in place of the names they are stored by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.analysis.statements.labels import labels
from redolab.report.tables.cells import Results

_NAMING = frozenset({"setting", "a", "b", "baseline", "best", "of", "settings", "order"})
"""Keys whose texts are names of settings, in the sections that name settings."""
_SECTIONS = ("verdict", "statements", "comparisons", "as_published", "curve", "timeline", "method", "advice")


def labelled(results: Results) -> Results:
    """The results object to be shown: every setting has its label in place of its name.

    Names stay in what is stored, printed as JSON and written into the page for scripts.

    Args:
        results: the results object of a run.
    """
    settings = results.get("settings") or ()
    known = labels(settings)
    if all(name == text for name, text in known.items()):
        return results
    return {
        **results,
        **{key: _renamed(results[key], known) for key in _SECTIONS if key in results},
        "baselines": {
            server: known.get(name, name) for server, name in (results.get("baselines") or {}).items()
        },
        "settings": [{**item, "name": known[item["name"]]} for item in settings],
        "tables": [{**item, "rows": _renamed(item["rows"], known)} for item in results.get("tables") or ()],
        "figures": [_figure(item, known) for item in results.get("figures") or ()],
    }


def _renamed(value: Any, known: Mapping[str, str], key: str = "") -> Any:
    """A value with labels for the names of settings below it; `key`: what it is the value of."""
    if isinstance(value, str):
        return known.get(value, value) if key in _NAMING else value
    if isinstance(value, Mapping):
        if key == "forecasts":
            return {known.get(name, name): item for name, item in value.items()}
        return {name: _renamed(item, known, name) for name, item in value.items()}
    return [_renamed(item, known, key) for item in value] if isinstance(value, list | tuple) else value


def _figure(figure: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    """A figure whose series may be settings."""
    series = [{**item, "name": known.get(item["name"], item["name"])} for item in figure["series"]]
    return {**figure, "series": series}

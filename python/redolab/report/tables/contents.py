"""Which sections a page has: those for which its run has data, in their order."""

from __future__ import annotations

from collections.abc import Callable

from redolab.report.tables import advice, shown_tables, tables
from redolab.report.tables.cells import Results

Section = tuple[str, str]
"""The id of a section, and its heading."""


EXPLORER = ("explorer", "What would another setting give?")
APPENDIX = frozenset({"histogram", "curve", "tables", "published", "league", "method"})
"""The sections that on paper begin on a page of their own; they are the last ones."""


def sections(results: Results, explored: bool = False) -> list[Section]:
    """The sections of the run's page; what it has no data for is left out, never shown empty.

    Args:
        results: the results object of a stored run.
        explored: whether the page has an explorer, whose curve replaces the run's.
    """
    available = [section for section, has in _SECTIONS if has(results)]
    if not explored:
        return available
    named = [name for name, _ in available]
    place = max(named.index(name) for name in ("verdict", "figures", "time", "advice") if name in named) + 1
    return [
        *available[:place],
        EXPLORER,
        *(section for section in available[place:] if section[0] != "curve"),
    ]


def has(results: Results, name: str) -> bool:
    """Whether the page has the section of that id."""
    return any(name == section for section, _ in sections(results))


def _has_profile(results: Results) -> bool:
    return any(setting.get("profile") for setting in results["settings"])


def _has_histogram(results: Results) -> bool:
    return any((setting.get("density") or {}).get("values_ms") for setting in results["settings"])


def _has_curve(results: Results) -> bool:
    points = (results.get("curve") or {}).get("points", ())
    return any(time is not None for item in points for time in item["response_time_ms"])


def _has_tables(results: Results) -> bool:
    published = results.get("as_published") or {}
    return bool(
        results.get("comparisons")
        or shown_tables.others(results)
        or published.get("overview")
        or published.get("unit_of_work")
        or tables.uses_the_log(results)
        or tables.has_tiers(results)
        or results["method"].get("mapping")
    )


_SECTIONS: tuple[tuple[Section, Callable[[Results], bool]], ...] = (
    (("verdict", "Verdict"), lambda results: True),  # noqa: ARG005
    (("figures", "Figures of the experiment"), lambda results: bool(results.get("figures"))),
    (("time", "Where the time goes"), _has_profile),
    (("advice", "What to change"), advice.has_advice),
    (("histogram", "Response times"), _has_histogram),
    (("curve", "Response-time curve"), _has_curve),
    (("tables", "Tables of the experiment"), _has_tables),
    (("published", "Compared with the published figures"), lambda results: bool(results.get("published"))),
    (("league", "How accurate forecasts were"), lambda results: bool(shown_tables.league(results))),
    (("method", "Method"), lambda results: True),  # noqa: ARG005
)

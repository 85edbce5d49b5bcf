"""The key `statements` of a run's results: what to type to have the setting that a verdict recommends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.analysis.at_risk import Price, prices
from redolab.analysis.compared import Compared
from redolab.analysis.statements.words import chosen_first, in_words
from redolab.analysis.verdict import Verdict
from redolab.dialect.known import dialect_of
from redolab.dialect.statements import Assignment, RoleValue, Way
from redolab.records.list_texts import PLACEHOLDER
from redolab.records.servers import SERVER, server_of

_NOTHING = "This setting changes nothing of the server."
_NOT_KNOWN = "Redolab does not know how this server's parameters are set."
_LIST = (
    "These statements are run by your list on its own tables when this level begins; the undo is run when "
    "the level ends."
)
_APPLICATION: Mapping[str, str] = {
    "sessions": "Let {level} sessions work at a time: that is the size of the application's connection pool.",
    "rows_per_commit": "Put {level} rows into each commit of the application.",
}


def statements(compared: Compared, verdict: Verdict) -> list[dict[str, Any]]:
    """The setting that is recommended, and the one that it is compared with; empty where none is.

    Args:
        compared: the run.
        verdict: its answer.
    """
    named = verdict.advised or verdict.best
    declared = {item["name"]: item for item in compared.manifest["settings"]}
    if named not in declared:
        return []
    base = next(group.baseline for group in compared.groups if named in group.names)
    return [
        entry(compared, declared[name], purpose)
        for name, purpose in ((named, "recommended"), (base, "compared with"))
        if purpose == "recommended" or name != named
    ]


def entry(compared: Compared, declared: Mapping[str, Any], purpose: str) -> dict[str, Any]:
    """One setting with every way to have it.

    Args:
        compared: the run.
        declared: the setting, as the manifest has it.
        purpose: `recommended` or `compared with`.
    """
    return _entry(compared.manifest, declared, purpose, compared.prices.get(declared["name"], ()))


def of_measured(manifest: Mapping[str, Any], advised: str | None) -> list[dict[str, Any]]:
    """Every setting of a run whose answer is not about throughput, the one that is recommended first.

    Args:
        manifest: of the run.
        advised: the setting that its verdict recommends; None where it recommends none.
    """
    settings = sorted(manifest["settings"], key=lambda item: item["name"] != advised)
    return [
        _entry(
            manifest,
            item,
            "recommended" if item["name"] == advised else "measured",
            prices(server_of(manifest["engine"], item["levels"]), item, None),
        )
        for item in settings
    ]


def _entry(
    manifest: Mapping[str, Any], declared: Mapping[str, Any], purpose: str, lost: Sequence[Price]
) -> dict[str, Any]:
    levels = declared["levels"]
    engine = str(server_of(manifest["engine"], levels).get("name", ""))
    chosen, others = chosen_first(manifest, declared)
    assigned = [
        _assignment(manifest, declared, name, str(declared["parameters"][name]))
        for name in (*chosen, *others)
    ]
    return {
        "setting": declared["name"],
        "purpose": purpose,
        "words": in_words(levels),
        **_to_type(engine, assigned, _of_list(manifest, levels)),
        "application": [
            text.format(level=f"{int(levels[factor]):,}")
            for factor, text in _APPLICATION.items()
            if levels.get(factor, "").isdecimal()
        ],
        "price": [price.as_json() for price in lost],
    }


def of_parameters(
    manifest: Mapping[str, Any], declared: Mapping[str, Any], parameters: Mapping[str, str], scope: str
) -> dict[str, Any]:
    """Every way to have some parameters on a server that a run observed or measured; no setting has them.

    Args:
        manifest: of the run.
        declared: the setting of the server as it is, as the manifest has it.
        parameters: by name, with their values.
        scope: how far a change of them reaches, as an `Assignment` has it.
    """
    engine = str(server_of(manifest["engine"], declared["levels"]).get("name", ""))
    assigned = [_assignment(manifest, declared, name, value, scope) for name, value in parameters.items()]
    return _to_type(engine, assigned)


def _to_type(engine: str, assigned: Sequence[Assignment], more: Sequence[Way] = ()) -> dict[str, Any]:
    """The ways to set parameters, and which of them the server had."""
    ways = dialect_of(engine).ways.get(engine.lower())
    found = (*(ways(assigned) if ways is not None and assigned else ()), *more)
    return {
        "ways": [way.as_json() for way in found],
        "parameters": [item.parameter for item in assigned],
        "as_before": [item.parameter for item in assigned if item.before == item.value],
        "why_none": None if found else _NOT_KNOWN if assigned and ways is None else _NOTHING,
    }


def _of_list(manifest: Mapping[str, Any], levels: Mapping[str, str]) -> tuple[Way, ...]:
    """Statements of a user's own list for the levels of a setting; empty if they contain the levels."""
    scripts = manifest["load"].get("levels") or {}
    own = [scripts.get(factor, {}).get(level, {}) for factor, level in levels.items()]
    enter, leave = ([it.get(what, "") for it in own if it.get(what)] for what in ("enter", "leave"))
    if not enter or any(PLACEHOLDER.search(text) for text in (*enter, *leave)):
        return ()
    return (Way("list", _LIST, tuple(map(_ended, enter)), tuple(map(_ended, reversed(leave)))),)


def _ended(text: str) -> str:
    return f"{text.strip().removesuffix(';')};"


def _assignment(
    manifest: Mapping[str, Any], declared: Mapping[str, Any], name: str, value: str, scope: str | None = None
) -> Assignment:
    scope = (
        scope
        or declared.get("scopes", {}).get(name)
        or next(
            (
                row["scope"]
                for row in manifest.get("mapping", ())
                if row["setting"] == declared["name"] and row["parameter"] == name
            ),
            "system",
        )
    )
    server = declared["levels"].get(SERVER, "")
    for row in manifest.get("parameters_before", ()):
        if (row["parameter"], row.get("server", "")) == (name, server):
            before = None if row["value"] is None else str(row["value"])
            return Assignment(name, value, scope, before, row.get("altered"), _of_roles(row))
    return Assignment(name, value, scope, _before(manifest, declared, name))


def _of_roles(row: Mapping[str, Any]) -> tuple[RoleValue, ...] | None:
    """Values that roles had of their own, as the manifest has them."""
    found = row.get("of_roles")
    if found is None:
        return None
    return tuple(RoleValue(item["role"], item["value"], item.get("database", "")) for item in found)


def _before(manifest: Mapping[str, Any], declared: Mapping[str, Any], name: str) -> str | None:
    """A parameter's value before, where the run did not note it by itself; None: not known."""
    server = declared["levels"].get(SERVER, "")
    # An older run has its changes alone: the first one of a parameter says what it was.
    changes = manifest.get("parameter_changes", ())
    for change in changes:
        if change["parameter"] == name and change["setting"].startswith(f"{server}/" if server else ""):
            return str(change["before"])
    # Of a parameter that was never changed every setting has the server's own value.
    values = {item["parameters"].get(name) for item in manifest["settings"] if _on(item) == server}
    unchanged = manifest.get("record") in ("watched", "report") or manifest["status"] != "running"
    value = values.pop() if len(values) == 1 else None
    return str(value) if unchanged and value is not None else None


def _on(declared: Mapping[str, Any]) -> str:
    return str(declared["levels"].get(SERVER, ""))

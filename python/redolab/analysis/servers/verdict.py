"""The answer of a run on several servers: which one does more for the same promise, then each by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from redolab.analysis.compared import Compared
from redolab.analysis.servers.pairs import Group, Match, matches_of
from redolab.analysis.statements.words import in_words
from redolab.analysis.verdict import (
    Circumstances,
    Regime,
    Verdict,
    against,
    condition_of,
    joined,
    rests_on,
    undecided,
    verdict,
    withheld,
)
from redolab.dialect.durability import TIER_TEXT
from redolab.records.servers import SERVER, without_server
from redolab.stats.blocks import Comparison, Outcome

_Judged = Sequence[tuple[Match, Comparison | None]]
"""The same levels on two servers, with their comparison of throughput; None where they are not compared."""
_Answer = tuple[list[str], Outcome, str | None]
"""The sentences, the outcome, and the setting named as best."""


def verdict_on_servers(compared: Compared, around: Circumstances, regimes: Mapping[str, Regime]) -> Verdict:
    """The verdict on throughput.

    Args:
        compared: a run on several servers.
        around: facts that must be stated in addition to the figures; its baseline is the first server's.
        regimes: the use of the time of each server's baseline, by the server's name.
    """
    base, done = around.baseline, rests_on(around.blocks_done, around.blocks_planned)
    failed = withheld(compared.null, base, around.labels)
    if failed is not None:
        return replace(failed, text=joined([failed.text, done]))
    by_pair = {(item.setting, item.baseline): item for item in compared.throughputs}
    judged = [
        (match, by_pair.get((match.setting, match.reference))) for match in matches_of(compared.manifest)
    ]
    promises = {item["name"]: item.get("tier_text", item["tier"]) for item in compared.manifest["settings"]}
    levels = {item["name"]: item["levels"] for item in compared.manifest["settings"]}
    at_base = [pair for pair in judged if pair[0].reference == base]
    first, outcome, best = _first(at_base, around, promises, levels)
    first.insert(1, done)
    rest = _others([pair for pair in judged if pair[0].reference != base], around)
    own = [_within(group, regimes[group.server], compared, around).text for group in compared.groups]
    return Verdict(joined([*first, *rest, *own]), outcome, base, best)


def _first(
    judged: _Judged,
    around: Circumstances,
    promises: Mapping[str, str],
    levels: Mapping[str, Mapping[str, str]],
) -> _Answer:
    """The other servers against the first one, under the baseline's levels: the quickest that is compared."""
    base = around.baseline
    known = [item for _, item in judged if item is not None]
    alike = _alike(levels[base], judged[0][0].levels)
    if not known:
        names = (base, *(match.setting for match, _ in judged))
        differing = [_promise(name, around, promises) for name in names]
        first = f"Do not compare servers where {alike}: their commits promise different durability."
        return [first, *differing], "undecided", None
    lead = max(known, key=lambda item: item.ratio.point or 0.0)
    name, ratio = lead.setting, lead.ratio
    if ratio.point is None:
        return (
            [
                "Nothing can be compared yet: measure again, and let one block (a pass over all settings) "
                "finish."
            ],
            "undecided",
            None,
        )
    same = around.tiers[name] == around.tiers[base]
    promised = (
        [f"Both servers promise the same: a commit is {promises[base]}."]
        if same
        else [_promise(name, around, promises), _promise(base, around, promises)]
    )
    where = "" if around.log_device_ms is None else "on an emulated log device "
    server, other = levels[name][SERVER], levels[base][SERVER]
    found = f"where {alike}, {where}{server} {around.does} {against(ratio, other)}"
    if lead.outcome == "better":
        use = f"Use {server}{_condition(name, base, around)}"
        first = f"{use}: where {alike}, {where}it {around.does} {against(ratio, other)}."
        return [first, *promised], "better", name
    if lead.outcome == "worse":
        return [f"Use {other}{_condition(base, name, around)}: {found}.", *promised], "worse", base
    if lead.outcome == "equivalent":
        firmer = levels[_firmer(name, base, around)][SERVER]
        use = "Take any server" if same else f"Use {firmer}, which promises more"
        return [f"{use}: {found}, which counts as equal.", *promised], "equivalent", None
    return [*undecided(lead, around, where), *promised], "undecided", None


def _alike(levels: Mapping[str, str], published: str) -> str:
    """The levels that servers have in common, in words, with their published name."""
    return f"{in_words(without_server(levels)).replace(', ', ' and ')} ({published})"


def _condition(used: str, other: str, around: Circumstances) -> str:
    """On what condition a setting is to be used, where another one promises more."""
    if around.tiers[used] == around.tiers[other] or _firmer(used, other, around) == used:
        return ""
    return condition_of(around.tiers[used])


def _firmer(one: str, other: str, around: Circumstances) -> str:
    """The one of two settings that promises more."""
    tiers = list(TIER_TEXT)
    return min(one, other, key=lambda name: tiers.index(around.tiers[name]))


def _promise(name: str, around: Circumstances, promises: Mapping[str, str]) -> str:
    return f"Under {around.label(name)} a commit is {promises[name]}."


def _others(judged: _Judged, around: Circumstances) -> list[str]:
    """Sentences on the other levels of servers: differences, equality, open cases, and pairs not compared."""
    found = [
        f"{around.label(item.setting)} {around.does} {against(item.ratio, around.label(item.baseline))}"
        f"{_price(match, around)}."
        for match, item in judged
        if item is not None and item.outcome in ("better", "worse")
    ]
    for text, outcome in (
        ("The servers count as equal under {}.", "equivalent"),
        ("The comparison of the servers is not decided under {}.", "undecided"),
    ):
        if names := _levels(match for match, item in judged if item is not None and item.outcome == outcome):
            found.append(text.format(names))
    if names := _levels(match for match, item in judged if item is None):
        found.append(
            f"The servers are not compared under {names}, because their commits promise different durability."
        )
    return found


def _price(match: Match, around: Circumstances) -> str:
    if match.same_tier:
        return ""
    return f"; it promises {around.tiers[match.setting]}, the other {around.tiers[match.reference]}"


def _levels(matches: Iterable[Match]) -> str:
    return ", ".join(dict.fromkeys(match.levels for match in matches))


def _within(group: Group, found: Regime, compared: Compared, around: Circumstances) -> Verdict:
    """The verdict on a server's own settings, without how far the run came, which is said once."""
    mine = [
        item
        for item in compared.throughputs
        if item.baseline == group.baseline and item.setting in group.names
    ]
    own = replace(around, baseline=group.baseline, blocks_done=around.blocks_planned)
    return verdict(found, compared.null, mine, own)

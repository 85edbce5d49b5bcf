"""Every figure of a durability run: the losses by hard kills of the server, per setting.

A killed process is not a power cut: data that the operating system had taken from the server survive here,
and would not survive there. So "nothing lost" is the result of a process crash, no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab import units
from redolab.analysis import common_sections
from redolab.analysis.checks.diagnostic import Diagnostic
from redolab.analysis.reading import read_kills
from redolab.analysis.servers.tables import promises
from redolab.analysis.statements.labels import labels
from redolab.analysis.statements.to_set import of_measured
from redolab.analysis.verdict import joined
from redolab.experiment.durability import figures, tables
from redolab.records.run import Run
from redolab.records.sample import Kill
from redolab.records.servers import servers_of
from redolab.stats.blocks import Outcome
from redolab.stats.estimates import exact_share, mean_estimate

FEWEST_KILLS = 10
"""Kills per setting below which nothing is concluded."""
_MAY_LOSE = frozenset({"memory"})
"""Tiers that promise nothing after a process crash."""
_OUTCOMES: Mapping[Outcome, str] = {
    "equivalent": "every promise was kept",
    "worse": "a promise was BROKEN",
}
NOTE = (
    "A killed process is not a power cut: commits handed to the operating system survive a killed process, "
    "but not a power cut."
)


@dataclass(frozen=True)
class _Losses:
    """The kills of one setting."""

    setting: str
    tier: str
    kills: Sequence[Kill]
    spoiled: int
    label: str = ""
    """Its short label, where its name is a key."""

    @property
    def named(self) -> str:
        """The setting as a sentence names it."""
        return self.label or self.setting

    @property
    def acknowledged(self) -> int:
        return sum(kill.acknowledged for kill in self.kills)

    @property
    def missing(self) -> int:
        return sum(kill.missing for kill in self.kills)

    @property
    def with_loss(self) -> int:
        return sum(kill.missing > 0 for kill in self.kills)

    @property
    def must_keep(self) -> bool:
        return self.tier not in _MAY_LOSE


def analyse(run: Run) -> dict[str, Any]:
    """The results object of a durability run, finished or not; plain JSON types only.

    The verdict's outcome is about the promise: `equivalent` when every setting that promises to
    survive a crash lost nothing, `worse` when one lost an acknowledged commit, `undecided` when a
    setting has fewer than ten kills that count.
    """
    manifest = run.manifest
    kills = read_kills(run)
    shown = labels(manifest["settings"])
    losses = [_losses(declared, shown[declared["name"]], kills) for declared in manifest["settings"]]
    outcome = _outcome(losses)
    text = _text(losses, outcome, manifest)
    if manifest["status"] != "finished":
        text = f"{text} The run was not finished."
    baseline = manifest["design"]["baseline"]
    heading = common_sections.heading(run)
    heading["engine"]["emulated"] = common_sections.requested_devices(manifest)
    settings = [
        _setting(declared, found) for declared, found in zip(manifest["settings"], losses, strict=True)
    ]
    return heading | {
        "verdict": {
            "text": text,
            "outcome": outcome,
            "outcome_text": _OUTCOMES.get(outcome),
            "baseline": baseline,
            "best": None,
        },
        "statements": of_measured(manifest, _advised(losses, outcome, baseline)),
        "settings": settings,
        "tables": [
            table.as_json()
            for table in (
                tables.losses(settings),
                tables.rates(settings),
                tables.kills(kills),
                *((promises(manifest),) if servers_of(manifest["engine"]) else ()),
            )
        ],
        "figures": [figures.missing([found.setting for found in losses], kills).as_json()],
        "diagnostics": [item.as_json() for item in _diagnostics(losses)],
        "timeline": [_timeline(kill) for kill in kills],
        "method": common_sections.method(manifest),
        "warnings": [*map(str, manifest.get("conditions", ())), NOTE],
    }


def _advised(losses: Sequence[_Losses], outcome: Outcome, baseline: str) -> str | None:
    """The setting to rely on: one that kept its promise, the baseline before others; None while undecided."""
    kept = [found.setting for found in losses if found.must_keep and found.kills and not found.missing]
    if outcome == "undecided" or not kept:
        return None
    return baseline if baseline in kept else kept[0]


def _losses(declared: Mapping[str, Any], label: str, kills: Sequence[Kill]) -> _Losses:
    mine = [kill for kill in kills if kill.setting == declared["name"]]
    counting = [kill for kill in mine if kill.spoiled is None]
    return _Losses(declared["name"], declared["tier"], counting, len(mine) - len(counting), label)


def _setting(declared: Mapping[str, Any], found: _Losses) -> dict[str, Any]:
    kills = found.kills
    windows = [kill.loss_window_s for kill in kills if kill.loss_window_s is not None]
    worst = max(kills, key=lambda kill: kill.missing, default=None)
    return {
        "name": found.setting,
        "levels": dict(declared["levels"]),
        "tier": found.tier,
        "tier_text": declared.get("tier_text", ""),
        "parameters": dict(declared["parameters"]),
        "kills": len(kills),
        "spoiled": found.spoiled,
        "acknowledged": found.acknowledged,
        "missing": found.missing,
        "unacknowledged": sum(kill.unacknowledged for kill in kills),
        "kills_with_loss": found.with_loss,
        "worst_kill": None
        if worst is None
        else {
            "sample": worst.sample,
            "missing": worst.missing,
            "acknowledged": worst.acknowledged,
            "loss_window_s": worst.loss_window_s,
        },
        "missing_per_kill": mean_estimate(kill.missing for kill in kills).as_json(),
        "loss_window_max_s": max(windows, default=None),
        "loss_window_s": mean_estimate(windows).as_json(),
        "loss_probability": exact_share(found.with_loss, len(kills)).as_json(),
        # Commits lost in one kill fall together, so this interval is narrower than it should be;
        # the one on kills is sound.
        "lost_share": exact_share(found.missing, found.acknowledged).as_json(),
        "recovery_s": mean_estimate(kill.recovery_s for kill in kills).as_json(),
        "promise": "survives a crash of the server" if found.must_keep else "may be lost in a crash",
        "promise_kept": found.missing == 0 if found.must_keep and kills else None,
    }


def _outcome(losses: Sequence[_Losses]) -> Outcome:
    if any(found.must_keep and found.missing for found in losses):
        return "worse"
    if any(len(found.kills) < FEWEST_KILLS for found in losses):
        return "undecided"
    return "equivalent"


def _text(losses: Sequence[_Losses], outcome: Outcome, manifest: Mapping[str, Any]) -> str:
    keeping = [found for found in losses if found.must_keep]
    others = [found for found in losses if not found.must_keep]
    broken = [found for found in keeping if found.missing]
    sentences = [_first(keeping, broken, outcome)]
    sentences += [f"{_count(found)}." for found in (*broken, *others) if found.kills]
    kills = sum(len(found.kills) for found in keeping)
    if kills and not broken:
        most = units.percent(exact_share(0, kills).high or 0.0)
        kept = _list([found.named for found in keeping])
        sentences.append(
            f"With 95 % confidence, at most {most} of kills like these would make {kept} lose commits."
        )
    if outcome == "undecided":
        least = min(len(found.kills) for found in losses) if losses else 0
        sentences.append(
            f"Undecided: one setting has only {least} valid kills, and {FEWEST_KILLS} are needed."
        )
    emulated = common_sections.log_device_ms(manifest)
    if emulated is not None:
        sentences.append(f"The log was on an emulated {emulated:g} ms device.")
    return joined(sentences)


def _first(keeping: Sequence[_Losses], broken: Sequence[_Losses], outcome: Outcome) -> str:
    """Whether the settings that promise to keep commits can be trusted."""
    if broken:
        lost = sum(found.missing for found in broken)
        return (
            f"Do not trust {_list([found.named for found in broken])}: {lost:,} of "
            f"{sum(found.acknowledged for found in broken):,} acknowledged commits were lost, although the "
            "setting promises to keep them."
        )
    kills = sum(len(found.kills) for found in keeping)
    if not kills:
        return "Kill the server more often: there are too few valid kills to show that commits are kept."
    lost_none = (
        f"{_list([found.named for found in keeping])} lost none of "
        f"{sum(found.acknowledged for found in keeping):,} acknowledged commits in {kills} hard kills"
    )
    if outcome == "undecided":
        return (
            f"Kill the server more often: {lost_none}, and so few kills do not prove that commits are kept."
        )
    return f"Rely on commits that wait for their flush: {lost_none} of the server."


def _count(found: _Losses) -> str:
    if not found.missing:
        kills = units.counted(len(found.kills), "kill")
        return f"{found.named} lost none of {found.acknowledged:,} acknowledged commits in {kills}"
    windows = [kill.loss_window_s for kill in found.kills if kill.loss_window_s is not None]
    oldest = max(windows, default=0.0)
    reach = f", the oldest {units.duration(oldest)} before the kill" if oldest > 0 else ""
    return (
        f"{found.named} lost {found.missing:,} of {found.acknowledged:,} acknowledged commits, "
        f"in {found.with_loss} of {len(found.kills)} kills{reach}"
    )


def _diagnostics(losses: Sequence[_Losses]) -> list[Diagnostic]:
    spoiled = sum(found.spoiled for found in losses)
    idle = sum(kill.acknowledged == 0 for found in losses for kill in found.kills)
    least = min((len(found.kills) for found in losses), default=0)
    return [
        Diagnostic(
            "spoiled kills",
            "warning" if spoiled else "passed",
            f"{spoiled} kills do not count." if spoiled else "Every kill counts.",
        ),
        Diagnostic(
            "kills under load",
            "warning" if idle else "passed",
            f"{idle} kills came before any commit was acknowledged."
            if idle
            else "Every kill came after acknowledged commits.",
        ),
        Diagnostic(
            "enough kills",
            "passed" if least >= FEWEST_KILLS else "warning",
            f"The setting with the fewest valid kills has {least} of them; {FEWEST_KILLS} are needed.",
        ),
    ]


def _timeline(kill: Kill) -> dict[str, Any]:
    return {
        "sample": kill.sample,
        "block": kill.block,
        "position": kill.position,
        "setting": kill.setting,
        "start_s": kill.start_s,
        "elapsed_s": kill.elapsed_s,
        "acknowledged": kill.acknowledged,
        "missing": kill.missing,
        "loss_window_s": kill.loss_window_s,
        "recovery_s": kill.recovery_s,
        "spoiled": kill.spoiled,
    }


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]

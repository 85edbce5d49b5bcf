"""Statements for a change of parameters, their undo, and possible losses in crashes.

A change of the application or of hardware has no statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from redolab.analysis.at_risk import Price, in_words, prices
from redolab.analysis.statements.to_set import of_parameters
from redolab.dialect.durability import TIER_TEXT, tier_seen
from redolab.dialect.innodb import REDO, keeps_binlog
from redolab.dialect.known import dialect_of
from redolab.forecast.costs.run_costs import RunCosts
from redolab.records.run import Run
from redolab.records.servers import server_of
from redolab.stats.estimates import MISSING

_OF_PARAMETERS = frozenset({"commit_wait", "commit_delay_us"})
"""Factors that a server's parameters decide."""
_ELSEWHERE: Mapping[str, str] = {
    "rows_per_commit": "This is a change of the application, not of a parameter.",
    "sessions": "This is a change of the application's connection pool, not of a parameter.",
    "log_device": "This is a change of hardware, not of a parameter.",
    "cpus": "This is a change of hardware, not of a parameter.",
}
_NO_PARAMETER = "Redolab does not know by which parameters this server makes this change."
_NONE: Mapping[str, Any] = {"ways": [], "parameters": [], "as_before": [], "price": [], "price_text": None}


@dataclass(frozen=True)
class Today:
    """The server as it was measured or observed, and what is known of it."""

    manifest: Mapping[str, Any]
    declared: Mapping[str, Any]
    """Its setting, as the manifest has it."""
    server: Mapping[str, Any]
    """Its record in the manifest, with the parameters of the setting, and `sessions`, how many work."""
    commits_per_s: float | None
    """Acknowledged commits; None where they were not counted."""

    @staticmethod
    def of(run: Run, calibrated: RunCosts) -> Today:
        """The server under the setting of a run that counts as today's.

        Args:
            run: the run.
            calibrated: its costs.
        """
        settings, today = run.manifest["settings"], calibrated.measured[calibrated.today]
        declared = next((item for item in settings if item["name"] == calibrated.today), settings[0])
        record = server_of(run.manifest["engine"], declared["levels"])
        listed = {**_reported(run, declared["name"]), **declared["parameters"]}
        known = {**record, **listed, "sessions": today.scenario.sessions}
        if "binlog" not in known and "log_bin" in known:
            known["binlog"] = keeps_binlog(known)
        rate = today.quantities.get("throughput_per_s", MISSING).point
        return Today({**run.manifest, **_noted(run.manifest, listed)}, declared, known, rate)

    def to_type(self, item: Mapping[str, Any], tier: str, text: str) -> dict[str, Any]:
        """A change with its durability tiers, the statements that make it, and what a crash may lose with it.

        The loss counts commits at the upper end of the forecast: no more of them can be missing.

        Args:
            item: the change, as the results object has it.
            tier: today's durability tier; empty where it is not known.
            text: what that promises.
        """
        factor, level, most = item["factor"], item["to"], item["gain"]["high"]
        after = (self.tier(factor, level) or "") if item["durability"] == "lost" else tier
        rate = None if most is None or self.commits_per_s is None else most * self.commits_per_s
        return {
            **item,
            "risk": self.risk(factor, level) or item["risk"],
            "tier_before": tier,
            "tier_after": after,
            "tier_text": text if after == tier else TIER_TEXT.get(after, ""),
            **self.changed(factor, level, rate),
        }

    def parameters(self, factor: str, level: str) -> Mapping[str, str]:
        """The parameters that give a factor a level, with their values; empty where nobody knows any."""
        known = dialect_of(str(self.server.get("name", ""))).realised
        if known is None or factor not in _OF_PARAMETERS:
            return {}
        return known({factor: level}, self.server)

    def can(self, factor: str, level: str) -> bool:
        """Whether this server can make such a change, as far as its dialect shows.

        Changes that are not of parameters always can be made.
        """
        known = dialect_of(str(self.server.get("name", ""))).realised
        return known is None or factor not in _OF_PARAMETERS or bool(known({factor: level}, self.server))

    def changed(self, factor: str, level: str, commits_per_s: float | None) -> dict[str, Any]:
        """The keys of a change that name what to type, as the results object has them.

        Args:
            factor: what is changed.
            level: to what.
            commits_per_s: acknowledged commits with the change, at most; None where that is not known.
        """
        parameters = self.parameters(factor, level)
        if not parameters:
            return {**_NONE, "why_none": _ELSEWHERE.get(factor, _NO_PARAMETER)}
        lost = self._lost(parameters, commits_per_s)
        return {
            **of_parameters(self.manifest, self.declared, parameters, "session"),
            "price": [price.as_json() for price in lost],
            "price_text": f"The price: {' '.join(in_words(lost))}" if lost else None,
        }

    def risk(self, factor: str, level: str) -> str:
        """The loss that a change makes possible where a crash of the server alone loses nothing, half a
        sentence; else empty.
        """
        parameters = self.parameters(factor, level)
        crashes = [item.crash for item in self._lost(parameters, None)] if parameters else []
        if not crashes or "server" in crashes:
            return ""
        return in_words([Price(crash=crash, unknown="some") for crash in crashes])[0].removesuffix(".")

    def tier(self, factor: str, level: str) -> str | None:
        """The durability tier with a change that no longer waits for the log; None where it is not known."""
        parameters = self.parameters(factor, level)
        if REDO not in parameters:
            return "memory"
        log_bin = {"log_bin": "ON" if self.server.get("binlog") else "OFF"}
        return tier_seen({**log_bin, **self.server, **parameters}, "nowait")

    def _lost(self, parameters: Mapping[str, str], commits_per_s: float | None) -> tuple[Price, ...]:
        """Possible losses with some parameters; the others are as they are."""
        # The tier is that of today, which parameters decide better where they are known.
        declared = {"tier": "", "parameters": parameters}
        return prices(self.server, declared, commits_per_s)


def _reported(run: Run, setting: str) -> dict[str, str]:
    """Parameters that the last report of an imported run printed; empty for other runs."""
    if run.manifest.get("record") != "report":
        return {}
    samples = [row["sample"] for row in run.samples.to_pylist() if row["setting"] == setting]
    rows = run.entries.filter(pc.equal(run.entries["section"], "parameter")).to_pylist()
    return {row["name"]: row["text"] for row in rows if row["sample"] == max(samples) and row["text"]}


def _noted(manifest: Mapping[str, Any], listed: Mapping[str, str]) -> Mapping[str, Any]:
    """The manifest's key of former values for an observed server, by the names that statements use."""
    own = dialect_of(str(manifest["engine"].get("name", ""))).realised
    if own is None or "parameters_before" in manifest or manifest.get("record") not in ("watched", "report"):
        return {}
    names = [name for name in own({"commit_wait": "wait"}, {}) if name.lower() in listed]
    return {"parameters_before": [{"parameter": name, "value": listed[name.lower()]} for name in names]}

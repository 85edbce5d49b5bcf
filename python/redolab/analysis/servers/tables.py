"""The tables of a run on several servers: what each acknowledgement promised, and server against server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.analysis.compared import Compared
from redolab.analysis.exhibits import Column, Table
from redolab.analysis.servers.pairs import matches_of
from redolab.dialect.known import product_name
from redolab.records.servers import SERVER, server_of


def promises(manifest: Mapping[str, Any]) -> Table:
    """The promise of each acknowledgement: on which server, to which durability tier, by which parameters."""
    settings = manifest["settings"]
    rows = [
        {
            "setting": setting["name"],
            "server": _server(server_of(manifest["engine"], setting["levels"])),
            "tier": setting["tier"],
            "parameters": ", ".join(f"{name} = {value}" for name, value in setting["parameters"].items()),
        }
        for setting in settings
    ]
    columns = (
        Column("setting", "Setting", "text"),
        Column("server", "Server", "text"),
        Column("tier", "Tier", "text"),
        Column("parameters", "Parameters", "text"),
    )
    tiers = dict.fromkeys((setting["tier"], setting.get("tier_text", "")) for setting in settings)
    note = " ".join(f"{tier}: {text}." for tier, text in tiers if text)
    return Table("promises", "What each acknowledgement promised", columns, rows, note, first=True)


def between_servers(compared: Compared) -> Table:
    """Throughput under the same levels, a later server over an earlier one, where the two are compared."""
    by_pair = {(item.setting, item.baseline): item for item in compared.throughputs}
    settings = {setting["name"]: setting for setting in compared.manifest["settings"]}
    names = compared.labels
    rows, apart = [], []
    for match in matches_of(compared.manifest):
        item = by_pair.get((match.setting, match.reference))
        setting, reference = settings[match.setting], settings[match.reference]
        tiers = f"{setting['tier']}, {reference['tier']}"
        if item is None:
            apart.append(f"{names[match.setting]} with {names[match.reference]} ({tiers})")
            continue
        rows.append(
            {
                "levels": match.levels,
                "server": setting["levels"][SERVER],
                "reference": reference["levels"][SERVER],
                "ratio": item.ratio,
                "outcome": item.outcome,
                "pvalue": item.pvalue_adjusted,
                "tier": setting["tier"] if match.same_tier else tiers,
            }
        )
    servers = [group.server for group in compared.groups]
    two = len(servers) == 2
    columns = (
        Column("levels", "Setting", "text"),
        *(() if two else (Column("server", "Server", "text"), Column("reference", "against", "text"))),
        Column("ratio", f"{compared.unit.capitalize()}s/s", "estimate", "ratio"),
        Column("outcome", "Outcome", "outcome"),
        Column("tier", "Tier", "text"),
        Column("pvalue", "p, adjusted", "pvalue"),
    )
    note = (
        "The ratios are paired within blocks; p is corrected (Holm) for these comparisons and every "
        "comparison within a server."
    )
    if apart:
        note += (
            f" Not compared, because their commits promise different durability: {'; '.join(apart)}. With "
            "--across-tiers these are compared too."
        )
    caption = f"{servers[1]} against {servers[0]}" if two else "Server against server"
    return Table("servers", caption, columns, rows, note, first=True)


def _server(record: Mapping[str, Any]) -> str:
    name = record["name"]
    return " ".join(str(part) for part in (product_name(name) or name, record.get("version")) if part)

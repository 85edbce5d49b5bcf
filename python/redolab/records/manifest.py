"""The manifest of a run, and a forecast sealed for it: their shapes, checked when they are read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from redolab.files.shapes import Shape, anything, entries, flag, items, maybe, number, one_of, record, text
from redolab.records.servers import SERVER, servers_of

STATUSES = ("running", "finished", "interrupted", "failed")
MOST_SAMPLES = 200_000
_MOST_SETTINGS = 10_000
_MOST_SESSIONS = 100_000
_MOST_SERVERS = 100
_HASH = re.compile(r"[0-9a-f]{64}")
_SEED = 1 << 64


def wrong_in_manifest(manifest: Mapping[str, Any], files: tuple[str, ...]) -> str | None:
    """The first error in a manifest, in words; None for a valid one.

    Args:
        manifest: as it was read, of a format that this version knows.
        files: the names that its hashes may have.
    """
    found = _MANIFEST(manifest, "")
    if found is not None:
        return found
    strange = sorted(manifest["hashes"].keys() - set(files))
    if strange:
        return f"hashes names {strange[0][:60]!r}, which is not a file of a run"
    names = [setting["name"] for setting in manifest["settings"]]
    if len(set(names)) != len(names):
        return "the list settings has two entries of the same name"
    known = set(names)
    design = manifest["design"]
    unknown = {design["baseline"], *design.get("settings", ())} - known
    unknown |= {trial["setting"] for trial in manifest.get("order", ())} - known
    if unknown:
        return f"the key design or order names {min(unknown)[:60]!r}, which is not among the settings"
    servers = servers_of(manifest["engine"])
    if servers and any(setting["levels"].get(SERVER) not in servers for setting in manifest["settings"]):
        return "the list settings has an entry whose server is not in engine.servers"
    return None


def wrong_in_sealed(sealed: Mapping[str, Any]) -> str | None:
    """The first error in a sealed forecast, in words; None for a valid one."""
    return _SEALED(sealed, "")


def _hash(value: Any, place: str) -> str | None:
    fits = isinstance(value, str) and _HASH.fullmatch(value)
    return None if fits else f"{place} is not a SHA-256 in hexadecimal"


def _moment(value: Any, place: str) -> str | None:
    wrong = text(64)(value, place)
    if wrong is not None:
        return wrong
    try:
        zone = datetime.fromisoformat(value).tzinfo
    except ValueError:
        return f"{place} is {value!r}, but must be a time in ISO 8601"
    return None if zone is not None else f"{place} is {value!r}, but must have a time zone"


def _level(most: float) -> Shape:
    """The level of a factor: where it is a number, one in range. A user's own factor may have words."""

    def wrong(value: Any, place: str) -> str | None:
        try:
            given = float(value)
        except ValueError:
            return None
        return None if 0 <= given <= most else f"{place} is {value[:60]!r}, and can be at most {most:,.0f}"

    return wrong


_short, _long = text(1000), text()
_count = number(0, 1e15, whole=True)
_seconds = number(0, 1e9)
_LEVELS = record(
    {},
    {
        "sessions": _level(_MOST_SESSIONS),
        "processes": _level(_MOST_SESSIONS),
        "rows_per_commit": _level(1e9),
        "rounds": _level(1e6),
        "commit_delay_us": _level(1e9),
        "pause_ms": _level(1e7),
        "arrival_rate_per_s": _level(1e9),
        "log_device_ms": _level(1e7),
    },
)


def _levels(value: Any, place: str) -> str | None:
    return entries(_long, 100)(value, place) or _LEVELS(value, place)


_SETTING = record(
    {"name": _short, "levels": _levels, "tier": _short, "parameters": entries(_long, 1000)},
    {"tier_text": _long, "scopes": entries(_short, 1000)},
)
_DESIGN = record(
    {
        "baseline": _short,
        "blocks": number(1, 10_000, whole=True),
        "seed": number(-_SEED, _SEED, whole=True),
        "margin": number(0, 1),
    },
    {
        "settings": items(_short, _MOST_SETTINGS),
        "seconds": _seconds,
        "warmup_s": _seconds,
        "null_pair": flag,
        "units": maybe(_count),
        "units_each": maybe(_count),
        "across_tiers": flag,
        "at_most_s": maybe(_seconds),
        "lengths": items(_seconds, 10_000),
        "repeats": entries(number(1, 1e9, whole=True), _MOST_SETTINGS),
    },
)
_TRIAL = record(
    {
        "sample": number(1, MOST_SAMPLES, whole=True),
        "block": number(1, MOST_SAMPLES, whole=True),
        "position": number(1, MOST_SAMPLES, whole=True),
        "setting": _short,
        "role": _short,
    }
)
_LOAD = record(
    {}, {"sessions": number(0, _MOST_SESSIONS, whole=True), "rows": _count, "loop": _short, "scope": _short}
)
_ABOUT_ENGINE = {
    "version": _short,
    "local": flag,
    "emulated": maybe(
        record({}, {"log_device_ms": maybe(number(0, 1e7)), "binlog_device_ms": maybe(number(0, 1e7))})
    ),
    "binlog": maybe(flag),
    "binlog_storage_engine": maybe(_short),
    "variant": _short,
    "identity": maybe(_short),
    "log_filesystem": maybe(_short),
    "place": _long,
}
_ENGINE = record(
    {"name": _short},
    {**_ABOUT_ENGINE, "servers": entries(record({"name": _short}, _ABOUT_ENGINE), _MOST_SERVERS)},
)
_MACHINE = record(
    {},
    {
        "cpus": maybe(number(1, 65_536, whole=True)),
        "disk_queues": maybe(_count),
        "processors": maybe(
            record(
                {},
                {
                    "online": items(number(0, 65_536, whole=True), 65_536),
                    "allowed": items(number(0, 65_536, whole=True), 65_536),
                    "cores": maybe(number(1, 65_536, whole=True)),
                    "quota_cpus": maybe(number(0, 65_536)),
                },
            )
        ),
    },
)
_OF_ROLE = record({"role": _long, "value": _long}, {"database": _long})
_BEFORE = record(
    {"parameter": _long, "value": maybe(_long)},
    {"altered": maybe(flag), "server": _short, "of_roles": maybe(items(_OF_ROLE, 10_000))},
)
_CHANGE = record(dict.fromkeys(("parameter", "before", "after", "scope", "at", "setting"), _long))
_MANIFEST = record(
    {
        "experiment": _short,
        "status": one_of(*STATUSES),
        "design": _DESIGN,
        "settings": items(_SETTING, _MOST_SETTINGS, 1),
        "load": _LOAD,
        "engine": _ENGINE,
        "machine": _MACHINE,
        "sampler": record({}, {"source": _short}),
        "hashes": entries(_hash, 100),
    },
    {
        "record": _short,
        "question": _long,
        "unit": _short,
        "started_at": maybe(_short),
        "finished_at": maybe(_short),
        "error": maybe(_long),
        "order": items(_TRIAL, MOST_SAMPLES),
        "mapping": items(
            record(dict.fromkeys(("setting", "parameter", "value", "scope"), _long)), MOST_SAMPLES
        ),
        "conditions": items(_long, 10_000),
        "not_measured": items(_long, 10_000),
        "parameters_before": items(_BEFORE, 100_000),
        "parameter_changes": items(_CHANGE, MOST_SAMPLES),
        "redolab_version": _short,
        "command": _long,
        "continued": items(
            record({"at": _short, "sample": number(1, MOST_SAMPLES, whole=True), "server": _short}), 10_000
        ),
    },
)
_finite = number(-1e18, 1e18)
_QUANTITY = record(
    {
        "point": _finite,
        "low": _finite,
        "high": _finite,
        "level": number(0, 1),
        "verified": number(0, 1e9, whole=True),
    }
)
_FORECAST = record(
    {
        "today": record(
            {"setting": _short, "throughput_per_s": record({"point": maybe(_finite)}, {"level": _finite})}
        ),
        "settings": items(
            record(
                {
                    "setting": _short,
                    "family": _short,
                    "models": items(
                        record(
                            {"model": _short, "silent": maybe(_long), "quantities": entries(_QUANTITY, 100)},
                        ),
                        100,
                        1,
                    ),
                }
            ),
            _MOST_SETTINGS,
            1,
        ),
    }
)
_SEALED = record({"sealed_at": _moment, "sha256": _hash, "forecast": _FORECAST}, {"format": anything})

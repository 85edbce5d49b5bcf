"""Values of server parameters as text: `300`, `300ms` and `0.3s` are the same where the unit is ms."""

from __future__ import annotations

import re

# Seconds and bytes; PostgreSQL manual, "Parameter Names and Values".
_TIME_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {"B": 1.0, "kB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30, "TB": 2.0**40}
_SCALES = _TIME_S | _BYTES
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([a-zA-Z]*)\s*")
_UNIT = re.compile(r"(\d*)([a-zA-Z]+)")
_ON, _OFF = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


def same_value(one: str, other: str, unit: str | None, kind: str) -> bool:
    """Whether two texts say the same value of a parameter.

    Args:
        one: as a configuration file or `SHOW` has it.
        other: the same.
        unit: in which a number without a unit counts, as `pg_settings.unit` has it: `ms`, `8kB`.
        kind: `pg_settings.vartype`.
    """
    if one == other:
        return True
    if kind in ("integer", "real"):
        first, second = _in_base(one, unit), _in_base(other, unit)
        return first is not None and second is not None and abs(first - second) <= 1e-9 * abs(first)
    plain = [text.strip().casefold() for text in (one, other)]
    if kind == "bool":
        return any(all(text in words for text in plain) for words in (_ON, _OFF))
    return plain[0].replace(" ", "") == plain[1].replace(" ", "")


def _in_base(text: str, unit: str | None) -> float | None:
    """In seconds, in bytes, or as it is where the parameter has no unit; None for anything else."""
    parts = _NUMBER.fullmatch(text)
    if parts is None:
        return None
    if parts[2]:
        return float(parts[1]) * _SCALES[parts[2]] if parts[2] in _SCALES else None
    base = _UNIT.fullmatch(unit or "")
    scale = float(base[1] or 1) * _SCALES.get(base[2], 1.0) if base else 1.0
    return float(parts[1]) * scale

"""A forecast sealed before it is checked: its content with the time, and a hash over both.

Somebody who changes the content or the time afterwards must change the hash too. But the hash is also in the
ledger, and in every copy of the ledger that was shared.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

FORMAT = 1
FILE = "forecast.json"
"""Its name in a run directory."""


def canonical(content: Any) -> bytes:
    """JSON with sorted keys, without spaces, NaN and infinity: equal contents give equal bytes."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def digest(content: Any) -> str:
    """SHA-256 of the canonical form, hexadecimal."""
    return hashlib.sha256(canonical(content)).hexdigest()


def seal(forecast: Mapping[str, Any]) -> dict[str, Any]:
    """The forecast with the time of now, UTC, and the hash of both."""
    sealed = {
        "format": FORMAT,
        "sealed_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "forecast": dict(forecast),
    }
    return {**sealed, "sha256": digest(sealed)}


def is_whole(sealed: Mapping[str, Any]) -> bool:
    """Whether the hash fits the sealed content."""
    return bool(sealed.get("sha256") == digest({key: sealed[key] for key in sealed if key != "sha256"}))


def seal_differences(sealed: Mapping[str, Any], first_sample_at: str | None) -> list[str]:
    """Errors of a sealed forecast, one sentence each.

    Args:
        sealed: as `seal` made it.
        first_sample_at: when the first sample that checks it began, UTC, ISO 8601; None without samples.
    """
    found = [] if is_whole(sealed) else [f"{FILE} was changed after it was sealed (its seal is broken)"]
    sealed_at = _moment(sealed.get("sealed_at"))
    if sealed_at is None:
        found.append(f"{FILE} does not contain the time of its sealing")
    first = _moment(first_sample_at)
    if first is None and first_sample_at is not None:
        found.append(f"the start time of the first sample is missing, so {FILE} may have been sealed later")
    if sealed_at is not None and first is not None and sealed_at > first:
        found.append(f"{FILE} was sealed at {sealed_at.isoformat()}, after the first sample began")
    return found


def _moment(text: object) -> datetime | None:
    """A time of ISO 8601 with its zone; None for anything else."""
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None

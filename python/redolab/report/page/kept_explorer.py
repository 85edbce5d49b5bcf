"""The explorer that a written page carries, read back: for installations that cannot forecast themselves."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from typing import Any

from redolab.errors import UsageError
from redolab.files.documents import parse_json_object
from redolab.forecast.costs.costs import Scenario
from redolab.forecast.explored import Explored, Swept
from redolab.forecast.track_record import Predicted

_DATA = re.compile(r'<script type="application/json" id="explorer-data">(.*?)</script>', re.DOTALL)
_COSTS = re.compile(r'<script type="text/plain" id="explorer-costs">\s*([A-Za-z0-9+/=]*)\s*</script>')
_MOST_BYTES = 16 << 20
_GZIP = 31


def explored_in(page: str, what: str) -> Explored | None:
    """The starting point of a page's explorer; None where the page has no explorer that can be read back.

    Args:
        page: as `redolab report` wrote it.
        what: the page's name, for an error.

    Raises:
        UsageError: the explorer is damaged.
    """
    data, costs = _DATA.search(page), _COSTS.search(page)
    if data is None or costs is None:
        return None
    told = parse_json_object(data[1].encode(), what)
    if "sweep" not in told:
        return None
    try:
        return _explored(told, _unpacked(costs[1]))
    except (KeyError, TypeError, ValueError, AttributeError, zlib.error, binascii.Error) as error:
        raise UsageError(f"The stored explorer in {what} is damaged, so it was not read.") from error


def _unpacked(text: str) -> bytes:
    unpacking = zlib.decompressobj(_GZIP)
    content = unpacking.decompress(base64.b64decode(text, validate=True), _MOST_BYTES)
    if not unpacking.eof or len(content) % 8:
        raise ValueError("not whole numbers of 64 bits")
    return content


def _explored(told: dict[str, Any], numbers: bytes) -> Explored:
    loss = told["longest_loss_s"]
    today = Scenario(**told["today"])
    measured = [
        {
            "setting": str(item["setting"]),
            "levels": dict(item["levels"]),
            "quantities": dict(item["quantities"]),
        }
        for item in told["measured"]
    ]
    return Explored(
        numbers=numbers,
        run=str(told["run"]),
        loop=str(told["loop"]),
        cpus=int(told["cpus"]),
        row_known=bool(told["row_known"]),
        device_ms=float(told["device_ms"]),
        least_device_ms=float(told["least_device_ms"]),
        only_seen=bool(told["only_seen"]),
        longest_loss_s=None if loss is None else float(loss),
        system=str(told["system"]),
        cautions=[str(text) for text in told["cautions"]],
        setting=str(told["setting"]),
        today=today,
        measured=measured,
        sweep=[
            Swept(
                Scenario(**item["scenario"]),
                {str(name): Predicted(**value) for name, value in item["forecast"].items()},
            )
            for item in told["sweep"]
        ],
    )

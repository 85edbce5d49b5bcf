"""Records as JSON gives them back."""

from __future__ import annotations

import dataclasses
import json
from typing import Any


def plain(record: Any) -> Any:
    """A record, or what JSON can hold, as it is read again after it was written."""
    is_record = dataclasses.is_dataclass(record) and not isinstance(record, type)
    return json.loads(json.dumps(dataclasses.asdict(record) if is_record else record))

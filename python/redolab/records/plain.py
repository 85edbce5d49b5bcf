"""Records as JSON gives them back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


def plain(record: Any) -> Any:
    """A record, or what JSON can hold, as it is read again after it was written.

    >>> plain({"lengths": (0.4, 0.8)})
    {'lengths': [0.4, 0.8]}
    """
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        record = dataclasses.asdict(record)
    if isinstance(record, Mapping):
        return {str(name): plain(value) for name, value in record.items()}
    if isinstance(record, tuple | list):
        return [plain(value) for value in record]
    return record

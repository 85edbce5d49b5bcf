"""A seal holds what was said, and when."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from redolab.records.sealed import canonical, is_whole, seal, seal_differences


def test_equal_contents_give_equal_bytes() -> None:
    assert canonical({"b": 1.5, "a": [1, None]}) == canonical({"a": [1, None], "b": 1.5})
    assert canonical({"b": 1.5, "a": [1, None]}) == b'{"a":[1,null],"b":1.5}'


def test_a_seal_survives_being_stored() -> None:
    sealed = seal({"throughput": 1 / 3, "name": "µ"})
    assert is_whole(json.loads(json.dumps(sealed, indent=1)))


def test_a_change_of_anything_breaks_it() -> None:
    sealed = seal({"throughput": 100.0})
    assert not is_whole({**sealed, "forecast": {"throughput": 100.1}})
    assert not is_whole({**sealed, "sealed_at": "2020-01-01T00:00:00.000+00:00"})
    assert not is_whole({**sealed, "more": 1})
    (text,) = seal_differences({**sealed, "forecast": {}}, None)
    assert "seal is broken" in text


def test_it_must_be_older_than_what_checks_it() -> None:
    sealed = seal({})
    at = datetime.fromisoformat(sealed["sealed_at"])
    assert seal_differences(sealed, (at + timedelta(seconds=1)).isoformat()) == []
    (text,) = seal_differences(sealed, (at - timedelta(seconds=1)).isoformat())
    assert "after the first sample began" in text

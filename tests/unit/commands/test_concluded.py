"""A run of which nothing counts ends with what spoiled it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from redolab.commands.report import _none_counts


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        ([None, "a session was replaced"], ""),
        (["it died", "it died", "it went"], "it died; it went"),
        (["a", "b", "c", "d"], "a; b; c"),
    ],
)
def test_only_where_no_sample_counts_the_reasons_are_said(spoiled: list[str | None], said: str) -> None:
    run: Any = SimpleNamespace(samples=pa.table({"spoiled": pa.array(spoiled, pa.string())}))
    assert _none_counts(run) == said

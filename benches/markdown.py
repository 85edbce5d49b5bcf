"""Tables of the benches' pages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown, line by line."""
    return [
        f"| {' | '.join(heading)} |",
        "|" + " --- |" * len(heading),
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def in_percent(errors: Sequence[float], figures: int = 2) -> str:
    """Median and 90th percentile; nothing of no errors."""
    if not errors:
        return ""
    return " / ".join(f"{100 * float(np.quantile(errors, share)):.1f}" for share in (0.5, 0.9)[:figures])

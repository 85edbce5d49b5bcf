"""A histogram as single values: each of its values as often as it was counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redolab.bounds import MOST_COUNTED
from redolab.errors import UsageError
from redolab.values.formats.sheet import Sheet, SheetNumbers, Texts
from redolab.values.reading.table import Floats


def expanded(
    place: str,
    what: str,
    values: Floats,
    counts: Sequence[int],
    unit: str | None,
    notes: tuple[str, ...],
    tags: Sequence[str | None] | None = None,
) -> Sheet:
    """The values of a histogram.

    Args:
        place: of the file, as it was named.
        what: the kind of file, in words.
        values: one for each bucket.
        counts: how often each was counted.
        unit: of the values.
        notes: facts that a reader must know about it.
        tags: the name of each bucket's histogram, where there are several.

    Raises:
        UsageError: it counted nothing, or more than can be held one by one.
    """
    total = sum(counts)
    if not total:
        raise UsageError(f"{place} is {what} that counted nothing.")
    if total > MOST_COUNTED:
        raise UsageError(
            f"{place} is {what} of {total:,} values, and at most {MOST_COUNTED:,} can be analysed one by "
            "one. Give one of a shorter time."
        )
    texts = {}
    if tags is not None:
        texts["tag"] = lambda: _repeated(tags, counts)
    return Sheet(
        what,
        {"value": SheetNumbers(np.repeat(values, counts), unit)},
        texts,
        "value",
        (
            *notes,
            "A histogram does not keep the order of its values, so figures that depend on the order are left "
            "out.",
        ),
        ordered=False,
    )


def _repeated(tags: Sequence[str | None], counts: Sequence[int]) -> Texts:
    return [tag for tag, count in zip(tags, counts, strict=True) for _ in range(count)]

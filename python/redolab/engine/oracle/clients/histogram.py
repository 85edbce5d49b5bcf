"""Times as a histogram of a fixed relative precision, as the client sessions of other databases note them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

_BITS = 11
"""A bucket is at most a thousandth wide: 2 ** 10 of them between two powers of two."""


def histogram(times_ns: Iterable[Iterable[int]]) -> tuple[tuple[float, int], ...]:
    """Every occupied bucket in ascending order: its upper bound in microseconds, and its times.

    >>> histogram([[1_000_000, 1_000_100], [2_000_000]])
    ((1000.447, 2), (2000.895, 1))
    """
    times = np.fromiter(itertools.chain.from_iterable(times_ns), dtype=np.int64)
    _, bits = np.frexp(times.astype(float))
    shift = np.maximum(bits.astype(np.int64) - _BITS, 0)
    uppers, counts = np.unique((((times >> shift) + 1) << shift) - 1, return_counts=True)
    return tuple((int(upper) / 1e3, int(count)) for upper, count in zip(uppers, counts, strict=True))

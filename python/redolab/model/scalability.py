"""Throughput over the number of sessions as a curve through measured points: the usual way to forecast. It
includes neither a log nor a CPU. It is here because every forecast must beat it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Scalability:
    """The Universal Scalability Law, X(N) = rate N / (1 + contention (N - 1) + coherency N (N - 1))."""

    rate: float
    """Throughput of one session."""
    contention: float
    coherency: float

    def throughput(self, sessions: float) -> float:
        """X(N), in the unit of the rate.

        Raises:
            ValueError: no session.
        """
        _sessions(sessions)
        return (
            self.rate
            * sessions
            / (1 + self.contention * (sessions - 1) + self.coherency * sessions * (sessions - 1))
        )


def fit_scalability(sessions: Sequence[float], throughputs: Sequence[float]) -> Scalability:
    """The law through measured points, by least squares on the logarithm, no parameter negative.

    Raises:
        ValueError: fewer than three points, or one that cannot be.

    Source: Gunther, Guerrilla Capacity Planning (2007), chapter 4; SciPy, `least_squares`.
    """
    import numpy as np
    from scipy.optimize import least_squares

    if len(sessions) != len(throughputs) or len(sessions) < 3:
        raise ValueError("the law has three parameters: at least three points are needed")
    for count, throughput in zip(sessions, throughputs, strict=True):
        _sessions(count)
        if not (throughput > 0 and math.isfinite(throughput)):
            raise ValueError(f"a throughput is {throughput:g}; it must be greater than 0")
    counts, logs = np.asarray(sessions, dtype=float), np.log(np.asarray(throughputs, dtype=float))

    def errors(parameters: np.ndarray) -> np.ndarray:
        rate, contention, coherency = parameters
        slowed = 1 + contention * (counts - 1) + coherency * counts * (counts - 1)
        return np.asarray(np.log(rate * counts / slowed) - logs)

    start = max(x / n for x, n in zip(throughputs, sessions, strict=True))
    fitted = least_squares(
        errors, (start, 0.05, 0.001), bounds=((1e-300, 0, 0), (np.inf, 1, np.inf)), x_scale=(start, 0.1, 0.01)
    )
    return Scalability(*(float(value) for value in fitted.x))


def _sessions(sessions: float) -> None:
    if not sessions >= 1:
        raise ValueError(f"there are {sessions:g} sessions; there must be at least one")

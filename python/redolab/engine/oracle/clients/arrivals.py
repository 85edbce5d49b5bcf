"""The moments at which transactions are asked for: every process draws the same ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from random import Random

from redolab.engine.oracle.clients.task import Order


def moments(order: Order) -> Iterator[float]:
    """Seconds from the beginning of the schedule, with exponential gaps (a Poisson process), in order.

    They end with the amount: at its time, or with as many transactions as its rows make.
    """
    rate_per_s = order.task.arrival_rate_per_s
    assert rate_per_s is not None, "transactions are asked for"
    random = Random(order.seed)
    drawn = itertools.accumulate(random.expovariate(rate_per_s) for _ in itertools.count())
    units = order.amount.units
    if units is not None:
        return itertools.islice(drawn, math.ceil(units / order.task.rows_per_commit))
    return itertools.takewhile(lambda moment: moment < order.amount.seconds, drawn)

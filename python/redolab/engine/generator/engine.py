"""A random generator in the place of a database: the values whose sampling distribution is shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from redolab.engine.base import Engine
from redolab.errors import InterruptedRunError, UsageError
from redolab.records.load import Amount, Draws, Load
from redolab.records.sample import Setting, Snapshot, Work


class GeneratorEngine(Engine):
    """Draws exponential values; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        """Draw from `seed`."""
        self._seed = seed
        self._mean = 1.0
        self._shape = (1, 1)

    def describe(self) -> Mapping[str, Any]:
        """The `engine` part of the manifest: NumPy and its version, which with the seed fix the values."""
        return {
            "name": "generator",
            "version": f"numpy {np.__version__}",
            "local": True,
            "place": "in this process",
            "emulated": {},
            "log_filesystem": None,
        }

    def conditions(self) -> list[str]:
        """A reader must not take these for measurements."""
        return ["The values were drawn from a distribution, not measured."]

    def not_measured(self) -> list[str]:
        """Everything."""
        return ["How a database behaves: real response times are neither independent nor exponential."]

    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Take the mean of the distribution.

        Raises:
            UsageError: the load does not consist of draws.
        """
        if not isinstance(load, Draws):
            raise UsageError(
                f"The engine generator cannot do the load {type(load).__name__.lower()}; leave --engine out."
            )
        self._mean = load.mean
        return tuple(
            Setting("/".join(levels.values()), levels, {}, {}, "", "nothing is committed")
            for levels in combinations
        )

    def apply(self, setting: Setting) -> None:
        """Take the number of groups and the values in each from the level, such as `30x30`."""
        groups, _, size = setting.levels["groups"].partition("x")
        self._shape = int(groups), int(size)

    def draw(self, number: int) -> tuple[int, tuple[float, ...]]:
        """The groups of the setting, and the values of its `number`th sample, group after group."""
        groups, size = self._shape
        rng = np.random.default_rng([self._seed, number])
        return groups, tuple(rng.exponential(self._mean, groups * size).tolist())

    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """Draw as often as `amount` says, once where it is a time; a unit of work is a repetition."""
        started_s = time.monotonic()
        units = 1 if amount.units is None else amount.units
        for number in range(units):
            if stop.is_set():
                raise InterruptedRunError("The run was interrupted during a sample.")
            self.draw(number)
        elapsed_s = time.monotonic() - started_s
        return Work(0, 0, 0, elapsed_s, elapsed_s, units)

    def snapshot(self) -> Snapshot:
        """No counters."""
        return Snapshot(time.monotonic(), "one", {}, None, None, ())

    def close(self) -> None:
        """Nothing to put back."""

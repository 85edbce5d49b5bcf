"""The accuracy of a model's earlier forecasts, and how far the next one can therefore be trusted.

Every verified forecast leaves a `Score` per quantity, and a `Silence` where a model could not forecast. The
width of a prediction interval has two parts: the scatter of the calibration, and the model's own past
errors in the same family of settings. It comes from split conformal prediction on log(observed / forecast).

Source: Lei, G'Sell, Rinaldo, Tibshirani and Wasserman, "Distribution-free predictive inference for
regression", Journal of the American Statistical Association 113 (2018).
"""

from __future__ import annotations

import functools
import gzip
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from redolab import _core
from redolab.forecast.costs.costs import Costs, Scenario

LEVEL = _core.LEVEL
SHIPPED = "record_of_grid.jsonl.gz"
"""The record that comes with Redolab, made by `benches/forecast.py`, in the directory of this module."""
PRIOR = _core.PRIOR
"""Standard deviation of ln(observed / forecast) that is assumed of a model before it was ever checked; it was
found on PostgreSQL."""
PRIOR_WEIGHT = _core.PRIOR_WEIGHT
"""How many verified forecasts that assumption counts for."""
EXTRAPOLATED = _core.EXTRAPOLATED
"""How much wider an interval is beyond what was measured."""


@dataclass(frozen=True)
class Score:
    """One quantity of one forecast, with its later measurement."""

    model: str
    family: str
    quantity: str
    """A name in `redolab.forecast.models.quantities.SCORED`."""
    forecast: float
    observed: float
    low: float | None = None
    """The low end of the prediction interval that was given, if one was."""
    high: float | None = None
    extrapolated: bool = False
    """Whether the setting lay beyond what the calibration measured; scores of before do not say so."""

    @property
    def log_ratio(self) -> float:
        """ln(observed / forecast)."""
        return math.log(self.observed / self.forecast)

    @property
    def inside(self) -> bool | None:
        """Whether the measured value lay inside the interval; None where none was given."""
        if self.low is None or self.high is None:
            return None
        return self.low <= self.observed <= self.high


@dataclass(frozen=True)
class Silence:
    """A model that could not forecast a setting that was then measured."""

    model: str
    family: str
    reason: str


@dataclass(frozen=True)
class Predicted:
    """A forecast quantity with its prediction interval."""

    point: float
    low: float
    high: float
    level: float
    """The probability of the interval, 0 to 1."""
    verified: int
    """Forecasts of this family that were verified before; 0: the width is a guess."""


def family_of(calibration: Costs, scenario: Scenario) -> str:
    """The family of settings that a scenario belongs to: those in which a model errs alike.

    A system whose commits share flushes in another way has families of its own.
    """
    return _named(_core.family_of(scenario), calibration.system)


def families_of(calibration: Costs, scenario: Scenario) -> tuple[str, ...]:
    """The family of a scenario; where costs were only seen, after it that of costs that were measured.

    A forecast from the former is never surer than one from the latter.
    """
    family = _core.family_of(scenario)
    return tuple(_named(family, system) for system in systems_of(calibration))


def systems_of(calibration: Costs) -> tuple[str, ...]:
    """The system of some costs; where they were only seen, after it that of costs that were measured."""
    if not calibration.only_seen:
        return (calibration.system,)
    return (calibration.system, calibration.measured_system)


def _named(family: str, system: str) -> str:
    return f"{family} ({system})" if system else family


def without_system(family: str, system: str) -> str | None:
    """The name of a family without its system; None where it is another's.

    Args:
        family: as `family_of` has it.
        system: as `Costs.system` has it.
    """
    if not system:
        return None if family.endswith(")") else family
    plain = family.removesuffix(f" ({system})")
    return None if plain == family else plain


def least_verified(level: float = LEVEL) -> int:
    """Verified forecasts that a conformal interval of this level needs: 9 for 90 %."""
    return _core.least_verified(level)


def log_ratios(scores: Iterable[Score], model: str, family: str, quantity: str) -> tuple[float, ...]:
    """ln(observed / forecast) of a model in earlier forecasts of one quantity in one family.

    That of an extrapolated one is divided by `EXTRAPOLATED`, as the interval of the next such forecast is
    multiplied: so errors inside and beyond what was measured are of one size.

    Source: Lei et al. (2018), section 5.2, on errors divided by their expected size.
    """
    return tuple(
        score.log_ratio / (EXTRAPOLATED if score.extrapolated else 1.0)
        for score in scores
        if (score.model, score.family, score.quantity) == (model, family, quantity)
    )


def prediction_interval(
    point: float,
    replicates: Sequence[float],
    log_ratios: Sequence[float],
    level: float = LEVEL,
    extrapolated: bool = False,
) -> Predicted:
    """The interval around a forecast.

    From `least_verified` earlier forecasts on it is split conformal; with fewer, Student's t on the
    logarithm, with a prior. It is never narrower than the same share of the replicates, and `EXTRAPOLATED`
    times as wide on the logarithm beyond what was measured. The crate redolab-forecast says how and why.

    Args:
        point: the forecast.
        replicates: the same forecast from resampled calibrations.
        log_ratios: ln(observed / forecast) of the same model, family and quantity in earlier forecasts.
        level: of the interval, between 0 and 1.
        extrapolated: whether the scenario lies beyond what was measured.

    Raises:
        ValueError: the level is not between 0 and 1.
    """
    low, high = _core.prediction_interval(point, replicates, log_ratios, level, extrapolated)
    return Predicted(point, low, high, level, len(log_ratios))


def scores_as_lines(scores: Iterable[Score], silences: Iterable[Silence] = ()) -> str:
    """Scores and silences as JSON lines, the form that `read_scores` and `read_silences` read."""
    items = [*map(asdict, scores), *map(asdict, silences)]
    return "".join(json.dumps(item, sort_keys=True, allow_nan=False) + "\n" for item in items)


def read_scores(path: Path) -> tuple[Score, ...]:
    """The scores of a file of JSON lines, plain or with gzip (`.gz`).

    Raises:
        OSError: it cannot be read.
        ValueError, KeyError, TypeError: a line is neither a score nor a silence.
    """
    return _scores(_lines(path))


def read_silences(path: Path) -> tuple[Silence, ...]:
    """The silences of such a file.

    Raises:
        OSError: it cannot be read.
        ValueError, KeyError, TypeError: a line is neither a score nor a silence.
    """
    return _silences(_lines(path))


@functools.cache
def shipped_record() -> tuple[tuple[Score, ...], tuple[Silence, ...]]:
    """The record that comes with Redolab: the same everywhere; empty where it came without one."""
    with resources.as_file(resources.files("redolab.forecast").joinpath(SHIPPED)) as path:
        lines = _lines(path) if path.exists() else []
    return _scores(lines), _silences(lines)


def _lines(path: Path) -> list[dict[str, Any]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    # Text of a known encoding, since JSON would find it out again for each line.
    return [json.loads(line) for line in content.decode().removesuffix("\n").split("\n")] if content else []


def _scores(lines: Iterable[dict[str, Any]]) -> tuple[Score, ...]:
    return tuple(Score(**item) for item in lines if "reason" not in item)


def _silences(lines: Iterable[dict[str, Any]]) -> tuple[Silence, ...]:
    return tuple(Silence(**item) for item in lines if "reason" in item)

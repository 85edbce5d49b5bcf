"""How true a model's forecasts were before, and what that says of how far the next one can be trusted.

Every verified forecast leaves a `Score` per quantity, and a `Silence` where a model could say nothing. The
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

from redolab.forecast.costs.costs import Calibration, Scenario

LEVEL = 0.90
LARGE_BATCH = 128
SHIPPED = "record_of_grid.jsonl.gz"
"""The record that comes with Redolab, made by `benches/forecast.py`, beside this module."""
PRIOR = 0.15
"""Standard deviation of ln(observed / forecast) that is assumed of a model before it was ever checked."""
PRIOR_WEIGHT = 2
"""How many verified forecasts that assumption counts for."""
EXTRAPOLATED = 2.0
"""How much wider an interval is beyond what was measured. With whole families of settings left out of the
record that intervals were made from, a nominal 90 % covered 62 to 82 %: of normal errors that is too narrow
by 1.2 to 1.9."""


@dataclass(frozen=True)
class Score:
    """One quantity of one forecast beside what was then measured."""

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
    """A model that could say nothing of a setting that was then measured."""

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


def family_of(calibration: Calibration, scenario: Scenario) -> str:  # noqa: ARG001
    """The family of settings that a scenario belongs to: those in which a model errs alike."""
    if scenario.cpu_factor != 1:
        return "CPU factor"
    if scenario.arrival_rate_per_s is not None:
        return "open arrivals"
    if scenario.commit_wait == "nowait":
        return "nowait"
    if scenario.commit_delay_us:
        return "commit delay"
    if scenario.rows_per_commit >= LARGE_BATCH:
        return "large batches"
    return "batches" if scenario.rows_per_commit > 1 else "single rows"


def least_verified(level: float = LEVEL) -> int:
    """Verified forecasts that a conformal interval of this level needs: 9 for 90 %."""
    return next(count for count in range(1, 10_000) if _rank(count, level) <= count)


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

    From `least_verified` earlier forecasts on, split conformal: a factor both ways, the ceil((n + 1)
    level)th smallest of the n earlier |ln(observed / forecast)|. If the next error is exchangeable with the
    earlier ones, it covers with probability `level` at least, and 1 / (n + 1) more at most, whatever their
    distribution. Forecasts checked in one run share its calibration and are less than that: n overstates
    what is known. One factor serves both ways. Two tails of their own would need 19 forecasts for 90 %. And
    the forecast of a model that always errs to one side would lie outside its own interval.

    With fewer, Student's t on the logarithm: the variance is `PRIOR` squared, counted as `PRIOR_WEIGHT`
    forecasts, pooled with the earlier errors squared, and the calibration's variance is added.

    In either case it is never narrower than the same share of the replicates, and `EXTRAPOLATED` times as
    wide on the logarithm beyond what was measured.

    Args:
        point: the forecast.
        replicates: the same forecast from resampled calibrations.
        log_ratios: ln(observed / forecast) of the same model, family and quantity in earlier forecasts.
        level: of the interval, between 0 and 1.
        extrapolated: whether the scenario lies beyond what was measured.

    Raises:
        ValueError: a level that is none.

    Source: Lei et al. (2018), theorem 2.2, for the conformal interval; Gelman et al., Bayesian Data Analysis
    (2013), section 2.6, for the pooled variance. NumPy's order statistics do: no library is needed for them.
    """
    if not 0 < level < 1:
        raise ValueError(f"the level is {level:g}; it must lie between 0 and 1")
    known = len(log_ratios)
    if point <= 0:
        # A share or a time of nothing has no logarithm; what the replicates say is all there is.
        return Predicted(point, min([point, *replicates]), max([point, *replicates]), level, known)
    logs = [math.log(value / point) for value in replicates if value > 0]
    half = (
        _conformal(log_ratios, level) if known >= least_verified(level) else _student(log_ratios, logs, level)
    )
    half *= EXTRAPOLATED if extrapolated else 1.0
    low, high = _middle(logs, level)
    return Predicted(
        point, point * math.exp(min(-half, low)), point * math.exp(max(half, high)), level, known
    )


def scores_as_lines(scores: Iterable[Score], silences: Iterable[Silence] = ()) -> str:
    """Scores and silences as JSON lines, the form that `read_scores` and `read_silences` read."""
    items = [*map(asdict, scores), *map(asdict, silences)]
    return "".join(json.dumps(item, sort_keys=True, allow_nan=False) + "\n" for item in items)


def read_scores(path: Path) -> tuple[Score, ...]:
    """The scores of a file of JSON lines, plain or with gzip (`.gz`).

    Raises:
        OSError: it cannot be read.
        ValueError, KeyError, TypeError: a line is no score and no silence.
    """
    return tuple(Score(**item) for item in _lines(path) if "reason" not in item)


def read_silences(path: Path) -> tuple[Silence, ...]:
    """The silences of such a file.

    Raises:
        OSError: it cannot be read.
        ValueError, KeyError, TypeError: a line is no score and no silence.
    """
    return tuple(Silence(**item) for item in _lines(path) if "reason" in item)


@functools.cache
def shipped_record() -> tuple[tuple[Score, ...], tuple[Silence, ...]]:
    """The record that comes with Redolab: the same everywhere; empty where it came without one."""
    with resources.as_file(resources.files("redolab.forecast").joinpath(SHIPPED)) as path:
        return (read_scores(path), read_silences(path)) if path.exists() else ((), ())


def _lines(path: Path) -> list[dict[str, Any]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.splitlines()]


def _rank(count: int, level: float) -> int:
    """Which of `count` sorted errors bounds the next one; beyond `count` where none does."""
    # (9 + 1) x 0.9 must be 9 however the product is rounded.
    return math.ceil(round((count + 1) * level, 9))


def _conformal(log_ratios: Sequence[float], level: float) -> float:
    return sorted(map(abs, log_ratios))[_rank(len(log_ratios), level) - 1]


def _student(log_ratios: Sequence[float], replicates: Sequence[float], level: float) -> float:
    from scipy.stats import t

    known = PRIOR_WEIGHT + len(log_ratios)
    errors = (PRIOR_WEIGHT * PRIOR**2 + math.fsum(value**2 for value in log_ratios)) / known
    scatter = math.fsum(value**2 for value in replicates) / len(replicates) if replicates else 0.0
    return float(t.ppf((1 + level) / 2, known)) * math.sqrt(errors + scatter)


def _middle(replicates: Sequence[float], level: float) -> tuple[float, float]:
    """Between which the middle share of the replicates lies."""
    if not replicates:
        return 0.0, 0.0
    import numpy as np

    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)

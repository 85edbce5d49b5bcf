"""Scenarios that `--set` and `--sweep` ask about, from text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from redolab.errors import UsageError
from redolab.forecast.costs.costs import FACTORS, Costs, Scenario, parameters

_WHOLE = frozenset({"sessions", "rows_per_commit", "commit_delay_us"})
_WORDS = frozenset({"commit_wait"})


def parse_set(texts: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """Factor to value of every `FACTOR=VALUE`.

    Raises:
        UsageError: the factor does not exist or is named twice, or its value does not fit.
    """
    levels: dict[str, Any] = {}
    for text in texts:
        factor, value = _split(text, option)
        if factor in levels:
            raise UsageError(f"{option} names the factor {factor} twice. Name each factor once.")
        levels[factor] = _value(factor, value, option)
    return levels


def parse_sweep(text: str) -> tuple[str, tuple[Any, ...]]:
    """Factor and levels of `FACTOR=1,2,5`, or of `FACTOR=1..128`: the ends and the powers of two between.

    Raises:
        UsageError: the factor does not exist, or the text is not a list of its levels.
    """
    factor, values = _split(text, "--sweep")
    first, is_range, last = values.partition("..")
    if not is_range:
        levels = [_value(factor, value, "--sweep") for value in values.split(",")]
    elif factor not in _WHOLE:
        raise UsageError(
            f"--sweep {text}: a range is for whole numbers. Name the levels: {factor}=LEVEL,LEVEL."
        )
    else:
        low, high = _value(factor, first, "--sweep"), _value(factor, last, "--sweep")
        if not 0 <= low < high:
            raise UsageError(f"--sweep {text}: a range goes from a smaller number to a greater one.")
        between = [2**power for power in range(int(high).bit_length()) if low < 2**power < high]
        levels = [low, *between, high]
    if len(set(levels)) != len(levels):
        raise UsageError(f"--sweep {text} names a level twice. Name each level once.")
    return factor, tuple(levels)


def changed(scenario: Scenario, factors: Mapping[str, Any]) -> Scenario:
    """The scenario with other levels. With arrivals, sessions do not think, unless that is asked for.

    Raises:
        UsageError: such a scenario cannot exist; the text gives the reason.
    """
    if factors.get("arrival_rate_per_s") is not None:
        factors = {"think_time_ms": 0.0, **factors}
    try:
        return replace(scenario, **factors)
    except ValueError as error:
        raise UsageError(f"That cannot be forecast: {error}.") from error


def known(costs: Costs, scenario: Scenario) -> Scenario:
    """The scenario, where the costs say what it needs.

    Raises:
        UsageError: they do not; the text says why.
    """
    try:
        parameters(costs, scenario)
    except ValueError as error:
        raise UsageError(f"That cannot be forecast: {error}.") from error
    return scenario


def _split(text: str, option: str) -> tuple[str, str]:
    factor, given, value = text.partition("=")
    factor, value = factor.strip(), value.strip()
    if factor not in FACTORS:
        raise UsageError(
            f"{option} {text}: the factor {factor!r} does not exist. The factors are: {', '.join(FACTORS)}."
        )
    if not given or not value:
        raise UsageError(f"{option} {text}: write {factor}=VALUE.")
    return factor, value


def _value(factor: str, text: str, option: str) -> Any:
    if factor in _WORDS:
        return text
    try:
        return int(text) if factor in _WHOLE else float(text)
    except ValueError:
        kind = "whole number" if factor in _WHOLE else "number"
        raise UsageError(f"{option} {factor}={text}: {text!r} is not a {kind}.") from None

"""`redolab experiments`; and which question can be put to which engine, and why not to the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from redolab.console import show
from redolab.engine import OFFERS
from redolab.engine.offer import Offer
from redolab.experiment import EXPERIMENTS
from redolab.experiment.listed.plan import Listed
from redolab.experiment.verify_forecast.plan import VerifyForecast
from redolab.records.capability import Capability

QUESTIONS: Mapping[str, frozenset[Capability]] = {
    **{name: experiment.needs for name, experiment in EXPERIMENTS.items()},
    "--list FILE": Listed.needs,
    "verify-forecast": VerifyForecast.needs,
    "profile": frozenset({"watch"}),
}
"""Capabilities that each needs. Experiments of a list and of a forecast's check are made from a file or a
run."""


def command() -> None:
    """List the experiments."""
    width = max(map(len, EXPERIMENTS))
    for experiment in EXPERIMENTS.values():
        show(f"{experiment.name:<{width}} {experiment.question}")


@dataclass(frozen=True)
class Pair:
    """One question and one engine."""

    question: str
    offer: Offer
    why_not: str | None
    """Why the one cannot be put to the other, one sentence; None where it can."""


def pairs() -> list[Pair]:
    """Every question with every engine, question by question, the engines in the order of `OFFERS`."""
    return [
        Pair(question, offer, offer.why_not(needs))
        for question, needs in QUESTIONS.items()
        for offer in OFFERS
    ]

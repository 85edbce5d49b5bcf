"""What questions need against what engines offer: nothing is left unexplained, and one place has it all."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.commands.matrix import QUESTIONS, pairs
from redolab.engine import OFFERS, check_target, default_engine, engine_choices, find_offer, offers_for
from redolab.engine.offer import Offer
from redolab.errors import UsageError
from redolab.experiment import EXPERIMENTS
from redolab.experiment.listed.plan import listed_experiment
from redolab.experiment.verify_forecast.plan import VerifyForecast
from redolab.records.capability import CAPABILITIES


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.name)
def test_an_engine_says_why_it_lacks_each_capability(offer: Offer) -> None:
    for capability in CAPABILITIES.keys() - offer.capabilities:
        sentence = offer.lacks[capability]
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert sentence.count(".") == 1


def test_every_question_has_an_engine_and_every_engine_a_question() -> None:
    found = pairs()
    works = {(pair.question, pair.offer.name) for pair in found if pair.why_not is None}
    assert {question for question, _ in works} == set(QUESTIONS)
    assert {name for _, name in works} == {offer.name for offer in OFFERS}
    assert len(found) == len(QUESTIONS) * len(OFFERS)


def test_the_questions_that_are_no_experiments_need_what_their_runs_need(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('factors.a = ["1", "2"]\nsql.unit = "select 1"\n')
    assert listed_experiment(file).needs == QUESTIONS["--list FILE"]
    assert VerifyForecast({"a": {}, "b": {}}, "a", "server").needs == QUESTIONS["verify-forecast"]


def test_a_refusal_names_the_engines_and_the_reason_of_the_matrix() -> None:
    targets = {"postgresql": "postgresql://u@h/d", "mysql://": "mysql://u@h/", "oracle": "oracle://u@h/s"}
    for pair in pairs():
        if pair.question not in EXPERIMENTS:
            continue
        needs = EXPERIMENTS[pair.question].needs
        target = targets.get(pair.offer.name, pair.offer.name)
        if pair.why_not is None:
            check_target(pair.question, target, needs)
            continue
        with pytest.raises(UsageError) as refusal:
            check_target(pair.question, target, needs)
        text = str(refusal.value)
        assert text.startswith(f"{pair.question} does not run on {pair.offer.name}, only on ")
        assert text.endswith(pair.why_not)
        for offer in offers_for(needs):
            assert offer.name in text


def test_every_url_and_name_finds_its_engine() -> None:
    for offer in OFFERS:
        assert all(find_offer(choice) is offer for choice in offer.choices)
        assert all(find_offer(f"{scheme}://u@h/") is offer for scheme in offer.schemes)
        assert ("watch" in offer.capabilities) == (offer.observer is not None)
    assert default_engine(EXPERIMENTS["commit-mode"].needs) == "embedded"
    assert engine_choices() == (
        "embedded, mariadb, mysql, sqlite, machine, generator, postgresql://user@host/db, "
        "mysql://user@host/ or oracle://user@host/service"
    )

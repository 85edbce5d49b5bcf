"""A question put to several servers at once: the server is one more factor, inside the same blocks.

The question stays unaware of it. It plans as for one server, and each server gets the settings that it has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from redolab.errors import UsageError
from redolab.experiment.base import Experiment, Levels, Missing, Pilot, Plan, Wish
from redolab.records.load import Amount, Load
from redolab.records.sample import Work
from redolab.records.servers import SERVER, name_on, name_without, without_server


class SideBySideExperiment(Experiment):
    """Another question, with the server as a further factor."""

    def __init__(self, question: Experiment, servers: Mapping[str, Missing], across_tiers: bool) -> None:
        """Put a question to several servers.

        Args:
            question: the question to each server.
            servers: the settings that each does not have, by its name, the first one's first.
            across_tiers: whether settings of servers are compared whose durability tiers differ.

        Raises:
            UsageError: the question's answer compares settings of one server only.
        """
        if not question.side_by_side:
            raise UsageError(
                f"--engine is given {len(servers)} times, but {question.name} compares settings within one "
                "server. Give it once."
            )
        self._question, self._servers, self._across_tiers = question, servers, across_tiers
        self.name, self.question, self.unit = question.name, question.question, question.unit
        self.record, self.needs, self.options = question.record, question.needs, question.options
        self.quick, self.full, self.null_pair = question.quick, question.full, question.null_pair

    def combine(self, wish: Wish, /) -> Mapping[str, Levels]:
        """The question's own settings."""
        return self._question.combine(wish)

    def load(self, wish: Wish, settings: Mapping[str, Levels], /) -> Load:
        """The question's own load, the same on every server."""
        return self._question.load(wish, settings)

    def plan(self, wish: Wish) -> Plan:
        """The question's plan, on every server.

        Raises:
            UsageError: the question cannot be planned so, or a server lacks the baseline.
        """
        return self._beside(self._question.plan(wish))

    def lacking(self, wish: Wish) -> list[str]:
        """The settings of such a plan that a server does not have, and why; each without a full stop."""
        return [
            f"{name_on(server, name)}: {reason}"
            for server, missing in self._servers.items()
            for name, levels in self._question.plan(wish).combinations.items()
            if (reason := missing(levels)) is not None
        ]

    def fit(self, plan: Plan, pilot: Pilot, /) -> Plan:
        """Sizes the load once for all servers, so that every one of them has the same work.

        The pilot of a setting is the one of the slowest server that has it.
        """

        def slowest(setting: str, amount: Amount, levels: Levels | None = None, /) -> Work:
            names = (name_on(server, setting) for server in self._servers)
            works = [pilot(name, amount, levels) for name in names if name in plan.combinations]
            return max(works, key=_unit_s)

        return self._beside(self._question.fit(_apart(plan), slowest))

    def _beside(self, plan: Plan) -> Plan:
        """The plan of one server on all of them."""
        combinations, repeats = {}, {}
        for server, missing in self._servers.items():
            for name, levels in plan.combinations.items():
                if missing(levels) is not None:
                    continue
                combinations[name_on(server, name)] = {SERVER: server, **levels}
                if name in plan.design.repeats:
                    repeats[name_on(server, name)] = plan.design.repeats[name]
        for server, missing in self._servers.items():
            reason = missing(plan.combinations[plan.design.baseline])
            if reason is not None:
                raise UsageError(
                    f"{server} does not have {plan.design.baseline}, the baseline of all comparisons: "
                    f"{reason}."
                )
        design = replace(
            plan.design,
            settings=tuple(combinations),
            baseline=name_on(next(iter(self._servers)), plan.design.baseline),
            repeats=repeats,
            across_tiers=self._across_tiers,
        )
        return replace(plan, design=design, combinations=combinations)


def part_of(plan: Plan, server: str) -> Plan:
    """One server's part of a plan for several: its own settings, under the names that they have there."""
    own = {name: levels for name, levels in plan.combinations.items() if levels[SERVER] == server}
    pair = plan.design.null_pair and plan.design.baseline in own
    return _apart(replace(plan, combinations=own, design=replace(plan.design, null_pair=pair)))


def _apart(plan: Plan) -> Plan:
    """The plan of one server that has every setting, from that of all."""
    own = {name: name_without(levels, name) for name, levels in plan.combinations.items()}
    combinations = {own[name]: without_server(levels) for name, levels in plan.combinations.items()}
    design = replace(
        plan.design,
        settings=tuple(combinations),
        # Every server has it, under the same name.
        baseline=plan.design.baseline.partition("/")[2],
        repeats={own[name]: count for name, count in plan.design.repeats.items() if name in own},
    )
    return replace(plan, design=design, combinations=combinations)


def _unit_s(work: Work) -> float:
    """Time of a unit of work in its session; endless where none was done."""
    return work.session_elapsed_max_s / work.units if work.units else math.inf

"""Workers have the groups in their order, and the third waits for the timed tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from tests.workers import Groups

TIMED = [f"tests/engine/machine/test_machine.py::test_{number}" for number in range(4)]
OTHERS = [f"tests/unit/test_{name}.py::test_{number}" for name in "abcdefgh" for number in range(2)]
EVERY = [*TIMED, *OTHERS]


@dataclass(eq=False)
class Worker:
    """Notes the tests it is given, and has them done when it is told."""

    groups: Groups
    given: list[str] = field(default_factory=list)
    done: int = 0
    shutting_down: bool = False
    gateway: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(id="a worker"))

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += [EVERY[index] for index in indices]

    def shutdown(self) -> None:
        self.shutting_down = True

    def does(self, tests: int) -> None:
        for _ in range(tests):
            self.groups.mark_test_complete(cast("Any", self), EVERY.index(self.given[self.done]))
            self.done += 1


def three() -> tuple[Worker, Worker, Worker]:
    config = SimpleNamespace(
        option=SimpleNamespace(loadscopereorder=False), getvalue=lambda _: ["3*popen"], trace=None
    )
    groups = Groups(cast("Any", config))
    workers = Worker(groups), Worker(groups), Worker(groups)
    for worker in workers:
        groups.add_node(cast("Any", worker))
        groups.add_node_collection(cast("Any", worker), EVERY)
    groups.schedule()
    return workers


def test_two_begin_and_the_third_when_the_timed_tests_are_over() -> None:
    timing, beside, third = three()
    assert timing.given == TIMED
    assert beside.given == OTHERS[:4]
    beside.does(2)
    assert beside.given == OTHERS[:6]
    timing.does(3)
    assert third.given == []
    timing.does(1)
    assert set(third.given).isdisjoint([*timing.given, *beside.given])
    # With one alone it would begin nothing.
    assert len(third.given) > 2


def test_every_test_is_given_once() -> None:
    workers = three()
    while not all(worker.shutting_down for worker in workers):
        for worker in workers:
            worker.does(min(1, len(worker.given) - worker.done))
    assert sorted(test for worker in workers for test in worker.given) == sorted(EVERY)

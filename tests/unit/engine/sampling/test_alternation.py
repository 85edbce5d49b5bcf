"""The sampler on and off in turns, on a server and a sampler made of lists."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from redolab.engine.sampling.alternation import InTurns, SliceMark, on_off, plan
from redolab.records.observation import Observation
from redolab.records.sample import OnOff
from tests.unit.analysis.observations import make_observation


@pytest.mark.parametrize(
    ("load_s", "slices", "slice_s"), [(0.2, 0, 0.0), (0.8, 0, 0.0), (1.0, 4, 0.225), (90.0, 360, 89.9 / 360)]
)
def test_a_load_is_cut_into_pairs_of_about_a_quarter_second_slices(
    load_s: float, slices: int, slice_s: float
) -> None:
    cut = plan(load_s, seed=1)
    assert len(cut.turns) == slices
    assert cut.slice_s == pytest.approx(slice_s)
    if slices:
        assert (cut.edges_s[0], cut.edges_s[-1]) == pytest.approx((0.05, load_s - 0.05))
        assert all(set(cut.turns[first : first + 2]) == {True, False} for first in range(0, slices, 2))


def test_the_order_inside_a_pair_is_drawn_from_the_seed() -> None:
    firsts = Counter(plan(100.0, seed).turns[0] for seed in range(400))
    assert 150 < firsts[True] < 250
    assert plan(10.0, 3) == plan(10.0, 3)
    assert plan(10.0, 3) != plan(10.0, 4)


def test_pairs_worked_out_by_hand() -> None:
    marks = [
        SliceMark(10.0, 1000),
        SliceMark(10.5, 1050),
        SliceMark(11.0, 1150),
        SliceMark(11.25, 1200),
        SliceMark(11.5, 1240),
    ]
    assert on_off([True, False, False, True], marks) == (
        OnOff(pair=1, on_first=True, on_per_s=100.0, off_per_s=200.0),
        OnOff(pair=2, on_first=False, on_per_s=160.0, off_per_s=200.0),
    )
    # The second pair's last edge is missing.
    assert [pair.pair for pair in on_off([True, False, False, True], marks[:4])] == [1]
    assert on_off([True, False], []) == ()


class Listed:
    """A source that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def begin(self) -> Listed:
        self.told.append("begin")
        return self

    def stop(self) -> Observation:
        self.told.append("stop")
        return make_observation(ticks=7)

    def pause(self) -> None:
        self.told.append("pause")

    def resume(self) -> None:
        self.told.append("resume")


class Server:
    """Gives five edges, `step_s` apart on its own clock, with 10 transactions in each slice."""

    def __init__(self, step_s: float) -> None:
        self.edges, self._step_s = 0, step_s
        self.over = threading.Event()

    def mark(self) -> SliceMark:
        self.edges += 1
        if self.edges == 5:
            self.over.set()
        return SliceMark(self._step_s * self.edges, 10 * self.edges)


def test_the_sampler_is_held_in_every_off_slice_and_released_at_the_end() -> None:
    sampler, server, seed = Listed(), Server(step_s=0.1), 5
    with InTurns(sampler.begin, server.mark, 1.0, seed, []) as watch:
        server.over.wait()
    expected, on = ["begin"], True
    for turn in (*plan(1.0, seed).turns, True):
        if turn != on:
            expected.append("resume" if turn else "pause")
        on = turn
    assert sampler.told == [*expected, "stop"]
    assert watch.ticks.rounds == 7
    assert [pair.on_per_s for pair in watch.ticks.pairs] == pytest.approx([100.0, 100.0])
    assert watch.ticks.sampled_s > 0


def test_an_edge_after_the_end_of_the_load_is_not_used() -> None:
    class Late(Server):
        def mark(self) -> SliceMark:
            if self.edges == 2:
                self.over.set()
            return super().mark()

    # The third edge is a whole second after the first: the load of one second may be over.
    sampler, server = Listed(), Late(step_s=0.5)
    with InTurns(sampler.begin, server.mark, 1.0, 5, []) as watch:
        server.over.wait()
    assert server.edges == 3
    assert len(watch.ticks.pairs) == 0
    assert sampler.told.count("pause") == sampler.told.count("resume")


def test_a_lost_connection_ends_the_turns_and_not_the_sampling() -> None:
    over = threading.Event()

    def lost() -> None:
        over.set()

    sampler = Listed()
    with InTurns(sampler.begin, lost, 1.0, 5, []) as watch:
        over.wait()
    assert sampler.told == ["begin", "stop"]
    assert watch.ticks.rounds == 7
    assert watch.ticks.pairs == ()


def test_a_block_that_ends_early_or_is_short_has_no_pairs() -> None:
    for load_s in (0.0, 60.0):
        sampler = Listed()
        with InTurns(sampler.begin, Server(0.1).mark, load_s, 5, []) as watch:
            pass
        assert watch.ticks.pairs == ()
        assert sampler.told == ["begin", "stop"]


def test_where_nothing_can_be_watched_the_turns_go_on_without_ticks() -> None:
    server = Server(step_s=0.1)
    with InTurns(lambda: None, server.mark, 1.0, 5, []) as watch:
        server.over.wait()
    assert watch.ticks.rounds == 0
    assert len(watch.ticks.pairs) == 2

"""The bars of a response time: what looks alike is one thing."""

from __future__ import annotations

from redolab.report.page.time_bars import Divided, bars


def test_one_wait_in_the_words_of_two_servers_stands_once_in_the_legend() -> None:
    def divided(name: str, event: str) -> Divided:
        parts = {"on_cpu": 0.25, event: 0.5, "Lock:row": 0.25}
        shares = {row: {"point": part, "low": part, "high": part} for row, part in parts.items()}
        return Divided(name, "2 ms", 2.0, shares)

    commit, handler = "Stage:commit", "Stage:waiting for handler commit"
    one, two = divided("a", commit), divided("b", handler)
    drawn = bars([one, two], ["on_cpu", commit, handler, "Lock:row"])
    assert drawn is not None
    assert [name for _, name in drawn.legend] == ["on CPU", "log sync in commit", "row lock"]
    looks = [{segment.title.split(" (")[0]: segment.look for segment in bar.segments} for bar in drawn.bars]
    assert looks[0]["log sync in commit"] == looks[1]["log sync in commit"] != looks[0]["row lock"]

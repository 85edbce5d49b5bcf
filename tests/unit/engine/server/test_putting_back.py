"""What is put back, what is left to a colleague, and what is said of each."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

import pytest

from redolab.engine.server.kept import Changed, Kept
from redolab.engine.server.putting_back import ServerParameters, put_back


class FakeServer(ServerParameters):
    """Parameters in a dictionary; some refuse, and some take a value without keeping it."""

    errors = (KeyError,)

    def __init__(self, values: Mapping[str, str], refuses: str = "", forgets: str = "") -> None:
        self.values = dict(values)
        self._refuses, self._forgets = refuses, forgets
        self.put_names: list[str] = []

    def seen(self, changed: Collection[Changed]) -> Mapping[str, str | None]:
        return {one.name: self.values[one.name] for one in changed}

    def put(self, one: Changed) -> None:
        if one.name == self._refuses:
            raise KeyError("access denied")
        self.put_names.append(one.name)
        if one.name != self._forgets:
            assert one.before is not None
            self.values[one.name] = one.before

    def same(self, one: str | None, other: str | None) -> bool:
        return one == other

    def statement(self, one: Changed) -> str:
        return f"SET {one.name} = {one.value};"

    def words(self, error: Exception) -> str:
        return str(error.args[0])


CHANGED = (Changed("a", "1", "1", ("0", "2")), Changed("b", "5", "5", ("9",)))


def test_what_is_the_runs_is_put_back_and_what_is_as_before_is_not_touched() -> None:
    server = FakeServer({"a": "2", "b": "5"})
    done = put_back(server, CHANGED)
    assert server.put_names == ["a"]
    assert server.values == {"a": "1", "b": "5"}
    assert done.restored == {"a": "1"}
    assert (done.left, done.others, done.sentences) == ({}, {}, ())


def test_what_somebody_else_set_is_left_and_named() -> None:
    server = FakeServer({"a": "7", "b": "9"})
    done = put_back(server, CHANGED)
    assert server.values == {"a": "7", "b": "5"}
    assert done.restored == {"b": "5"}
    assert done.others == {"a": "7"}
    (told,) = done.sentences
    assert "Somebody else set a to 7" in told
    assert "SET a = 1;" in told


def test_what_cannot_be_put_back_is_named_with_its_statement() -> None:
    server = FakeServer({"a": "0", "b": "9"}, refuses="a")
    done = put_back(server, CHANGED)
    assert done.restored == {"b": "5"}
    assert done.left == {"a": "access denied"}
    (told,) = done.sentences
    assert "SET a = 1;" in told
    assert "SET b" not in told


def test_what_was_not_read_back_does_not_count_as_restored() -> None:
    done = put_back(FakeServer({"a": "0", "b": "9"}, forgets="b"), CHANGED)
    assert done.restored == {"a": "1"}
    assert done.left == {"b": "it is still 9"}


def test_a_server_that_cannot_be_read_leaves_everything_in_doubt() -> None:
    done = put_back(FakeServer({"a": "0"}), CHANGED)
    assert done.restored == {}
    assert set(done.left) == {"a", "b"}


def test_where_the_runs_values_are_not_known_any_value_may_be_its_own() -> None:
    server = FakeServer({"a": "7"})
    done = put_back(server, [Changed("a", "1", "1")])
    assert server.values == {"a": "1"}
    assert done.restored == {"a": "1"}


@pytest.mark.parametrize("values", [("2",), ("2", "0", "2")])
def test_what_is_kept_survives_the_guards_pipe(values: tuple[str, ...]) -> None:
    kept = Kept(mark="f" * 32, made="1234", teardown="drop table a", sessions=(3, 4))
    for value in values:
        kept = kept.changing("a", "1", None, value)
    assert kept.changed == (Changed("a", "1", None, values[-2:]),)
    assert Kept.from_json(json.loads(json.dumps(kept.as_json()))) == kept


def test_values_that_differ_in_the_case_of_letters_alone_are_told_apart() -> None:
    """Two levels of a parameter that is text; and one that the server writes in its own case."""
    server = Careless({"a": "up", "b": "ON"})
    done = put_back(server, [Changed("a", "Up", "Up", ("up",)), Changed("b", "on", "on", ("off",))])
    assert server.values == {"a": "Up", "b": "ON"}
    assert done.restored == {"a": "Up"}
    assert done.sentences == ()


class Careless(FakeServer):
    """Takes no notice of the case of letters, as databases do with their own words."""

    def same(self, one: str | None, other: str | None) -> bool:
        return (one or "").lower() == (other or "").lower()


def test_what_a_restart_took_from_the_configuration_is_left_and_named() -> None:
    server = FakeServer({"a": "0", "b": "5"})
    done = put_back(server, CHANGED, restarted=True)
    assert server.values == {"a": "0", "b": "5"}
    assert done.restored == {}
    assert done.sentences == (
        "The server was restarted, and its configuration sets a to 0. Redolab leaves that value as it is. "
        "Before the run the value was 1; SET a = 1; sets the old value again.",
    )


KEPT = Kept(
    mark="f" * 32, changed=(Changed("a", "1", None, ("2",)),), sessions=(3,), server="it", started=5
).as_json()


@pytest.mark.parametrize(
    "damage",
    [
        {"mark": None}, {"mark": ["a"]}, {"made": 5}, {"teardown": ["x"]}, {"started": "x"},
        {"started": True}, {"sessions": ["1"]}, {"sessions": None}, {"settled": "abc"}, {"settled": [1]},
        {"server": None},
        {"changed": {}}, {"changed": None}, {"changed": "abc"}, {"changed": [7]},
        *({"changed": [{**KEPT["changed"][0], **wrong}]} for wrong in (
            {"name": 7}, {"name": None}, {"value": None}, {"before": 5}, {"ours": [1, None]}, {"ours": "off"},
        )),
        {"changed": [{}]},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_note_is_not_taken_for_one(damage: dict[str, object]) -> None:
    assert Kept.from_json(json.loads(json.dumps(KEPT))).changed
    with pytest.raises(ValueError, match="is no"):
        Kept.from_json(json.loads(json.dumps({**KEPT, **damage})))


def test_what_is_settled_comes_back_from_no_other_note() -> None:
    kept = Kept(changed=CHANGED).settling(["a"])
    assert kept.changed == CHANGED[1:]
    again = kept.joined(Kept(changed=(*CHANGED, Changed("c", "1", "1")), teardown="drop table a"))
    assert [one.name for one in again.changed] == ["b", "c"]
    assert again.teardown == "drop table a"

"""The user's own experiment: what a file may say, and where it is told to be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.errors import UsageError
from redolab.experiment.base import Wish
from redolab.experiment.listed.file import read_list
from redolab.experiment.listed.plan import listed_experiment
from redolab.records.list_texts import before_place, place_in_file, with_levels
from redolab.records.load import Script

GOOD = """\
name = "index"
unit = "order"
baseline = "btree/1"

[factors]
index = ["none", "btree"]
rows = [1, 10]

[run]
sessions = 3
seconds = 0.5

[sql]
setup = \"\"\"
create table t (x int)\"\"\"
unit = "insert into t select generate_series(1, :'rows'::int)"
settle = "truncate t"

[levels.index.btree]
enter = "create index on t (x)"
parameters = { work_mem = "1MB", jit = false, random_page_cost = 1.5 }
"""


def write(place: Path, text: str) -> Path:
    file = place / "mine.toml"
    file.write_text(text)
    return file


def test_a_file_becomes_a_plan(tmp_path: Path) -> None:
    experiment = listed_experiment(write(tmp_path, GOOD))
    plan = experiment.plan(Wish(quick=True, seed=1))
    assert list(plan.combinations) == ["none/1", "none/10", "btree/1", "btree/10"]
    assert plan.design.baseline == "btree/1"
    assert (plan.design.seconds, plan.design.warmup_s, plan.design.blocks) == (0.5, 0.3, 10)
    assert isinstance(plan.load, Script)
    assert plan.load.sessions == 3
    assert plan.load.parameters({"index": "none", "rows": "1"}) == {}
    assert plan.load.parameters({"index": "btree", "rows": "1"}) == {
        "work_mem": "1MB", "jit": "off", "random_page_cost": "1.5",
    }  # fmt: skip


def test_a_search_path_is_for_the_unit_of_work_alone(tmp_path: Path) -> None:
    text = GOOD.replace("[levels.index.btree]", "[levels.index.none]\nparameters = { search_path = 'old' }\n"
                        "[levels.index.btree]")  # fmt: skip
    load = listed_experiment(write(tmp_path, text)).plan(Wish(quick=True, seed=1)).load
    assert isinstance(load, Script)
    none, btree = {"index": "none", "rows": "1"}, {"index": "btree", "rows": "1"}
    assert (load.search_path(none), load.search_path(btree)) == ("old", "redolab, public")
    assert "search_path" not in load.parameters(none)


def test_the_options_win_over_the_file(tmp_path: Path) -> None:
    experiment = listed_experiment(write(tmp_path, GOOD))
    plan = experiment.plan(Wish(sessions=(7,), seconds=2.0, blocks=4, settings=("none/1", "none/10")))
    assert (plan.load.sessions, plan.design.seconds, plan.design.blocks) == (7, 2.0, 4)
    assert plan.design.baseline == "none/1"


TWO = 'factors.a = ["1", "2"]\n'


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("factors = [", "", "not valid TOML: "),
        ("", ":1:1", "has no [factors]"),
        (TWO, ":1:1", "has no [sql]"),
        ("factors = 3\nsql.unit = 'x'", ":1:11", "factors must be a table"),
        (
            "colour = 'blue'\n" + TWO + "sql.unit = 'x'",
            ":1:11",
            "'colour' is not a key that Redolab knows here",
        ),
        ("[factors]\n[sql]\nunit = 'x'", ":1:1", "is empty"),
        ("factors.a = []\nsql.unit = 'x'", ":1:13", "must be a list of levels"),
        ("factors.a = ['1']\nsql.unit = 'x'", "", "so nothing can be compared"),
        ("factors.a = ['1', '1']\nsql.unit = 'x'", ":1:20", "must not be empty, occur twice"),
        ("factors.a = ['1', '2/3']\nsql.unit = 'x'", ":1:20", "must not be empty, occur twice"),
        ("factors.a = ['1', ['2']]\nsql.unit = 'x'", ":1:19", "must be text or a number"),
        ("factors.'a b' = ['1', '2']\nsql.unit = 'x'", ":1:17", "must be a name of letters"),
        (TWO + "sql.setup = 'x'", "", "has no unit"),
        (TWO + "sql.unit = '  '", "", "has no unit"),
        (TWO + "sql.unit = 3", ":2:12", "SQL must be text"),
        (TWO + "sql.unit = 'x'\nsql.units = 'x'", ":3:14", "'units' is not a key that Redolab knows here"),
        (TWO + "sql.unit = \"select :'b'\"", ":2:20", ":'b' does not name a factor; the factors are: a"),
        (TWO + 'sql.unit = """\nselect 1,\n  :\'b\'"""', ":4:3", "does not name a factor"),
        (TWO + "sql.unit = 'x'\nrun.sessions = 0", ":3:16", "must be greater than 0"),
        (TWO + "sql.unit = 'x'\nrun.sessions = 1.5", ":3:16", "must be a whole number"),
        (TWO + "sql.unit = 'x'\nrun.seconds = true", ":3:15", "must be a number"),
        (TWO + "sql.unit = 'x'\nrun.seconds = nan", "", "nan is not finite"),
        (TWO + "sql.unit = 'x'\nrun.seconds = 0.0", ":3:15", "must be greater than 0"),
        (TWO + "sql.unit = 'x'\nrun.sessions = 1001", ":3:16", "must be at most 1,000"),
        (TWO + "sql.unit = 'x'\nrun.sessions = 1000000000000", ":3:16", "must be at most 1,000"),
        (TWO + "sql.unit = 'x'\nrun.blocks = 10001", ":3:14", "must be at most 10,000"),
        (TWO + "sql.unit = 'x'\nrun.seconds = 86401.0", ":3:15", "must be at most 86,400"),
        (TWO + "sql.unit = 'x'\nrun.warmup_s = 1e300", ":3:16", "must be at most 86,400"),
        (TWO + "sql.unit = 'x'\nquestion = '" + 1001 * "x" + "'", ":3:13", "more than 1,000 characters"),
        ("factors.a = ['1', '" + 201 * "x" + "']\nsql.unit = 'x'", ":1:20", "more than 200 characters"),
        (TWO + "sql.unit = 'x'\nbaseline = '3'", ":3:13", "the list has no setting '3'"),
        (TWO + "sql.unit = 'x'\nlevels.b.1.enter = 'x'", ":3:8", "'b' is not a key that Redolab knows here"),
        (
            TWO + "sql.unit = 'x'\n[levels.a.3]\nenter = 'x'",
            ":3:1",
            "'3' is not a key that Redolab knows here",
        ),
        (
            TWO + "sql.unit = 'x'\nlevels.a.1.leve = 'x'",
            ":3:20",
            "'leve' is not a key that Redolab knows here",
        ),
        (TWO + "sql.unit = 'x'\nlevels.a.1.parameters = 3", ":3:25", "parameters must be a table"),
        (TWO + "sql.unit = 'x'\nlevels.a.1.parameters.x = [1]", ":3:27", "must be text or a number"),
    ],
)
def test_what_is_wrong_is_said_with_line_and_column(text: str, where: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        read_list(write(tmp_path, text))
    assert f"mine.toml{where}" in str(raised.value)
    assert said in str(raised.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_list(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="is a directory"):
        read_list(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'name = "caf\xe9"')
    with pytest.raises(UsageError, match="not UTF-8"):
        read_list(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("".join(f"factors.f{n} = {[*range(10)]}\n" for n in range(12)), "more than 1,000 settings"),
        ("".join(f"factors.f{n} = [1, 2]\n" for n in range(20_000)), "more than 1,000 settings"),
        (f"factors.a = [1, {'9' * 400}]\n", "a whole number of 400 digits|too large for 64 bits"),
        (f"factors.a = [1, {'9' * 5000}]\n", "5000 digits|too large for 64 bits|4300"),
        (f"factors.a = [1, 2]\nrun.blocks = {'9' * 400}\n", "too large for 64 bits|at most"),
        ("factors.a = [1, 2]\nlevels = " + 3000 * "[" + 3000 * "]" + "\n", "are nested inside one another"),
        (
            "factors.a = [1, 2]\nlevels." + ".".join(3000 * "a") + " = 1\n",
            "inside one another|not valid TOML",
        ),
        ("factors.a = [1, 2]\nquestion = '" + (2 << 20) * "x" + "'\n", "more than"),
    ],
    ids=["product", "factors", "digits", "many_digits", "blocks", "arrays", "keys", "text"],
)
def test_what_would_never_end_or_has_no_bounds_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        read_list(write(tmp_path, text + "sql.unit = 'x'\n"))
    assert "mine.toml" in str(raised.value)
    assert len(str(raised.value)) < 1000


def test_as_many_settings_as_there_may_be(tmp_path: Path) -> None:
    text = "".join(f"factors.f{n} = {[*range(10)]}\n" for n in range(3))
    single = "".join(f"factors.g{n} = [1]\n" for n in range(1200))
    experiment = listed_experiment(write(tmp_path, text + single + "sql.unit = 'x'\n"))
    assert len(experiment.plan(Wish(quick=True, seed=1)).combinations) == 1000
    with pytest.raises(UsageError, match="10,000 blocks of 1,000 settings need 10,010,000 samples"):
        experiment.plan(Wish(quick=True, seed=1, blocks=10_000))


def quote(level: str) -> str:
    return f"<{level}>"


def test_levels_go_into_sql_quoted_and_places_come_back() -> None:
    text = "select :'long', :\"n\",\n  wrong"
    levels = {"long": "a level", "n": "b"}
    filled = with_levels(text, levels, quote, quote)
    assert filled == "select <a level>, <b>,\n  wrong"
    before = before_place(text, levels, quote, quote, filled.index("wrong"))
    assert before == text[: text.index("wrong")]
    assert before_place(text, levels, quote, quote, filled.index("level>")) == "select "
    assert place_in_file("f", {"sql.unit": (5, 9)}, "sql.unit", before) == "f:6:3"
    assert place_in_file("f", {"sql.unit": (5, 9)}, "sql.unit", "select ") == "f:5:16"
    assert place_in_file("f", {"sql": (5, 1)}, "sql.unit.deeper") == "f:5:1"

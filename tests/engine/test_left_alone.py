"""A level that brings no parameter is measured without the one that another level brings."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from redolab import open_run
from tests.servers import in_this_process

LIST = """
factors.memory = ["more", "usual"]
sql.unit = "select :'memory'"
levels.memory.more.parameters = {{ {name} = "{value}" }}
"""


@pytest.fixture
def place() -> Iterator[Path]:
    # The path of a socket may be no longer than 107 bytes.
    made = Path(tempfile.mkdtemp(prefix="redolab-left-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize(
    ("engine", "name", "value"),
    [("embedded", "work_mem", "64MB"), ("mariadb", "sort_buffer_size", "4194304")],
)
def test_a_parameter_goes_back_between_settings(place: Path, engine: str, name: str, value: str) -> None:
    (place / "list.toml").write_text(LIST.format(name=name, value=value))
    done = in_this_process(
        place, "run", "--list", "list.toml", "--engine", engine, "--blocks", "2", "--seconds", "0.1",
        "--sessions", "1", "--out", "run", environment={"XDG_CACHE_HOME": str(place / "cache")},
    )  # fmt: skip
    assert done.code == 0, done.err
    manifest = open_run(place / "run").manifest
    now = before = {name: manifest["parameter_changes"][0]["before"]}
    changes = [(it["setting"], {it["parameter"]: it["after"]}) for it in manifest["parameter_changes"]]
    for trial in manifest["order"]:
        if changes and changes[0][0] == trial["setting"]:
            now = changes.pop(0)[1]
        assert now == ({name: value} if trial["setting"] == "more" else before)

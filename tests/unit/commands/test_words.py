"""The words after a command: an experiment, engines, URLs, and names that the user gave to servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.commands.targets.engines import experiment_and_engines, named_targets
from redolab.commands.targets.named import server_of
from redolab.errors import UsageError
from redolab.files.places import config_directory
from redolab.likely import did_you_mean

URL = "postgresql://app@db1/shop"


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config_directory() == tmp_path / "redolab"
    config_directory().mkdir()
    return config_directory() / "config.toml"


def write(config: Path, text: str, mode: int = 0o600) -> None:
    config.write_text(text)
    config.chmod(mode)


@pytest.mark.parametrize(
    ("words", "engines", "found"),
    [
        (["commit-mode"], [], ("commit-mode", ())),
        (["commit-mode", URL], [], ("commit-mode", (URL,))),
        ([URL, "commit-mode"], [], ("commit-mode", (URL,))),
        ([URL, None], [], (None, (URL,))),
        (["commit-mode", "old=embedded", "mariadb"], ["sqlite"],
         ("commit-mode", ("old=embedded", "mariadb", "sqlite"))),
    ],
)  # fmt: skip
def test_words_are_told_apart_by_what_they_are(
    words: list[str | None], engines: list[str], found: object, config: Path
) -> None:
    assert experiment_and_engines(words, engines) == found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["comit-mode"], "no experiment 'comit-mode'. Did you mean 'commit-mode'?"),
        (["COMMIT_MODE", URL], "Did you mean 'commit-mode'?"),
        (["embeded"], "no experiment 'embeded'. Did you mean 'embedded'?"),
        (["commit-mode", "embeded"], "Unknown engine 'embeded'. Did you mean 'embedded'?"),
        (["commit-mode", "stagging"], "Unknown engine 'stagging'. Did you mean 'staging'?"),
        (["commit-mode", "durability"], "Name only one of commit-mode, durability"),
        (["xyzzy"], "no experiment 'xyzzy'. It has: commit-mode,"),
    ],
)
def test_a_wrong_word_is_answered_by_the_likely_right_one(words: list[str], said: str, config: Path) -> None:
    write(config, f'[servers]\nstaging = "{URL}"\n')
    with pytest.raises(UsageError, match=said.replace("?", r"\?")):
        experiment_and_engines(words, [])


def test_nothing_is_likely_where_nothing_is_similar() -> None:
    assert did_you_mean("qqqq", ["commit-mode"]) == ""


def test_a_server_has_the_name_that_the_user_gave_it(config: Path) -> None:
    other = "mysql://app@db2/"
    write(config, f'[servers]\nprod = "{URL}"\nshop = "{other}"\n')
    assert server_of("prod") == URL
    assert server_of("nowhere") == "nowhere"
    assert experiment_and_engines(["commit-mode", "prod"], []) == ("commit-mode", ("prod",))
    assert named_targets(["prod"]) == {"postgresql": URL}
    assert named_targets(["prod", "new=shop", "embedded"]) == {
        "prod": URL,
        "new": other,
        "embedded": "embedded",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[servers]\nprod = "postgresql://app:secret@db1/shop"\n', "of 'prod' has a password in it"),
        ('[servers]\nprod = "postgresql://app@db1/shop?password=secret"\n', "has a password in it"),
        ('[servers]\nembedded = "postgresql://app@db1/shop"\n', "is an engine of Redolab's"),
        ('[servers]\nprod = "db1"\n', "'prod' has no URL"),
        ("[servers.prod]\nurl = 1\n", "'prod' has no URL"),
        ('servers = "x"\n', "servers is not a table"),
        ("[servers\n", "config.toml"),
    ],
)
def test_a_config_that_cannot_be_used_is_refused_without_its_password(
    text: str, said: str, config: Path
) -> None:
    write(config, text)
    with pytest.raises(UsageError, match=said) as refused:
        server_of("prod")
    assert "secret" not in str(refused.value)
    # What needs no name is not held up by it.
    assert server_of(URL) == URL


def test_a_config_that_others_may_write_is_refused(config: Path) -> None:
    write(config, f'[servers]\nprod = "{URL}"\n', mode=0o666)
    with pytest.raises(UsageError, match="Another user may write"):
        server_of("prod")

"""The Containerfile and the compose file, read: neither ran here, so what holds without running is tested."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.containerfile import ContainerfileError, instructions, run_lines

ROOT = Path(__file__).parents[2]
CONTAINERFILE = ROOT / "Containerfile"
COMPOSE: dict[str, Any] = YAML(typ="safe", pure=True).load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DATABASES = {name: service for name, service in SERVICES.items() if name != "redolab"}
# A value that is filled in from outside, or a file: never what somebody could log in with.
FILLED_IN = re.compile(r"\$\{[A-Z_]+:-\}|/run/secrets/\w+")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "Containerfile"
    path.write_text(text)
    return path


def test_run_lines_are_those_of_the_last_stage(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "# RUN not this\nFROM one AS first\nRUN gcc\nFROM two\n"
        "run  one \\\n  # a word\n\n   && two \\\n&& three\n"
        "COPY a /b\nUSER 5\nRUN echo \"a  b\" '#c'\n",
    )
    assert run_lines(path) == ["one && two && three", "echo \"a  b\" '#c'"]
    assert instructions(path)[-2:] == [("USER", "5"), ("RUN", "echo \"a  b\" '#c'")]
    assert run_lines(written(tmp_path, "FROM one\nCOPY a /b\n")) == []


@pytest.mark.parametrize(
    "text",
    [
        "FROM one\nRUN --mount=type=cache,target=/x make\n",
        'FROM one\nRUN ["make", "x"]\n',
        "FROM one\nRUN <<EOF\nmake\nEOF\n",
        'FROM one\nSHELL ["/bin/bash", "-c"]\nRUN make\n',
        "FROM one\nRUN make \\\n",
        "FROM one\nRUN\n",
    ],
)
def test_what_would_run_otherwise_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ContainerfileError):
        run_lines(written(tmp_path, text))


def test_the_containerfile_runs_as_a_user_without_rights_and_has_no_compiler() -> None:
    names = [name for name, _ in instructions(CONTAINERFILE)]
    words = dict(instructions(CONTAINERFILE))
    assert names.count("FROM") == 1
    assert re.fullmatch(r"docker\.io/library/debian:13-slim@sha256:[0-9a-f]{64}", words["FROM"])
    # By number, so that a machine can see that it is not root.
    assert int(words["USER"]) > 0
    assert names.index("USER") > max(place for place, name in enumerate(names) if name == "RUN")
    assert words["VOLUME"] == "/runs"
    commands = run_lines(CONTAINERFILE)
    for command in commands:
        assert subprocess.run(("sh", "-n", "-c", command), check=False).returncode == 0, command
    installed = next(shlex.split(it) for it in commands if "apt-get install" in it)
    assert not {"gcc", "g++", "cargo", "build-essential", "python3-dev", "make"} & set(installed)
    # A package without a wheel would need one.
    assert (
        [it for it in commands if "pip install" in it]
        == [it for it in commands if "--only-binary :all:" in it]
        != []
    )
    # What the user could not write to, Redolab would.
    variables = dict(it.split("=", 1) for it in shlex.split(words["ENV"]))
    assert {variables["XDG_CACHE_HOME"], variables["XDG_DATA_HOME"]} <= {"/runs/.cache", "/runs/.local"}


def test_only_wheels_come_into_the_image() -> None:
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert kept == ["dist", "dist/*.whl"]


def test_there_is_a_server_of_each_database() -> None:
    assert list(DATABASES) == ["postgres", "mariadb", "mysql", "oracle"]


@pytest.mark.parametrize("name", DATABASES)
def test_a_server_can_be_reached_from_here_alone(name: str) -> None:
    service = DATABASES[name]
    assert service["ports"]
    for port in service["ports"]:
        assert re.fullmatch(r"127\.0\.0\.1:\d{5}:\d{4}", port), port
    assert "network_mode" not in service
    assert "privileged" not in service
    assert set(service["networks"]) == {"lab", "ports"}
    ports = [it["ports"][0].split(":")[1] for it in DATABASES.values()]
    assert len(set(ports)) == len(ports)


def test_redolab_reaches_the_servers_and_nothing_else() -> None:
    service = SERVICES["redolab"]
    assert COMPOSE["networks"]["lab"] == {"internal": True}
    assert service["networks"] == ["lab"]
    assert "ports" not in service
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["build"]["dockerfile"] == CONTAINERFILE.name


def variables() -> Iterator[tuple[str, str | None]]:
    for service in SERVICES.values():
        found = service.get("environment", {})
        yield from found.items() if isinstance(found, dict) else ((it, None) for it in found)


def test_no_password_is_written_down() -> None:
    about = [(name, value) for name, value in variables() if re.search("PASS|PWD|SECRET", name)]
    assert len(about) >= 7
    for name, value in about:
        # Without a value it is that of the shell.
        assert value is None or FILLED_IN.fullmatch(value), name
        assert "=" not in name
    assert COMPOSE["secrets"] == {"password": {"file": "${REDOLAB_PASSWORD_FILE:-./database-password}"}}
    assert "/database-password" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize("name", DATABASES)
def test_a_server_has_a_version_a_check_and_a_disk(name: str) -> None:
    service = DATABASES[name]
    assert service["profiles"] == [name]
    image = service["image"]
    if name == "oracle":
        # Its licence is the user's to accept.
        assert re.fullmatch(r"\$\{REDOLAB_ORACLE_IMAGE:-localhost/[a-z-]+:none\}", image)
    else:
        assert re.fullmatch(rf"docker\.io/library/{name}:\d+(\.\d+)?", image)
    check = service["healthcheck"]
    assert check["test"][0] in ("CMD", "CMD-SHELL")
    assert check["retries"] * int(check["interval"].rstrip("s")) >= 300
    (volume,) = service["volumes"]
    assert volume.split(":")[0] in COMPOSE["volumes"]

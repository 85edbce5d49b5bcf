"""What a Containerfile runs, for a machine that executes it without being an image."""

from __future__ import annotations

import re
from pathlib import Path

_INSTRUCTION = re.compile(r"([A-Za-z]+)\s+(.+)", re.DOTALL)


class ContainerfileError(Exception):
    """The file has what this reader does not know, so what it would run is not known."""


def instructions(path: Path) -> list[tuple[str, str]]:
    """Every instruction with its words: continued lines are joined, comments left out.

    Raises:
        ContainerfileError: a line is no instruction, or a here-document begins.
    """
    found = []
    for line in _logical_lines(path.read_text()):
        match = _INSTRUCTION.fullmatch(line)
        if match is None:
            raise ContainerfileError(f"{path.name}: no instruction: {line}")
        if re.search(r"<<-?['\"]?[A-Za-z_]", match[2]):
            raise ContainerfileError(f"{path.name}: here-documents are not read: {line}")
        found.append((match[1].upper(), match[2].strip()))
    return found


def run_lines(path: Path) -> list[str]:
    """The commands of the last stage's RUN lines, each for `sh -c`, in their order.

    Raises:
        ContainerfileError: it has what is not known here: options of RUN, its form of a list, another shell.
    """
    commands: list[str] = []
    for name, words in instructions(path):
        if name == "FROM":
            commands = []
        elif name == "SHELL":
            raise ContainerfileError(f"{path.name}: another shell than sh: {words}")
        elif name == "RUN":
            if words.startswith(("--", "[")):
                raise ContainerfileError(f"{path.name}: this form of RUN is not known: {words}")
            commands.append(words)
    return commands


def _logical_lines(text: str) -> list[str]:
    lines, under_way = [], ""
    for line in text.splitlines():
        bare = line.strip()
        # Among continued lines as well: a comment ends nothing, and an empty line neither.
        if not bare or bare.startswith("#"):
            continue
        if bare.endswith("\\"):
            under_way += bare[:-1].rstrip() + " "
            continue
        lines.append(under_way + bare)
        under_way = ""
    if under_way:
        raise ContainerfileError(f"the last line goes on: {under_way}")
    return lines

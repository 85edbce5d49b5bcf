"""The documentation as the tests read it: pages, fenced blocks, links, `redolab` commands, tables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: Path
    language: str
    text: str


@dataclass(frozen=True)
class Step:
    """A command of a `console` block, and the output shown under it."""

    page: Path
    words: tuple[str, ...]
    """Without the leading `redolab`."""
    output: str

    @property
    def compared(self) -> str | None:
        """What the command must print, to the letter; None where the page shows none of it, or a part."""
        output = self.output.strip()
        return output if output and "..." not in output else None

    @property
    def shows_a_beginning(self) -> bool:
        """Whether how its output begins is not compared already with all of it."""
        return bool(self.output.partition("...")[0].strip()) and (
            self.compared is None or "--out" in self.words
        )

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}: redolab {' '.join(self.words)}"


def blocks(page: Path) -> list[Block]:
    return [Block(page, found[1], found[2]) for found in _FENCE.finditer(page.read_text())]


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", page.read_text())


def steps() -> list[Step]:
    """Every command of every `console` block."""
    found = []
    for page in PAGES:
        for block in blocks(page):
            if block.language == "console":
                for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                    command, _, output = part.partition("\n")
                    words = shlex.split(command, comments=True)
                    assert words[0] == "redolab", f"{page}: a console block runs {words[0]}"
                    found.append(Step(page, tuple(words[1:]), output))
    return found


def commands() -> Iterator[tuple[Path, list[str]]]:
    """Every line that starts with `redolab`, in blocks and in inline code, as words."""
    for page in PAGES:
        lines = [line.removeprefix("$ ") for block in blocks(page) for line in block.text.splitlines()]
        lines += [code for code in _INLINE.findall(prose(page)) if "..." not in code]
        for line in lines:
            if re.match(r"redolab( |$)", line):
                yield page, shlex.split(line, comments=True)[1:]


def links(page: Path) -> list[str]:
    return _LINK.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """The anchors that headings make, as code hosts do."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def inline_code(page: Path) -> set[str]:
    return set(_INLINE.findall(prose(page)))


def tables(page: Path) -> list[list[list[str]]]:
    """Every table as rows of cells, without the line of dashes."""
    found: list[list[list[str]]] = []
    inside = False
    for line in prose(page).splitlines():
        row = line.startswith("|")
        if row and not inside:
            found.append([])
        if row and not set(line) <= set("|- "):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        inside = row
    return found

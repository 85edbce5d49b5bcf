"""Phrases that a reader has to read twice, and where they are in the texts of the project.

`python -m tests.docs.words [PATH ...]` lists them, of all texts or of those below the paths.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import ROOT

NOTES = {
    "opens without its noun": r"\A(?:Of|Those|That of|The same of|What|Who(?:ever)?)\b(?!.*\?\s*\Z)",
}
"""What no docstring, note or comment may open with."""

ANYWHERE = {
    "is no X": (
        r"(?<![Tt]here )\b(?:is|are|was|were|be) "
        r"(?:no(?! (?:longer|more|less|better|worse|earlier|later)\b)|none)\b"
    ),
    "has none": r"\b(?:has|have|had) none\b",
    "taken for": (
        r"\b(?:take|takes|took|taken|taking)(?: \w+){0,3} "
        r"(?:for (?:a|an|the|its|their|what)|to be|as (?:a|an|the|its|their|if|what))\b"
    ),
    "tells, is told": r"\b(?:tells?|told|telling)\b",
    "stands": r"\b(?:stands?|stood|standing)\b",
    "beside": r"\bbesides?\b",
    "who": (
        r"\b(?:session|processe?|server|client|transaction|commit|program|writer|database)s? who\b"
    ),
}
"""What no text may hold."""

USER = {
    "opens without its noun": r"(?:\A|[.:!] )(?:Of|Those|That of|The same of|Who(?:ever)?)\b(?![^.]*\?)",
    "says": r"(?<!as it )\b(?:says?|said)\b",
    "a sentence made of a predicate": r"\b[Tt]here is \{\}",
}
"""What no sentence may hold that a user reads."""


@dataclass(frozen=True)
class Text:
    """A text of the project."""

    place: str
    line: int
    words: str
    """With `{}` for what a program puts in."""
    kind: str
    """`user` where users read it, `note` for docstrings, notes of fields and comments."""


@dataclass(frozen=True)
class Phrase:
    """A phrase to replace."""

    text: Text
    pattern: str
    words: str

    def __str__(self) -> str:
        return f"{self.text.place}:{self.text.line}: {self.text.kind}, {self.pattern}: {self.words}"


def texts(root: Path = ROOT) -> Iterator[Text]:
    """All texts of the package and its pages."""
    for path in sorted((root / "python" / "redolab").rglob("*.py")):
        yield from of_module(path.read_text(), str(path.relative_to(root)))
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        yield from of_page(path.read_text(), str(path.relative_to(root)))


def of_module(source: str, place: str) -> Iterator[Text]:
    """Strings of a module that are sentences, and its notes."""
    tree = ast.parse(source)
    notes = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    inside = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    } - {id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)}
    for node in ast.walk(tree):
        words = _words(node)
        if words is None or id(node) in inside or not _is_language(words, id(node) in notes):
            continue
        yield Text(place, node.lineno, " ".join(words.split()), "note" if id(node) in notes else "user")  # type: ignore[attr-defined]
    for number, line in enumerate(source.splitlines(), 1):
        if comment := re.match(r"\s*#(?!!) (.*)", line):
            yield Text(place, number, comment[1], "comment")


def _words(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_words(part) or "{}" for part in node.values)
    return None


def _is_language(words: str, note: bool) -> bool:
    """Whether these are words of English, not a key, a name, a statement or a style."""
    return note or (
        len(words.split()) >= 3 and not re.search(r"\b(?:SELECT|FROM|WHERE)\b|[;{] *\w+:|</|=>|\(\?", words)
    )


def of_page(page: str, place: str) -> Iterator[Text]:
    """Paragraphs of a page without its code."""
    page = re.sub(r"^```.*?^```", lambda code: "\n" * code[0].count("\n"), page, flags=re.MULTILINE | re.DOTALL)
    page = re.sub(r"<!--.*?-->", lambda code: "\n" * code[0].count("\n"), page, flags=re.DOTALL)
    line = 1
    for paragraph in re.split(r"(\n\s*\n|\n(?=[-*|#] ?))", page):
        words = re.sub(r"`[^`]*`", "`x`", " ".join(paragraph.split()).lstrip("-*#| "))
        if words:
            yield Text(place, line, words, "user")
        line += paragraph.count("\n")


def phrases(text: Text) -> Iterator[Phrase]:
    """The phrases of a text that are to be replaced."""
    patterns: Mapping[str, str] = (
        ANYWHERE | (USER if text.kind == "user" else {}) | (NOTES if text.kind == "note" else {})
    )
    for name, pattern in patterns.items():
        for match in re.finditer(pattern, text.words):
            yield Phrase(text, name, text.words[max(0, match.start() - 40) : match.end() + 60])


def main(paths: list[str]) -> int:
    found = [
        phrase
        for text in texts()
        if not paths or text.place.startswith(tuple(paths))
        for phrase in phrases(text)
    ]
    print("\n".join(map(str, found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

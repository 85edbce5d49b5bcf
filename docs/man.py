"""Makes the manual page `redolab(1)` from the command line's own help texts: python docs/man.py

click-man formats Click's commands; Typer has a Click of its own inside, which it does not recognise, and it writes
neither arguments nor escapes. So the few requests of man(7) that are needed are written here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from redolab.cli import COMMANDS, app, load

PLACE = "wheel-data/data/share/man/man1/redolab.1"
"""From the project's root. A wheel brings it to share/man of the environment, where man(1) looks."""
_DOCS = Path(__file__).parent
_CODE = re.compile(r"^\| (\d+) \| (.*) \|$", re.MULTILINE)
_FILES = {
    "~/.config/redolab/config.toml": "Servers by name. It holds no passwords.",
    "~/.pgpass, ~/.pg_service.conf": "Read as libpq reads them.",
    "~/.my.cnf": "The group [client], for MariaDB and MySQL.",
    "~/.mylogin.cnf": "The login path client, and one named by ?login-path= in a URL.",
    "report.html": "In the directory of a run: the report.",
}
_VARIABLES = {
    "PGHOST, PGPORT, PGUSER, PGPASSWORD, PGSERVICE": "Read as libpq reads them, also for an empty URL.",
    "MYSQL_PWD": "The password for MariaDB and MySQL.",
    "MYSQL_TEST_LOGIN_FILE": "The file of login paths, in place of ~/.mylogin.cnf.",
    "REDOLAB_ORACLE_PASSWORD": "The password for Oracle.",
    "NO_COLOR": "Print without colours.",
}


def page() -> str:
    """The page, as man(1) reads it."""
    lines = [
        '.TH REDOLAB 1 "" "Redolab" "User Commands"',
        ".SH NAME",
        f"redolab \\- {_text('measure where commit time goes in a database, and prove what a change would give')}",
        ".SH SYNOPSIS",
        ".B redolab",
        "[\\-\\-version] [\\-\\-help] COMMAND [ARGUMENTS] [OPTIONS]",
        ".SH DESCRIPTION",
        _text(str(app.info.help)),
        _text("The commands profile, watch and doctor only read. The command run works inside its own schema, asks first, and puts everything back."),
        ".SH COMMANDS",
    ]
    for name in COMMANDS:
        lines += _command(name)
    lines += _list("EXIT STATUS", _exit_codes())
    lines += _list("FILES", _FILES)
    lines += _list("ENVIRONMENT", _VARIABLES)
    return "\n".join(lines) + "\n"


def _command(name: str) -> Iterator[str]:
    command = load(name)
    arguments = [item for item in command.params if item.param_type_name == "argument"]
    words = [(item.metavar or item.name).upper() for item in arguments]
    usage = " ".join(word if item.required else f"[{word}]" for item, word in zip(arguments, words, strict=True))
    yield f".SS redolab {_text(name)} {_text(usage)}".rstrip()
    yield _text(COMMANDS[name])
    for item, word in zip(arguments, words, strict=True):
        yield from (".TP", f"\\fI{_text(word)}\\fR", _text(item.help or ""))
    for item in command.params:
        if item.param_type_name != "argument":
            names = ", ".join(f"\\fB{_text(option)}\\fR" for option in (*item.opts, *item.secondary_opts))
            yield from (".TP", names, _text(item.help or ""))


def _list(heading: str, items: dict[str, str]) -> Iterator[str]:
    yield f".SH {heading}"
    for name, meaning in items.items():
        yield from (".TP", f"\\fB{_text(name)}\\fR", _text(meaning))


def _exit_codes() -> dict[str, str]:
    """The table of the reference, which a test holds against the commands."""
    table = (_DOCS / "reference" / "commands.md").read_text().partition("## Exit codes")[2]
    return {code: meaning.replace("\\|", "|").replace("`", "") for code, meaning in _CODE.findall(table)}


def _text(words: str) -> str:
    """Words that man(7) takes as they are."""
    escaped = " ".join(words.replace("\\", "\\e").replace("-", "\\-").split())
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    (_DOCS.parent / PLACE).write_text(page())

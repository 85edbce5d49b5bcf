"""The pages are executed: commands run, options exist, links lead somewhere, tables match the code."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from redolab import cli, errors
from redolab.forecast.models.scenario_forecast import FORECAST as QUANTITIES
from redolab.analysis.observed.figures import WATCH
from redolab.dialect.durability import durability_tier
from redolab.dialect.postgres import GATHERING, commit_parameters, parameter_names
from redolab.engine.postgres.parameters.before import Parameter
from redolab.engine.postgres.parameters.parameters import check_rights, goes_to_system
from redolab.dialect import innodb
from redolab.errors import RefusedError
from redolab.experiment import EXPERIMENTS
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.experiment.commit_modes import COMMIT_MODES
from redolab.experiment.listed.plan import listed_experiment
from redolab.records.load import Updates
from redolab.forecast.costs.costs import FACTORS
from redolab.dialect.durability import TIER_TEXT
from redolab.records.sample import Scope
from redolab.records.store import open_run
from tests.docs.pages import (
    PAGES,
    ROOT,
    Step,
    anchors,
    blocks,
    commands,
    holds,
    inline_code,
    links,
    prose,
    steps,
    tables,
)
from tests.screens.profiles import busy, quiet, remote
from tests.servers import Ended, in_this_process
from tests.unit.watched import watched_run

DOCS = ROOT / "docs"
PACKAGE = ROOT / "python" / "redolab"
COMMANDS: Mapping[str, Any] = {name: cli.load(name) for name in cli.COMMANDS}
OF_ALL = {"--help", "--version", "--install-completion", "--show-completion"}
PAGE_IDS = [str(page.relative_to(ROOT)) for page in PAGES]
SESSION_SIDE = {"synchronous_commit": "user", "commit_siblings": "user", "commit_delay": "superuser"}


def redolab(place: Path, *words: str) -> Ended:
    return in_this_process(place, *words, environment={"XDG_DATA_HOME": str(place / "data")})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the run that the pages speak of: short, and on a real server."""
    made = tmp_path_factory.mktemp("docs")
    done = redolab(
        made, "run", "commit-mode", "--quick", "--settings", "wait/immediate,wait/batch,nowait/batch",
        "--blocks", "2", "--seconds", "0.2", "--log-device-ms", "2", "--out", "slow-log",
    )  # fmt: skip
    assert done.code == 0, done.err
    done = redolab(
        made, "run", "calibrate", "--blocks", "2", "--seconds", "0.3", "--sessions", "4", "--out", "costs"
    )
    assert done.code == 0, done.err
    for values in ("commit-times.csv", "cpu-use.csv"):
        shutil.copy(DOCS / "guide" / values, made)
    shutil.copytree(DOCS / "guide" / "reports", made / "reports")
    shutil.copytree(ROOT / "examples", made / "examples")
    watched_run(made / "watched")
    return made


# Commands


@pytest.fixture(scope="module")
def ended() -> dict[tuple[str, ...], Ended]:
    """Commands of the pages that have run: several pages show the same report."""
    return {}


@pytest.mark.parametrize("step", [s for s in steps() if s.words[0] != "run" and not s.server], ids=str)
def test_a_command_of_the_pages_runs(step: Step, place: Path, ended: dict[tuple[str, ...], Ended]) -> None:
    if step.words not in ended:
        ended[step.words] = redolab(place, *step.words)
    done = ended[step.words]
    assert done.code == 0, done.err
    if "--json" in step.words:
        assert json.loads(done.out)["format"] == 1
    if step.output.strip() and ("..." not in step.output or comes_with_the_pages(step)):
        assert holds(step.output, done.out), done.out


def comes_with_the_pages(step: Step) -> bool:
    """Whether what it reads lies beside the pages, so that every figure that it prints is known."""
    return any(word.startswith(("examples/", "reports/")) for word in step.words)


def test_what_a_page_shows_is_compared_line_by_line() -> None:
    printed = "one\ntwo  \n\nthree\nfour\n"
    assert all(holds(shown, printed) for shown in ("one\ntwo\n...\nfour", "one\n...\n\nthree\n...\n", printed))
    assert not any(holds(shown, printed) for shown in ("two\n...\n", "one\ntwo", "one\n...\ntwo\nthree\n...", "...\nfive"))


@pytest.mark.parametrize("step", [s for s in steps() if s.words[0] == "run"], ids=str)
def test_a_run_of_the_pages_parses(step: Step) -> None:
    parsed = COMMANDS["run"].make_context("run", list(step.words[1:])).params
    settings = tuple((parsed["settings"] or "").split(",")) if parsed["settings"] else ()
    listed = parsed["list_file"]
    experiment = listed_experiment(ROOT / listed) if listed else EXPERIMENTS[parsed["experiment"]]
    experiment.plan(Wish(settings=settings))


@pytest.mark.parametrize("page", PAGES, ids=PAGE_IDS)
def test_a_list_file_of_the_pages_is_valid(page: Path, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.language == "toml" and "[factors]" in block.text:
            file = tmp_path / "list.toml"
            file.write_text(block.text)
            assert len(listed_experiment(file).plan(Wish()).combinations) > 1


def test_every_option_of_the_pages_exists() -> None:
    seen = 0
    for page, words in commands():
        if not words:
            continue
        assert words[0] in COMMANDS or words[0].startswith("--"), f"{page}: redolab {' '.join(words)}"
        known = set(OF_ALL)
        if words[0] in COMMANDS:
            known |= {name for item in COMMANDS[words[0]].params for name in option_names(item)}
        for word in words:
            if word.startswith("--"):
                assert word.partition("=")[0] in known, f"{page}: redolab {' '.join(words)}"
                seen += 1
    assert seen > 20


def test_every_option_named_in_prose_exists() -> None:
    known = {name for command in COMMANDS.values() for item in command.params for name in option_names(item)}
    other = {"--user", *OF_ALL}  # of unshare; of `redolab` itself
    for page in PAGES:
        named = {word for code in inline_code(page) for word in re.findall(r"(?<!\S)--[a-z0-9-]+", code)}
        assert named <= known | other, page


def test_help_names_every_option_and_the_reference_every_word_of_help(place: Path) -> None:
    reference = (DOCS / "reference" / "commands.md").read_text()
    for name, command in COMMANDS.items():
        assert f"## `redolab {name}`" in reference
        shown = redolab(place, name, "--help").out
        for item in command.params:
            for option in option_names(item):
                assert option in shown
                assert f"`{option}`" in reference
            assert item.help in reference


def test_exit_codes_are_those_of_the_errors() -> None:
    (table,) = [t for t in tables(DOCS / "reference" / "commands.md") if t[0][0] == "code"]
    kinds = (kind for kind in vars(errors).values() if isinstance(kind, type))
    codes = {kind.exit_code for kind in kinds if issubclass(kind, errors.RedolabError)}
    assert {int(row[0]) for row in table[1:]} == {0, *codes}


def test_sizes_are_those_of_the_experiments() -> None:
    text = " ".join((DOCS / "reference" / "commands.md").read_text().split())
    for experiment in EXPERIMENTS.values():
        quick = "samples" if experiment.sequential else f"{experiment.quick.blocks} blocks"
        assert f"{quick} of {experiment.quick.seconds:g} s" in text
        assert f"{experiment.full.blocks} blocks of {experiment.full.seconds:g} s" in text


def option_names(item: Any) -> list[str]:
    return [name for name in (*item.opts, *item.secondary_opts) if name.startswith("--")]


# Links and names


@pytest.mark.parametrize("page", PAGES, ids=PAGE_IDS)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        found = (page.parent / target).resolve() if target else page
        assert found.exists(), f"{page}: {link}"
        assert not anchor or anchor in anchors(found), f"{page}: {link}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        left += [(page.parent / link.split("#")[0]).resolve() for link in links(page) if "://" not in link]
    aside = {page for page in PAGES if page.parent.name == "decisions"}
    assert set(PAGES) - aside <= reached


@pytest.mark.parametrize("page", PAGES, ids=PAGE_IDS)
def test_blocks_say_no_path_of_a_machine(page: Path) -> None:
    assert not re.search(r"/(root|home|work|tmp)/", page.read_text())


def test_architecture_names_every_room_and_crate_and_no_other() -> None:
    named = inline_code(ROOT / "ARCHITECTURE.md")
    rooms = {f"{path.parent.relative_to(PACKAGE)}/" for path in PACKAGE.rglob("*.py")} - {"./"}
    # Questions and databases come and go; their own packages tell of them.
    one_of = {
        name
        for name in rooms
        if re.fullmatch(r"experiment/\w+/|engine/(postgres|mariadb|oracle|sqlite)/|engine/postgres/waits/events/", name)
    }
    assert rooms - named - one_of == set()
    there = {f"{path.relative_to(PACKAGE)}/" for path in PACKAGE.rglob("*") if path.is_dir()}
    assert {name for name in named if re.fullmatch(r"(\w+/)+", name)} - there == {"sql/", "parts/"}
    files = {name for name in named if re.fullmatch(r"[\w/]+\.pyi?", name)}
    assert [name for name in files if not (PACKAGE / name).exists() and not (ROOT / name).exists()] == []
    suites = {f"tests/{path.relative_to(ROOT / 'tests').parts[0]}" for path in ROOT.glob("tests/**/test_*.py")}
    assert suites - named == set()
    crates = {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")}
    assert crates - named == set()
    assert {name for name in named if re.fullmatch(r"redolab-[a-z]+", name)} <= crates


def test_architecture_names_every_layer_of_the_import_contracts() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (layers,) = [c["layers"] for c in project["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    text = " ".join(prose(ROOT / "ARCHITECTURE.md").split())
    found = re.search(r"Imports go down: (.*?)\. Modules", text)
    assert found is not None
    said = [set(re.findall(r"`(\w+)`", layer)) for layer in found[1].split(";")]
    assert said == [{name.strip().removeprefix("redolab.") for name in layer.split("|")} for layer in layers]


def test_every_test_that_the_security_page_names_is_there() -> None:
    named = {name for name in inline_code(DOCS / "explanation" / "security.md") if name.startswith("test_")}
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 30
    assert named - set(re.findall(r"^def (test_\w+)", sources, re.MULTILINE)) == set()


def test_the_readme_is_for_somebody_who_has_a_minute() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 150
    # Programs look for the command that tests the project; people for the one that shows it.
    first = blocks(ROOT / "README.md")[0].text.splitlines()
    assert [line.partition("#")[0].strip() for line in first] == ["make demo", "make test"]
    assert lines.index(first[0]) < 15
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", "\n".join(lines))
    assert [ROOT / name for name in pictures] == [DOCS / "report.webp"]
    assert (DOCS / "report.webp").stat().st_size < 150_000


def test_the_package_shows_the_readme() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["readme"] == "README.md"
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


# Reference pages against the code


def maker(name: str) -> Any:
    """The program of this name that makes pages."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_manual_page_is_fresh_and_has_every_option() -> None:
    man = maker("man")
    page = (ROOT / man.PLACE).read_text()
    assert man.page() == page, "it is stale: run python docs/man.py"
    requests = {line.partition(" ")[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".TP", ".B"}
    for name, command in COMMANDS.items():
        part = page.partition(f"\n.SS redolab {name.replace('-', chr(92) + '-')}")[2].partition("\n.SS ")[0]
        for item in command.params:
            for option in (*item.opts, *item.secondary_opts):
                written = option.replace("-", "\\-")
                assert item.param_type_name == "argument" or f"\\fB{written}\\fR" in part, f"{name} {option}"


def test_generated_parts_are_fresh() -> None:
    generate = maker("generate")
    assert set(generate.PAGES) == {ROOT / "README.md", *DOCS.glob("*/*.md"), ROOT / "examples" / "README.md"}
    for page in generate.PAGES:
        text = page.read_text()
        assert generate.renewed(text) == text, f"{page.name} is stale: run python docs/generate.py"
        assert text.count("<!-- generated by") == text.count("<!-- end -->")


def test_the_matrix_fits_a_terminal() -> None:
    page = DOCS / "reference" / "engines.md"
    found = re.search(r"generate\.py: matrix -->\n(.*?)<!-- end", page.read_text(), re.DOTALL)
    assert found is not None
    assert max(map(len, found[1].splitlines())) <= 80


def test_manifest_keys_are_documented(place: Path) -> None:
    named = inline_code(DOCS / "reference" / "run-directory.md")
    assert open_run(place / "slow-log").manifest.keys() - named == set()


@pytest.mark.parametrize("step", [s for s in steps() if s.words[0] == "analyze"], ids=str)
def test_what_analyze_is_said_to_print_is_what_it_prints(step: Step, place: Path) -> None:
    said = step.output.partition("...")[0].split()
    done = redolab(place, *(word for word in step.words if word != "--out" and not word.endswith(".html")))
    assert done.out.split()[: len(said)] == said


def test_every_key_of_a_column_of_numbers_is_documented(place: Path) -> None:
    named = inline_code(DOCS / "reference" / "analyze-json.md")
    found: set[str] = set()
    for asked in (
        "commit-times.csv --group mode",
        "cpu-use.csv --value database --against vmstat",
        "watched --value servers",
    ):
        done = redolab(place, "analyze", *asked.split(), "--json")
        found |= set(leaves(json.loads(done.out), ""))
    keys = {key for key in found if not key.startswith(("tables[]", "figures[]"))}
    assert sorted(keys - named) == []


def test_every_key_of_a_forecast_is_documented(place: Path) -> None:
    named = inline_code(DOCS / "reference" / "forecast-json.md")
    done = redolab(
        place, "forecast", "costs", "--json", "--set", "log_device_ms=2", "--sweep",
        "arrival_rate_per_s=1,10000000", "--elbow", "--keep-p95-under", "1000", "--rows-for", "0.9",
    )  # fmt: skip
    assert done.code == 0, done.err
    results = json.loads(done.out)
    assert set(QUANTITIES) <= named
    found = set(leaves(results, ""))
    # Quantities, levels and models stand in tables of their own; the league is that of `redolab league`.
    groups = re.compile(
        r"((?:today|asked|sweep\[\])\.(?:levels|measured|forecast|compared_with_today)|models(?:_refused)?)\..*"
    )
    keys = {groups.sub(r"\1", path) for path in found if not path.startswith("league.")}
    inner = re.compile(r"^answers\[\]\.brings\.|^(?:answers|sweep)\[\]\.(?=extrapolated\[\]\.)")
    keys = {inner.sub("", path) for path in keys}
    assert sorted(keys - named) == []
    assert set(results["asked"]["levels"]) == set(FACTORS) <= named


@pytest.mark.parametrize("name", ["commit-mode", "durability", "sampling-distribution", "advised", "verify-forecast"])
def test_every_key_of_the_results_is_documented(name: str, place: Path) -> None:
    if name == "commit-mode":
        results = analyse(open_run(place / "slow-log"))
    elif name == "verify-forecast":
        asked = ["--set", "sessions=6", "--blocks", "1", "--seconds", "0.2"]
        done = redolab(place, name, "costs", *asked, "--json", "--out", "checked-again")
        results = json.loads(done.out)
    elif name == "sampling-distribution":
        done = redolab(place, "run", name, "--blocks", "2", "--json", "--out", "draws")
        results = json.loads(done.out)
    else:
        stored = ROOT / "tests" / "report" / "data" / f"results_{name}.json"
        results = json.loads(stored.read_text())
    named = inline_code(DOCS / "reference" / "json.md")
    # Tables have the same form wherever they stand.
    found = {path.replace("league.tables[]", "tables[]") for path in leaves(results, "")}
    # A list that has nothing in it is documented by what it could have: in one run all models can say something.
    lists = {name[: end.start()] for name in named for end in re.finditer(r"\[\]", name)}
    assert sorted(found - named - lists) == []


def test_every_key_of_a_watch_is_documented(place: Path) -> None:
    named = inline_code(DOCS / "reference" / "json.md")
    period = ("--from", "2026-11-24T09:00", "--to", "2026-11-24T11:00")
    done = redolab(place, "report", "watched", "--json", *period)
    assert done.code == 0, done.err
    keyed = re.compile(r"^(settings\[\]\.(?:figures|missing))\..*")
    found = {keyed.sub(r"\1.KEY", key) for key in leaves(json.loads(done.out), "")}
    assert set(WATCH) <= named
    assert sorted(found - named) == []


def test_every_key_of_a_profile_is_documented() -> None:
    named = inline_code(DOCS / "reference" / "profile-json.md")
    found = {path for results in (busy(), remote(), quiet()) for path in leaves(results, "")}
    groups = re.compile(r"^(instance|all_sessions|kinds\[\]|sessions\[\])\.")
    keys = {groups.sub("", path).replace("log.log_write.", "log.log_sync.") for path in found}
    assert sorted(keys - named) == []


def leaves(value: Any, path: str) -> Iterator[str]:
    """Paths of everything that is no object and no list of objects; an estimate counts as one value."""
    estimate = isinstance(value, dict) and value.keys() == {"point", "low", "high", "level"}
    if estimate or path in ("settings[].levels", "settings[].parameters", "tables[].rows[]", "league.tables"):
        yield path
    elif isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value:
            yield from leaves(item, f"{path}[]")
    elif value is not None or "." not in path:
        yield path


def test_the_mapping_is_that_of_the_code() -> None:
    page = DOCS / "reference" / "commit-mode.md"
    mappings = [table for table in tables(page) if table[0][0] == "parameter" and "wait" in table[0][1]]
    combinations = COMMIT_MODES
    seen = []
    for table in mappings:
        for column, name in enumerate(table[0][1:], start=1):
            said = {row[0].strip("`"): row[column].strip("`") for row in table[1:]}
            before = dict.fromkeys(GATHERING, "as found")
            values = commit_parameters(combinations[name], -1, before)
            assert said == {key: value.replace("-1", "half a flush") for key, value in values.items()}, name
            seen.append(name)
    assert seen == list(combinations)
    (reasons,) = [table for table in tables(page) if table[0] == ["parameter", "reason"]]
    assert [row[0].strip("`") for row in reasons[1:]] == list(parameter_names(combinations.values()))


def test_the_reach_of_each_parameter_is_that_of_the_code() -> None:
    page = DOCS / "reference" / "commit-mode.md"
    (table,) = [t for t in tables(page) if t[0] == ["parameter", *get_args(Scope)]]
    own: Mapping[str, str] = {"transaction": "each transaction", "session": "each session"}
    known = server_parameters()
    assert [row[0].strip("`") for row in table[1:]] == list(
        parameter_names(COMMIT_MODES.values())
    )
    for name, *reaches in table[1:]:
        for scope, said in zip(get_args(Scope), reaches, strict=True):
            system = goes_to_system(known[name.strip("`")], scope)
            assert said == ("server" if system else own[scope])


def test_the_tiers_are_those_of_the_code() -> None:
    (table,) = [t for t in tables(DOCS / "reference" / "commit-mode.md") if t[0][0] == "tier"]
    said = {row[0].strip("`"): row[2] for row in table[1:]}
    assert {name: f"acknowledged {text}" for name, text in said.items()} == dict(TIER_TEXT)
    assert durability_tier("nowait", fsync=False, standbys=True) == "memory"
    assert durability_tier("wait", fsync=False, standbys=True) == "os"
    assert durability_tier("wait", fsync=True, standbys=True) == "replica"
    assert durability_tier("wait", fsync=True, standbys=False) == "disk"


def test_the_loads_are_those_of_the_code() -> None:
    (table,) = [t for t in tables(DOCS / "reference" / "commit-mode.md") if t[0][0] == "`--load`"]
    for name, rows, padding, _ in table[1:]:
        load = EXPERIMENTS["commit-mode"].plan(Wish(load=name.strip("`"))).load
        assert isinstance(load, Updates)
        assert [str(load.rows_per_session), str(load.padding_bytes)] == [rows, padding]


def test_the_mapping_and_tiers_of_mariadb_and_mysql_are_those_of_the_code() -> None:
    found = tables(DOCS / "reference" / "commit-mode-mariadb.md")
    (mapping,) = [table for table in found if table[0][0] == "parameter"]
    (names,) = [table for table in found if table[0] == ["", "MariaDB", "MySQL"]]
    for column, flavour in enumerate(("mariadb", "mysql"), start=1):
        assert tuple(row[column].strip("`") for row in names[1:]) == innodb.PAUSE[flavour]
        order = (innodb.REDO, innodb.BINLOG, *innodb.PAUSE[flavour])
        for place, mode in enumerate(mapping[0][1:], start=1):
            values = innodb.commit_parameters(
                COMMIT_MODES[mode], flavour=flavour, binlog=True, pause_us=-1, sessions=-2
            )
            words = {"-1": "half a commit", "-2": "sessions"}
            said = [row[place].strip("`") for row in mapping[1:]]
            assert said == [words.get(values[name], values[name]) for name in order], mode
    (tiers,) = [table for table in found if table[0][0] == f"`{innodb.REDO}`"]
    for redo, *said in tiers[1:]:
        for value in re.findall(r"\d", redo):
            told = [innodb.durability_tier(value, sync, "fsync") for sync in (None, "1", "0")]
            assert [tier.strip("`") for tier in said] == told
            assert innodb.durability_tier(value, "100", "fsync") == told[-1]


def server_parameters() -> dict[str, Parameter]:
    """The parameters as a server shows them to a role without rights, in the server's order."""
    names = sorted(parameter_names(COMMIT_MODES.values()))
    return {
        name: Parameter(
            name=name, value="", source="default", session_settable=name in SESSION_SIDE, in_auto_conf=False,
            may_set=SESSION_SIDE.get(name) == "user", may_alter_system=False,
        )
        for name in names
    }  # fmt: skip


@pytest.mark.parametrize("scope", get_args(Scope))
def test_the_grants_are_those_the_code_asks_for(scope: Scope) -> None:
    server = dict.fromkeys(("may_create", "may_reload", "may_read_settings"), False)
    with pytest.raises(RefusedError) as refusal:
        check_rights(
            server_parameters(), scope, {"role": "bench", "database": "app", "version_num": 150_000, "may_alter": True, **server}
        )
    asked = set(re.findall(r"GRANT [^;.]+", str(refusal.value)))
    page = DOCS / "guide" / "own-server.md"
    session, system, _ = [block.text for block in blocks(page) if block.text.startswith("GRANT")]
    said = system if scope == "system" else session
    assert {line.rstrip(";") for line in said.splitlines()} == asked


# Examples in docstrings


@pytest.mark.parametrize(
    "name",
    sorted(
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in PACKAGE.rglob("*.py")
    ),
)
def test_examples_in_docstrings_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
